import { Get, Path, Produces, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { parseDraft } from './draft.ts';
import { readPictureQuery, drawPicture, OFFERED, type ImageQuery } from './picture.ts';

interface DraftQuery extends ImageQuery {
  /**
   * JSON object `{chartFamily, chartType, dataConfig, name, config}`, as a stored chart has them; `chartFamily`, `name` and `config` may be left out. At most 12,000 characters.
   * @minLength 2
   * @maxLength 12000
   */
  chart: string;
  /**
   * Draws the table as it was in this version, which an earlier answer named in X-Table-Version; the newest one when absent.
   * @isInt
   * @minimum 0
   * @maximum 2147483647
   */
  asOf?: number;
}

@Route('api/v1/experiments/{id}/chart')
@Tags('Charts and dashboards')
export class DraftController extends ApiController {
  /**
   * For everybody who may read the experiment. Draws like `image` of a stored chart, and stores nothing. `format=vega-lite` answers the specification
   * that the pictures are drawn from, with its data. A chart that lacks a table or a column refuses with VISUALIZATION_INCOMPLETE (409), a look that the
   * picture cannot have with QUERY_REFUSED (400), a table that you may not read with TABLE_DENIED (403).
   * @summary Draw a chart without storing it
   */
  @Get()
  @Security('caller', ['experiment:read'])
  @Produces('image/svg+xml')
  @Produces('image/png')
  @Produces('application/vnd.vegalite.v6+json')
  public async getChart(@Path() id: string, @Queries() query: DraftQuery): Promise<string> {
    const draft = parseDraft(query.chart);
    const asker = { caller: this.caller, signal: this.exchange.signal };
    const picture = await drawPicture(
      this.ctx,
      asker,
      { experimentId: id, asOf: query.asOf, ...draft },
      readPictureQuery(query, this.request.accepts(OFFERED)),
    );
    this.response.setHeader('X-Table-Version', picture.version);
    this.response.vary('Accept');
    this.response.type(picture.type).send(picture.body);
    return '';
  }
}
