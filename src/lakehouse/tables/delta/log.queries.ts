import type { Queryable, Transaction } from '../../../database/database.ts';
import { fragment, sql } from '../../../database/sql.ts';
import type { LakeTable } from '../manifest-rows.ts';
import type { LoggedFile, RetiredFile } from './entry.ts';
import type { LogState } from './schema.ts';

/** Whether a table has a file that was there before a version and is not retired. */
export const hasOlderFiles = async (db: Queryable, tableId: string, version: number): Promise<boolean> =>
  (await db.one(sql('lakeLog.keepsFiles')`select 1 from lake_files
    where table_id = ${tableId} and to_version is null and from_version < ${version} limit 1`)) !== undefined;

export interface NewEntry {
  version: number;
  entry: string;
  /** The state of the log after this entry where a checkpoint is to follow; null elsewhere. */
  state: LogState | null;
}

export const insertEntries = (tx: Transaction, tableId: string, entries: readonly NewEntry[]) =>
  tx.run(sql('lakeLog.insertEntries')`insert into lake_log (table_id, version, entry, state)
    select ${tableId}, e.version, e.entry, e.state
    from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as e(version bigint, entry text, state jsonb)`);

export const updateState = (tx: Transaction, tableId: string, state: LogState) =>
  tx.run(sql('lakeLog.updateState')`update lake_tables set log_state = ${JSON.stringify(state)}::jsonb where id = ${tableId}`);

export const anyLogWaiting = fragment`exists (select from lake_log)`;

/** Tables with entries that are not published, except some, the longest waiting first. */
export const listWaitingTables = (db: Queryable, limit: number, except: readonly string[]) =>
  db.values<string>(sql('lakeLog.listWaitingTables')`select table_id from lake_log
    where table_id <> all (${except}::uuid[]) group by table_id order by min(created_at), table_id limit ${limit}`);

/** How many entries are not published, and how many seconds the oldest of them has waited. */
export interface Lag {
  entries: number;
  seconds: number;
}

export const findLag = (db: Queryable) =>
  db.one<Lag>(sql('lakeLog.findLag')`select count(*) as entries,
    coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds from lake_log`);

export const listWithoutLog = (db: Queryable) =>
  db.rows<{ id: string; experimentId: string; kind: string }>(sql('lakeLog.listWithoutLog')`
    select id, experiment_id as "experimentId", kind from lake_tables where log_state is null and row_count > 0 order by id`);

/** Files of a table, live and retired, that do not lie in its folder. */
export const listMisplaced = (db: Queryable, tableId: string, folder: string) =>
  db.rows<{ id: string; path: string }>(sql('lakeLog.listMisplaced')`select id, path from lake_files
    where table_id = ${tableId} and path <> ${folder} || '/' || id || '.parquet'`);

export const movePath = (db: Queryable, fileId: string, path: string) =>
  db.run(sql('lakeLog.movePath')`update lake_files set path = ${path} where id = ${fileId}`);

/** Takes the lock for publishing a table or for removing what is published of it. The transaction holds it until its end. */
export const lockLog = (tx: Transaction, tableId: string) =>
  tx.run(sql('lakeLog.lock')`select pg_advisory_xact_lock(hashtextextended(${tableId}, 12))`);

/** Takes the same lock unless another transaction holds it. Answers whether it was taken. */
export const tryLockLog = async (tx: Transaction, tableId: string): Promise<boolean> =>
  (await tx.value<boolean>(sql('lakeLog.tryLock')`select pg_try_advisory_xact_lock(hashtextextended(${tableId}, 12))`)) === true;

export interface WaitingEntry extends NewEntry {
  experimentId: string;
}

export const listEntries = (db: Queryable, tableId: string, limit: number) =>
  db.rows<WaitingEntry>(sql('lakeLog.listEntries')`select l.version, l.entry, l.state, t.experiment_id as "experimentId"
    from lake_log l join lake_tables t on t.id = l.table_id where l.table_id = ${tableId} order by l.version limit ${limit}`);

/** Counts the tables whose given version no reader of the log can see yet. */
export const countUnpublished = (db: Queryable, tables: readonly { tableId: string; version: number }[]): Promise<number> =>
  db.count(sql('lakeLog.countUnpublished')`select count(*)::int as count
      from jsonb_to_recordset(${JSON.stringify(tables)}::jsonb) as r("tableId" uuid, version bigint)
      left join lake_tables t on t.id = r."tableId" where coalesce(t.published_version, -1) < r.version`);

/** Notes that every entry up to a version is published. */
export const markPublished = (tx: Transaction, tableId: string, version: number) =>
  tx.run(sql('lakeLog.markPublished')`with gone as (delete from lake_log where table_id = ${tableId} and version <= ${version})
    update lake_tables set published_version = ${version} where id = ${tableId}`);

/** Tables whose log still has entries older than the last checkpoint that is not after the oldest kept version. */
export const listTrimmable = (db: Queryable, every: number) =>
  db.rows<{ id: string; experimentId: string; from: number; oldestKept: number }>(sql('lakeLog.listTrimmable')`
    select t.id, t.experiment_id as "experimentId", coalesce(t.log_from, 0) as "from", kept.oldest as "oldestKept"
    from lake_tables t join lateral (select min(version) as oldest from lake_versions v where v.table_id = t.id) kept on true
    where t.published_version >= kept.oldest and kept.oldest / ${every} * ${every} > coalesce(t.log_from, 0) order by t.id`);

/** Notes the first version that a log still has. */
export const setLogFrom = (db: Queryable, tableId: string, version: number) =>
  db.run(sql('lakeLog.setLogFrom')`update lake_tables set log_from = ${version} where id = ${tableId}`);

const isFinite = fragment`abs(r.low) < 'infinity' and abs(r.high) < 'infinity'`;

/** The files of a version, with the ranges of their columns. A range with an infinite bound has neither bound. */
export const listLoggedFiles = (db: Queryable, tableId: string, version: number) =>
  db.rows<LoggedFile>(sql('lakeLog.listLoggedFiles')`select f.path, f.byte_count as "byteCount", f.row_count as "rowCount",
      (extract(epoch from f.created_at) * 1000)::bigint as "modifiedAt",
      coalesce((select jsonb_agg(jsonb_build_object('name', r.name, 'nulls', r.nulls, 'low', case when ${isFinite} then r.low end,
        'high', case when ${isFinite} then r.high end))
        from lake_file_ranges r where r.file_id = f.id), '[]') as ranges
    from lake_files f where f.table_id = ${tableId} and f.from_version <= ${version} and (f.to_version is null or f.to_version > ${version})
    order by f.from_version, f.id`);

/** Files that were retired up to a version and still exist. */
export const listRetired = (db: Queryable, tableId: string, version: number) =>
  db.rows<RetiredFile & { retiredAt: number }>(sql('lakeLog.listRetired')`select path, byte_count as "byteCount",
      (extract(epoch from retired_at) * 1000)::bigint as "retiredAt"
    from lake_files where table_id = ${tableId} and to_version <= ${version} order by to_version, id`);

export const findLogged = (db: Queryable, tableId: string) =>
  db.one<Pick<LakeTable, 'id' | 'name' | 'identifier' | 'experimentId' | 'createdAt'>>(sql('lakeLog.findLogged')`
    select id, name, identifier, experiment_id as "experimentId", created_at as "createdAt" from lake_tables where id = ${tableId}`);
