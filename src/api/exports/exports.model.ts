import type { ChartAggregation, ChartFilter } from '../visualizations/visualizations.model.ts';

export type ExportFormat = 'csv' | 'ndjson' | 'json' | 'parquet' | 'arrow' | 'xlsx';
export type ExportState = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';

/**
 * @minLength 1
 * @maxLength 1024
 */
export type ExportedColumn = string;

export interface NewExport {
  /**
   * `raw_data`, `device`, a macro's id, or an upload table's id or name.
   * @minLength 1
   * @maxLength 256
   */
  tableName: string;
  format: ExportFormat;
  /** Column names, or their text as a read takes it; every column when absent. */
  columns?: string | ExportedColumn[];
  /** What the rows are narrowed by, or its JSON text; integers beyond 2^53 need the text. */
  filters?: ChartFilter[] | string;
  /** What is grouped and computed, or its JSON text. */
  aggregation?: ChartAggregation | string;
  orderBy?: string;
  orderDirection?: 'ASC' | 'DESC';
  /**
   * Rows at most; every matching row when absent.
   * @isInt
   * @minimum 0
   * @maximum 100000
   */
  limit?: number;
  /**
   * A version that an earlier answer named in X-Table-Version; the current one when absent.
   * @isInt
   * @minimum 0
   * @maximum 9007199254740991
   */
  asOf?: number;
  /** CSV only: leave out the apostrophe before text that a spreadsheet would run as a formula. */
  raw?: boolean;
  /** Pseudonyms instead of names. Follows the experiment when absent; `false` needs the manage action. */
  anonymizeContributors?: boolean;
}

export interface ExportStarted {
  status: ExportState;
  exportId: string;
}

/** A file that is made from a table. */
export interface Export {
  exportId: string;
  experimentId: string;
  /** The table, as it was asked for. */
  tableName: string;
  format: ExportFormat;
  status: ExportState;
  /** Path of the download; null until the file is complete, and after it has expired. */
  filePath: string | null;
  rowCount: number | null;
  /** Bytes. */
  fileSize: number | null;
  /** Null when the account is gone, and to others in an anonymised experiment. */
  createdBy: string | null;
  createdAt: Date;
  completedAt: Date | null;
}

export interface ExportList {
  exports: Export[];
}

export interface ExportProgress {
  /** How far it is, 0 to 100: half of it for the rows that the engine has read, where the engine says so, and half for those that are written. */
  percent: number;
  /** Rows written so far. */
  rows: number;
  /** Bytes written so far. */
  bytes: number;
  /** Rows that there will be; null until they have been counted. */
  totalRows: number | null;
}

/** An export, and how far it is. */
export interface ExportStatus extends Export {
  progress: ExportProgress;
  /** Why it failed. */
  errorMessage: string | null;
  /** Whether the file holds pseudonyms instead of names. */
  anonymizeContributors: boolean;
  /** The version of the table whose rows it holds. */
  tableVersion: number;
  expiresAt: Date | null;
}
