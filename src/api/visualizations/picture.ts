/** Draws what a chart shows, in the format that was asked for. */
import { PictureTooLarge } from '../../charts/drawing.ts';
import type { Size } from '../../charts/look.ts';
import type { Context } from '../../context.ts';
import type { Caller } from '../../auth/caller.ts';
import { errors } from '../../errors.ts';
import { readLook, requireDots } from './look.ts';
import { readSeries } from './plot.service.ts';
import { makeChart } from './series.ts';
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

const TOO_LARGE = 'This picture takes too long to draw. Choose fewer rows by a filter, or fewer colours or facets.';

/** Who asks for a picture. */
interface Asker {
  caller: Caller;
  signal: AbortSignal;
}

/** A chart, stored or not, and the version of its table if it is not the newest. */
type Pictured = Parameters<typeof readSeries>[2] & Pick<Visualization, 'name' | 'config' | 'chartFamily'>;

export interface PictureAnswer {
  type: string;
  body: string | Buffer;
  /** Of the table. */
  version: string;
}

/**
 * Reads what a chart shows and draws it. Those of one caller are drawn one after the other, so that others wait for one of them at most and only one is held.
 * Errors: those of `readSeries`, a look that the picture cannot have, a PNG of too many dots, a picture that is too large to draw, and callerBusy.
 */
export async function drawPicture(
  ctx: Context,
  { caller, signal }: Asker,
  drawn: Pictured,
  { format, ...size }: Size & { format: Format },
): Promise<PictureAnswer> {
  const release = await ctx.drawingShares.acquire(caller.userId, caller.userId, signal);
  try {
    const data = await readSeries(ctx, caller, drawn, signal);
    const look = readLook(drawn, data);
    const chart = makeChart(drawn.chartType, drawn.name, data, look);
    if (format === 'png') requireDots(look, size);
    return { type: TYPES[format], body: await ctx.drawing.draw({ chart, format, size }, signal), version: data.version };
  } catch (error) {
    throw error instanceof PictureTooLarge ? errors.queryRefused(TOO_LARGE) : error;
  } finally {
    release();
  }
}
