import type { Queryable, Transaction } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

/** Of these experiments, those that are there. */
export const listExperimentsAmong = (db: Queryable, ids: readonly string[]) =>
  db.rows<{ id: string }>(sql('readBack.experiments')`select id from experiments where id = any (${ids}::uuid[])`);

export const listStates = (db: Queryable) =>
  db.rows<{ experimentId: string; identifier: string; state: string }>(sql('readBack.states')`
    select experiment_id as "experimentId", identifier, shared_state as state from lake_tables where shared_state is not null`);

/** What is known of a table; other writers of it wait until the transaction ends. */
export const lockState = (tx: Transaction, tableId: string) =>
  tx.one<{ version: number; state: string | null }>(sql('readBack.lockState')`
    select version, shared_state as state from lake_tables where id = ${tableId} for update`);

export const noteState = (tx: Transaction, table: { tableId: string; rowCount: number; state: string }) =>
  tx.run(sql('readBack.noteState')`
    update lake_tables set shared_row_count = ${table.rowCount}, shared_state = ${table.state}, shared_read_at = now() where id = ${table.tableId}`);

/**
 * Takes the next look at Databricks for the caller alone, of all processes; false while it is not due. One is due when the last is longer ago than a quarter of the
 * time for which the report of the upload landed last has been waited for, but 30 s at least and `lookMinutes` at most; without such an upload, `lookMinutes`.
 */
export const claimLook = async (db: Queryable, lookMinutes: number): Promise<boolean> =>
  (await db.run(sql('readBack.claimLook')`
    insert into shared_looks as l (looked_at) values (now()) on conflict (is_only) do update set looked_at = excluded.looked_at
    where excluded.looked_at - l.looked_at >= greatest(interval '30 seconds', least(make_interval(mins => ${lookMinutes}),
      (select now() - max(landed_at) from uploads where landed_at is not null and shared_at is null) / 4))`)) > 0;

/** Makes the next look due. */
export const dropLook = (db: Queryable) => db.run(sql('readBack.dropLook')`delete from shared_looks`);

/** What became of one uploaded file, as the pipeline tells it. */
export interface Reported {
  uploadId: string;
  tableId: string;
  experimentId: string;
  sourceKind: string;
  contributorId: string | null;
  /** ISO 8601, UTC, microseconds. */
  uploadedAt: string;
  path: string;
  ordinal: number;
  status: string;
  stored: number;
  quarantined: number;
  alreadyThere: number;
  reason: string | null;
  message: string | null;
  columns: unknown;
}

/** Uploads that were made where this database was not asked. */
export const insertReportedUploads = (tx: Transaction, reports: readonly Reported[]) =>
  tx.run(sql('readBack.insertUploads')`
    insert into uploads (id, experiment_id, table_id, source_kind, status, created_by, created_at, received_at)
    select distinct on (r."uploadId") r."uploadId", r."experimentId", r."tableId", r."sourceKind", 'running',
      (select id from users where id::text = r."contributorId"), r."uploadedAt", r."uploadedAt"
    from jsonb_to_recordset(${JSON.stringify(reports)}::jsonb) as r("uploadId" uuid, "experimentId" uuid, "tableId" uuid, "sourceKind" text,
      "contributorId" text, "uploadedAt" timestamptz)
    on conflict (id) do nothing`);

/** Writes the reports that say something new; answers the uploads they are of. */
export const writeReports = (tx: Transaction, reports: readonly Reported[]) =>
  tx.rows<{ uploadId: string }>(sql('readBack.writeReports')`
    insert into upload_files as f (upload_id, path, ordinal, status, stored, quarantined, already_there, rows_in, reason, message, columns, completed_at)
    select r."uploadId", r.path, r.ordinal, r.status, r.stored, r.quarantined, r."alreadyThere", r.stored + r.quarantined + r."alreadyThere", r.reason, r.message,
      r.columns, now()
    from jsonb_to_recordset(${JSON.stringify(reports)}::jsonb) as r("uploadId" uuid, "experimentId" uuid, path text, ordinal integer, status text, stored bigint,
      quarantined bigint, "alreadyThere" bigint, reason text, message text, columns jsonb)
      join uploads u on u.id = r."uploadId" and u.experiment_id = r."experimentId"
    on conflict (upload_id, path) do update set status = excluded.status, stored = excluded.stored, quarantined = excluded.quarantined,
      already_there = excluded.already_there, rows_in = excluded.rows_in, reason = excluded.reason, message = excluded.message, columns = excluded.columns,
      completed_at = coalesce(f.completed_at, now())
    where f.replay_requested_at is null
      and (f.status, f.stored, f.quarantined, f.already_there, f.reason, f.message, f.columns) is distinct from (excluded.status, excluded.stored,
        excluded.quarantined, excluded.already_there, excluded.reason, excluded.message, excluded.columns)
    returning f.upload_id as "uploadId"`);

/** Uploads of which so many files have an end there, and no fewer than they have, are waited for no longer. */
export const noteShared = (tx: Transaction, ended: readonly { uploadId: string; files: number }[]) =>
  tx.run(sql('readBack.noteShared')`
    update uploads u set shared_at = now() from jsonb_to_recordset(${JSON.stringify(ended)}::jsonb) as r("uploadId" uuid, files integer)
    where u.id = r."uploadId" and u.landed_at is not null and u.shared_at is null and r.files >= u.file_count`);

/** Brings uploads up to date with their files; one ends when every file of it has. */
export const settleUploads = (tx: Transaction, uploadIds: readonly string[]) =>
  tx.run(sql('readBack.settleUploads')`
    update uploads u set rows_in = f.rows_in, stored = f.stored, quarantined = f.quarantined, already_there = f.already_there, file_count = greatest(u.file_count, f.files),
      heartbeat_at = now(), completed_at = case when f.pending = 0 then coalesce(u.completed_at, now()) end,
      status = case when f.pending > 0 then 'running' when f.files = f.failed then 'failed' when f.files = f.completed then 'completed' else 'partial' end,
      error_message = case when f.pending = 0 and f.files > f.completed then f.messages end
    from (select upload_id, count(*) as files, count(*) filter (where status = 'failed') as failed, count(*) filter (where status = 'completed') as completed,
        count(*) filter (where status = 'pending') as pending, sum(rows_in) as rows_in, sum(stored) as stored, sum(quarantined) as quarantined,
        sum(already_there) as already_there, left(string_agg(path || ': ' || coalesce(message, ''), E'\n' order by ordinal) filter (where status <> 'completed'), 4000) as messages
      from upload_files where upload_id = any (${uploadIds}::uuid[]) group by upload_id) f
    where u.id = f.upload_id`);
