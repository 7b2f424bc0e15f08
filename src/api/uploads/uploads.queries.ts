import type { Queryable, Slice, Transaction } from '../../database/database.ts';
import { fragment, nothing, sql } from '../../database/sql.ts';
import type { ReadingOptions } from '../../ingest/typing/readings.ts';
import type { Upload, UploadFile } from './uploads.model.ts';

/** `createdBy` is shown to everybody; in an anonymised experiment only the sender sees it. */
const columnsFor = (viewerId: string) => fragment`
  u.id as "uploadId", u.experiment_id as "experimentId", u.table_id as "uploadTableId", t.name as "uploadTableName", u.source_kind as "sourceKind",
  u.status, u.file_count as "fileCount", u.stored as "rowCount", u.rows_in as "rowsIn", u.quarantined, u.already_there as "alreadyThere",
  case when u.created_by = ${viewerId} or not exists (select from experiments e where e.id = u.experiment_id and e.anonymize_contributors)
    then u.created_by end as "createdBy", u.created_at as "createdAt", u.completed_at as "completedAt", u.error_message as "errorMessage",
  u.withdraw_requested_at as "withdrawRequestedAt", u.withdrawn_at as "withdrawnAt"`;

export interface UploadFilter {
  experimentId: string;
  uploadTableId: string | undefined;
  uploadTableName: string | undefined;
}

const matches = ({ experimentId, uploadTableId, uploadTableName }: UploadFilter) => fragment`
  u.experiment_id = ${experimentId}
  ${uploadTableId === undefined ? nothing : fragment`and u.table_id = ${uploadTableId}`}
  ${uploadTableName === undefined ? nothing : fragment`and lower(t.name) = lower(${uploadTableName})`}`;

/** Newest first. */
export const listUploads = (db: Queryable, viewerId: string, filter: UploadFilter, page: Slice) =>
  db.rows<Upload>(sql('uploads.list')`
    select ${columnsFor(viewerId)} from uploads u left join lake_tables t on t.id = u.table_id
    where ${matches(filter)} order by u.created_at desc, u.id desc limit ${page.limit} offset ${page.offset}`);

export const countUploads = (db: Queryable, filter: UploadFilter, most: number) =>
  db.count(sql('uploads.count')`
    select count(*) as count from (select 1 from uploads u left join lake_tables t on t.id = u.table_id where ${matches(filter)} limit ${most}) counted`);

export const findUpload = (db: Queryable, viewerId: string, { experimentId, uploadId }: { experimentId: string; uploadId: string }) =>
  db.one<Upload>(sql('uploads.find')`
    select ${columnsFor(viewerId)} from uploads u left join lake_tables t on t.id = u.table_id where u.id = ${uploadId} and u.experiment_id = ${experimentId}`);

export const listUploadFiles = (db: Queryable, uploadId: string) =>
  db.rows<UploadFile>(sql('uploads.listFiles')`
    select path, path as "filePath", regexp_replace(path, '^.*/', '') as "fileName", status, encode(sha256, 'hex') as sha256, byte_count as "byteCount", rows_in as "rowsIn", stored, quarantined,
      already_there as "alreadyThere", reason, message, columns
    from upload_files where upload_id = ${uploadId} order by ordinal`);

export const insertUpload = (
  db: Queryable,
  upload: { id: string; experimentId: string; tableId: string; sourceKind: string; createdBy: string; reading: ReadingOptions },
) =>
  db.run(sql('uploads.insert')`
    insert into uploads (id, experiment_id, table_id, source_kind, created_by, reading)
    values (${upload.id}, ${upload.experimentId}, ${upload.tableId}, ${upload.sourceKind}, ${upload.createdBy}, ${JSON.stringify(upload.reading)}::jsonb)`);

export const insertUploadFile = (db: Queryable, file: { uploadId: string; path: string; ordinal: number; objectKey: string }) =>
  db.run(sql('uploads.insertFile')`
    insert into upload_files (upload_id, path, ordinal, object_key) values (${file.uploadId}, ${file.path}, ${file.ordinal}, ${file.objectKey})
    on conflict (upload_id, path) do nothing`);

export const markFileReceived = (db: Queryable, file: { uploadId: string; path: string; sha256: string; byteCount: number }) =>
  db.run(sql('uploads.markFileReceived')`
    update upload_files set sha256 = decode(${file.sha256}, 'hex'), byte_count = ${file.byteCount} where upload_id = ${file.uploadId} and path = ${file.path}`);

/** Notes that every file has arrived. From now on the job works on the upload. Undefined when it has ended already. */
export const markReceived = (db: Queryable, uploadId: string) =>
  db.one<{ tableId: string | null }>(sql('uploads.markReceived')`
    update uploads set received_at = now(), heartbeat_at = now(), file_count = (select count(*) from upload_files where upload_id = ${uploadId})
    where id = ${uploadId} and status = 'pending' returning table_id as "tableId"`);

export const beatReceiving = (db: Queryable, uploadId: string) =>
  db.run(sql('uploads.beatReceiving')`update uploads set heartbeat_at = now() where id = ${uploadId} and status = 'pending'`);

/** Fails an upload that has not arrived completely. Answers 0 when it has already ended or arrived. */
export const failReceiving = (db: Queryable, uploadId: string, message: string) =>
  db.run(sql('uploads.failReceiving')`
    update uploads set status = 'failed', completed_at = now(), error_message = ${message} where id = ${uploadId} and status = 'pending' and received_at is null`);

export const lockUpload = (db: Queryable, experimentId: string, uploadId: string) =>
  db.one<{ status: string; tableId: string | null; createdBy: string | null; withdrawRequested: boolean }>(sql('uploads.lock')`
    select status, table_id as "tableId", created_by as "createdBy", withdraw_requested_at is not null as "withdrawRequested" from uploads where id = ${uploadId} and experiment_id = ${experimentId} for update`);

/** Marks the files of an upload that failed for a reason to be read anew; answers how many. */
export const reopenFiles = (db: Queryable, uploadId: string, reason: string) =>
  db.run(sql('uploads.reopenFiles')`
    update upload_files set status = 'pending', reason = null, message = null, completed_at = null, tries = 0
    where upload_id = ${uploadId} and status = 'failed' and reason = ${reason} and object_key is not null`);

/** Marks the files with refused records to be read again; answers how many. */
export const requestReplay = (db: Queryable, uploadId: string) =>
  db.run(sql('uploads.requestReplay')`
    update upload_files set replay_requested_at = now(), tries = 0 where upload_id = ${uploadId} and quarantined > 0 and object_key is not null`);

export const reopenUpload = (db: Queryable, uploadId: string) =>
  db.run(sql('uploads.reopen')`
    update uploads set status = 'running', started_at = null, completed_at = null, heartbeat_at = now(), starts = 0 where id = ${uploadId}`);

/** An upload that waits for a job. */
export interface WaitingUpload {
  id: string;
  turn: number;
  createdBy: string | null;
}

/** Lets uploads of one person take their turns one after the other. */
export const lockTurnsOf = (tx: Transaction, uploadId: string) =>
  tx.run(sql('uploads.lockTurnsOf')`
    select pg_advisory_xact_lock(hashtextextended('turns of uploads ' || coalesce(created_by::text, ''), 0)) from uploads where id = ${uploadId}`);

/** Gives an upload the turn of whichever began last, or the one behind its sender's last, whichever is later. */
export const giveTurn = (tx: Transaction, uploadId: string) =>
  tx.one<WaitingUpload>(sql('uploads.giveTurn')`
    update uploads u set turn = greatest(
      (select max(turn) from uploads where started_at is not null), (select max(turn) + 1 from uploads where created_by = u.created_by), 0)
    where id = ${uploadId} returning id, turn, created_by as "createdBy"`);

/** Lets uploads into a table begin, and be withdrawn, one after the other. The table itself may be locked for longer, by a commit. */
export const lockUploadsInto = (tx: Transaction, tableId: string) =>
  tx.run(sql('uploads.lockInto')`select pg_advisory_xact_lock(hashtextextended('uploads into ' || ${tableId}::text, 0))`);

/** Whether files are on their way into a table, or out of it. */
export const isAtWork = async (db: Queryable, tableId: string, what: 'reading' | 'withdrawing') =>
  (await db.one(sql('uploads.atWork')`
    select from uploads where table_id = ${tableId} and status in ('pending', 'running')
      and (${what === 'reading'} or withdraw_requested_at is not null) limit 1`)) !== undefined;

export const requestWithdrawal = (db: Queryable, uploadId: string) =>
  db.run(sql('uploads.requestWithdrawal')`update uploads set withdraw_requested_at = now() where id = ${uploadId}`);

export const listObjectKeys = (db: Queryable, uploadId: string) =>
  db.rows<{ objectKey: string }>(sql('uploads.listObjectKeys')`
    select object_key as "objectKey" from upload_files where upload_id = ${uploadId} and object_key is not null`);

/** Lists those of the keys whose bytes are read or will be. An upload that failed while it arrived is never read again. */
export const listNeededObjects = (db: Queryable, keys: readonly string[]) =>
  db.rows<{ objectKey: string }>(sql('uploads.listNeededObjects')`
    select f.object_key as "objectKey" from upload_files f join uploads u on u.id = f.upload_id
    where f.object_key = any (${keys}::text[]) and not (u.status = 'failed' and u.received_at is null)`);

const SILENT_SECONDS = 15;
const silent = fragment`status in ('pending', 'running') and heartbeat_at < now() - make_interval(secs => ${SILENT_SECONDS})`;

export const anySilentUpload = fragment`exists (select from uploads where ${silent})`;

/** Lists uploads that were cut off while arriving (`received` is false), or wait for a job whose process is gone. */
export const listSilentUploads = (db: Queryable) =>
  db.rows<WaitingUpload & { received: boolean }>(sql('uploads.listSilent')`
    select id, turn, created_by as "createdBy", received_at is not null as received from uploads
    where ${silent} limit 100`);

export const findUploadOwner = (db: Queryable, uploadId: string) =>
  db.one<{ experimentId: string; withdrawRequested: boolean }>(sql('uploads.owner')`
    select experiment_id as "experimentId", withdraw_requested_at is not null as "withdrawRequested" from uploads where id = ${uploadId}`);

/** Uploads of an experiment that is gone, with the keys of their bytes. */
export const listUploadsToErase = (db: Queryable, experimentId: string) =>
  db.rows<{ uploadId: string; objectKey: string | null; byteCount: number }>(sql('uploads.listToErase')`
    select u.id as "uploadId", f.object_key as "objectKey", coalesce(f.byte_count, 0) as "byteCount"
    from uploads u left join upload_files f on f.upload_id = u.id where u.experiment_id = ${experimentId}`);

/** Lists files that are still kept for ended uploads whose tables are gone. */
export const listUnplacedFiles = (db: Queryable, experimentId: string) =>
  db.rows<{ uploadId: string; path: string; objectKey: string }>(sql('uploads.listUnplacedFiles')`
    select u.id as "uploadId", f.path, f.object_key as "objectKey" from uploads u join upload_files f on f.upload_id = u.id
    where u.experiment_id = ${experimentId} and u.table_id is null and u.status not in ('pending', 'running') and f.object_key is not null`);

export const deleteUploadsOf = (db: Queryable, experimentId: string) =>
  db.run(sql('uploads.deleteOf')`delete from uploads where experiment_id = ${experimentId}`);

/** Deletes the table that an upload was to make, if the table is empty, no other upload goes into it and no file failed for the `kept` reason. */
export const deleteTableOf = (db: Queryable, uploadId: string, kept: string) =>
  db.run(sql('uploads.deleteTableOf')`
    delete from lake_tables t using uploads u
    where u.id = ${uploadId} and t.id = u.table_id and t.version = 0 and t.created_at >= u.created_at
      and not exists (select from uploads other where other.table_id = t.id and other.id <> u.id)
      and not exists (select from upload_files f where f.upload_id = u.id and f.reason = ${kept})`);
