import type { Queryable } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import type { LakeTable } from '../lakehouse/tables/manifest-rows.ts';

export interface Waiting {
  pendingMessages: number;
  /** Seconds that the oldest waiting message waits; 0 when none does. */
  messageLag: number;
  pendingMacroRows: number;
  macroLag: number;
}

export const findWaiting = (db: Queryable) =>
  db.one<Waiting>(sql('lake.waiting')`
    select m.count as "pendingMessages", coalesce(extract(epoch from now() - m.oldest), 0)::float8 as "messageLag",
      w.rows as "pendingMacroRows", coalesce(extract(epoch from now() - w.oldest), 0)::float8 as "macroLag"
    from (select count(*) as count, min(i.arrived_at) as oldest from pending_messages p join inbox i on i.id = p.message_id) m,
      (select coalesce(sum(cardinality(row_ids)), 0)::bigint as rows, min(created_at) as oldest from macro_work) w`);

/** Experiments whose messages wait, those that wait longest first. */
export const listWaitingExperiments = (db: Queryable) =>
  db.rows<{ experimentId: string; experimentName: string | null; pendingMessages: number; messageLag: number }>(sql(
    'lake.waitingExperiments',
  )`
    select p.experiment_id as "experimentId", r.name as "experimentName", count(*) as "pendingMessages",
      coalesce(extract(epoch from now() - min(i.arrived_at)), 0)::float8 as "messageLag"
    from pending_messages p join inbox i on i.id = p.message_id left join resources r on r.id = p.experiment_id
    group by p.experiment_id, r.name order by "messageLag" desc, p.experiment_id limit 20`);

export interface KindStatus {
  kind: string;
  tables: number;
  rows: number;
  files: number;
  bytes: number;
  smallFiles: number;
  retiredFiles: number;
  retiredBytes: number;
}

export const listKinds = (db: Queryable, smallRows: number) =>
  db.rows<KindStatus>(sql('lake.kinds')`
    select t.kind, count(distinct t.id) as tables, coalesce(sum(f.row_count) filter (where f.to_version is null), 0)::bigint as rows,
      count(f.id) filter (where f.to_version is null) as files, coalesce(sum(f.byte_count) filter (where f.to_version is null), 0)::bigint as bytes,
      count(f.id) filter (where f.to_version is null and f.row_count < ${smallRows}) as "smallFiles",
      count(f.id) filter (where f.to_version is not null) as "retiredFiles",
      coalesce(sum(f.byte_count) filter (where f.to_version is not null), 0)::bigint as "retiredBytes"
    from lake_tables t left join lake_files f on f.table_id = t.id group by t.kind order by t.kind`);

export const listMessageStates = (db: Queryable) =>
  db.rows<{ status: string; messages: number; stored: number; quarantined: number; alreadyThere: number; bytes: number }>(sql(
    'lake.messageStates',
  )`
    select status, count(*) as messages, sum(stored)::bigint as stored, sum(quarantined)::bigint as quarantined, sum(already_there)::bigint as "alreadyThere", sum(byte_count)::bigint as bytes
    from messages group by status order by status`);

export const listReasons = (db: Queryable) =>
  db.rows<{ reason: string; count: number }>(sql('lake.reasons')`
    select r.key as reason, sum(r.value::bigint)::bigint as count from messages m, jsonb_each_text(m.reasons) r
    where m.status in ('partial', 'quarantined') group by r.key order by count desc`);

export const listTables = (db: Queryable) =>
  db.rows<Omit<LakeTable, 'createdAt'>>(sql('lake.tables')`
    select id, experiment_id as "experimentId", kind, identifier, name, version, row_count as "rowCount" from lake_tables order by experiment_id, kind, identifier`);

/** Tables that have a log, with the names that people know. */
export const listNamedTables = (db: Queryable) =>
  db.rows<{ id: string; experimentId: string; experimentName: string; name: string }>(sql('lake.listNamedTables')`
    select t.id, t.experiment_id as "experimentId", r.name as "experimentName", coalesce(t.name, t.kind) as name
    from lake_tables t join resources r on r.id = t.experiment_id where t.published_version is not null order by t.id`);
