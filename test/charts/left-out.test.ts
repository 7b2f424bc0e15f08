import { expect, test } from 'vitest';
import type { Chart } from '../../src/charts/chart.ts';
import type { AxisKind } from '../../src/charts/plotted.model.ts';
import { drawSvg, makeSpec } from '../../src/charts/draw.ts';
import { makeChart, makeSeries } from '../../src/charts/series.ts';

const numbers = { title: 'n', kind: 'numeric' as const };
const categories = { title: 'plot', kind: 'categorical' as const };
const saidOf = (chart: Chart): readonly string[] => (makeSpec(chart).title as { subtitle?: string[] }).subtitle ?? [];
const plots = (count: number) => Array.from({ length: count }, (_, index) => `plot ${index}`);

test('series beyond 200 are counted in the data, and said on the picture', () => {
  const channel = (name: string, position: number) => ({ channel: name, position, title: name });
  const layout = {
    columns: [
      { name: 'plot', kind: 'categorical' as const, isInstant: false },
      { name: 'spad', kind: 'numeric' as const, isInstant: false },
    ],
    shared: [],
    series: [{ name: 'SPAD', channels: [channel('y', 1)], source: {} }],
    color: channel('color', 0),
    facet: null,
    isThinned: false,
  };
  const made = (count: number) => {
    const plotted = makeSeries(
      layout,
      plots(count).map((plot) => ({ plot, spad: 1 })),
    );
    return { ...plotted, rows: count, truncated: false };
  };
  expect(made(200)).not.toHaveProperty('seriesLeftOut');
  expect(saidOf(makeChart('line', '', made(200), {}))).toEqual([]);
  expect(made(207)).toMatchObject({ seriesLeftOut: 7 });
  expect(saidOf(makeChart('line', '', made(207), {}))).toEqual(['The first 200 of 207 series are drawn.']);
});

test.each(['box-plot', 'violin-plot'])('of a %s at most 200 groups are drawn, and few of the points of many boxes', (type) => {
  const chart = (count: number): Chart => ({
    type,
    title: '',
    axes: { x: categories, y: numbers },
    series: [
      {
        name: 'SPAD',
        points: { x: plots(count).flatMap((plot) => Array<string>(5).fill(plot)), y: plots(count).flatMap(() => [1, 2, 3, 4, 900]) },
      },
    ],
  });
  expect(saidOf(chart(200))).toEqual([]);
  expect(saidOf(chart(201))).toEqual(['The first 200 of 201 groups are drawn.']);
  expect(JSON.stringify(makeSpec(chart(5_000))).length).toBeLessThan(3_000_000);
});

test('of a heatmap at most 10,000 cells are drawn', () => {
  const chart = (count: number): Chart => ({
    type: 'heatmap',
    title: '',
    axes: { x: numbers, y: numbers, z: numbers },
    series: [
      {
        name: 'z',
        points: {
          x: plots(count).map((_, index) => index % 500),
          y: plots(count).map((_, index) => Math.floor(index / 500)),
          z: plots(count).map(() => 1),
        },
      },
    ],
  });
  expect(saidOf(chart(10_000))).toEqual([]);
  expect(saidOf(chart(50_000))).toEqual(['The first 10,000 of 50,000 cells are drawn.']);
  expect((makeSpec(chart(50_000))['data'] as { values: unknown[] }).values).toHaveLength(10_000);
});

test('a slice below zero is left out of a pie, which says so', async () => {
  const chart = (values: number[]): Chart => ({
    type: 'pie',
    title: '',
    axes: { labels: categories, values: numbers },
    series: [{ name: 'n', points: { labels: plots(values.length), values } }],
  });
  expect(saidOf(chart([3, 1, 4]))).toEqual([]);
  expect(saidOf(chart([3, 1, -4]))).toEqual(['1 slice is below zero and not drawn.']);
  const svg = await drawSvg(chart([3, 1, -4]));
  expect([svg.includes('75 %'), svg.includes('plot 2')]).toEqual([true, false]);
});

test('a point with a part below zero is left out of a ternary chart, which says so', async () => {
  const chart = (sand: number[]): Chart => ({
    type: 'ternary',
    title: '',
    axes: { x: numbers, y: numbers, z: numbers },
    series: [{ name: 'clay', points: { x: sand, y: [5, 6, 7], z: [9, 8, 7] } }],
  });
  expect(saidOf(chart([1, 2, 3]))).toEqual([]);
  expect(saidOf(chart([1, -2, 3]))).toEqual(['1 point is below zero and not drawn.']);
  const countDots = (svg: string) => svg.match(/<path[^>]*A[^>]*>/g)?.length ?? 0;
  expect(countDots(await drawSvg(chart([1, 2, 3]))) - countDots(await drawSvg(chart([1, -2, 3])))).toBe(1);
});

test('a flow below zero is left out of an alluvial chart, which says so', async () => {
  const chart = (value: number[]): Chart => ({
    type: 'alluvial',
    title: '',
    axes: { groupBy0: categories, groupBy1: categories, value: numbers },
    series: [{ name: 'n', points: { groupBy0: plots(value.length), groupBy1: plots(value.length), value } }],
  });
  expect(saidOf(chart([3, 1, 0]))).toEqual([]);
  expect(saidOf(chart([3, -1, -4]))).toEqual(['2 flows are below zero and not drawn.']);
  const svg = await drawSvg(chart([3, -1, -4]));
  expect([svg.includes('plot 0'), svg.includes('plot 1'), svg.includes('plot 2')]).toEqual([true, false, false]);
});

test('a radar leaves its outline open where a value is missing', () => {
  const chart = (last: number | null): Chart => ({
    type: 'radar',
    title: '',
    axes: { y: numbers },
    series: ['a', 'b', 'c'].map((name, index) => ({ name, points: { y: [1, index === 2 ? last : 5] } })),
  });
  const corners = (last: number | null) => /"px":null,"py":null,"o":2,"s":"2"/.test(JSON.stringify(makeSpec(chart(last))));
  expect([corners(5), corners(null)]).toEqual([false, true]);
});

test('a day of a zone stands at its date there, whatever its hour in UTC', () => {
  const channel = (name: string, position: number, zone?: string) => ({ channel: name, position, title: name, zone });
  const drawn = ([kind, isInstant]: readonly [AxisKind, boolean], at: string, zone?: string) => {
    const layout = {
      columns: [
        { name: 'at_day', kind, isInstant },
        { name: 'spad', kind: 'numeric' as const, isInstant: false },
      ],
      shared: [channel('x', 0, zone)],
      series: [{ name: 'SPAD', channels: [channel('y', 1)], source: {} }],
      color: null,
      facet: null,
      isThinned: false,
    };
    const plotted = makeSeries(layout, [{ at_day: at, spad: 1 }]);
    return [plotted.series[0]?.points['x'], makeChart('bar', '', { ...plotted, rows: 1, truncated: false }, {}).series[0]?.points['x']];
  };
  const [instant, date] = [
    ['temporal', true],
    ['temporal', false],
  ] as const;
  const noon = '2026-04-30T12:00:00.000Z';
  expect(drawn(instant, noon)).toEqual([[noon], [noon]]);
  expect(drawn(instant, noon, 'Pacific/Auckland')).toEqual([[noon], ['2026-05-01T00:00:00.000Z']]);
  // a day whose midnight its zone skipped
  expect(drawn(instant, '2026-03-29T01:00:00.000Z', 'Atlantic/Azores')[1]).toEqual(['2026-03-29T00:00:00.000Z']);
  expect(drawn(date, '2026-05-01', 'Pacific/Auckland')[1]).toEqual(['2026-05-01']);
});
