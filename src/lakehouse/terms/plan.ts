/**
 * A read as plain data: relations over relations, expressions over columns. `planner.ts` makes it, `compile.ts` prints it. Nothing in a plan is SQL text: what
 * a caller sent is in a `value` node, or was found in the catalogue.
 */
import type { ColumnType, TableKind } from './catalog.ts';
import type { ExperimentScope } from './scope.ts';

/** A version of a table as its Delta log has it, for engines that open tables. */
export interface LiveTable {
  tableId: string;
  /** Relative to the lake folder. */
  folder: string;
  version: number;
}

/** The rows of one version of a table. */
export interface TableRows {
  /** Paths for an engine that opens files, newest first. Without files there are no rows. */
  files: readonly string[];
  live?: LiveTable;
  /** The number of rows in those files, where the manifest knows it. It saves the count of an unfiltered read. */
  rowCount?: number;
}

export const BUCKETS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** Whether a bucket follows the zone's calendar. Hours and minutes do not: they are cut from the instant, shifted by its offset. */
export const isCalendar = (unit: Bucket): boolean => unit !== 'hour' && unit !== 'minute';

/** Aggregates as engines know them; `median`, `p05` and `p95` are all `quantile`, `cumsum` is a `running` expression. */
export type AggregateFunction =
  'sum' | 'avg' | 'count' | 'min' | 'max' | 'std' | 'var' | 'sem' | 'ci95' | 'quantile' | 'first' | 'corr' | 'count_distinct' | 'collect';

/** What a member of a document can be read as. */
export type MemberType = { kind: 'string' | 'double' | 'bigint' | 'boolean' | 'date' | 'timestamp' };

export type Scalar = string | number | bigint | boolean;
export type ValueExpr = { kind: 'value'; value: Scalar | null; type: ColumnType };

/** A sort term. Nulls are last in both directions, except in a read that looks back, whose rows are reversed before they are answered. */
export interface Sort {
  expr: Expr;
  descending: boolean;
  nullsFirst?: boolean;
}

export type Expr =
  | { kind: 'column'; name: string; type: ColumnType }
  | { kind: 'field'; of: Expr; name: string; type: ColumnType }
  | ValueExpr
  /** What a JSON document has at a path of keys, read as a type; null where it cannot be read so. */
  | { kind: 'member'; of: Expr; keys: readonly string[]; type: MemberType }
  /** Null as a whole when `unless` is null. */
  | { kind: 'struct'; fields: readonly { name: string; expr: Expr }[]; unless: Expr; type: ColumnType }
  /** The list `of`, or an empty array where it is null or absent. */
  | { kind: 'list'; of: Expr | null; type: ColumnType }
  /** The first value that is not null. */
  | { kind: 'coalesce'; of: readonly Expr[]; type: ColumnType }
  /** `differs` is true when exactly one side is null. The other comparisons are null when a side is. NaN equals NaN and is the greatest number. */
  | { kind: 'compare'; how: 'equals' | 'differs' | 'less' | 'at_most' | 'greater' | 'at_least'; left: Expr; right: Expr }
  /** `negated` keeps nulls. */
  | { kind: 'in'; of: Expr; values: readonly ValueExpr[]; negated: boolean }
  /** Compares text literally and case-sensitively. */
  | { kind: 'text'; how: 'contains' | 'starts_with'; of: Expr; text: ValueExpr }
  | { kind: 'missing'; of: Expr; negated: boolean }
  /** The MD5 of a text, as 32 hexadecimal digits in lower case. */
  | { kind: 'digest'; of: Expr; type: ColumnType }
  /** Whether a struct of the array has one of these values at a path of fields; false where the array is null. */
  | { kind: 'holds'; of: Expr; path: readonly string[]; values: readonly ValueExpr[]; negated: boolean }
  | { kind: 'every'; of: readonly Expr[] }
  | { kind: 'some'; of: readonly Expr[] }
  /**
   * The start of the bucket, in the type of `of`. With a zone and a unit of a day or longer, it is the local time at which the bucket starts (see `instant`).
   */
  | { kind: 'bucket'; of: Expr; unit: Bucket; zone: string | null }
  /** The first instant at which clocks in the zone show this local time. It is computed once for each group, because conversions are expensive. */
  | { kind: 'instant'; of: Expr; zone: string }
  /** Leaves out nulls. A null `of` counts rows. `second` is for `corr`; `order` for `first` and `collect`; `fraction` for `quantile`. */
  | {
      kind: 'aggregate';
      how: AggregateFunction;
      of: Expr | null;
      second?: Expr;
      order?: readonly Sort[];
      fraction?: number;
      type: ColumnType;
    }
  /** How far a number lies above another of its type, as a double. It is exact before it is rounded. */
  | { kind: 'distance'; of: Expr; from: Expr }
  /**
   * The sum of the rows up to and including this one. `how` makes it the least, `whole` takes all rows, and `beside` those in which that is not null. Without `of`
   * rows are counted.
   */
  | {
      kind: 'running';
      how?: 'min';
      of: Expr | null;
      beside?: Expr;
      partition: readonly Expr[];
      order: readonly Sort[];
      whole?: true;
      type: ColumnType;
    };

/** One column of a relation: `as` is our name for it inside the statement, `name` the caller's. */
export interface Output {
  as: string;
  name: string;
  expr: Expr;
}

/** Rows of a file from one place up to another, counted from 0. */
export interface Places {
  from: number;
  to: number;
}

/** A column of a table. `isEmpty` says that it is null in every row, and that files may lack it. */
export type ScanColumn = Extract<Expr, { kind: 'column' }> & { isEmpty?: true };

export type Plan =
  /** Rows of one experiment in one table. Only its files are read, and a predicate on the hidden experiment column is added all the same. */
  | {
      kind: 'scan';
      scope: ExperimentScope;
      table: { kind: TableKind; identifier: string };
      /** Every physical column that the catalogue knows. Their types hold where files lack a column. */
      columns: readonly ScanColumn[];
      /** The names that are read. */
      needed: readonly string[];
      rows: TableRows;
      /** The places to read in the one file. Rows elsewhere are not needed, and may be read or not. */
      places?: Places;
    }
  /**
   * Each row of `left` once, with the columns `adds` of the row of `right` that has its key, or nulls. `right` has each key once. With `inOrder` the rows keep
   * the order of `left`, on an engine that can keep the order of files.
   */
  | { kind: 'join'; left: Plan; right: Plan; leftKey: string; rightKey: string; adds: readonly Output[]; inOrder?: true }
  /** The rows of `left` whose key, which is never null, is among those of `right`. */
  | { kind: 'among'; left: Plan; right: Plan; key: string }
  | { kind: 'filter'; from: Plan; where: Expr }
  | { kind: 'project'; from: Plan; outputs: readonly Output[]; /** Columns of `from` are kept beside the outputs. */ keep: boolean }
  | { kind: 'group'; from: Plan; keys: readonly Output[]; measures: readonly Output[] }
  | { kind: 'sort'; from: Plan; by: readonly Sort[]; limit: number | null; offset: number }
  /**
   * One text column `line` with a JSON object (`json`), or every output as text for a CSV writer (`csv`) or as a value with its type (`typed`). With `keys`, a
   * column `key` beside the JSON object is a JSON array of the exact texts of values, null where a value is null. With `beyond`, the row beyond the last that
   * is answered may be printed as the number of all rows.
   */
  | {
      kind: 'print';
      from: Plan;
      format: 'json' | 'csv' | 'typed';
      outputs: readonly Output[];
      guard: boolean;
      keys?: readonly Output[];
      beyond?: Beyond;
    };

/** Says which row stands for the total. A row whose `place` is beyond `limit` stands for the `total` of all rows. Both are BIGINT columns, counted from 1. */
export interface Beyond {
  place: string;
  limit: number;
  total: string;
}

export type PlanKind = Plan['kind'];
export type ExprKind = Expr['kind'];
