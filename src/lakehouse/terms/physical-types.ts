import type { ColumnType } from './catalog.ts';
import { quoteName } from './quoting.ts';

/**
 * Prints the physical type of a column in the lake's Parquet files, as the engine that writes them names it. Documents are read as text, so that the engine's
 * own VARIANT may change between versions without touching files.
 */
export function printPhysicalType(type: ColumnType, document: 'json' | 'varchar' = 'json'): string {
  switch (type.kind) {
    case 'boolean':
    case 'bigint':
    case 'double':
    case 'date':
      return type.kind;
    case 'int':
      return 'integer';
    case 'string':
      return 'varchar';
    case 'variant':
      return document;
    case 'timestamp':
      return 'timestamptz';
    case 'timestamp_ntz':
      return 'timestamp';
    case 'decimal':
      return `decimal(${type.precision}, ${type.scale})`;
    case 'struct':
      return `struct(${type.fields.map((field) => `${quoteName(field.name)} ${printPhysicalType(field.type, document)}`).join(', ')})`;
    case 'array':
      return `${printPhysicalType(type.element, document)}[]`;
  }
}
