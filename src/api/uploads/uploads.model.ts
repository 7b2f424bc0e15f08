/** Kind of files. `ambyte`: text files of that instrument. `json`: an array or object. `ndjson`: one object a line. */
export type SourceKindName = 'ambyte' | 'csv' | 'tsv' | 'xlsx' | 'parquet' | 'json' | 'ndjson';
/**
 * `pending` while files arrive and wait, `running` while they are read. `completed`: all files are. `failed`: no file could be read. `partial`:
 * anything between.
 */
export type UploadStatus = 'pending' | 'running' | 'completed' | 'partial' | 'failed';
/** `pending` until it is read. `completed`: no record was quarantined. `partial`: some were. `failed`: nothing of it was stored. */
export type UploadFileStatus = 'pending' | 'completed' | 'partial' | 'failed';

/** Files that were sent into a table, and what became of their rows: rowsIn = stored + quarantined + alreadyThere. */
export interface Upload {
  /** Names the upload. */
  uploadId: string;
  /** Experiment that it went to. */
  experimentId: string;
  /** Table that it went into. Null when the upload failed before the table that it was to make held anything. */
  uploadTableId: string | null;
  /** Name of that table; null when there is none. */
  uploadTableName: string | null;
  /** Kind of all its files. */
  sourceKind: SourceKindName;
  /**
   * `pending` while files arrive and wait, `running` while they are read. `completed`: all files are. `failed`: no file could be read. `partial`:
   * anything between.
   */
  status: UploadStatus;
  /** Files that arrived. */
  fileCount: number;
  /** Rows that were stored. */
  rowCount: number;
  /** Records found in the files. */
  rowsIn: number;
  /** Records that could not be stored, each kept with its reason. */
  quarantined: number;
  /** Rows of files that the table had already. */
  alreadyThere: number;
  /** Person who sent it, by their UUID. Null when the account is gone, and to others in an anonymised experiment. */
  createdBy: string | null;
  /** When it was made, in UTC. */
  createdAt: Date;
  /** When reading ended, in UTC; null until then. */
  completedAt: Date | null;
  /** What went wrong, file by file; null when nothing did. */
  errorMessage: string | null;
}

/** A page of uploads. */
export interface UploadList {
  /** Newest first. */
  uploads: Upload[];
}

/** What a file's column became. */
export interface UploadedColumn {
  /** What the column is called in the table. */
  name: string;
  /** What the file calls it. */
  originalKey: string;
  /** Type that the column has in the table, such as `DOUBLE`. */
  type: string;
  /** The type that the column had before, where this file widened it; absent otherwise. */
  widenedFrom?: string;
  /** Values that did not fit the column's type and are kept in `<name>__text`. */
  oddValues: number;
  /** The first three of them; absent when every value fits. */
  oddExamples?: OddValue[];
  /** Rows of the file in which the column has no value; absent in reports from before it was counted. */
  missingValues?: number;
  /** Why the type may not be the expected one; absent when nothing is odd. */
  note?: string;
}

/** A value that did not fit its column's type. */
export interface OddValue {
  /** The record of the file, counted from 1; a header is none. */
  row: number;
  /** As it was sent; the first 100 letters. */
  value: string;
}

/** A file of an upload, and what became of it. */
export interface UploadFile {
  /** Where it lies in the upload: its folders, where the kind of files has some, and its name. */
  path: string;
  /** The same as `path`. */
  filePath: string;
  /** Its name without folders. */
  fileName: string;
  /** `pending` until it is read. `completed`: no record was quarantined. `partial`: some were. `failed`: nothing of it was stored. */
  status: UploadFileStatus;
  /** SHA-256 of the bytes, 64 hex digits; null until the file has arrived. */
  sha256: string | null;
  /** Bytes of the file; null until it has arrived. */
  byteCount: number | null;
  /** Records found in it. */
  rowsIn: number;
  /** Rows of it that were stored. */
  stored: number;
  /** Records of it that could not be stored, each kept with its reason. */
  quarantined: number;
  /** Rows of it that the table had already. */
  alreadyThere: number;
  /** Stable words for why records were not stored, comma-separated; null when all were. */
  reason: string | null;
  /** The reason as a sentence for a person; null when all were stored. */
  message: string | null;
  /** What became of each of its columns. */
  columns: UploadedColumn[];
}

/** An upload with the report of every file. */
export interface UploadReport extends Upload {
  /** Every file, with what became of it. */
  files: UploadFile[];
}
