import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export interface TableRow {
  tableId: string | null;
  kind: 'raw_data' | 'device' | 'macro' | 'upload';
  identifier: string;
  /** Name of an upload table, or of a macro that the caller may read; null otherwise. */
  name: string | null;
  rowCount: number;
  version: number;
  canRead: boolean;
  /** Measurements on which the macro was not run; null for callers who do not manage the experiment. */
  withheld: { measurements: number; firstAt: string; lastAt: string } | null;
  /** Of raw_data, which the caller may read, what was not stored; null otherwise, and when there is nothing. */
  setAside: { reason: string; clientId: string | null; count: number; firstAt: string; lastAt: string }[] | null;
  /** Whether a macro runs on every future measurement; false for other tables. */
  runsOnNew: boolean;
  /** Expanded columns, in order. */
  columns: { name: string; originalKey: string | null; type: string; nullable: boolean; firstSeenAt: string; lastSeenAt: string }[];
}

/**
 * Lists every table of an experiment that a reader is told of, with its columns and whether the caller may read it. raw_data and device come first, then
 * macros, then uploads.
 */
export const listReadableTables = (db: Queryable, userId: string, experimentId: string) =>
  db.rows<TableRow>(sql('data.listTables')`
    with fixed (kind, position) as (values ('raw_data', 1), ('device', 2)),
    withheld as (
      select w.macro_id::text as identifier, w.measurements, w.first_at, w.last_at,
        (select r.name from readable_resources(${userId}, array['macro'], false) r where r.id = w.macro_id) as name
      from withheld_macros w where w.experiment_id = ${experimentId}
        and exists (select from decide(${userId}, 'experiment', ${experimentId}, 'manage') m where m.source is not null)
    ),
    set_aside as (
      select r.key as reason, m.client_id, sum(r.value::bigint)::bigint as count, min(m.arrived_at) as first_at, max(m.arrived_at) as last_at
      from (
        select client_id, reasons, arrived_at from inbox where experiment_id = ${experimentId} and status <> 'stored' order by handled_at desc limit 10000
      ) m cross join lateral jsonb_each_text(m.reasons) r group by 1, 2 order by 3 desc, 1, 2 limit 100
    ),
    on_new as (
      select m.macro_id::text as identifier, m.created_at,
        (select r.name from readable_resources(${userId}, array['macro'], false) r where r.id = m.macro_id) as name
      from experiment_macros m where m.experiment_id = ${experimentId} and m.runs_on_new
    ),
    listed as (
      select t.id, f.kind, f.kind as identifier, null::text as name, coalesce(t.row_count, 0) as row_count, coalesce(t.version, 0) as version, f.position, null::timestamptz as created_at
      from fixed f left join lake_tables t on t.experiment_id = ${experimentId} and t.identifier = f.kind
      union all
      select t.id, t.kind, t.identifier,
        coalesce(t.name, (select r.name from resources r where r.id::text = t.identifier and r.type = 'macro'
          and exists (select from effective_access a where a.resource_id = r.id and a.user_id = ${userId} and a.can_read))),
        t.row_count, t.version, case t.kind when 'macro' then 3 else 4 end, t.created_at
      from lake_tables t where t.experiment_id = ${experimentId} and t.kind in ('macro', 'upload')
      union all
      select null, 'macro', made.identifier, made.name, 0, 0, 3, min(made.at)
      from (select identifier, name, first_at as at from withheld union all select identifier, name, created_at from on_new) made
      where not exists (select from lake_tables t where t.experiment_id = ${experimentId} and t.identifier = made.identifier)
      group by made.identifier, made.name
    )
    select l.id as "tableId", l.kind, l.identifier, l.name, l.row_count as "rowCount", l.version,
      coalesce(d.source is not null, false) and (l.id is not null or l.kind <> 'macro') as "canRead",
      (select json_build_object('measurements', w.measurements, 'firstAt', w.first_at, 'lastAt', w.last_at)
        from withheld w where w.identifier = l.identifier and l.kind = 'macro') as withheld,
      case when l.kind = 'raw_data' and d.source is not null then (
        select json_agg(json_build_object('reason', s.reason, 'clientId', s.client_id, 'count', s.count,
          'firstAt', s.first_at, 'lastAt', s.last_at) order by s.count desc, s.reason, s.client_id) from set_aside s) end as "setAside",
      l.kind = 'macro' and exists (select from on_new n where n.identifier = l.identifier) as "runsOnNew",
      coalesce((select json_agg(json_build_object('name', c.name, 'originalKey', c.original_key, 'type', c.type, 'nullable', c.nullable,
          'firstSeenAt', c.first_seen_at, 'lastSeenAt', c.last_seen_at) order by c.ordinal)
        from lake_columns c where c.table_id = l.id and c.until_version is null and not c.hidden and c.origin <> 'base'), '[]') as columns
    from listed l
    left join lateral decide(${userId}, 'experiment', ${experimentId}, table_action(l.kind)) d on true
    order by l.position, l.created_at, l.identifier`);
