/** Draws what a chart shows, in the format that was asked for. */
import type { Size } from '../../charts/look.ts';
import { readLook, requireDots } from './look.ts';
import { makeChart, type Drawn } from './series.ts';
import type { Visualization } from './visualizations.model.ts';

export interface ImageQuery {
  /** `svg`, `png`, or `vega-lite`: the specification that both are drawn from, with its data. Beats `Accept`; SVG when neither says. */
  format?: 'svg' | 'png' | 'vega-lite';
  /**
   * Pixels of the plotted area, 100 to 2,000; 640 by default.
   * @isInt
   * @minimum 100
   * @maximum 2000
   */
  width?: number;
  /**
   * Pixels of the plotted area, 100 to 2,000; 400 by default.
   * @isInt
   * @minimum 100
   * @maximum 2000
   */
  height?: number;
}

const TYPES = { svg: 'image/svg+xml', png: 'image/png', 'vega-lite': 'application/vnd.vegalite.v6+json' } as const;
type Format = keyof typeof TYPES;
/** Media types of a picture, the usual one first. */
export const OFFERED: string[] = Object.values(TYPES);

/** Reads the format and size of a picture. The query beats what the caller accepts. */
export function readPictureQuery({ format, width = 640, height = 400 }: ImageQuery, accepted: string | false): Size & { format: Format } {
  const named = (Object.keys(TYPES) as Format[]).find((each) => TYPES[each] === accepted);
  return { format: format ?? named ?? 'svg', width, height };
}

/**
 * Loads the grammar of graphics with the first picture. The import stands outside the controllers, because TypeScript 5.9 rewrites no import inside a decorated
 * class: https://github.com/microsoft/TypeScript/issues/63287.
 */
const loadDrawing = () => import('../../charts/draw.ts');

/** Draws a picture. Errors: a look that the picture cannot have, and a PNG of too many dots. */
export async function drawPicture(
  drawn: Pick<Visualization, 'name' | 'config' | 'chartFamily' | 'chartType'>,
  data: Drawn,
  { format, ...size }: Size & { format: Format },
): Promise<{ type: string; body: string | Buffer }> {
  const look = readLook(drawn, data);
  const chart = makeChart(drawn.chartType, drawn.name, data, look);
  if (format === 'png') requireDots(look, size);
  const { drawPng, drawSvg, makeSpec } = await loadDrawing();
  const type = TYPES[format];
  if (format === 'png') return { type, body: await drawPng(chart, size) };
  return { type, body: format === 'svg' ? await drawSvg(chart, size) : JSON.stringify(makeSpec(chart, size)) };
}
