function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1)
      current[j] = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1));
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** Up to three known names that a misspelt one may have meant, nearest first. */
export function nearest(name: string, known: readonly string[]): string[] {
  const asked = name.toLowerCase().slice(0, 64);
  return known
    .map((candidate) => ({ candidate, far: distance(asked, candidate.toLowerCase().slice(0, 64)) }))
    .filter(({ candidate, far }) => far <= Math.max(1, Math.floor(Math.max(asked.length, candidate.length) / 3)))
    .sort((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}
