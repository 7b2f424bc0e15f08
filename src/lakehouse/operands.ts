/** Values as callers send them → typed values, by the type of the column that they are compared with. */
import { BIGINT, decimal } from './catalog.ts';
import type { ColumnType } from './catalog.ts';
import type { ValueExpr } from './plan.ts';
import type { Operand } from './request.ts';

const INT64 = 2n ** 63n;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/** Plain digits of a decimal or exponent number: `1.25e1` → `12.5`. Null when it is no number or needs more than 38 digits. */
const plainDecimal = (text: string): { text: string; whole: number; scale: number } | null => {
  const [, sign = '', left = '', right = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (left + right === '') return null;
  const shift = Number(exponent);
  const digits = left + right;
  const point = left.length + shift;
  if (Math.abs(shift) > 400) return null;
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits + '0'.repeat(Math.max(0, point - digits.length));
  const at = Math.max(1, point);
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const fraction = padded.slice(at).replace(/0+$/, '');
  const whole = integer === '0' ? 0 : integer.length;
  if (whole + fraction.length > 38) return null;
  return { text: `${sign === '-' ? '-' : ''}${integer}${fraction ? `.${fraction}` : ''}`, whole, scale: fraction.length };
};

/** Numbers keep their exact value, whatever the column: 2.5 against an INT column is compared as 2.5. */
const exact = (given: Operand, column: ColumnType): ValueExpr | null => {
  if (typeof given === 'boolean') return null;
  const number = plainDecimal(String(given).trim());
  if (!number) return null;
  if (column.kind !== 'decimal' && number.scale === 0) {
    const whole = BigInt(number.text);
    if (column.kind === 'int' && whole >= -(2n ** 31n) && whole < 2n ** 31n) return { kind: 'value', value: Number(whole), type: column };
    if (whole >= -INT64 && whole < INT64) return { kind: 'value', value: whole, type: BIGINT };
  }
  return { kind: 'value', value: number.text, type: decimal(38, number.scale) };
};

const approximate = (given: Operand, type: ColumnType): ValueExpr | null => {
  if (typeof given === 'boolean' || (typeof given === 'string' && !plainOrExponent(given))) return null;
  const value = Number(given);
  return Number.isFinite(value) ? { kind: 'value', value, type } : null;
};
const plainOrExponent = (text: string) => /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?\s*$/.test(text);

const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const instant = (text: string): { local: string; offset: string | undefined; micros: string; dateOnly: boolean } | null => {
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
    dateOnly: found[4] === undefined,
  };
};

const offsetMinutes = (offset: string): number | null => {
  if (offset.toUpperCase() === 'Z') return 0;
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  return total > 18 * 60 || Number(minutes) > 59 ? null : sign === '-' ? -total : total;
};

/** ISO 8601 with any offset, UTC where none is written; a date is its UTC midnight. To the microsecond. */
const timestamp = (given: Operand, type: ColumnType): ValueExpr | null => {
  const read = typeof given === 'string' ? instant(given) : null;
  const shift = read && offsetMinutes(read.offset ?? 'Z');
  if (!read || shift === null) return null;
  const utc = new Date(Date.parse(`${read.local}Z`) - shift * 60_000);
  if (utc.getUTCFullYear() < 1 || utc.getUTCFullYear() > 9999) return null;
  return { kind: 'value', value: `${utc.toISOString().slice(0, 19)}.${read.micros}Z`, type };
};

const local = (given: Operand, type: ColumnType): ValueExpr | null => {
  const read = typeof given === 'string' ? instant(given) : null;
  if (!read || read.offset !== undefined) return null;
  return { kind: 'value', value: type.kind === 'date' ? read.local.slice(0, 10) : `${read.local}.${read.micros}`, type };
};

type Comparable = Exclude<ColumnType['kind'], 'variant' | 'struct' | 'array'>;

const READERS: Record<Comparable, { expects: string; read: (given: Operand, type: ColumnType) => ValueExpr | null }> = {
  boolean: {
    expects: 'true or false',
    read: (given, type) => {
      const value = given === 'true' ? true : given === 'false' ? false : given;
      return typeof value === 'boolean' ? { kind: 'value', value, type } : null;
    },
  },
  int: { expects: 'a number', read: exact },
  bigint: { expects: 'a number', read: exact },
  decimal: { expects: 'a number of at most 38 digits', read: exact },
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

export const isNumeric = (type: ColumnType): boolean =>
  type.kind === 'int' || type.kind === 'bigint' || type.kind === 'double' || type.kind === 'decimal';

/** The typed value, or what the column expects instead. The type of the result says how it is compared and may be wider than the column's. */
export const typedOperand = (given: Operand, type: ColumnType & { kind: Comparable }): ValueExpr | { expects: string } => {
  const { expects, read } = READERS[type.kind];
  return read(given, type) ?? { expects };
};
