import type { ColumnType } from './catalog.ts';
import type { AggregateFunction, Bucket, MemberType, Places, ScanColumn, TableRows } from './plan.ts';

/** A bound value: `type` decides how the engine reads it, never the value's own JavaScript type. */
export interface BoundValue {
  type: ColumnType;
  value: string | number | bigint | boolean | null | readonly (string | number | bigint | boolean | null)[];
}

/** SQL text whose `?` markers stand for `values`, in order. Composed with `q`, so that the order never goes wrong. */
export interface Fragment {
  text: string;
  values: readonly BoundValue[];
}

/** Makes a fragment of our own text (keywords, quoted identifiers), without values. */
export const raw = (text: string): Fragment => ({ text, values: [] });

export const bound = (value: BoundValue['value'], type: ColumnType): Fragment => ({ text: '?', values: [{ value, type }] });

/** Joins fragments and their values in the order in which the template names them. */
export const q = (strings: readonly string[], ...parts: readonly Fragment[]): Fragment => ({
  text: strings.reduce((text, string, index) => text + (parts[index - 1]?.text ?? '') + string),
  values: parts.flatMap((part) => part.values),
});

export const joinFragments = (parts: readonly Fragment[], separator = ', '): Fragment => ({
  text: parts.map((part) => part.text).join(separator),
  values: parts.flatMap((part) => part.values),
});

/** Prints one ordering term. Nulls last is always written, because defaults differ. */
export const printOrder = (of: Fragment, descending: boolean, nullsFirst = false): Fragment =>
  q`${of} ${raw(descending ? 'desc' : 'asc')} nulls ${raw(nullsFirst ? 'first' : 'last')}`;

/** The parts of an aggregate whose inputs are already SQL text. */
export interface AggregateParts {
  how: AggregateFunction;
  of: Fragment;
  ofType: ColumnType;
  second: Fragment | null;
  order: readonly { expr: Fragment; descending: boolean }[];
  fraction: number | null;
  type: ColumnType;
}

/** A number that is the same in all rows of a group, and the value of the group. */
export interface Coarse {
  key: Fragment;
  value: Fragment;
}

/** A pattern for numbers as one of the engines writes large and small ones. It has no question marks, because they stand for values in statements. */
export const SCIENTIFIC = '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$';

/** The first and the last microsecond, since 1970, of the years that ISO 8601 writes with four digits. */
export const FOUR_DIGIT_YEARS = '-62167219200000000 and 253402300799999999';

/** Every difference between two warehouses, each with its reason. A dialect only prints; it never decides what is read. */
export interface Dialect {
  readonly name: 'duckdb' | 'databricks';
  /** Prints a delimited identifier: engines quote with different characters. */
  quote(identifier: string): string;
  /** The type's name in a cast. */
  cast(type: ColumnType): string;
  /** A bound value that the engine reads as `type`, whatever its driver made of it. */
  value(value: BoundValue['value'], type: ColumnType): Fragment;
  /**
   * Prints a table's rows before the experiment predicate: its files, of which there is at least one, or a version of its Delta table. `columns` are those that
   * are read, and the experiment's.
   */
  rows(columns: readonly ScanColumn[], rows: TableRows, places?: Places): Fragment;
  /** Prints what JSON text has at a path of keys, as text. Null where the text is no document, or has nothing there. `readMember` has checked the keys. */
  member(of: Fragment, keys: readonly string[]): Fragment;
  /** Prints the text of a member. A number that engines write in two ways is written in one. */
  memberText(of: Fragment): Fragment;
  /** Prints text as a value of a type. Null where the text does not match the pattern, and for numbers beyond the type. */
  parsed(of: Fragment, type: MemberType, pattern: Fragment): Fragment;
  /** A condition that every row meets. It makes the engine test rows in the order of files, which a join would lose. Null when the engine needs none. */
  readonly lined: Fragment | null;
  struct(fields: readonly { name: string; value: Fragment }[]): Fragment;
  emptyList(type: ColumnType): Fragment;
  /** Compares two values of one type, neither of them null. */
  equals(left: Fragment, right: Fragment, type: ColumnType): Fragment;
  /** Null-safe inequality: `is distinct from` is not spelled the same everywhere. */
  differs(left: Fragment, right: Fragment): Fragment;
  startsWith(of: Fragment, text: Fragment): Fragment;
  /** Whether a condition is true of an element of an array. */
  holds(of: Fragment, condition: (element: Fragment) => Fragment): Fragment;
  /** Prints the start of a calendar unit. It does not depend on the session's time zone. */
  bucket(of: Fragment, type: ColumnType, unit: Bucket, zone: string | null): Fragment;
  /** Prints what the rows of a bucket have in common, where it costs less to group by that than by the bucket's start. Prints the start too, made from it. */
  coarse(of: Fragment, type: ColumnType, unit: Bucket, zone: string | null): Coarse | null;
  /** The first instant at which clocks in the zone show a local time. */
  instant(local: Fragment, zone: string): Fragment;
  /** Engines differ in result types, in errors on NaN, and in what may be ordered inside an aggregate. */
  aggregate(parts: AggregateParts): Fragment;
  /** Prints what a running sum of this type adds up: one engine's sums of whole numbers overflow where the other's are widened. */
  addend(of: Fragment, type: ColumnType): Fragment;
  /** The value as JSON text, or null. */
  json(of: Fragment, type: ColumnType): Fragment;
  /** The value as CSV cell text, or null; `guard` defuses spreadsheet formulas in text. */
  cell(of: Fragment, type: ColumnType, guard: boolean): Fragment;
  /** Prints the text from which `value` makes the same value. Only for types that can be compared. */
  text(of: Fragment, type: ColumnType): Fragment;
  /** Prints a value for a format with types: as the type itself, or in a form that no driver rounds. */
  typed(of: Fragment, type: ColumnType): Fragment;
}
