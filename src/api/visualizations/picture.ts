/** Draws what a chart shows, in the format that was asked for. */
import type { Size } from '../../charts/look.ts';
import { makeAxes } from '../../charts/series.ts';
import type { Context } from '../../context.ts';
import { readLook, requireDots } from './look.ts';
import { makeOfRows, type Asker } from './plot.service.ts';
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

/** A chart, stored or not, and the version of its table if it is not the newest. */
type Pictured = Parameters<typeof makeOfRows>[2] & Pick<Visualization, 'name' | 'config' | 'chartFamily'>;

/** Draws what a chart shows, with the version of its table. Errors: those of `makeOfRows`, a look that the picture cannot have, and a PNG of too many dots. */
export async function drawPicture(ctx: Context, asker: Asker, drawn: Pictured, { format, ...size }: Size & { format: Format }) {
  return makeOfRows(ctx, asker, { ...drawn, keepsColors: true }, async ({ rows, layout, version, truncated, sampleOf }) => {
    const look = readLook(drawn, makeAxes(layout));
    if (format === 'png') requireDots(look, size);
    const part = { truncated, ...(sampleOf === undefined ? {} : { sampleOf }) };
    const picture = { rows, layout, part, type: drawn.chartType, title: drawn.name, look, format, size };
    return { type: TYPES[format], body: await ctx.drawing.pictures.draw(picture, asker.signal), version };
  });
}
