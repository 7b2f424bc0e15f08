/**
 * Counts the letters by which two names differ. Two swapped letters count as one error. With `fastest-levenshtein` they would count as two, and `pltos` would
 * not find `plots` first. It stops at more than `limit`.
 */
export const measureDistance = (a: string, b: string, limit: number): number => {
  let before = Array.from({ length: b.length + 1 }, (_, index) => index);
  let previous = before;
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, (before[j - 2] ?? 0) + 1);
      current.push(best);
    }
    if (Math.min(...current) > limit) return limit + 1;
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
};

const COMPARED = 64;

/** Finds at most three of `known` that a person may have meant by `asked`, best first: another case, a part of the name, or a few letters off. */
export const findNearNames = (asked: string, known: Iterable<string>): string[] => {
  const wanted = asked.slice(0, COMPARED).toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  const scored: { name: string; score: number }[] = [];
  for (const name of known) {
    const candidate = name.slice(0, COMPARED).toLowerCase();
    const apart = measureDistance(wanted, candidate, limit);
    if (apart <= limit) scored.push({ name, score: apart });
    else if (wanted.length >= 3 && (candidate.includes(wanted) || (candidate.length >= 3 && wanted.includes(candidate))))
      scored.push({ name, score: limit + 1 });
  }
  return scored
    .sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name);
};

const shown = (name: string) => (name.length > 80 ? `${name.slice(0, 80)}…` : name);

/** Prints the ending of a sentence: ` Did you mean 'a' or 'b'?`, or nothing. */
export const suggestNames = (asked: string, known: Iterable<string>): string => {
  const near = findNearNames(asked, known);
  return near.length === 0 ? '' : ` Did you mean ${near.map((name) => `'${shown(name)}'`).join(' or ')}?`;
};
