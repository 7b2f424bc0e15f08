export type SourceKindName = 'ambyte' | 'csv' | 'tsv' | 'xlsx' | 'parquet' | 'json' | 'ndjson';
export type UploadStatus = 'pending' | 'running' | 'completed' | 'partial' | 'failed';
export type UploadFileStatus = 'pending' | 'completed' | 'partial' | 'failed';

/** Files that were sent into a table, and what became of their rows: rowsIn = stored + quarantined + alreadyThere. */
export interface Upload {
  uploadId: string;
  experimentId: string;
  /** Null when the upload failed before the table that it was to make held anything. */
  uploadTableId: string | null;
  uploadTableName: string | null;
  sourceKind: SourceKindName;
  status: UploadStatus;
  fileCount: number;
  /** Rows that were stored. */
  rowCount: number;
  /** Records found in the files. */
  rowsIn: number;
  /** Records that could not be stored, each kept with its reason. */
  quarantined: number;
  /** Rows of files that the table had already. */
  alreadyThere: number;
  /** Null when the account is gone, and to others in an anonymised experiment. */
  createdBy: string | null;
  createdAt: Date;
  completedAt: Date | null;
  errorMessage: string | null;
}

export interface UploadList {
  uploads: Upload[];
}

/** What a file's column became. */
export interface UploadedColumn {
  name: string;
  originalKey: string;
  type: string;
  /** The type that the column had before, where this file widened it. */
  widenedFrom?: string;
  /** Values that did not fit the column's type and are kept in `<name>__text`. */
  oddValues: number;
  /** The first three of them. */
  oddExamples?: OddValue[];
  /** Rows of the file in which the column has no value. */
  missingValues?: number;
  /** Why the type may not be the expected one. */
  note?: string;
}

/** A value that did not fit its column's type. */
export interface OddValue {
  /** The record of the file, counted from 1; a header is none. */
  row: number;
  /** As it was sent; the first 100 letters. */
  value: string;
}

export interface UploadFile {
  /** Where it lies in the upload: its folders, where the kind of files has some, and its name. */
  path: string;
  /** The same as `path`. */
  filePath: string;
  /** Its name without folders. */
  fileName: string;
  status: UploadFileStatus;
  /** SHA-256 of the bytes, 64 hex digits. */
  sha256: string | null;
  byteCount: number | null;
  rowsIn: number;
  stored: number;
  quarantined: number;
  alreadyThere: number;
  /** A stable word for why records were not stored. */
  reason: string | null;
  message: string | null;
  columns: UploadedColumn[];
}

/** An upload with the report of every file. */
export interface UploadReport extends Upload {
  files: UploadFile[];
}
