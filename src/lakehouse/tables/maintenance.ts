import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findEarlierNow } from '../../database/clock.ts';
import { isRefusal } from '../../errors.ts';
import type { ObjectStore } from '../../storage/objects.ts';
import { removeUncommitted } from './attempts.ts';
import { isLogKey } from './delta/places.ts';
import { trimLogs } from './delta/trimming.ts';
import { ID_KEY } from './files/place.ts';
import { listColumnsAt, commit, printFingerprint } from './manifest.ts';
import * as queries from './manifest.queries.ts';
import type { Database } from './manifest.queries.ts';
import type { LakeFile } from './manifest-rows.ts';
import { setFilesVariable, writeSelect } from './rewriting.ts';
import { listPaths, type StagingArea } from './staging.ts';
import { noteValues } from './value-notes.ts';
import { ROWS_PER_FILE } from '../terms/warehouse.ts';

interface MaintenanceDeps {
  db: Database;
  staging: StagingArea;
}

/** Files of fewer rows are small. */
export const SMALL_ROWS = ROWS_PER_FILE / 2;
/** Rows of a row group: a quarter of a file. To read one page of neighbouring rows costs one group. Smaller groups make it slower to read everything. */
const ROWS_PER_GROUP = 25_088;
const BATCH = 500;

/** The column by which the files of a kind of table are sorted. */
export interface TableLayout {
  sortColumn: string;
  /** Rows of a file, where those of this table are too wide for `ROWS_PER_FILE`. */
  rowsPerFile?: number | undefined;
}

/**
 * Groups the files that are worth writing anew: small neighbours, and files whose key ranges overlap. The files must come in the order of their sort keys.
 * Ranges that share only a bound do not overlap, because rows with the same key are ordered by their id. With fewer rows a file than usual no group has more.
 */
function chooseGroups(files: readonly LakeFile[], rowsPerFile = ROWS_PER_FILE): LakeFile[][] {
  const groups: LakeFile[][] = [];
  let group: LakeFile[] = [];
  let rows = 0;
  let high: string | null = null;
  for (const file of files) {
    const overlaps = group.length > 0 && high !== null && file.minKey !== null && file.minKey < high;
    const small = group.length > 0 && rows < rowsPerFile / 2 && file.rowCount < rowsPerFile / 2;
    const fits = rowsPerFile >= ROWS_PER_FILE || rows + file.rowCount <= rowsPerFile;
    if ((!overlaps && !small) || !fits) {
      groups.push(group);
      group = [];
      rows = 0;
      high = null;
    }
    group.push(file);
    rows += file.rowCount;
    if (file.maxKey !== null && (high === null || file.maxKey > high)) high = file.maxKey;
  }
  groups.push(group);
  return groups.filter(({ length }) => length > 1);
}

/**
 * Rewrites small and overlapping files of one table as files of about 100,000 rows that do not overlap. No row changes. Each group is a version of its own. A
 * group that another writer changed meanwhile is left for the next time. Then notes the values of columns with few values in the table's files. Answers how
 * many files became how many.
 */
export async function compactTable(
  { db, staging }: MaintenanceDeps,
  tableId: string,
  { sortColumn, rowsPerFile }: TableLayout,
  signal?: AbortSignal,
): Promise<{ before: number; after: number }> {
  const table = await queries.findTableById(db, tableId);
  let before = 0;
  let after = 0;
  if (!table) return { before, after };
  const columns = await listColumnsAt(db, tableId, table.version);
  for (const group of chooseGroups(await queries.listFiles(db, tableId, table.version), rowsPerFile)) {
    const request = {
      tableId,
      experimentId: table.experimentId,
      prepare: [setFilesVariable(listPaths(staging, group))],
      select: { sql: writeSelect(columns), values: [] },
      sortColumn,
      rowsPerGroup: ROWS_PER_GROUP,
    };
    const staged = await staging.stage(request, { signal });
    try {
      await db.transaction((tx) =>
        commit(tx, {
          tableId,
          cause: 'compact',
          files: staged.files,
          retire: group.map(({ id }) => id),
          typedBy: printFingerprint(columns),
        }),
      );
      before += group.length;
      after += staged.files.length;
    } catch (error) {
      await removeUncommitted({ db, staging }, [staged]);
      if (isRefusal(error, 'tableDeleted')) return { before, after };
      if (!isRefusal(error, 'sourceChanged')) throw error;
    }
  }
  if (after > 0) await noteValues({ db, staging }, tableId, signal);
  return { before, after };
}

/** Tables with large files, which compaction leaves as they are, whose values are not noted yet. */
export const listTablesToNote = (db: Database, { limit, except = [] }: { limit: number; except?: readonly string[] }): Promise<string[]> =>
  queries.listTablesWithoutNotes(db, { atLeast: SMALL_ROWS, limit, except });

/** Tables that compaction should look at, the most fragmented first. */
export const listFragmentedTables = (
  db: Database,
  { atLeast = 8, limit = 20, except = [] }: { atLeast?: number; limit?: number; except?: readonly string[] } = {},
): Promise<{ id: string; kind: string; smallFiles: number }[]> =>
  queries.listFragmentedTables(db, { smallRows: SMALL_ROWS, atLeast, limit, except });

export interface Swept {
  versions: number;
  /** Removed objects of logs. */
  entries: number;
  retired: number;
  orphans: number;
  bytes: number;
}

interface SweepOptions {
  /** How long old versions and retired files are kept. */
  retentionMs: number;
  /** How many versions of a table are kept at most. */
  mostVersions?: number;
  /** How old a file that the manifest does not name must be before it counts as left behind. It must be longer than any write takes. */
  graceMs: number;
  now?: number;
}

/**
 * Lists the paths of files with rows that are older than `before`. Files of logs are left out. The lake in a folder may hold files at paths from before there
 * were logs, so all of it is listed.
 */
async function* oldFiles(lake: ObjectStore, before: number): AsyncGenerator<string> {
  for await (const { key, modifiedAt } of lake.list(lake.kind === 'folder' ? '' : 'tables/'))
    if (key !== ID_KEY && !isLogKey(key) && modifiedAt.getTime() < before) yield key;
}

/**
 * Removes what is no longer needed: old versions and their log entries, files that no kept version reads, and what crashes left in the lake and work folders.
 */
export async function sweepLake(
  { db, staging, lake }: MaintenanceDeps & { lake: ObjectStore },
  { retentionMs, mostVersions = 10_000, graceMs, now: given }: SweepOptions,
): Promise<Swept> {
  const now = given ?? (await findEarlierNow(db));
  const before = new Date(now - retentionMs);
  const swept: Swept = {
    versions: await queries.deleteOldVersions(db, { before, most: mostVersions }),
    entries: await trimLogs(db, lake),
    retired: 0,
    orphans: 0,
    bytes: 0,
  };
  for (;;) {
    const files = await queries.listDeletableFiles(db, before, BATCH);
    if (files.length === 0) break;
    // the file goes first: a crash in between leaves a row, which is tried again
    const { bytes } = await staging.remove(files.map(({ path }) => path));
    const deleted = await queries.deleteFiles(db, files);
    swept.retired += deleted;
    swept.bytes += bytes;
    if (deleted === 0) break;
  }
  const isOld = async (path: string) => {
    const facts = await stat(path).catch(() => undefined);
    return facts !== undefined && now - facts.mtimeMs > graceMs;
  };
  let batch: string[] = [];
  const removeUnknown = async () => {
    const known = new Set(await queries.listKnownPaths(db, batch));
    for (const path of batch) {
      if (known.has(path)) continue;
      swept.bytes += (await staging.remove([path])).bytes;
      swept.orphans += 1;
    }
    batch = [];
  };
  for await (const path of oldFiles(lake, now - graceMs)) {
    batch.push(path);
    if (batch.length === BATCH) await removeUnknown();
  }
  await removeUnknown();
  for (const parent of [join(staging.lakeFolder, '.staging'), join(staging.workFolder, 'ingest')]) {
    for (const name of await readdir(parent).catch(() => [])) {
      if (!(await isOld(join(parent, name)))) continue;
      await rm(join(parent, name), { recursive: true, force: true });
      swept.orphans += 1;
    }
  }
  return swept;
}
