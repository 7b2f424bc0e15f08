import type { Database, Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import { cleanText, printCleanJson } from '../../json.ts';
import type { ReadingOptions } from '../typing/readings.ts';
import type { ColumnReport } from '../typing/decide.ts';

export type { Database, Queryable };

export interface UploadRow {
  id: string;
  experimentId: string;
  /** Null when the table is gone. */
  tableId: string | null;
  sourceKind: string;
  status: string;
  createdBy: string | null;
  /** ISO 8601, UTC, microseconds: the `uploaded_at` of the first file's rows, the same on every try. */
  createdAt: string;
  reading: ReadingOptions;
  /** How often work on it has begun, this time included, since it last came to an end with the process alive. */
  starts: number;
  /** Its rows are to be taken out again. */
  withdrawRequested: boolean;
}

export interface UploadFileRow {
  path: string;
  ordinal: number;
  objectKey: string | null;
  /** 64 hex digits. */
  sha256: string | null;
  status: string;
  rowsIn: number;
  stored: number;
  quarantined: number;
  alreadyThere: number;
  reason: string | null;
  message: string | null;
  columns: readonly ColumnReport[];
  /** Its refused records are to be read again. */
  replayRequested: boolean;
}

/** Marks an upload as running and alive; undefined when it has ended already or is not there. */
export const startUpload = (db: Queryable, uploadId: string) =>
  db.one<UploadRow>(sql('ingest.startUpload')`
    update uploads set status = 'running', started_at = coalesce(started_at, now()), heartbeat_at = now(), starts = starts + 1
    where id = ${uploadId} and status in ('pending', 'running')
    returning id, experiment_id as "experimentId", table_id as "tableId", source_kind as "sourceKind", status, created_by as "createdBy", reading, starts,
      withdraw_requested_at is not null as "withdrawRequested",
      to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "createdAt"`);

/** Notes that work on an upload came to an end, and the process lives. */
export const forgetStarts = (db: Queryable, uploadId: string) =>
  db.run(sql('ingest.forgetStarts')`update uploads set starts = 0 where id = ${uploadId}`);

export const beatUpload = (db: Queryable, uploadId: string) =>
  db.run(sql('ingest.beatUpload')`update uploads set heartbeat_at = now() where id = ${uploadId} and status in ('pending', 'running')`);

export const listUploadFiles = (db: Queryable, uploadId: string) =>
  db.rows<UploadFileRow>(sql('ingest.listUploadFiles')`
    select path, ordinal, object_key as "objectKey", encode(sha256, 'hex') as sha256, status,
      rows_in as "rowsIn", stored, quarantined, already_there as "alreadyThere", reason, message, columns, replay_requested_at is not null as "replayRequested"
    from upload_files where upload_id = ${uploadId} order by ordinal`);

/**
 * Lists how ended uploads have read a file of a table, and what was stored and set aside of it. One that found it there already has not read it, and one that
 * was withdrawn has left nothing.
 */
export const listReadings = (db: Queryable, file: { tableId: string; sha256: string; path: string }) =>
  db.rows<{ reading: ReadingOptions; stored: number; quarantined: number }>(sql('ingest.listReadings')`
    select u.reading, f.stored, f.quarantined from uploads u join upload_files f on f.upload_id = u.id
    where u.table_id = ${file.tableId} and f.path = ${file.path} and f.sha256 = decode(${file.sha256}, 'hex') and f.already_there = 0
      and u.withdrawn_at is null
      and (f.status in ('completed', 'partial') or f.quarantined > 0)
    order by f.completed_at`);

export type FileOutcome = Omit<UploadFileRow, 'ordinal' | 'objectKey' | 'sha256' | 'status' | 'rowsIn' | 'replayRequested'> & {
  status: 'completed' | 'partial' | 'failed';
};

/** What both reports of a file set. */
const setOutcome = (file: FileOutcome) =>
  fragment`status = ${file.status}, stored = ${file.stored}, quarantined = ${file.quarantined},
      already_there = ${file.alreadyThere}, rows_in = ${file.stored + file.quarantined + file.alreadyThere}, reason = ${file.reason},
      message = ${file.message && cleanText(file.message)}, columns = ${printCleanJson(file.columns)}::jsonb, completed_at = now()`;

/** Records what became of one file. Answers 0 when another process already has. */
export const finishFile = (db: Queryable, uploadId: string, file: FileOutcome) =>
  db.run(sql('ingest.finishFile')`update upload_files set ${setOutcome(file)}
    where upload_id = ${uploadId} and path = ${file.path} and status = 'pending'`);

/** Notes that the bytes of a file are not kept any more. */
export const forgetObject = (db: Queryable, uploadId: string, path: string) =>
  db.run(sql('uploads.forgetObject')`update upload_files set object_key = null where upload_id = ${uploadId} and path = ${path}`);

/** Counts a failure of a file; answers how many there were. */
export const countFailure = async (db: Queryable, uploadId: string, path: string) =>
  (
    await db.one<{ tries: number }>(sql('ingest.countFailure')`
      update upload_files set tries = tries + 1 where upload_id = ${uploadId} and path = ${path} returning tries`)
  )?.tries ?? 0;

/** Records what became of a file whose refused records were read again. Answers 0 when another process already has. */
export const finishReplay = (db: Queryable, uploadId: string, file: FileOutcome) =>
  db.run(sql('ingest.finishReplay')`update upload_files set ${setOutcome(file)}, replay_requested_at = null
    where upload_id = ${uploadId} and path = ${file.path} and replay_requested_at is not null`);

/** Notes that nothing of an upload is in the lake any more, and that the bytes of its files are not needed. */
export const finishWithdrawal = async (tx: Queryable, uploadId: string): Promise<void> => {
  await tx.run(sql('ingest.finishWithdrawal')`update uploads set withdrawn_at = now() where id = ${uploadId} and withdrawn_at is null`);
  await tx.run(sql('ingest.forgetObjects')`update upload_files set object_key = null where upload_id = ${uploadId}`);
};

/** Brings the counts of an upload up to date with its files. */
export const sumUpload = (db: Queryable, uploadId: string) =>
  db.run(sql('ingest.sumUpload')`
    update uploads set heartbeat_at = now(), starts = 0, rows_in = f.rows_in, stored = f.stored, quarantined = f.quarantined, already_there = f.already_there
    from (select coalesce(sum(rows_in), 0) as rows_in, coalesce(sum(stored), 0) as stored, coalesce(sum(quarantined), 0) as quarantined,
      coalesce(sum(already_there), 0) as already_there from upload_files where upload_id = ${uploadId}) f
    where id = ${uploadId}`);

/** Ends an upload: completed when every file is, failed when every file failed, else partial. */
export const finishUpload = (db: Queryable, uploadId: string) =>
  db.one<{ status: string }>(sql('ingest.finishUpload')`update uploads set completed_at = now(), heartbeat_at = now(),
      status = case when f.files = f.failed then 'failed' when f.files = f.completed then 'completed' else 'partial' end,
      error_message = case when f.files = 0 then 'No file arrived.' when f.failed > 0 or f.partial > 0 then f.messages end
    from (select count(*) as files, count(*) filter (where status = 'failed') as failed, count(*) filter (where status = 'completed') as completed,
      count(*) filter (where status = 'partial') as partial,
      left(string_agg(path || ': ' || coalesce(message, ''), E'\n' order by ordinal) filter (where status <> 'completed'), 4000) as messages
      from upload_files where upload_id = ${uploadId}) f
    where id = ${uploadId} and status in ('pending', 'running') returning uploads.status`);
