/** What is known of the values in a file: how many rows have each of those of a column with few, and between which they lie. It never changes, so that is true for every version that reads it. */
import { join } from 'node:path';
import { READABLE_KINDS, fixedColumns } from './catalog.ts';
import type { ReadableKind } from './catalog.ts';
import { columnsAt } from './manifest.ts';
import * as queries from './manifest.queries.ts';
import type { Database, Queryable } from './manifest.queries.ts';
import type { Kept } from './plan.ts';
import type { StagingArea } from './staging.ts';

const isReadable = (kind: string): kind is ReadableKind => (READABLE_KINDS as readonly string[]).includes(kind);

/** Notes the values of the live files of a table that have no notes; how many files. */
export async function noteValues(
  { db, staging }: { db: Database; staging: StagingArea },
  tableId: string,
  signal?: AbortSignal,
): Promise<number> {
  const table = await queries.findTableById(db, tableId);
  if (!table || !isReadable(table.kind)) return 0;
  const files = await queries.listFilesWithoutNotes(db, tableId);
  if (files.length === 0) return 0;
  const columns = [...fixedColumns(table.kind), ...(await columnsAt(db, tableId, table.version))];
  const session = await staging.session({ signal });
  let noted = 0;
  try {
    for (const { id, path } of files) {
      signal?.throwIfAborted();
      const { experimentId, kind } = table;
      const values = await session.values({ path: join(staging.lakeFolder, path), experimentId, kind, columns });
      noted += await db.transaction(async (tx) => {
        const isNew = await queries.markNoted(tx, id);
        if (isNew > 0) await queries.insertFileValues(tx, id, values);
        return isNew;
      });
    }
  } finally {
    session.close();
  }
  return noted;
}

/** Rows that a filter keeps, of each file of a version that this is known of: all of them by its values, else those that its ranges leave out or keep whole. */
export async function listKeptRows(
  db: Queryable,
  version: { tableId: string; version: number },
  { values, ranges }: Kept,
): Promise<{ path: string; rows: number }[]> {
  const counted = values ? await queries.listCountedRows(db, version, values) : [];
  return counted.length > 0 || !ranges ? counted : queries.listRangedRows(db, version, ranges);
}
