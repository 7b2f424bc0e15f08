import { deleteExpired } from '../../auth/sessions.ts';
import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';

/** Every quarter of an hour: clears away expired sessions, codes, ceremonies and budgets. */
export const sweepJob = (ctx: Context): JobHandler => ({
  name: 'account.sweep',
  schedule: '*/15 * * * *',
  run: () => deleteExpired(ctx.db),
});
