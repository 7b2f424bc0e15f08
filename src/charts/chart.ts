import type { AxisLook, Look } from './look.ts';
import type { AxisKind, ChartAxis, TraceType } from './plotted.model.ts';

/** One series of a chart: arrays of the same length, by channel (`x`, `y`, `z`, `size`, `color`, `error`, `labels`, `values`, `value`, `groupBy0`…). */
export interface ChartSeries {
  name: string;
  /** Category that the series was split by; undefined when none. */
  color?: string;
  /** Small picture that the series belongs to; undefined when there is only one picture. */
  facet?: string;
  traceType?: TraceType;
  axis?: ChartAxis;
  points: Readonly<Record<string, readonly unknown[]>>;
}

/** What is drawn: plain data, without where they come from. */
export interface Chart {
  type: string;
  title: string;
  /** Titles and kinds by channel. */
  axes: Readonly<Record<string, { title: string; kind: AxisKind } | undefined>>;
  series: readonly ChartSeries[];
  look?: Look;
  /** How many rows are drawn where the table has more: the first ones, or a sample of so many. */
  part?: { rows: number; sampleOf?: number };
  /** Number of the series beyond those that are drawn. */
  seriesLeftOut?: number;
  /** Every group of the column of colours, with those that filters leave out; absent where filters leave out none. */
  groups?: readonly string[];
  /** The chart of all facets, where this is one of them. */
  whole?: Chart;
}

/** A point of the flat table that most charts are drawn from: its channels, `s` (series) and `f` (facet). */
export type Point = Record<string, unknown>;

export const countPoints = ({ points }: ChartSeries): number => Math.max(0, ...Object.values(points).map((values) => values.length));

export const nameLegend = (chart: Chart, { name, color }: ChartSeries): string => {
  if (color === undefined) return name;
  return new Set(chart.series.map((series) => series.name)).size > 1 ? `${name} · ${color}` : color;
};

/** Title of the legend of series: the column that splits them. Empty when they come from several columns as well. */
export const splitTitleOf = ({ axes, series }: Chart): string =>
  axes['color']?.kind === 'categorical' && new Set(series.map(({ name }) => name)).size === 1 ? axes['color'].title : '';

function pointAt(series: ChartSeries, s: string, index: number): Point {
  const point: Point = { s, f: series.facet ?? '', i: index };
  for (const [channel, values] of Object.entries(series.points)) point[channel] = values[index] ?? null;
  return point;
}

/** All points of all series. */
export const flatten = (chart: Chart): Point[] =>
  chart.series.flatMap((series) => {
    const s = nameLegend(chart, series);
    return Array.from({ length: countPoints(series) }, (_, index) => pointAt(series, s, index));
  });

/** How many marks of one point each a picture has at most. */
const MOST_DOTS = 5_000;
/** How many points lines and areas have at most. Those of a line chart are thinned to fewer before, with their peaks. */
export const MOST_LINE_POINTS = 40_000;

/** Of how many points one is drawn. */
export const findStep = ({ series }: Chart, most = MOST_DOTS): number =>
  Math.max(1, Math.ceil(series.reduce((sum, one) => sum + countPoints(one), 0) / most));

/** The places of the least and the greatest value of a channel. */
function findEnds(values: readonly unknown[] = []): number[] {
  let [least, greatest]: [number | undefined, number | undefined] = [undefined, undefined];
  for (const [index, value] of values.entries()) {
    const number = readNumber(value);
    if (!Number.isFinite(number)) continue;
    if (least === undefined || number < readNumber(values[least])) least = index;
    if (greatest === undefined || number > readNumber(values[greatest])) greatest = index;
  }
  return [least, greatest].filter((index) => index !== undefined);
}

/**
 * Picks the points that are drawn, at most about `most`: one of `findStep`, and in any case the least and the greatest of each series, and those whose y
 * `stays`. Whatever is computed of points takes `flatten` instead.
 */
export function pickDots(chart: Chart, { most, stays }: { most?: number; stays?: (y: unknown) => boolean } = {}): Point[] {
  const step = findStep(chart, most);
  return chart.series.flatMap((series) => {
    const s = nameLegend(chart, series);
    const { x, y } = series.points;
    const ends = new Set([...findEnds(x), ...findEnds(y)]);
    const points: Point[] = [];
    for (let index = 0; index < countPoints(series); index += 1)
      if (index % step === 0 || ends.has(index) || stays?.(y?.[index]) === true) points.push(pointAt(series, s, index));
    return points;
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

/** What a picture calls the category of rows that have none. */
export const NO_VALUE = 'no value';

/** A category as text; `otherwise` for a value that is none. */
export const printText = (value: unknown, otherwise: string): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;

// a missing value is no number, though Number(null) would be 0
export const readNumber = (value: unknown): number =>
  typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : NaN;

/** Coordinates of points, without points that lack one. */
export const pickFinite = (chart: Chart): { x: number; y: number; z: number }[] =>
  flatten(chart)
    .map((point) => ({ x: readNumber(point['x']), y: readNumber(point['y']), z: point['z'] === undefined ? 0 : readNumber(point['z']) }))
    .filter(({ x, y, z }) => Number.isFinite(x) && Number.isFinite(y) && Number.isFinite(z));

/** The look that is asked for the axis of a channel; empty for channels without an axis. */
export const findLook = ({ look = {} }: Chart, channel: string): AxisLook =>
  channel === 'x' || channel === 'y' || channel === 'y2' || channel === 'z' ? (look[channel] ?? {}) : {};

/** Name of the y values: the title of their column. For values of several columns it is the asked title, else 'value'. */
export const nameValues = (chart: Chart): string =>
  new Set(chart.series.map(({ name }) => name)).size > 1 ? (findLook(chart, 'y').title ?? 'value') : nameAxis(chart, 'y');

/** Range in which y values are drawn, times as milliseconds: the asked one, else from the least to the greatest of all. */
export const findRangeOfY = (chart: Chart): [number, number] => {
  const [low, high] = findLook(chart, 'y').range ?? [];
  if (low !== undefined && high !== undefined) return [readNumber(low), readNumber(high)];
  return findExtent(chart.series.flatMap(({ points }) => (points['y'] ?? []).map(readNumber).filter(Number.isFinite)));
};

export const nameAxis = (chart: Chart, channel: string): string => findLook(chart, channel).title ?? chart.axes[channel]?.title ?? channel;
