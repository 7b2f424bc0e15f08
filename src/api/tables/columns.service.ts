import { randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { retryUntil } from '../../database/retry.ts';
import { ApiError, errors, isRefusal, refuse } from '../../errors.ts';
import { isAround } from '../../ingest/around.ts';
import { changeColumn, findTarget, type ColumnOrder } from '../../ingest/uploads/column-changes.ts';
import { FileRefused } from '../../ingest/record-writer.ts';
import { listColumnsAt } from '../../lakehouse/tables/manifest.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { requireWritable } from '../experiments/experiments.service.ts';
import { refuseBody } from '../input/input.service.ts';
import type { ColumnChange, ColumnPatch } from './tables.model.ts';
import {
  completeColumnChange,
  excuseColumnChange,
  failColumnChange,
  findColumnChange,
  insertColumnChange,
  moveColumnChange,
  startColumnChange,
  type ColumnChangeRow,
} from './tables.queries.ts';
import { lockUploadTable } from './tables.service.ts';

export const CHANGE_COLUMN = 'tables.change-column';
/** How often a change is begun at most, but for the tries that the end of the process or something around it ended. */
const MOST_TRIES = 8;

const shown = (row: ColumnChangeRow): ColumnChange => ({
  id: row.id,
  experimentId: row.experimentId,
  uploadTableId: row.uploadTableId,
  column: row.column,
  ...(row.name === null ? {} : { name: row.name }),
  ...(row.type === null ? {} : { type: row.type }),
  status: row.status,
  totalRows: row.totalRows,
  doneRows: row.doneRows,
  ...(row.report === null
    ? {}
    : { report: { ...row.report, oddExamples: row.report.oddExamples ? [...row.report.oddExamples] : undefined } }),
  ...(row.errorMessage === null ? {} : { errorMessage: row.errorMessage }),
  createdAt: row.createdAt,
  ...(row.startedAt === null ? {} : { startedAt: row.startedAt }),
  ...(row.completedAt === null ? {} : { completedAt: row.completedAt }),
});

/**
 * Asks for a new name or type of a column of an upload table. Errors: archived, no such table or column, a table of another kind, a column that every upload
 * table has, the name taken, a column of the table being changed already.
 */
export async function orderColumnChange(
  ctx: Context,
  caller: Caller,
  { experimentId, tableId, column }: { experimentId: string; tableId: string; column: string },
  patch: ColumnPatch,
): Promise<ColumnChange> {
  const { name, type, decimal, dateOrder } = patch;
  if (name === undefined && type === undefined) throw refuseBody([{ path: '', message: 'must have a name or a type' }]);
  return ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    const table = await lockUploadTable(tx, experimentId, tableId);
    const target = findTarget(await listColumnsAt(tx, table.id, table.version), { column, name, type });
    const id = randomUUIDv7();
    const row = { id, experimentId, uploadTableId: table.id, column: target.column.name, name: name ?? null, type: type ?? null };
    const made = await insertColumnChange(tx, { ...row, reading: { decimal, dateOrder }, createdBy: caller.userId });
    if (!made) throw errors.columnChangeRunning();
    const details = { tableId: table.id, changeId: id, column: row.column, name, type };
    await auditExperiment(tx, caller, experimentId, 'table.column-changed', details);
    await ctx.jobs.enqueue(CHANGE_COLUMN, { changeId: id }, { tx, key: id });
    return caller.created(tx, shown(made));
  });
}

/** Loads one change with its progress and report. Errors: not found. */
export async function loadColumnChange(ctx: Context, experimentId: string, tableId: string, id: string): Promise<ColumnChange> {
  const found = (await findColumnChange(ctx.db, experimentId, tableId, id)) ?? refuse(errors.columnChangeNotFound());
  return shown(found);
}

/** Why another try would fail too, as a sentence; undefined when it may succeed. */
const finalReason = (error: unknown): string | undefined =>
  error instanceof FileRefused || (error instanceof ApiError && error.status < 500 && !isRefusal(error, 'sourceChanged'))
    ? error.message
    : undefined;

/** Carries a change out, in one version of the table. Runs again after a crash, and then begins anew. */
export async function carryOut(ctx: Context, changeId: string, signal: AbortSignal): Promise<void> {
  const change = await startColumnChange(ctx.db, changeId);
  if (!change) return;
  const { uploadTableId, column, name, type, reading, tries } = change;
  const order: ColumnOrder = { ...reading, column, ...(name === null ? {} : { name }), ...(type === null ? {} : { type }) };
  try {
    await changeColumn(ctx, uploadTableId, order, {
      signal,
      onProgress: (rows) => moveColumnChange(ctx.db, changeId, rows),
      onEnd: async (tx, outcome) => {
        // another process has carried it out
        if ((await completeColumnChange(tx, changeId, outcome)) === 0) throw errors.conflict();
      },
    });
  } catch (error) {
    if (signal.aborted || isAround(error)) {
      await retryUntil(signal, () => excuseColumnChange(ctx.db, changeId));
      throw error;
    }
    const reason = finalReason(error) ?? (tries < MOST_TRIES ? undefined : 'The column could not be changed; the table is what it was.');
    if (reason === undefined) throw error;
    ctx.log.warn({ err: error, changeId }, 'a column could not be changed');
    await failColumnChange(ctx.db, changeId, reason);
  }
}
