import { Body, Delete, Get, Path, Post, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { NewMacroRun, NewReprocess, Reprocess } from './macro-runs.model.ts';
import { reprocessesOf, reprocessOf, startMacroRun, startReprocess, stopMacroRuns } from './macro-runs.service.ts';

@Route('api/v1/experiments/{id}/data/macros/{macroId}/reprocess')
@Tags('Data')
export class MacroRunsController extends ApiController {
  /**
   * Runs a macro again, with its code as it is now, over every measurement of the experiment that names it. Its rows keep their ids and change batch by batch. Measurements
   * that arrive meanwhile are run as ever.
   */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async start(@Path() id: string, @Path() macroId: string, @Body() body: NewReprocess): Promise<Reprocess> {
    this.setStatus(201);
    return startReprocess(this.ctx, this.caller, { experimentId: id, macroId, body });
  }

  /** The last requests to run a macro again, newest first. */
  @Get()
  @Security('caller', ['experiment:read'])
  public async list(@Path() id: string, @Path() macroId: string): Promise<Reprocess[]> {
    return reprocessesOf(this.ctx, id, macroId);
  }

  /** One request, and how far it is. */
  @Get('{reprocessId}')
  @Security('caller', ['experiment:read'])
  public async get(@Path() id: string, @Path() macroId: string, @Path() reprocessId: string): Promise<Reprocess> {
    return reprocessOf(this.ctx, id, macroId, reprocessId);
  }
}

@Route('api/v1/experiments/{id}/macros/{macroId}/run')
@Tags('Data')
export class MacroCampaignsController extends ApiController {
  /**
   * Runs a macro that you may read over measurements of the experiment, whether they name it or not: all, or those that match `filters`. With `onNew` it runs on
   * measurements that are to come as well. A macro that the experiment could not run so far is allowed there by whoever manages it. How far it is, `GET
   * …/data/macros/{macroId}/reprocess/{id}` tells; the rows are in the macro's table.
   */
  @Post()
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(201, 'Created')
  public async start(@Path() id: string, @Path() macroId: string, @Body() body: NewMacroRun): Promise<Reprocess> {
    this.setStatus(201);
    return startMacroRun(this.ctx, this.caller, { experimentId: id, macroId, body });
  }

  /** Ends the running of a macro on measurements that are to come. What it has made stays. */
  @Delete()
  @Security('caller', ['experiment:contribute'])
  public async stop(@Path() id: string, @Path() macroId: string): Promise<null> {
    return stopMacroRuns(this.ctx, this.caller, id, macroId.toLowerCase());
  }
}
