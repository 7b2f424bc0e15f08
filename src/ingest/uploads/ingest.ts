import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transaction } from '../../database/database.ts';
import { errors, isRefusal } from '../../errors.ts';
import { listColumnsAt, commit, createTable, findTableById } from '../../lakehouse/tables/manifest.ts';
import { useFolder, type StagingSession } from '../../lakehouse/tables/staging.ts';
import type { Staged } from '../../lakehouse/terms/warehouse.ts';
import { isAround } from '../around.ts';
import { NotPlain } from './read/json-lines.ts';
import { hashPipelines, type Pipelines } from '../pipeline.ts';
import { FileRefused } from '../record-writer.ts';
import { isOutOfMemory } from '../../lakehouse/terms/memory.ts';
import { leaveReplay, replayFile } from './replay.ts';
import { readSource } from './sources.ts';
import { findStanding, hasOtherRows } from './standing.ts';
import { explain, fetchOriginal, checkKind, stageRows, useReading, type IngestDeps, type Task } from './rows.ts';
import { withdrawUpload } from './withdraw.ts';
import * as uploads from './uploads.queries.ts';
import type { Database, FileOutcome, UploadFileRow, UploadRow } from './uploads.queries.ts';

export { forgetObject } from './uploads.queries.ts';

export interface IngestOptions {
  signal?: AbortSignal;
  /** Called after every file, in order. */
  onFile?: (file: FileOutcome) => void;
  /** Called in the transaction that ends the upload. */
  onEnd?: (tx: Transaction, status: UploadReport['status']) => Promise<void>;
}

export interface UploadReport {
  status: 'completed' | 'partial' | 'failed';
  files: readonly FileOutcome[];
}

const HEARTBEAT_MS = 5_000;
const TRIES = 5;
/**
 * How often a file may fail for a reason that is unknown. The job rests 1, 2, 4 and 8 s between: what passes by itself passes in that time, and no other upload
 * waits for it meanwhile.
 */
const MOST_FAILURES = 5;
/** How often the process may end while a file is read, which can be the file's doing, before the file is given up. */
const MOST_STARTS = 20;
/** How often a file is tried that does not fit the memory of the engine, of which others may have had a part. */
const MEMORY_TRIES = 3;

/** Says of a file that it is kept, and may be read again. */
export const PROCESSING_FAILED = 'processing_failed';
const FAILED = `The service failed ${MOST_FAILURES} times to read this file, by a fault of its own. The file is kept: have it read again by “replay” of its upload, and tell the operator if that fails too.`;
const DEADLY = `The service ended ${MOST_STARTS} times while it read this file, as it does when that takes more memory than the machine has. The file is kept: send its records in several smaller files, or ask the operator to look at it, and then have it read again by “replay” of its upload.`;

const tooMuchMemory = (cause: unknown) =>
  new FileRefused(
    'takes_too_much_memory',
    'The records of this file take more memory than reading may use. Send shorter ones, or fewer columns.',
    { cause },
  );

/**
 * Turns the objects of one upload into rows, file by file, each in one transaction with its report. Safe to run again after a crash at any moment, and at the
 * same time elsewhere: a file's rows are added once. A file whose replay was asked for adds the rows that it was missing. Of an upload that is to be withdrawn
 * the rows are taken out. A file that fails holds back no other; its error is thrown at the end, so that it is tried again later. Undefined when the upload is
 * not there or has ended.
 */
export async function ingestUpload(deps: IngestDeps, uploadId: string, options: IngestOptions = {}): Promise<UploadReport | undefined> {
  const upload = await uploads.startUpload(deps.db, uploadId);
  if (!upload) return undefined;
  const beat = setInterval(() => void uploads.beatUpload(deps.db, uploadId).catch(() => 0), HEARTBEAT_MS);
  const done: FileOutcome[] = [];
  const failures: unknown[] = [];
  let isDeadly = upload.starts > MOST_STARTS;
  try {
    if (upload.withdrawRequested) await withdrawUpload(deps, upload, options.signal);
    for (const file of await uploads.listUploadFiles(deps.db, uploadId)) {
      options.signal?.throwIfAborted();
      if (file.status !== 'pending' && !file.replayRequested) continue;
      const work = isDeadly
        ? giveUp(deps, { upload, file, message: DEADLY }, new Error(`the process ended ${MOST_STARTS} times while it read the file`))
        : workOn(deps, upload, file, options.signal);
      isDeadly = false;
      const outcome = await work.catch(async (error: unknown) => {
        if (options.signal?.aborted === true || isAround(error)) throw error;
        if ((await uploads.countFailure(deps.db, uploadId, file.path)) >= MOST_FAILURES)
          return giveUp(deps, { upload, file, message: FAILED }, error);
        failures.push(error);
        return undefined;
      });
      if (!outcome) continue;
      done.push(outcome);
      options.onFile?.(outcome);
    }
    if (failures.length > 0) throw failures[0];
    const status = await deps.db.transaction(async (tx) => {
      const ended = await uploads.finishUpload(tx, uploadId);
      if (ended) await options.onEnd?.(tx, ended.status as UploadReport['status']);
      return ended?.status;
    });
    return { status: (status ?? 'completed') as UploadReport['status'], files: done };
  } catch (error) {
    await uploads.forgetStarts(deps.db, uploadId).catch(() => 0);
    throw error;
  } finally {
    clearInterval(beat);
  }
}

/** Works on a file until it is stored or refused. Each try has a folder of its own. */
const workOn = (deps: IngestDeps, upload: UploadRow, file: UploadFileRow, signal?: AbortSignal): Promise<FileOutcome> =>
  useFolder(deps.staging, async (folder) => {
    let exact = false;
    for (let tries = 1; ; tries += 1) {
      const task = { upload, file, work: join(folder, String(tries)), exact };
      await mkdir(task.work);
      try {
        return await (file.status === 'pending' ? attempt(deps, task, signal) : replayFile(deps, task, signal));
      } catch (error) {
        if (isRefusal(error, 'tableDeleted')) throw tableGone();
        if (error instanceof NotPlain && !exact) exact = true;
        else if (isOutOfMemory(error)) {
          if (tries >= MEMORY_TRIES) throw tooMuchMemory(error);
        } else if (!isRefusal(error, 'sourceChanged') || tries >= TRIES) throw error;
      }
    }
  }).catch((error: unknown) => {
    if (!(error instanceof FileRefused)) throw error;
    return refuse(deps, upload, file, error);
  });

/** Ends a file that is refused, or its replay. The bytes of a file go last: without them another try could not tell any more why. Those that stay are removed by the nightly sweep. */
async function refuse(deps: IngestDeps, upload: UploadRow, file: UploadFileRow, { reason, message }: FileRefused): Promise<FileOutcome> {
  if (file.status !== 'pending') return leaveReplay(deps, { upload, file }, message);
  const outcome: FileOutcome = { ...empty(file), status: 'failed', reason, message };
  const isEnded = await deps.db.transaction(async (tx) => {
    if ((await uploads.finishFile(tx, upload.id, outcome)) === 0) return false;
    await uploads.forgetObject(tx, upload.id, file.path);
    await uploads.sumUpload(tx, upload.id);
    return true;
  });
  if (isEnded && file.objectKey !== null) await deps.store.delete(file.objectKey);
  return outcome;
}

/** Ends a file that failed too often. Its bytes stay. */
async function giveUp(
  deps: IngestDeps,
  { upload, file, message }: { upload: UploadRow; file: UploadFileRow; message: string },
  error: unknown,
): Promise<FileOutcome> {
  deps.log?.('a file of an upload is given up', { err: error, uploadId: upload.id, path: file.path });
  if (file.status !== 'pending') return leaveReplay(deps, { upload, file }, message);
  const outcome: FileOutcome = { ...empty(file), status: 'failed', reason: PROCESSING_FAILED, message };
  await finish(deps.db, upload.id, outcome);
  return outcome;
}

/** Somebody has removed the table since the upload began. */
const tableGone = () => new FileRefused('table_deleted', errors.tableDeleted().message);

const empty = (file: UploadFileRow) => ({
  path: file.path,
  stored: 0,
  quarantined: 0,
  alreadyThere: 0,
  reason: null,
  message: null,
  columns: [],
});

const finish = (db: Database, uploadId: string, outcome: FileOutcome) =>
  db.transaction(async (tx) => {
    await uploads.finishFile(tx, uploadId, outcome);
    await uploads.sumUpload(tx, uploadId);
  });

async function attempt(deps: IngestDeps, { upload, file, work, exact }: Task, signal?: AbortSignal): Promise<FileOutcome> {
  const { db, pipelines } = deps;
  const { objectKey, sha256 } = file;
  if (objectKey === null || sha256 === null) throw new FileRefused('not_received', 'The file did not arrive whole.');
  if (upload.tableId === null) throw tableGone();
  const sent = { tableId: upload.tableId, sha256, path: file.path, reading: upload.reading };
  const standing = await findStanding(db, sent);
  if (!('source' in standing)) {
    const outcome: FileOutcome = { ...empty(file), ...standing };
    await finish(db, upload.id, outcome);
    return outcome;
  }

  const { source } = standing;
  const original = await fetchOriginal(deps, objectKey, work, signal);
  const kind = checkKind(upload.sourceKind);
  return useReading(deps, work, signal, async ({ refusals, ...staged }) => {
    const { session, refusedFile, written } = staged;
    const { reading } = upload;
    const read = await readSource(deps, { session, kind, original, work, path: file.path, refusals, exact, reading, signal });
    await refusedFile.close();
    const table = await findTableById(db, sent.tableId);
    if (!table) throw tableGone();
    const known = await listColumnsAt(db, table.id, table.version);
    const { typed, rows, change } = await stageRows(deps, { upload, file, work }, { ...staged, read, source, table, known });
    const quarantine = refusals.count === 0 ? undefined : await createTable(db, { experimentId: upload.experimentId, kind: 'quarantine' });
    const kept = quarantine && (await stageRefusals(session, pipelines, quarantine.id, refusals.count, upload.experimentId));
    written.push(kept);

    const outcome: FileOutcome = {
      path: file.path,
      stored: rows.rowCount,
      alreadyThere: 0,
      ...explain(rows.rowCount, refusals, { ...upload, told: read.told }, typed),
      columns: typed.report,
    };
    const made = { origin: upload.id, pipelineVersion: hashPipelines(pipelines) };
    await db.transaction(async (tx) => {
      const committed = await commit(tx, {
        ...change,
        sources: [{ source, rowCount: rows.rowCount, quarantinedCount: refusals.count, ...made }],
      });
      // another upload was quicker: the next try finds what stands
      if (!committed.added || (standing.isLater && (await hasOtherRows(tx, sent)))) throw errors.sourceChanged();
      if (quarantine)
        await commit(tx, {
          tableId: quarantine.id,
          cause: 'ingest',
          files: kept?.files,
          sources: [{ source, rowCount: refusals.count, quarantinedCount: 0, ...made }],
        });
      await uploads.finishFile(tx, upload.id, outcome);
      await uploads.sumUpload(tx, upload.id);
    });
    return outcome;
  });
}

async function stageRefusals(
  session: StagingSession,
  pipelines: Pipelines,
  tableId: string,
  count: number,
  experimentId: string,
): Promise<Staged> {
  const staged = await session.stage({
    tableId,
    experimentId,
    select: { sql: pipelines.quarantinedRecords, values: [] },
    sortColumn: 'quarantined_at',
    sorted: true,
  });
  if (staged.rowCount !== count) throw new Error(`the engine read ${staged.rowCount} of ${count} refused records`);
  return staged;
}
