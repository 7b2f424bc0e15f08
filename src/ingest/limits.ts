export const SOURCE_KINDS = ['ambyte', 'csv', 'tsv', 'xlsx', 'parquet', 'json', 'ndjson'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

interface KindLimits {
  /** Lower case, with the dot. */
  extensions: readonly string[];
  /** Bytes of one file at most, for a kind whose limit is less than `UPLOAD_FILE_MIB`. */
  maxFileBytes?: number;
  maxFiles: number;
}

const MIB = 1_048_576;

/** What one upload may hold, by kind; enforced while streaming. */
export const LIMITS: Readonly<Record<SourceKind, KindLimits>> = {
  ambyte: { extensions: ['.txt'], maxFileBytes: 10 * MIB, maxFiles: 1_000 },
  csv: { extensions: ['.csv'], maxFiles: 100 },
  tsv: { extensions: ['.tsv'], maxFiles: 100 },
  // a workbook is read into memory as a whole
  xlsx: { extensions: ['.xlsx', '.xlsm'], maxFileBytes: 200 * MIB, maxFiles: 100 },
  parquet: { extensions: ['.parquet'], maxFiles: 100 },
  json: { extensions: ['.json'], maxFiles: 100 },
  ndjson: { extensions: ['.ndjson', '.jsonl'], maxFiles: 100 },
};

/** Answers how many bytes one file of a kind may have; `allowed` is the operator's limit. */
export const limitFileBytes = (kind: SourceKind, allowed: number): number => Math.min(allowed, LIMITS[kind].maxFileBytes ?? allowed);

/** Columns of one table at most. */
export const MAX_COLUMNS = 2_000;
/** Bytes of one record (a CSV record with its quoted newlines, a JSON line or element) at most. */
export const MAX_RECORD_BYTES = 8 * MIB;
/** Keys, lists and objects of one JSON record at most: these, and not its bytes, take the time that it is understood in, and others wait meanwhile. */
export const MAX_RECORD_PARTS = 100_000;
const MAX_ROWS = 1_000_000_000;
/** Answers to how many bytes a Parquet file of `size` bytes may unpack: a hundred times `size`, but at least 1 GiB and at most 16 GiB. */
export const limitUnpackedBytes = (size: number): number => Math.min(16 * 1_024 * MIB, Math.max(1_024 * MIB, 100 * size));

/** Rows that a Parquet file may have for each of its bytes, where that is more than any file may have. */
const PARQUET_EXPANSION = 20;
const ANY_ROWS = 5_000_000;
const CELLS_PER_ROW = 20;
/**
 * Answers how many rows and cells a Parquet file of `size` bytes may have. Bytes alone are no bound: a dictionary stores two million rows of one value in 3 kB,
 * and each row costs as much to ingest as any other. Every file may have five million rows, which no ratio could allow. A larger file may have 20 rows a byte:
 * in a column of different numbers each needs about one byte.
 */
export const limitParquet = (size: number, expansion = PARQUET_EXPANSION): { rows: number; cells: number } => {
  const rows = Math.min(MAX_ROWS, Math.max(ANY_ROWS, expansion * size));
  return { rows, cells: CELLS_PER_ROW * rows };
};

/** The limits of a preview: how many files, or beginnings of files, and how many bytes of each. */
export const PREVIEW_LIMITS = { maxFiles: 10, maxFileBytes: 4 * MIB };
