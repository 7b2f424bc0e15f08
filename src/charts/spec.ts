import { pickRamp, type AxisLook, type Size } from './look.ts';
import { NO_VALUE, nameLegend, findLook, splitTitleOf, printText, type Chart } from './chart.ts';
import { byName, orderNames } from './order.ts';
import type { AxisKind } from './plotted.model.ts';

/** A piece of a Vega-Lite specification. Field names in it are ours, never a caller's. */
export type Spec = Record<string, unknown>;
/** Makes the specification of a chart. Its size is set by whoever asks, but in a specification of rows, which are cut by hand. */
export type SpecMaker = (chart: Chart, size: Size) => Spec;

const TYPES = { numeric: 'quantitative', temporal: 'temporal', categorical: 'nominal' } as const;

interface Field {
  field: string;
  type: string;
  title: string;
  scale?: object;
  axis?: object;
}

/** How a tick of an axis of time is written, by the coarsest unit that begins at it: a day, month or year is named where it begins. */
const TIME_FORMATS = {
  year: '%Y',
  quarter: '%b %Y',
  month: '%b %Y',
  week: '%-d %b',
  date: '%-d %b',
  hours: '%H:%M',
  minutes: '%H:%M',
  seconds: '%H:%M:%S',
  milliseconds: '%H:%M:%S.%L',
};
/** Characters that fit below an axis side by side. */
const MOST_CHARACTERS = 70;

/** How an axis writes the values of a channel. Whole numbers have no decimals. Names are level where they fit. */
function axisOf(chart: Chart, channel: string, kind: AxisKind): object | undefined {
  const values = chart.series.flatMap(({ points }) => points[channel] ?? []).filter((value) => value !== null && value !== undefined);
  if (kind === 'categorical') {
    const names = [...new Set(values.map((value) => printText(value, '')))];
    const characters = names.reduce((sum, name) => sum + name.length + 2, 0);
    return {
      labelExpr: `isValid(datum.value) ? datum.label : '${NO_VALUE}'`,
      labelAngle: characters <= MOST_CHARACTERS ? 0 : -40,
      labelOverlap: characters > 6 * MOST_CHARACTERS,
    };
  }
  if (kind === 'temporal') return { format: TIME_FORMATS, labelOverlap: true };
  const isWhole = values.length > 0 && values.every((value) => Number.isInteger(value) && Math.abs(value as number) < 10_000);
  return isWhole ? { format: 'd', tickMinStep: 1 } : undefined;
}

/** Whether the facets of a chart stand on the same axes. */
export const hasSharedAxes = ({ look, axes }: Chart): boolean => look?.facetScales !== 'own' && axes['y2'] === undefined;

/** The chart whose axes a facet stands on: that of all facets, or its own. */
export const findSharer = (chart: Chart): Chart => (hasSharedAxes(chart) ? (chart.whole ?? chart) : chart);

/** The scale of the names that a channel has in all facets; see `orderNames`. */
export const orderCategories = (chart: Chart, channel: string) =>
  orderNames(findSharer(chart).series.flatMap(({ points }) => points[channel] ?? []));

/** Makes the encoding of a channel by the kind of its column. Times are in UTC, wherever the server is. */
export function makeField(chart: Chart, channel: string, look: AxisLook = findLook(chart, channel)): Field {
  const shown = chart.axes[channel];
  const kind = shown?.kind ?? 'numeric';
  const axis = axisOf(chart, channel, kind);
  const usual = kind === 'numeric' ? { zero: false } : kind === 'temporal' ? { type: 'utc' } : undefined;
  const scale = usual
    ? {
        ...usual,
        ...(look.scale === 'log' ? { type: 'log' } : {}),
        ...(look.range ? { domain: look.range, clamp: false, nice: false } : {}),
      }
    : orderCategories(chart, channel);
  return {
    field: channel,
    type: TYPES[kind],
    title: look.title ?? shown?.title ?? channel,
    ...(scale && { scale }),
    ...(axis && { axis }),
  };
}

/** Makes the encoding of x; without a column of x it is the number of the row. */
export const makeX = (chart: Chart): object =>
  chart.axes['x'] ? makeField(chart, 'x') : { field: 'i', type: 'quantitative', title: 'row' };

/** The series that a category is split into, in order of name. */
export const listSplits = (chart: Chart): string[] =>
  [...new Set(chart.series.map((series) => nameLegend(chart, series)))].sort(byName.compare);

/** Whether several series share each category of x. */
export const isSplit = (chart: Chart): boolean => new Set(chart.series.map(({ color: group }) => group)).size > 1;

/** Makes the encoding of what the series differ in, in the order of their names: their colours, or their places side by side. */
export function makeSplit(chart: Chart, names: readonly string[] = listSplits(chart.whole ?? chart)): Spec {
  const scale = orderNames(names);
  return { field: 's', type: 'nominal', ...(scale && { scale }) };
}

export const makeSeriesColor = (chart: Chart, names?: readonly string[]): Spec => ({
  ...makeSplit(chart, names),
  title: splitTitleOf(chart),
});

/** Colour by the values of a column, else by series, whose names are those of the legend unless given. */
export function makeColor(chart: Chart, names?: readonly string[]): Spec {
  const axis = chart.axes['color'];
  if (axis && chart.series.some(({ points }) => points['color'] !== undefined)) {
    const scale = axis.kind === 'categorical' ? orderCategories(chart, 'color') : undefined;
    return { field: 'color', type: TYPES[axis.kind], title: axis.title, ...(scale && { scale }) };
  }
  return makeSeriesColor(chart, names);
}

/** What a legend shows for closed lines that are filled: the usual symbol would be a line without colour. */
export const FILLED_LEGEND = { symbolType: 'square', symbolStrokeWidth: 0, symbolOpacity: 1, symbolSize: 110 };

/** Settings of one legend; null when no legends are asked for. They would beat the theme, which leaves legends out then. */
export const makeLegend = ({ look = {} }: Chart, own: object): object | null => (look.legend === 'none' ? null : own);

/** The part of a scale that says its colours from the least to the greatest. */
export const makeRampScale = ({ look = {} }: Chart, count?: number): object => {
  const ramp = pickRamp(look, count);
  if (Array.isArray(ramp)) return { range: ramp };
  const { scheme, ...more } = ramp as { scheme: string };
  return { scheme: Object.keys(more).length > 0 ? { name: scheme, ...more } : scheme };
};

/** Makes a layer of marks at given points, without axes. Round and three-cornered charts are made of such layers. */
export const makeLayer = (values: readonly object[], mark: object, encoding: object = {}): Spec => ({
  data: { values },
  mark,
  encoding: {
    x: { field: 'px', type: 'quantitative', axis: null, scale: { zero: false } },
    y: { field: 'py', type: 'quantitative', axis: null, scale: { zero: false } },
    order: { field: 'o', type: 'quantitative' },
    ...encoding,
  },
});

/** Makes a layer of texts at given points. */
export const makeTexts = (values: readonly object[], mark: object = {}): Spec =>
  makeLayer(values, { type: 'text', ...mark }, { text: { field: 't', type: 'nominal' }, order: undefined });
