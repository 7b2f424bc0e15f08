import { extent, flatten, numbersOf, type Chart } from './chart.ts';
import { color, field, type Spec, type SpecMaker } from './spec.ts';

/** What a distribution is compared by: the categories of x, else the series. */
const groups = (chart: Chart): Spec =>
  chart.axes['x'] ? { field: 'x', type: 'nominal', title: chart.axes['x'].title } : { field: 's', type: 'nominal', title: '' };
const groupField = (chart: Chart) => (chart.axes['x'] ? 'x' : 's');

/** Boxes of one group stand beside each other, or one would hide the other. */
const besideEachOther = (chart: Chart) =>
  new Set(chart.series.map((series) => series.color)).size > 1 ? { xOffset: { field: 's', type: 'nominal' } } : {};

const boxes: SpecMaker = (chart) => ({
  data: { values: flatten(chart) },
  mark: { type: 'boxplot' },
  encoding: { x: groups(chart), y: field(chart, 'y'), color: color(chart), ...besideEachOther(chart) },
});

const density = (chart: Chart, groupby: string[]) => ({
  density: 'y',
  groupby,
  steps: 80,
  as: ['v', 'd'],
  extent: extent(chart.series.flatMap(({ points }) => numbersOf(points['y']))),
});

const violins: SpecMaker = (chart) => ({
  data: { values: flatten(chart) },
  transform: [density(chart, [groupField(chart)])],
  facet: { column: { ...groups(chart), header: { orient: 'bottom' } } },
  spec: {
    width: 90,
    height: 320,
    mark: { type: 'area', orient: 'horizontal' },
    encoding: {
      y: { field: 'v', type: 'quantitative', title: field(chart, 'y').title },
      x: { field: 'd', type: 'quantitative', stack: 'center', impute: null, title: null, axis: null },
      color: { field: groupField(chart), type: 'nominal', legend: null },
    },
  },
  resolve: { scale: { x: 'independent' } },
});

const densities: SpecMaker = (chart) => ({
  data: { values: flatten(chart) },
  transform: [density(chart, ['s'])],
  mark: { type: 'area', opacity: 0.45, line: true },
  encoding: {
    x: { field: 'v', type: 'quantitative', title: field(chart, 'y').title },
    y: { field: 'd', type: 'quantitative', stack: null, title: 'density' },
    color: { field: 's', type: 'nominal', title: '' },
  },
});

const ridges: SpecMaker = (chart) => ({
  data: { values: flatten(chart) },
  transform: [density(chart, ['s'])],
  facet: { row: { field: 's', type: 'nominal', title: null, header: { labelAngle: 0, labelAlign: 'left' } } },
  spacing: -12,
  spec: {
    width: 560,
    height: 60,
    mark: { type: 'area', opacity: 0.7, line: true },
    encoding: {
      x: { field: 'v', type: 'quantitative', title: field(chart, 'y').title },
      y: { field: 'd', type: 'quantitative', axis: null },
      color: { field: 's', type: 'nominal', legend: null },
    },
  },
});

const histogram: SpecMaker = (chart) => {
  const temporal = chart.axes['y']?.kind === 'temporal';
  return {
    data: { values: flatten(chart) },
    mark: { type: 'bar', opacity: 0.7 },
    encoding: {
      x: { field: 'y', type: temporal ? 'temporal' : 'quantitative', bin: { maxbins: 30 }, title: field(chart, 'y').title },
      y: { aggregate: 'count', stack: null, title: 'count' },
      color: { field: 's', type: 'nominal', title: '' },
    },
  };
};

const plane: SpecMaker = (chart) => ({
  data: { values: flatten(chart, 20_000) },
  mark: 'rect',
  encoding: {
    x: { ...field(chart, 'x'), bin: { maxbins: 30 } },
    y: { ...field(chart, 'y'), bin: { maxbins: 30 } },
    color: { aggregate: 'count', type: 'quantitative', title: 'count', scale: { scheme: 'viridis' } },
  },
});

/** Mean and three standard deviations either side: a point beyond is out of control. */
const control: SpecMaker = (chart) => {
  const values = flatten(chart);
  const given = numbersOf(values.map(({ y }) => y));
  const mean = given.reduce((sum, value) => sum + value, 0) / Math.max(1, given.length);
  const deviation = Math.sqrt(given.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, given.length - 1));
  const x = chart.axes['x'] ? field(chart, 'x') : { field: 'i', type: 'quantitative', title: 'row' };
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
      { data: { values: out }, mark: { type: 'line' }, encoding: { x, y: field(chart, 'y') } },
      {
        data: { values: out },
        mark: { type: 'point', filled: true },
        encoding: { x, y: field(chart, 'y'), fill: { condition: { test: 'datum.out', value: '#d62728' }, value: '#1f77b4' } },
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
