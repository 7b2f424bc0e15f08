/** Whether two engines gave one answer. Knows nothing of the code under test. */
import type { Asked } from '../../lakehouse/oracle/evaluate.ts';
import type { PageBody } from '../../lakehouse/support.ts';

/** What an answer's cells may differ by: nothing, a relative error, or (a correlation is a share of one) an absolute one. */
type Tolerance = { relative: number } | { absolute: number } | null;

const FUNCTIONS: Readonly<Record<string, Tolerance>> = {
  var: { relative: 1e-6 },
  std: { relative: 1e-6 },
  sem: { relative: 1e-6 },
  ci95: { relative: 1e-6 },
  corr: { absolute: 1e-6 },
};

const nameOf = ({ alias, column, function: called, secondColumn }: NonNullable<Asked['aggregation']>['functions'][number]) =>
  alias ?? (secondColumn === undefined ? `${column === '*' ? 'count' : column}_${called}` : `${column}_corr_${secondColumn}`);

/** The tolerance of every column of an answer. */
const tolerances = (asked: Asked, columns: PageBody['data']['columns']): Map<string, Tolerance> => {
  const functions = new Map(asked.aggregation?.functions.map((call) => [nameOf(call), call.function]));
  return new Map(
    columns.map(({ name, type_name }) => [
      name,
      type_name === 'DOUBLE' ? (FUNCTIONS[functions.get(name) ?? ''] ?? { relative: 1e-9 }) : null,
    ]),
  );
};

/** Below it doubles have fewer digits the smaller they are, and the engines round halves of the last one differently. */
const SMALLEST_NORMAL = 2 ** -1022;

const near = (a: number, b: number, allowed: Exclude<Tolerance, null>) =>
  a === b ||
  Math.abs(a - b) <= ('absolute' in allowed ? allowed.absolute : allowed.relative * Math.max(Math.abs(a), Math.abs(b), SMALLEST_NORMAL));

/** JSON values: members of an object in any order. */
const alike = (a: unknown, b: unknown): boolean => {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return (
    Array.isArray(a) === Array.isArray(b) &&
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && alike(value, right.get(key)))
  );
};

/** Minus zero is not zero here, though the language says that they are equal. */
const same = (a: unknown, b: unknown, allowed: Tolerance): boolean =>
  Object.is(a, -0) === Object.is(b, -0) && (allowed && typeof a === 'number' && typeof b === 'number' ? near(a, b, allowed) : alike(a, b));

type Row = PageBody['data']['rows'][number];

const rowDifference = (ours: Row, theirs: Row, allowed: ReadonlyMap<string, Tolerance>): string | null => {
  if (Object.keys(ours).join() !== Object.keys(theirs).join())
    return `columns ${Object.keys(ours).join()}, and ${Object.keys(theirs).join()}`;
  const name = Object.keys(ours).find((one) => !same(ours[one], theirs[one], allowed.get(one) ?? null));
  return name === undefined ? null : `${name}: ${JSON.stringify(ours[name])} of DuckDB, ${JSON.stringify(theirs[name])} of Spark`;
};

/** Rows of Spark's in the order of DuckDB's, where they may swap: where the order's own key is as good as equal. */
const aligned = (asked: Asked, ours: readonly Row[], theirs: readonly Row[], allowed: ReadonlyMap<string, Tolerance>): Row[] => {
  const left = [...theirs];
  const key = asked.orderBy ?? '';
  return ours.map((row, index) => {
    const [cell, next] = [row[key], left[0] ?? {}];
    const tolerance = allowed.get(key) ?? null;
    if (!tolerance || rowDifference(row, next, allowed) === null) return left.shift() ?? {};
    const place = left.findIndex((other) => rowDifference(row, other, allowed) === null);
    const between = ours.slice(index, index + place + 1);
    if (place < 0 || !between.every((other) => same(other[key], cell, tolerance))) return left.shift() ?? {};
    return left.splice(place, 1)[0] ?? {};
  });
};

/** Rows without those whose key is as good as equal to that of the first or last: which of those a cut page shows is the rounding's choice. */
const withoutEdges = (asked: Asked, rows: readonly Row[], allowed: ReadonlyMap<string, Tolerance>): readonly Row[] => {
  const key = asked.orderBy ?? '';
  const tolerance = allowed.get(key) ?? null;
  const edges = [rows[0]?.[key], rows.at(-1)?.[key]];
  return tolerance ? rows.filter((row) => !edges.some((edge) => same(row[key], edge, tolerance))) : rows;
};

const rowsDifference = (
  asked: Asked,
  ours: readonly Row[],
  theirs: readonly Row[],
  allowed: ReadonlyMap<string, Tolerance>,
): string | null => {
  if (ours.length !== theirs.length) return `${ours.length} rows of DuckDB, ${theirs.length} of Spark`;
  const inOrder = aligned(asked, ours, theirs, allowed);
  for (const [index, row] of ours.entries()) {
    const found = rowDifference(row, inOrder[index] ?? {}, allowed);
    if (found !== null) return `row ${index}, ${found}`;
  }
  return null;
};

/** The first difference between two pages in words, or null. */
export const pageDifference = (asked: Asked, duckdb: PageBody, spark: PageBody): string | null => {
  const allowed = tolerances(asked, duckdb.data.columns);
  const [ours, theirs] = [duckdb.data.rows, spark.data.rows];
  const found = rowsDifference(asked, ours, theirs, allowed);
  if (found !== null) {
    const key = asked.orderBy ?? '';
    const keys = (rows: readonly Row[]) => rows.map((row) => ({ [key]: row[key] }));
    const [inside, others] = [withoutEdges(asked, ours, allowed), withoutEdges(asked, theirs, allowed)];
    const tied = rowsDifference(asked, keys(ours), keys(theirs), allowed) ?? rowsDifference(asked, inside, others, allowed);
    if (!allowed.get(key) || tied !== null) return found;
  }
  const rest = ({ data, ...page }: PageBody) => JSON.stringify({ ...page, ...data, rows: null });
  return rest(duckdb) === rest(spark) ? null : `${rest(duckdb)} of DuckDB, ${rest(spark)} of Spark`;
};

const STRUCTURED = ['VARIANT', 'STRUCT', 'ARRAY'];

/** The same for the records of two CSV texts, cells as text, null where a cell is empty and unquoted. */
export const csvDifference = (
  asked: Asked,
  columns: PageBody['data']['columns'],
  duckdb: readonly (string | null)[][],
  spark: readonly (string | null)[][],
): string | null => {
  if (duckdb.length !== spark.length) return `${duckdb.length} records of DuckDB, ${spark.length} of Spark`;
  const allowed = tolerances(asked, columns);
  const read = (cell: string | null | undefined, type: string): unknown => {
    if (cell === null || cell === undefined) return null;
    return type === 'DOUBLE' ? Number(cell) : STRUCTURED.includes(type) ? (JSON.parse(cell) as unknown) : cell;
  };
  const [header = [], ...records] = duckdb;
  if (header.join() !== spark[0]?.join()) return `header ${header.join()} of DuckDB, ${String(spark[0]?.join())} of Spark`;
  for (const [index, record] of records.entries())
    for (const [place, { name, type_name }] of columns.entries()) {
      const [ours, theirs] = [record[place], spark[index + 1]?.[place]];
      if (!same(read(ours, type_name), read(theirs, type_name), allowed.get(name) ?? null))
        return `record ${index}, ${name}: ${JSON.stringify(ours)} of DuckDB, ${JSON.stringify(theirs)} of Spark`;
    }
  return null;
};
