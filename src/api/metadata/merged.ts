/** Merges the metadata tables of an experiment into one: the columns that they add, and one row for each matched column and key. */
import { isHeldByDouble } from '../../json.ts';
import { DATE, DOUBLE, STRING, type ColumnType } from '../../lakehouse/terms/catalog.ts';
import type { MetadataColumn } from '../../lakehouse/terms/source.ts';
import { isNumber, type MetadataEntry } from './records.ts';

/** What one table adds, without its rows. */
export interface MetadataShape {
  /** The column of measurements whose value is the key. */
  matchedBy: string | null;
  columns: readonly { name: string; type: string | null }[];
}

const TYPES: Readonly<Record<string, ColumnType>> = { string: STRING, number: DOUBLE, date: DATE };

/**
 * Merges the columns of all tables, oldest table first. Names that differ only in case are one column. A column with two types becomes text. Where tables that
 * are matched by different columns share a name, the newer table counts first. Columns without a known type are text, and tables without a matched column add
 * nothing.
 */
export function mergeColumns(shapes: readonly MetadataShape[]): MetadataColumn[] {
  const merged = new Map<string, { name: string; type: ColumnType; matchedBy: string[] }>();
  for (const { matchedBy, columns } of shapes) {
    if (matchedBy === null) continue;
    for (const { name, type } of columns) {
      const given = TYPES[type ?? ''] ?? STRING;
      const known = merged.get(name.toLowerCase());
      merged.set(name.toLowerCase(), {
        name: known?.name ?? name,
        type: known && known.type.kind !== given.kind ? STRING : given,
        matchedBy: [matchedBy, ...(known?.matchedBy.filter((other) => other !== matchedBy) ?? [])],
      });
    }
  }
  return [...merged.values()].map((column) => ({ ...column, stored: column.name }));
}

const DAY = /^\d{4}-\d\d-\d\d(?=$|[T ])/;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\0', '\ufffd');

function dayOf(value: unknown): string | null {
  const day = typeof value === 'string' ? DAY.exec(value.trim())?.[0] : undefined;
  const at = day === undefined ? NaN : Date.parse(`${day}T00:00:00Z`);
  // the 30th of February is read as a day of March
  return day !== undefined && !Number.isNaN(at) && new Date(at).toISOString().startsWith(day) ? day : null;
}

/** Converts a cell to the type of its column; null where it does not fit. */
function cellOf(value: unknown, type: ColumnType): string | number | null {
  if (value === null || value === undefined) return null;
  if (type.kind === 'date') return dayOf(value);
  if (type.kind !== 'double') return textOf(value);
  const number =
    typeof value === 'number' ? value : typeof value === 'string' && isNumber(value) && isHeldByDouble(value) ? Number(value) : NaN;
  return Number.isFinite(number) ? number : null;
}

/** One row of the dimension: what it is matched by, its key, and its values by the place of their column. */
export interface MergedRow {
  matchedBy: string;
  key: string;
  values: Map<number, string | number>;
}

/** Merges the rows of all tables into one row for each key. Each value comes from the newest table that has it. */
export function mergeRows(
  tables: readonly { matchedBy: string; entries: readonly MetadataEntry[] }[],
  columns: readonly MetadataColumn[],
): MergedRow[] {
  const places = new Map(columns.map(({ name }, place) => [name.toLowerCase(), place]));
  const rows = new Map<string, MergedRow>();
  for (const { matchedBy, entries } of tables)
    for (const { identifier, values } of entries) {
      const id = JSON.stringify([matchedBy, identifier]);
      const row = rows.get(id) ?? { matchedBy, key: identifier, values: new Map() };
      rows.set(id, row);
      for (const [name, value] of Object.entries(values)) {
        const place = places.get(name.toLowerCase());
        const cell = place === undefined ? null : cellOf(value, columns[place]?.type ?? STRING);
        if (place !== undefined && cell !== null) row.values.set(place, cell);
      }
    }
  return [...rows.values()];
}
