/** Rows of the manifest, as its statements take and give them. */
import type { LogState } from './delta/schema.ts';
import type { ColumnRange, StagedFile } from '../terms/warehouse.ts';

/** One row of `lake_tables`. */
export interface LakeTable {
  id: string;
  experimentId: string;
  /** A `TableKind`. */
  kind: string;
  identifier: string;
  name: string | null;
  version: number;
  rowCount: number;
  createdBy: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A table that nobody else writes until the transaction ends. */
export interface LockedTable extends LakeTable {
  /** Null: it has no log. */
  logState: LogState | null;
}

/** One live or retired file of a table. */
export interface LakeFile {
  id: string;
  path: string;
  rowCount: number;
  byteCount: number;
  /** ISO 8601, UTC, microseconds; null when every value of the sort column is null. */
  minKey: string | null;
  maxKey: string | null;
  /** Least and greatest row id, and rows without a key; null in files of before they were noted. */
  minId: string | null;
  maxId: string | null;
  nullKeys: number | null;
}

/** Between which values one column of a file lies, beside the rows of that file. */
export interface FileRange extends Omit<ColumnRange, 'name'> {
  path: string;
  rowCount: number;
}

/** One row of the column catalogue; `type` is a Databricks type text. */
export interface CatalogueColumn {
  name: string;
  type: string;
  origin: string;
  originalKey: string | null;
  nullable: boolean;
  hidden: boolean;
  hasValues: boolean;
  exactDouble: boolean;
  ordinal: number;
  sinceVersion: number;
  firstSeenAt: Date;
  lastSeenAt: Date;
}

export interface NewFile extends StagedFile {
  id: string;
}

export interface NewColumn extends Omit<CatalogueColumn, 'sinceVersion' | 'firstSeenAt' | 'lastSeenAt'> {
  /** What it was called until now; null where that was its name. */
  formerly: string | null;
}

export interface NewSource {
  /** 20 hex digits. */
  source: string;
  rowCount: number;
  quarantinedCount: number;
  /** The message or upload that it came in. */
  origin?: string;
  /** `pipelineVersion` of the definitions that made the rows. */
  pipelineVersion?: string;
}
