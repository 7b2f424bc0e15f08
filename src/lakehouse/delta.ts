/** What a table of the lake is in Delta's words: its first log entry, over files that are there already. */
import type { ColumnType } from './catalog.ts';

/** A column of a Delta table; `type` as the schema says it. */
export type DeltaType =
  | string
  | { type: 'struct'; fields: readonly { name: string; type: DeltaType; nullable: boolean; metadata: Record<string, never> }[] }
  | { type: 'array'; elementType: DeltaType; containsNull: boolean };

/** The Delta type of a column. What has no type of its own there (VARIANT) is the JSON text that the files hold. */
export function deltaType(type: ColumnType): DeltaType {
  switch (type.kind) {
    case 'int':
      return 'integer';
    case 'bigint':
      return 'long';
    case 'variant':
      return 'string';
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'struct':
      return {
        type: 'struct',
        fields: type.fields.map(({ name, type: inner }) => ({ name, type: deltaType(inner), nullable: true, metadata: {} })),
      };
    case 'array':
      return { type: 'array', elementType: deltaType(type.element), containsNull: true };
    case 'boolean':
    case 'double':
    case 'string':
    case 'date':
    case 'timestamp':
    case 'timestamp_ntz':
      return type.kind;
  }
}

export interface DeltaTable {
  /** A UUID. */
  id: string;
  name: string;
  description: string;
  columns: readonly { name: string; type: ColumnType }[];
  /** `path` relative to the table's folder; `modifiedAt` in milliseconds. */
  files: readonly { path: string; byteCount: number; rowCount: number; modifiedAt: number }[];
  createdAt: number;
}

/** Names that Delta takes only with its column mapping. */
const NEEDS_MAPPING = /[ ,;{}()\n\t=]/;

const hasKind = (type: ColumnType, kind: ColumnType['kind']): boolean =>
  type.kind === kind ||
  (type.kind === 'struct' && type.fields.some((field) => hasKind(field.type, kind))) ||
  (type.kind === 'array' && hasKind(type.element, kind));

/** The text of `_delta_log/00000000000000000000.json`. Pure. */
export function deltaLog({ id, name, description, columns, files, createdAt }: DeltaTable): string {
  const isMapped = columns.some((column) => NEEDS_MAPPING.test(column.name));
  const features = [
    ...(columns.some(({ type }) => hasKind(type, 'timestamp_ntz')) ? ['timestampNtz'] : []),
    ...(isMapped ? ['columnMapping'] : []),
  ];
  const mapping = (column: string, at: number) =>
    isMapped ? { 'delta.columnMapping.id': at + 1, 'delta.columnMapping.physicalName': column } : {};
  const schema = {
    type: 'struct',
    fields: columns.map((column, at) => ({
      name: column.name,
      type: deltaType(column.type),
      nullable: true,
      metadata: mapping(column.name, at),
    })),
  };
  const configuration = isMapped ? { 'delta.columnMapping.mode': 'name', 'delta.columnMapping.maxColumnId': String(columns.length) } : {};
  const actions = [
    { commitInfo: { timestamp: createdAt, operation: 'CREATE TABLE AS SELECT', operationParameters: {}, engineInfo: 'fieldlake' } },
    {
      protocol:
        features.length === 0
          ? { minReaderVersion: 1, minWriterVersion: 2 }
          : { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: features, writerFeatures: features },
    },
    {
      metaData: {
        id,
        name,
        description,
        format: { provider: 'parquet', options: {} },
        schemaString: JSON.stringify(schema),
        partitionColumns: [],
        configuration,
        createdTime: createdAt,
      },
    },
    ...files.map(({ path, byteCount, rowCount, modifiedAt }) => ({
      add: {
        path: encodeURI(path),
        partitionValues: {},
        size: byteCount,
        modificationTime: modifiedAt,
        dataChange: true,
        stats: JSON.stringify({ numRecords: rowCount }),
      },
    })),
  ];
  return `${actions.map((action) => JSON.stringify(action)).join('\n')}\n`;
}
