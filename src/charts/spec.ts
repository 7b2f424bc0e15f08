import type { Chart } from './chart.ts';

/** A piece of a Vega-Lite specification. Field names in it are ours, never a caller's. */
export type Spec = Record<string, unknown>;
export type SpecMaker = (chart: Chart) => Spec;

const TYPES = { numeric: 'quantitative', temporal: 'temporal', categorical: 'nominal' } as const;

/** The encoding of a channel by the kind of its column. */
export function field(chart: Chart, channel: string): { field: string; type: string; title: string; scale?: object } {
  const axis = chart.axes[channel];
  const type = TYPES[axis?.kind ?? 'numeric'];
  return { field: channel, type, title: axis?.title ?? channel, ...(type === 'quantitative' ? { scale: { zero: false } } : {}) };
}

/** Colour by the values of a numeric column, else by series. */
export function color(chart: Chart): Spec {
  const axis = chart.axes['color'];
  if (axis && chart.series.some(({ points }) => points['color'] !== undefined))
    return { field: 'color', type: TYPES[axis.kind], title: axis.title };
  return { field: 's', type: 'nominal', title: '' };
}

/** A line through given points, with nothing of axes: what round and three-cornered charts are made of. */
export const drawn = (values: readonly object[], mark: object, encoding: object = {}): Spec => ({
  data: { values },
  mark,
  encoding: {
    x: { field: 'px', type: 'quantitative', axis: null, scale: { zero: false } },
    y: { field: 'py', type: 'quantitative', axis: null, scale: { zero: false } },
    order: { field: 'o', type: 'quantitative' },
    ...encoding,
  },
});
