/** Turns values as callers send them into typed values, by the type of the column that they are compared with. */
import type { ColumnType } from '../terms/catalog.ts';
import type { ValueExpr } from '../terms/plan.ts';
import { refuseParameter } from '../terms/refusal.ts';
import { printType } from '../terms/types.ts';
import { readPlainDecimal } from './plain-decimal.ts';
import type { Operand as Sent } from './request.ts';

/** The text of a number, however it was sent. */
const textOf = (given: Exclude<Sent, boolean>): string => (typeof given === 'object' ? given.rawJSON : String(given));

/** Where a number lies among the values that a column can hold: on one, or between one and the next. */
export interface Operand {
  /** The greatest value of the column's own type that is not above what was sent. Null when every value of the type is above it. */
  value: ValueExpr | null;
  /** Whether `value` equals what was sent. */
  exact: boolean;
}

const on = (value: ValueExpr): Operand => ({ value, exact: true });

/** The least and greatest value of an exact type, in units of its last digit. */
const range = (type: ColumnType): [bigint, bigint] => {
  if (type.kind === 'decimal') return [1n - 10n ** BigInt(type.precision), 10n ** BigInt(type.precision) - 1n];
  const half = type.kind === 'int' ? 2n ** 31n : 2n ** 63n;
  return [-half, half - 1n];
};

const written = (units: bigint, type: ColumnType): ValueExpr['value'] => {
  if (type.kind === 'int') return Number(units);
  if (type.kind !== 'decimal') return units;
  const digits = String(units < 0n ? -units : units).padStart(type.scale + 1, '0');
  const point = digits.length - type.scale;
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}${type.scale > 0 ? `.${digits.slice(point)}` : ''}`;
};

/** Whether another whole number may have been sent: readers of JSON round those beyond 2^53 to a neighbour. */
export const canBeRounded = (given: unknown): given is number =>
  typeof given === 'number' && Number.isInteger(given) && !Number.isSafeInteger(given);

/**
 * Reads a number exactly, whatever the column's type: 2.5 lies between the 2 and the 3 of an INT column. No engine is asked to compare two types, because each
 * converts them in its own way, and one of them drops digits. Null for a value of the column's range that may have been rounded before.
 */
const exact = (given: Sent, column: ColumnType): Operand | null => {
  const number = typeof given === 'boolean' ? null : readPlainDecimal(textOf(given).trim());
  if (!number) return null;
  const scale = column.kind === 'decimal' ? column.scale : 0;
  const shift = 10n ** BigInt(Math.max(0, number.scale - scale));
  const units = BigInt(number.text.replace('.', '')) * 10n ** BigInt(Math.max(0, scale - number.scale));
  const floor = units / shift - (units < 0n && units % shift !== 0n ? 1n : 0n);
  const [least, greatest] = range(column);
  if (floor < least) return { value: null, exact: false };
  if (canBeRounded(given) && floor <= greatest) return null;
  const value = floor > greatest ? greatest : floor;
  return { value: { kind: 'value', value: written(value, column), type: column }, exact: value * shift === units };
};

const approximate = (given: Sent, type: ColumnType): ValueExpr | null => {
  if (typeof given === 'boolean' || (typeof given === 'string' && !plainOrExponent(given))) return null;
  const value = Number(textOf(given));
  return Number.isFinite(value) ? { kind: 'value', value, type } : null;
};
// no digit may be read in two ways: a long text of digits that is no number would take time by the square of its length
const plainOrExponent = (text: string) => /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\s*$/.test(text);

const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const instant = (text: string): { local: string; offset: string | undefined; micros: string } | null => {
  const found = TIME.exec(text.trim());
  if (!found) return null;
  const [, year = '', month = '', day = '', hour = '00', minute = '00', second = '00', fraction = '', offset] = found;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day) || year === '0000') return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 || !/^0*$/.test(fraction.slice(6))) return null;
  return {
    local: `${year}-${month}-${day}T${hour}:${minute}:${second}`,
    offset,
    micros: fraction.slice(0, 6).padEnd(6, '0'),
  };
};

const offsetMinutes = (offset: string): number | null => {
  if (offset.toUpperCase() === 'Z') return 0;
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  return total > 18 * 60 || Number(minutes) > 59 ? null : sign === '-' ? -total : total;
};

/** Reads ISO 8601 to the microsecond, with any offset. A time without an offset is UTC; a date is its UTC midnight. */
const timestamp = (given: Sent, type: ColumnType): ValueExpr | null => {
  const read = typeof given === 'string' ? instant(given) : null;
  const shift = read && offsetMinutes(read.offset ?? 'Z');
  if (!read || shift === null) return null;
  const utc = new Date(Date.parse(`${read.local}Z`) - shift * 60_000);
  if (utc.getUTCFullYear() < 1 || utc.getUTCFullYear() > 9999) return null;
  return { kind: 'value', value: `${utc.toISOString().slice(0, 19)}.${read.micros}Z`, type };
};

const local = (given: Sent, type: ColumnType): ValueExpr | null => {
  const read = typeof given === 'string' ? instant(given) : null;
  if (!read || read.offset !== undefined) return null;
  return { kind: 'value', value: type.kind === 'date' ? read.local.slice(0, 10) : `${read.local}.${read.micros}`, type };
};

type Comparable = Exclude<ColumnType['kind'], 'variant' | 'struct' | 'array'>;

const READERS: Record<Comparable, { expects: string; read: (given: Sent, type: ColumnType) => ValueExpr | Operand | null }> = {
  boolean: {
    expects: 'true or false',
    read: (given, type) => {
      const value = given === 'true' ? true : given === 'false' ? false : given;
      return typeof value === 'boolean' ? { kind: 'value', value, type } : null;
    },
  },
  int: { expects: 'a number', read: exact },
  bigint: { expects: 'a number, as text where it is beyond 2^53', read: exact },
  decimal: { expects: 'a number, as text where it is beyond 2^53', read: exact },
  double: { expects: 'a number', read: approximate },
  string: { expects: 'text', read: (given, type) => (typeof given === 'string' ? { kind: 'value', value: given, type } : null) },
  date: {
    expects: 'a date such as 2024-05-31',
    read: (given, type) => (typeof given === 'string' && given.trim().length === 10 ? local(given, type) : null),
  },
  timestamp: { expects: 'a time such as 2024-05-31T12:00:00Z', read: timestamp },
  timestamp_ntz: { expects: 'a local time without offset such as 2024-05-31T12:00:00', read: local },
};

/** Whether values of this type have an order and an equality that a caller can ask for. */
export const isComparable = (type: ColumnType): type is ColumnType & { kind: Comparable } =>
  type.kind !== 'variant' && type.kind !== 'struct' && type.kind !== 'array';

/** Refuses a column whose values have no order. `begin` begins the sentence, which ends with the column's type. */
export function requireComparable(type: ColumnType, where: string, begin: string): void {
  if (!isComparable(type))
    throw refuseParameter(where, `${begin} type is ${printType(type)}${type.kind === 'struct' ? '; name a field of it' : ''}.`);
}

export const isNumeric = (type: ColumnType): boolean =>
  type.kind === 'int' || type.kind === 'bigint' || type.kind === 'double' || type.kind === 'decimal';

/** Reads a sent value as a value of the column's type. Answers what the column expects when the value does not fit. */
export const readOperand = (given: Sent, type: ColumnType & { kind: Comparable }): Operand | { expects: string } => {
  const { expects, read } = READERS[type.kind];
  const found = read(given, type);
  return found ? ('kind' in found ? on(found) : found) : { expects };
};
