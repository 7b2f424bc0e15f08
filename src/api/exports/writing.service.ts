import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '../../auth/audit.ts';
import { openTable, setPseudonyms, setRealNames, type OpenTable } from '../../authorization/tables.ts';
import type { Context } from '../../context.ts';
import { ApiError, errors, isRefusal } from '../../errors.ts';
import { isAround } from '../../ingest/around.ts';
import { countDownload, DOWNLOAD_TYPES, readStream } from '../../lakehouse/read/read.ts';
import { MOST_SHEET_ROWS } from '../../lakehouse/read/spreadsheet.ts';
import { readRequest } from '../../lakehouse/ask/request.ts';
import { openSource } from '../data/data.service.ts';
import { publishEvent } from '../events/events.service.ts';
import { printExportKey, removeObjects, requireRoom, WRITE_EXPORT } from './exports.service.ts';
import {
  beatExport,
  claimExport,
  completeExport,
  failExport,
  findWaiting,
  listExpiring,
  lockExportsOf,
  markExpired,
  releaseExport,
  reopenNamedExports,
  retireNamedExports,
  takeSilentExports,
  type ExportRow,
  type NamesPolicy,
} from './exports.queries.ts';
import { makeFileName } from '../../storage/file-name.ts';

const BEAT_MS = 500;
const MOST_ERRORS = 5;

/** Thrown inside an attempt that is no longer the one that counts: cancelled, removed, or taken over. */
class Overtaken extends Error {}

interface Progress {
  /** Share of the rows, 0 to 1, that the engine has read; null where it does not say. */
  read: number | null;
  rows: number;
  cut: boolean;
  bytes: number;
  totalRows: number | null;
}

/**
 * The progress in percent, with two decimals. Rows are put in order before the first is written, so reading is half of the work where its progress is known.
 */
const percentOf = ({ read, rows, totalRows }: Progress): number => {
  const written = totalRows === null || totalRows === 0 ? 0 : Math.min(1, rows / totalRows);
  return Math.round((read === null ? written : (read + written) / 2) * 10_000) / 100;
};

/**
 * Opens the table as the file may show it. Access is checked again, and an experiment that was anonymised meanwhile gives pseudonyms unless a manager asked for
 * real names.
 */
async function tableOf(ctx: Context, row: ExportRow): Promise<{ table: OpenTable; names: NamesPolicy }> {
  if (row.createdBy === null) throw errors.resourceNotFound('experiment');
  const table = await openTable(ctx.db, row.createdBy, row.experimentId, row.tableIdentifier);
  if (row.names === 'real_by_manager') return { table: await setRealNames(ctx.db, row.createdBy, table), names: row.names };
  if (row.names === 'pseudonyms' || table.scope.anonymised) return { table: setPseudonyms(table), names: 'pseudonyms' };
  return { table, names: row.names };
}

async function* metered(body: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    progress.bytes += chunk.length;
    yield chunk;
  }
}

/** Writes the rows to an object of this attempt and makes the export complete, unless the attempt has been overtaken. */
async function writeFile(ctx: Context, row: ExportRow, progress: Progress, signal: AbortSignal): Promise<void> {
  const { table, names } = await tableOf(ctx, row);
  if (row.createdBy !== null) await requireRoom(ctx, ctx.db, row.createdBy);
  const request = readRequest(row.query);
  // what failed may have been too wide for the engine of exports, which has a quarter of the memory
  const engines = row.errors === 0 ? ctx.exporting : ctx.reads;
  const { warehouse, source } = await engines.choose(await openSource(ctx, table, row.tableVersion), request);
  const options = { signal, tag: row.exportId };
  const counting = countDownload(warehouse, source, request, options).then((total) => (progress.totalRows = total));
  counting.catch(() => undefined);
  if (row.format === 'xlsx' && (await counting) > MOST_SHEET_ROWS) throw errors.sheetFull(await counting, MOST_SHEET_ROWS);
  const onReading = (share: number) => (progress.read = Math.max(progress.read ?? 0, share));
  const { body } = await readStream(warehouse, source, request, {
    ...options,
    format: row.format,
    raw: row.raw,
    seen: progress,
    onReading,
  });
  const key = printExportKey(row.exportId, row.attempt);
  const stored = await ctx.objects.put(key, metered(body, progress), { signal, contentType: DOWNLOAD_TYPES[row.format] });
  const rowCount = await counting;
  if (row.format !== 'parquet' && progress.rows !== rowCount)
    throw new Error(`an export of ${rowCount} rows was written with ${progress.rows}`);
  const at = new Date();
  const fileName = makeFileName(
    { name: table.experimentName, id: row.experimentId },
    { name: table.name ?? table.identifier, id: row.exportId },
    at,
    row.format,
  );
  const made = {
    objectKey: key,
    sha256: stored.sha256,
    fileName,
    rowCount,
    fileSize: stored.byteCount,
    names,
    keepDays: ctx.config.exports.keepDays,
  };
  const isDone = await ctx.db.transaction(async (tx) => {
    if ((await completeExport(tx, row, made)) === 0) return false;
    const facts = { exportId: row.exportId, format: row.format, rows: rowCount, bytes: stored.byteCount };
    await publishEvent(ctx, tx, { kind: 'export.completed', experimentId: row.experimentId, facts });
    await audit(tx, null, {
      action: 'export.completed',
      organizationId: table.organizationId,
      resource: { type: 'experiment', id: row.experimentId },
      details: { exportId: row.exportId, rows: rowCount, bytes: stored.byteCount, names },
    });
    return true;
  });
  if (!isDone) await ctx.objects.delete(key);
  else await removeObjects(ctx, row.exportId, key);
}

/** Records progress twice a second, and ends the attempt when it is no longer the one that counts. */
async function beat(ctx: Context, row: ExportRow, progress: Progress, stop: AbortController): Promise<void> {
  while (!stop.signal.aborted) {
    await sleep(BEAT_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    if (stop.signal.aborted) return;
    const known = await beatExport(ctx.db, row, { ...progress, percent: percentOf(progress) }).catch(() => 1);
    if (known === 0) stop.abort(new Overtaken('the attempt no longer counts'));
  }
}

/** The reason of a failure, in words for people; null where another attempt may succeed. What does not fit the memory may fit it once others are done. */
const reasonOf = (error: unknown, row: ExportRow): string | null => {
  const told = error instanceof ApiError && (isRefusal(error, 'lakeFileUnreadable') || (error.status < 500 && error.status !== 429));
  if (told && !isRefusal(error, 'readTooLarge')) return error.message;
  if (isAround(error) || row.errors + 1 < MOST_ERRORS) return null;
  return told ? error.message : 'It could not be written after several attempts.';
};

const fail = (ctx: Context, row: ExportRow, reason: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    if ((await failExport(tx, row, reason)) === 0) return;
    const facts = { exportId: row.exportId, format: row.format };
    await publishEvent(ctx, tx, { kind: 'export.failed', experimentId: row.experimentId, facts });
  });

/**
 * Makes one attempt at an export. Does nothing when another attempt is running, when the export has ended, or when its creator has as many running as are
 * allowed.
 */
export async function writeExport(ctx: Context, exportId: string, signal: AbortSignal): Promise<void> {
  const row = await ctx.db.transaction(async (tx) => {
    await lockExportsOf(tx, exportId);
    return claimExport(tx, exportId, ctx.config.exports.perCaller);
  });
  if (!row) return;
  const stop = new AbortController();
  const progress: Progress = { read: null, rows: 0, cut: false, bytes: 0, totalRows: null };
  const beating = beat(ctx, row, progress, stop);
  try {
    await writeFile(ctx, row, progress, AbortSignal.any([signal, stop.signal]));
  } catch (error) {
    if (stop.signal.reason instanceof Overtaken) return;
    const reason = signal.aborted ? null : reasonOf(error, row);
    if (reason !== null) await fail(ctx, row, reason);
    else {
      await releaseExport(ctx.db, row, !signal.aborted && !isAround(error));
      throw error;
    }
  } finally {
    stop.abort();
    await beating;
    const next = row.createdBy === null ? undefined : await findWaiting(ctx.db, row.createdBy);
    if (next && next.exportId !== exportId) await ctx.jobs.enqueue(WRITE_EXPORT, next, { key: next.exportId });
  }
}

/** Enqueues exports that nobody works on, so that none waits for ever. */
export async function wakeExports(ctx: Context): Promise<void> {
  for (const exportId of await takeSilentExports(ctx.db)) await ctx.jobs.enqueue(WRITE_EXPORT, { exportId }, { key: exportId });
}

const BATCH = 100;

/** Deletes the files of exports whose time has passed. The rows stay, marked as expired. */
export async function expireExports(ctx: Context): Promise<void> {
  for (;;) {
    const expiring = await listExpiring(ctx.db, BATCH);
    for (const exportId of expiring) {
      await removeObjects(ctx, exportId);
      await markExpired(ctx.db, exportId);
    }
    if (expiring.length < BATCH) return;
  }
}

/** Removes the files of these experiments that may hold people's names, and answers how many. Whoever needs such a file exports it again. */
export async function eraseNamedExports(ctx: Context, experiments: readonly string[]): Promise<number> {
  await reopenNamedExports(ctx.db, experiments);
  // a second statement: the first one does not see what is completed while it waits
  const files = await retireNamedExports(ctx.db, experiments);
  await expireExports(ctx);
  return files;
}
