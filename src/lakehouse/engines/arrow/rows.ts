/** Turns rows that a driver has made into values back into Arrow columns. The values are as `Dialect.typed` of Databricks writes them. */
import type { ColumnType } from '../../terms/catalog.ts';
import { readJson } from '../../../json.ts';
import { BooleanColumn, FlatColumn, ListColumn, StructColumn, TextColumn, type ArrowColumn } from './columns.ts';

const ENCODER = new TextEncoder();

const mismatch = (type: ColumnType, value: unknown) => new TypeError(`A value of type ${type.kind} came as ${typeof value}.`);

/** Reads a decimal's text as a whole number, in units of its last place. */
const unscaled = (text: string, scale: number): bigint => {
  const [, sign = '', whole = '', places = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(text) ?? [];
  const value = BigInt(`${whole}${places.padEnd(scale, '0').slice(0, scale)}`);
  return sign === '' ? value : -value;
};

const DAY_MS = 86_400_000;

/** Reads ISO 8601 text, as SQL prints it inside JSON, as microseconds since the epoch. */
const microsOf = (text: string): bigint => {
  const [, seconds = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z?$/.exec(text) ?? [];
  return BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
};

const whole = (type: ColumnType, value: unknown): bigint => {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return BigInt(value);
  if (typeof value !== 'string') throw mismatch(type, value);
  if (type.kind === 'decimal') return unscaled(value, type.scale);
  return type.kind === 'timestamp' || type.kind === 'timestamp_ntz' ? microsOf(value) : BigInt(value);
};

const day = (type: ColumnType, value: unknown): number => {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') throw mismatch(type, value);
  return type.kind === 'date' ? Date.parse(value) / DAY_MS : Number(value);
};

function flat({ values, width }: FlatColumn, type: ColumnType, value: unknown): void {
  const at = values.take(width);
  const view = new DataView(values.bytes.buffer, at, width);
  if (type.kind === 'double') view.setFloat64(0, Number(value), true);
  else if (width === 4) view.setInt32(0, day(type, value), true);
  else {
    const number = whole(type, value);
    view.setBigInt64(0, BigInt.asIntN(64, number), true);
    if (width === 16) view.setBigInt64(8, number >> 64n, true);
  }
}

const text = (column: TextColumn, type: ColumnType, value: unknown): void => {
  if (typeof value !== 'string' && type.kind !== 'variant') throw mismatch(type, value);
  column.values.copy(ENCODER.encode(typeof value === 'string' ? value : JSON.stringify(value)));
  column.offsets.push(column.values.length);
};

/** Adds one value. Structs and lists come as JSON text; the values inside them are as JSON has them. */
export function appendValue(column: ArrowColumn, type: ColumnType, value: unknown): void {
  if (value === null || value === undefined) {
    column.nulls(1);
    return;
  }
  const inner: unknown = typeof value === 'string' && (type.kind === 'struct' || type.kind === 'array') ? readJson(value) : value;
  if (column instanceof FlatColumn) flat(column, type, value);
  else if (column instanceof BooleanColumn) column.values.push(value === true);
  else if (column instanceof TextColumn) text(column, type, value);
  else if (column instanceof ListColumn) {
    if (type.kind !== 'array' || !Array.isArray(inner)) throw mismatch(type, inner);
    for (const element of inner as unknown[]) appendValue(column.element, type.element, element);
    column.offsets.push(column.element.length);
  } else {
    if (type.kind !== 'struct' || !(column instanceof StructColumn) || typeof inner !== 'object') throw mismatch(type, inner);
    const members = new Map(Object.entries(inner as object));
    for (const [index, { name, column: member }] of column.members.entries()) {
      const field = type.fields[index];
      if (field) appendValue(member, field.type, members.get(name));
    }
  }
  column.valid.push(true);
}
