/** The door to reading: plan, compile, run, frame. */
import type { Readable } from 'node:stream';
import type { TableSource } from './plan.ts';
import type { ReadRequest } from './request.ts';
import type { RunOptions, Warehouse } from './warehouse.ts';

export interface ColumnInfo {
  name: string;
  type_name: string;
  type_text: string;
}

/** What a page holds beside its rows. */
export interface PageCounts {
  /** Rows of this answer. */
  rows: number;
  /** Rows that match. */
  totalRows: number;
  truncated: boolean;
  page: number;
  pageSize: number;
  totalPages: number;
}

/** A JSON answer whose rows were printed by the engine. */
export interface Page {
  columns: readonly ColumnInfo[];
  /** The rows' JSON objects, joined by commas, without the brackets. Destroying it frees the engine. */
  rows: Readable;
  /** Known once `rows` has ended. */
  counts: () => PageCounts;
}

/** Bytes of a whole result, printed by the engine; destroyed, never ended, when the engine fails midway. */
export interface Download {
  columns: readonly ColumnInfo[];
  contentType: string;
  body: Readable;
  /** True when the request's limit left rows behind; known once `body` has ended. */
  truncated: () => boolean;
}

export interface DownloadOptions extends RunOptions {
  format: 'csv' | 'ndjson' | 'parquet';
  /** Leaves out the apostrophe that keeps spreadsheet programs from running text as a formula. */
  raw?: boolean;
}

export interface Distinct {
  values: (string | number | boolean)[];
  truncated: boolean;
}

/** One page (or the one-page answer of an aggregated or limited read). Throws 400s from the planner, `warehouseTimeout`, `warehouseUnavailable`. */
export type ReadPage = (warehouse: Warehouse, source: TableSource, request: ReadRequest, options?: RunOptions) => Promise<Page>;
/** Every matching row, or the page or limit that was asked, as a stream. */
export type ReadStream = (warehouse: Warehouse, source: TableSource, request: ReadRequest, options: DownloadOptions) => Promise<Download>;
/** Distinct values of a column, ascending, without nulls and empty text. */
export type ReadDistinct = (
  warehouse: Warehouse,
  source: TableSource,
  column: string,
  limit: number,
  options?: RunOptions,
) => Promise<Distinct>;
