/**
 * What a lake table is made of: column types under their Databricks names, and the fixed columns of every kind of table.
 * Expanded columns (sample keys, questions, macro outputs, uploaded columns) live in Postgres and are handed in by the caller.
 */
export type ColumnType =
  | { kind: 'boolean' | 'int' | 'bigint' | 'double' | 'string' | 'date' | 'timestamp' | 'timestamp_ntz' | 'variant' }
  | { kind: 'decimal'; precision: number; scale: number }
  | { kind: 'struct'; fields: readonly { name: string; type: ColumnType }[] }
  | { kind: 'array'; element: ColumnType };

/** Where a column comes from. `base` columns are fixed by the table's kind; the others are expanded. */
export type ColumnOrigin = 'base' | 'question' | 'output' | 'uploaded' | 'metadata';

export interface Column {
  /** The name callers use and the physical Parquet column's name; unique in its table, case-insensitively. */
  name: string;
  type: ColumnType;
  nullable: boolean;
  origin: ColumnOrigin;
  /** The key in the source file or message, when `name` had to differ from it. */
  originalKey?: string;
  /** Hidden columns can be filtered on by us, never named by a caller. */
  hidden?: boolean;
}

/** Tables a caller can read by name. */
export const READABLE_KINDS = ['raw_data', 'device', 'macro', 'upload'] as const;
export type ReadableKind = (typeof READABLE_KINDS)[number];
/** Tables that only the service reads: dimensions, change logs and what could not be stored. */
export type InternalKind = 'identity' | 'annotation' | 'metadata_record' | 'registry' | 'quarantine';
export type TableKind = ReadableKind | InternalKind;
