import { Body, Delete, Get, Patch, Path, Post, Query, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors, refuse } from '../../errors.ts';
import { setWindowHeaders } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { loadNaming } from '../experiments/pseudonym.service.ts';
import type { ChartFamily, NewVisualization, Visualization, VisualizationPatch } from './visualizations.model.ts';
import { countVisualizations, findVisualization, listVisualizations } from './visualizations.queries.ts';
import { createVisualization, patchVisualization, removeVisualization } from './visualizations.service.ts';

@Route('api/v1/experiments/{id}/visualizations')
@Tags('Charts and dashboards')
export class VisualizationsController extends ApiController {
  /**
   * For everybody who may read the experiment. Newest first. X-Total-Count says how many there are, and Link leads to the others.
   * @summary List the charts of an experiment
   * @param chartFamily Only charts of this family.
   * @param limit Rows at most, 0 to 100; 50 by default.
   * @param offset Rows to skip before the first; 0 by default.
   * @isInt limit
   * @minimum limit 0
   * @maximum limit 100
   * @isInt offset
   * @minimum offset 0
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async listVisualizations(
    @Path() id: string,
    @Query() chartFamily?: ChartFamily,
    @Query() limit = 50,
    @Query() offset = 0,
  ): Promise<Visualization[]> {
    const filter = { experimentId: id, chartFamily };
    const [named, rows, total] = await Promise.all([
      loadNaming(this.ctx, this.caller, id),
      listVisualizations(this.ctx.db, filter, { limit, offset }),
      countVisualizations(this.ctx.db, filter),
    ]);
    return setWindowHeaders(this.response, { rows: rows.map(named), total }, { limit, offset });
  }

  /**
   * Only for owners and admins of the experiment. Columns without a name make it a draft. Once all are named, their roles must be ones that the chart
   * type has, single ones at most once, and from one table, else INVALID_INPUT (400) says which is not. An archived experiment refuses with
   * EXPERIMENT_ARCHIVED (409).
   * @summary Add a chart
   */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async createVisualization(@Path() id: string, @Body() body: NewVisualization): Promise<Visualization> {
    return this.answer(await createVisualization(this.ctx, this.caller, id, body));
  }

  /**
   * For everybody who may read the experiment. Answers what the chart is drawn from and how it looks; `data` and `image` draw it. In an anonymised
   * experiment a pseudonym names who made it.
   * @summary Read one chart
   */
  @Get('{visualizationId}')
  @Security('caller', ['experiment:read'])
  public async getVisualization(@Path() id: string, @Path() visualizationId: string): Promise<Visualization> {
    const found = (await findVisualization(this.ctx.db, id, visualizationId)) ?? refuse(errors.visualizationNotFound());
    const named = await loadNaming(this.ctx, this.caller, id);
    return this.answer(named(found));
  }

  /**
   * Only for owners and admins of the experiment. Fields that are left out keep their value; `config` and `dataConfig` are replaced as a whole. The
   * same is checked as of a new chart. With `If-Match`, a newer version refuses with PRECONDITION_FAILED (412). An archived experiment refuses with
   * EXPERIMENT_ARCHIVED (409).
   * @summary Change a chart
   */
  @Patch('{visualizationId}')
  @Security('caller', ['experiment:manage'])
  public async updateVisualization(
    @Path() id: string,
    @Path() visualizationId: string,
    @Body() body: VisualizationPatch,
  ): Promise<Visualization> {
    return this.answer(await patchVisualization(this.ctx, this.caller, this.readTarget({ experimentId: id, id: visualizationId }), body));
  }

  /**
   * Only for owners and admins of the experiment. Dashboards that show it keep an empty place. With `If-Match`, a newer version refuses with
   * PRECONDITION_FAILED (412). An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Remove a chart
   */
  @Delete('{visualizationId}')
  @Security('caller', ['experiment:manage'])
  public async deleteVisualization(@Path() id: string, @Path() visualizationId: string): Promise<null> {
    await removeVisualization(this.ctx, this.caller, this.readTarget({ experimentId: id, id: visualizationId }));
    return null;
  }
}
