/** Notes of how many rows of a file have each value of its columns with few of them. A file never changes, so what is noted of it is true for every version that reads it. */
import { join } from 'node:path';
import { READABLE_KINDS, STRING, fixedColumns, physicalColumns } from './catalog.ts';
import type { Column, ReadableKind } from './catalog.ts';
import { bound, joined, q, raw } from './dialect.ts';
import type { Fragment } from './dialect.ts';
import { duckdb } from './dialects/duckdb.ts';
import { hasValueText, valueText } from './kept-values.ts';
import { columnsAt } from './manifest.ts';
import * as queries from './manifest.queries.ts';
import type { Database, NewFileValues } from './manifest.queries.ts';
import type { ScanColumn } from './plan.ts';
import { quote, type StagingArea, type StagingSession } from './staging.ts';
import { typeText } from './types.ts';

/** Values of a column in a file at most, and characters in all of them; columns with more are left to the engine. */
const MOST_VALUES = 1_000;
const MOST_CHARACTERS = 32_768;
const LONGEST = 256;
/** An estimate may be so much above the truth. */
const SURELY = 1.2 * MOST_VALUES;

const isReadable = (kind: string): kind is ReadableKind => (READABLE_KINDS as readonly string[]).includes(kind);

const selectFrom = async (session: StagingSession, outputs: Fragment, from: Fragment) => {
  const { text, values } = q`select ${outputs} from ${from}`;
  const [row = {}] = await session.rows({ sql: text, values });
  return row;
};

const countsOf = (column: Column, histogram: unknown): Map<string, number> | null => {
  const counts = new Map<string, number>();
  let characters = 0;
  for (const { key, value } of (histogram ?? []) as { key: string; value: number | string }[]) {
    // the engine's own filters of files take a zero with a sign for another value
    if (column.type.kind === 'double' && Object.is(Number(key), -0)) return null;
    const text = valueText(key, column.type);
    // a value without a text, such as an infinite number, equals none that is asked for; but text that could not be kept might
    if (text === null && column.type.kind === 'string') return null;
    if (text === null) continue;
    counts.set(text, (counts.get(text) ?? 0) + Number(value));
    characters += text.length;
  }
  return counts.size > MOST_VALUES || characters > MOST_CHARACTERS ? null : counts;
};

interface Noted {
  /** Absolute. */
  path: string;
  experimentId: string;
  kind: ReadableKind;
  columns: readonly Column[];
}

/** The columns of a file that have few values, with the rows of each value. */
async function valuesOf(session: StagingSession, { path, experimentId, kind, columns }: Noted): Promise<NewFileValues[]> {
  const physical = physicalColumns(columns);
  const scanned = physical.map(({ name, type }): ScanColumn => ({ kind: 'column', name, type }));
  // read as a reader reads it, whatever type the file gave its columns
  const from = duckdb.rows({ kind, identifier: kind }, scanned, [path]);
  const asked = physical.filter((column) => !column.hidden && column.name !== 'id' && hasValueText(column.type));
  const distinct = asked.map(({ name, type }, index) => {
    const longest = type.kind === 'string' ? `, max(strlen(${quote(name)})) as l${index}` : '';
    return raw(`approx_count_distinct(${quote(name)}) as d${index}${longest}`);
  });
  const isOwn = q`bool_and(${raw(quote('experiment_id'))} = ${bound(experimentId, STRING)}) as own`;
  const spread = await selectFrom(session, joined([isOwn, ...distinct], ', '), from);
  // a read counts the rows of its experiment, so nothing is said of a file that holds any other
  if (spread['own'] !== true) return [];
  const few = asked.filter((_, index) => Number(spread[`d${index}`]) <= SURELY && Number(spread[`l${index}`] ?? 0) <= LONGEST);
  if (few.length === 0) return [];
  const outputs = few.map(({ name }, index) => {
    const column = quote(name);
    return `count(*) - count(${column}) as n${index}, histogram(cast(${column} as varchar)) as h${index}`;
  });
  const found = await selectFrom(session, raw(outputs.join(', ')), from);
  return few.flatMap((column, index) => {
    const counts = countsOf(column, found[`h${index}`]);
    if (!counts) return [];
    return [{ name: column.name, type: typeText(column.type), counts: Object.fromEntries(counts), nulls: Number(found[`n${index}`]) }];
  });
}

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
      const values = await valuesOf(session, { path: join(staging.lakeFolder, path), experimentId, kind, columns });
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
