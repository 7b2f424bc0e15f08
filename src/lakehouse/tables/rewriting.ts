/** Writes the rows of files into new files with the types that the table has now, because a file never changes. */
import { join } from 'node:path';
import type { Database } from './manifest.queries.ts';
import { listFilesAt, type ColumnState } from './manifest.ts';
import type { LakeFile } from './manifest-rows.ts';
import type { StagingArea, StagingSession } from './staging.ts';
import { printPhysicalType } from '../terms/physical-types.ts';
import { quoteName } from '../terms/quoting.ts';
import { printType } from '../terms/types.ts';
import type { Staged, Statement } from '../terms/warehouse.ts';

/** Names the files that `writeSelect` reads, as absolute paths. */
export const setFilesVariable = (paths: readonly string[]): Statement => ({
  sql: 'set variable files = $1',
  values: [{ type: { kind: 'string' }, value: paths }],
});

/** Writes a SELECT of every row of the files of `setFilesVariable`, with the types of these columns. Columns that are not named keep their types. */
export function writeSelect(columns: readonly ColumnState[], where?: string): string {
  // the id is left out: it is always text, and comes first below
  const typed = columns.filter(({ name, hasValues }) => hasValues && name !== 'id');
  const empty = ['null::varchar as id', ...typed.map(({ name, type }) => `null::${printPhysicalType(type)} as ${quoteName(name)}`)].join(
    ', ',
  );
  const casts = typed.map(({ name, type }) => `cast(${quoteName(name)} as ${printPhysicalType(type)}) as ${quoteName(name)}`).join(', ');
  const source = `select ${empty} where false union all by name select * from read_parquet(getvariable('files'), union_by_name = true, hive_partitioning = false)`;
  return `select *${casts === '' ? '' : ` replace (${casts})`} from (${source})${where === undefined ? '' : ` where ${where}`}`;
}

/** Whether the rows of these files, read one after the other, are in order, so that writing them anew needs no sort, which holds wide rows in memory. */
export const areInOrder = (files: readonly LakeFile[]): boolean =>
  files.every(({ minKey, minId, nullKeys }, at) => {
    if (minKey === null || minId === null || nullKeys !== 0) return false;
    const { maxKey, maxId } = files[at - 1] ?? {};
    return maxKey == null || maxId == null || maxKey < minKey || (maxKey === minKey && maxId < minId);
  });

/** About how many rows are written anew at once. */
const PART_ROWS = 200_000;

/** Splits files, by absolute path, into parts that are written anew one after the other. */
export function splitFiles(files: ReadonlyMap<string, LakeFile>): { paths: string[]; rows: number }[] {
  const parts: { paths: string[]; rows: number }[] = [];
  for (const [path, { rowCount }] of files) {
    const last = parts.at(-1);
    if (last && last.rows + rowCount <= PART_ROWS) {
      last.paths.push(path);
      last.rows += rowCount;
    } else parts.push({ paths: [path], rows: rowCount });
  }
  return parts;
}

/** Files to retire, and the files that replace them. */
export interface Rewritten {
  /** Ids of files. */
  retire: readonly string[];
  staged?: Staged;
}

interface RewriteDeps {
  db: Database;
  staging: StagingArea;
  session: StagingSession;
}

interface KnownTable {
  id: string;
  version: number;
  /** The columns of that version. */
  known: readonly ColumnState[];
}

/** Adds columns to those of a table. A column with a known name takes the place of the known one. */
export const addColumns = (known: readonly ColumnState[], columns: readonly ColumnState[]): ColumnState[] => [
  ...new Map([...known, ...columns].map((column) => [column.name, column])).values(),
];

/** Finds the files that hold a column of which the type changes, by absolute path, in their order. */
export async function findWidened(
  { db, staging, session }: RewriteDeps,
  { id, version, known }: KnownTable,
  columns: readonly ColumnState[],
): Promise<ReadonlyMap<string, LakeFile>> {
  const before = new Map(known.filter(({ hasValues }) => hasValues).map(({ name, type }) => [name, printType(type)]));
  const widened = columns.filter(({ name, type }) => (before.get(name) ?? printType(type)) !== printType(type));
  return findHolding(
    { db, staging, session },
    { id, version },
    widened.map(({ name }) => name),
  );
}

/** Finds the files that hold one of these columns, by absolute path, in their order. */
export async function findHolding(
  { db, staging, session }: RewriteDeps,
  { id, version }: Omit<KnownTable, 'known'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, LakeFile>> {
  const files = names.length === 0 ? [] : await listFilesAt(db, id, version);
  if (files.length === 0) return new Map();
  const all = new Map(files.map((file) => [join(staging.lakeFolder, file.path), file]));
  await session.prepare([setFilesVariable([...all.keys()])]);
  const holding = await session.rows({
    sql: `select distinct file_name as path from parquet_schema(getvariable('files')) where list_contains($1, name)`,
    values: [{ type: { kind: 'string' }, value: names }],
  });
  const paths = new Set(holding.map(({ path }) => String(path)));
  return new Map([...all].filter(([path]) => paths.has(path)));
}

/**
 * Rewrites and stages the files that hold a column of which the type changes, so that a column has one type in all files of a version. Does nothing where no
 * type changes. The commit must be based on the table's version (`changeWith`): a file added in between would still have the old type.
 */
export async function widenFiles(
  deps: RewriteDeps,
  table: KnownTable & { experimentId: string; sortColumn: string },
  columns: readonly ColumnState[],
): Promise<Rewritten> {
  const files = await findWidened(deps, table, columns);
  if (files.size === 0) return { retire: [] };
  await deps.session.prepare([setFilesVariable([...files.keys()])]);
  const staged = await deps.session.stage({
    tableId: table.id,
    experimentId: table.experimentId,
    select: { sql: writeSelect(addColumns(table.known, columns)), values: [] },
    sortColumn: table.sortColumn,
    sorted: areInOrder([...files.values()]),
  });
  return { retire: [...files.values()].map(({ id }) => id), staged };
}

/** Makes the part of a commit that adds and retires files. A commit that rewrites files is based on the version in which they were found. */
export const changeWith = (rows: Staged, { retire, staged }: Rewritten, version: number) => ({
  files: [...rows.files, ...(staged?.files ?? [])],
  retire,
  ...(retire.length === 0 ? {} : { basedOn: version }),
});
