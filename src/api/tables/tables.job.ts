import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { carryOut, CHANGE_COLUMN } from './columns.service.ts';
import { ERASE_TABLE, eraseTable, type ErasedTable } from './tables.service.ts';

/**
 * Removes from the lake what deleted tables have left there. Nothing else knows of such a table any more, so its job is the row that says what is still to be
 * erased: it is committed with the removal, outlives every process, and stays until it is done.
 */
export const eraseTableJob = (ctx: Context): JobHandler => ({
  name: ERASE_TABLE,
  retries: 'until-done',
  run: (payload) => eraseTable(ctx, payload as ErasedTable),
});

/** Changes names and types of columns. Runs again after a crash, and then begins anew. What fails often enough ends itself. */
export const changeColumnJob = (ctx: Context): JobHandler => ({
  name: CHANGE_COLUMN,
  retries: 'until-done',
  run: (payload, signal) => carryOut(ctx, (payload as { changeId: string }).changeId, signal),
});
