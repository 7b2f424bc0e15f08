/** The thread that draws pictures. Its memory is bounded by whoever starts it. */
import { parentPort } from 'node:worker_threads';
import type { Chart } from './chart.ts';
import { drawPng, drawSvg, makeSpec } from './draw.ts';
import type { Size } from './look.ts';

/** What a picture is of. `vega-lite` is the specification that the others are drawn from, as JSON. */
export interface Picture {
  chart: Chart;
  format: 'svg' | 'png' | 'vega-lite';
  size: Size;
}

/** What the thread answers: a picture, or why it failed. */
export type DrawingAnswer = { body: string | Uint8Array } | { failure: string };

const DRAWERS: Readonly<Record<Picture['format'], (chart: Chart, size: Size) => Promise<string | Uint8Array> | string>> = {
  svg: drawSvg,
  png: drawPng,
  'vega-lite': (chart, size) => JSON.stringify(makeSpec(chart, size)),
};

async function answer({ chart, format, size }: Picture): Promise<DrawingAnswer> {
  try {
    return { body: await DRAWERS[format](chart, size) };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.on('message', (picture: Picture) => void answer(picture).then((answered) => parentPort?.postMessage(answered)));
