import type { Experiment } from '../experiments/experiments.model.ts';

/** A column of a table, as the catalogue knows it. */
export interface TableColumn {
  /** What the column is called in reads, filters and files. */
  name: string;
  /** The key in the file or message, where the name had to differ; else null. */
  originalKey: string | null;
  /** Databricks type: `DOUBLE`, `STRUCT<…>`. */
  type: string;
  /** Whether a row may have no value in it. */
  nullable: boolean;
  /** When the first data with this column came, in UTC. Null for the columns that every table of the kind has. */
  firstSeenAt: Date | null;
  /** When the last data with this column came, in UTC. Null for the columns that every table of the kind has. */
  lastSeenAt: Date | null;
}

/** `static`: measurements and devices, which every experiment has. `macro`: what a macro made of measurements. `upload`: files that people sent. */
export type TableType = 'static' | 'macro' | 'upload';

/** Measurements on which a macro was not run. */
export interface Withheld {
  /** Why, and what to do. */
  reason: string;
  /** How many measurements it was not run on. */
  measurements: number;
  /** When the first of them was taken, in UTC. */
  firstAt: Date;
  /** When the last of them was taken, in UTC. */
  lastAt: Date;
}

/** Measurements that did not become rows, as far as one sender and one reason go. */
export interface SetAside {
  /** Why: `timestamp-missing`, `json-invalid`, `archived` and others, as the documentation of devices explains them. */
  reason: string;
  /** Thing name of the device that sent them; null for what people sent. */
  clientId: string | null;
  /** How many. A message that cannot be read at all is one. */
  count: number;
  /** When the first of them arrived, in UTC. */
  firstAt: Date;
  /** When the last of them arrived, in UTC. */
  lastAt: Date;
}

/** A table of an experiment. */
export interface TableDescriptor {
  /** What `tableName` takes. */
  identifier: string;
  tableType: TableType;
  /** What the table is called on a screen. */
  displayName: string;
  /** Rows that the table has now. */
  totalRows: number;
  /** Column by which rows come when a read says no other; then by `id`. */
  defaultSortColumn: string;
  /** Of macro tables: the column that says why a row has no output. Absent for others. */
  errorColumn?: string;
  /** Whether you may read its rows: raw and uploaded rows need the contribute action. */
  canRead: boolean;
  /** Raised with every change of the table's rows or columns; `asOf` reads an earlier one. 0: nothing was ever stored. */
  version: number;
  /**
   * Of a macro table, for who manages the experiment: that the macro was named by somebody who may not read it. The table may not exist yet. Absent
   * when nothing was withheld.
   */
  withheld?: Withheld;
  /**
   * Of `raw_data`, for who may read it: measurements that arrived in the last 90 days and could not be stored, most first. The newest 10,000 messages
   * are counted. Absent when there are none.
   */
  setAside?: SetAside[];
  /** Of a macro table: whether the macro runs on every measurement to come. The table may not exist yet. Absent for others. */
  runsOnNew?: boolean;
  /** Columns that reads show, in their order. */
  columns: TableColumn[];
}

/** A column of an answer. */
export interface DataColumn {
  /** Name of the column, which is the key in every row. */
  name: string;
  /** Type without its parts, such as `DOUBLE` or `STRUCT`. */
  type_name: string;
  /** Whole type, such as `DECIMAL(10,2)` or `STRUCT<…>`. */
  type_text: string;
}

/** Columns and rows. */
export interface DataRows {
  /** Columns of the rows, in order. */
  columns: DataColumn[];
  /** One object a row, by column name. Whole numbers beyond 2^53 come as text, so that they stay exact. */
  rows: Record<string, unknown>[];
  /** Rows of this answer. */
  totalRows: number;
  /** Whether matching rows exist beyond those sent; on a paged read always false, as totalPages says what remains. */
  truncated: boolean;
}

/** One page of a table. */
export interface DataPage {
  /** The table, as it was asked for. */
  name: string;
  /** The experiment's name. */
  catalog_name: string;
  /** Always `fieldlake`. */
  schema_name: string;
  /** Columns and rows of this page. */
  data: DataRows;
  /** Page that was answered, counted from 1. */
  page: number;
  /** Rows of one page at most; on a read with `limit`, the rows of this answer. */
  pageSize: number;
  /** How many pages there are; 1 on a read with `limit`. */
  totalPages: number;
  /** Rows that match, on all pages. */
  totalRows: number;
}

/** Values of a column, each once. */
export interface DistinctValues {
  /** In ascending order, as text. */
  values: string[];
  /** Whether there are more. */
  truncated: boolean;
}

/** An experiment, with the first of its measurements where they were asked for. */
export interface ExperimentWithData extends Experiment {
  /** With `include=data`: the first 100 measurements, where you may read them; absent otherwise. */
  data?: DataRows;
}
