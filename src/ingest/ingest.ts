import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Transaction } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { columnsAt, commit, createTable, findSource, findTableById, fingerprint, knownPaths } from '../lakehouse/manifest.ts';
import type { StagingArea, StagingSession } from '../lakehouse/staging.ts';
import type { Staged } from '../lakehouse/warehouse.ts';
import type { ObjectStore } from '../storage/objects.ts';
import { SOURCE_KINDS, type SourceKind } from './limits.ts';
import { fill, functionStatements, variable, pipelineVersion, type Pipelines } from './pipeline.ts';
import { BufferedFile, FileRefused, Refusals } from './record-writer.ts';
import { unreadable } from './scan-parquet.ts';
import { readSource } from './sources.ts';
import { typeFile } from './typing.ts';
import * as uploads from './uploads.queries.ts';
import type { Database, FileOutcome, UploadFileRow, UploadRow } from './uploads.queries.ts';

export interface IngestDeps {
  db: Database;
  store: ObjectStore;
  staging: StagingArea;
  pipelines: Pipelines;
  /** Told what happened to a file that could not be read for a reason of ours. */
  log?: (message: string, facts: Readonly<Record<string, unknown>>) => void;
}

export interface IngestOptions {
  signal?: AbortSignal;
  /** After every file, in order. */
  onFile?: (file: FileOutcome) => void;
  /** In the transaction that ends the upload. */
  onEnd?: (tx: Transaction, status: UploadReport['status']) => Promise<void>;
  /** Milliseconds between heartbeats; 5,000 by default. */
  heartbeatMs?: number;
}

export interface UploadReport {
  status: 'completed' | 'partial' | 'failed';
  files: readonly FileOutcome[];
}

const TRIES = 5;

/** Identity of the rows of one uploaded file: 20 hex digits of SHA-256 over table, object and path. */
export const uploadSource = (tableId: string, sha256: string, path: string): string =>
  createHash('sha256')
    .update(JSON.stringify(['upload', tableId, sha256, path]))
    .digest('hex')
    .slice(0, 20);

/**
 * Turns the objects of one upload into rows, file by file, each in one transaction with its report. Safe to run again after a crash at any moment, and at the same
 * time elsewhere: a file's rows are added once. Undefined when the upload is not there or has ended.
 */
export async function ingestUpload(deps: IngestDeps, uploadId: string, options: IngestOptions = {}): Promise<UploadReport | undefined> {
  const upload = await uploads.startUpload(deps.db, uploadId);
  if (!upload) return undefined;
  const beat = setInterval(() => void uploads.beatUpload(deps.db, uploadId).catch(() => 0), options.heartbeatMs ?? 5_000);
  const done: FileOutcome[] = [];
  try {
    for (const file of await uploads.listUploadFiles(deps.db, uploadId)) {
      options.signal?.throwIfAborted();
      if (file.status !== 'pending') continue;
      const outcome = await ingestFile(deps, upload, file, options.signal);
      done.push(outcome);
      options.onFile?.(outcome);
    }
    const status = await deps.db.transaction(async (tx) => {
      const ended = await uploads.finishUpload(tx, uploadId);
      if (ended) await options.onEnd?.(tx, ended.status as UploadReport['status']);
      return ended?.status;
    });
    return { status: (status ?? 'completed') as UploadReport['status'], files: done };
  } finally {
    clearInterval(beat);
  }
}

async function ingestFile(deps: IngestDeps, upload: UploadRow, file: UploadFileRow, signal?: AbortSignal): Promise<FileOutcome> {
  const work = join(deps.staging.workFolder, 'ingest', randomUUID());
  await mkdir(work, { recursive: true, mode: 0o700 });
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt(deps, { upload, file, work: join(work, String(tries)) }, signal);
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'SOURCE_CHANGED' && tries < TRIES)) throw error;
      }
    }
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    const outcome: FileOutcome = { ...empty(file), status: 'failed', reason: error.reason, message: error.message };
    if (file.objectKey !== null) await deps.store.delete(file.objectKey);
    await finish(deps.db, upload.id, outcome);
    return outcome;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

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

interface Task {
  upload: UploadRow;
  file: UploadFileRow;
  /** Folder of this try; removed by the caller. */
  work: string;
}

async function attempt(deps: IngestDeps, { upload, file, work }: Task, signal?: AbortSignal): Promise<FileOutcome> {
  const { db, store, staging, pipelines } = deps;
  const { objectKey, sha256 } = file;
  if (objectKey === null || sha256 === null) throw new FileRefused('not_received', 'The file did not arrive whole.');
  const source = uploadSource(upload.tableId, sha256, file.path);
  const there = await findSource(db, upload.tableId, source);
  if (there) {
    const outcome: FileOutcome = {
      ...empty(file),
      status: 'completed',
      alreadyThere: there.rowCount + there.quarantinedCount,
      message: 'This file is in the table already.',
    };
    await finish(db, upload.id, outcome);
    return outcome;
  }

  await mkdir(work, { recursive: true });
  const original = join(work, 'original');
  await pipeline(Readable.from(await store.get(objectKey)), createWriteStream(original), { signal });
  const kind = kindOf(upload.sourceKind);
  const refusedFile = await BufferedFile.create(join(work, 'refused'));
  const refusals = new Refusals(refusedFile);
  const session = await staging.session({ signal });
  const written: Staged[] = [];
  try {
    await session.prepare(functionStatements(pipelines));
    const read = await readSource({ session, pipelines, kind, original, work, path: file.path, refusals, signal });
    await refusedFile.close();
    const table = await findTableById(db, upload.tableId);
    if (!table) throw new FileRefused('table_deleted', 'The table that this file was meant for is gone.');
    const known = await columnsAt(db, table.id, table.version);
    const typing = typeFile(session, pipelines, read.fields, known);
    const typed = await (kind === 'parquet' ? typing.catch(unreadable) : typing);
    await session.prepare([
      ...Object.entries({
        source,
        uploaded_at: upload.createdAt,
        experiment_id: upload.experimentId,
        upload_id: upload.id,
        contributor_id: upload.createdBy,
        table_id: table.id,
        path: file.path,
        refused: refusedFile.path,
      }).map(([name, value]) => variable(name, value)),
      fill(pipelines.uploadedValues, { values: typed.values === '' ? 'null as fieldlake_nothing' : typed.values }),
    ]);
    const rows = await session.stage({
      tableId: table.id,
      experimentId: upload.experimentId,
      select: {
        sql: typed.values === '' ? `select * exclude (fieldlake_nothing) from (${pipelines.uploadedRows})` : pipelines.uploadedRows,
        values: [],
      },
      sortColumn: 'uploaded_at',
      sorted: true,
    });
    written.push(rows);
    if (rows.rowCount !== read.rows) throw new Error(`the engine read ${rows.rowCount} of ${read.rows} records of ${upload.id}`);
    const quarantine = refusals.count === 0 ? undefined : await createTable(db, { experimentId: upload.experimentId, kind: 'quarantine' });
    if (quarantine) written.push(await stageRefusals(session, pipelines, quarantine.id, refusals.count, upload.experimentId));

    const outcome: FileOutcome = {
      path: file.path,
      status: refusals.count === 0 ? 'completed' : rows.rowCount === 0 ? 'failed' : 'partial',
      stored: rows.rowCount,
      quarantined: refusals.count,
      alreadyThere: 0,
      reason: refusals.count === 0 ? null : [...refusals.reasons.keys()].join(', '),
      message:
        refusals.count === 0
          ? null
          : `Not stored: ${[...refusals.reasons].map(([reason, count]) => `${count} × ${reason.replaceAll('_', ' ')}`).join(', ')}.`,
      columns: typed.report,
    };
    const made = { origin: upload.id, pipelineVersion: pipelineVersion(pipelines) };
    const added = await db.transaction(async (tx) => {
      const committed = await commit(tx, {
        tableId: table.id,
        cause: 'ingest',
        files: rows.files,
        columns: typed.columns,
        typedBy: fingerprint(known),
        sources: [{ source, rowCount: rows.rowCount, quarantinedCount: refusals.count, ...made }],
      });
      if (!committed.added) return false;
      if (quarantine)
        await commit(tx, {
          tableId: quarantine.id,
          cause: 'ingest',
          files: written[1]?.files,
          sources: [{ source, rowCount: refusals.count, quarantinedCount: 0, ...made }],
        });
      await uploads.finishFile(tx, upload.id, outcome);
      await uploads.sumUpload(tx, upload.id);
      return true;
    });
    if (added) return outcome;
    await removeUncommitted(deps, written);
    const already: FileOutcome = {
      ...empty(file),
      status: 'completed',
      alreadyThere: rows.rowCount + refusals.count,
      message: 'This file is in the table already.',
    };
    await finish(db, upload.id, already);
    return already;
  } catch (error) {
    await removeUncommitted(deps, written).catch(() => undefined);
    throw error;
  } finally {
    session.close();
    await refusedFile.close().catch(() => undefined);
  }
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

/** After a failure the outcome of a commit may be unknown: only what the manifest does not name is removed; the sweep does the rest. */
async function removeUncommitted({ db, staging }: IngestDeps, written: readonly Staged[]): Promise<void> {
  const paths = written.flatMap(({ files }) => files.map(({ path }) => path));
  if (paths.length === 0) return;
  const known = new Set((await knownPaths(db, paths)).map(({ path }) => path));
  await staging.remove(paths.filter((path) => !known.has(path)));
}

function kindOf(kind: string): SourceKind {
  const found = SOURCE_KINDS.find((each) => each === kind);
  if (!found) throw new Error(`unknown source kind ${kind}`);
  return found;
}
