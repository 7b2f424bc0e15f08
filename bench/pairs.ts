/** One line of the result: what ours and the yardstick's took (or gave), and their ratio. */
export interface Measured {
  name: string;
  ours: number;
  yardstick: number;
  ratio: number;
}

export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
};

const PAIRS = Number(process.env['PAIRS'] ?? 21);

const WARM_UPS = 12;

/**
 * Asks both before they are measured. A new server's first twenty requests take up to 40 ms more: Node compiles what is called often, and Postgres plans a
 * statement anew for the first five times on each connection.
 */
export async function warm(ours: () => Promise<number>, yardstick: () => Promise<number>, times = WARM_UPS): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    await ours();
    await yardstick();
  }
}

/** Ours and the yardstick in turn, 21 times unless told; the medians and the median of the ratios. */
export async function pairs(name: string, ours: () => Promise<number>, yardstick: () => Promise<number>, times = PAIRS): Promise<Measured> {
  const rounds: { ours: number; yardstick: number }[] = [];
  for (let round = 0; round < times; round += 1) {
    const first = round % 2 === 0;
    const a = first ? await ours() : await yardstick();
    const b = first ? await yardstick() : await ours();
    rounds.push(first ? { ours: a, yardstick: b } : { ours: b, yardstick: a });
  }
  return {
    name,
    ours: quantile(
      rounds.map((round) => round.ours),
      0.5,
    ),
    yardstick: quantile(
      rounds.map((round) => round.yardstick),
      0.5,
    ),
    ratio: quantile(
      rounds.map((round) => round.ours / round.yardstick),
      0.5,
    ),
  };
}

/** A figure against a bound: the yardstick is the bound itself. */
export const against = (name: string, ours: number, bound: number): Measured => ({ name, ours, yardstick: bound, ratio: ours / bound });
