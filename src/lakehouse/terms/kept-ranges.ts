/** Finds the ranges that a filter allows in columns. A file whose values all lie outside one of them holds no row that matches. */
import type { Column, ColumnType } from './catalog.ts';
import type { Expr, Scalar } from './plan.ts';
import type { StoredAs } from './warehouse.ts';

/** The bounds of a column, both inclusive, in the units in which a file holds it. A bound that does not exist is infinite. */
export interface KeptRange {
  column: string;
  storedAs: StoredAs;
  from: number;
  to: number;
}

export interface KeptRanges {
  ranges: readonly KeptRange[];
  /** Whether the filter says nothing else: it keeps every row that lies in all ranges. */
  isWhole: boolean;
}

const wholeNumber = (value: Scalar): number | null => {
  const number = Number(value);
  return Number.isSafeInteger(number) && BigInt(number) === BigInt(value) ? number : null;
};

/** Reads a time as plans write it, as microseconds since 1970. */
const microseconds = (value: Scalar): number | null => {
  const [, seconds = '', part = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})Z?$/.exec(String(value)) ?? [];
  const found = Date.parse(`${seconds}Z`) * 1_000 + Number(part);
  return Number.isSafeInteger(found) ? found : null;
};

const days = (value: Scalar): number | null => {
  const found = Date.parse(`${String(value)}T00:00:00Z`) / 86_400_000;
  return Number.isSafeInteger(found) ? found : null;
};

/** How a file holds the values of a type, and how a value becomes a number. Null for types without ranges. */
const STORED: Record<ColumnType['kind'], { as: StoredAs; numberOf: (value: Scalar) => number | null } | null> = {
  int: { as: 'int32', numberOf: wholeNumber },
  bigint: { as: 'int64', numberOf: wholeNumber },
  double: { as: 'double', numberOf: (value) => (Number.isFinite(Number(value)) ? Number(value) : null) },
  date: { as: 'int32', numberOf: days },
  timestamp: { as: 'int64', numberOf: microseconds },
  timestamp_ntz: { as: 'int64', numberOf: microseconds },
  boolean: null,
  string: null,
  decimal: null,
  variant: null,
  struct: null,
  array: null,
};

/** Finds the next number that a file can hold, above or below another. */
const beside = (value: number, as: StoredAs, by: 1 | -1): number => {
  if (as !== 'double') return value + by;
  if (value === 0) return by * Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0] = (bits[0] ?? 0n) + BigInt(value > 0 ? by : -by);
  return new Float64Array(bits.buffer)[0] ?? value;
};

type Bounds = Pick<KeptRange, 'from' | 'to'>;

/** Reads where a condition puts the values of one column. `isAll` says that the condition says nothing else. */
const boundsOf = (where: Expr): { of: Expr; isAll: boolean; bounds: (of: NonNullable<(typeof STORED)['int']>) => Bounds | null } | null => {
  if (where.kind === 'missing' && where.negated) return { of: where.of, isAll: true, bounds: () => ({ from: -Infinity, to: Infinity }) };
  if (where.kind === 'in' && !where.negated)
    return {
      of: where.of,
      isAll: false,
      bounds: ({ numberOf }) => {
        const numbers = where.values.map(({ value }) => (value === null ? null : numberOf(value)));
        const known = numbers.filter((number) => number !== null);
        return known.length < numbers.length ? null : { from: Math.min(...known), to: Math.max(...known) };
      },
    };
  if (where.kind !== 'compare' || where.how === 'differs') return null;
  const { how, left, right } = where;
  return {
    of: left,
    isAll: true,
    bounds: ({ as, numberOf }) => {
      const number = right.kind === 'value' && right.value !== null ? numberOf(right.value) : null;
      if (number === null) return null;
      const sides: Record<typeof how, Bounds> = {
        equals: { from: number, to: number },
        less: { from: -Infinity, to: beside(number, as, -1) },
        at_most: { from: -Infinity, to: number },
        greater: { from: beside(number, as, 1), to: Infinity },
        at_least: { from: number, to: Infinity },
      };
      return sides[how];
    },
  };
};

const conditions = (where: Expr): readonly Expr[] => (where.kind === 'every' ? where.of.flatMap(conditions) : [where]);

/** Finds the ranges that a filter keeps. Null where it limits no column of which files have ranges. */
export const findKeptRanges = (where: Expr | null, columns: readonly Column[]): KeptRanges | null => {
  if (!where) return null;
  const found = new Map<string, KeptRange>();
  let isWhole = true;
  for (const condition of conditions(where)) {
    const said = boundsOf(condition);
    const name = said?.of.kind === 'column' ? said.of.name : undefined;
    const column = columns.find((each) => each.name === name && !each.derived);
    const stored = column && STORED[column.type.kind];
    const bounds = stored ? said?.bounds(stored) : null;
    isWhole &&= bounds ? said?.isAll === true : false;
    if (!column || !stored || !bounds) continue;
    const { from, to } = found.get(column.name) ?? bounds;
    const range = { from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) };
    found.set(column.name, { column: column.name, storedAs: stored.as, ...range });
  }
  return found.size === 0 ? null : { ranges: [...found.values()], isWhole };
};
