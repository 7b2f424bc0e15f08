import type { Experiment } from '../experiments/experiments.model.ts';

/** A column of a table, as the catalogue knows it. */
export interface TableColumn {
  name: string;
  /** The key in the file or message, where the name had to differ. */
  originalKey: string | null;
  /** Databricks type: `DOUBLE`, `STRUCT<…>`. */
  type: string;
  nullable: boolean;
  /** Null for the columns that every table of the kind has. */
  firstSeenAt: Date | null;
  lastSeenAt: Date | null;
}

export type TableType = 'static' | 'macro' | 'upload';

/** Measurements on which a macro was not run. */
export interface Withheld {
  /** Why, and what to do. */
  reason: string;
  measurements: number;
  firstAt: Date;
  lastAt: Date;
}

export interface TableDescriptor {
  /** What `tableName` takes. */
  identifier: string;
  tableType: TableType;
  displayName: string;
  totalRows: number;
  defaultSortColumn: string;
  /** Of macro tables: the column that says why a row has no output. */
  errorColumn?: string;
  /** Whether you may read its rows: raw and uploaded rows need the contribute action. */
  canRead: boolean;
  version: number;
  /** Of a macro table, for who manages the experiment: that the macro was named by somebody who may not read it. The table may not exist yet. */
  withheld?: Withheld;
  columns: TableColumn[];
}

export interface DataColumn {
  name: string;
  type_name: string;
  type_text: string;
}

export interface DataRows {
  columns: DataColumn[];
  rows: Record<string, unknown>[];
  /** Rows of this answer. */
  totalRows: number;
  /** Whether matching rows exist beyond those sent; on a paged read always false, as totalPages says what remains. */
  truncated: boolean;
}

export interface DataPage {
  /** The table, as it was asked for. */
  name: string;
  /** The experiment's name. */
  catalog_name: string;
  schema_name: string;
  data: DataRows;
  page: number;
  pageSize: number;
  totalPages: number;
  /** Rows that match. */
  totalRows: number;
}

export interface DistinctValues {
  values: string[];
  /** Whether there are more. */
  truncated: boolean;
}

export interface ExperimentWithData extends Experiment {
  /** With `include=data`: the first 100 measurements, where you may read them. */
  data?: DataPage;
}
