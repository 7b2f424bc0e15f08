import type { Context } from '../../context.ts';
import { DEFAULT_SORT } from '../../lakehouse/terms/catalog.ts';
import { compactTable, listFragmentedTables, listTablesToNote, ROWS_PER_FILE } from '../../lakehouse/tables/maintenance.ts';
import { noteValues } from '../../lakehouse/tables/value-notes.ts';
import { isOutOfMemory } from '../../storage/full.ts';

/** The column that the files of each kind of table are sorted by. Kinds that are not listed are replaced as a whole, so they never become fragmented. */
export const SORT: Readonly<Record<string, string>> = { ...DEFAULT_SORT, quarantine: 'quarantined_at', annotation: 'updated_at' };

interface CompactionOptions {
  signal?: AbortSignal;
  atLeast?: number;
  limit?: number;
  /** How many rows fit the memory of the engine at a time, by table, where rows are wide. What this compaction learns of that is added. */
  rowsPerFile?: Map<string, number>;
  /** Told of each table whose files could not be read or written. Without it, the first failure is thrown. */
  onFailure?: (tableId: string, error: unknown) => void;
}

/** By how much fewer rows are tried after those of a table did not fit. */
const FEWER = 4;

const raise = (_tableId: string, error: unknown) => {
  throw error;
};

/**
 * Compacts tables that have at least `atLeast` small files, and notes the values of large files. A table that fails holds back no other. Answers the tables
 * whose files were rewritten.
 */
export async function compactTables(
  deps: Pick<Context, 'db' | 'staging'>,
  { signal, atLeast, limit = 20, rowsPerFile = new Map(), onFailure = raise }: CompactionOptions = {},
): Promise<{ tableId: string; before: number; after: number }[]> {
  const compacted: { tableId: string; before: number; after: number }[] = [];
  const attempt = async (tableId: string, work: () => Promise<unknown>) => {
    signal?.throwIfAborted();
    await work().catch((error: unknown) => {
      signal?.throwIfAborted();
      onFailure(tableId, error);
    });
  };
  for (const { id, kind } of await listFragmentedTables(deps.db, { atLeast, limit }))
    await attempt(id, async () => {
      const sortColumn = SORT[kind];
      if (sortColumn === undefined) return;
      const rows = rowsPerFile.get(id);
      const { before, after } = await compactTable(deps, id, { sortColumn, rowsPerFile: rows }, signal).catch((error: unknown) => {
        if (isOutOfMemory(error)) rowsPerFile.set(id, Math.ceil((rows ?? ROWS_PER_FILE) / FEWER));
        throw error;
      });
      if (before > 0) compacted.push({ tableId: id, before, after });
    });
  for (const { id } of await listTablesToNote(deps.db, limit)) await attempt(id, () => noteValues(deps, id, signal));
  return compacted;
}
