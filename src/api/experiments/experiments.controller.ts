import { Body, Delete, Get, Patch, Path, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { loadCapabilities } from '../../authorization/access.ts';
import { errors } from '../../errors.ts';
import { readPageQuery } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { PageQuery } from '../resources/resources.model.ts';
import { makeFilter } from '../resources/resources.service.ts';
import type {
  Experiment,
  ExperimentAccess,
  ExperimentPatch,
  ExperimentStatus,
  ListScope,
  Visibility,
  VisibilityPatch,
  VisibilityState,
} from './experiments.model.ts';
import { countExperiments, findExperiment, hasFlow, listExperiments } from './experiments.queries.ts';
import { patchExperiment, removeExperiment, setVisibility } from './experiments.service.ts';

interface ExperimentListQuery extends PageQuery {
  /** Deprecated: `member` is an old name of `scope=related`. */
  filter?: 'member';
  /** `all`: everything that you may read. `related`: without what you can read only because it is public. `all` by default. */
  scope?: ListScope;
  /** Only experiments in this state. Without it, all but archived ones. */
  status?: ExperimentStatus;
  /** Only public experiments, or only private ones; one is public once its embargo has ended. */
  visibility?: Visibility;
  /** `me`: only experiments that you made yourself. */
  createdBy?: 'me';
  /**
   * Part of a name or description, at most 200 characters; small misspellings are forgiven.
   * @maxLength 200
   */
  search?: string;
}

@Route('api/v1/experiments')
@Tags('Experiments')
export class ExperimentsController extends ApiController {
  /**
   * Answers the experiments that you may read, last changed first; with `search`, best match first. Archived ones come only with `status=archived`.
   * X-Total-Count says how many there are, exactly up to 10,000 or with `Prefer: count=exact`, and Link leads to the other pages.
   * @summary List the experiments you may read
   */
  @Get()
  @Security('caller')
  public async listExperiments(@Queries() query: ExperimentListQuery): Promise<Experiment[]> {
    const page = readPageQuery(query);
    const { status, visibility, createdBy } = query;
    const filter = { ...makeFilter(this.caller.userId, query), status, visibility, createdBy };
    return this.answerPage(page, listExperiments(this.ctx.db, filter, page), countExperiments(this.ctx.db, filter, this.countLimit));
  }

  /**
   * Only for owners and admins of the experiment. Fields that are left out keep their value; `locations` replaces all places. An archived experiment
   * takes nothing but a new `status` and refuses the rest with EXPERIMENT_ARCHIVED (409). An embargo outside tomorrow to 365 days refuses with
   * EMBARGO_OUT_OF_RANGE (400), and one on a public experiment with EMBARGO_NOT_EDITABLE (409). With `If-Match`, a newer version refuses with
   * PRECONDITION_FAILED (412).
   * @summary Change an experiment
   */
  @Patch('{id}')
  @Security('caller', ['experiment:update'])
  public async updateExperiment(@Path() id: string, @Body() body: ExperimentPatch): Promise<Experiment> {
    return this.answer(await patchExperiment(this.ctx, this.caller, this.readTarget({ id }), body));
  }

  /**
   * Only for owners and admins of the experiment. Nothing shows it from then on; its data are removed in the background, and the header
   * `X-Erasure-Id` names the report that says what was removed. There is no way back. With `If-Match`, a newer version refuses with
   * PRECONDITION_FAILED (412).
   * @summary Delete an experiment
   */
  @Delete('{id}')
  @Security('caller', ['experiment:manage'])
  public async deleteExperiment(@Path() id: string): Promise<null> {
    this.setHeader('X-Erasure-Id', await removeExperiment(this.ctx, this.caller, this.readTarget({ id })));
    return null;
  }

  /**
   * For everybody who may read the experiment. Answers the experiment with its places, whether it has a flow, and which actions are open to you. The
   * answer is a hint for what to show; every operation decides for itself.
   * @summary Read an experiment and what you may do
   */
  @Get('{id}/access')
  @Security('caller', ['experiment:read'])
  public async getExperimentAccess(@Path() id: string): Promise<ExperimentAccess> {
    const [found, capabilities, withFlow] = await Promise.all([
      findExperiment(this.ctx.db, id),
      loadCapabilities(this.ctx.db, this.caller.userId, 'experiment', id),
      hasFlow(this.ctx.db, id),
    ]);
    if (!found) throw errors.resourceNotFound('experiment');
    const { version, ...experiment } = found;
    return this.answer({ experiment, hasAccess: true, hasFlow: withFlow, isAdmin: capabilities.canManage, capabilities, version });
  }

  /**
   * Only for owners and admins of the experiment. Everybody who is signed in may then read it. There is no way back: `private` for a public
   * experiment refuses with VISIBILITY_NOT_MONOTONIC (409). The value that it has already is no change. With `If-Match`, a newer version refuses with
   * PRECONDITION_FAILED (412).
   * @summary Make an experiment public
   */
  @Patch('{id}/visibility')
  @Security('caller', ['experiment:manage'])
  public async setExperimentVisibility(@Path() id: string, @Body() body: VisibilityPatch): Promise<VisibilityState> {
    return setVisibility(this.ctx, this.caller, this.readTarget({ id }), body.visibility);
  }
}
