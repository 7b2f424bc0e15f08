import { Get, Path, Produces, Queries, Request, Route, Security, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { errors } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type { VisualizationData } from './plot.model.ts';
import { readLook, requireDots } from './look.ts';
import { plotVisualization } from './plot.service.ts';
import { chartOf } from './series.ts';
import { findVisualization, type VersionedVisualization } from './visualizations.queries.ts';

interface ImageQuery {
  format?: 'svg' | 'png';
  /**
   * Pixels of the plotted area.
   * @isInt
   * @minimum 100
   * @maximum 2000
   */
  width?: number;
  /**
   * Pixels of the plotted area.
   * @isInt
   * @minimum 100
   * @maximum 2000
   */
  height?: number;
}

/** A grammar of graphics, loaded with the first picture. TypeScript 5.9 rewrites no import inside a decorated class: https://github.com/microsoft/TypeScript/issues/63287. */
const loadDrawing = () => import('../../charts/draw.ts');

@Route('api/v1/experiments/{id}/visualizations/{visualizationId}')
@Tags('Visualizations')
export class PlotController extends ApiController {
  /**
   * What a chart shows: its data config compiled, run, and turned into one array per channel and series. Long lines are thinned, which the
   * series says. A draft is 409; a table that you may not read is 403.
   */
  @Get('data')
  @Security('caller', ['experiment:read'])
  public async data(@Path() id: string, @Path() visualizationId: string): Promise<VisualizationData> {
    const data = await plotVisualization(this.ctx, this.caller, await this.#find(id, visualizationId), this.exchange.signal);
    this.response.setHeader('X-Table-Version', data.version);
    return data;
  }

  /**
   * The chart as a picture: SVG, or PNG by `format` or `Accept`. Of its `config` it honours `title`, `x`, `y`, `y2` and `z` (`title`, `range`, `scale`:
   * `linear` or `log`), `colors`, `legend`, `theme` (`light` or `dark`), `fontSize`, `dpi` and `facetScales` (`shared` or `own`), reads nothing of `client`, and
   * refuses other members by name. A chart of the family `3d` has no picture.
   */
  @Get('image')
  @Security('caller', ['experiment:read'])
  @Produces('image/svg+xml')
  @Produces('image/png')
  public async image(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Path() visualizationId: string,
    @Queries() query: ImageQuery,
  ): Promise<string> {
    const found = await this.#find(id, visualizationId);
    const data = await plotVisualization(this.ctx, this.caller, found, this.exchange.signal);
    const { drawPng, drawSvg } = await loadDrawing();
    const look = readLook(found, data);
    const chart = chartOf(data.chartType, found.name, data, look);
    const { format, width = 640, height = 400 } = query;
    const wanted = format ?? (request.accepts(['image/svg+xml', 'image/png']) === 'image/png' ? 'png' : 'svg');
    this.response.setHeader('X-Table-Version', data.version);
    this.response.setHeader('Vary', 'Accept');
    if (wanted === 'png') requireDots(look, { width, height });
    if (wanted === 'png') this.response.type('image/png').send(await drawPng(chart, { width, height }));
    else this.response.type('image/svg+xml').send(await drawSvg(chart, { width, height }));
    return '';
  }

  async #find(experimentId: string, id: string): Promise<VersionedVisualization> {
    const found = await findVisualization(this.ctx.db, experimentId, id);
    if (!found) throw errors.visualizationNotFound();
    return found;
  }
}
