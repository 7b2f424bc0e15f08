/** Kind of files. `ambyte`: text files of that instrument. `json`: an array or object. `ndjson`: one object a line. */
export type SourceKindName = 'ambyte' | 'csv' | 'tsv' | 'xlsx' | 'parquet' | 'json' | 'ndjson';
/**
 * `pending` while files arrive and wait, `running` while they are read. `completed`: all files are. `failed`: no file could be read. `partial`:
 * anything between.
 */
export type UploadStatus = 'pending' | 'running' | 'completed' | 'partial' | 'failed';
/** `pending` until it is read. `completed`: no record was quarantined. `partial`: some were. `failed`: nothing of it was stored. */
export type UploadFileStatus = 'pending' | 'completed' | 'partial' | 'failed';

/** Files that were sent into a table, and what became of their rows: rowsIn = rowCount + quarantined + alreadyThere. */
export interface Upload {
  /** Names the upload. */
  uploadId: string;
  /** Experiment that it went to. */
  experimentId: string;
  /**
   * Table that it went into. Null when the upload failed and nothing came into the table that it was to make, neither rows nor records that are set aside:
   * its name is free again.
   */
  uploadTableId: string | null;
  /** Name of that table; null when there is none. */
  uploadTableName: string | null;
  /** Kind of all its files. */
  sourceKind: SourceKindName;
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
  createdAt: Date;
  /** When reading ended, in UTC; null until then. */
  completedAt: Date | null;
  /** What went wrong, file by file; null when nothing did. */
  errorMessage: string | null;
  /** When somebody asked to have its rows taken out of the table again; null when nobody has. Until that is done the status is `running`. */
  withdrawRequestedAt: Date | null;
  /** When its rows left the table; null when they have not. The counts go on saying what was stored. */
  withdrawnAt: Date | null;
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
  /** What the row of units below the header says of it; absent where there is none. */
  unit?: string;
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
  /** The reason, or what else there is to know of the file, in sentences for a person; null when there is nothing to say. */
  message: string | null;
  /** What became of each of its columns. */
  columns: UploadedColumn[];
}

/** An upload with the report of every file. */
export interface UploadReport extends Upload {
  /** Every file, with what became of it. */
  files: UploadFile[];
}

/** A value of a file as it was read. */
export interface ReadValue {
  /** The record of the file, counted from 1; a header is none. */
  row: number;
  /** As the table would have it; the first 100 letters. */
  value: string;
  /** As the file has it, where that is another text; the first 100 letters. */
  sent?: string;
}

/** A mark that stands for a missing value. */
export interface MissingMark {
  /** The mark, without blanks around it. */
  mark: string;
  /** In how many of the records that were looked at. */
  count: number;
}

/** What a file's column would become. */
export interface PreviewedColumn extends UploadedColumn {
  /**
   * How it fits the table, and the files before it. `new`: there is no such column. `same`: the column takes every value. `widened`: the column becomes of
   * this type. `odd`: values that do not fit its type would be kept as text beside it.
   */
  fit: 'new' | 'same' | 'widened' | 'odd';
  /**
   * Of csv, tsv and xlsx files: how most of its values are written. `plain`: as numbers with a point, days and times of ISO 8601. `comma`: numbers with
   * a decimal comma. `boolean`: true, false, yes and no. `ymd`, `dmy`, `mdy`: days in that order. `named`: days with the name of their month.
   */
  form?: 'text' | 'plain' | 'comma' | 'boolean' | 'ymd' | 'dmy' | 'mdy' | 'named';
  /** The marks that were taken for missing values, the commonest first. Missing values besides are empty. */
  missingMarks: MissingMark[];
  /** Its first three values. */
  examples: ReadValue[];
}

/** How a file as a whole was read. */
export interface FileReading {
  /** Of csv and tsv files that are not UTF-8: how their characters are written. */
  encoding?: string;
  /** Of csv and tsv files: what stands between fields. */
  delimiter?: string;
  /** Of csv and tsv files with numbers: what stands before their fractions. */
  decimal?: '.' | ',';
  /** Of csv and tsv files the line of the header, of xlsx files its row in the sheet, counted from 1. */
  headerLine?: number;
  /** The same of a row of units below the header, which would be no record; absent where there is none. */
  unitsLine?: number;
}

/** A file that was looked at, and what would become of it. */
export interface PreviewedFile {
  /** Where it would lie in the upload: its folders, where the kind of files has some, and its name. */
  path: string;
  /** Whether only its beginning was sent: the counts are of that alone. */
  isPart: boolean;
  /** Bytes that were looked at. */
  byteCount: number;
  /** `completed`: no record would be quarantined. `partial`: some would. `failed`: nothing of it would be stored, or it could not be looked at. */
  status: 'completed' | 'partial' | 'failed';
  /** Records that were looked at. */
  rowsIn: number;
  /** Rows that would be stored. */
  stored: number;
  /** Records that could not be stored. */
  quarantined: number;
  /** Rows of it that the table has already. */
  alreadyThere: number;
  /** Stable words for why records would not be stored, comma-separated; null when all would. */
  reason: string | null;
  /** The reason, or what else there is to know of the file, in sentences for a person; null when there is nothing to say. */
  message: string | null;
  /** How it was read; null when it was not. */
  reading: FileReading | null;
  /** What would become of each of its columns. */
  columns: PreviewedColumn[];
  /** Columns of the table that the file has nothing for. */
  otherColumns: string[];
}

/** What an upload of files would decide. Nothing of them was stored. */
export interface UploadPreview {
  /** Kind of all files. */
  sourceKind: SourceKindName;
  /** Table that they would go into; null for a new one. */
  uploadTableId: string | null;
  /** Name of that table, or of the new one; null where it has none yet. */
  uploadTableName: string | null;
  /** Every file, with what would become of it. */
  files: PreviewedFile[];
}
