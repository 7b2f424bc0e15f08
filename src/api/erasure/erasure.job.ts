import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { ERASE_EXPERIMENT } from '../experiments/experiments.service.ts';
import { eraseStores, wakeErasures } from './erasure.service.ts';

/** Removes what every store holds of a deleted experiment, and reports it. */
export const eraseExperiment = (ctx: Context): JobHandler => ({
  name: ERASE_EXPERIMENT,
  retries: 20,
  run: (payload) => eraseStores(ctx, (payload as { erasureId: string }).erasureId),
});

/** Takes up erasures whose jobs have failed for good, as when a store could not be reached for longer than the job was tried. */
export const wakeErasuresJob = (ctx: Context): JobHandler => ({
  name: 'experiments.wake-erasures',
  schedule: '17 * * * *',
  run: () => wakeErasures(ctx),
});
