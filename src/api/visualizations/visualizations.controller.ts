import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Query, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors } from '../../errors.ts';
import { expectedVersions, tagged, windowed } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { namingOf } from '../experiments/pseudonym.service.ts';
import type { ChartFamily, NewVisualization, Visualization, VisualizationPatch } from './visualizations.model.ts';
import { countVisualizations, findVisualization, listVisualizations, type VersionedVisualization } from './visualizations.queries.ts';
import { createVisualization, patchVisualization, removeVisualization } from './visualizations.service.ts';

@Route('api/v1/experiments/{id}/visualizations')
@Tags('Visualizations')
export class VisualizationsController extends ApiController {
  /**
   * The charts of an experiment, newest first.
   * @isInt limit
   * @minimum limit 0
   * @maximum limit 100
   * @isInt offset
   * @minimum offset 0
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async list(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Query() chartFamily?: ChartFamily,
    @Query() limit = 50,
    @Query() offset = 0,
  ): Promise<Visualization[]> {
    const filter = { experimentId: id, chartFamily };
    const [named, rows, total] = await Promise.all([
      namingOf(this.ctx, this.caller, id),
      listVisualizations(this.ctx.db, filter, { limit, offset }),
      countVisualizations(this.ctx.db, filter),
    ]);
    return windowed(request, this.response, { rows: rows.map(named), total }, { limit, offset });
  }

  /**
   * Adds a chart. Columns without a name make it a draft; once all are named, their roles must be ones that the chart type has, single
   * ones at most once, and from one table.
   */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async create(@Path() id: string, @Body() body: NewVisualization): Promise<Visualization> {
    this.setStatus(201);
    return this.answer(await createVisualization(this.ctx, this.caller, id, body));
  }

  /** One chart. */
  @Get('{visualizationId}')
  @Security('caller', ['experiment:read'])
  public async get(@Path() id: string, @Path() visualizationId: string): Promise<Visualization> {
    const found = await findVisualization(this.ctx.db, id, visualizationId);
    if (!found) throw errors.visualizationNotFound();
    const named = await namingOf(this.ctx, this.caller, id);
    return this.answer(named(found));
  }

  /** Changes what is given; absent fields keep their value. */
  @Patch('{visualizationId}')
  @Security('caller', ['experiment:manage'])
  public async update(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Path() visualizationId: string,
    @Body() body: VisualizationPatch,
  ): Promise<Visualization> {
    const target = { experimentId: id, id: visualizationId, versions: expectedVersions(request) };
    return this.answer(await patchVisualization(this.ctx, this.caller, target, body));
  }

  /** Removes a chart. Dashboards that show it keep an empty place. */
  @Delete('{visualizationId}')
  @Security('caller', ['experiment:manage'])
  public async remove(@Request() request: HttpRequest, @Path() id: string, @Path() visualizationId: string): Promise<null> {
    await removeVisualization(this.ctx, this.caller, { experimentId: id, id: visualizationId, versions: expectedVersions(request) });
    return null;
  }

  private answer({ version, ...visualization }: VersionedVisualization): Visualization {
    return tagged(this.response, visualization, version);
  }
}
