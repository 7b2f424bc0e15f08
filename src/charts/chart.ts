import type { AxisLook, Look } from './look.ts';

/** One series of a chart: arrays of the same length, by channel (`x`, `y`, `z`, `size`, `color`, `error`, `labels`, `values`, `value`, `groupBy0`…). */
export interface ChartSeries {
  name: string;
  /** Category that the series was split by; undefined when none. */
  color?: string;
  /** Small picture that the series belongs to; undefined when there is one. */
  facet?: string;
  traceType?: 'line' | 'bar' | 'scatter' | 'area';
  axis?: 'primary' | 'secondary';
  points: Readonly<Record<string, readonly unknown[]>>;
}

export type AxisKind = 'numeric' | 'temporal' | 'categorical';

/** What is drawn: plain data, nothing of where they come from. */
export interface Chart {
  type: string;
  title: string;
  /** Titles and kinds by channel. */
  axes: Readonly<Record<string, { title: string; kind: AxisKind } | undefined>>;
  series: readonly ChartSeries[];
  look?: Look;
}

/** A point of the flat table that most charts are drawn from: its channels, `s` (series) and `f` (facet). */
export type Point = Record<string, unknown>;

export const countPoints = ({ points }: ChartSeries): number => Math.max(0, ...Object.values(points).map((values) => values.length));

/** The name that a legend shows. */
export const nameLegend = (chart: Chart, { name, color }: ChartSeries): string => {
  if (color === undefined) return name;
  return new Set(chart.series.map((series) => series.name)).size > 1 ? `${name} · ${color}` : color;
};

/** What the legend of series is called: the column that they are split by, unless they come from several columns as well. */
export const splitTitleOf = ({ axes, series }: Chart): string =>
  axes['color']?.kind === 'categorical' && new Set(series.map(({ name }) => name)).size === 1 ? axes['color'].title : '';

/** All points of all series, at most `most`, evenly thinned. */
export function flatten(chart: Chart, most = 5_000): Point[] {
  const total = chart.series.reduce((sum, series) => sum + countPoints(series), 0);
  const step = Math.max(1, Math.ceil(total / most));
  return chart.series.flatMap((series) => {
    const s = nameLegend(chart, series);
    const rows: Point[] = [];
    for (let index = 0; index < countPoints(series); index += step) {
      const row: Point = { s, f: series.facet ?? '', i: index };
      for (const [channel, values] of Object.entries(series.points)) row[channel] = values[index] ?? null;
      rows.push(row);
    }
    return rows;
  });
}

export const pickNumbers = (values: readonly unknown[] | undefined): number[] =>
  (values ?? []).filter((value): value is number => typeof value === 'number' && Number.isFinite(value));

export const findExtent = (values: readonly number[]): [number, number] => {
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  if (!Number.isFinite(low)) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
};

/** A category as text; `otherwise` for what is none. */
export const printText = (value: unknown, otherwise: string): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;

// what is not there is no number; Number(null) would be 0
export const readNumber = (value: unknown): number =>
  typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : NaN;

/** Where points lie, those left out that lack a coordinate. */
export const pickFinite = (chart: Chart, most: number): { x: number; y: number; z: number }[] =>
  flatten(chart, most)
    .map((point) => ({ x: readNumber(point['x']), y: readNumber(point['y']), z: point['z'] === undefined ? 0 : readNumber(point['z']) }))
    .filter(({ x, y, z }) => Number.isFinite(x) && Number.isFinite(y) && Number.isFinite(z));

/** How the axis of a channel is asked to look; other channels have none. */
export const findLook = ({ look = {} }: Chart, channel: string): AxisLook =>
  channel === 'x' || channel === 'y' || channel === 'y2' || channel === 'z' ? (look[channel] ?? {}) : {};

/** What values are that may come from several columns: the column's title, or no name of one of them. */
export const nameValues = (chart: Chart): string =>
  new Set(chart.series.map(({ name }) => name)).size > 1 ? (findLook(chart, 'y').title ?? 'value') : nameAxis(chart, 'y');

/** From where to where values of y are drawn: as asked, else from the least to the greatest of all. */
export const findRangeOfY = (chart: Chart): [number, number] => {
  const asked = findLook(chart, 'y').range;
  return asked ? [readNumber(asked[0]), readNumber(asked[1])] : findExtent(chart.series.flatMap(({ points }) => pickNumbers(points['y'])));
};

export const nameAxis = (chart: Chart, channel: string): string => findLook(chart, channel).title ?? chart.axes[channel]?.title ?? channel;
