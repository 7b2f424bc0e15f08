import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { ERASE_EXPERIMENT } from '../experiments/experiments.service.ts';
import { eraseStores } from './erasure.service.ts';

/** Removes what every store holds of a deleted experiment, and reports it. */
export const eraseExperiment = (ctx: Context): JobHandler => ({
  name: ERASE_EXPERIMENT,
  retries: 20,
  run: (payload) => eraseStores(ctx, (payload as { erasureId: string }).erasureId),
});
