import { describe, expect, test } from 'vitest';
import { compileChart } from '../../src/api/visualizations/chart.ts';
import type { ChartType, DataConfig } from '../../src/api/visualizations/visualizations.model.ts';
import type { Chart } from '../../src/charts/chart.ts';
import { drawSvg } from '../../src/charts/draw.ts';
import { makeChart, makeSeries } from '../../src/charts/series.ts';

const COLUMNS = 49;
const configOf = (columns: number, more: Partial<DataConfig> = {}): DataConfig => ({
  tableName: 'leaves',
  dataSources: [
    { tableName: 'leaves', columnName: 'plot', role: 'x' },
    ...Array.from({ length: columns }, (_, index) => ({ tableName: 'leaves', columnName: `c${index}`, role: 'y' as const })),
  ],
  ...more,
});
const limitOf = (type: ChartType, config: DataConfig) => compileChart(type, config).request.limit;

test('a chart of many columns is of fewer rows', () => {
  expect([1, 9].map((columns) => limitOf('scatter', configOf(columns)))).toEqual([50_000, 50_000]);
  expect(limitOf('scatter', configOf(COLUMNS))).toBe(10_000);
  const aggregated = { aggregation: { groupBy: [{ column: 'plot' }], functions: [{ column: 'c0', function: 'avg' as const }] } };
  expect(limitOf('line', configOf(COLUMNS, aggregated))).toBe(10_000);
});

const ROWS = 30_000;
const values = Array.from({ length: COLUMNS }, (_, column) => Array.from({ length: ROWS }, (__, row) => Math.sin(row * (column + 1))));

describe('a picture of over a million values is small', () => {
  const x = Array.from({ length: ROWS }, (_, row) => row);
  const names = x.map((row) => `plot ${row}`);
  const series = (axis: readonly unknown[] | null) =>
    values.map((y, index) => ({ name: `c${index}`, points: { ...(axis === null ? {} : { x: axis }), y } }));
  const y = { title: 'y', kind: 'numeric' as const };
  const charts: [string, Chart['axes'], readonly unknown[] | null][] = [
    ['correlation-matrix', { y }, null],
    ['box-plot', { x: { title: 'plot', kind: 'categorical' }, y }, names],
    ['violin-plot', { x: { title: 'plot', kind: 'numeric' }, y }, x],
  ];
  test.each(charts)('a %s', async (type, axes, axis) => {
    const chart = { type, title: '', axes, series: series(axis) };
    expect((await drawSvg(chart)).length).toBeLessThan(2_000_000);
  });
});

test('series beyond the first 200 are counted and not made', () => {
  const plan = compileChart('line', {
    ...configOf(COLUMNS),
    dataSources: [...configOf(COLUMNS).dataSources, { tableName: 'leaves', columnName: 'group', role: 'color' }],
  });
  const names = plan.request.columns as string[];
  const columns = names.map((name) => ({
    name,
    kind: name === 'group' ? ('categorical' as const) : ('numeric' as const),
    isInstant: false,
  }));
  const rows = Array.from({ length: ROWS }, (_, row) =>
    Object.fromEntries(names.map((name) => [name, name === 'group' ? `g${row}` : row])),
  );
  const plotted = makeSeries({ ...plan, columns, isThinned: true }, rows);
  expect(plotted.series).toHaveLength(200);
  expect(plotted.series.at(-1)).toMatchObject({ name: 'c3', color: 'g4', points: { x: [4], y: [4] } });
  expect(plotted.seriesLeftOut).toBe(COLUMNS * ROWS - 200);
});

test('values that are objects are printed once, however many series they are of', () => {
  const nested = { tableName: 'raw_data', columnName: 'data', role: 'y' as const };
  const plan = compileChart('line', { tableName: 'raw_data', dataSources: Array.from({ length: 50 }, () => nested) });
  const rows = [{ data: { phi2: 0.5 } }];
  const columns = [{ name: 'data', kind: 'categorical' as const, isInstant: false }];
  const { axes, series } = makeSeries({ ...plan, columns, isThinned: false }, rows);
  expect(series).toHaveLength(50);
  expect(series[0]?.points['y']).toEqual(['{"phi2":0.5}']);
  expect(new Set(series.map(({ points }) => points['y'])).size).toBe(1);
  expect(makeChart('line', '', { axes, series, rows: 1, truncated: false }, {}).series).toHaveLength(50);
});
