export const SOURCE_KINDS = ['ambyte', 'csv', 'tsv', 'xlsx', 'parquet', 'json', 'ndjson'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

export interface KindLimits {
  /** Lower case, with the dot. */
  extensions: readonly string[];
  /** Where it is less than `UPLOAD_FILE_MIB`. */
  maxFileBytes?: number;
  maxFiles: number;
}

const MIB = 1_048_576;

/** What one upload may hold, by kind; enforced while streaming. */
export const LIMITS: Readonly<Record<SourceKind, KindLimits>> = {
  ambyte: { extensions: ['.txt'], maxFileBytes: 10 * MIB, maxFiles: 1_000 },
  csv: { extensions: ['.csv'], maxFiles: 100 },
  tsv: { extensions: ['.tsv'], maxFiles: 100 },
  // read as a whole into memory
  xlsx: { extensions: ['.xlsx', '.xlsm'], maxFileBytes: 200 * MIB, maxFiles: 100 },
  parquet: { extensions: ['.parquet'], maxFiles: 100 },
  json: { extensions: ['.json'], maxFiles: 100 },
  ndjson: { extensions: ['.ndjson', '.jsonl'], maxFiles: 100 },
};

/** Bytes of one file of a kind at most, where the operator allows so many. */
export const limitFileBytes = (kind: SourceKind, allowed: number): number => Math.min(allowed, LIMITS[kind].maxFileBytes ?? allowed);

/** Columns of one table at most. */
export const MAX_COLUMNS = 2_000;
/** Bytes of one record (a CSV record with its quoted newlines, a JSON line or element) at most. */
export const MAX_RECORD_BYTES = 8 * MIB;
export const MAX_ROWS = 1_000_000_000;
/** Bytes that a Parquet file of `size` bytes may unpack to: a hundred times its own, 1 GiB in any case and 16 GiB at most. */
export const limitUnpackedBytes = (size: number): number => Math.min(16 * 1_024 * MIB, Math.max(1_024 * MIB, 100 * size));

/** Rows of a Parquet file for each of its bytes, beyond the rows that any file may have. */
export const PARQUET_EXPANSION = 20;
const ANY_ROWS = 5_000_000;
const CELLS_PER_ROW = 20;
/**
 * Rows and cells that a Parquet file of `size` bytes may have. Bytes alone are no bound: a dictionary makes 3 kB of two million rows of one value, and each
 * row costs as much to ingest as any other. So every file may have five million rows, which no ratio could allow, and a larger one 20 a byte: a column of
 * numbers that differ needs a byte or so each.
 */
export const limitParquet = (size: number, expansion = PARQUET_EXPANSION): { rows: number; cells: number } => {
  const rows = Math.min(MAX_ROWS, Math.max(ANY_ROWS, expansion * size));
  return { rows, cells: CELLS_PER_ROW * rows };
};

/** What a look at files before they are uploaded may hold: so many files, or beginnings of files, and bytes of each. */
export const PREVIEW_LIMITS = { maxFiles: 10, maxFileBytes: 4 * MIB };
