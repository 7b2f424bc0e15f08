import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { isAllowed } from '../../authorization/access.ts';
import { openTable, setRealNames, type OpenTable } from '../../authorization/tables.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Slice } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { canBeRounded } from '../../lakehouse/ask/operands.ts';
import { planRead } from '../../lakehouse/plan/planner.ts';
import { readRequest, type ReadParameters } from '../../lakehouse/ask/request.ts';
import { printObjectKey } from '../../storage/objects.ts';
import { openSource } from '../data/data.service.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { blameBody } from '../input/input.service.ts';
import type { Export, ExportProgress, ExportStarted, ExportStatus, NewExport } from './exports.model.ts';
import {
  cancelExport,
  countExports,
  countOpen,
  deleteExport,
  deleteExportsOf,
  findExport,
  insertExport,
  listExports,
  listExportsToErase,
  lockNewExports,
  sumKept,
  type ExportRow,
  type NamesPolicy,
} from './exports.queries.ts';

export const WRITE_EXPORT = 'exports.write';

/** Prints the object key of one attempt. Every attempt to write an export makes an object of its own. */
export const printExportKey = (exportId: string, attempt: number): string => printObjectKey('exports', exportId, String(attempt));

/** Writes a whole number that may have been rounded with an exponent: without one a read would take it for exact. */
const writeNumber = (_key: string, value: unknown): unknown => (canBeRounded(value) ? JSON.rawJSON(value.toExponential()) : value);

const asText = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : typeof value === 'string' ? value : JSON.stringify(value, writeNumber);

/** The parameters that a read of the same query would be sent. */
const parametersOf = (body: NewExport): ReadParameters => ({
  columns: asText(body.columns),
  filters: asText(body.filters),
  aggregation: asText(body.aggregation),
  orderBy: body.orderBy,
  orderDirection: body.orderDirection,
  limit: body.limit,
});

/**
 * Decides which names go into the file: those that the experiment shows, unless the caller asks for pseudonyms or, with `manage`, for real names. Errors:
 * namesDenied.
 */
async function namesFor(ctx: Context, caller: Caller, table: OpenTable, anonymise: boolean | undefined): Promise<NamesPolicy> {
  if (anonymise === false) {
    await setRealNames(ctx.db, caller.userId, table);
    return 'real_by_manager';
  }
  return anonymise === true || table.scope.anonymised ? 'pseudonyms' : 'real';
}

/** How many exports of one person may be unfinished. */
const MOST_OPEN = 100;
const GIGABYTE = 1_073_741_824;

/** Refuses to write more for whoever keeps as many bytes as one person may. Errors: exportsFull. */
export async function requireRoom(ctx: Context, db: Queryable, personId: string): Promise<void> {
  const { keptGigabytes } = ctx.config.exports;
  if ((await sumKept(db, personId)) >= keptGigabytes * GIGABYTE) throw errors.exportsFull(`${keptGigabytes} GB of exported files`);
}

/** Puts an export in the queue. Refuses at once what a read of the same query would refuse. Errors: namesDenied, tableVersionGone, exportsFull. */
export async function startExport(ctx: Context, caller: Caller, table: OpenTable, body: NewExport): Promise<ExportStarted> {
  const names = await namesFor(ctx, caller, table, body.anonymizeContributors);
  const query = parametersOf(body);
  const source = await openSource(ctx, table, body.asOf);
  await blameBody(() => planRead(source, readRequest(query), null));
  const exportId = randomUUIDv7();
  return ctx.db.transaction(async (tx) => {
    const row = {
      id: exportId,
      experimentId: table.experimentId,
      tableIdentifier: table.identifier,
      tableName: body.tableName,
      tableVersion: Number(source.version),
      format: body.format,
      query,
      raw: body.raw ?? false,
      names,
      createdBy: caller.userId,
    };
    await lockNewExports(tx, caller.userId);
    if ((await countOpen(tx, caller.userId)) >= MOST_OPEN) throw errors.exportsFull(`${MOST_OPEN} exports that are not finished`);
    await requireRoom(ctx, tx, caller.userId);
    if ((await insertExport(tx, row)) === 0) throw errors.resourceNotFound('experiment');
    const details = { exportId, tableId: table.identifier, format: body.format, names };
    await auditExperiment(tx, caller, table.experimentId, 'export.created', details);
    await ctx.jobs.enqueue(WRITE_EXPORT, { exportId }, { tx, key: exportId });
    return caller.created(tx, { status: 'queued', exportId });
  });
}

const shown = (row: ExportRow, caller: Caller, table: OpenTable): Export => ({
  exportId: row.exportId,
  experimentId: row.experimentId,
  tableName: row.tableName,
  format: row.format,
  status: row.status,
  filePath: row.status === 'completed' && !row.isExpired ? `/api/v1/experiments/${row.experimentId}/data/exports/${row.exportId}` : null,
  rowCount: row.rowCount,
  fileSize: row.fileSize,
  createdBy: table.scope.anonymised && row.createdBy !== caller.userId ? null : row.createdBy,
  createdAt: row.createdAt,
  completedAt: row.completedAt,
});

const progressOf = ({ percentDone, rowsDone, bytesDone, rowsTotal }: ExportRow): ExportProgress => ({
  percent: percentDone,
  rows: rowsDone,
  bytes: bytesDone,
  totalRows: rowsTotal,
});

/** Exports of a table, newest first, and how many there are. */
export async function loadExports(
  ctx: Context,
  caller: Caller,
  table: OpenTable,
  page: Slice,
  most: number,
): Promise<{ rows: Export[]; total: number }> {
  const asked = { experimentId: table.experimentId, tableIdentifier: table.identifier };
  const [rows, total] = await Promise.all([listExports(ctx.db, asked, page), countExports(ctx.db, asked, most)]);
  return { rows: rows.map((row) => shown(row, caller, table)), total };
}

interface ExportPath {
  experimentId: string;
  exportId: string;
}

/** An export of a table that the caller may read now. Errors: exportNotFound, tableDenied. */
async function opened(ctx: Context, caller: Caller, { experimentId, exportId }: ExportPath): Promise<{ row: ExportRow; table: OpenTable }> {
  const row = (await findExport(ctx.db, experimentId, exportId)) ?? refuse(errors.exportNotFound());
  return { row, table: await openTable(ctx.db, caller.userId, experimentId, row.tableIdentifier) };
}

export async function loadExportStatus(ctx: Context, caller: Caller, path: ExportPath): Promise<ExportStatus> {
  const { row, table } = await opened(ctx, caller, path);
  return {
    ...shown(row, caller, table),
    progress: progressOf(row),
    errorMessage: row.reason,
    anonymizeContributors: row.names === 'pseudonyms',
    tableVersion: row.tableVersion,
    expiresAt: row.expiresAt,
  };
}

/**
 * Finds the file of an export, for a caller who may read the table now. Once the experiment is anonymised, a file with real names goes to nobody. The exception
 * is a file that was made to hold them: it goes to callers with `manage`. Errors: exportNotReady, exportFailed, exportCancelled, exportExpired,
 * exportWithdrawn, namesDenied.
 */
export async function openExport(ctx: Context, caller: Caller, path: ExportPath) {
  const { row, table } = await opened(ctx, caller, path);
  if (row.status === 'failed') throw errors.exportFailed(row.reason ?? 'no reason is known.');
  if (row.status === 'cancelled') throw errors.exportCancelled();
  if (row.status !== 'completed')
    throw errors.exportNotReady().with({ retryAfter: 2, members: { exportStatus: row.status, progress: progressOf(row) } });
  if (row.isExpired) throw errors.exportExpired();
  if (table.scope.anonymised && row.names === 'real') throw errors.exportWithdrawn();
  if (table.scope.anonymised && row.names === 'real_by_manager') await setRealNames(ctx.db, caller.userId, table);
  const { objectKey: key, fileSize, sha256, fileName, completedAt } = row;
  if (key === null || fileSize === null || sha256 === null || fileName === null || completedAt === null)
    throw errors.internal().with({ cause: new Error('a completed export lacks its file') });
  return { objectKey: key, byteCount: fileSize, sha256, fileName, format: row.format, completedAt };
}

/** Deletes the objects that attempts have written, except `keep`. Answers how many bytes they held. */
export async function removeObjects(ctx: Context, exportId: string, keep?: string): Promise<number> {
  let bytes = 0;
  for await (const { key, byteCount } of ctx.objects.list(`${printObjectKey('exports', exportId)}/`))
    if (key !== keep && (await ctx.objects.delete(key))) bytes += byteCount;
  return bytes;
}

/** Cancels an unfinished export, or removes a finished one with its file. Exports of other people need `manage`. Errors: exportNotFound, exportNotYours. */
export async function removeExport(ctx: Context, caller: Caller, path: ExportPath): Promise<void> {
  const { row, table } = await opened(ctx, caller, path);
  if (row.createdBy !== caller.userId && !(await isAllowed(ctx.db, caller.userId, 'experiment', path.experimentId, 'manage')))
    throw errors.exportNotYours();
  const event = {
    organizationId: table.organizationId,
    resource: { type: 'experiment', id: path.experimentId },
    details: { exportId: row.exportId },
  };
  const isCancelled = await ctx.db.transaction(async (tx) => {
    if ((await cancelExport(tx, row.exportId)) === 0) return false;
    await audit(tx, caller, { action: 'export.cancelled', ...event });
    return true;
  });
  if (isCancelled) return;
  // the file goes first: a failure in between leaves the row, by which it is removed again
  await removeObjects(ctx, row.exportId);
  await ctx.db.transaction(async (tx) => {
    if ((await deleteExport(tx, row.exportId)) === 0) throw errors.exportNotFound();
    await audit(tx, caller, { action: 'export.deleted', ...event });
  });
}

/** Removes the exports of a deleted experiment with their files. */
export async function eraseExports(ctx: Context, experimentId: string): Promise<{ rows: number; bytes: number }> {
  let bytes = 0;
  for (const exportId of await listExportsToErase(ctx.db, experimentId)) {
    bytes += await removeObjects(ctx, exportId);
    await ctx.objects.erase(`${printObjectKey('exports', exportId)}/`);
  }
  return { rows: await deleteExportsOf(ctx.db, experimentId), bytes };
}
