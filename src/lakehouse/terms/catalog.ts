/**
 * Defines what a lake table is made of: column types under their Databricks names, and the fixed columns of every kind of table. Expanded columns (sample keys,
 * questions, macro outputs, uploaded columns) live in Postgres, and the caller passes them in.
 */
export type ColumnType =
  | { kind: 'boolean' | 'int' | 'bigint' | 'double' | 'string' | 'date' | 'timestamp' | 'timestamp_ntz' | 'variant' }
  | { kind: 'decimal'; precision: number; scale: number }
  | { kind: 'struct'; fields: readonly { name: string; type: ColumnType }[] }
  | { kind: 'array'; element: ColumnType };

/** Where a column comes from. `base` columns are fixed by the table's kind; the others are expanded. */
export type ColumnOrigin = 'base' | 'question' | 'output' | 'uploaded' | 'metadata';

export interface Column {
  /** The name callers use and the physical Parquet column's name; unique in its table, case-insensitively. */
  name: string;
  type: ColumnType;
  nullable: boolean;
  origin: ColumnOrigin;
  /** The key in the source file or message, where `name` had to differ from it. */
  originalKey?: string;
  /** False when no row of this version has a value. Files, and tables of another engine, may then lack the column. */
  hasValues?: boolean;
  /** True for a column that we can filter on, but that no caller may name. */
  hidden?: boolean;
  /** The kind of a column that is made at read time from a hidden column and a dimension or change log. No file holds it. */
  derived?: 'contributor' | 'device' | 'annotations' | 'metadata';
  /** The physical columns of the table from which a derived column is made, where its kind does not say them. */
  madeFrom?: readonly string[];
}

/** Tables a caller can read by name. */
export const READABLE_KINDS = ['raw_data', 'device', 'macro', 'upload'] as const;
export type ReadableKind = (typeof READABLE_KINDS)[number];
/** Tables that only the service reads: dimensions, change logs and what could not be stored. */
export type InternalKind = 'identity' | 'annotation' | 'metadata_record' | 'registry' | 'quarantine';
export type TableKind = ReadableKind | InternalKind;

export const BOOLEAN = { kind: 'boolean' } as const;
export const INT = { kind: 'int' } as const;
export const BIGINT = { kind: 'bigint' } as const;
export const DOUBLE = { kind: 'double' } as const;
export const STRING = { kind: 'string' } as const;
export const DATE = { kind: 'date' } as const;
export const TIMESTAMP = { kind: 'timestamp' } as const;
export const TIMESTAMP_NTZ = { kind: 'timestamp_ntz' } as const;
export const VARIANT = { kind: 'variant' } as const;
export const makeDecimal = (precision: number, scale: number): ColumnType => ({ kind: 'decimal', precision, scale });
export const makeStruct = (fields: Readonly<Record<string, ColumnType>>): ColumnType => ({
  kind: 'struct',
  fields: Object.entries(fields).map(([name, type]) => ({ name, type })),
});
export const makeArray = (element: ColumnType): ColumnType => ({ kind: 'array', element });

export const CONTRIBUTOR = makeStruct({ id: STRING, name: STRING, avatar: STRING });
export const DEVICE = makeStruct({ id: STRING, serial_number: STRING, owner: STRING, status: STRING, device_type: STRING });
export const ANNOTATIONS = makeArray(
  makeStruct({
    id: STRING,
    rowId: STRING,
    type: STRING,
    content: makeStruct({ text: STRING, flagType: STRING }),
    createdBy: STRING,
    createdByName: STRING,
    createdAt: TIMESTAMP,
    updatedAt: TIMESTAMP,
  }),
);
/** The types of a flag on a row. */
export const FLAG_TYPES = ['outlier', 'needs_review'] as const;
const MACROS = makeArray(makeStruct({ id: STRING, name: STRING, filename: STRING }));

const base = (name: string, type: ColumnType, more: Pick<Column, 'hidden' | 'derived'> = {}): Column => ({
  name,
  type,
  nullable: name !== 'id' && name !== 'experiment_id',
  origin: 'base',
  ...more,
});
const hidden = (name: string, type: ColumnType = STRING): Column => base(name, type, { hidden: true });
const hiddenTexts = (...names: string[]): Column[] => names.map((name) => hidden(name));
const contributor = base('contributor', CONTRIBUTOR, { derived: 'contributor' });
const device = base('device', DEVICE, { derived: 'device' });
const annotations = base('annotations', ANNOTATIONS, { derived: 'annotations' });

const FIXED: Record<TableKind, readonly Column[]> = {
  raw_data: [
    base('id', STRING),
    base('device_id', STRING),
    base('device_name', STRING),
    base('timestamp', TIMESTAMP),
    base('measurement_time_utc', TIMESTAMP),
    base('timezone', STRING),
    base('date', DATE),
    base('macros', MACROS),
    annotations,
    contributor,
    device,
    base('protocol_id', STRING),
    base('workbook_run_id', STRING),
    base('latitude', DOUBLE),
    base('longitude', DOUBLE),
    base('data', VARIANT),
    base('processed_timestamp', TIMESTAMP),
    base('measurement_time_local', STRING),
    base('local_time', STRING),
    ...hiddenTexts('experiment_id', 'contributor_id', 'client_id', 'workbook_version_id', 'macro_context'),
  ],
  device: [
    base('id', STRING),
    base('device_id', STRING),
    base('client_id', STRING),
    base('device_firmware', STRING),
    base('device_name', STRING),
    base('device_version', STRING),
    base('device_battery', DOUBLE),
    base('total_measurements', BIGINT),
    base('processed_timestamp', TIMESTAMP),
    device,
    hidden('experiment_id'),
    hidden('last_measured_at', TIMESTAMP),
  ],
  macro: [
    base('id', STRING),
    base('device_id', STRING),
    base('device_name', STRING),
    base('timestamp', TIMESTAMP),
    base('measurement_time_utc', TIMESTAMP),
    base('timezone', STRING),
    contributor,
    device,
    base('latitude', DOUBLE),
    base('longitude', DOUBLE),
    base('workbook_run_id', STRING),
    base('macro_error', STRING),
    base('processed_timestamp', TIMESTAMP),
    annotations,
    base('measurement_time_local', STRING),
    base('local_time', STRING),
    ...hiddenTexts('experiment_id', 'raw_id', 'macro_id', 'macro_name', 'macro_filename', 'macro_version'),
    hidden('date', DATE),
    ...hiddenTexts('contributor_id', 'client_id'),
  ],
  upload: [
    base('id', STRING),
    base('uploaded_at', TIMESTAMP),
    contributor,
    annotations,
    ...hiddenTexts('experiment_id', 'upload_id', 'contributor_id'),
  ],
  identity: hiddenTexts('experiment_id', 'user_id', 'name', 'avatar', 'pseudonym'),
  registry: hiddenTexts('experiment_id', 'client_id', 'id', 'serial_number', 'owner_id', 'status', 'device_type'),
  annotation: [
    ...hiddenTexts('experiment_id', 'table_id', 'row_id', 'id'),
    hidden('sequence', BIGINT),
    hidden('deleted', BOOLEAN),
    ...hiddenTexts('type', 'content_text', 'flag_type', 'created_by'),
    hidden('created_at', TIMESTAMP),
    hidden('updated_at', TIMESTAMP),
  ],
  metadata_record: [...hiddenTexts('experiment_id', 'matched_column', 'key'), hidden('custom_metadata', VARIANT)],
  quarantine: [
    hidden('id'),
    hidden('quarantined_at', TIMESTAMP),
    ...hiddenTexts('experiment_id', 'upload_id', 'contributor_id', 'table_id', 'path', 'fieldlake_row'),
    hidden('line', BIGINT),
    hidden('byte_offset', BIGINT),
    ...hiddenTexts('reason', 'original_text'),
  ],
};

/** Lists the columns that every table of this kind has, hidden ones included, in the order in which they are shown. */
export const listFixedColumns = (kind: TableKind): readonly Column[] => FIXED[kind];

/** Lists the columns that files hold: all that are not made at read time. */
export const listPhysicalColumns = (columns: readonly Column[]): readonly Column[] => columns.filter((column) => !column.derived);

/** The column that a table is sorted by when nothing else is asked; then by `id`. */
export const DEFAULT_SORT: Record<ReadableKind, string> = {
  raw_data: 'timestamp',
  device: 'processed_timestamp',
  macro: 'timestamp',
  upload: 'uploaded_at',
};

/** The column that holds what went wrong with a row, where a kind has one. */
export const ERROR_COLUMN: Partial<Record<ReadableKind, string>> = { macro: 'macro_error' };
