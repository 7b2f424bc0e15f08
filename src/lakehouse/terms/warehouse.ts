import type { Readable } from 'node:stream';
import type { BoundValue, Dialect } from './dialect.ts';
import type { ColumnType } from './catalog.ts';

/** SQL text with positional markers and their values; the only thing a warehouse runs. */
export interface Statement {
  sql: string;
  values: readonly BoundValue[];
}

export interface RunOptions {
  /** Aborting cancels the statement in the engine. */
  signal?: AbortSignal;
  /** Milliseconds until the engine is interrupted and `errors.warehouseTimeout` is thrown. */
  timeoutMs?: number;
  /** A text that the engine's own log shows, where it has one. */
  tag?: string;
  /** The caller's name for the table that is read. The error for a damaged file names it. */
  table?: string;
  /** Called twice a second with the share (0 to 1) of its input that the statement has read, by an engine that knows it. */
  onReading?: (share: number) => void;
}

/** The form of text that the statement prints. `json` is a stream of NDJSON lines that the caller frames; the others are the bytes of the answer. */
export type StreamFormat = 'json' | 'ndjson' | 'csv';

/** The form of bytes with types, from a statement that prints values: an Arrow IPC stream, or a Parquet file. */
export type TypedFormat = 'arrow' | 'parquet';

/** A column of the answer, in the order of the statement's columns: `as` is the statement's name for it, `name` the reader's. */
export interface NamedType {
  as: string;
  name: string;
  type: ColumnType;
}

export interface TypedOptions extends RunOptions {
  /** About how many bytes a row has in the files that are read, where that is known: of wide rows an engine holds fewer at a time. */
  rowBytes?: number;
  /** Called now and then with the number of rows written so far, at most once for each batch. */
  onRows?: (rows: number) => void;
}

/** The physical types of a Parquet file whose values are compared as numbers. Times are microseconds since 1970, dates are days since then. */
export type StoredAs = 'int32' | 'int64' | 'double';

/**
 * The least and greatest value of a column in a file; both null where it has no value. A column that holds NaN, or a number that is not exact here, has no
 * range.
 */
export interface ColumnRange {
  name: string;
  storedAs: StoredAs;
  low: number | null;
  high: number | null;
  nulls: number;
}

/** A column as the bytes of a file hold it. */
export interface PhysicalColumn {
  name: string;
  type: ColumnType;
}

/** An immutable file that lies durably in the lake and belongs to no table yet. */
export interface StagedFile {
  /** Relative to the lake folder. */
  path: string;
  rowCount: number;
  byteCount: number;
  /** 64 lower-case hex digits. */
  sha256: string;
  /** The least key of the table's default sort column, ISO 8601 with microseconds; null when every value is null. */
  minKey: string | null;
  maxKey: string | null;
  /** The least and greatest row id of a file whose rows are sorted by sort column (nulls last) and row id; null for other files. */
  minId: string | null;
  maxId: string | null;
  /** The number of rows whose sort column is null. */
  nullKeys: number;
  ranges: readonly ColumnRange[];
  /** The number of rows without a value, by column. */
  nullCounts: ReadonlyMap<string, number>;
  columns: readonly PhysicalColumn[];
}

/** What a write made: its files, ready for `commit` in the caller's transaction. */
export interface Staged {
  tableId: string;
  files: readonly StagedFile[];
  rowCount: number;
}

/** About how many rows a file gets, unless its rows are wide. */
export const ROWS_PER_FILE = 100_352;

export interface StageRequest {
  tableId: string;
  experimentId: string;
  /** A SELECT over temporary views that `prepare` made; its columns are the physical columns of the table. */
  select: Statement;
  /** Statements that run before the SELECT on the same connection (views over source files, variables, macros). */
  prepare?: readonly Statement[];
  /** The column by which files are sorted (then by row id) and pruned. */
  sortColumn: string;
  /** Says that the SELECT gives the rows in that order already, so that they are not sorted. */
  sorted?: boolean;
  /** About how many rows a file gets; `ROWS_PER_FILE` by default. */
  rowsPerFile?: number;
  /** About how many rows a row group gets. It is read as a whole or not at all. As many as a file has by default. */
  rowsPerGroup?: number;
}

/**
 * A warehouse: SQL and values in, rows or bytes out. Its calls have the shape of messages, so that an engine could live in another process. Implementations:
 * `engines/duckdb/warehouse.ts`, `engines/databricks/warehouse.ts`.
 */
export interface Warehouse {
  readonly name: 'duckdb' | 'databricks';
  readonly dialect: Dialect;
  /** Runs a statement with a small result (counts, distinct values, catalogue read-backs). Answers all rows as objects, BIGINT and DECIMAL as strings. */
  rows(statement: Statement, options?: RunOptions): Promise<Record<string, unknown>[]>;
  /** Streams a large result as bytes that the engine prints, with back-pressure. Destroying the stream cancels the statement. */
  stream(statement: Statement, format: StreamFormat, options?: RunOptions): Promise<Readable>;
  /** Streams a large result whose values keep their types, with back-pressure. Destroying the stream cancels the statement. */
  typed(statement: Statement, format: TypedFormat, columns: readonly NamedType[], options?: TypedOptions): Promise<Readable>;
  /** The number of statements that run now, as the engine counts them. */
  readonly running: number;
  close(): Promise<void>;
}
