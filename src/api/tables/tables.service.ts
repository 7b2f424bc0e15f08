import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import { removeLog } from '../../lakehouse/tables/delta/publisher.ts';
import { deleteTable, eraseForgotten, findTable, lockTable } from '../../lakehouse/tables/manifest.ts';
import type { LockedTable } from '../../lakehouse/tables/manifest-rows.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { requireWritable } from '../experiments/experiments.service.ts';
import { eraseUnplacedFiles } from '../uploads/uploads.service.ts';

export const ERASE_TABLE = 'tables.erase';
/** So long after a table was removed, no read still opens its files: a download ends after ten minutes. */
const READ_SECONDS = 900;

/** What a removed table has left. Its log, by which readers find it, goes at once. Its files go when no read needs them any more. */
export interface ErasedTable {
  experimentId: string;
  tableId: string;
  part: 'log' | 'files';
}

/** Locks an upload table, so that nobody else writes it until the transaction ends. Errors: tableNotFound, tableNotUploaded. */
export async function lockUploadTable(tx: Transaction, experimentId: string, tableId: string): Promise<LockedTable> {
  const found = await findTable(tx, experimentId, tableId.toLowerCase());
  if (found && found.kind !== 'upload') throw errors.tableNotUploaded(found.identifier);
  const table = found && (await lockTable(tx, found.id));
  if (!table) throw errors.tableNotFound(tableId);
  return table;
}

/** Removes an upload table. The table is gone when this settles; jobs then remove what the lake holds of it. Errors: archived, not found, of another kind. */
export async function removeTable(ctx: Context, caller: Caller, experimentId: string, tableId: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    const table = await lockUploadTable(tx, experimentId, tableId);
    await deleteTable(tx, table.id);
    const details = { tableId: table.id, name: table.name, rows: table.rowCount, version: table.version };
    await auditExperiment(tx, caller, experimentId, 'table.deleted', details);
    const left = (part: ErasedTable['part']): ErasedTable => ({ experimentId, tableId: table.id, part });
    await ctx.jobs.enqueue(ERASE_TABLE, left('log'), { tx, key: `${table.id} log` });
    await ctx.jobs.enqueue(ERASE_TABLE, left('files'), { tx, key: `${table.id} files`, startAfterSeconds: READ_SECONDS });
  });
}

/** Removes one part of what a removed table has left. After a crash it runs again and removes the rest. */
export async function eraseTable(ctx: Context, { experimentId, tableId, part }: ErasedTable): Promise<void> {
  const table = { id: tableId, experimentId };
  if (part === 'log') await removeLog(ctx, table);
  else {
    await eraseForgotten(ctx, table);
    await eraseUnplacedFiles(ctx, experimentId);
    await ctx.lakeFiles.tidy();
  }
}
