import fc from 'fast-check';

/** Sets fast-check's seed from FC_SEED (to replay a failure) or the clock, and prints it once per test file. */
export function seedRandomTests(): void {
  const seed = process.env['FC_SEED'] === undefined ? Date.now() % 2_147_483_647 : Number(process.env['FC_SEED']);
  fc.configureGlobal({ seed });
  console.log(`FC_SEED=${seed}`);
}

/** So many members of a list, in its order, drawn by `random`; all of a list that has no more. */
export function drawSome<T>(list: readonly T[], count: number, random: () => number): T[] {
  const drawn = new Set(
    list
      .map((member) => ({ member, at: random() }))
      .sort((one, other) => one.at - other.at)
      .slice(0, count)
      .map(({ member }) => member),
  );
  return list.filter((member) => drawn.has(member));
}

/** Numbers from 0 to 1, the same ones for the same FC_SEED, which is 1 unless it is set (mulberry32). */
export function seededRandom(): () => number {
  let state = Number(process.env['FC_SEED'] ?? 1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
