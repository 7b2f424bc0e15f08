import { mkdirSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHART_TYPES } from '../../src/api/visualizations/visualizations.model.ts';
import { isAdjusted } from '../../src/charts/adjusted.ts';
import type { Chart } from '../../src/charts/chart.ts';
import type { AxisKind } from '../../src/charts/plotted.model.ts';
import { pickLargestTriangles } from '../../src/charts/downsample.ts';
import { drawPng, drawSvg, makeSpec } from '../../src/charts/draw.ts';
import { findQuantile } from '../../src/charts/statistical.ts';
import { correlate } from '../../src/charts/scientific.ts';

const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);
const count = 120;
const steps = Array.from({ length: count }, (_, index) => index);
const wave = (shift: number) => steps.map((step) => 40 + 10 * Math.sin(step / 9 + shift) + ((step * 7919) % 13) / 3);
const axis = (title: string, kind: AxisKind = 'numeric') => ({ title, kind });
const days = steps.map((step) => new Date(Date.UTC(2026, 4, 1 + step)).toISOString());
const treatments = steps.map((step) => ['control', 'drought', 'late'][step % 3]);
const split = (points: Record<string, unknown[]>) => ['control', 'drought'].map((color) => ({ name: 'SPAD', color, points }));
const one = (points: Record<string, unknown[]>) => [{ name: 'SPAD', points }];
const several = ['SPAD', 'phi2', 'height', 'npq'].map((name, index) => ({ name, points: { y: wave(index) } }));
const y = { y: axis('SPAD') };
const timed = { x: axis('measured at', 'temporal'), ...y };
const grouped = { x: axis('treatment', 'categorical'), ...y };
const threes = { x: axis('sand'), y: axis('silt'), z: axis('clay') };
const cells = { x: steps.map((step) => step % 12), y: steps.map((step) => Math.floor(step / 12)), z: wave(0) };

const SAMPLE: Record<(typeof CHART_TYPES)[number], Pick<Chart, 'axes' | 'series'>> = {
  line: { axes: timed, series: split({ x: days, y: wave(0), error: steps.map(() => 2) }) },
  scatter: { axes: { ...timed, color: axis('height') }, series: one({ x: days, y: wave(0), color: wave(2) }) },
  bar: { axes: grouped, series: split({ x: ['B73', 'Mo17', 'W22'], y: [40, 45, 38] }) },
  pie: {
    axes: { labels: axis('treatment', 'categorical'), values: axis('plots') },
    series: one({ labels: ['a', 'b', 'c'], values: [3, 4, 5] }),
  },
  area: { axes: timed, series: split({ x: days, y: wave(0) }) },
  'dot-plot': { axes: grouped, series: one({ x: treatments, y: wave(0) }) },
  bubble: { axes: { ...timed, size: axis('height') }, series: one({ x: days, y: wave(0), size: wave(1) }) },
  lollipop: { axes: grouped, series: one({ x: ['B73', 'Mo17'], y: [4, 7] }) },
  'box-plot': { axes: grouped, series: one({ x: treatments, y: wave(0) }) },
  histogram: { axes: y, series: several },
  'violin-plot': { axes: grouped, series: one({ x: treatments, y: wave(0) }) },
  'density-plot': { axes: y, series: several },
  'ridge-plot': { axes: y, series: split({ y: wave(0) }) },
  'histogram-2d': { axes: { x: axis('height'), ...y }, series: one({ x: wave(1), y: wave(0) }) },
  'density-plot-2d': { axes: { x: axis('height'), ...y }, series: one({ x: wave(1), y: wave(0) }) },
  'spc-control-chart': { axes: timed, series: one({ x: days, y: [...wave(0).slice(1), 400] }) },
  heatmap: { axes: threes, series: one(cells) },
  contour: { axes: threes, series: one(cells) },
  carpet: { axes: threes, series: one(cells) },
  ternary: { axes: threes, series: one({ x: wave(0), y: wave(1), z: wave(2) }) },
  'parallel-coordinates': { axes: y, series: several },
  'wind-rose': { axes: { x: axis('direction'), y: axis('speed') }, series: one({ x: steps.map((step) => step * 17), y: wave(0) }) },
  radar: { axes: y, series: several.map((series) => ({ ...series, points: { y: series.points.y.slice(0, 3) } })) },
  polar: { axes: { x: axis('angle'), ...y }, series: one({ x: steps.map((step) => step * 3), y: wave(0) }) },
  'correlation-matrix': { axes: y, series: several },
  alluvial: {
    axes: { groupBy0: axis('site', 'categorical'), groupBy1: axis('treatment', 'categorical'), groupBy2: axis('outcome', 'categorical') },
    series: one({
      groupBy0: steps.map((step) => `site ${step % 2}`),
      groupBy1: treatments,
      groupBy2: steps.map((step) => (step % 5 === 0 ? 'dead' : 'alive')),
    }),
  },
};

const keep = process.env['KEEP_IMAGES'];

describe.each(CHART_TYPES)('a %s chart', (type) => {
  const chart: Chart = { type, title: `A ${type} chart`, ...SAMPLE[type] };

  test('is drawn with its data, its title and no fault', async () => {
    const svg = await drawSvg(chart);
    expect(svg).toMatch(/^<svg /);
    expect(svg).toContain(`A ${type} chart`);
    expect(/.{0,120}(NaN|undefined|Infinity|No data).{0,60}/.exec(svg)?.[0]).toBeUndefined();
    expect(svg.match(/<(path|circle|rect|text|line)\b/g)?.length ?? 0).toBeGreaterThan(12);
    if (keep !== undefined) {
      mkdirSync(keep, { recursive: true });
      writeFileSync(`${keep}/${type}.png`, await drawPng(chart));
    }
  });

  test.each(['if', 'constructor', '__proto__'])('shows the name %s as it shows any other', async (name) => {
    const called = (text: string) =>
      drawSvg({
        ...chart,
        title: text,
        axes: Object.fromEntries(Object.entries(chart.axes).map(([channel, shown]) => [channel, { ...shown!, title: text }])),
        series: chart.series.map((series, at) => (at === 0 ? { ...series, name: text, ...(series.color && { color: text }) } : series)),
      });
    const count = (svg: string, text: string) => svg.split(`>${text}`).length;
    expect(count(await called(name), name)).toBe(count(await called('other'), 'other'));
  });

  test('is drawn on a dark ground with ink that is seen there', async () => {
    const dark: Chart = { ...chart, look: { theme: 'dark' } };
    const svg = await drawSvg(dark);
    expect(svg).toContain('fill="#16181d"');
    // texts on cells of their own colour aside
    const unseen =
      type === 'correlation-matrix' ? /<text[^>]*fill="#1a1a1a"/ : /<text[^>]*fill="(#000|#000000|black|#1a1a1a|#333|#555|#666)"/;
    expect(unseen.exec(svg)?.[0]).toBeUndefined();
    if (keep !== undefined) writeFileSync(`${keep}/${type}-dark.png`, await drawPng(dark));
  });

  test('says so when it has no data, and bears gaps', async () => {
    const none = chart.series.map((series) => ({
      ...series,
      points: Object.fromEntries(Object.keys(series.points).map((key) => [key, []])),
    }));
    expect(await drawSvg({ ...chart, series: none })).toContain('No data');
    const gaps = chart.series.map((series) => ({
      ...series,
      points: Object.fromEntries(
        Object.entries(series.points).map(([key, values]) => [key, values.map((value, index) => (index % 4 === 1 ? null : value))]),
      ),
    }));
    expect(/.{0,120}(NaN|Infinity).{0,60}/.exec(await drawSvg({ ...chart, series: gaps }))?.[0]).toBeUndefined();
  });
});

/** The texts of a picture, in the order in which they are drawn. */
const textsOf = (svg: string) => Array.from(svg.matchAll(/<text[^>]*>([^<]*)</g), ([, text]) => text ?? '');

describe('what a picture says', () => {
  test('a wind rose: where north is, how often, how fast, and what it is of', async () => {
    const texts = textsOf(await drawSvg({ type: 'wind-rose', title: 'Wind', ...SAMPLE['wind-rose'] }));
    expect(texts).toEqual(expect.arrayContaining(['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW', '2 %', '8 %']));
    expect(texts).toContain('direction, degrees from north');
    expect(texts.filter((text) => / – /.test(text))).toHaveLength(5);
  });

  test('a wind rose: sectors as long as the wind is frequent, whichever turn the angle is of', async () => {
    const { axes } = SAMPLE['wind-rose'];
    const rose = (x: number[]) => drawSvg({ type: 'wind-rose', title: '', axes, series: one({ x, y: x.map(() => 3) }) });
    expect(await rose([0, 90, 90, 270])).toBe(await rose([360, 450, -270, -90]));
    expect(await rose([0, 90, 90, 270])).not.toBe(await rose([0, 0, 90, 270]));
  });

  test('a violin for each series of each group, in the colours of the legend', async () => {
    const series = ['control', 'drought'].map((color, index) => ({ name: 'SPAD', color, points: { x: treatments, y: wave(index) } }));
    const svg = await drawSvg({ type: 'violin-plot', title: 'Violins', axes: grouped, series });
    const filled = (color: string) => svg.match(new RegExp(`<path[^>]*fill="${color}"`, 'g'))?.length;
    // three groups and the legend
    expect([filled('#0072b2'), filled('#e69f00')]).toEqual([4, 4]);
    expect(textsOf(svg)).toEqual(expect.arrayContaining(['control', 'drought', 'late', 'SPAD', 'treatment']));
  });

  test('quantiles are those of R and numpy, and a legend is called by the column that splits', async () => {
    expect([0, 0.25, 0.5, 0.75, 1].map((share) => findQuantile([1, 2, 4, 8], share))).toEqual([1, 1.75, 3, 5, 8]);
    for (const type of ['box-plot', 'violin-plot', 'density-plot', 'scatter', 'line'] as const) {
      const axes = { ...SAMPLE[type].axes, color: axis('treated with', 'categorical') };
      expect(await drawSvg({ type, title: 'Split', axes, series: split({ x: treatments, y: wave(0) }) }), type).toContain('>treated with<');
    }
  });

  test('a dot plot: no point of one series in the strip of another', async () => {
    const series = ['control', 'drought'].map((color) => ({ name: 'SPAD', color, points: { x: days.map(() => 'B73'), y: wave(0) } }));
    const svg = await drawSvg({ type: 'dot-plot', title: 'Dots', axes: grouped, series });
    const marks = Array.from(svg.matchAll(/<path aria-label="[^"]*"[^>]*>|<path[^>]*translate\([^>]*>/g), ([mark]) => mark);
    const across = (color: string) =>
      marks.filter((mark) => mark.includes(`fill="${color}"`)).map((mark) => Number(/translate\(([\d.]+),/.exec(mark)?.[1]));
    const [control, drought] = [across('#0072b2'), across('#e69f00')].map((places) => places.slice(0, count));
    expect([control?.length, drought?.length]).toEqual([count, count]);
    expect(Math.max(...(control ?? []))).toBeLessThan(Math.min(...(drought ?? [])));
  });

  test('boxes: none over another and none beyond the plot, however narrow the picture', async () => {
    const axes = { ...grouped, color: axis('treated with', 'categorical') };
    const chart = { type: 'box-plot', title: 'Boxes', axes, series: split({ x: treatments, y: wave(0) }) } as const;
    for (const width of [200, 300, 640, 1600]) {
      const svg = await drawSvg(chart, { width, height: 300 });
      const marks = Array.from(svg.matchAll(/d="M([-\d.]+),[-\d.]+h([\d.]+)v([\d.]+)h-[\d.]+Z" fill="#/g), ([, ...all]) => all.map(Number));
      const places = marks.filter(([, , height]) => height! > 2).map(([from, across]) => [from!, from! + across!] as const);
      const boxes = places.sort(([one], [other]) => one - other);
      expect(boxes, `${width} wide`).toHaveLength(marks.length / 2);
      expect(boxes[0]![0], `${width} wide`).toBeGreaterThanOrEqual(0);
      expect(boxes.at(-1)![1], `${width} wide`).toBeLessThanOrEqual(width);
      for (const [index, [, to]] of boxes.slice(0, -1).entries()) expect(to, `${width} wide`).toBeLessThanOrEqual(boxes[index + 1]![0]);
      expect(Math.max(...marks.map(([, across]) => across!)), `${width} wide`).toBeLessThan(90);
    }
  });

  test('a carpet: its curves by name, also of rows that are no grid', async () => {
    const scattered = { x: wave(0), y: wave(1), z: wave(2) };
    const texts = textsOf(await drawSvg({ type: 'carpet', title: 'Carpet', axes: threes, series: one(scattered) }));
    expect(texts).toEqual(expect.arrayContaining(['equal sand', 'equal silt', 'clay']));
    const grid = textsOf(await drawSvg({ type: 'carpet', title: 'Carpet', axes: threes, series: one(cells) }));
    expect(grid).toEqual(expect.arrayContaining(['0', '11', '9']));
  });

  test('parallel coordinates: all colours on one range of each column', async () => {
    const series = ['SPAD', 'phi2'].flatMap((name) =>
      [
        [0, 1],
        [9, 10],
      ].map((values, index) => ({ name, color: `c${index}`, points: { y: values } })),
    );
    const svg = await drawSvg({ type: 'parallel-coordinates', title: '', axes: y, series });
    const lines = Array.from(svg.matchAll(/<path[^>]*>/g), ([path]) => path).filter((path) => /stroke="#(0072b2|e69f00)"/.test(path));
    const starts = lines.flatMap((path) => /d="M0,([\d.]+)L|d="M[\d.]+,([\d.]+)L[\d.]+,[\d.]+"/.exec(path)?.slice(1) ?? []);
    expect(new Set(starts.filter((start) => start !== undefined)).size).toBe(4);
  });

  test('a pie: the share of each slice', async () => {
    const texts = textsOf(await drawSvg({ type: 'pie', title: 'Pie', ...SAMPLE.pie }));
    expect(texts).toEqual(expect.arrayContaining(['25 %', '33 %', '42 %']));
  });
});

test('PNG is drawn with the font of the package, facets side by side', async () => {
  const series = ['north', 'south'].flatMap((facet) => split({ x: days, y: wave(0) }).map((each) => ({ ...each, facet })));
  const chart: Chart = { type: 'line', title: 'Two fields', axes: timed, series };
  const png = await drawPng(chart, { width: 800, height: 300 });
  expect(png.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  expect(png.readUInt32BE(16)).toBeGreaterThan(700);
  const blank = await drawPng({ ...chart, title: '' }, { width: 800, height: 300 });
  expect(png.equals(blank)).toBe(false);
  expect(await drawSvg(chart)).toMatch(/north[\s\S]*south/);
});

test('text of a caller is text in the picture', async () => {
  const hostile = '</text><script>alert(1)</script>${process.exit()}';
  const svg = await drawSvg({
    type: 'bar',
    title: hostile,
    axes: { x: axis(hostile, 'categorical'), y: axis("datum['x']") },
    series: [{ name: hostile, points: { x: [hostile], y: [1] } }],
  });
  expect(svg).not.toContain('<script>');
  expect(svg).toContain('&lt;script&gt;');
});

test('downsampling keeps the ends and the peaks, in order, and never more than asked', () => {
  fc.assert(
    fc.property(
      fc.array(fc.float({ noNaN: true, min: -1e6, max: 1e6 }), { maxLength: 400 }),
      fc.integer({ min: 3, max: 60 }),
      (values, most) => {
        const x = values.map((_, index) => index);
        const kept = pickLargestTriangles(x, values, most);
        expect(kept).toHaveLength(Math.min(values.length, most));
        expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b));
        if (values.length > 0) expect([kept[0], kept.at(-1)]).toEqual([0, values.length - 1]);
      },
    ),
    { seed },
  );
  const spike = Array.from({ length: 10_000 }, (_, index) => (index === 4_321 ? 100 : Math.sin(index / 500)));
  expect(
    pickLargestTriangles(
      spike.map((_, index) => index),
      spike,
      100,
    ),
  ).toContain(4_321);
  expect(pickLargestTriangles([0, 1, 2], [1, NaN, 2], 10)).toEqual([0, 2]);
});

test('correlation leaves out pairs with a gap', () => {
  expect(correlate([1, 2, 3, null], [2, 4, 6, 100])).toBeCloseTo(1);
  expect(correlate([1, 2, 3], [3, 2, 1])).toBeCloseTo(-1);
});

/** All rows of data that a specification holds, wherever they stand. */
function rowsOf(spec: unknown): Record<string, unknown>[] {
  if (Array.isArray(spec)) return spec.flatMap(rowsOf);
  if (typeof spec !== 'object' || spec === null) return [];
  return Object.entries(spec).flatMap(([name, part]) =>
    name === 'values' && Array.isArray(part) ? (part as Record<string, unknown>[]) : rowsOf(part),
  );
}

describe('what is said of many values is said of all of them', () => {
  // every second value is left out of a picture of so many dots
  const alternating = Array.from({ length: 6_000 }, (_, index) => (index % 2 === 0 ? 40 : 20));
  const lonely = Array.from({ length: 9_999 }, (_, index) => (index === 5_000 ? 1_000 : Math.sin(index)));
  const drawn = (type: (typeof CHART_TYPES)[number], points: Record<string, unknown[]>, axes: Chart['axes'] = y) =>
    rowsOf(makeSpec({ type, title: '', axes, series: one(points) }));

  test('a value of a line without a neighbour is a dot, in the order of the axis', () => {
    const axes: Chart['axes'] = { x: { title: 'day', kind: 'temporal' }, y: { title: 'SPAD', kind: 'numeric' } };
    const day = (number: number) => `2026-05-0${number}T00:00:00.000Z`;
    const lone = (x: number[], values: (number | null)[]) => {
      const points = { x: x.map(day), y: values };
      const spec = JSON.stringify(makeSpec({ type: 'line', title: '', axes, series: one(points) }));
      return rowsOf(JSON.parse(spec))
        .filter((row) => row['lone'] === true)
        .map(({ y: value }) => value);
    };
    expect(lone([1, 2, 3, 4], [40, null, 41, 42])).toEqual([40]);
    expect(lone([4, 1, 3, 2], [42, 40, 41, null])).toEqual([40]);
    expect(lone([1, 2, 3], [40, 41, 42])).toEqual([]);
  });

  test('a histogram counts each value once, also at the edges of its bars', () => {
    expect(drawn('histogram', { y: alternating }).map(({ n }) => n)).toEqual([3_000, 3_000]);
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }), { minLength: 1 }), (values) => {
        const bars = drawn('histogram', { y: values }) as { from: number; to: number; n: number }[];
        expect(bars.reduce((sum, { n }) => sum + n, 0)).toBe(values.length);
        for (const { from, to, n } of bars) {
          const slack = (to - from) * 1e-3;
          expect(values.filter((value) => value >= from - slack && value <= to + slack).length).toBeGreaterThanOrEqual(n);
        }
      }),
      { seed },
    );
    // what is a little less than an edge of wide bars lies before it
    expect(drawn('histogram', { y: [-3, -0.5, 0, 2, 1e12] })).toMatchObject([{ to: 0, n: 2 }, { from: 0, n: 2 }, { n: 1 }]);
    const tenths = Array.from({ length: 31 }, (_, index) => index / 10);
    expect(drawn('histogram', { y: tenths }).map(({ n }) => n)).toEqual([...Array.from({ length: 29 }, () => 1), 2]);
  });

  test('a histogram of times is cut where a clock or a day begins', () => {
    const from = Date.UTC(2026, 4, 3, 7, 41, 12);
    const edges = (seconds: number) => {
      const times = Array.from({ length: 500 }, (_, index) => from + (index / 499) * seconds * 1_000);
      const bars = drawn('histogram', { y: times }, { y: { title: 't', kind: 'temporal' } }) as { from: number; to: number }[];
      const [{ from: start, to } = { from: 0, to: 0 }] = bars.toSorted((a, b) => a.from - b.from);
      return [new Date(start).toISOString(), (to - start) / 1_000];
    };
    expect(edges(0.9)).toEqual(['2026-05-03T07:41:12.000Z', 0.05]);
    expect(edges(40)).toEqual(['2026-05-03T07:41:12.000Z', 2]);
    expect(edges(1_000)).toEqual(['2026-05-03T07:41:00.000Z', 60]);
    expect(edges(3 * 86_400)).toEqual(['2026-05-03T06:00:00.000Z', 10_800]);
    expect(edges(29 * 86_400)).toEqual(['2026-05-03T00:00:00.000Z', 86_400]);
    expect(edges(100 * 86_400)).toEqual(['2026-05-02T00:00:00.000Z', 5 * 86_400]);
  });

  test('limits of a control chart are those of all values, and a value beyond them is drawn', () => {
    const limits = (rows: Record<string, unknown>[]) => Object.fromEntries(rows.flatMap(({ n, v }) => (n === undefined ? [] : [[n, v]])));
    const deviation = Math.sqrt((6_000 * 100) / 5_999);
    expect(limits(drawn('spc-control-chart', { y: alternating }))).toEqual({
      mean: 30,
      '+3σ': 30 + 3 * deviation,
      '−3σ': 30 - 3 * deviation,
    });
    const out = drawn('spc-control-chart', { y: lonely }).filter((row) => row['out'] === true);
    expect(out.map((row) => row['y'])).toContain(1_000);
  });

  test('a box is that of all values, and so are violins, densities and cells', () => {
    const [box] = drawn('box-plot', { y: alternating });
    expect(box).toMatchObject({ least: 20, low: 20, median: 30, high: 40, greatest: 40 });
    expect(drawn('box-plot', { y: lonely }).map((row) => row['y'])).toContain(1_000);
    expect(drawn('violin-plot', { y: alternating })).toContainEqual(expect.objectContaining({ low: 20, median: 30, high: 40 }));
    const peaks = drawn('density-plot', { y: alternating }) as { v: number; d: number }[];
    expect(peaks[0]!.d).toBeCloseTo(peaks.at(-1)!.d, 9);
    expect(peaks[0]!.d).toBeGreaterThan(2 * peaks[40]!.d);
    const places = { x: alternating.map(() => 1), y: alternating.map(() => 1), z: alternating };
    expect(drawn('heatmap', places, threes)).toEqual([{ x: 1, y: 1, z: 30 }]);
    const counted = drawn('histogram-2d', { x: alternating, y: alternating }, { x: axis('x'), ...y });
    expect(counted.map(({ n }) => n)).toEqual([3_000, 3_000]);
    expect(drawn('pie', { labels: alternating.map(String), values: alternating }, SAMPLE.pie.axes).map((row) => row['values'])).toEqual([
      60_000, 120_000,
    ]);
  });

  test('a density of many values is drawn as that of few', () => {
    // up to 512 values each is a Gaussian of its own
    const values = Array.from({ length: 513 }, (_, index) => Math.sin(index) * 5 + 50);
    const density = (given: number[]) => drawn('density-plot', { y: [...given, 40, 60] }).map(({ d }) => Number(d));
    const [few, many] = [density(values.slice(0, 510)), density(values)];
    for (const [at, d] of many.entries()) expect(Math.abs(d - few[at]!)).toBeLessThan(0.01 * Math.max(...few));
  });

  test('a pie of many slices gathers the small ones, and long lines keep their ends', () => {
    const labels = Array.from({ length: 3_000 }, (_, n) => `slice ${n}`);
    const slices = drawn('pie', { labels, values: labels.map((_, n) => n) }, SAMPLE.pie.axes);
    expect(slices).toHaveLength(500);
    expect(slices.reduce((sum, { values }) => sum + Number(values), 0)).toBe((2_999 * 3_000) / 2);
    const names = Array.from({ length: 100_000 }, (_, n) => `row ${n}`);
    const line = makeSpec({ type: 'line', title: '', axes: grouped, series: one({ x: names, y: names.map((_, n) => (n === 7 ? 9 : 1)) }) });
    expect(rowsOf(line).length).toBeLessThan(40_010);
    expect(rowsOf(line).map((row) => row['y'])).toContain(9);
    expect(JSON.stringify(line['title'])).toContain('One point of 3');
  });

  test('a lonely point is drawn, and the picture says that others are not', async () => {
    const scatter: Chart = {
      type: 'scatter',
      title: 'Many',
      axes: SAMPLE.lollipop.axes,
      series: one({ x: lonely.map((_, n) => n), y: lonely }),
    };
    const numbers: Chart = { ...scatter, axes: { x: axis('row'), ...y } };
    expect(rowsOf(makeSpec(numbers)).map((row) => row['y'])).toContain(1_000);
    const texts = textsOf(await drawSvg(numbers));
    expect(texts).toContain('One point of 2 is drawn, and the least and greatest.');
    expect(await drawSvg({ ...numbers, part: { rows: 9_999, sampleOf: 20_000 } })).toContain(
      'Drawn from 9,999 of 20,000 rows, picked evenly.',
    );
    expect(await drawSvg({ ...numbers, part: { rows: 9_999 } })).toContain(
      'Of the first 9,999 rows in the order of row; what comes after them is missing.',
    );
    expect(await drawSvg({ ...numbers, series: one({ x: [1, 2], y: [1, 2] }) })).not.toMatch(/is drawn|the first/);
  });
});

describe('what a chart is asked to look like', () => {
  const dual: Chart = {
    type: 'line',
    title: 'Two sides',
    axes: { x: axis('measured at', 'temporal'), y: axis('SPAD'), y2: axis('PAR, µmol') },
    series: [
      { name: 'SPAD', points: { x: days, y: wave(0) } },
      { name: 'PAR', axis: 'secondary', points: { x: days, y: wave(1).map((value) => 30 * value) } },
    ],
  };

  test('the right axis has its own title, and each axis what it is asked', async () => {
    const texts = textsOf(await drawSvg(dual));
    expect(texts.filter((text) => text === 'SPAD')).toHaveLength(2);
    expect(texts).toContain('PAR, µmol');
    const look = {
      title: 'Mine',
      x: { title: 'day' },
      y: { title: 'greenness', range: [0, 100] as const },
      y2: { title: 'light', scale: 'log' as const },
    };
    const asked = textsOf(await drawSvg({ ...dual, look }));
    expect(asked).toEqual(expect.arrayContaining(['Mine', 'day', 'greenness', 'light', '100']));
    expect(asked).not.toContain('PAR, µmol');
    expect(asked).not.toContain('Two sides');
  });

  test.each(CHART_TYPES)('a %s chart stays as large as asked, however narrow a range', async (type) => {
    const sizeOf = async (look: object) => {
      const svg = await drawSvg({ type, title: '', ...SAMPLE[type], look });
      return (/<svg[^>]*width="([\d.]+)" height="([\d.]+)"/.exec(svg)?.slice(1) ?? []).map(Number);
    };
    const [width = 0, height = 0] = await sizeOf({});
    for (const name of ['x', 'y']) {
      const kind = SAMPLE[type].axes[name]?.kind;
      if (kind === undefined || kind === 'categorical') continue;
      const range = kind === 'temporal' ? ['2026-05-10T00:00:00Z', '2026-05-10T00:00:01Z'] : [40, 40.001];
      const [wide = 0, high = 0] = await sizeOf({ [name]: { range } });
      expect([wide < width + 120, high < height + 120], `${wide} × ${high}`).toEqual([true, true]);
    }
  });

  test('error bars end in caps, beside each other as their bars do, and points without an error have none', async () => {
    const series = ['control', 'drought'].map((color) => ({
      name: 'SPAD',
      color,
      points: { x: ['B73', 'Mo17', 'W22'], y: [40, 45, 38], error: [2, 3, null] },
    }));
    const svg = await drawSvg({ type: 'bar', title: '', axes: grouped, series });
    // four errors: a line each, and two caps of eight pixels around it
    const lines = Array.from(/<g class="mark-rule role-mark.*?<\/g>/s.exec(svg)?.[0].matchAll(/translate\(([\d.]+),/g) ?? [], ([, x]) =>
      Number(x),
    );
    const caps = Array.from(svg.matchAll(/d="M([\d.]+),[\d.]+h8v1.2h-8Z"/g), ([, x]) => Number(x) + 4);
    expect([lines.length, caps.length]).toEqual([4, 8]);
    expect(new Set(lines).size).toBe(4);
    expect(new Set(caps.map(Math.round))).toEqual(new Set(lines.map(Math.round)));
  });

  test('the height of a bar begins at zero, unless a range is asked', async () => {
    const chart: Chart = { type: 'bar', title: '', axes: grouped, series: one({ x: ['B73', 'Mo17'], y: [40, 45] }) };
    expect(textsOf(await drawSvg(chart))).toContain('0');
    const asked = textsOf(await drawSvg({ ...chart, look: { y: { range: [35, 60] } } }));
    expect(asked).toEqual(expect.arrayContaining(['36', '60']));
    expect(asked).not.toContain('0');
  });

  test('facets have one scale unless told otherwise', async () => {
    const series = [1, 100].map((factor) => ({
      name: 'SPAD',
      facet: `times ${factor}`,
      points: { x: days, y: wave(0).map((value) => factor * value) },
    }));
    const chart: Chart = { type: 'line', title: '', axes: timed, series };
    const count = (svg: string, tick: string) => textsOf(svg).filter((text) => text === tick).length;
    const [shared, own] = [await drawSvg(chart), await drawSvg({ ...chart, look: { facetScales: 'own' } })];
    expect(count(shared, '4,000')).toBe(2);
    expect(count(own, '4,000')).toBe(1);
  });

  test.each(CHART_TYPES)('%s: every axis that may be asked for a range or a logarithm is drawn as asked', async (type) => {
    const sample = SAMPLE[type];
    const chart: Chart = { type, title: 'Asked', ...sample };
    const texts = async (look: Chart['look']) =>
      Array.from((await drawSvg({ ...chart, look })).matchAll(/>([^<]+)<\/text>/g), ([, text]) => text);
    const plain = await texts({});
    for (const name of ['x', 'y', 'y2', 'z'] as const) {
      const shown = sample.axes[name];
      if (!shown || shown.kind === 'categorical') continue;
      const range: [number | string, number | string] = shown.kind === 'temporal' ? [days[20]!, days[60]!] : [41, 47];
      const change = expect(await texts({ [name]: { range } }), `${name} range`);
      if (isAdjusted(type, 'range', name)) change.not.toEqual(plain);
      else change.toEqual(plain);
      if (isAdjusted(type, 'log', name) && shown.kind === 'numeric')
        expect(await texts({ [name]: { scale: 'log' } }), `${name} log`).not.toEqual(plain);
    }
  });

  test('no legend where none is asked for, and a ramp of the colours that are', async () => {
    for (const type of CHART_TYPES) {
      const svg = await drawSvg({ type, title: 'Bare', ...SAMPLE[type], look: { legend: 'none' } });
      expect(svg, type).not.toContain('role-legend');
    }
    for (const type of ['wind-rose', 'heatmap', 'contour', 'histogram-2d', 'correlation-matrix'] as const) {
      const svg = await drawSvg({ type, title: 'Ramp', ...SAMPLE[type], look: { colors: ['#102030', '#a0b0c0'] } });
      expect(svg.toLowerCase(), type).toMatch(/rgb\(16, ?32, ?48\)|#102030/);
    }
  });

  test('what comes from several columns is not called by one of them, and every corner of a radar has its range', async () => {
    for (const type of ['histogram', 'density-plot'] as const) {
      const svg = await drawSvg({ type, title: 'Several', ...SAMPLE[type] });
      expect(svg, type).toContain('>value</text>');
      expect(await drawSvg({ type, title: 'One', axes: y, series: one({ y: wave(0) }) }), type).toContain('>SPAD</text>');
    }
    expect(await drawSvg({ type: 'radar', title: 'R', ...SAMPLE.radar })).toMatch(/>SPAD \([\d.]+ – [\d.]+\)<\/text>/);
  });

  test('colours, legend, size of text and dots an inch', async () => {
    const chart: Chart = { type: 'line', title: '', ...SAMPLE.line };
    expect(await drawSvg({ ...chart, look: { colors: ['#123456', '#654321'] } })).toContain('stroke="#123456"');
    expect(textsOf(await drawSvg(chart))).toContain('drought');
    expect(textsOf(await drawSvg({ ...chart, look: { legend: 'none' } }))).not.toContain('drought');
    expect(await drawSvg({ ...chart, look: { fontSize: 21 } })).toContain('font-size="21px"');
    const widthOf = (png: Buffer) => png.readUInt32BE(16);
    expect(widthOf(await drawPng({ ...chart, look: { dpi: 192 } }))).toBe(2 * widthOf(await drawPng(chart)));
  });

  test('a heatmap says that a cell is a mean where more than one row is in it', async () => {
    const twice = { x: [...cells.x, 0], y: [...cells.y, 0], z: [...cells.z, 99] };
    expect(textsOf(await drawSvg({ type: 'heatmap', title: '', axes: threes, series: one(cells) }))).toContain('clay');
    expect(textsOf(await drawSvg({ type: 'heatmap', title: '', axes: threes, series: one(twice) }))).toContain('mean of clay');
  });
});

test.each(['line', 'area', 'scatter', 'contour', 'heatmap', 'ridge-plot', 'alluvial'] as const)(
  'a %s grows little with the names of its columns and groups',
  async (type) => {
    const sizeOf = async (more: string) => {
      const name = (text: string) => `${text}${more}`;
      const { axes, series } = SAMPLE[type];
      const named = Object.fromEntries(Object.entries(axes).map(([channel, one]) => [channel, { ...one!, title: name(one!.title) }]));
      const renamed = series.map((one) => ({
        ...one,
        ...(one.color === undefined ? {} : { color: name(one.color) }),
        points:
          type === 'alluvial'
            ? Object.fromEntries(
                Object.entries(one.points).map(([key, texts]) => [
                  key,
                  texts.map((text) => (typeof text === 'string' ? name(text) : text)),
                ]),
              )
            : one.points,
      }));
      const png = await drawPng({ type, title: '', axes: named, series: renamed });
      return [png.readUInt32BE(16), png.readUInt32BE(20)] as const;
    };
    const [width, height] = await sizeOf('');
    const [wider, higher] = await sizeOf(' of the third fully expanded leaf at noon under ambient light'.repeat(3));
    expect([wider / width, higher / height].every((grown) => grown < 1.5)).toBe(true);
  },
);

test('a heatmap says the minute of a time', async () => {
  const times = { x: ['a', 'a'], y: ['2026-05-01T23:50:00Z', '2026-05-02T00:10:00Z'], z: [1, 2] };
  const axes = { x: axis('plot', 'categorical'), y: axis('at', 'temporal'), z: axis('SPAD') };
  expect(textsOf(await drawSvg({ type: 'heatmap', title: '', axes, series: one(times) }))).toContain('2026-05-01 23:50');
});

test('small charts stand in the order of numbers in their names', () => {
  const series = ['1', '11', '2'].map((facet) => ({ name: 'spad', facet, points: { y: [1, 2, 3] } }));
  const spec = makeSpec({ type: 'box-plot', title: '', axes: y, series });
  expect(JSON.stringify(spec).match(/"title":"(1|11|2)"/g)).toEqual(['"title":"1"', '"title":"2"', '"title":"11"']);
});

describe.each(CHART_TYPES)('names of a %s chart', (type) => {
  /** The chart in three colours, with a facet for each of some names. */
  const chartOf = (facets: string[], look?: Chart['look']): Chart => {
    const { axes, series } = SAMPLE[type];
    const all = facets.flatMap((facet) =>
      ['control', 'drought', 'late'].flatMap((color) => series.map((own) => ({ ...own, color, facet }))),
    );
    return { type, title: '', axes, series: all, groups: ['control', 'drought', 'late'], ...(look && { look }) };
  };
  test('stand in the order of a dictionary, and each mark keeps its name', async () => {
    for (const chart of [chartOf(['control']), chartOf(['control', 'drought']), chartOf(['late', 'drought'], { facetScales: 'own' })]) {
      // letter by letter a capital comes before all others
      const renamed = JSON.stringify(chart).replaceAll('"drought"', '"Drought"').replaceAll('"Mo17"', '"mo17"').replaceAll('"b"', '"B"');
      const [usual, other] = [await drawSvg(chart), await drawSvg(JSON.parse(renamed) as Chart)];
      // gradients and cuts are numbered through the process
      const plain = (svg: string) => svg.toLowerCase().replaceAll(/(gradient_|clip)\d+/g, '$1');
      expect(plain(other) === plain(usual)).toBe(true);
    }
  });
});

test('what has a number in its name stands in the order of the numbers: bars, series, cells, boxes, slices', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `T${at + 1}`);
  const values = names.map((_, at) => at + 1);
  const orderOf = async (chart: Omit<Chart, 'title'>) =>
    textsOf(await drawSvg({ title: '', ...chart }, { width: 1_200, height: 800 })).filter((text) => names.includes(text));
  expect(await orderOf({ type: 'bar', axes: grouped, series: one({ x: names, y: values }) })).toEqual(names);
  expect(await orderOf({ type: 'box-plot', axes: grouped, series: one({ x: names, y: values }) })).toEqual(names);
  const lines = names.map((color) => ({ name: 'SPAD', color, points: { x: days, y: wave(0) } }));
  expect(await orderOf({ type: 'line', axes: timed, series: lines })).toEqual(names);
  const ridges = names.map((color) => ({ name: 'SPAD', color, points: { y: wave(0) } }));
  expect(await orderOf({ type: 'ridge-plot', axes: y, series: ridges })).toEqual(names);
  const pie = { labels: axis('treatment', 'categorical'), values: axis('plots') };
  expect(await orderOf({ type: 'pie', axes: pie, series: one({ labels: names, values }) })).toEqual(names);
  const sides = { x: axis('row', 'categorical'), y: axis('column', 'categorical'), z: axis('SPAD') };
  // the axis of y is written from above
  expect(await orderOf({ type: 'heatmap', axes: sides, series: one({ x: names, y: names, z: values }) })).toEqual([
    ...names,
    ...names.toReversed(),
  ]);
});

test('a group has the colour that it has among all groups, and never that of another while one is free', () => {
  const lines = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  const drawn = (shown: readonly string[], groups?: readonly string[], colors?: readonly string[]) => {
    const chart: Chart = {
      type: 'bar',
      title: '',
      axes: { x: axis('plot', 'categorical'), ...y, color: axis('line', 'categorical') },
      series: shown.map((color, at) => ({ name: 'SPAD', color, points: { x: ['1'], y: [at] } })),
      ...(groups === undefined ? {} : { groups }),
      ...(colors === undefined ? {} : { look: { colors } }),
    };
    const { config } = makeSpec(chart) as { config: { range: { category: string[] } } };
    return config.range.category;
  };
  const usual = drawn(lines);
  expect(drawn(['c', 'b'], lines)).toEqual([usual[1], usual[2]]);
  // the ninth has the colour of the first, which is only taken where that is drawn
  expect(drawn(['i', 'j'], lines)).toEqual([usual[0], usual[1]]);
  expect(drawn(['a', 'i', 'j'], lines)).toEqual([usual[0], usual[1], usual[2]]);
  expect(new Set(drawn(lines.slice(1, 9), lines)).size).toBe(8);
  expect(drawn(lines, lines).slice(0, 8)).toEqual(usual);
  expect(drawn(['c'], lines, ['#112233'])).toEqual(['#112233']);
});
