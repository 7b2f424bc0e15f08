import { Get, Path, Route, Security, Tags } from '@tsoa/runtime';
import { errors, refuse } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type { Erasure } from '../experiments/experiments.model.ts';
import { findErasure } from './erasure.queries.ts';

@Route('api/v1/erasures')
@Tags('Experiments')
export class ErasureController extends ApiController {
  /**
   * Only for whoever deleted the experiment. Answers how far the removal is, and what was removed from where. Anybody else gets ERASURE_NOT_FOUND
   * (404).
   * @summary Follow the removal of a deleted experiment
   * @param erasureId The removal, as the header `X-Erasure-Id` of the deletion named it.
   */
  @Get('{erasureId}')
  @Security('caller')
  public async getErasure(@Path() erasureId: string): Promise<Erasure> {
    return (await findErasure(this.ctx.db, erasureId, this.caller.userId)) ?? refuse(errors.erasureNotFound());
  }
}
