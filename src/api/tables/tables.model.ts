import type { OddValue } from '../uploads/uploads.model.ts';

export type ColumnTypeName = 'int' | 'bigint' | 'double' | 'boolean' | 'date' | 'timestamp' | 'timestamp_ntz' | 'string';

/** What is to become of a column: at least a name or a type. */
export interface ColumnPatch {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name?: string;
  type?: ColumnTypeName;
  /** What stands before the fraction of numbers in its text; a point when left out. */
  decimal?: '.' | ',';
  /** In which order day, month and year stand in its text. */
  dateOrder?: 'dmy' | 'mdy' | 'ymd';
}

/** What became of a column. */
export interface ColumnChangeReport {
  name: string;
  type: string;
  /** Rows that were looked at. */
  rows: number;
  /** Values that do not fit the column's type and are kept in `<name>__text`. */
  oddValues: number;
  /** The first of them; `row` is the record of the file that it came in. */
  oddExamples?: OddValue[];
  /** Rows in which the column has no value. */
  missingValues: number;
  /** Why the values may not be the expected ones. */
  note?: string;
  /** The version of the table that has the column so. */
  version: number;
}

/** A request to change a column of an upload table, and how far it is. */
export interface ColumnChange {
  id: string;
  experimentId: string;
  uploadTableId: string;
  /** What the column was called when this was asked. */
  column: string;
  name?: string;
  type?: ColumnTypeName;
  status: 'queued' | 'running' | 'completed' | 'failed';
  /** Known once it runs. */
  totalRows: number;
  doneRows: number;
  /** Once completed. */
  report?: ColumnChangeReport;
  /** Why it failed; the table is then what it was. */
  errorMessage?: string;
  createdAt: Date;
  startedAt?: Date;
  completedAt?: Date;
}
