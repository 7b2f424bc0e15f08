import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { openTable, type OpenTable } from '../../authorization/tables.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { isRefusal } from '../../errors.ts';
import { DEFAULT_SORT, ERROR_COLUMN, STRING, listFixedColumns, type Column } from '../../lakehouse/terms/catalog.ts';
import { findInternalTables, findTable, makeLiveTable, requireVersion } from '../../lakehouse/tables/manifest.ts';
import { listMetadataColumns } from '../../lakehouse/plan/metadata.ts';
import type { CacheKey } from '../../lakehouse/read/page-cache.ts';
import type { Statement } from '../../lakehouse/read/shares.ts';
import type { TableRows } from '../../lakehouse/terms/plan.ts';
import type { AskedTexts, Kept, MetadataColumn, MetadataSource, TableSource } from '../../lakehouse/terms/source.ts';
import { printType } from '../../lakehouse/terms/types.ts';
import { loadMetadataColumns } from '../metadata/lake.service.ts';
import type { TableColumn, TableDescriptor, TableType, Withheld } from './data.model.ts';
import { listReadableTables, type TableRow } from './data.queries.ts';

const TABLE_TYPE: Record<TableRow['kind'], TableType> = { raw_data: 'static', device: 'static', macro: 'macro', upload: 'upload' };

const displayName = ({ kind, name, identifier }: TableRow): string => {
  if (kind === 'raw_data') return 'Raw Data';
  if (kind === 'device') return 'Device Metadata';
  return kind === 'macro' ? `Processed Data (${name ?? identifier})` : (name ?? identifier);
};

/** Metadata adds columns to measurements and to the rows that macros made of them, and to no other table. */
const isDescribed = (kind: TableRow['kind']) => kind === 'raw_data' || kind === 'macro';

function addedTo({ kind, columns }: TableRow, described: readonly MetadataColumn[]) {
  if (!isDescribed(kind)) return [];
  const own = [
    ...listFixedColumns(kind),
    ...columns.map(({ name }) => ({ name, type: STRING, nullable: true, origin: 'uploaded' as const })),
  ];
  return listMetadataColumns({ files: [], columns: described }, own).columns;
}

const withheldOf = (macroId: string, { measurements, firstAt, lastAt }: NonNullable<TableRow['withheld']>): Withheld => ({
  reason:
    'Whoever sent these measurements may not read the macro that they name, so it was not run on them. Somebody who manages the experiment and may read the macro ' +
    `allows it for all by POST …/data/macros/${macroId}/reprocess, which runs it on them as well.`,
  measurements,
  firstAt: new Date(firstAt),
  lastAt: new Date(lastAt),
});

/** Describes a column that no data brought: every table of the kind has it, or metadata adds it. */
const describeOwn = ({ name, type, nullable }: Column): TableColumn => ({
  name,
  originalKey: null,
  type: printType(type),
  nullable,
  firstSeenAt: null,
  lastSeenAt: null,
});

/** Lists the tables of an experiment with their columns. raw_data and device are always among them. */
export async function describeTables(ctx: Context, userId: string, experimentId: string): Promise<TableDescriptor[]> {
  const [rows, described] = await Promise.all([
    listReadableTables(ctx.db, userId, experimentId),
    loadMetadataColumns(ctx.db, experimentId),
  ]);
  return rows.map((row) => ({
    identifier: row.identifier,
    tableType: TABLE_TYPE[row.kind],
    displayName: displayName(row),
    totalRows: row.rowCount,
    defaultSortColumn: DEFAULT_SORT[row.kind],
    errorColumn: ERROR_COLUMN[row.kind],
    canRead: row.canRead,
    ...(row.withheld === null ? {} : { withheld: withheldOf(row.identifier, row.withheld) }),
    ...(row.setAside === null
      ? {}
      : { setAside: row.setAside.map((each) => ({ ...each, firstAt: new Date(each.firstAt), lastAt: new Date(each.lastAt) })) }),
    ...(row.kind === 'macro' ? { runsOnNew: row.runsOnNew } : {}),
    version: row.version,
    columns: [
      ...listFixedColumns(row.kind)
        .filter((column) => !column.hidden)
        .map(describeOwn),
      ...row.columns.map((column) => ({ ...column, firstSeenAt: new Date(column.firstSeenAt), lastSeenAt: new Date(column.lastSeenAt) })),
      ...addedTo(row, described).map(describeOwn),
    ],
  }));
}

/** Finds the measurements that a macro's rows were made from. Their current version is used, because the answers in measurements never change. */
async function answersOf(ctx: Context, experimentId: string): Promise<MetadataSource['answers']> {
  const raw = await findTable(ctx.db, experimentId, 'raw_data');
  if (!raw) return undefined;
  const { columns, files } = await ctx.versions.parts(raw.id, raw.version);
  return {
    columns: [...listFixedColumns('raw_data'), ...columns],
    files: files.toReversed(),
    live: makeLiveTable(experimentId, raw.id, raw.version),
  };
}

/** A table's own columns and those that metadata adds to it. */
async function described(
  ctx: Context,
  table: OpenTable,
  own: readonly Column[],
  metadata: TableRows & { columns: readonly MetadataColumn[] },
): Promise<Pick<TableSource, 'columns' | 'metadata'>> {
  if (!isDescribed(table.kind) || metadata.columns.length === 0) return { columns: own };
  const asksAnswers = table.kind === 'macro' && metadata.columns.some(({ matchedBy }) => matchedBy.some((name) => name !== 'device_id'));
  const answers = asksAnswers ? await answersOf(ctx, table.experimentId) : undefined;
  const added = listMetadataColumns({ ...metadata, answers }, own);
  return { columns: [...own, ...added.columns], metadata: { ...metadata, columns: added.described, answers } };
}

/** A table's source. `dimensions` holds the versions of the internal tables on which an answer depends too: names, devices, annotations and metadata. */
export interface OpenSource extends TableSource {
  dimensions: string;
  /** What no other commit has, also not one of the same number. */
  digest: string;
}

const DIMENSIONS = ['annotation', 'identity', 'metadata_record', 'registry'] as const;

/** Finds the internal tables of an experiment and their versions at one moment. The columns that metadata adds are read after the versions, never before. */
async function besideOf(ctx: Context, { experimentId, kind }: OpenTable) {
  const { tables, existing, versions } = await findInternalTables(ctx.db, experimentId, DIMENSIONS);
  // an experiment has a `metadata_record` table once its first metadata are written
  const adds = isDescribed(kind) && existing.has('metadata_record');
  return { tables, versions, columns: adds ? await loadMetadataColumns(ctx.db, experimentId) : [] };
}

/**
 * Opens one version of a table for reading: its columns, and exactly its files. Without `asOf` this is the current version. Errors: tableVersionGone,
 * tableVersionUnknown.
 */
export async function openSource(ctx: Context, table: OpenTable, asOf?: number): Promise<OpenSource> {
  const base = { scope: table.scope, table: { kind: table.kind, identifier: table.identifier } };
  const beside = besideOf(ctx, table);
  beside.catch(() => undefined);
  const absolute = ({ files, ...rows }: TableRows): TableRows => ({ ...rows, files: files.map((path) => join(ctx.lakeFolder, path)) });
  const complete = async (own: readonly Column[]) => {
    const { tables, versions, columns } = await beside;
    return {
      ...base,
      dimensions: versions,
      ...(await described(ctx, table, own, { ...absolute(tables.metadata_record), columns })),
      identity: absolute(tables.identity),
      registry: absolute(tables.registry),
      ...(tables.annotation.files.length === 0 ? {} : { annotations: absolute(tables.annotation) }),
    };
  };
  // a table that does not exist yet has no rows, and neither has version 0 of a table
  if (table.tableId === null || (asOf === 0 && table.version > 0))
    return { ...(await complete(listFixedColumns(table.kind))), files: [], version: '0', digest: '', rowCount: 0 };
  const { version, rowCount } = await requireVersion(ctx.db, { id: table.tableId, version: table.version, rowCount: table.rowCount }, asOf);
  const { tableId } = table;
  const { columns, files, extents, digest } = await ctx.versions.parts(tableId, version);
  return {
    ...(await complete([...listFixedColumns(table.kind), ...columns])),
    files,
    live: makeLiveTable(table.experimentId, tableId, version),
    version: String(version),
    digest,
    extents,
    rowCount,
    keptRows: (kept: Kept) => ctx.versions.keptRows(tableId, version, kept),
    notedTexts: (asked: AskedTexts) => ctx.versions.notedTexts(tableId, version, asked),
  };
}

interface Answered {
  source: OpenSource;
  /** The read that was asked of the source. */
  asked: object;
}

/** Prints the entity tag of an answer: a hash of everything that the answer depends on, for this caller. */
export function printDataTag(ctx: Context, table: OpenTable, { source, asked }: Answered): string {
  const columns = source.columns.map(({ name, type }) => [name, printType(type)]);
  const { tableId, kind, scope, experimentId, experimentName } = table;
  const names = [scope.anonymised, experimentName];
  const parts = [
    experimentId,
    tableId,
    kind,
    table.identifier,
    source.version,
    source.digest,
    columns,
    source.dimensions,
    names,
    ctx.openapi.version,
    asked,
  ];
  return `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)}"`;
}

/** Makes the key under which an answer may be kept in the page cache. */
export const makeCacheKey = (ctx: Context, table: OpenTable, answered: Answered): CacheKey => ({
  experimentId: table.experimentId,
  answer: printDataTag(ctx, table, answered),
});

/** Opens a table; undefined where the caller may not read it. Errors: those of `openTable` but tableDenied. */
export const findReadable = (ctx: Context, userId: string, experimentId: string, tableName: string): Promise<OpenTable | undefined> =>
  openTable(ctx.db, userId, experimentId, tableName).catch((error: unknown) => {
    if (isRefusal(error, 'tableDenied')) return undefined;
    throw error;
  });

/** Whose share of the engine a read of a table takes. */
export const findShare = ({ userId }: Caller, { organizationId, isPublic }: OpenTable): Statement => ({
  caller: userId,
  owner: organizationId,
  isPublic,
});
