import type { Context } from '../../context.ts';
import { DEFAULT_SORT } from '../../lakehouse/terms/catalog.ts';
import { compactTable, listFragmentedTables, noteLargeFiles } from '../../lakehouse/tables/maintenance.ts';

/** The column that the files of each kind of table are sorted by. Kinds that are not listed are replaced as a whole, so they never become fragmented. */
export const SORT: Readonly<Record<string, string>> = { ...DEFAULT_SORT, quarantine: 'quarantined_at', annotation: 'updated_at' };

/** Compacts tables that have at least `atLeast` small files, and notes the values of large files. Answers the tables whose files were rewritten. */
export async function compactTables(
  deps: Pick<Context, 'db' | 'staging'>,
  { signal, atLeast, limit }: { signal?: AbortSignal; atLeast?: number; limit?: number } = {},
): Promise<{ tableId: string; before: number; after: number }[]> {
  const compacted: { tableId: string; before: number; after: number }[] = [];
  for (const { id, kind } of await listFragmentedTables(deps.db, { atLeast, limit })) {
    signal?.throwIfAborted();
    const sortColumn = SORT[kind];
    if (sortColumn === undefined) continue;
    const { before, after } = await compactTable(deps, id, { sortColumn }, signal);
    if (before > 0) compacted.push({ tableId: id, before, after });
  }
  await noteLargeFiles(deps, { limit: limit ?? 20, signal });
  return compacted;
}
