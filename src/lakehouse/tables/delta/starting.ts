/**
 * Begins logs in a lake that is older than logs. Each table's files go into its folder, each column gets one type, and the log begins with the current version.
 */
import { link, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Database } from '../../../database/database.ts';
import { listFixedColumns, listPhysicalColumns, type TableKind } from '../../terms/catalog.ts';
import { listColumnsAt, commit, listFilesAt, findTableById, lockTable } from '../manifest.ts';
import { setFilesVariable, writeSelect } from '../rewriting.ts';
import { listPaths, type StagingArea } from '../staging.ts';
import { printType } from '../../terms/types.ts';
import { describeTable, printEntry } from './entry.ts';
import { insertEntries, listLoggedFiles, listMisplaced, listWithoutLog, movePath, setLogFrom, updateState } from './log.queries.ts';
import { printTableFolder } from './places.ts';
import { makeFirstState, makeNextState } from './schema.ts';

interface StartDeps {
  db: Database;
  staging: StagingArea;
}

/** Links the files of a table into its folder. Readers that know the old names can still use them: the nightly sweep removes those later. */
async function moveFiles({ db, staging }: StartDeps, { id, experimentId }: { id: string; experimentId: string }): Promise<number> {
  const folder = printTableFolder(experimentId, id);
  const misplaced = await listMisplaced(db, id, folder);
  for (const file of misplaced) {
    const path = `${folder}/${file.id}.parquet`;
    const [from, to] = [join(staging.lakeFolder, file.path), join(staging.lakeFolder, path)];
    await mkdir(dirname(to), { recursive: true });
    await link(from, to).catch((error: unknown) => {
      // an earlier run made the link and ended before the next step
      if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
    });
    await movePath(db, file.id, path);
  }
  return misplaced.length;
}

/** Rewrites the files in which a column has an older type. Answers how many. */
async function rewriteOlder({ db, staging }: StartDeps, tableId: string, sortColumn: string): Promise<number> {
  const table = await findTableById(db, tableId);
  if (!table) return 0;
  const columns = await listColumnsAt(db, tableId, table.version);
  const fixed = listPhysicalColumns(listFixedColumns(table.kind as TableKind)).map((column) => ({
    ...column,
    hasValues: true,
    exactDouble: true,
  }));
  const known = [...fixed, ...columns.filter(({ hasValues }) => hasValues)];
  const types = new Map(known.map(({ name, type }) => [name, printType(type)]));
  const older: { id: string; path: string }[] = [];
  for (const file of await listFilesAt(db, tableId, table.version)) {
    const held = await staging.readColumns(file.path);
    if (held.some(({ name, type }) => (types.get(name) ?? printType(type)) !== printType(type))) older.push(file);
  }
  if (older.length === 0) return 0;
  const staged = await staging.stage({
    tableId,
    experimentId: table.experimentId,
    prepare: [setFilesVariable(listPaths(staging, older))],
    select: { sql: writeSelect(known), values: [] },
    sortColumn,
  });
  await db.transaction((tx) =>
    commit(tx, { tableId, cause: 'compact', files: staged.files, retire: older.map(({ id }) => id), basedOn: table.version }),
  );
  return older.length;
}

/** Begins the log of a table at its current version. One entry says everything; a checkpoint follows, because there are no earlier entries. */
async function startLog({ db, staging }: StartDeps, tableId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const table = await lockTable(tx, tableId);
    if (!table || table.logState !== null || table.rowCount === 0) return false;
    const files = await listLoggedFiles(tx, tableId, table.version);
    const schemas = await Promise.all(files.map(({ path }) => staging.readColumns(path)));
    const after = makeNextState(makeFirstState(table.kind as TableKind), schemas, { files: true, retyped: new Set() });
    const entry = printEntry({
      table: describeTable(table),
      before: null,
      after,
      cause: 'start',
      at: Date.now(),
      added: files,
      retired: [],
      changesRows: true,
    });
    await insertEntries(tx, tableId, [{ version: table.version, entry, state: after }]);
    await updateState(tx, tableId, after);
    await setLogFrom(tx, tableId, table.version);
    return true;
  });
}

export interface Started {
  tables: number;
  moved: number;
  rewritten: number;
}

/**
 * Gives a log to every table that has rows and no log. It may be stopped at any moment and run again, even while the service runs. `sortColumns` is by kind.
 */
export async function startLogs(deps: StartDeps, sortColumns: Readonly<Record<string, string>>): Promise<Started> {
  const started: Started = { tables: 0, moved: 0, rewritten: 0 };
  for (const { id, experimentId, kind } of await listWithoutLog(deps.db)) {
    started.moved += await moveFiles(deps, { id, experimentId });
    const sortColumn = sortColumns[kind];
    // tables of other kinds are always replaced as a whole, so all their files have the same types
    if (sortColumn !== undefined) started.rewritten += await rewriteOlder(deps, id, sortColumn);
    if (await startLog(deps, id)) started.tables += 1;
  }
  return started;
}
