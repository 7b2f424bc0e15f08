/**
 * Notes on the values in a file: how many rows have each value, for columns with few values; and the least and greatest value of a column. A file never
 * changes, so its notes are true for every version that reads it.
 */
import { join } from 'node:path';
import type { KeptRanges } from '../terms/kept-ranges.ts';
import { READABLE_KINDS, listFixedColumns, type ReadableKind } from '../terms/catalog.ts';
import { listColumnsAt } from './manifest.ts';
import * as queries from './manifest.queries.ts';
import type { Database } from './manifest.queries.ts';
import type { FileRange } from './manifest-rows.ts';
import { useSession, type StagingArea } from './staging.ts';

const isReadable = (kind: string): kind is ReadableKind => (READABLE_KINDS as readonly string[]).includes(kind);

/** Makes notes of those live files of a table that have none. Answers of how many files. */
export async function noteValues(
  { db, staging }: { db: Database; staging: StagingArea },
  tableId: string,
  signal?: AbortSignal,
): Promise<number> {
  const table = await queries.findTableById(db, tableId);
  if (!table || !isReadable(table.kind)) return 0;
  const files = await queries.listFilesWithoutNotes(db, tableId);
  if (files.length === 0) return 0;
  const columns = [...listFixedColumns(table.kind), ...(await listColumnsAt(db, tableId, table.version))];
  let noted = 0;
  for (const { id, path } of files) {
    signal?.throwIfAborted();
    // a session keeps its files on this machine, so each file gets a session that is closed after it
    const asked = { path: join(staging.lakeFolder, path), experimentId: table.experimentId, columns };
    const values = await useSession(staging, { signal }, (session) => session.values(asked));
    noted += await db.transaction(async (tx) => {
      const isNew = await queries.markNoted(tx, id);
      if (isNew > 0) await queries.insertFileValues(tx, id, values);
      return isNew;
    });
  }
  return noted;
}

type RangesOf = (column: string) => Promise<readonly FileRange[]>;

/**
 * Counts the matching rows of each file where the ranges alone tell. A file outside one of the ranges has none. When the ranges are the whole filter, a file
 * inside all of them matches with every row that has a value.
 */
export async function countRowsInRanges({ ranges, isWhole }: KeptRanges, rangesOf: RangesOf): Promise<{ path: string; rows: number }[]> {
  const rowsOf = new Map<string, number>();
  /** How many of the ranges contain a whole file, by its path. */
  const within = new Map<string, number>();
  const found = await Promise.all(ranges.map(async (range) => ({ range, files: await rangesOf(range.column) })));
  for (const { range, files } of found)
    for (const { path, rowCount, storedAs, low, high, nulls } of files) {
      if (storedAs !== range.storedAs || rowsOf.get(path) === 0) continue;
      if (low === null || high === null || low > range.to || high < range.from) rowsOf.set(path, 0);
      else if (isWhole && low >= range.from && high <= range.to && (nulls === 0 || ranges.length === 1)) {
        within.set(path, (within.get(path) ?? 0) + 1);
        if (within.get(path) === ranges.length) rowsOf.set(path, rowCount - nulls);
      }
    }
  return [...rowsOf].map(([path, rows]) => ({ path, rows }));
}
