import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { deletePending } from './newsletter.queries.ts';
import { CONFIRM_DAYS } from './newsletter.service.ts';

/** Every night: forgets addresses that never confirmed. */
export const forgetUnconfirmedJob = (ctx: Context): JobHandler => ({
  name: 'newsletter.forget',
  schedule: '20 0 * * *',
  run: () => deletePending(ctx.db, CONFIRM_DAYS),
});
