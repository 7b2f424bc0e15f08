/** Turns the rows of a chart's read into series that are ready to plot, and those into a chart. Pure. */
import { AXES } from './adjusted.ts';
import { MOST_LINE_POINTS, NO_VALUE, pickNumbers, printText, type Chart, type ChartSeries } from './chart.ts';
import { listGapEnds, pickLargestTriangles } from './downsample.ts';
import type { Look } from './look.ts';
import type { AxisKind, ChartAxis, Downsampling, Plotted, PlottedAxis, PlottedSeries, TraceType } from './plotted.model.ts';

export interface PlotColumn {
  name: string;
  kind: AxisKind;
  /** Whether its values are instants, which dates and local times are not. */
  isInstant: boolean;
}

/** A column and the channel of a series that it fills. */
export interface ChannelPlan {
  channel: string;
  /** Position among the columns of the rows. */
  position: number;
  title: string;
  /** The zone in whose calendar the channel's instants are days, weeks, months, quarters or years. */
  zone?: string | undefined;
}

export interface SeriesPlan {
  name: string;
  /** Channels of this series alone: the measured column and its error. */
  channels: readonly ChannelPlan[];
  source: { axis?: ChartAxis; traceType?: TraceType };
}

/** How rows become series. */
export interface Layout {
  columns: readonly PlotColumn[];
  shared: readonly ChannelPlan[];
  series: readonly SeriesPlan[];
  /** Columns that split the series, when they hold categories. */
  color: ChannelPlan | null;
  facet: ChannelPlan | null;
  /** Whether long traces lose points that a line does not need. */
  isThinned: boolean;
  /** Every group of the column of colours, where filters may leave some out. */
  groups?: readonly string[] | undefined;
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
  const values = y.map((value) => (typeof value === 'number' ? value : NaN));
  const picked = pickLargestTriangles(
    y.map((_, index) => (x ? asNumber(x[index], index) : index)),
    values,
    most,
  );
  // a line that went on over a gap would show values that nobody measured
  const kept = [...new Set([...picked, ...listGapEnds(values, y.length / most)])].sort((a, b) => a - b);
  return {
    points: Object.fromEntries(Object.entries(points).map(([channel, values]) => [channel, kept.map((index) => values[index] ?? null)])),
    downsampled: { method: 'largest-triangle-three-buckets', from: y.length, to: kept.length },
  };
}

const MOST_SERIES = 200;

/** The column by whose categories the series are split; null when there is none, or its values are no categories. */
const findSplit = ({ color, columns }: Layout): ChannelPlan | null =>
  color && columns[color.position]?.kind === 'categorical' ? color : null;

/** Lists the channels of a series. A column of colours that does not split the series shades their points. */
const listChannels = (layout: Layout, { channels }: SeriesPlan): ChannelPlan[] => {
  const shaded = layout.color && !findSplit(layout) ? [{ ...layout.color, channel: 'color' }] : [];
  return [...layout.shared, ...shaded, ...channels];
};

/** Describes what the channels of a chart show, by channel; `y2` is a second y axis. */
export function makeAxes(layout: Layout): Record<string, PlottedAxis> {
  const describe = ({ position, title, zone }: ChannelPlan): PlottedAxis => {
    const column = layout.columns[position];
    return {
      title,
      column: column?.name ?? '',
      kind: column?.kind ?? 'categorical',
      ...(zone !== undefined && column?.isInstant ? { timezone: zone } : {}),
    };
  };
  const split = findSplit(layout);
  const axes: Record<string, PlottedAxis> = {
    ...(split ? { color: describe(split) } : {}),
    ...(layout.facet ? { facet: describe(layout.facet) } : {}),
  };
  const isDual = new Set(layout.series.map(({ source }) => source.axis ?? 'primary')).size > 1;
  for (const series of layout.series)
    for (const channel of listChannels(layout, series))
      axes[isDual && channel.channel === 'y' && series.source.axis === 'secondary' ? 'y2' : channel.channel] ??= describe(channel);
  return axes;
}

/** Makes the series of a chart. Rows are in the order of the answer. */
export function makeSeries(layout: Layout, rows: readonly Record<string, unknown>[]): Plotted {
  // fifty series of one column share its values
  const values = layout.columns.map(({ name, kind }) => rows.map((row) => cell(row[name], kind)));
  const valuesOf = ({ position }: ChannelPlan): unknown[] => values[position] ?? [];
  const split = findSplit(layout);
  const text = (value: unknown) => printText(value, NO_VALUE);
  const found = new Map<string, { color?: string; facet?: string; rows: number[] }>();
  for (const index of rows.keys()) {
    const color = split ? text(valuesOf(split)[index]) : undefined;
    const facet = layout.facet ? text(valuesOf(layout.facet)[index]) : undefined;
    const key = JSON.stringify([color, facet]);
    const group = found.get(key) ?? { color, facet, rows: [] };
    group.rows.push(index);
    found.set(key, group);
  }
  if (found.size === 0) found.set('', { rows: [] });
  const traces = found.size * layout.series.length;
  const most = Math.max(100, Math.min(MOST_POINTS, Math.floor(MOST_LINE_POINTS / Math.min(traces, MOST_SERIES))));
  // fifty columns of fifty thousand groups are two and a half million series, of which few are kept
  const groups = [...found.values()].slice(0, Math.ceil(MOST_SERIES / Math.max(1, layout.series.length)));
  const series = groups.flatMap((group) =>
    layout.series.map((plan): PlottedSeries => {
      const points: Record<string, unknown[]> = {};
      for (const channel of listChannels(layout, plan)) {
        const all = valuesOf(channel);
        points[channel.channel] = group.rows.length === rows.length ? all : group.rows.map((index) => all[index]);
      }
      const { points: kept, downsampled } = layout.isThinned ? thinned(points, most) : { points, downsampled: null };
      return {
        name: plan.name,
        color: group.color ?? null,
        facet: group.facet ?? null,
        traceType: plan.source.traceType ?? null,
        axis: plan.source.axis ?? 'primary',
        points: kept,
        downsampled,
      };
    }),
  );
  const seriesLeftOut = Math.max(0, traces - MOST_SERIES);
  return { axes: makeAxes(layout), series: series.slice(0, MOST_SERIES), ...(seriesLeftOut > 0 ? { seriesLeftOut } : {}) };
}

/** Finds the column of a logarithmic axis that has values of 0 or less; undefined when there is none. */
export function findUnplaced({ axes, series }: Plotted, look: Look): string | undefined {
  for (const name of AXES) {
    if (look[name]?.scale !== 'log') continue;
    const shown = series.filter(({ axis }) => name === 'x' || axes['y2'] === undefined || (axis === 'secondary') === (name === 'y2'));
    if (shown.some(({ points }) => pickNumbers(points[name === 'y2' ? 'y' : name]).some((value) => value <= 0))) return axes[name]?.column;
  }
  return undefined;
}

/** What a picture is made of: the series of so many rows, which may be the first of more, or a sample of them. */
type Drawn = Plotted & Pick<Layout, 'groups'> & { rows: number; truncated: boolean; sampleOf?: number };

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
  const { axes, series, seriesLeftOut, rows, truncated, sampleOf, groups } = drawn;
  const facetZone = axes['facet']?.timezone;
  const nameFacet = facetZone === undefined ? (facet: string) => facet : makeDater(facetZone);
  const placers = new Map(Object.entries(axes).map(([name, axis]) => [name, makePlacer(axis)]));
  return {
    type,
    title,
    look,
    ...(truncated ? { part: { rows, ...(sampleOf === undefined ? {} : { sampleOf }) } } : {}),
    ...(seriesLeftOut === undefined ? {} : { seriesLeftOut }),
    ...(groups === undefined ? {} : { groups }),
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
