/** Pictures are drawn beside the service: what one costs, nobody else waits for. */
import { afterEach, expect, test } from 'vitest';
import type { Chart } from '../../src/charts/chart.ts';
import { drawSvg, makeSpec } from '../../src/charts/draw.ts';
import { Drawing, PictureTooLarge } from '../../src/charts/drawing.ts';

const size = { width: 640, height: 400 };
const axis = (title: string) => ({ title, kind: 'numeric' as const });
const axes = { x: axis('plot'), y: axis('day'), z: axis('SPAD') };
const numbers = Array.from({ length: 10_000 }, (_, index) => index);
/** As many cells as a heatmap may have. */
const large: Chart = {
  type: 'heatmap',
  title: 'Cells',
  axes,
  series: [{ name: 'SPAD', points: { x: numbers.map((n) => n * 7.31), y: numbers.map((n) => Math.sin(n)), z: numbers } }],
};
const small: Chart = { type: 'scatter', title: 'Points', axes, series: [{ name: 'SPAD', points: { x: [1, 2, 3], y: [3, 1, 2] } }] };

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
  expect(await drawing.draw({ chart: small, format: 'svg', size })).toBe(await drawSvg(small, size));
  expect(await drawing.draw({ chart: small, format: 'vega-lite', size })).toBe(JSON.stringify(makeSpec(small, size)));
  const png = await drawing.draw({ chart: small, format: 'png', size });
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
  await drawing.draw({ chart: small, format: 'svg', size });
  expect(await turnsOf(() => drawSvg(large, size))).toBeLessThan(20);
  expect(await turnsOf(() => drawing.draw({ chart: large, format: 'svg', size }))).toBeGreaterThan(1_000);
});

test('a heatmap of many values names some of them, and holds no name that it hides', async () => {
  const names = [...(await drawSvg(large, size)).matchAll(/<text/g)];
  expect(names.length).toBeGreaterThan(10);
  expect(names.length).toBeLessThan(300);
});

test('a picture that takes too long, or too much memory, is refused, and the next one is drawn', async () => {
  const fine = { chart: small, format: 'svg', size } as const;
  const hurried = open({ mostMs: 1 });
  await expect(hurried.draw({ chart: large, format: 'png', size })).rejects.toBeInstanceOf(PictureTooLarge);
  await expect(open({ mostHeapMib: 24 }).draw({ chart: large, format: 'svg', size })).rejects.toBeInstanceOf(PictureTooLarge);
  const drawing = open();
  await expect(drawing.draw({ ...fine, chart: { ...small, type: 'nothing' } })).rejects.toThrow('no drawing for chart type nothing');
  expect(await drawing.draw(fine)).toContain('<svg');
});

test('a picture whose caller leaves is given up, and those of others are drawn', async () => {
  const drawing = open();
  await drawing.draw({ chart: small, format: 'svg', size });
  const leaving = new AbortController();
  const left = drawing.draw({ chart: large, format: 'png', size }, leaving.signal);
  const [other, waiting] = [
    drawing.draw({ chart: small, format: 'svg', size }),
    drawing.draw({ chart: small, format: 'svg', size }, leaving.signal),
  ];
  setImmediate(() => leaving.abort(new Error('the caller went away')));
  await expect(left).rejects.toThrow('the caller went away');
  await expect(waiting).rejects.toThrow('the caller went away');
  expect(await other).toContain('<svg');
});

test('the thread rests, and starts again when it is asked', async () => {
  const drawing = open({ restMs: 1 });
  const first = await drawing.draw({ chart: small, format: 'svg', size });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await drawing.draw({ chart: small, format: 'svg', size })).toBe(first);
});
