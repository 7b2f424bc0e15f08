import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Queries, Request, Route, Security, Tags } from '@tsoa/runtime';
import { capabilitiesOf } from '../../authorization/access.ts';
import { errors } from '../../errors.ts';
import { COUNT_LIMIT, expectedVersions, listed, tagged } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type {
  Experiment,
  ExperimentAccess,
  ExperimentPatch,
  ExperimentStatus,
  ListScope,
  VisibilityPatch,
  VisibilityState,
} from './experiments.model.ts';
import { countExperiments, findExperiment, listExperiments } from './experiments.queries.ts';
import { patchExperiment, removeExperiment, setVisibility } from './experiments.service.ts';

interface ExperimentListQuery {
  /**
   * Deprecated: `member` is an old name of `scope=related`.
   */
  filter?: 'member';
  /** `all`: everything that you may read. `related`: without what you can read only because it is public. */
  scope?: ListScope;
  /** Archived experiments are listed only when asked for. */
  status?: ExperimentStatus;
  /**
   * Part of a name or description; small misspellings are forgiven.
   * @maxLength 200
   */
  search?: string;
  /**
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
}

@Route('api/v1/experiments')
@Tags('Experiments')
export class ExperimentsController extends ApiController {
  /** Lists experiments, last changed first; with `search`, best match first. X-Total-Count counts them and Link leads to the other pages. */
  @Get()
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: ExperimentListQuery): Promise<Experiment[]> {
    const page = { page: query.page ?? 1, pageSize: query.pageSize ?? 100 };
    const filter = {
      userId: this.caller.userId,
      scope: query.scope ?? (query.filter === 'member' ? 'related' : 'all'),
      status: query.status,
      search: query.search?.trim() || undefined,
    };
    const most = request.get('prefer') === 'count=exact' ? 100_000_000 : COUNT_LIMIT + 1;
    const [rows, total] = await Promise.all([
      listExperiments(this.ctx.db, filter, { limit: page.pageSize, offset: (page.page - 1) * page.pageSize }),
      countExperiments(this.ctx.db, filter, most),
    ]);
    return listed(request, this.response, { rows, total }, page);
  }

  /** Changes what is given; absent fields keep their value. An archived experiment takes nothing but a new status. */
  @Patch('{id}')
  @Security('caller', ['experiment:update'])
  public async update(@Request() request: HttpRequest, @Path() id: string, @Body() body: ExperimentPatch): Promise<Experiment> {
    const { version, ...experiment } = await patchExperiment(this.ctx, this.caller, id, body, expectedVersions(request));
    return tagged(this.response, experiment, version);
  }

  /** Deletes an experiment. Nothing shows it from then on; its data are removed in the background (`X-Erasure-Id` names the report). */
  @Delete('{id}')
  @Security('caller', ['experiment:manage'])
  public async remove(@Request() request: HttpRequest, @Path() id: string): Promise<null> {
    this.setHeader('X-Erasure-Id', await removeExperiment(this.ctx, this.caller, id, expectedVersions(request)));
    return null;
  }

  /** The experiment, and what you may do with it. */
  @Get('{id}/access')
  @Security('caller', ['experiment:read'])
  public async access(@Path() id: string): Promise<ExperimentAccess> {
    const [found, capabilities] = await Promise.all([
      findExperiment(this.ctx.db, id),
      capabilitiesOf(this.ctx.db, this.caller.userId, 'experiment', id),
    ]);
    if (!found) throw errors.resourceNotFound('experiment');
    const { version, ...experiment } = found;
    return tagged(this.response, { experiment, hasAccess: true, isAdmin: capabilities.canManage, capabilities }, version);
  }

  /** Makes an experiment public. There is no way back. */
  @Patch('{id}/visibility')
  @Security('caller', ['experiment:manage'])
  public async publish(@Path() id: string, @Body() body: VisibilityPatch): Promise<VisibilityState> {
    return setVisibility(this.ctx, this.caller, id, body.visibility);
  }
}
