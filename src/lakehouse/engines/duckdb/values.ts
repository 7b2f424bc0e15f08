/** Counts the rows of each value in those columns of a file that have few values. */
import { STRING, listPhysicalColumns, type Column } from '../../terms/catalog.ts';
import { bound, joinFragments, q, raw, type Fragment } from '../../terms/dialect.ts';
import { duckdb } from '../../compile/dialects/duckdb.ts';
import { hasValueText, printValue } from '../../terms/kept-values.ts';
import type { ScanColumn } from '../../terms/plan.ts';
import type { ColumnValues, StagingSession, ValuesAsked } from '../../tables/staging.ts';
import { quoteName } from '../../terms/quoting.ts';
import { printType } from '../../terms/types.ts';

/** The most values of a column in a file, and the most characters in all of them. The engine itself must filter columns that have more. */
const MOST_VALUES = 4_000;
const MOST_CHARACTERS = 32_768;
const LONGEST = 256;
/** The highest estimate of a column that may still have few values: an estimate may be a fifth above the truth. */
const SURELY = 1.2 * MOST_VALUES;

interface Counted {
  value: string | null;
  rows: number | string;
}

const countsOf = (column: Column, counted: readonly Counted[]): Pick<ColumnValues, 'counts' | 'nulls'> | null => {
  const counts = new Map<string, number>();
  let nulls = 0;
  let characters = 0;
  for (const { value, rows } of counted) {
    if (value === null) {
      nulls = Number(rows);
      continue;
    }
    // the engine's own filters of files take negative zero and zero for different values
    if (column.type.kind === 'double' && Object.is(Number(value), -0)) return null;
    const text = printValue(value, column.type);
    // a value without a text, such as infinity, equals nothing that can be asked for, but a text too long to keep may be asked for
    if (text === null && column.type.kind === 'string') return null;
    if (text === null) continue;
    counts.set(text, (counts.get(text) ?? 0) + Number(rows));
    characters += text.length;
  }
  return counts.size > MOST_VALUES || characters > MOST_CHARACTERS ? null : { counts: Object.fromEntries(counts), nulls };
};

/** Counts the rows of each value in those columns of a file that have few values. A file with rows of another experiment gives no columns. */
export async function countValues(
  session: Pick<StagingSession, 'rows'>,
  { path, experimentId, columns }: ValuesAsked,
): Promise<ColumnValues[]> {
  const select = async (read: readonly Column[], outputs: Fragment, rest = raw('')) => {
    const scanned = read.map(({ name, type }): ScanColumn => ({ kind: 'column', name, type }));
    // reads the columns with the types that a read gives them, whatever types the file has
    const { text, values } = q`select ${outputs} from ${duckdb.rows(scanned, { files: [path] })} ${rest}`;
    return session.rows({ sql: text, values });
  };
  const physical = listPhysicalColumns(columns);
  const asked = physical.filter((column) => !column.hidden && column.name !== 'id' && hasValueText(column.type));
  const distinct = asked.map(({ name, type }, index) => {
    const longest = type.kind === 'string' ? `, max(strlen(${quoteName(name)})) as l${index}` : '';
    return raw(`approx_count_distinct(${quoteName(name)}) as d${index}${longest}`);
  });
  const isOwn = q`bool_and(${raw(quoteName('experiment_id'))} = ${bound(experimentId, STRING)}) as own`;
  const [spread] = await select(physical, joinFragments([isOwn, ...distinct]));
  // a read counts only rows of its own experiment, so a file that holds rows of another gets no counts
  if (spread?.['own'] !== true) return [];
  const few = asked.filter((_, index) => Number(spread[`d${index}`]) <= SURELY && Number(spread[`l${index}`] ?? 0) <= LONGEST);
  const noted: ColumnValues[] = [];
  for (const column of few) {
    const outputs = raw(`cast(${quoteName(column.name)} as varchar) as value, count(*) as rows`);
    const counts = countsOf(column, (await select([column], outputs, raw('group by 1'))) as unknown as Counted[]);
    if (counts) noted.push({ name: column.name, type: printType(column.type), ...counts });
  }
  return noted;
}
