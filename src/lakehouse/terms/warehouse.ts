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
  /** Named in the engine's own log, where it has one. */
  tag?: string;
  /** What the caller calls the table that is read; named where one of its files turns out to be damaged. */
  table?: string;
  /** Told twice a second which share (0 to 1) of what it has to read the statement has read, by an engine that knows. */
  onReading?: (share: number) => void;
}

/** Text that the statement prints: `json` is a stream of NDJSON lines that the caller frames, the others are the bytes that go out. */
export type StreamFormat = 'json' | 'ndjson' | 'csv';

/** Bytes with types, of a statement that prints values: an Arrow IPC stream, or a Parquet file. */
export type TypedFormat = 'arrow' | 'parquet';

/** A column that goes out: `as` is the statement's name for it, in the order of the statement's columns, `name` the reader's. */
export interface NamedType {
  as: string;
  name: string;
  type: ColumnType;
}

export interface TypedOptions extends RunOptions {
  /** Told of the rows that have been written so far, now and then; at most as often as batches are. */
  onRows?: (rows: number) => void;
}

/** The physical types of a Parquet file whose values are compared as numbers: times in microseconds since 1970, days since then. */
export type StoredAs = 'int32' | 'int64' | 'double';

/** Between which values a column of a file lies; both null where it has none. No column that holds NaN, or a number that is not exact here, has a range. */
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

/** One immutable file that lies in the lake, durably, but is not in any table yet. */
export interface StagedFile {
  /** Relative to the lake folder. */
  path: string;
  rowCount: number;
  byteCount: number;
  /** 64 lower-case hex digits. */
  sha256: string;
  /** ISO 8601 with microseconds, of the table's default sort column; null when every value is null. */
  minKey: string | null;
  maxKey: string | null;
  /** Least and greatest row id of a file whose rows are in order, by sort column (nulls last) and row id; else null. */
  minId: string | null;
  maxId: string | null;
  /** Rows whose sort column is null. */
  nullKeys: number;
  ranges: readonly ColumnRange[];
  /** Rows without a value, by column. */
  nullCounts: ReadonlyMap<string, number>;
  columns: readonly PhysicalColumn[];
}

/** What a write made: its files, ready for `commit` in the caller's transaction. */
export interface Staged {
  tableId: string;
  files: readonly StagedFile[];
  rowCount: number;
}

export interface StageRequest {
  tableId: string;
  experimentId: string;
  /** A SELECT over temporary views that `prepare` made; its columns are the physical columns of the table. */
  select: Statement;
  /** Statements run before the SELECT on the same connection (views over source files, variables, macros). */
  prepare?: readonly Statement[];
  /** Column that files are sorted by (then by row id) and pruned on. */
  sortColumn: string;
  /** About this many rows a file; 100,000 by default. */
  rowsPerFile?: number;
  /** About this many rows a row group, which is read as a whole or not at all; as many as a file has by default. */
  rowsPerGroup?: number;
}

/**
 * One warehouse: SQL and values in, rows or bytes out. Message-shaped, so that an engine could live in another process.
 * Implementations: `warehouses/duckdb.ts`, `warehouses/databricks.ts`.
 */
export interface Warehouse {
  readonly name: 'duckdb' | 'databricks';
  readonly dialect: Dialect;
  /** Small results only (counts, distinct values, catalogue read-backs): all rows as objects, BIGINT and DECIMAL as strings. */
  rows(statement: Statement, options?: RunOptions): Promise<Record<string, unknown>[]>;
  /** Large results: bytes printed by the engine, with back-pressure; destroying the stream cancels the statement. */
  stream(statement: Statement, format: StreamFormat, options?: RunOptions): Promise<Readable>;
  /** Large results whose values keep their types, with back-pressure; destroying the stream cancels the statement. */
  typed(statement: Statement, format: TypedFormat, columns: readonly NamedType[], options?: TypedOptions): Promise<Readable>;
  /** Writes the rows of a SELECT as sorted, immutable files. Nothing is visible until the caller commits them in the manifest. */
  stage(request: StageRequest, options?: RunOptions): Promise<Staged>;
  /** Statements running now, as the engine counts them. */
  readonly running: number;
  close(): Promise<void>;
}
