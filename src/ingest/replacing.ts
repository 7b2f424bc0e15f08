/** Immutable files, written anew without some of their rows. */
import { join } from 'node:path';
import { filesAt, type ColumnState } from '../lakehouse/manifest.ts';
import { physicalType, quote } from '../lakehouse/staging.ts';
import type { Staged, Statement } from '../lakehouse/warehouse.ts';
import type { Batch } from './message-tables.ts';

const list = (name: string, values: readonly string[]): Statement => ({
  sql: `set variable ${name} = $1`,
  values: [{ type: { kind: 'string' }, value: values }],
});
const EXPRESSION = { raw_id: 'raw_id', source: 'substr(id, 1, 20)' } as const;

/** Rows to leave out: those whose id, source (the first 20 digits of the id) or measurement is one of these. */
export interface Replaced {
  key: 'raw_id' | 'source';
  values: readonly string[];
}

/** Stages the files of a table anew that hold some rows, without those rows; `range` is of the sort column, and says in what files they can be. */
export async function stageWithout(
  batch: Batch,
  table: { id: string; version: number; known: readonly ColumnState[] },
  { key, values }: Replaced,
  range: { from?: string; to?: string } = {},
): Promise<{ retire: string[]; staged?: Staged }> {
  const { db, session, staging, experimentId } = batch;
  const files = await filesAt(db, table.id, table.version, range);
  const nothing: { retire: string[]; staged?: Staged } = { retire: [] };
  if (files.length === 0) return nothing;
  const full = new Map(files.map(({ id, path }) => [join(staging.lakeFolder, path), id]));
  await session.prepare([list('files', [...full.keys()]), list('replaced', values)]);
  const held = await session.rows({
    sql: `select distinct filename from read_parquet(getvariable('files'), filename = true, union_by_name = true, hive_partitioning = false)
      where ${EXPRESSION[key]} in (select unnest(getvariable('replaced')))`,
    values: [],
  });
  if (held.length === 0) return nothing;
  const paths = held.map(({ filename }) => String(filename));
  await session.prepare([list('files', paths)]);
  const typed = table.known.filter(({ hasValues }) => hasValues);
  const empty = ['null::varchar as id', ...typed.map(({ name, type }) => `null::${physicalType(type)} as ${quote(name)}`)].join(', ');
  const casts = typed.map(({ name, type }) => `cast(${quote(name)} as ${physicalType(type)}) as ${quote(name)}`).join(', ');
  const source = `select ${empty} where false union all by name select * from read_parquet(getvariable('files'), union_by_name = true, hive_partitioning = false)`;
  const staged = await session.stage({
    tableId: table.id,
    experimentId,
    select: {
      sql: `select *${casts === '' ? '' : ` replace (${casts})`} from (${source}) where ${EXPRESSION[key]} not in (select unnest(getvariable('replaced')))`,
      values: [],
    },
    sortColumn: 'timestamp',
  });
  return { retire: paths.map((path) => full.get(path) ?? ''), staged };
}
