/** Turns the rows of a chart's read into series that are ready to plot. Pure. */
import { MOST_LINE_POINTS, printText, type AxisKind, type Chart, type ChartSeries } from '../../charts/chart.ts';
import type { Look } from '../../charts/look.ts';
import { pickLargestTriangles } from '../../charts/downsample.ts';
import type { ChannelPlan, ChartPlan } from './chart.ts';
import { findAxisKind } from './roles.ts';
import type { Downsampling, PlottedAxis, PlottedSeries } from './plot.model.ts';

export interface AnswerColumn {
  name: string;
  type_name: string;
}

/** Converts a value for plotting. Numbers that were sent as text to stay exact become numbers again: a picture does not show more than 2^53. */
function cell(value: unknown, kind: AxisKind): unknown {
  if (value === null || value === undefined) return null;
  if (kind === 'numeric') return Number(value);
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

const asNumber = (value: unknown, index: number): number =>
  typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) || index : index;

/** Longer traces are thinned to this many points, which a screen can show, or to fewer where there are many traces. */
const MOST_POINTS = 2_000;

function thinned(points: Record<string, unknown[]>, most: number): { points: Record<string, unknown[]>; downsampled: Downsampling | null } {
  const y = points['y'] ?? [];
  const x = points['x'];
  if (y.length <= most || (x && typeof x[0] === 'string' && Number.isNaN(Date.parse(x[0])))) return { points, downsampled: null };
  const kept = pickLargestTriangles(
    y.map((_, index) => (x ? asNumber(x[index], index) : index)),
    y.map((value) => (typeof value === 'number' ? value : NaN)),
    most,
  );
  return {
    points: Object.fromEntries(Object.entries(points).map(([channel, values]) => [channel, kept.map((index) => values[index] ?? null)])),
    downsampled: { method: 'largest-triangle-three-buckets', from: y.length, to: kept.length },
  };
}

export interface Plotted {
  axes: Record<string, PlottedAxis>;
  series: PlottedSeries[];
  /** How many series there are beyond those. */
  seriesLeftOut?: number;
}

const MOST_SERIES = 200;

/** Makes the series of a chart. Rows are in the order of the answer. `thin` says whether long traces lose points that a line does not need. */
export function makeSeries(
  plan: ChartPlan,
  columns: readonly AnswerColumn[],
  rows: readonly Record<string, unknown>[],
  thin: boolean,
): Plotted {
  const axisOf = ({ position, title, zone }: ChannelPlan): PlottedAxis => ({
    title,
    column: columns[position]?.name ?? '',
    kind: findAxisKind(columns[position]?.type_name ?? ''),
    // dates and local times are in no zone
    ...(zone !== undefined && columns[position]?.type_name === 'TIMESTAMP' ? { timezone: zone } : {}),
  });
  // fifty series of one column share its values
  const values = columns.map(({ name, type_name }) => {
    const kind = findAxisKind(type_name);
    return rows.map((row) => cell(row[name], kind));
  });
  const valuesOf = ({ position }: ChannelPlan): unknown[] => values[position] ?? [];
  const colorKind = plan.color ? axisOf(plan.color).kind : null;
  const splits = plan.color && colorKind === 'categorical' ? plan.color : null;
  const shaded = plan.color && !splits ? [{ ...plan.color, channel: 'color' }] : [];
  const text = (value: unknown) => printText(value, '(none)');
  const found = new Map<string, { color?: string; facet?: string; rows: number[] }>();
  for (const index of rows.keys()) {
    const color = splits ? text(valuesOf(splits)[index]) : undefined;
    const facet = plan.facet ? text(valuesOf(plan.facet)[index]) : undefined;
    const key = JSON.stringify([color, facet]);
    const group = found.get(key) ?? { color, facet, rows: [] };
    group.rows.push(index);
    found.set(key, group);
  }
  if (found.size === 0) found.set('', { rows: [] });
  const axes: Record<string, PlottedAxis> = {
    ...(splits ? { color: axisOf(splits) } : {}),
    ...(plan.facet ? { facet: axisOf(plan.facet) } : {}),
  };
  const isDual = new Set(plan.series.map(({ source }) => source.axis ?? 'primary')).size > 1;
  const most = Math.max(100, Math.min(MOST_POINTS, Math.floor(MOST_LINE_POINTS / Math.min(found.size * plan.series.length, MOST_SERIES))));
  // fifty columns of fifty thousand groups are two and a half million series, of which few are kept
  const groups = [...found.values()].slice(0, Math.ceil(MOST_SERIES / Math.max(1, plan.series.length)));
  const series = groups.flatMap((group) =>
    plan.series.map(({ name, channels, source }): PlottedSeries => {
      const points: Record<string, unknown[]> = {};
      for (const channel of [...plan.shared, ...shaded, ...channels]) {
        // a second axis beside the first one is described on its own
        axes[isDual && channel.channel === 'y' && source.axis === 'secondary' ? 'y2' : channel.channel] ??= axisOf(channel);
        const all = valuesOf(channel);
        points[channel.channel] = group.rows.length === rows.length ? all : group.rows.map((index) => all[index]);
      }
      const { points: kept, downsampled } = thin ? thinned(points, most) : { points, downsampled: null };
      return {
        name,
        color: group.color ?? null,
        facet: group.facet ?? null,
        traceType: source.traceType ?? null,
        axis: source.axis ?? 'primary',
        points: kept,
        downsampled,
      };
    }),
  );
  const seriesLeftOut = Math.max(0, found.size * plan.series.length - MOST_SERIES);
  return { axes, series: series.slice(0, MOST_SERIES), ...(seriesLeftOut > 0 ? { seriesLeftOut } : {}) };
}

/** What a picture is made of: the series of so many rows, which may be the first of more, or a sample of them. */
export type Drawn = Plotted & { rows: number; truncated: boolean; sampleOf?: number };

/** A time without a zone is drawn at its place on a clock; read by the zone of this machine it would stand elsewhere. */
const placeTime = (value: unknown): unknown => (typeof value === 'string' && /T[\d:.]+$/.test(value) ? `${value}Z` : value);

/** Makes what names an instant by the date that it has in a zone. A text that is no instant is its own name. */
function makeDater(zone: string): (value: string) => string {
  // the dates of Sweden are written as ISO 8601 writes them
  const dates = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
  // the same few instants stand in every series
  const named = new Map<string, string>();
  return (value) => {
    const known = named.get(value) ?? (Number.isNaN(Date.parse(value)) ? value : dates.format(new Date(value)));
    named.set(value, known);
    return known;
  };
}

/** Makes what places the times of an axis: an instant that begins a part of a zone's calendar stands at the date that it has there. */
function makePlacer({ kind, timezone }: PlottedAxis): ((value: unknown) => unknown) | null {
  if (kind !== 'temporal') return null;
  if (timezone === undefined) return placeTime;
  const dateOf = makeDater(timezone);
  return (value) => (typeof value === 'string' ? `${dateOf(value)}T00:00:00.000Z` : value);
}

/** Makes the chart that the drawing code takes. */
export function makeChart(type: string, title: string, drawn: Drawn, look: Look): Chart {
  const { axes, series, seriesLeftOut, rows, truncated, sampleOf } = drawn;
  const facetZone = axes['facet']?.timezone;
  const nameFacet = facetZone === undefined ? (facet: string) => facet : makeDater(facetZone);
  const placers = new Map(Object.entries(axes).map(([name, axis]) => [name, makePlacer(axis)]));
  return {
    type,
    title,
    look,
    ...(truncated ? { part: { rows, ...(sampleOf === undefined ? {} : { sampleOf }) } } : {}),
    ...(seriesLeftOut === undefined ? {} : { seriesLeftOut }),
    axes,
    series: series.map(({ name, color, facet, traceType, axis, points }): ChartSeries => ({
      name,
      points: Object.fromEntries(
        Object.entries(points).map(([channel, values]) => {
          const place = placers.get(channel === 'y' && axis === 'secondary' && axes['y2'] ? 'y2' : channel);
          return [channel, place ? values.map(place) : values];
        }),
      ),
      axis,
      ...(color === null ? {} : { color }),
      ...(facet === null ? {} : { facet: nameFacet(facet) }),
      ...(traceType === null ? {} : { traceType }),
    })),
  };
}
