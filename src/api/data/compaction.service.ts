import type { Context } from '../../context.ts';
import { DEFAULT_SORT } from '../../lakehouse/terms/catalog.ts';
import { compactTable, listFragmentedTables, listTablesToNote } from '../../lakehouse/tables/maintenance.ts';
import { ROWS_PER_FILE } from '../../lakehouse/terms/warehouse.ts';
import { noteValues } from '../../lakehouse/tables/value-notes.ts';
import { isOutOfMemory } from '../../lakehouse/terms/memory.ts';

/** The column that the files of each kind of table are sorted by. Kinds that are not listed are replaced as a whole, so they never become fragmented. */
export const SORT: Readonly<Record<string, string>> = { ...DEFAULT_SORT, quarantine: 'quarantined_at', annotation: 'updated_at' };

/** Tables that could not be compacted: how often in a row, and until when they are left alone, by `performance.now()`. */
export type Rests = Map<string, { failures: number; until: number }>;

const MINUTE = 60_000;
/** A table rests a minute after its first failure, then twice as long each time, up to a day. */
const REST_MINUTES = { first: 1, most: 1_440 };

interface CompactionOptions {
  signal?: AbortSignal;
  atLeast?: number;
  limit?: number;
  /** How many rows fit the memory of the engine at a time, by table, where rows are wide. What this compaction learns of that is added. */
  rowsPerFile?: Map<string, number>;
  /** Tables that are left alone for now. What this compaction learns of that is added. */
  rests?: Rests;
  /** Told of each table whose files could not be read or written. Without it, the first failure is thrown. */
  onFailure?: (tableId: string, error: unknown) => void;
}

/** By how much fewer rows are tried after those of a table did not fit. */
const FEWER = 4;

const raise = (_tableId: string, error: unknown) => {
  throw error;
};

/** Lets a table rest that failed once more. A look half a minute early counts as the next one. */
function addRest(rests: Rests, tableId: string): void {
  const failures = (rests.get(tableId)?.failures ?? 0) + 1;
  const minutes = Math.min(REST_MINUTES.most, REST_MINUTES.first * 2 ** (failures - 1));
  rests.set(tableId, { failures, until: performance.now() + minutes * MINUTE - MINUTE / 2 });
}

/**
 * Compacts tables that have at least `atLeast` small files, and notes the values of large files. A table that fails holds back no other, and rests. Answers
 * the tables whose files were rewritten.
 */
export async function compactTables(
  deps: Pick<Context, 'db' | 'staging'>,
  { signal, atLeast, limit = 20, rowsPerFile = new Map(), rests = new Map(), onFailure = raise }: CompactionOptions = {},
): Promise<{ tableId: string; before: number; after: number }[]> {
  const compacted: { tableId: string; before: number; after: number }[] = [];
  const attempt = async (tableId: string, work: () => Promise<unknown>) => {
    signal?.throwIfAborted();
    try {
      await work();
      rests.delete(tableId);
    } catch (error) {
      signal?.throwIfAborted();
      addRest(rests, tableId);
      onFailure(tableId, error);
    }
  };
  const listResting = () => [...rests].flatMap(([id, { until }]) => (until > performance.now() ? [id] : []));
  for (const { id, kind } of await listFragmentedTables(deps.db, { atLeast, limit, except: listResting() }))
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
  for (const id of await listTablesToNote(deps.db, { limit, except: listResting() })) await attempt(id, () => noteValues(deps, id, signal));
  return compacted;
}
