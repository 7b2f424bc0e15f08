/** The thread that makes series of rows and draws pictures of them. Its memory is bounded by whoever starts it. */
import { parentPort } from 'node:worker_threads';
import { readJson } from '../json.ts';
import type { Look, Size } from './look.ts';
import type { Plotted } from './plotted.model.ts';
import { findUnplaced, makeChart, makeSeries, type Layout } from './series.ts';

interface Read {
  /** JSON objects with commas between them. */
  rows: Uint8Array<ArrayBuffer>;
  layout: Layout;
}

/** Asks for the series of a chart, as members of a JSON object. */
export interface SeriesWork extends Read {
  kind: 'series';
  /** Other members of the object. */
  beside: Readonly<Record<string, unknown>>;
}

/** Asks for a picture. `vega-lite` is the specification that the others are drawn from, as JSON. */
export interface PictureWork extends Read {
  kind: 'picture';
  type: string;
  title: string;
  look: Look;
  /** Whether more rows match than were read, and of how many they are a sample. */
  part: { truncated: boolean; sampleOf?: number };
  format: 'svg' | 'png' | 'vega-lite';
  size: Size;
}

export type Work = SeriesWork | PictureWork;

/** What the thread answers: what was asked for, why it cannot be, or what failed. */
export type Answer = { body: string | Uint8Array<ArrayBuffer> } | { refusal: string } | { failure: string };

/** The series of what was read, and how many rows that are. */
type Drawn = Plotted & { rows: number };

async function drawPicture({ type, title, look, part, format, size, layout: { groups } }: PictureWork, drawn: Drawn): Promise<Answer> {
  const unplaced = findUnplaced(drawn, look);
  if (unplaced !== undefined)
    return {
      refusal: `Column '${unplaced}' has values of 0 or less, which a logarithmic axis has no place for: filter them, or choose a linear scale.`,
    };
  // the libraries that draw take half a second to load, which series alone do not need
  const { drawPng, drawSvg, makeSpec } = await import('./draw.ts');
  const chart = makeChart(type, title, { ...drawn, ...part, groups }, look);
  if (format === 'vega-lite') return { body: JSON.stringify(makeSpec(chart, size)) };
  return { body: format === 'svg' ? await drawSvg(chart, size) : new Uint8Array(await drawPng(chart, size)) };
}

async function answer(work: Work): Promise<Answer> {
  try {
    const rows = readJson(`[${new TextDecoder().decode(work.rows)}]`) as Record<string, unknown>[];
    const drawn = { ...makeSeries(work.layout, rows), rows: rows.length };
    if (work.kind === 'picture') return await drawPicture(work, drawn);
    return { body: new TextEncoder().encode(JSON.stringify({ ...work.beside, ...drawn })) };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** Posts an answer. Its bytes are handed over and not copied. */
const post = (answered: Answer) =>
  parentPort?.postMessage(answered, 'body' in answered && typeof answered.body !== 'string' ? [answered.body.buffer] : []);

parentPort?.on('message', (work: Work) => void answer(work).then(post));
