import type { Context } from '../../context.ts';
import { DEFAULT_SORT } from '../../lakehouse/terms/catalog.ts';
import { compactTable, listFragmentedTables, noteLargeFiles } from '../../lakehouse/tables/maintenance.ts';

/** What the files of a kind are sorted by; kinds that are replaced as a whole are never fragmented. */
export const SORT: Readonly<Record<string, string>> = { ...DEFAULT_SORT, quarantine: 'quarantined_at', annotation: 'updated_at' };

/** Writes the small files of tables that have at least so many of them anew, and notes the values of large ones; answers the tables that changed. */
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
