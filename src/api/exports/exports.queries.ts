import type { Queryable, Slice, Transaction } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { Export, ExportProgress } from './exports.model.ts';

export type NamesPolicy = 'pseudonyms' | 'real' | 'real_by_manager';

/** An export as its row has it. */
export interface ExportRow extends Omit<Export, 'filePath'> {
  tableIdentifier: string;
  tableVersion: number;
  /** The parameters of the read that is exported. */
  query: Record<string, string | number>;
  raw: boolean;
  names: NamesPolicy;
  reason: string | null;
  attempt: number;
  errors: number;
  objectKey: string | null;
  sha256: string | null;
  fileName: string | null;
  percentDone: number;
  rowsDone: number;
  bytesDone: number;
  rowsTotal: number | null;
  expiresAt: Date | null;
  /** The file is deleted, or is due to be. */
  isExpired: boolean;
}

const columns = fragment`
  e.id as "exportId", e.experiment_id as "experimentId", e.table_identifier as "tableIdentifier", e.table_name as "tableName",
  e.table_version as "tableVersion", e.format, e.query, e.raw, e.names, e.status, e.reason, e.attempt, e.errors, e.object_key as "objectKey",
  encode(e.sha256, 'hex') as sha256, e.file_name as "fileName", e.row_count as "rowCount", e.file_size as "fileSize", e.percent_done as "percentDone", e.rows_done as "rowsDone",
  e.bytes_done as "bytesDone", e.rows_total as "rowsTotal", e.created_by as "createdBy", e.created_at as "createdAt", e.completed_at as "completedAt",
  e.expires_at as "expiresAt", coalesce(e.expired_at is not null or e.expires_at <= now(), false) as "isExpired"`;

export type NewExportRow = { id: string; query: object; createdBy: string } & Pick<
  ExportRow,
  'experimentId' | 'tableIdentifier' | 'tableName' | 'tableVersion' | 'format' | 'raw' | 'names'
>;

/** Inserts an export. Answers 0 when the experiment is gone. */
export const insertExport = (tx: Transaction, row: NewExportRow) =>
  tx.run(sql('exports.insert')`
    insert into exports (id, experiment_id, table_identifier, table_name, table_version, format, query, raw, names, created_by)
    select ${row.id}, e.id, ${row.tableIdentifier}, ${row.tableName}, ${row.tableVersion}, ${row.format}, ${JSON.stringify(row.query)}::jsonb, ${row.raw},
      ${row.names}, ${row.createdBy}
    from experiments e where e.id = ${row.experimentId} for key share of e`);

/** Waits for others who put an export of this person into the queue, so that they count each other's. */
export const lockNewExports = (tx: Transaction, createdBy: string) =>
  tx.run(sql('exports.lockNew')`select pg_advisory_xact_lock(hashtextextended('new exports ' || ${createdBy}::text, 0))`);

/** How many exports of a person are not finished. */
export const countOpen = (db: Queryable, createdBy: string) =>
  db.count(
    sql('exports.countOpen')`select count(*) as count from exports where created_by = ${createdBy} and status in ('queued', 'running')`,
  );

/** The bytes of the files that a person keeps. */
export const sumKept = (db: Queryable, createdBy: string) =>
  db.count(sql('exports.sumKept')`
    select coalesce(sum(file_size), 0)::bigint as count from exports where created_by = ${createdBy} and status = 'completed' and expired_at is null and expires_at > now()`);

/** Newest first. */
export const listExports = (db: Queryable, table: { experimentId: string; tableIdentifier: string }, page: Slice) =>
  db.rows<ExportRow>(sql('exports.list')`
    select ${columns} from exports e where e.experiment_id = ${table.experimentId} and e.table_identifier = ${table.tableIdentifier}
    order by e.created_at desc, e.id desc limit ${page.limit} offset ${page.offset}`);

export const countExports = (db: Queryable, table: { experimentId: string; tableIdentifier: string }, most: number) =>
  db.count(sql('exports.count')`
    select count(*) as count from (select 1 from exports where experiment_id = ${table.experimentId} and table_identifier = ${table.tableIdentifier} limit ${most}) counted`);

export const findExport = (db: Queryable, experimentId: string, exportId: string) =>
  db.one<ExportRow>(sql('exports.find')`select ${columns} from exports e where e.id = ${exportId} and e.experiment_id = ${experimentId}`);

/** A running attempt reports twice a second. After this long a silence, another attempt may take its place. */
const STALE = fragment`interval '5 seconds'`;

/** Locks the exports of a person until the transaction ends, so that two claims count each other. */
export const lockExportsOf = (tx: Transaction, exportId: string) =>
  tx.run(sql('exports.lockOf')`
    select pg_advisory_xact_lock(hashtextextended('exports ' || coalesce(created_by::text, ''), 0)) from exports where id = ${exportId}`);

/**
 * Begins an attempt. Answers nothing when another attempt is running, when the export has ended, or when its creator already has `perCaller` exports running.
 */
export const claimExport = (tx: Transaction, exportId: string, perCaller: number) =>
  tx.one<ExportRow>(sql('exports.claim')`
    update exports e set status = 'running', attempt = e.attempt + 1, heartbeat_at = now(), started_at = coalesce(e.started_at, now()), percent_done = 0, rows_done = 0,
      bytes_done = 0
    where e.id = ${exportId} and (e.status = 'queued' or (e.status = 'running' and e.heartbeat_at < now() - ${STALE}))
      and (select count(*) from exports other
           where other.created_by = e.created_by and other.id <> e.id and other.status = 'running' and other.heartbeat_at >= now() - ${STALE}) < ${perCaller}
    returning ${columns}`);

interface Attempt {
  exportId: string;
  attempt: number;
}

const mine = ({ exportId, attempt }: Attempt) => fragment`id = ${exportId} and attempt = ${attempt} and status = 'running'`;

/** Records the progress of an attempt. Answers 0 when the attempt no longer counts. */
export const beatExport = (db: Queryable, attempt: Attempt, progress: ExportProgress) =>
  db.run(sql('exports.beat')`
    update exports set heartbeat_at = now(), percent_done = ${progress.percent}, rows_done = ${progress.rows}, bytes_done = ${progress.bytes},
      rows_total = ${progress.totalRows}
    where ${mine(attempt)}`);

export interface CompletedExport {
  objectKey: string;
  sha256: string;
  fileName: string;
  rowCount: number;
  fileSize: number;
  names: NamesPolicy;
  keepDays: number;
}

/** Completes an export. Answers 0 when the attempt has been overtaken or cancelled. */
export const completeExport = (tx: Transaction, attempt: Attempt, made: CompletedExport) =>
  tx.run(sql('exports.complete')`
    update exports set status = 'completed', completed_at = now(), object_key = ${made.objectKey}, sha256 = decode(${made.sha256}, 'hex'), file_name = ${made.fileName},
      row_count = ${made.rowCount}, file_size = ${made.fileSize}, percent_done = 100, rows_done = ${made.rowCount}, bytes_done = ${made.fileSize}, rows_total = ${made.rowCount},
      names = ${made.names}, expires_at = now() + make_interval(days => ${made.keepDays}::integer)
    where ${mine(attempt)}`);

export const failExport = (db: Queryable, attempt: Attempt, reason: string) =>
  db.run(sql('exports.fail')`update exports set status = 'failed', completed_at = now(), reason = ${reason} where ${mine(attempt)}`);

/** Gives an attempt up so that another can begin at once. */
export const releaseExport = (db: Queryable, attempt: Attempt, wentWrong: boolean) =>
  db.run(sql('exports.release')`
    update exports set status = 'queued', errors = errors + ${wentWrong ? 1 : 0} where ${mine(attempt)}`);

export const cancelExport = (tx: Transaction, exportId: string) =>
  tx.run(sql('exports.cancel')`
    update exports set status = 'cancelled', completed_at = now() where id = ${exportId} and status in ('queued', 'running')`);

export const deleteExport = (tx: Transaction, exportId: string) =>
  tx.run(sql('exports.delete')`delete from exports where id = ${exportId}`);

/** The export of this person that has waited longest. */
export const findWaiting = (db: Queryable, createdBy: string) =>
  db.one<{ exportId: string }>(sql('exports.findWaiting')`
    select id as "exportId" from exports where created_by = ${createdBy} and status = 'queued' order by created_at, id limit 1`);

/** Nobody works on the export: it has long been queued, or the process of its attempt is gone. */
const silent = fragment`(status = 'queued' and queued_at < now() - interval '15 seconds')
  or (status = 'running' and heartbeat_at < now() - ${STALE} and queued_at < now() - interval '5 seconds')`;

export const anySilentExport = fragment`exists (select from exports where ${silent})`;

/** Finds exports that nobody works on, and counts them as put into the queue now. */
export const takeSilentExports = (db: Queryable) =>
  db.values<string>(sql('exports.takeSilent')`
    update exports set queued_at = now()
    where id in (
      select id from exports where ${silent}
      order by queued_at limit 100)
    returning id`);

/** Completed exports whose time has passed, and whose file is still kept. */
export const listExpiring = (db: Queryable, limit: number) =>
  db.values<string>(sql('exports.listExpiring')`
    select id from exports where status = 'completed' and expired_at is null and expires_at <= now() order by expires_at limit ${limit}`);

/** Lets files of these experiments that may hold people's names, and are being written, begin anew. Waits for those that are being completed. */
export const reopenNamedExports = (db: Queryable, experiments: readonly string[]) =>
  db.run(sql('exports.reopenNamed')`
    update exports set status = 'queued' where experiment_id = any (${experiments}::uuid[]) and names <> 'pseudonyms' and status = 'running'`);

/** Expires files of these experiments that may hold people's names, and answers how many. */
export const retireNamedExports = (db: Queryable, experiments: readonly string[]) =>
  db.run(sql('exports.retireNamed')`
    update exports set expires_at = now()
    where experiment_id = any (${experiments}::uuid[]) and names <> 'pseudonyms' and status = 'completed' and expired_at is null`);

export const markExpired = (db: Queryable, exportId: string) =>
  db.run(sql('exports.markExpired')`update exports set expired_at = now() where id = ${exportId}`);

export const listExportsToErase = (db: Queryable, experimentId: string) =>
  db.values<string>(sql('exports.listToErase')`select id from exports where experiment_id = ${experimentId}`);

export const deleteExportsOf = (db: Queryable, experimentId: string) =>
  db.run(sql('exports.deleteOf')`delete from exports where experiment_id = ${experimentId}`);
