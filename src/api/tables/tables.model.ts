import type { OddValue } from '../uploads/uploads.model.ts';

/** Type of a column. `timestamp` is an instant, `timestamp_ntz` a local time without a zone. */
export type ColumnTypeName = 'int' | 'bigint' | 'double' | 'boolean' | 'date' | 'timestamp' | 'timestamp_ntz' | 'string';

/** What is to become of a column: at least a name or a type. */
export interface ColumnPatch {
  /**
   * New name of the column, 1 to 255 characters; the old one stays when absent.
   * @minLength 1
   * @maxLength 255
   */
  name?: string;
  /** New type of the column; the old one stays when absent. */
  type?: ColumnTypeName;
  /** What stands before the fraction of numbers in its text; a point when left out. */
  decimal?: '.' | ',';
  /** In which order day, month and year stand in its text. */
  dateOrder?: 'dmy' | 'mdy' | 'ymd';
}

/** What became of a column. */
export interface ColumnChangeReport {
  /** What the column is called now. */
  name: string;
  /** Type that the column has now. */
  type: string;
  /** Rows that were looked at. */
  rows: number;
  /** Values that do not fit the column's type and are kept in `<name>__text`. */
  oddValues: number;
  /** The first of them; `row` is the record of the file that it came in. Absent when every value fits. */
  oddExamples?: OddValue[];
  /** Rows in which the column has no value. */
  missingValues: number;
  /** Why the values may not be the expected ones; absent when nothing is odd. */
  note?: string;
  /** The version of the table that has the column so. */
  version: number;
}

/** A request to change a column of an upload table, and how far it is. */
export interface ColumnChange {
  /** Names the change. */
  id: string;
  /** Experiment that the table belongs to. */
  experimentId: string;
  /** Upload table whose column is changed. */
  uploadTableId: string;
  /** What the column was called when this was asked. */
  column: string;
  /** Name that it is to have; absent when the name stays. */
  name?: string;
  /** Type that it is to have; absent when the type stays. */
  type?: ColumnTypeName;
  /** `queued`, then `running`, then `completed` or `failed`. */
  status: 'queued' | 'running' | 'completed' | 'failed';
  /** Rows to look at; 0 until it runs. */
  totalRows: number;
  /** Rows that have been looked at. */
  doneRows: number;
  /** What became of the values; absent until it is completed. */
  report?: ColumnChangeReport;
  /** Why it failed; the table is then what it was. Absent otherwise. */
  errorMessage?: string;
  createdAt: Date;
  /** When it began to run, in UTC; absent until then. */
  startedAt?: Date;
  /** When it ended, in UTC; absent until then. */
  completedAt?: Date;
}
