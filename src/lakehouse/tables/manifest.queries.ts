import type { Database, Queryable, Transaction } from '../../database/database.ts';
import { fragment, nothing, sql } from '../../database/sql.ts';
import type { KeptValues } from '../terms/kept-values.ts';
import type { AskedTexts } from '../terms/source.ts';
import type { CatalogueColumn, FileRange, LakeFile, LakeTable, LockedTable, NewColumn, NewFile, NewSource } from './manifest-rows.ts';
import type { ColumnValues } from './staging.ts';

export type { Database, Queryable, Transaction };

const tableColumns = fragment`id, experiment_id as "experimentId", kind, identifier, name, version, row_count as "rowCount",
  created_at as "createdAt"`;
const fileColumns = fragment`id, path, row_count as "rowCount", byte_count as "byteCount",
  to_char(min_key at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "minKey",
  to_char(max_key at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "maxKey",
  min_id as "minId", max_id as "maxId", null_keys as "nullKeys"`;

/** Makes the condition that a file `f` is in a version of a table. */
const inVersion = (tableId: string, version: number) =>
  fragment`f.table_id = ${tableId} and f.from_version <= ${version} and (f.to_version is null or f.to_version > ${version})`;

/** Finds a table by its identifier, or an upload table by its name in any case. */
export const findTable = (db: Queryable, experimentId: string, identifier: string) =>
  db.one<LakeTable>(sql('lake.findTable')`select ${tableColumns} from lake_tables
    where experiment_id = ${experimentId} and (identifier = ${identifier} or (kind = 'upload' and lower(name) = lower(${identifier})))
    order by identifier = ${identifier} desc limit 1`);

export const findTableById = (db: Queryable, tableId: string) =>
  db.one<LakeTable>(sql('lake.findTableById')`select ${tableColumns} from lake_tables where id = ${tableId}`);

/** Locks a table until the transaction ends; waits for every other writer of it first. */
export const lockTable = (tx: Transaction, tableId: string) =>
  tx.one<LockedTable>(sql('lake.lockTable')`
    select ${tableColumns}, log_state as "logState" from lake_tables where id = ${tableId} for update`);

/** Inserts a table. Answers undefined when the experiment already has one with that identifier; a taken upload name is `errors.tableNameTaken`. */
export const insertTable = (
  db: Queryable,
  table: { id: string; experimentId: string; kind: string; identifier: string; name: string | null; createdBy: string | null },
) =>
  db.one<LakeTable>(sql('lake.insertTable')`insert into lake_tables (id, experiment_id, kind, identifier, name, created_by)
    values (${table.id}, ${table.experimentId}, ${table.kind}, ${table.identifier}, ${table.name}, ${table.createdBy})
    on conflict (experiment_id, identifier) do nothing returning ${tableColumns}`);

export const insertVersion = (tx: Transaction, version: { tableId: string; version: number; rowCount: number; cause: string }) =>
  tx.run(sql('lake.insertVersion')`insert into lake_versions (table_id, version, row_count, cause)
    values (${version.tableId}, ${version.version}, ${version.rowCount}, ${version.cause})`);

export const updateTableVersion = (tx: Transaction, table: { tableId: string; version: number; rowCount: number }) =>
  tx.run(sql('lake.updateTableVersion')`update lake_tables set version = ${table.version}, row_count = ${table.rowCount}, updated_at = now()
    where id = ${table.tableId}`);

export const findVersion = (db: Queryable, tableId: string, version: number) =>
  db.one<{ version: number; rowCount: number; committedAt: Date }>(sql('lake.findVersion')`select version, row_count as "rowCount",
    committed_at as "committedAt" from lake_versions where table_id = ${tableId} and version = ${version}`);

const numberText = (number: number | null) => (number === null ? null : String(number));
/** Makes a file's JSON. Bounds become text, because JSON has no infinite numbers. */
const asJson = ({ columns: _, ...file }: NewFile) => ({
  ...file,
  ranges: file.ranges.map((range) => ({ ...range, low: numberText(range.low), high: numberText(range.high) })),
});

export const insertFiles = (tx: Transaction, tableId: string, version: number, files: readonly NewFile[]) =>
  tx.run(sql('lake.insertFiles')`
    with f as (
      select * from jsonb_to_recordset(${JSON.stringify(files.map(asJson))}::jsonb)
        as f(id uuid, path text, "rowCount" bigint, "byteCount" bigint, sha256 text, "minKey" timestamptz, "maxKey" timestamptz,
          "minId" text, "maxId" text, "nullKeys" bigint, ranges jsonb)
    ), added as (
      insert into lake_files (id, table_id, path, row_count, byte_count, sha256, min_key, max_key, min_id, max_id, null_keys, from_version)
      select f.id, ${tableId}, f.path, f."rowCount", f."byteCount", decode(f.sha256, 'hex'), f."minKey", f."maxKey", f."minId", f."maxId", f."nullKeys", ${version} from f
    )
    insert into lake_file_ranges (file_id, name, stored_as, low, high, nulls)
    select f.id, r.name, r."storedAs", r.low, r.high, r.nulls
    from f cross join lateral jsonb_to_recordset(f.ranges) as r(name text, "storedAs" text, low double precision, high double precision, nulls bigint)`);

/** Retires live files and answers what they were. Fewer than asked for means that another writer retired one. */
export const retireFiles = (tx: Transaction, tableId: string, version: number, fileIds: readonly string[]) =>
  tx.rows<{ path: string; rowCount: number; byteCount: number }>(sql('lake.retireFiles')`
    update lake_files set to_version = ${version}, retired_at = now()
    where table_id = ${tableId} and to_version is null and id = any (${fileIds}::uuid[]) returning path, row_count as "rowCount", byte_count as "byteCount"`);

interface KeyRange {
  /** Inclusive bounds of the sort column, ISO 8601. Files in which every key is null are kept. */
  from?: string;
  to?: string;
}

/** Lists the files of one version by sort key, the newest last. With a range, lists only those that can hold a key in it. */
export const listFiles = (db: Queryable, tableId: string, version: number, range: KeyRange = {}) =>
  db.rows<LakeFile>(sql('lake.listFiles')`select ${fileColumns} from lake_files f
    where ${inVersion(tableId, version)}
      ${range.from === undefined ? nothing : fragment`and (max_key >= ${range.from}::timestamptz or max_key is null)`}
      ${range.to === undefined ? nothing : fragment`and (min_key <= ${range.to}::timestamptz or min_key is null)`}
    order by min_key nulls last, max_key, min_id, id`);

/** Live files whose values are not noted yet. */
export const listFilesWithoutNotes = (db: Queryable, tableId: string) =>
  db.rows<{ id: string; path: string }>(sql('lake.listFilesWithoutNotes')`select id, path from lake_files
    where table_id = ${tableId} and to_version is null and not values_noted order by min_key nulls last, id`);

/** Readable tables with a live file of at least `atLeast` rows whose values are not noted yet. */
export const listTablesWithoutNotes = (
  db: Queryable,
  { atLeast, limit, except }: { atLeast: number; limit: number; except: readonly string[] },
) =>
  db.values<string>(sql('lake.listTablesWithoutNotes')`select distinct t.id from lake_files f join lake_tables t on t.id = f.table_id
    where f.to_version is null and not f.values_noted and f.row_count >= ${atLeast} and t.kind in ('raw_data', 'device', 'macro', 'upload')
      and t.id <> all (${except}::uuid[])
    order by t.id limit ${limit}`);

/** Marks a file as noted. Answers zero when the file is gone, or another process has marked it. */
export const markNoted = (tx: Transaction, fileId: string) =>
  tx.run(sql('lake.markNoted')`update lake_files set values_noted = true where id = ${fileId} and not values_noted`);

export const insertFileValues = (tx: Transaction, fileId: string, values: readonly ColumnValues[]) =>
  tx.run(sql('lake.insertFileValues')`insert into lake_file_values (file_id, name, type, counts, nulls)
    select ${fileId}, v.name, v.type, v.counts, v.nulls
    from jsonb_to_recordset(${JSON.stringify(values)}::jsonb) as v(name text, type text, counts jsonb, nulls bigint)`);

/** Counts the rows with one of these values, or without them when `negated`, in each file of a version. Leaves out files without notes of the column's type. */
export const listCountedRows = (
  db: Queryable,
  { tableId, version }: { tableId: string; version: number },
  { column, type, texts, nulls, negated }: KeptValues,
) =>
  db.rows<{ path: string; rows: number }>(sql('lake.listCountedRows')`
    select f.path, case when ${negated} then f.row_count - k.rows else k.rows end as rows
    from lake_files f join lake_file_values v on v.file_id = f.id and v.name = ${column} and v.type = ${type}
    cross join lateral (
      select (coalesce(sum((v.counts ->> asked.text)::bigint), 0) + case when ${nulls} then v.nulls else 0 end)::bigint as rows
      from unnest(${texts}::text[]) as asked(text)
    ) k
    where ${inVersion(tableId, version)}`);

/** The distinct values of one column in the files of a version, as `AskedTexts` orders them. Null where a file has no notes of the column's type, or there is none. */
export const findNotedTexts = (
  db: Queryable,
  { tableId, version }: { tableId: string; version: number },
  { column, type, order, limit }: AskedTexts,
) =>
  db.one<{ texts: string[] | null }>(sql('lake.findNotedTexts')`
    with files as (select v.counts from lake_files f left join lake_file_values v on v.file_id = f.id and v.name = ${column} and v.type = ${type}
      where ${inVersion(tableId, version)})
    select case when (select bool_and(counts is not null) from files) then array(
      select text from (select distinct jsonb_object_keys(counts) as text from files) as noted where text <> ''
      order by case when ${order === 'number'} then text::numeric end, text collate "C" limit ${limit}) end as texts`);

/** The ranges of one column in the files of a version. Files without a known range are left out. */
export const listRanges = (db: Queryable, { tableId, version }: { tableId: string; version: number }, column: string) =>
  db.rows<FileRange>(sql('lake.listRanges')`select f.path, f.row_count as "rowCount", r.stored_as as "storedAs", r.low, r.high, r.nulls
    from lake_files f join lake_file_ranges r on r.file_id = f.id and r.name = ${column}
    where ${inVersion(tableId, version)}`);

/** The current files of tables that only the service reads, with the version of each table. A row whose path is null stands for a table without files. */
export const listInternalFiles = (db: Queryable, experimentId: string, kinds: readonly string[]) =>
  db.rows<{ id: string; kind: string; version: number; rowCount: number; path: string | null }>(sql('lake.listInternalFiles')`
    select t.id, t.kind, t.version, t.row_count as "rowCount", f.path
    from lake_tables t left join lake_files f on f.table_id = t.id and f.to_version is null
    where t.experiment_id = ${experimentId} and t.kind = any (${kinds}::text[])
    order by t.kind, f.min_key nulls last, f.id`);

/** The columns of the catalogue as of one version, in column order. */
export const listColumns = (db: Queryable, tableId: string, version: number) =>
  db.rows<CatalogueColumn>(sql('lake.listColumns')`select name, type, origin, original_key as "originalKey", nullable, hidden,
      has_values as "hasValues", exact_double as "exactDouble", ordinal
    from lake_columns where table_id = ${tableId} and since_version <= ${version} and (until_version is null or until_version > ${version})
    order by ordinal, name`);

/** The names of the columns that a table got at a moment (ISO 8601) or later. */
export const listColumnsSince = (db: Queryable, tableId: string, moment: string) =>
  db.values<string>(sql('lake.listColumnsSince')`select name from lake_columns
    where table_id = ${tableId} and until_version is null and first_seen_at >= ${moment}::timestamptz order by ordinal, name`);

export const insertColumns = (tx: Transaction, tableId: string, version: number, columns: readonly NewColumn[]) =>
  tx.run(sql('lake.insertColumns')`insert into lake_columns
      (table_id, name, type, origin, original_key, nullable, hidden, has_values, exact_double, ordinal, since_version, first_seen_at)
    select ${tableId}, c.name, c.type, c.origin, c."originalKey", c.nullable, c.hidden, c."hasValues", c."exactDouble", c.ordinal, ${version},
      coalesce((select min(first_seen_at) from lake_columns known where known.table_id = ${tableId} and known.name = coalesce(c.formerly, c.name)), now())
    from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as c(name text, formerly text, type text, origin text, "originalKey" text, nullable boolean,
      hidden boolean, "hasValues" boolean, "exactDouble" boolean, ordinal integer)`);

/** Ends the live catalogue rows of these columns at a version. */
export const closeColumns = (tx: Transaction, tableId: string, version: number, names: readonly string[]) =>
  tx.run(sql('lake.closeColumns')`update lake_columns set until_version = ${version}
    where table_id = ${tableId} and until_version is null and name = any (${names}::text[])`);

export const touchColumns = (tx: Transaction, tableId: string, names: readonly string[]) =>
  tx.run(sql('lake.touchColumns')`update lake_columns set last_seen_at = now()
    where table_id = ${tableId} and until_version is null and name = any (${names}::text[])`);

/** Passes an array of our own words and numbers as one value. In a list, the driver would look through every element for characters to escape. */
const together = (values: readonly (string | number | undefined)[]) =>
  fragment`string_to_array(${values.map((value) => value ?? '-').join(',')}, ',', '-')`;

/**
 * Claims sources for a version. Answers how many were new; with `onlyNew` it fails when one is not. They go in in the order of the index, which is quicker than
 * in any other.
 */
export const insertSources = (
  tx: Transaction,
  { tableId, version }: { tableId: string; version: number },
  sources: readonly NewSource[],
  onlyNew = false,
) =>
  tx.run(sql('lake.insertSources')`
    insert into lake_sources (table_id, source, version, row_count, quarantined_count, origin, pipeline_version)
    select ${tableId}, decode(s.source, 'hex'), ${version}, s.row_count, s.quarantined_count, s.origin, s.pipeline_version
    from unnest(${together(sources.map(({ source }) => source))}, ${together(sources.map(({ rowCount }) => rowCount))}::bigint[],
      ${together(sources.map(({ quarantinedCount }) => quarantinedCount))}::bigint[], ${together(sources.map(({ origin }) => origin))}::uuid[],
      ${together(sources.map(({ pipelineVersion }) => pipelineVersion))}) as s(source, row_count, quarantined_count, origin, pipeline_version)
    order by s.source ${onlyNew ? nothing : fragment`on conflict (table_id, source) do nothing`}`);

export const findSource = (db: Queryable, tableId: string, source: string) =>
  db.one<{ version: number; rowCount: number; quarantinedCount: number; origin: string | null }>(sql('lake.findSource')`
    select version, row_count as "rowCount", quarantined_count as "quarantinedCount", origin from lake_sources where table_id = ${tableId} and source = decode(${source}, 'hex')`);

/** Notes that the rows of sources were made anew. */
export const restampSources = (
  tx: Transaction,
  tableId: string,
  sources: readonly { source: string; version: number; rowCount: number; pipelineVersion: string }[],
) =>
  tx.run(sql('lake.restampSources')`
    update lake_sources s set version = n.version, row_count = n."rowCount", pipeline_version = n."pipelineVersion", committed_at = now()
    from jsonb_to_recordset(${JSON.stringify(sources)}::jsonb) as n(source text, version bigint, "rowCount" bigint, "pipelineVersion" text)
    where s.table_id = ${tableId} and s.source = decode(n.source, 'hex')`);

/** Notes that refused records of a source are stored now; zero when another writer was faster. */
export const moveSource = (
  tx: Transaction,
  tableId: string,
  change: { source: string; from: Omit<NewSource, 'source'>; to: Omit<NewSource, 'source'> },
) =>
  tx.run(sql('lake.moveSource')`update lake_sources set row_count = ${change.to.rowCount}, quarantined_count = ${change.to.quarantinedCount}
    where table_id = ${tableId} and source = decode(${change.source}, 'hex') and row_count = ${change.from.rowCount}
      and quarantined_count = ${change.from.quarantinedCount}`);

/** Forgets sources whose rows have left the table, so that they are new when they come again. */
export const forgetSources = (tx: Transaction, tableId: string, sources: readonly string[]) =>
  tx.run(sql('lake.forgetSources')`delete from lake_sources
    where table_id = ${tableId} and source = any (array(select decode(each, 'hex') from unnest(${sources}::text[]) as each))`);

/** Lists which of these sources the table has, with the message or upload of each. */
export const listKnownSources = (db: Queryable, tableId: string, sources: readonly string[]) =>
  db.rows<{ source: string; origin: string | null }>(sql('lake.knownSources')`
    select encode(s.source, 'hex') as source, s.origin from lake_sources s
    where s.table_id = ${tableId} and s.source = any (array(select decode(asked, 'hex') from unnest(${together(sources)}) as asked))`);

/**
 * Forgets versions that were replaced before a time, and all but the newest `most` of a table. The current one always stays. A forgotten version can no longer
 * be read with `asOf`.
 */
export const deleteOldVersions = (db: Queryable, { before, most }: { before: Date; most: number }) =>
  db.run(sql('lake.deleteOldVersions')`delete from lake_versions v using lake_tables t
    where t.id = v.table_id and v.version < t.version and (v.version <= t.version - ${most}
      or v.committed_at < ${before.toISOString()}::timestamptz
        and not exists (select from lake_versions later where later.table_id = v.table_id and later.version = v.version + 1
          and later.committed_at >= ${before.toISOString()}::timestamptz))`);

/** Retired files that no kept version reads, oldest first. */
export const listDeletableFiles = (db: Queryable, retiredBefore: Date, limit: number) =>
  db.rows<{ id: string; path: string; byteCount: number }>(sql('lake.listDeletableFiles')`
    select id, path, byte_count as "byteCount" from lake_files f
    where to_version is not null and retired_at < ${retiredBefore.toISOString()}::timestamptz
      and not exists (select from lake_versions v where v.table_id = f.table_id and v.version >= f.from_version and v.version < f.to_version)
    order by retired_at limit ${limit}`);

/** Files of an experiment's tables of one kind that were retired before a time. */
export const listRetiredFiles = (db: Queryable, { experimentId, kind, before }: { experimentId: string; kind: string; before: Date }) =>
  db.rows<{ id: string; path: string }>(sql('lake.listRetiredFiles')`
    select f.id, f.path from lake_files f join lake_tables t on t.id = f.table_id
    where t.experiment_id = ${experimentId} and t.kind = ${kind} and f.to_version is not null and f.retired_at < ${before.toISOString()}::timestamptz`);

export const deleteFiles = (db: Queryable, files: readonly { id: string }[]) =>
  db.run(sql('lake.deleteFiles')`delete from lake_files where id = any (${files.map(({ id }) => id)}::uuid[]) and to_version is not null`);

export const listKnownPaths = (db: Queryable, paths: readonly string[]) =>
  db.values<string>(sql('lake.knownPaths')`select path from lake_files where path = any (${paths}::text[])`);

/** Tables that compaction should look at: those with many small live files, the worst first. */
export const listFragmentedTables = (
  db: Queryable,
  { smallRows, atLeast, limit, except }: { smallRows: number; atLeast: number; limit: number; except: readonly string[] },
) =>
  db.rows<{ id: string; kind: string; smallFiles: number }>(sql('lake.listFragmentedTables')`select t.id, t.kind, count(*) as "smallFiles"
    from lake_files f join lake_tables t on t.id = f.table_id
    where f.to_version is null and f.row_count < ${smallRows} and t.id <> all (${except}::uuid[])
    group by t.id having count(*) >= ${atLeast}
    order by count(*) desc, t.id limit ${limit}`);

export const listTablesOf = (db: Queryable, experimentId: string, kind?: string) =>
  db.rows<{ id: string; experimentId: string }>(sql('lake.listTablesOf')`select id, experiment_id as "experimentId" from lake_tables
    where experiment_id = ${experimentId} ${kind === undefined ? nothing : fragment`and kind = ${kind}`} order by id`);

export const listEveryFile = (db: Queryable, tableId: string) =>
  db.rows<{ path: string; rowCount: number; live: boolean }>(sql('lake.listEveryFile')`
    select path, row_count as "rowCount", to_version is null as live from lake_files where table_id = ${tableId}`);

export const deleteTable = (tx: Transaction, tableId: string) =>
  tx.run(sql('lake.deleteTable')`delete from lake_tables where id = ${tableId}`);
