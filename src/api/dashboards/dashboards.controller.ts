import { Body, Delete, Get, Patch, Path, Post, Query, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors, refuse } from '../../errors.ts';
import { setWindowHeaders } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { loadNaming } from '../experiments/pseudonym.service.ts';
import type { Dashboard, DashboardPatch, NewDashboard } from './dashboards.model.ts';
import { countDashboards, findDashboard, listDashboards } from './dashboards.queries.ts';
import { createDashboard, patchDashboard, removeDashboard } from './dashboards.service.ts';

@Route('api/v1/experiments/{id}/dashboards')
@Tags('Charts and dashboards')
export class DashboardsController extends ApiController {
  /**
   * For everybody who may read the experiment. Newest first. X-Total-Count says how many there are, and Link leads to the others.
   * @summary List the dashboards of an experiment
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
  public async listDashboards(@Path() id: string, @Query() limit = 50, @Query() offset = 0): Promise<Dashboard[]> {
    const [named, rows, total] = await Promise.all([
      loadNaming(this.ctx, this.caller, id),
      listDashboards(this.ctx.db, id, { limit, offset }),
      countDashboards(this.ctx.db, id),
    ]);
    return setWindowHeaders(this.response, { rows: rows.map(named), total }, { limit, offset });
  }

  /**
   * Only for owners and admins of the experiment. A widget may show a chart of this experiment only, else INVALID_INPUT (400) names it. An archived
   * experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Add a dashboard
   */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async createDashboard(@Path() id: string, @Body() body: NewDashboard): Promise<Dashboard> {
    return this.answer(await createDashboard(this.ctx, this.caller, id, body));
  }

  /**
   * For everybody who may read the experiment. Answers its widgets and where they stand. A chart that was removed leaves an empty place. In an
   * anonymised experiment a pseudonym names who made it.
   * @summary Read one dashboard
   */
  @Get('{dashboardId}')
  @Security('caller', ['experiment:read'])
  public async getDashboard(@Path() id: string, @Path() dashboardId: string): Promise<Dashboard> {
    const found = (await findDashboard(this.ctx.db, id, dashboardId)) ?? refuse(errors.dashboardNotFound());
    const named = await loadNaming(this.ctx, this.caller, id);
    return this.answer(named(found));
  }

  /**
   * Only for owners and admins of the experiment. Fields that are left out keep their value; layout and widgets are replaced as a whole. Send
   * `If-Match`, so that two people who arrange widgets at once do not undo each other's work: a newer version refuses with PRECONDITION_FAILED (412).
   * An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Change a dashboard
   */
  @Patch('{dashboardId}')
  @Security('caller', ['experiment:manage'])
  public async updateDashboard(@Path() id: string, @Path() dashboardId: string, @Body() body: DashboardPatch): Promise<Dashboard> {
    return this.answer(await patchDashboard(this.ctx, this.caller, this.readTarget({ experimentId: id, id: dashboardId }), body));
  }

  /**
   * Only for owners and admins of the experiment. The charts that it showed stay. With `If-Match`, a newer version refuses with PRECONDITION_FAILED
   * (412). An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Remove a dashboard
   */
  @Delete('{dashboardId}')
  @Security('caller', ['experiment:manage'])
  public async deleteDashboard(@Path() id: string, @Path() dashboardId: string): Promise<null> {
    await removeDashboard(this.ctx, this.caller, this.readTarget({ experimentId: id, id: dashboardId }));
    return null;
  }
}
