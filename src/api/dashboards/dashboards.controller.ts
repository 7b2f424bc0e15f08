import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Query, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors } from '../../errors.ts';
import { expectedVersions, tagged, windowed } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { namingOf } from '../experiments/pseudonym.service.ts';
import type { Dashboard, DashboardPatch, NewDashboard } from './dashboards.model.ts';
import { countDashboards, findDashboard, listDashboards, type VersionedDashboard } from './dashboards.queries.ts';
import { createDashboard, patchDashboard, removeDashboard } from './dashboards.service.ts';

@Route('api/v1/experiments/{id}/dashboards')
@Tags('Dashboards')
export class DashboardsController extends ApiController {
  /**
   * The dashboards of an experiment, newest first.
   * @isInt limit
   * @minimum limit 0
   * @maximum limit 100
   * @isInt offset
   * @minimum offset 0
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async list(@Request() request: HttpRequest, @Path() id: string, @Query() limit = 50, @Query() offset = 0): Promise<Dashboard[]> {
    const [named, rows, total] = await Promise.all([
      namingOf(this.ctx, this.caller, id),
      listDashboards(this.ctx.db, id, { limit, offset }),
      countDashboards(this.ctx.db, id),
    ]);
    return windowed(request, this.response, { rows: rows.map(named), total }, { limit, offset });
  }

  /** Adds a dashboard. A widget may show a chart of this experiment only. */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async create(@Path() id: string, @Body() body: NewDashboard): Promise<Dashboard> {
    this.setStatus(201);
    return this.answer(await createDashboard(this.ctx, this.caller, id, body));
  }

  /** One dashboard. */
  @Get('{dashboardId}')
  @Security('caller', ['experiment:read'])
  public async get(@Path() id: string, @Path() dashboardId: string): Promise<Dashboard> {
    const found = await findDashboard(this.ctx.db, id, dashboardId);
    if (!found) throw errors.dashboardNotFound();
    const named = await namingOf(this.ctx, this.caller, id);
    return this.answer(named(found));
  }

  /** Changes what is given. Send `If-Match`, so that two people who arrange widgets at once do not undo each other's work. */
  @Patch('{dashboardId}')
  @Security('caller', ['experiment:manage'])
  public async update(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Path() dashboardId: string,
    @Body() body: DashboardPatch,
  ): Promise<Dashboard> {
    const target = { experimentId: id, id: dashboardId, versions: expectedVersions(request) };
    return this.answer(await patchDashboard(this.ctx, this.caller, target, body));
  }

  /** Removes a dashboard. The charts that it showed stay. */
  @Delete('{dashboardId}')
  @Security('caller', ['experiment:manage'])
  public async remove(@Request() request: HttpRequest, @Path() id: string, @Path() dashboardId: string): Promise<null> {
    await removeDashboard(this.ctx, this.caller, { experimentId: id, id: dashboardId, versions: expectedVersions(request) });
    return null;
  }

  private answer({ version, ...dashboard }: VersionedDashboard): Dashboard {
    return tagged(this.response, dashboard, version);
  }
}
