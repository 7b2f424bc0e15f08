import type { Column, ColumnType, TableKind } from '../terms/catalog.ts';
import { quoteName } from '../terms/quoting.ts';
import type { PhysicalColumn, RunOptions, Staged, StageRequest, Statement } from '../terms/warehouse.ts';

/** One connection of the writing engine with temporary views and macros of its own. Used by one caller at a time; always closed. */
export interface StagingSession {
  /** Runs statements one after the other (views, macros, variables). */
  prepare(statements: readonly Statement[]): Promise<void>;
  /** A small result as objects: BIGINT, DECIMAL and times as text, other numbers as numbers. */
  rows(statement: Statement): Promise<Record<string, unknown>[]>;
  /**
   * Writes the rows of a SELECT as immutable files of about `rowsPerFile` rows that do not overlap in (sort column, id).
   * With `sorted: true` the SELECT promises to come in that order already and is not sorted again.
   */
  stage(request: StageRequest & { sorted?: boolean }): Promise<Staged>;
  /** The columns of a file of a table that have few values, with the rows of each value; none of a file with rows of another experiment. */
  values(asked: ValuesAsked): Promise<ColumnValues[]>;
  close(): void;
}

export interface ValuesAsked {
  /** Absolute. */
  path: string;
  experimentId: string;
  kind: TableKind;
  columns: readonly Column[];
}

/** How many rows of a file have each value of a column. */
export interface ColumnValues {
  name: string;
  /** `printType` of the column. */
  type: string;
  /** Rows by `printValue` of their value. */
  counts: Record<string, number>;
  nulls: number;
}

export interface SessionOptions extends RunOptions {
  /** Few rows, and others beside them: an engine of one thread takes them, because threads that wait for work of a few milliseconds take as much as the work. */
  small?: boolean;
}

/** The writing half of a warehouse on one machine: sessions over files in the lake folder and the work folder. */
export interface StagingArea {
  /** Absolute folder in which source files are put before they are read; the engine reads nothing outside it and the lake. */
  readonly workFolder: string;
  readonly lakeFolder: string;
  session(options?: SessionOptions): Promise<StagingSession>;
  stage(request: StageRequest, options?: RunOptions): Promise<Staged>;
  /** The columns that a file holds; its path is relative to the lake folder. */
  readColumns(path: string): Promise<PhysicalColumn[]>;
  /** Removes files that were staged or have been retired; a missing file is no error. Paths are relative to the lake folder. */
  remove(paths: readonly string[]): Promise<{ files: number; bytes: number }>;
  close(): Promise<void>;
}

/** The physical type of a column in the lake's Parquet files. */
export function printPhysicalType(type: ColumnType): string {
  switch (type.kind) {
    case 'boolean':
      return 'BOOLEAN';
    case 'int':
      return 'INTEGER';
    case 'bigint':
      return 'BIGINT';
    case 'double':
      return 'DOUBLE';
    case 'string':
      return 'VARCHAR';
    case 'date':
      return 'DATE';
    case 'timestamp':
      return 'TIMESTAMPTZ';
    case 'timestamp_ntz':
      return 'TIMESTAMP';
    case 'variant':
      return 'JSON';
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`;
    case 'struct':
      return `STRUCT(${type.fields.map(({ name, type: inner }) => `${quoteName(name)} ${printPhysicalType(inner)}`).join(', ')})`;
    case 'array':
      return `${printPhysicalType(type.element)}[]`;
  }
}
