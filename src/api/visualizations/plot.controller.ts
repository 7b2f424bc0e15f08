import { Get, Path, Produces, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { errors, refuse } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type { VisualizationData } from './plot.model.ts';
import { readPictureQuery, drawPicture, OFFERED, type ImageQuery } from './picture.ts';
import { printSeries } from './plot.service.ts';
import { findVisualization, type VersionedVisualization } from './visualizations.queries.ts';

@Route('api/v1/experiments/{id}/visualizations/{visualizationId}')
@Tags('Charts and dashboards')
export class PlotController extends ApiController {
  /**
   * For everybody who may read the experiment. Its data config is compiled, run, and turned into one array per channel and series. Long lines are
   * thinned to 2,000 points, which the series says. A draft refuses with VISUALIZATION_INCOMPLETE (409), a table that you may not read with
   * TABLE_DENIED (403). Charts of one person are read one after the other.
   * @summary Read what a chart shows
   */
  @Get('data')
  @Security('caller', ['experiment:read'])
  public async getVisualizationData(@Path() id: string, @Path() visualizationId: string): Promise<VisualizationData> {
    const asker = { caller: this.caller, signal: this.exchange.signal };
    const { version, body } = await printSeries(this.ctx, asker, await this.#find(id, visualizationId));
    this.response.setHeader('X-Table-Version', version);
    this.response.type('json').send(body);
    // what is returned once an answer is sent goes nowhere
    return {} as VisualizationData;
  }

  /**
   * For everybody who may read the experiment. Answers SVG, PNG or a Vega-Lite specification by `format` or `Accept`. Of its `config` it honours `title`, `x`, `y`, `y2` and
   * `z` (`title`, `range`, `scale`: `linear` or `log`), `colors`, `legend`, `theme` (`light` or `dark`), `fontSize`, `dpi` and `facetScales`
   * (`shared` or `own`), reads nothing of `client`, and refuses other members by name. A chart of the family `3d`, a picture of more than 20
   * million dots and one that takes longer than 20 seconds to draw refuse with QUERY_REFUSED (400), a draft with VISUALIZATION_INCOMPLETE (409), a table
   * that you may not read with TABLE_DENIED (403). Pictures of one person are drawn one after the other.
   * @summary Draw a chart as a picture
   */
  @Get('image')
  @Security('caller', ['experiment:read'])
  @Produces('image/svg+xml')
  @Produces('image/png')
  @Produces('application/vnd.vegalite.v6+json')
  public async getVisualizationImage(@Path() id: string, @Path() visualizationId: string, @Queries() query: ImageQuery): Promise<string> {
    const found = await this.#find(id, visualizationId);
    const asker = { caller: this.caller, signal: this.exchange.signal };
    const picture = await drawPicture(this.ctx, asker, found, readPictureQuery(query, this.request.accepts(OFFERED)));
    this.response.setHeader('X-Table-Version', picture.version);
    this.response.vary('Accept');
    this.response.type(picture.type).send(picture.body);
    return '';
  }

  async #find(experimentId: string, id: string): Promise<VersionedVisualization> {
    return (await findVisualization(this.ctx.db, experimentId, id)) ?? refuse(errors.visualizationNotFound());
  }
}
