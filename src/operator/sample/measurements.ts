/** A small season of leaf measurements: 12 plots, two treatments, one value a day. The same every time. */

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296;
  };
}

const PLOTS = 12;
const DAYS = 40;
const GENOTYPES = ['B73', 'Mo17', 'W22'];

export function printSampleCsv(): string {
  const random = generator(20_260_601);
  const lines = ['plot,treatment,genotype,measured_at,spad,phi2,leaf_temperature,note'];
  for (let day = 0; day < DAYS; day += 1)
    for (let plot = 1; plot <= PLOTS; plot += 1) {
      const drought = plot % 2 === 0;
      const stress = drought ? day / DAYS : 0;
      const at = new Date(Date.UTC(2026, 4, 1 + day, 8, plot * 4, Math.floor(random() * 60)));
      const spad = 44 - 9 * stress + (random() - 0.5) * 3;
      const phi2 = 0.72 - 0.18 * stress + (random() - 0.5) * 0.04;
      const temperature = 21 + 4 * random() + 2 * stress;
      const note = random() < 0.03 ? '"windy, leaf moved"' : '';
      lines.push(
        [
          plot,
          drought ? 'drought' : 'control',
          GENOTYPES[plot % GENOTYPES.length],
          at.toISOString().replace('.000Z', 'Z'),
          random() < 0.01 ? '' : spad.toFixed(1),
          phi2.toFixed(3),
          temperature.toFixed(2),
          note,
        ].join(','),
      );
    }
  return `${lines.join('\n')}\n`;
}
