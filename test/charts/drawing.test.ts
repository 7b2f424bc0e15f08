/** Pictures are drawn beside the service: what one costs, nobody else waits for. */
import { afterEach, expect, test } from 'vitest';
import type { Chart } from '../../src/charts/chart.ts';
import { drawSvg, makeSpec } from '../../src/charts/draw.ts';
import { ChartRefused, Drawing } from '../../src/charts/drawing.ts';
import { makeChart, makeSeries, type Layout } from '../../src/charts/series.ts';

const NAMES = ['x', 'y', 'z'] as const;
const layout: Layout = {
  columns: NAMES.map((name) => ({ name, kind: 'numeric', isInstant: false })),
  shared: [0, 2].map((position) => ({ channel: NAMES[position] ?? '', position, title: NAMES[position] ?? '' })),
  series: [{ name: 'SPAD', channels: [{ channel: 'y', position: 1, title: 'y' }], source: {} }],
  color: null,
  facet: null,
  isThinned: false,
};
type Row = Record<(typeof NAMES)[number], number>;
const few: Row[] = [3, 1, 2].map((y, x) => ({ x, y, z: y }));
/** As many cells as a heatmap may have. */
const many: Row[] = Array.from({ length: 10_000 }, (_, n) => ({ x: n * 7.31, y: Math.sin(n), z: n }));

const print = (rows: readonly Row[]) => new TextEncoder().encode(rows.map((row) => JSON.stringify(row)).join(','));
type Asked = Parameters<Drawing['draw']>[0];
const picture = (type: string, rows: readonly Row[], format: Asked['format'] = 'svg', look: Asked['look'] = {}): Asked => ({
  rows: print(rows),
  layout,
  part: { truncated: false },
  type,
  title: 'Leaves',
  look,
  format,
  size,
});
const size = { width: 640, height: 400 };
const small = (format?: Asked['format']) => picture('scatter', few, format);
const large = (format?: Asked['format']) => picture('heatmap', many, format);
/** The chart that a picture is drawn of. */
const chartOf = (type: string, rows: readonly Row[]): Chart =>
  makeChart(type, 'Leaves', { ...makeSeries(layout, rows), rows: rows.length, truncated: false }, {});

const opened: Drawing[] = [];
const open = (...limits: ConstructorParameters<typeof Drawing>) => {
  const drawing = new Drawing(...limits);
  opened.push(drawing);
  return drawing;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((drawing) => drawing.close()));
});

test('a picture is the one that the service itself would draw, in each format', async () => {
  const drawing = open();
  expect(await drawing.draw(small())).toBe(await drawSvg(chartOf('scatter', few), size));
  expect(await drawing.draw(small('vega-lite'))).toBe(JSON.stringify(makeSpec(chartOf('scatter', few), size)));
  const png = await drawing.draw(small('png'));
  expect(Buffer.from(png as Buffer).subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
});

test('the loop goes on turning while a large one is drawn', async () => {
  const turnsOf = async (work: () => Promise<unknown>) => {
    let [turns, isDone] = [0, false];
    const turning = (async () => {
      while (!isDone) {
        await new Promise((resolve) => setImmediate(resolve));
        turns += 1;
      }
    })();
    await work();
    isDone = true;
    await turning;
    return turns;
  };
  const drawing = open();
  await drawing.draw(small());
  expect(await turnsOf(() => drawSvg(chartOf('heatmap', many), size))).toBeLessThan(20);
  expect(await turnsOf(() => drawing.draw(large()))).toBeGreaterThan(1_000);
});

test('series are printed with what stands beside them', async () => {
  const printed = await open().print({ rows: print(few), layout, beside: { version: '3' } });
  expect(JSON.parse(printed.toString())).toEqual({ version: '3', ...makeSeries(layout, few), rows: 3 });
  const none = await open().print({ rows: print([]), layout, beside: {} });
  expect(JSON.parse(none.toString())).toMatchObject({ rows: 0, series: [{ points: { x: [], y: [], z: [] } }] });
});

test('a logarithmic axis refuses values that it has no place for, whichever series they are of', async () => {
  const drawing = open();
  const log = { y: { scale: 'log' } } as const;
  expect(await drawing.draw(picture('scatter', few, 'svg', log))).toContain('<svg');
  const refused = drawing.draw(picture('scatter', [...few, { x: 4, y: 0, z: 1 }], 'svg', log));
  await expect(refused).rejects.toThrow(ChartRefused);
  await expect(refused).rejects.toThrow(/^Column 'y' has values of 0 or less/);
});

test('a heatmap of many values names some of them, and holds no name that it hides', async () => {
  const names = [...(await drawSvg(chartOf('heatmap', many), size)).matchAll(/<text/g)];
  expect(names.length).toBeGreaterThan(10);
  expect(names.length).toBeLessThan(300);
});

test('a picture that takes too long, or too much memory, is refused, and the next one is drawn', async () => {
  const hurried = open({ mostMs: 1 });
  await expect(hurried.draw(large('png'))).rejects.toBeInstanceOf(ChartRefused);
  await expect(open({ mostHeapMib: 24 }).draw(large())).rejects.toBeInstanceOf(ChartRefused);
  const drawing = open();
  await expect(drawing.draw(picture('nothing', few))).rejects.toThrow('no drawing for chart type nothing');
  expect(await drawing.draw(small())).toContain('<svg');
});

test('a picture whose caller leaves is given up, and those of others are drawn', async () => {
  const drawing = open();
  await drawing.draw(small());
  const leaving = new AbortController();
  const left = drawing.draw(large('png'), leaving.signal);
  const [other, waiting] = [drawing.draw(small()), drawing.draw(small(), leaving.signal)];
  setImmediate(() => leaving.abort(new Error('the caller went away')));
  await expect(left).rejects.toThrow('the caller went away');
  await expect(waiting).rejects.toThrow('the caller went away');
  expect(await other).toContain('<svg');
});

test('the thread rests, and starts again when it is asked', async () => {
  const drawing = open({ restMs: 1 });
  const first = await drawing.draw(small());
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await drawing.draw(small())).toBe(first);
});

test('a caller who leaves before their turn is let go at once', async () => {
  const drawing = open();
  await drawing.draw(small());
  const told: string[] = [];
  const leaving = new AbortController();
  const drawn = drawing.draw(large()).then(() => told.push('drawn'));
  const left = drawing.draw(small(), leaving.signal).catch((error: unknown) => told.push((error as Error).message));
  leaving.abort(new Error('the caller went away'));
  await Promise.all([drawn, left]);
  expect(told).toEqual(['the caller went away', 'drawn']);
  expect(await drawing.draw(small())).toContain('<svg');
});
