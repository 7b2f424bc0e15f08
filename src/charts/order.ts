/** Plot 2 stands before plot 11. */
export const byName = new Intl.Collator('en', { numeric: true });

const print = (name: unknown): string => (typeof name === 'string' ? name : JSON.stringify(name ?? ''));

/** The scale of names in their order. Undefined where that is the order letter by letter, in which a drawing sorts them by itself. */
export function orderNames(given: readonly unknown[]): { domain: unknown[] } | undefined {
  const names = [...new Set(given)].filter((name) => name !== undefined);
  const ordered = names.toSorted((a, b) => byName.compare(print(a), print(b)));
  const isUsual = names.toSorted().every((name, at) => name === ordered[at]);
  return isUsual ? undefined : { domain: ordered };
}
