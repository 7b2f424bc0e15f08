/** The shapes of the manifest's rows, as its statements take and answer them. */
import type { LogState } from './delta/schema.ts';
import type { FileExtent } from '../terms/extents.ts';
import type { ColumnRange, StagedFile } from '../terms/warehouse.ts';

export interface LakeTable {
  id: string;
  experimentId: string;
  /** A `TableKind`. */
  kind: string;
  identifier: string;
  name: string | null;
  version: number;
  rowCount: number;
  createdAt: Date;
}

/** A table that nobody else writes until the transaction ends. */
export interface LockedTable extends LakeTable {
  /** Null where the table has no log. */
  logState: LogState | null;
}

/** One live or retired file of a table. */
export interface LakeFile extends Omit<FileExtent, 'kept'> {
  id: string;
  byteCount: number;
}

/** The least and greatest value of one column of a file, with the number of rows of that file. */
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
}

export interface NewFile extends StagedFile {
  id: string;
}

export interface NewColumn extends CatalogueColumn {
  /** The name of the column until now; null where the name stays. */
  formerly: string | null;
}

export interface NewSource {
  /** 20 hex digits. */
  source: string;
  rowCount: number;
  quarantinedCount: number;
  /** The id of the message or upload in which the source came. */
  origin?: string;
  /** `pipelineVersion` of the definitions that made the rows. */
  pipelineVersion?: string;
}
