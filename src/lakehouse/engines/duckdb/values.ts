/** Counts the rows of each value in those columns of a file that have few values. */
import { STRING, listPhysicalColumns } from '../../terms/catalog.ts';
import type { Column } from '../../terms/catalog.ts';
import { bound, joinFragments, q, raw } from '../../terms/dialect.ts';
import type { Fragment } from '../../terms/dialect.ts';
import { duckdb } from '../../compile/dialects/duckdb.ts';
import { hasValueText, printValue } from '../../terms/kept-values.ts';
import type { ScanColumn } from '../../terms/plan.ts';
import type { ColumnValues, StagingSession, ValuesAsked } from '../../tables/staging.ts';
import { quoteName } from '../../terms/quoting.ts';
import { printType } from '../../terms/types.ts';

/** The most values of a column in a file, and the most characters in all of them. The engine itself must filter columns that have more. */
const MOST_VALUES = 1_000;
const MOST_CHARACTERS = 32_768;
const LONGEST = 256;
/** The highest estimate of a column that may still have few values: an estimate may be a fifth above the truth. */
const SURELY = 1.2 * MOST_VALUES;

const selectFrom = async (session: Pick<StagingSession, 'rows'>, outputs: Fragment, from: Fragment) => {
  const { text, values } = q`select ${outputs} from ${from}`;
  const [row = {}] = await session.rows({ sql: text, values });
  return row;
};

const countsOf = (column: Column, histogram: unknown): Map<string, number> | null => {
  const counts = new Map<string, number>();
  let characters = 0;
  for (const { key, value } of (histogram ?? []) as { key: string; value: number | string }[]) {
    // the engine's own filters of files take negative zero and zero for different values
    if (column.type.kind === 'double' && Object.is(Number(key), -0)) return null;
    const text = printValue(key, column.type);
    // a value without a text, such as infinity, equals nothing that can be asked for, but a text too long to keep may be asked for
    if (text === null && column.type.kind === 'string') return null;
    if (text === null) continue;
    counts.set(text, (counts.get(text) ?? 0) + Number(value));
    characters += text.length;
  }
  return counts.size > MOST_VALUES || characters > MOST_CHARACTERS ? null : counts;
};

/** Counts the rows of each value in those columns of a file that have few values. A file with rows of another experiment gives no columns. */
export async function countValues(
  session: Pick<StagingSession, 'rows'>,
  { path, experimentId, columns }: ValuesAsked,
): Promise<ColumnValues[]> {
  const physical = listPhysicalColumns(columns);
  const scanned = physical.map(({ name, type }): ScanColumn => ({ kind: 'column', name, type }));
  // reads the columns with the types that a read gives them, whatever types the file has
  const from = duckdb.rows(scanned, { files: [path] });
  const asked = physical.filter((column) => !column.hidden && column.name !== 'id' && hasValueText(column.type));
  const distinct = asked.map(({ name, type }, index) => {
    const longest = type.kind === 'string' ? `, max(strlen(${quoteName(name)})) as l${index}` : '';
    return raw(`approx_count_distinct(${quoteName(name)}) as d${index}${longest}`);
  });
  const isOwn = q`bool_and(${raw(quoteName('experiment_id'))} = ${bound(experimentId, STRING)}) as own`;
  const spread = await selectFrom(session, joinFragments([isOwn, ...distinct], ', '), from);
  // a read counts only rows of its own experiment, so a file that holds rows of another gets no counts
  if (spread['own'] !== true) return [];
  const few = asked.filter((_, index) => Number(spread[`d${index}`]) <= SURELY && Number(spread[`l${index}`] ?? 0) <= LONGEST);
  if (few.length === 0) return [];
  const outputs = few.map(({ name }, index) => {
    const column = quoteName(name);
    return `count(*) - count(${column}) as n${index}, histogram(cast(${column} as varchar)) as h${index}`;
  });
  const found = await selectFrom(session, raw(outputs.join(', ')), from);
  return few.flatMap((column, index) => {
    const counts = countsOf(column, found[`h${index}`]);
    if (!counts) return [];
    return [{ name: column.name, type: printType(column.type), counts: Object.fromEntries(counts), nulls: Number(found[`n${index}`]) }];
  });
}
