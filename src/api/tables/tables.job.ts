import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { ERASE_TABLE, eraseTable, type ErasedTable } from './tables.service.ts';

/** Removes what removed tables have left in the lake. */
export const eraseTableJob = (ctx: Context): JobHandler => ({
  name: ERASE_TABLE,
  retries: 20,
  run: (payload) => eraseTable(ctx, payload as ErasedTable),
});
