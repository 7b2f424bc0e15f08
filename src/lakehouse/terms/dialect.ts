import type { ColumnType } from './catalog.ts';
import type { Expr, MemberType, Places, ScanColumn, TableRows } from './plan.ts';

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

/** Text of ours (keywords, quoted identifiers), without values. */
export const raw = (text: string): Fragment => ({ text, values: [] });

export const bound = (value: BoundValue['value'], type: ColumnType): Fragment => ({ text: '?', values: [{ value, type }] });

/** Template tag: fragments are spliced with their values, in the order in which they are read. */
export const q = (strings: readonly string[], ...parts: readonly Fragment[]): Fragment => ({
  text: strings.reduce((text, string, index) => text + (parts[index - 1]?.text ?? '') + string),
  values: parts.flatMap((part) => part.values),
});

export const joinFragments = (parts: readonly Fragment[], separator: string): Fragment => ({
  text: parts.map((part) => part.text).join(separator),
  values: parts.flatMap((part) => part.values),
});

/** An aggregate whose inputs are printed already. */
export interface AggregateParts {
  how: Extract<Expr, { kind: 'aggregate' }>['how'];
  of: Fragment | null;
  ofType: ColumnType | null;
  second: Fragment | null;
  order: readonly { expr: Fragment; descending: boolean; type: ColumnType }[];
  fraction: number | null;
  type: ColumnType;
}

/** A number that is the same in all rows of a group, and the group's value. */
export interface Coarse {
  key: Fragment;
  value: Fragment;
}

/** A number as one of the engines writes large and small ones. Without question marks: it stands in statements, where those are values. */
export const SCIENTIFIC = '^(-|)[1-9][.][0-9]+E(-|)([0-9]{1,2}|[12][0-9]{2}|30[0-7])$';

/** Every way in which two warehouses differ, each with its reason. A dialect only prints; it never decides what is read. */
export interface Dialect {
  readonly name: 'duckdb' | 'databricks';
  /** A delimited identifier: engines quote with different characters. */
  quote(identifier: string): string;
  /** The type's name in a cast. */
  cast(type: ColumnType): string;
  /** A bound value that the engine reads as `type`, whatever its driver made of it. */
  value(value: BoundValue['value'], type: ColumnType): Fragment;
  /** A table's rows before the experiment predicate: its files, of which there are some, or a version of its Delta table. `columns` are those that are read, and the experiment's. */
  rows(columns: readonly ScanColumn[], rows: TableRows, places?: Places): Fragment;
  /** Struct field access. */
  field(of: Fragment, name: string): Fragment;
  /** What JSON text has at a path of keys, as text; null where it is no document, or has nothing there. Keys are those that `readMember` lets through. */
  member(of: Fragment, keys: readonly string[]): Fragment;
  /** Text of a member, in which a number that engines write in two ways is written in one. */
  memberText(of: Fragment): Fragment;
  /** Text as a value of a type, where this pattern says that it is written as one; else null, and of numbers beyond the type too. */
  parsed(of: Fragment, type: MemberType, pattern: Fragment): Fragment;
  /** A condition that every row meets. It makes the engine test rows in the order of files, which a join would lose. Null when the engine needs none. */
  readonly lined: Fragment | null;
  struct(fields: readonly { name: string; value: Fragment }[]): Fragment;
  emptyList(type: ColumnType): Fragment;
  /** Two values of one type, neither of them null. */
  equals(left: Fragment, right: Fragment, type: ColumnType): Fragment;
  /** Null-safe inequality: `is distinct from` is not spelled the same everywhere. */
  differs(left: Fragment, right: Fragment): Fragment;
  contains(of: Fragment, text: Fragment): Fragment;
  startsWith(of: Fragment, text: Fragment): Fragment;
  /** Whether a condition is true of an element of an array. */
  holds(of: Fragment, condition: (element: Fragment) => Fragment): Fragment;
  /** The start of a calendar unit, without any session's time zone. */
  bucket(of: Fragment, type: ColumnType, unit: Extract<Expr, { kind: 'bucket' }>['unit'], zone: string | null): Fragment;
  /** What the rows of a bucket of a column have in common and are grouped by, where that costs less than the bucket's start; and its start, made of it. */
  coarse(of: Fragment, type: ColumnType, unit: Extract<Expr, { kind: 'bucket' }>['unit'], zone: string | null): Coarse | null;
  /** The first instant at which clocks in the zone show a local time. */
  instant(local: Fragment, zone: string): Fragment;
  /** Engines differ in result types, in errors on NaN, and in what may be ordered inside an aggregate. */
  aggregate(parts: AggregateParts): Fragment;
  /** What a running sum of this type adds up: one engine's sums of whole numbers overflow where the other's widen. */
  addend(of: Fragment, type: ColumnType): Fragment;
  /** One ordering term; nulls last is always written, because defaults differ. */
  order(of: Fragment, descending: boolean, nullsFirst?: boolean): Fragment;
  /** The value as JSON text, or null. */
  json(of: Fragment, type: ColumnType): Fragment;
  /** The value as CSV cell text, or null; `guard` defuses spreadsheet formulas in text. */
  cell(of: Fragment, type: ColumnType, guard: boolean): Fragment;
  /** The text that `value` makes the same value of; of what can be compared. */
  text(of: Fragment, type: ColumnType): Fragment;
  /** The value as it leaves for a format with types: of the type itself, or in a form that no driver rounds. */
  typed(of: Fragment, type: ColumnType): Fragment;
}
