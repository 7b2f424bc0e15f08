import {
  findExtent,
  flatten,
  findLook,
  pickNumbers,
  findRangeOfY,
  splitTitleOf,
  printText,
  nameValues,
  type Chart,
  type Point,
} from './chart.ts';
import { pickInk } from './look.ts';
import { makeColor, makeField, FILLED_LEGEND, isSplit, makeLegend, listSplits, type Spec, type SpecMaker } from './spec.ts';

/** Encoding of what distributions are compared by: the categories of x, else the series. A time counts as a category, by its text, since the axis has names. */
function groups(chart: Chart): Spec {
  const { x } = chart.axes;
  if (x === undefined) return { field: 's', type: 'nominal', title: '', axis: { labelAngle: 0 } };
  const named: Chart = x.kind === 'temporal' ? { ...chart, axes: { ...chart.axes, x: { ...x, kind: 'categorical' } } } : chart;
  return { ...makeField(named, 'x'), type: 'nominal', scale: {} };
}
const groupField = (chart: Chart) => (chart.axes['x'] ? 'x' : 's');
const groupOf = (chart: Chart, point: Point) => printText(point[groupField(chart)], '–');
const hasSplits = (chart: Chart) => chart.axes['x'] !== undefined && isSplit(chart);

/** Boxes as wide as there is room for. Boxes of one group stand side by side, or one would hide the other. */
const boxes: SpecMaker = (chart) => {
  const values = flatten(chart);
  const count = new Set(values.map((point) => groupOf(chart, point))).size * (hasSplits(chart) ? listSplits(chart).length : 1);
  return {
    data: { values },
    mark: {
      type: 'boxplot',
      size: Math.min(60, Math.max(4, Math.round(360 / Math.max(1, count)))),
      median: { color: pickInk(chart.look ?? {}).text, strokeWidth: 2 },
    },
    encoding: {
      x: groups(chart),
      y: makeField(chart, 'y'),
      color: makeColor(chart),
      ...(hasSplits(chart) ? { xOffset: { field: 's', type: 'nominal' } } : {}),
    },
  };
};

const density = (chart: Chart, groupby: string[]) => ({
  density: 'y',
  groupby,
  steps: 80,
  as: ['v', 'd'],
  extent: findRangeOfY(chart),
});

const STEPS = 60;

/** Density of sorted values at even steps from the least to the greatest, by Gaussians as wide as Silverman's rule says. */
function curve(sorted: readonly number[]): { v: number; d: number }[] {
  const [low, high] = findExtent(sorted);
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const deviation = Math.sqrt(sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, sorted.length - 1));
  const width = 1.06 * (deviation || (high - low) / 4) * sorted.length ** -0.2;
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const v = low + ((high - low) * step) / STEPS;
    return { v, d: sorted.reduce((sum, value) => sum + Math.exp(-0.5 * ((value - v) / width) ** 2), 0) / (width * sorted.length) };
  });
}

/** Finds a quantile of sorted values, between the two values next to it, as R's type 7 and the box plot do. */
export function findQuantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const [low = 0, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place % 1);
}

/** A violin for each series of each group, all of one scale of density, with its median and the middle half of its values. */
const violins: SpecMaker = (chart) => {
  const splits = hasSplits(chart) ? listSplits(chart) : [];
  const room = 2 / Math.max(1, splits.length);
  const found = new Map<string, { g: string; s: string; given: number[] }>();
  for (const point of flatten(chart, 20_000)) {
    const g = groupOf(chart, point);
    const s = splits.length > 0 ? String(point['s']) : g;
    const key = JSON.stringify([g, s]);
    const given = found.get(key)?.given ?? [];
    found.set(key, { g, s, given });
    if (typeof point['y'] === 'number' && Number.isFinite(point['y'])) given.push(point['y']);
  }
  const shapes = [...found.values()].flatMap(({ g, s, given }) => {
    if (given.length === 0) return [];
    const sorted = given.sort((a, b) => a - b);
    const at = (share: number) => findQuantile(sorted, share);
    const middle = splits.length > 0 ? -1 + room * (splits.indexOf(s) + 0.5) : 0;
    return [{ x: g, s, middle, curve: curve(sorted), low: at(0.25), median: at(0.5), high: at(0.75) }];
  });
  const densest = Math.max(1e-12, ...shapes.flatMap((shape) => shape.curve.map(({ d }) => d)));
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
          color: {
            field: 's',
            type: 'nominal',
            title: splitTitleOf(chart),
            legend: splits.length > 0 ? makeLegend(chart, FILLED_LEGEND) : null,
          },
        },
      },
      {
        data: { values: inner },
        mark: { type: 'rule', strokeWidth: 5, color: pickInk(chart.look ?? {}).text },
        encoding: { ...at, y: { ...y, field: 'low' }, y2: { field: 'high' } },
      },
      {
        data: { values: inner },
        mark: { type: 'point', filled: true, size: 40, color: pickInk(chart.look ?? {}).ground, opacity: 1 },
        encoding: { ...at, y: { ...y, field: 'median' } },
      },
    ],
  };
};

const densities: SpecMaker = (chart) => ({
  data: { values: flatten(chart) },
  transform: [density(chart, ['s'])],
  mark: { type: 'area', opacity: 0.45, line: true },
  encoding: {
    x: { field: 'v', type: 'quantitative', title: nameValues(chart), scale: { domain: findRangeOfY(chart), nice: false } },
    y: { field: 'd', type: 'quantitative', stack: null, title: 'density' },
    color: { field: 's', type: 'nominal', title: splitTitleOf(chart) },
  },
});

const ridges: SpecMaker = (chart) => ({
  data: { values: flatten(chart) },
  transform: [density(chart, ['s'])],
  facet: { row: { field: 's', type: 'nominal', title: null, header: { labelAngle: 0, labelAlign: 'left' } } },
  spacing: -12,
  spec: {
    width: 560,
    height: Math.max(50, Math.round(300 / Math.max(1, listSplits(chart).length))),
    mark: { type: 'area', opacity: 0.7, line: true },
    encoding: {
      x: { field: 'v', type: 'quantitative', title: nameValues(chart), scale: { domain: findRangeOfY(chart), nice: false } },
      y: { field: 'd', type: 'quantitative', axis: null },
      color: { field: 's', type: 'nominal', legend: null },
    },
  },
});

const histogram: SpecMaker = (chart) => {
  const temporal = chart.axes['y']?.kind === 'temporal';
  const asked = findLook(chart, 'y').range;
  return {
    data: { values: flatten(chart) },
    mark: { type: 'bar', opacity: 0.7 },
    encoding: {
      x: {
        field: 'y',
        type: temporal ? 'temporal' : 'quantitative',
        bin: { maxbins: 30, ...(asked ? { extent: findRangeOfY(chart) } : {}) },
        title: nameValues(chart),
        ...(asked ? { scale: { domain: asked } } : {}),
      },
      y: { aggregate: 'count', stack: null, title: 'count' },
      color: { field: 's', type: 'nominal', title: splitTitleOf(chart) },
    },
  };
};

const plane: SpecMaker = (chart) => ({
  data: { values: flatten(chart, 20_000) },
  mark: 'rect',
  encoding: {
    x: { ...makeField(chart, 'x'), bin: { maxbins: 30 } },
    y: { ...makeField(chart, 'y'), bin: { maxbins: 30 } },
    color: { aggregate: 'count', type: 'quantitative', title: 'count' },
  },
});

/** Mean and three standard deviations either side: a point beyond is out of control. */
const control: SpecMaker = (chart) => {
  const values = flatten(chart);
  const given = pickNumbers(values.map(({ y }) => y));
  const mean = given.reduce((sum, value) => sum + value, 0) / Math.max(1, given.length);
  const deviation = Math.sqrt(given.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, given.length - 1));
  const x = chart.axes['x'] ? makeField(chart, 'x') : { field: 'i', type: 'quantitative', title: 'row' };
  const limits = [
    { v: mean, n: 'mean' },
    { v: mean + 3 * deviation, n: '+3σ' },
    { v: mean - 3 * deviation, n: '−3σ' },
  ];
  const out = values.map((point) => ({ ...point, out: Math.abs(Number(point['y']) - mean) > 3 * deviation }));
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
        encoding: { x, y: makeField(chart, 'y'), fill: { condition: { test: 'datum.out', value: '#d55e00' }, value: '#0072b2' } },
      },
    ],
  };
};

export const statistical: Record<string, SpecMaker> = {
  'box-plot': boxes,
  'violin-plot': violins,
  'density-plot': densities,
  'ridge-plot': ridges,
  histogram,
  'histogram-2d': plane,
  'spc-control-chart': control,
};
