/** Charts of how values are spread. Whatever they say is computed from every value, and only what is computed is drawn. */
import { findExtent, findLook, findRangeOfY, nameValues, pickDots, pickNumbers, readNumber, type Chart } from './chart.ts';
import { pickFirstColor, pickInk } from './look.ts';
import { counted } from './counted.ts';
import { gatherSamples, listSamples, MOST_SAMPLES, type Sample } from './samples.ts';
import {
  findSharer,
  makeField,
  makeSeriesColor,
  makeSplit,
  makeX,
  FILLED_LEGEND,
  isSplit,
  makeLegend,
  listSplits,
  type Spec,
  type SpecMaker,
} from './spec.ts';

/** Encoding of what distributions are compared by: the categories of x, numbers in their order, else the series. */
function groups(chart: Chart): Spec {
  const { x } = chart.axes;
  if (x === undefined) return { ...makeSplit(chart), title: '', axis: { labelAngle: 0 } };
  const names = [...new Set(gatherSamples(findSharer(chart), { byGroup: true }).map(({ g }) => g))];
  const named: Chart = { ...chart, series: [{ name: '', points: { x: names } }], axes: { x: { ...x, kind: 'categorical' } } };
  const { title, axis, scale } = makeField({ ...named, whole: named }, 'x');
  // of more groups than are drawn each facet draws others
  if (names.length > MOST_SAMPLES) return { type: 'nominal', title, axis };
  // what is no number comes last
  const placeOf = (name: string) => (Number.isFinite(Number(name)) ? Number(name) : Infinity);
  const order = x.kind === 'numeric' ? { domain: names.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)) } : scale;
  return { type: 'nominal', title, axis, ...(order && { scale: order }) };
}
const hasSplits = (chart: Chart) => chart.axes['x'] !== undefined && isSplit(chart);

/** Finds a quantile of sorted values, between the two values next to it, as R's type 7 does. */
export function findQuantile(sorted: ArrayLike<number>, share: number): number {
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? 0;
  return low + ((sorted[Math.ceil(place)] ?? low) - low) * (place % 1);
}

/** How far from the middle half of the values, in its lengths, a whisker reaches at most: https://en.wikipedia.org/wiki/Box_plot */
const WHISKER = 1.5;
/** How many values beyond the whiskers of a box are drawn; the least and the greatest are among them. */
const MOST_OUTER = 500;
const MOST_OUTER_OF_ALL = 10_000;

/** A box is the middle half of the values, with the median; what lies beyond the whiskers is drawn as points. */
function makeBox({ g, s, sorted }: Sample, most: number) {
  const [low, median, high] = [0.25, 0.5, 0.75].map((share) => findQuantile(sorted, share)) as [number, number, number];
  const reach = WHISKER * (high - low);
  const inner = sorted.filter((value) => value >= low - reach && value <= high + reach);
  const outer = sorted.filter((value) => value < low - reach || value > high + reach);
  const step = Math.ceil(outer.length / most);
  const drawn = Array.from(outer).filter((_, index) => index % step === 0 || index === outer.length - 1);
  return {
    box: { g, s, low, median, high, least: Math.min(low, inner[0] ?? low), greatest: Math.max(high, inner.at(-1) ?? high) },
    outer: drawn.map((y) => ({ g, s, y })),
  };
}

/** Boxes as wide as there is room for. Boxes of one group stand side by side, or one would hide the other. */
const boxes: SpecMaker = (chart, { width }) => {
  const samples = listSamples(chart, { byGroup: true });
  const most = Math.min(MOST_OUTER, Math.floor(MOST_OUTER_OF_ALL / Math.max(1, samples.length)));
  const made = samples.map((sample) => makeBox(sample, most));
  const values = made.map(({ box }) => box);
  const count = new Set(values.map(({ g }) => g)).size * (hasSplits(chart) ? listSplits(chart).length : 1);
  // few boxes are some 60 pixels wide, however much room there is
  const band = Math.min(0.8, (80 * Math.max(1, count)) / width);
  const ink = pickInk(chart.look).text;
  const y = makeField(chart, 'y');
  const place = { x: { ...groups(chart), field: 'g' }, ...(hasSplits(chart) ? { xOffset: makeSplit(chart) } : {}) };
  const between = (low: string, high: string) => ({ ...place, y: { ...y, field: low }, y2: { field: high } });
  const color = makeSeriesColor(chart);
  return {
    data: { values },
    layer: [
      { mark: { type: 'rule' }, encoding: between('least', 'low') },
      { mark: { type: 'rule' }, encoding: between('high', 'greatest') },
      { mark: { type: 'bar', width: { band } }, encoding: { ...between('low', 'high'), color } },
      {
        mark: { type: 'tick', orient: 'horizontal', width: { band }, thickness: 2, color: ink },
        encoding: { ...place, y: { ...y, field: 'median' } },
      },
      {
        data: { values: made.flatMap(({ outer }) => outer) },
        mark: { type: 'point' },
        encoding: { ...place, y, color },
      },
    ],
  };
};

/** Scott's rule, which outliers do not widen: https://search.r-project.org/R/refmans/stats/html/bandwidth.html */
function findBandwidth(sorted: Float64Array): number {
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const deviation = Math.sqrt(sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, sorted.length - 1));
  const middle = (findQuantile(sorted, 0.75) - findQuantile(sorted, 0.25)) / 1.34;
  return 1.06 * (Math.min(deviation, middle) || deviation) * sorted.length ** -0.2;
}

const STEPS = 80;
const MOST_CELLS = 512;

/**
 * Density of sorted values at even steps of a range, by Gaussians as wide as Scott's rule says, and as a step at least: a narrower one would stand between two
 * steps, unseen. Of many values it is that of their means in 512 equal parts of their range.
 */
function curve(sorted: Float64Array, [from, to]: readonly [number, number]): { v: number; d: number }[] {
  const [low = 0, high = low] = [sorted[0], sorted.at(-1)];
  const cells = new Map<number, { sum: number; count: number }>();
  for (const [index, value] of sorted.entries()) {
    const key = sorted.length <= MOST_CELLS ? index : Math.floor((MOST_CELLS * (value - low)) / (high - low || 1));
    const cell = cells.get(key) ?? { sum: 0, count: 0 };
    cells.set(key, { sum: cell.sum + value, count: cell.count + 1 });
  }
  const parts = Array.from(cells.values(), ({ sum, count }) => ({ mean: sum / count, count }));
  const width = Math.max(findBandwidth(sorted) || 0, (to - from) / STEPS) || 1;
  const scale = width * sorted.length * Math.sqrt(2 * Math.PI);
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const v = from + ((to - from) * step) / STEPS;
    return { v, d: parts.reduce((sum, { mean, count }) => sum + count * Math.exp(-0.5 * ((v - mean) / width) ** 2), 0) / scale };
  });
}

/** A violin for each series of each group, all of one scale of density, with its median and the middle half of its values. */
const violins: SpecMaker = (chart) => {
  const splits = hasSplits(chart) ? listSplits(chart) : [];
  const room = 2 / Math.max(1, splits.length);
  const samples = listSamples(chart, { byGroup: true });
  const shapes = samples.map(({ g, s, sorted }) => {
    const at = (share: number) => findQuantile(sorted, share);
    const middle = splits.length > 0 ? -1 + room * (splits.indexOf(s) + 0.5) : 0;
    const extent = findExtent([at(0), at(1)]);
    return { x: g, s: splits.length > 0 ? s : g, middle, curve: curve(sorted, extent), low: at(0.25), median: at(0.5), high: at(0.75) };
  });
  const densest = shapes.flatMap((shape) => shape.curve).reduce((most, { d }) => Math.max(most, d), 1e-12);
  const outlines = shapes.flatMap(({ x, s, middle, curve: half }) => {
    const side = (sign: number) => half.map(({ v, d }) => ({ x, s, y: v, o: middle + (sign * 0.46 * room * d) / densest }));
    return [...side(-1), ...side(1).reverse()].map((point, turn) => ({ ...point, turn }));
  });
  const y = makeField(chart, 'y');
  const xOffset = { field: 'o', type: 'quantitative', scale: { domain: [-1, 1] } };
  const at = { x: { ...groups(chart), field: 'x' }, xOffset };
  const inner = shapes.map(({ x, s, middle: o, low, median, high }) => ({ x, s, o, low, median, high }));
  return {
    layer: [
      {
        data: { values: outlines },
        mark: { type: 'line', filled: true, fillOpacity: 0.6, strokeWidth: 1, interpolate: 'linear-closed' },
        encoding: {
          ...at,
          y,
          order: { field: 'turn', type: 'quantitative' },
          detail: { field: 'x', type: 'nominal' },
          color: { ...makeSeriesColor(chart), legend: splits.length > 0 ? makeLegend(chart, FILLED_LEGEND) : null },
        },
      },
      {
        data: { values: inner },
        mark: { type: 'rule', strokeWidth: 5, color: pickInk(chart.look).text },
        encoding: { ...at, y: { ...y, field: 'low' }, y2: { field: 'high' } },
      },
      {
        data: { values: inner },
        mark: { type: 'point', filled: true, size: 40, color: pickInk(chart.look).ground, opacity: 1 },
        encoding: { ...at, y: { ...y, field: 'median' } },
      },
    ],
  };
};

/** The density of each series over the whole range that is drawn. */
function densitiesOf(chart: Chart) {
  const range = findRangeOfY(chart);
  return listSamples(chart, { byGroup: false }).flatMap(({ s, sorted }) => curve(sorted, range).map((point) => ({ s, ...point })));
}

const densities: SpecMaker = (chart) => ({
  data: { values: densitiesOf(chart) },
  mark: { type: 'area', opacity: 0.45, line: true },
  encoding: {
    x: { field: 'v', type: 'quantitative', title: nameValues(chart), scale: { domain: findRangeOfY(chart), nice: false } },
    y: { field: 'd', type: 'quantitative', stack: null, title: 'density' },
    color: makeSeriesColor(chart),
  },
});

const RIDGE_NAMES_PX = 80;

/** Ridges overlap a little. Their names stand in the room to their left. */
const ridges: SpecMaker = (chart, { width, height }) => ({
  data: { values: densitiesOf(chart) },
  facet: { row: { field: 's', type: 'nominal', sort: listSplits(chart), title: null, header: { labelAngle: 0, labelAlign: 'left' } } },
  spacing: -12,
  spec: {
    width: Math.max(50, width - RIDGE_NAMES_PX),
    height: Math.max(20, Math.round((0.75 * height) / Math.max(1, listSplits(chart).length))),
    mark: { type: 'area', opacity: 0.7, line: true },
    encoding: {
      x: { field: 'v', type: 'quantitative', title: nameValues(chart), scale: { domain: findRangeOfY(chart), nice: false } },
      y: { field: 'd', type: 'quantitative', axis: null },
      color: { ...makeSplit(chart), legend: null },
    },
  },
});

/** Mean and three standard deviations either side: a point beyond is out of control. */
const control: SpecMaker = (chart) => {
  const given = chart.series.flatMap(({ points }) => pickNumbers(points['y']));
  // no value has no mean, and one value no deviation
  const mean = given.reduce((sum, value) => sum + value, 0) / given.length;
  const deviation = Math.sqrt(given.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (given.length - 1));
  const x = makeX(chart);
  const limits = [
    { v: mean, n: 'mean' },
    { v: mean + 3 * deviation, n: '+3σ' },
    { v: mean - 3 * deviation, n: '−3σ' },
  ].filter(({ v }) => Number.isFinite(v) && (v > 0 || findLook(chart, 'y').scale !== 'log'));
  const isOut = (y: unknown) => Math.abs(readNumber(y) - mean) > 3 * deviation;
  const out = pickDots(chart, { stays: isOut }).map((point) => ({ ...point, out: isOut(point['y']) }));
  return {
    layer: [
      {
        data: { values: limits },
        mark: { type: 'rule', strokeDash: [4, 4] },
        encoding: { y: { field: 'v', type: 'quantitative' }, color: { field: 'n', type: 'nominal', title: '' } },
      },
      { data: { values: out }, mark: { type: 'line' }, encoding: { x, y: makeField(chart, 'y') } },
      {
        data: { values: out },
        mark: { type: 'point', filled: true },
        encoding: {
          x,
          y: makeField(chart, 'y'),
          fill: { condition: { test: 'datum.out', value: '#d55e00' }, value: pickFirstColor(chart.look) },
        },
      },
    ],
  };
};

export const statistical: Record<string, SpecMaker> = {
  'box-plot': boxes,
  'violin-plot': violins,
  'density-plot': densities,
  'ridge-plot': ridges,
  ...counted,
  'spc-control-chart': control,
};
