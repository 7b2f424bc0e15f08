import { nameLegend, printText, readNumber, type Chart } from './chart.ts';

/** Names the group of a value of x. A time counts as a category, since the axis has names. */
export function makeGroupNamer({ axes, series }: Chart): (x: unknown) => string {
  const isTime = axes['x']?.kind === 'temporal';
  const areDays = isTime && series.every(({ points }) => points['x']?.every((x) => /^[^T]*(T00:00:00(\.0+)?Z?)?$/.test(printText(x, ''))));
  return (x) => {
    const text = printText(x, '–');
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
export function listSamples(chart: Chart, { byGroup }: { byGroup: boolean }): Sample[] {
  const found = new Map<string, { g: string; s: string; values: number[] }>();
  const nameGroup = makeGroupNamer(chart);
  for (const series of chart.series) {
    const name = nameLegend(chart, series);
    const { x, y = [] } = series.points;
    for (const [index, value] of y.entries()) {
      const number = readNumber(value);
      if (!Number.isFinite(number)) continue;
      const g = byGroup && chart.axes['x'] ? nameGroup(x?.[index]) : name;
      const key = JSON.stringify([g, name]);
      const sample = found.get(key) ?? { g, s: name, values: [] };
      found.set(key, sample);
      sample.values.push(number);
    }
  }
  return Array.from(found.values(), ({ g, s, values }) => ({ g, s, sorted: Float64Array.from(values).sort() }));
}
