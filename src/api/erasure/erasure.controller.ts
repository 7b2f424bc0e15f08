import { Get, Path, Route, Security, Tags } from '@tsoa/runtime';
import { errors } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type { Erasure } from '../experiments/experiments.model.ts';
import { findErasure } from './erasure.queries.ts';

@Route('api/v1/erasures')
@Tags('Experiments')
export class ErasureController extends ApiController {
  /** How far the removal of a deleted experiment is, and what was removed from where. For who deleted it. */
  @Get('{erasureId}')
  @Security('caller')
  public async get(@Path() erasureId: string): Promise<Erasure> {
    const found = await findErasure(this.ctx.db, erasureId, this.caller.userId);
    if (!found) throw errors.erasureNotFound();
    return found;
  }
}
