import { Body, Delete, Get, Path, Post, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { NewMacroRun, NewReprocess, Reprocess } from './macro-runs.model.ts';
import { loadReprocesses, reprocessOf, startMacroRun, startReprocess, stopMacroRuns } from './macro-runs.service.ts';

@Route('api/v1/experiments/{id}/data/macros/{macroId}/reprocess')
@Tags('Macros')
export class MacroRunsController extends ApiController {
  /**
   * Only for owners and admins of the experiment. Runs the macro, with its code as it is now, over every measurement of the experiment that names it
   * or has a result of it. Its rows keep their ids and change batch by batch; measurements that arrive meanwhile are run as ever. A macro that was
   * withheld and that you may read is allowed by it. Refused with MACRO_NOT_USABLE (404) when there is none that the experiment may run,
   * REPROCESS_RUNNING while it is run already, and EXPERIMENT_ARCHIVED (409).
   * @summary Run a macro again over its measurements
   */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async startReprocess(@Path() id: string, @Path() macroId: string, @Body() body: NewReprocess): Promise<Reprocess> {
    return startReprocess(this.ctx, this.caller, { experimentId: id, macroId, body });
  }

  /**
   * For everybody who may read the experiment. Answers the last 100 requests to run the macro over measurements of the experiment, newest first.
   * @summary List the runs of a macro
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async listReprocesses(@Path() id: string, @Path() macroId: string): Promise<Reprocess[]> {
    return loadReprocesses(this.ctx, this.caller, id, macroId);
  }

  /**
   * For everybody who may read the experiment. Answers one request, and how far it is.
   * @summary Follow a run of a macro
   * @param reprocessId Request to run the macro, by its UUID.
   */
  @Get('{reprocessId}')
  @Security('caller', ['experiment:read'])
  public async getReprocess(@Path() id: string, @Path() macroId: string, @Path() reprocessId: string): Promise<Reprocess> {
    return reprocessOf(this.ctx, this.caller, { experimentId: id, macroId, id: reprocessId });
  }
}

@Route('api/v1/experiments/{id}/macros/{macroId}/run')
@Tags('Macros')
export class MacroCampaignsController extends ApiController {
  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. You must be able to read the macro. It
   * runs over measurements whether they name it or not: all, or those that match `filters`; with `onNew` on those that are to come as well. Owners
   * and admins allow a macro in the experiment by this, once for all; for others, `onNew` with a macro that is not open to all refuses with
   * MACRO_NOT_ALLOWED (403). How far it is, `GET …/data/macros/{macroId}/reprocess/{id}` tells; the rows are in the macro's table. Refused with
   * MACRO_NOT_USABLE (404), REPROCESS_RUNNING and EXPERIMENT_ARCHIVED (409).
   * @summary Run a macro over chosen measurements
   */
  @Post()
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(201, 'Created')
  public async startMacroRun(@Path() id: string, @Path() macroId: string, @Body() body: NewMacroRun): Promise<Reprocess> {
    return startMacroRun(this.ctx, this.caller, { experimentId: id, macroId, body });
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. What the macro has made stays. One that
   * does not run on new measurements answers MACRO_NOT_ON_NEW (404). An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Stop running a macro on new measurements
   */
  @Delete()
  @Security('caller', ['experiment:contribute'])
  public async stopMacroRun(@Path() id: string, @Path() macroId: string): Promise<null> {
    return stopMacroRuns(this.ctx, this.caller, id, macroId.toLowerCase());
  }
}
