import type { Queryable } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import type { AccessSource } from './roles.ts';

export interface TableAccess {
  experimentName: string;
  organizationId: string;
  isAnonymised: boolean;
  /** Null for a table that does not exist. raw_data and device always do. */
  kind: string | null;
  tableId: string | null;
  identifier: string | null;
  tableName: string | null;
  version: number;
  rowCount: number;
  /** Null when the caller may not read this table. */
  source: AccessSource | null;
}

/** Finds one table of an experiment, by identifier or upload name, and whether the caller may read it. Raw and uploaded rows need contribute, others read. */
export const findTableAccess = (db: Queryable, userId: string, experimentId: string, name: string) =>
  db.one<TableAccess>(sql('authorization.table')`
    with asked as (
      select e.id, r.name as experiment_name, e.anonymize_contributors,
        coalesce(t.kind, case when ${name} in ('raw_data', 'device') then ${name} end) as kind,
        t.id as table_id, t.identifier, t.name, coalesce(t.version, 0) as version, coalesce(t.row_count, 0) as row_count
      from experiments e
      join resources r on r.id = e.id
      left join lateral (
        select * from lake_tables t
        where t.experiment_id = e.id and t.kind in ('raw_data', 'device', 'macro', 'upload')
          and (t.identifier = ${name} or (t.kind = 'upload' and lower(t.name) = lower(${name})))
        order by t.identifier = ${name} desc limit 1
      ) t on true
      where e.id = ${experimentId}
    )
    select a.experiment_name as "experimentName", d.organization_id as "organizationId", a.anonymize_contributors as "isAnonymised",
      a.kind, a.table_id as "tableId", coalesce(a.identifier, a.kind) as identifier, a.name as "tableName", a.version, a.row_count as "rowCount", d.source
    from asked a
    left join lateral decide(${userId}, 'experiment', a.id, table_action(a.kind)) d on true`);

/** Lists the names of uploaded tables of an experiment that the caller may read, the newest 1,000 of them. */
export const listUploadNames = (db: Queryable, userId: string, experimentId: string) =>
  db.values<string>(sql('authorization.uploadNames')`
    select t.name
    from lake_tables t
    cross join decide(${userId}, 'experiment', t.experiment_id, table_action(t.kind)) d
    where t.experiment_id = ${experimentId} and t.kind = 'upload' and t.name is not null and d.source is not null
    order by t.created_at desc
    limit 1000`);
