import { nameLegend, NO_VALUE, printText, readNumber, type Chart } from './chart.ts';

/** Names the group of a value of x. A time counts as a category, since the axis has names. */
function makeGroupNamer({ axes, series }: Chart): (x: unknown) => string {
  const isTime = axes['x']?.kind === 'temporal';
  const areDays = isTime && series.every(({ points }) => points['x']?.every((x) => /^[^T]*(T00:00:00(\.0+)?Z?)?$/.test(printText(x, ''))));
  return (x) => {
    const text = printText(x, NO_VALUE);
    return areDays ? text.slice(0, 10) : isTime ? text.replace('T', ' ').replace(/(\.0+)?Z$/, '') : text;
  };
}

/** The values of one series in one group, in ascending order. */
export interface Sample {
  g: string;
  s: string;
  sorted: Float64Array;
}

/** How many boxes or violins one picture has at most. */
export const MOST_SAMPLES = 200;

/** Gathers the values of y by series, and by the categories of x where there are some; times are milliseconds. */
export function gatherSamples(chart: Chart, { byGroup }: { byGroup: boolean }): { g: string; s: string; values: number[] }[] {
  const found: { g: string; s: string; values: number[] }[] = [];
  const bySeries = new Map<string, Map<string, (typeof found)[number]>>();
  const nameGroup = makeGroupNamer(chart);
  for (const series of chart.series) {
    const name = nameLegend(chart, series);
    const byName = bySeries.get(name) ?? new Map<string, (typeof found)[number]>();
    bySeries.set(name, byName);
    const { x, y = [] } = series.points;
    for (const [index, value] of y.entries()) {
      const number = readNumber(value);
      if (!Number.isFinite(number)) continue;
      const g = byGroup && chart.axes['x'] ? nameGroup(x?.[index]) : name;
      const known = byName.get(g);
      if (known) {
        known.values.push(number);
        continue;
      }
      const sample = { g, s: name, values: [number] };
      byName.set(g, sample);
      found.push(sample);
    }
  }
  return found;
}

/** Lists the samples that are drawn: at most `MOST_SAMPLES` of those by group, and every series. */
export const listSamples = (chart: Chart, options: { byGroup: boolean }): Sample[] =>
  gatherSamples(chart, options)
    .slice(0, options.byGroup ? MOST_SAMPLES : undefined)
    .map(({ g, s, values }) => ({ g, s, sorted: Float64Array.from(values).sort() }));
