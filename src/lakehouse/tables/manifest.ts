import { hash, randomUUIDv7 } from 'node:crypto';
import { basename } from 'node:path';
import { errors } from '../../errors.ts';
import type { ObjectStore } from '../../storage/objects.ts';
import { writeLogVersion } from './delta/log-version.ts';
import { printTableFolder } from './delta/places.ts';
import { removeTable } from './delta/publisher.ts';
import type { Column, InternalKind, TableKind } from '../terms/catalog.ts';
import * as queries from './manifest.queries.ts';
import type { Database, Queryable, Transaction } from './manifest.queries.ts';
import type { CatalogueColumn, LakeTable, NewColumn, NewSource } from './manifest-rows.ts';
import type { LiveTable, TableRows } from '../terms/plan.ts';
import { parseType, printType } from '../terms/types.ts';
import type { StagingArea } from './staging.ts';
import type { StagedFile } from '../terms/warehouse.ts';

export type { NewSource } from './manifest-rows.ts';
export {
  deleteTable,
  findSource,
  findTable,
  findTableById,
  forgetSources,
  listColumnsSince,
  listFiles as listFilesAt,
  listKnownSources,
  lockTable,
  moveSource,
  restampSources,
} from './manifest.queries.ts';

/** A column as the catalogue should know it from the committed version on. */
export interface ColumnState extends Column {
  /** False while every stored value is null. */
  hasValues: boolean;
  /** False once a BIGINT column holds a value beyond 2^53. */
  exactDouble: boolean;
}

/** `read_back`: the catalogue was brought up to date with tables that are written elsewhere. */
export type CommitCause = 'ingest' | 'compact' | 'erase' | 'replace' | 'read_back';

export interface Commit {
  tableId: string;
  cause: CommitCause;
  /** Files to add, as `stage` made them. */
  files?: readonly StagedFile[];
  /** Ids of live files to retire. One that is no longer live refuses the whole commit with a retryable conflict. */
  retire?: readonly string[];
  /** The version from which the change was made. A table that has a newer version refuses the commit with a retryable conflict. */
  basedOn?: number;
  /** The sources (20 hex digits each) from which the rows come. Either all must be new, or all are known and nothing happens. */
  sources?: readonly NewSource[];
  /** True when the caller has looked for the sources and found none. A source that exists by now refuses the commit with a retryable conflict. */
  onlyNew?: boolean;
  /** The columns that were delivered; others stay as they are. */
  columns?: readonly ColumnState[];
  /** The former names of columns in `columns` that are renamed, mapped to the new ones. No live file may still hold a former name. */
  renamed?: ReadonlyMap<string, string>;
  /** Columns that the table loses. No live file may still hold them. */
  dropped?: readonly string[];
  /**
   * The `printFingerprint(...)` of the catalogue that gave the files their types. A catalogue that has changed refuses the commit with a retryable conflict.
   */
  typedBy?: string;
}

const toState = ({ ordinal: _, type, origin, originalKey, ...column }: CatalogueColumn): ColumnState => ({
  ...column,
  type: parseType(type),
  origin: origin as Column['origin'],
  originalKey: originalKey ?? undefined,
});

/** The columns of a table at a version, in order. */
export async function listColumnsAt(db: Queryable, tableId: string, version: number): Promise<ColumnState[]> {
  return (await queries.listColumns(db, tableId, version)).map(toState);
}

/** Names a version of a table by its folder, in which its Delta log lies. */
export const makeLiveTable = (experimentId: string, tableId: string, version: number): LiveTable => ({
  tableId,
  folder: printTableFolder(experimentId, tableId),
  version,
});

/**
 * Finds the tables that only the service reads, all of one moment. Answers their files by kind (none for a table that does not exist), the kinds whose
 * table exists, and a text that changes with any of them. Paths are relative to the lake folder.
 */
export async function findInternalTables<K extends InternalKind>(
  db: Queryable,
  experimentId: string,
  kinds: readonly K[],
): Promise<{ tables: Record<K, TableRows>; existing: ReadonlySet<string>; versions: string }> {
  const found = await queries.listInternalFiles(db, experimentId, kinds);
  const rowsOf = (kind: K): TableRows => {
    const own = found.filter((row) => row.kind === kind);
    const [table] = own;
    const files = own.flatMap(({ path }) => path ?? []);
    return table ? { files, live: makeLiveTable(experimentId, table.id, table.version), rowCount: table.rowCount } : { files };
  };
  return {
    tables: Object.fromEntries(kinds.map((kind) => [kind, rowsOf(kind)])) as Record<K, TableRows>,
    existing: new Set(found.map(({ kind }) => kind)),
    versions: hash('sha256', found.map(({ kind, version, path }) => `${kind}${version}${path ?? ''}`).join(), 'base64url'),
  };
}

/** Prints a text of a catalogue. Two writers whose texts are equal typed their files by the same catalogue. */
export const printFingerprint = (columns: readonly ColumnState[]): string =>
  JSON.stringify(columns.map(({ name, type, hasValues, exactDouble }) => [name, printType(type), hasValues, exactDouble]));

/** Finds the version to read: the current one, or `asOf`. Throws `tableVersionGone` when it is no longer kept, `tableVersionUnknown` when it never was. */
export async function requireVersion(
  db: Queryable,
  table: Pick<LakeTable, 'id' | 'version' | 'rowCount'>,
  asOf?: number,
): Promise<{ version: number; rowCount: number }> {
  if (asOf === undefined || asOf === table.version) return { version: table.version, rowCount: table.rowCount };
  if (asOf > table.version) throw errors.tableVersionUnknown(asOf, table.version);
  const kept = await queries.findVersion(db, table.id, asOf);
  if (!kept) throw errors.tableVersionGone();
  return kept;
}

export interface NewTable {
  experimentId: string;
  kind: TableKind;
  /** Upload tables: the name that people see. */
  name?: string;
  /** Macro tables: the macro's id. Upload tables use their own id; others their kind. */
  identifier?: string;
  createdBy?: string;
  id?: string;
}

/** Makes a table at version 0, or answers the existing one. A taken upload name is `errors.tableNameTaken`. */
export async function createTable(db: Queryable, table: NewTable): Promise<LakeTable> {
  const id = table.id ?? randomUUIDv7();
  const identifier = table.kind === 'upload' ? id : (table.identifier ?? table.kind);
  const made = await queries.insertTable(db, { ...table, id, identifier, name: table.name ?? null, createdBy: table.createdBy ?? null });
  const found = made ?? (await queries.findTable(db, table.experimentId, identifier));
  if (!found) throw errors.conflict();
  return found;
}

/** The id that a staged file has once it is committed. */
export const readFileId = (path: string): string => basename(path, '.parquet');

/** Updates the catalogue. Answers the names, in lower case, of columns that had values under another type, that have a new name, or that are dropped. */
async function changeColumns(
  tx: Transaction,
  { tableId, columns = [], renamed = new Map(), dropped = [] }: Pick<Commit, 'tableId' | 'columns' | 'renamed' | 'dropped'>,
  version: number,
): Promise<ReadonlySet<string>> {
  if (columns.length + dropped.length === 0) return new Set();
  const retyped = new Set<string>();
  const live = new Map((await queries.listColumns(tx, tableId, version - 1)).map((column) => [column.name.toLowerCase(), column]));
  let ordinal = Math.max(-1, ...[...live.values()].map((column) => column.ordinal));
  const closed: string[] = [...dropped];
  const opened: NewColumn[] = [];
  const seen: string[] = [];
  for (const name of dropped) retyped.add(name.toLowerCase());
  const formerly = new Map([...renamed].map(([from, to]) => [to, from]));
  for (const column of columns) {
    const former = formerly.get(column.name);
    const known = live.get((former ?? column.name).toLowerCase());
    if (former !== undefined) retyped.add(former.toLowerCase());
    const wanted = {
      name: former === undefined ? (known?.name ?? column.name) : column.name,
      type: printType(column.type),
      origin: column.origin,
      originalKey: known && former === undefined ? known.originalKey : (column.originalKey ?? null),
      formerly: former ?? null,
      nullable: column.nullable,
      hidden: column.hidden ?? false,
      hasValues: column.hasValues,
      exactDouble: column.exactDouble,
      ordinal: known?.ordinal ?? (ordinal += 1),
    };
    const same =
      known &&
      former === undefined &&
      known.type === wanted.type &&
      known.hasValues === wanted.hasValues &&
      known.exactDouble === wanted.exactDouble;
    if (same) seen.push(known.name);
    else {
      if (known) closed.push(known.name);
      if (known?.hasValues === true && known.type !== wanted.type) retyped.add(known.name.toLowerCase());
      opened.push(wanted);
    }
  }
  if (closed.length > 0) await queries.closeColumns(tx, tableId, version, closed);
  if (opened.length > 0) await queries.insertColumns(tx, tableId, version, opened);
  if (seen.length > 0) await queries.touchColumns(tx, tableId, seen);
  return retyped;
}

/**
 * Makes staged files visible, in the caller's transaction. Adds and retires files, raises the version, and updates counts, catalogue and sources. Writers of
 * one table wait for each other here. Changes nothing, and answers `added: false`, when every source was known already. Throws `errors.sourceChanged` (409,
 * worth a retry) when a file to retire or the catalogue has changed meanwhile, `errors.tableDeleted` when the table is gone.
 */
export async function commit(tx: Transaction, change: Commit) {
  const table = await queries.lockTable(tx, change.tableId);
  if (!table) throw errors.tableDeleted();
  if (change.basedOn !== undefined && change.basedOn !== table.version) throw errors.sourceChanged();
  const version = table.version + 1;
  const sources = change.sources ?? [];
  if (sources.length > 0) {
    const added = await queries.insertSources(tx, { tableId: table.id, version }, sources, change.onlyNew);
    if (added === 0) return { added: false, version: table.version, rowCount: table.rowCount };
    if (added < sources.length) throw errors.sourceChanged();
  }
  if (change.typedBy !== undefined && printFingerprint(await listColumnsAt(tx, table.id, table.version)) !== change.typedBy)
    throw errors.sourceChanged();

  const retire = change.retire ?? [];
  const retired = retire.length === 0 ? [] : await queries.retireFiles(tx, table.id, version, retire);
  if (retired.length !== retire.length) throw errors.sourceChanged();
  const files = change.files ?? [];
  const inserted = files.map((file) => ({ ...file, id: readFileId(file.path) }));
  if (files.length > 0) await queries.insertFiles(tx, table.id, version, inserted);
  const sum = (rows: readonly { rowCount: number }[]) => rows.reduce((total, { rowCount }) => total + rowCount, 0);
  const rowCount = table.rowCount + sum(files) - sum(retired);
  if (change.cause === 'compact' && rowCount !== table.rowCount) throw new Error('compaction must not change the number of rows');
  const retyped = await changeColumns(tx, change, version);
  await queries.updateTableVersion(tx, { tableId: table.id, version, rowCount });
  await queries.insertVersion(tx, { tableId: table.id, version, rowCount, cause: change.cause });
  await writeLogVersion(tx, table, { version, cause: change.cause, added: files, retired, retyped });
  return { added: true, version, rowCount };
}

/** An upload table by its id or name; undefined when the experiment has none. */
export async function findUploadTable(db: Queryable, experimentId: string, idOrName: string): Promise<LakeTable | undefined> {
  const table = await queries.findTable(db, experimentId, idOrName);
  return table?.kind === 'upload' ? table : undefined;
}

/**
 * Removes every table of an experiment, or those of one kind, with their logs. Files go before the rows that list them, so that a crash leaves no file
 * unlisted.
 */
export async function eraseTables(
  { db, staging, lake }: { db: Database; staging: Pick<StagingArea, 'remove'>; lake: ObjectStore },
  experimentId: string,
  kind?: TableKind,
): Promise<{ rows: number; bytes: number }> {
  const erased = { rows: 0, bytes: 0 };
  for (const table of await queries.listTablesOf(db, experimentId, kind))
    await db.transaction(async (tx) => {
      const files = await queries.listEveryFile(tx, table.id);
      erased.rows += files.reduce((total, { rowCount, live }) => total + (live ? rowCount : 0), 0);
      // older files may lie outside the table's folder
      erased.bytes += await removeTable(lake, tx, table);
      erased.bytes += (await staging.remove(files.map(({ path }) => path))).bytes;
      await queries.deleteTable(tx, table.id);
    });
  return erased;
}

/** Removes the files and the log of a table that the manifest has forgotten already. It may run again, and then removes what is left. */
export const eraseForgotten = (
  { db, lake }: { db: Database; lake: ObjectStore },
  table: { id: string; experimentId: string },
): Promise<void> =>
  db.transaction(async (tx) => {
    await removeTable(lake, tx, table);
    await lake.erase(`${printTableFolder(table.experimentId, table.id)}/`);
  });

/** Removes the files of internal tables of one kind that were retired before a time, whatever version they belonged to. Answers how many. */
export async function eraseRetired(
  db: Queryable,
  staging: Pick<StagingArea, 'remove'>,
  { experimentId, kind, before }: { experimentId: string; kind: InternalKind; before: Date },
): Promise<number> {
  const files = await queries.listRetiredFiles(db, { experimentId, kind, before });
  await staging.remove(files.map(({ path }) => path));
  await queries.deleteFiles(db, files);
  return files.length;
}
