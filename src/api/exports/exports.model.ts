import type { DataAggregation, DataFilter } from '../visualizations/visualizations.model.ts';
import type { TableAsked } from '../resources/resources.model.ts';

/** Form of a file. */
export type ExportFormat = 'csv' | 'ndjson' | 'json' | 'parquet' | 'arrow' | 'xlsx';
/** `queued` and `running` until the file is written or given up. */
export type ExportState = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';

/**
 * Column as a read names it.
 * @minLength 1
 * @maxLength 1024
 */
export type ExportedColumn = string;

/** What is written to a file, and how. */
export interface NewExport extends TableAsked {
  /** Form of the file. An `xlsx` sheet holds 1,048,575 rows at most. */
  format: ExportFormat;
  /** Column names, or their text as a read takes it; every column when absent. */
  columns?: string | ExportedColumn[];
  /** What the rows are narrowed by, or its JSON text; integers beyond 2^53 need the text. Every row when absent. */
  filters?: DataFilter[] | string;
  /** What is grouped and computed, or its JSON text; plain rows when absent. */
  aggregation?: DataAggregation | string;
  /** Column to order by; the table's `defaultSortColumn` when absent. */
  orderBy?: string;
  /** `ASC`: smallest or oldest first, the default. `DESC`: largest or newest first. */
  orderDirection?: 'ASC' | 'DESC';
  /**
   * Rows at most, 0 to 100,000; every matching row when absent.
   * @isInt
   * @minimum 0
   * @maximum 100000
   */
  limit?: number;
  /**
   * A version that an earlier answer named in X-Table-Version; the current one when absent.
   * @isInt
   * @minimum 0
   * @maximum 2147483647
   */
  asOf?: number;
  /** CSV only: leave out the apostrophe before text that a spreadsheet would run as a formula; false by default. */
  raw?: boolean;
  /** Pseudonyms instead of names. Follows the experiment when absent; `false` needs the manage action. */
  anonymizeContributors?: boolean;
}

/** An export that has been put in the queue. */
export interface ExportStarted {
  /** Always `queued`. */
  status: ExportState;
  /** Names the export. */
  exportId: string;
}

/** A file that is made from a table. */
export interface Export {
  /** Names the export. */
  exportId: string;
  /** Experiment that the table belongs to. */
  experimentId: string;
  /** The table, as it was asked for. */
  tableName: string;
  /** Form of the file. */
  format: ExportFormat;
  status: ExportState;
  /** Path of the download; null until the file is complete, and after it has expired. */
  filePath: string | null;
  /** Rows of the file; null until it is complete. */
  rowCount: number | null;
  /** Bytes of the file; null until it is complete. */
  fileSize: number | null;
  /** Person who asked for it, by their UUID. Null when the account is gone, and to others in an anonymised experiment. */
  createdBy: string | null;
  createdAt: Date;
  /** When the file was complete, or the export failed or was cancelled, in UTC; null until then. */
  completedAt: Date | null;
}

/** A page of exports. */
export interface ExportList {
  /** Newest first. */
  exports: Export[];
}

/** How far an export is. */
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
  /** How far it is. */
  progress: ExportProgress;
  /** Why it failed; null otherwise. */
  errorMessage: string | null;
  /** Whether the file holds pseudonyms instead of names. */
  anonymizeContributors: boolean;
  /** The version of the table whose rows it holds. */
  tableVersion: number;
  /** When the file is removed, in UTC; null until it is complete. */
  expiresAt: Date | null;
}
