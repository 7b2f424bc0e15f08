import { expect, test } from 'vitest';
import { makeChart } from '../../src/charts/series.ts';
import type { Chart, ChartSeries } from '../../src/charts/chart.ts';
import type { AxisKind } from '../../src/charts/plotted.model.ts';
import { drawSvg, makeSpec } from '../../src/charts/draw.ts';

const axis = (title: string, kind: AxisKind = 'numeric') => ({ title, kind });
const one = (points: Record<string, unknown[]>) => [{ name: 'SPAD', points }];
const textsOf = (svg: string) => Array.from(svg.matchAll(/<text[^>]*>([^<]*)</g), ([, text]) => text ?? '');
const faultOf = (svg: string) => /.{0,120}(NaN|undefined|Infinity).{0,60}/.exec(svg)?.[0];
const days = (count: number, step = 1) => Array.from({ length: count }, (_, n) => new Date(Date.UTC(2026, 4, 1 + n * step)).toISOString());

type Row = Record<string, unknown>;
const rowsOf = (spec: unknown): Row[] => {
  if (Array.isArray(spec)) return spec.flatMap(rowsOf);
  if (typeof spec !== 'object' || spec === null) return [];
  return Object.entries(spec).flatMap(([name, part]) => (name === 'values' && Array.isArray(part) ? (part as Row[]) : rowsOf(part)));
};
/** Left edge, top and height of the bars of a picture in a colour. */
const barsOf = (svg: string, color: string) =>
  Array.from(svg.matchAll(/<path[^>]*d="M(-?[\d.]+),([\d.]+)h([\d.]+)v(-?[\d.]+)h[^"]*"[^>]*fill="([^"]+)"/g), ([, x, y, w, h, fill]) => ({
    x: Number(x),
    y: Number(y),
    w: Number(w),
    h: Number(h),
    fill,
  })).filter(({ fill }) => fill === color);

const BLUE = '#0072b2';
const ORANGE = '#e69f00';

test('bars of two series stand side by side and are not added, whatever their axis', async () => {
  for (const [kind, x] of [
    ['temporal', days(5, 7)],
    ['numeric', [1, 2, 3, 4, 5]],
    ['categorical', ['a', 'b', 'c', 'd', 'e']],
  ] as const) {
    const series = ['control', 'drought'].map((color) => ({ name: 'SPAD', color, points: { x, y: [40, 40, 40, 40, 40] } }));
    const svg = await drawSvg({ type: 'bar', title: '', axes: { x: axis('x', kind), y: axis('SPAD') }, series });
    const [control, drought] = [barsOf(svg, BLUE).slice(0, 5), barsOf(svg, ORANGE).slice(0, 5)];
    expect([control.length, drought.length], kind).toEqual([5, 5]);
    for (const [at, bar] of control.entries()) {
      expect([bar.y, bar.h], kind).toEqual([drought[at]!.y, drought[at]!.h]);
      expect(bar.x + bar.w, kind).toBeLessThan(drought[at]!.x + 0.5);
    }
  }
});

test('bars of many days lie over none of another day, however narrow the picture', async () => {
  const at = days(30, 1);
  const names = ['B73', 'Mo17', 'W22'];
  const series = names.map((color) => ({ name: 'SPAD', color, points: { x: at, y: at.map(() => 40) } }));
  for (const width of [150, 300, 640]) {
    const chart: Chart = { type: 'bar', title: '', axes: { x: axis('x', 'temporal'), y: axis('SPAD') }, series };
    const svg = await drawSvg(chart, { width, height: 200 });
    const bars = [BLUE, ORANGE, '#009e73'].flatMap((color) => barsOf(svg, color)).sort((a, b) => a.x - b.x);
    expect(bars, `${width} wide`).toHaveLength(90);
    for (const [index, bar] of bars.slice(0, -1).entries()) expect(bar.x + bar.w, `${width} wide`).toBeLessThan(bars[index + 1]!.x + 0.1);
  }
});

test('bars beside a line are not added either', async () => {
  const x = ['a', 'b'];
  const bars = ['one', 'two'].map((name): ChartSeries => ({ name, traceType: 'bar', points: { x, y: [3, 3] } }));
  const svg = await drawSvg({
    type: 'line',
    title: '',
    axes: { x: axis('x', 'categorical'), y: axis('value') },
    series: [...bars, { name: 'line', points: { x, y: [1, 2] } }],
  });
  const [first, second] = [barsOf(svg, ORANGE)[0]!, barsOf(svg, '#009e73')[0]!];
  expect([first.y, first.h]).toEqual([second.y, second.h]);
  expect(Math.abs(first.x - second.x)).toBeGreaterThanOrEqual(first.w - 0.5);
});

test('parts of a bar keep the shades that numbers or times give them, and hide none', async () => {
  const chart = (more: Partial<Chart> = {}, count = 3): Chart => ({
    type: 'bar',
    title: '',
    axes: { x: axis('x', 'categorical'), y: axis('SPAD'), color: axis('day', 'temporal') },
    series: one({
      x: Array.from({ length: count * 2 }, (_, n) => (n < count ? 'a' : 'b')),
      y: Array.from({ length: count * 2 }, () => 1),
      color: [...days(count), ...days(count)],
    }),
    ...more,
  });
  expect(rowsOf(makeSpec(chart())).map(({ x, y, color }) => [x, y, color])).toEqual(
    ['a', 'b'].flatMap((x) => days(3).map((day) => [x, 1, day])),
  );
  const svg = await drawSvg(chart());
  const parts = Array.from(
    svg.matchAll(/<path[^>]*d="M(-?[\d.]+),([\d.]+)h([\d.]+)v([\d.]+)h[^"]*"[^>]*fill="(rgb[^"]+)"/g),
    ([, x, y, , h, fill]) => ({
      x: Number(x),
      y: Number(y),
      h: Number(h),
      fill,
    }),
  );
  const [left] = parts;
  const first = parts.filter(({ x }) => x === left!.x).toSorted((one, other) => one.y - other.y);
  expect(new Set(first.map(({ fill }) => fill)).size).toBe(3);
  expect(first[0]!.y + first[0]!.h).toBeCloseTo(first[1]!.y, 1);
  expect(textsOf(svg)).toContain('sum of SPAD');
  // parts that are too many, or on a logarithmic axis, are one bar each
  for (const sum of [chart({}, 6_000), chart({ look: { y: { scale: 'log' } } })])
    expect(rowsOf(makeSpec(sum)).filter(({ x }) => x === 'a')).toMatchObject([{ y: sum.series[0]!.points['x']!.length / 2 }]);
});

test('a bar of many rows is the sum of all of them, and the axis says so', async () => {
  const x = Array.from({ length: 12_000 }, (_, n) => (n % 3 === 0 ? 'a' : 'b'));
  const chart: Chart = {
    type: 'bar',
    title: '',
    axes: { x: axis('x', 'categorical'), y: axis('SPAD') },
    series: one({ x, y: x.map(() => 1) }),
  };
  expect(rowsOf(makeSpec(chart))).toMatchObject([
    { x: 'a', y: 4_000 },
    { x: 'b', y: 8_000 },
  ]);
  const texts = textsOf(await drawSvg(chart));
  expect(texts).toContain('sum of SPAD');
  expect(texts.join()).not.toContain('is drawn');
  const single = await drawSvg({ ...chart, series: one({ x: ['a', 'b'], y: [1, 2] }) });
  expect(textsOf(single)).toContain('SPAD');
});

test('groups by number stand in the order of the numbers, those by day are called by the day', async () => {
  const x = Array.from({ length: 36 }, (_, n) => (n % 12) + 1);
  for (const type of ['box-plot', 'violin-plot']) {
    const chart: Chart = { type, title: '', axes: { x: axis('plot'), y: axis('SPAD') }, series: one({ x, y: x.map((_, n) => n % 7) }) };
    const texts = textsOf(await drawSvg(chart));
    const plots = texts.slice(texts.indexOf('1'), texts.indexOf('1') + 12);
    expect(plots, type).toEqual(Array.from({ length: 12 }, (_, n) => String(n + 1)));
    const dated = {
      ...chart,
      axes: { ...chart.axes, x: axis('day', 'temporal') },
      series: one({ x: [...days(2), ...days(2)], y: [1, 2, 3, 4] }),
    };
    expect(textsOf(await drawSvg(dated)), type).toEqual(expect.arrayContaining(['2026-05-01', '2026-05-02']));
  }
});

test('parallel coordinates draw the rows that are there, each by itself, and a missing value as a gap', () => {
  const column = (name: string, color: string, y: unknown[]) => ({ name, color, points: { y } });
  const series = [column('SPAD', 'a', [1, 2, 3]), column('phi2', 'a', [4, null, 6]), column('SPAD', 'b', [1]), column('phi2', 'b', [5])];
  const rows = rowsOf(makeSpec({ type: 'parallel-coordinates', title: '', axes: { y: axis('SPAD') }, series }));
  expect(rows.map(({ n, s, v }) => [n, s, v])).toEqual([
    ['SPAD', 'a', 0],
    ['SPAD', 'a', 0.5],
    ['SPAD', 'a', 1],
    ['phi2', 'a', 0],
    ['phi2', 'a', null],
    ['phi2', 'a', 1],
    ['SPAD', 'b', 0],
    ['phi2', 'b', 0.5],
  ]);
  const named = ['1', '11'].map((color) =>
    column(
      'SPAD',
      color,
      Array.from({ length: 12 }, (_, n) => n),
    ),
  );
  const lines = rowsOf(makeSpec({ type: 'parallel-coordinates', title: '', axes: { y: axis('SPAD') }, series: named }));
  expect(new Set(lines.map(({ row }) => row)).size).toBe(24);
});

test('a column of equal values correlates with nothing', async () => {
  const series = [
    { name: 'phi2', points: { y: [1, 2, 3] } },
    { name: 'same', points: { y: [5, 5, 5] } },
  ];
  const svg = await drawSvg({ type: 'correlation-matrix', title: '', axes: { y: axis('r') }, series });
  expect(faultOf(svg)).toBeUndefined();
  expect(textsOf(svg).filter((text) => text === '–')).toHaveLength(2);
});

test('a radar draws each row as a shape of its own, though two have one label', async () => {
  const series = ['a', 'b', 'c'].map((name, n) => ({ name, points: { y: [n, 5, 9 - n], color: [1, 1, 2] } }));
  const svg = await drawSvg({ type: 'radar', title: '', axes: { y: axis('a'), color: axis('plot') }, series });
  const shapes = Array.from(svg.matchAll(/<path[^>]*fill-opacity="0.1"[^>]*>|<path[^>]*stroke="(#0072b2|#e69f00)"[^>]*>/g)).filter(
    ([path]) => path.includes('d="M'),
  );
  expect(shapes.filter(([path]) => path.includes(BLUE)).length - shapes.filter(([path]) => path.includes(ORANGE)).length).toBe(1);
});

test('what flows without a weight of its own weighs nothing where others have one, and one where none has', () => {
  const axes = { groupBy0: axis('site', 'categorical'), groupBy1: axis('fate', 'categorical'), value: axis('weight') };
  const points = { groupBy0: ['n', 'n'], groupBy1: ['alive', 'dead'] };
  const ends = (more: Record<string, unknown[]>) =>
    rowsOf(makeSpec({ type: 'alluvial', title: '', axes, series: one({ ...points, ...more }) }))
      .filter(({ r, px }) => r !== undefined && px === 0.03)
      .map(({ low, high }) => Number((Number(high) - Number(low)).toFixed(6)));
  expect(ends({ value: [4, null] })).toEqual([1, 0]);
  expect(ends({})).toEqual([0.5, 0.5]);
});

test('a logarithmic axis holds what is drawn around its values', async () => {
  const look = { y: { scale: 'log' as const } };
  const y = [1, 10, 100, 1_000];
  const x = ['a', 'b', 'c', 'd'];
  const axes = { x: axis('x', 'categorical'), y: axis('count') };
  for (const type of ['lollipop', 'bar', 'area', 'scatter', 'line'] as const) {
    const points = { x, y, ...(type === 'lollipop' ? {} : { error: [2, 2, 2, 2] }) };
    const svg = await drawSvg({ type, title: '', axes, series: one(points), look });
    expect(faultOf(svg), type).toBeUndefined();
    expect(textsOf(svg).filter((text) => /^\d+$/.test(text)).length, type).toBeGreaterThan(3);
  }
  const rows = { x: [1, 2, 3, 4], y };
  const svg = await drawSvg({ type: 'spc-control-chart', title: '', axes: { x: axis('x'), y: axis('count') }, series: one(rows), look });
  expect(faultOf(svg)).toBeUndefined();
  expect(textsOf(svg)).not.toContain('−3σ');
});

test('no two ticks of a time axis have one text, unless the day has changed between them', async () => {
  for (const hours of [1, 8, 30, 80, 100, 400, 2_000, 20_000, 60_000]) {
    const x = Array.from({ length: 30 }, (_, n) => new Date(Date.UTC(2024, 2, 29, 13) + (n * hours * 3_600_000) / 29).toISOString());
    for (const width of [300, 640, 1_200]) {
      const chart: Chart = {
        type: 'line',
        title: '',
        axes: { x: axis('at', 'temporal'), y: axis('SPAD') },
        series: one({ x, y: x.map((_, n) => n) }),
      };
      const svg = await drawSvg(chart, { width, height: 300 });
      let day = '';
      const ticks = textsOf(/role-axis-label.*?<\/g>/s.exec(svg)?.[0] ?? '').map((tick) => {
        if (!tick.includes(':')) day = tick;
        return tick.includes(':') ? `${day} ${tick}` : tick;
      });
      expect(ticks.length, `${hours} h`).toBeGreaterThan(2);
      expect(new Set(ticks).size, `${hours} h: ${ticks.join()}`).toBe(ticks.length);
    }
  }
});

test('a time without a zone is drawn where its clock says, in whatever zone the service is', async () => {
  const x = ['2026-03-08T01:30:00.000', '2026-03-08T02:30:00.000', '2026-03-08T12:00:00.000'];
  const before = process.env['TZ'];
  const drawn = async (zone: string) => {
    process.env['TZ'] = zone;
    const series = [
      { name: 'SPAD', color: null, facet: null, traceType: null, axis: 'primary' as const, points: { x, y: [1, 2, 3] }, downsampled: null },
    ];
    const axes = {
      x: { title: 'at', column: 'at', kind: 'temporal' as const },
      y: { title: 'SPAD', column: 'spad', kind: 'numeric' as const },
    };
    return drawSvg(makeChart('line', '', { axes, series, rows: 3, truncated: false }, {}));
  };
  try {
    const there = await drawn('America/New_York');
    expect(there).toBe(await drawn('UTC'));
    expect(textsOf(there)).toContain('12:00');
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

test('many groups and many rows of several columns are drawn', () => {
  const x = Array.from({ length: 6_000 }, (_, n) => `plot ${Math.floor(n / 3)}`);
  const violins = {
    type: 'violin-plot',
    title: '',
    axes: { x: axis('plot', 'categorical'), y: axis('SPAD') },
    series: one({ x, y: x.map((_, n) => n % 3) }),
  };
  expect(rowsOf(makeSpec(violins)).length).toBeGreaterThan(2_000);
  const y = Array.from({ length: 50_000 }, (_, n) => n);
  const series = ['a', 'b', 'c'].map((name) => ({ name, points: { x: y, y } }));
  expect(rowsOf(makeSpec({ type: 'polar', title: '', axes: { x: axis('angle'), y: axis('SPAD') }, series })).length).toBeGreaterThan(5_000);
});

test('a ridge plot is as large as asked', async () => {
  const series = ['a', 'b'].map((color) => ({ name: 'SPAD', color, points: { y: [1, 2, 3, 4] } }));
  const chart: Chart = { type: 'ridge-plot', title: '', axes: { y: axis('SPAD') }, series };
  const sizeOf = async (width: number, height: number) =>
    (/<svg[^>]*width="([\d.]+)" height="([\d.]+)"/.exec(await drawSvg(chart, { width, height }))?.slice(1) ?? []).map(Number);
  const [[small = 0, low = 0], [large = 0, high = 0]] = [await sizeOf(400, 300), await sizeOf(1_200, 900)];
  expect([large - small > 700, high - low > 400], `${small} × ${low}, ${large} × ${high}`).toEqual([true, true]);
});

test('a picture says which facets and rows it leaves out', async () => {
  const series = Array.from({ length: 14 }, (_, n) => ({ name: 'SPAD', facet: `plot ${n}`, points: { x: [1, 2], y: [n, n] } }));
  const axes = { x: axis('x'), y: axis('SPAD') };
  expect(await drawSvg({ type: 'line', title: '', axes, series })).toContain('The first 12 of 14 are drawn.');
  expect(await drawSvg({ type: 'line', title: '', axes, series: series.slice(0, 12) })).not.toContain('are drawn');
  const lines = (count: number) => ['a', 'b'].map((name) => ({ name, points: { y: Array.from({ length: count }, (_, n) => n) } }));
  const parallel = (count: number) => drawSvg({ type: 'parallel-coordinates', title: '', axes: { y: axis('SPAD') }, series: lines(count) });
  expect(await parallel(501)).toContain('The first 500 rows of each colour are drawn.');
  expect(await parallel(500)).not.toContain('are drawn');
});

test('a whisker does not end inside its box', () => {
  const series = one({ y: [1, 100, 101, 102] });
  const [box] = rowsOf(makeSpec({ type: 'box-plot', title: '', axes: { y: axis('SPAD') }, series }));
  expect(box).toMatchObject({ low: 75.25, least: 75.25, greatest: 102 });
});
