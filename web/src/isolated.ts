const FROM_THE_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Keeps a text that is read from the right, as Arabic and Hebrew are, from moving what stands beside it in a sentence. */
const isolate = <T>(value: T) => (typeof value === 'string' && FROM_THE_RIGHT.test(value) ? `\u2068${value}\u2069` : value);

/** Words whose functions isolate the values that they are given. */
export function isolateValues<T>(said: T): T {
  if (typeof said === 'function') return ((...values: unknown[]): unknown => Reflect.apply(said, undefined, values.map(isolate))) as T;
  if (typeof said !== 'object' || said === null || Array.isArray(said)) return said;
  return Object.fromEntries(Object.entries(said).map(([name, part]) => [name, isolateValues(part)])) as T;
}

/** Names one after the other, with commas. */
export const listNames = (names: readonly string[]): string => names.map(isolate).join(', ');
