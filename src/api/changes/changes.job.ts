import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { forgetChanges } from './changes.queries.ts';
import { KEPT_HOURS } from './feed.service.ts';

/** Every quarter of an hour: forgets changes that no listener can resume from any more. */
export const forgetChangesJob = (ctx: Context): JobHandler => ({
  name: 'changes.forget',
  schedule: '*/15 * * * *',
  run: () => forgetChanges(ctx.db, KEPT_HOURS),
});
