import type { Queryable } from '../src/database/database.ts';
import { sql } from '../src/database/sql.ts';

/** The schema as the catalogue of a migrated database has it: tables with columns, constraints and indexes, functions and views. */
export async function printSchema(db: Queryable): Promise<string> {
  const lines = await db.rows<{ line: string }>(sql('database.schema')`
    with tables as (
      select c.oid, c.relname, c.relpersistence from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'schema_migrations'
    ), columns as (
      select t.relname, 0 as kind, a.attnum::integer as position,
        format('  %s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
          case when a.attnotnull then ' not null' else '' end,
          case when a.attgenerated = 's' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
               when a.attidentity <> '' then ' generated as identity'
               when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end) as line
      from tables t
      join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
    ), constraints as (
      select t.relname, 1 as kind, (row_number() over (partition by t.oid order by c.contype, c.conname))::integer as position,
        format('  constraint %s %s', c.conname, pg_get_constraintdef(c.oid)) as line
      from tables t join pg_constraint c on c.conrelid = t.oid and c.contype in ('p', 'u', 'f', 'c')
    ), indexes as (
      select t.relname, 2 as kind, (row_number() over (partition by t.oid order by i.relname))::integer as position, '  ' || pg_get_indexdef(i.oid) as line
      from tables t join pg_index x on x.indrelid = t.oid join pg_class i on i.oid = x.indexrelid
      where not exists (select from pg_constraint c where c.conindid = i.oid and c.contype in ('p', 'u'))
    ), headers as (
      select relname, -1 as kind, 0 as position, case when relpersistence = 'u' then 'unlogged ' else '' end || 'table ' || relname as line from tables
    ), functions as (
      select 'zz function ' || p.proname as relname, 0 as kind, 0 as position, pg_get_functiondef(p.oid) as line
      from pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    ), views as (
      select 'zz view ' || v.viewname as relname, 0 as kind, 0 as position, format('view %s as%s%s', v.viewname, E'\n', v.definition) as line
      from pg_views v where v.schemaname = 'public'
    )
    select line from (
      table headers union all table columns union all table constraints union all table indexes union all table functions union all table views
    ) everything
    order by relname collate "C", kind, position, line collate "C"`);
  return lines.map(({ line }) => line.trimEnd()).join('\n');
}
