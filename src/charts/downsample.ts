/**
 * Picks at most `most` positions of a trace that keep its shape, by largest triangle three buckets. The first and the last are among them. `x` must ascend;
 * points without a finite y are left out.
 */
export function pickLargestTriangles(x: readonly number[], y: readonly number[], most: number): number[] {
  const kept = [...x.keys()].filter((index) => Number.isFinite(x[index]) && Number.isFinite(y[index]));
  if (kept.length <= most || most < 3) return kept.slice(0, Math.max(most, 0));
  const at = (position: number): [number, number] => {
    const index = kept[position] ?? 0;
    return [x[index] ?? 0, y[index] ?? 0];
  };
  const chosen = [0];
  const width = (kept.length - 2) / (most - 2);
  for (let bucket = 0; bucket < most - 2; bucket += 1) {
    const start = Math.floor(bucket * width) + 1;
    const end = Math.floor((bucket + 1) * width) + 1;
    const nextEnd = Math.min(Math.floor((bucket + 2) * width) + 1, kept.length);
    let [meanX, meanY] = [0, 0];
    for (let position = end; position < nextEnd; position += 1) {
      const [px, py] = at(position);
      meanX += px / (nextEnd - end);
      meanY += py / (nextEnd - end);
    }
    const [ax, ay] = at(chosen[chosen.length - 1] ?? 0);
    let best = start;
    let largest = -1;
    for (let position = start; position < end; position += 1) {
      const [px, py] = at(position);
      const area = Math.abs((ax - meanX) * (py - ay) - (ax - px) * (meanY - ay));
      if (area > largest) [largest, best] = [area, position];
    }
    chosen.push(best);
  }
  chosen.push(kept.length - 1);
  return chosen.map((position) => kept[position] ?? 0);
}

/** Lists what stands around each gap of more than `longest` points without a finite y: the point before it, its first one, and the point after it. */
export function listGapEnds(y: readonly number[], longest: number): number[] {
  const ends: number[] = [];
  let start = 0;
  for (let index = 0; index <= y.length; index += 1) {
    if (index < y.length && !Number.isFinite(y[index])) continue;
    if (index - start > longest) ends.push(start - 1, start, index);
    start = index + 1;
  }
  return ends.filter((index) => index >= 0 && index < y.length);
}
