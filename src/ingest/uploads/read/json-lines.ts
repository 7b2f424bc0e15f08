/**
 * The quick way to read JSON records. Each record is looked at once here: it is checked, numbered, and the classes of its values are noted. The engine's own
 * JSON reader does the rest in one pass. What that reader could not keep exactly throws `NotPlain`, and the file is read the long way (`TokenWriter` in
 * json.ts).
 */
import { readJson } from '../../../json.ts';
import {
  BACKSLASH,
  CLOSE_OBJECT,
  isPlainLine,
  MINUS,
  NINE,
  OPEN_OBJECT,
  POINT,
  QUOTE,
  SAFE_DIGITS,
  ZERO,
  type Glanced,
} from './json-glance.ts';
import { MAX_COLUMNS } from '../../limits.ts';
import { FileRefused, type BufferedFile, type RefusalReason } from '../../record-writer.ts';
import { TEXT_CLASSES } from '../../value-classes.ts';

/** The file holds something that only the long way keeps exactly. */
export class NotPlain extends Error {}

export interface KeyStats {
  key: string;
  /** The key as a record writes it, with its quotes. */
  written: Buffer;
  /** Union of the values' `TEXT_CLASSES`; after the first plain text other strings are not looked at more closely. */
  classes: number;
  /** Values by JSON kind. */
  n: number;
  s: number;
  b: number;
  j: number;
  /** Empty strings. */
  empty: number;
}

/** The refusal of a file whose records have more keys than a table has columns. */
export const refuseKeys = () =>
  new FileRefused('too_many_columns', `The records have more than ${MAX_COLUMNS} different keys; a table holds at most that many columns.`);

export interface JsonWriter {
  readonly rows: number;
  /** Answers why a record could not be written. */
  write(row: Buffer, record: Buffer): RefusalReason | undefined;
}

const ROW_KEY = 'fieldlake_row';

const C = TEXT_CLASSES;
const LETTER_U = 0x75;
const PLUS = 0x2b;
const TWO_53 = 9_007_199_254_740_992;

/** Sign, significant digits and exponent: two spellings of one value have one key. */
function numberKey(text: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? '0' : `${sign}${significant}e${Number(power) - part.length + digits.length - significant.length}`;
}

/** Throws NotPlain for a number with many digits or an exponent, unless a DOUBLE keeps its value and reading it loses nothing. */
function requireExact(text: string): void {
  const value = Number(text);
  if (String(value) === text) return;
  const whole = !/[eE]/.test(text) && !text.includes('.');
  if (whole || Number.isInteger(value) || Math.abs(value) < 1e-300 || numberKey(text) !== numberKey(String(value))) throw new NotPlain();
}

/** Looks at the bytes of one record, which is JSON, for numbers that need care; answers whether a string of it has a `\u` escape. */
function inspect(bytes: Buffer): boolean {
  let escaped = false;
  const { length } = bytes;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      for (at += 1; at < length && bytes[at] !== QUOTE; at += 1) {
        if (bytes[at] !== BACKSLASH) continue;
        at += 1;
        if (bytes[at] === LETTER_U) escaped = true;
      }
    } else if (byte >= ZERO && byte <= NINE) {
      const start = bytes[at - 1] === MINUS ? at - 1 : at;
      let digits = 1;
      let isCareful = false;
      for (at += 1; at < length; at += 1) {
        const next = bytes[at] ?? 0;
        if (next >= ZERO && next <= NINE) digits += 1;
        else if (next === 0x65 || next === 0x45) isCareful = true;
        else if (next !== POINT && next !== MINUS && next !== PLUS) break;
      }
      if (isCareful || digits > SAFE_DIGITS) requireExact(bytes.toString('latin1', start, at));
      at -= 1;
    }
  }
  return escaped;
}

/** Whether no key and no text of a JSON value has a lone surrogate. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner));
}

const DATE = String.raw`(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
const CLOCK = String.raw`[T ](?:[01]\d|2[0-3]):[0-5]\d`;
const SECONDS = String.raw`:[0-5]\d(?:\.\d{1,6})?`;
const DAY = new RegExp(`^${DATE}$`);
const INSTANT = new RegExp(`^${DATE}${CLOCK}${SECONDS}(?:Z|[-+](?:0\\d|1[0-4])(?::?[0-5]\\d)?)$`);
const LOCAL_TIME = new RegExp(`^${DATE}${CLOCK}(?:${SECONDS})?$`);
/** Texts of which only the engine can tell whether they are times. */
const NEARLY = new RegExp(`^${DATE}${CLOCK}(?:${SECONDS})?(?:Z|[-+])`);

/**
 * The class of a JSON string, as `token_class` in `pipelines/functions.sql` says it. There is one difference: a day that its month does not have counts as a
 * day here, and the engine refuses it when it reads it.
 */
export function classifyString(text: string): number {
  if (text === '') return C.empty;
  if (text.length < 10 || text.charCodeAt(4) !== MINUS || text.charCodeAt(7) !== MINUS) return C.text;
  if (text.length === 10) return DAY.test(text) ? C.date : C.text;
  if (INSTANT.test(text)) return C.instant;
  if (LOCAL_TIME.test(text)) return C.localTime;
  if (NEARLY.test(text)) throw new NotPlain();
  return C.text;
}

function numberClass(value: number): number {
  if (!Number.isInteger(value)) return C.double;
  if (value >= -2_147_483_648 && value <= 2_147_483_647) return C.int;
  if (Math.abs(value) <= TWO_53) return C.long;
  throw new NotPlain();
}

/** Writes records as lines that the engine reads, each with its number as the first key. */
export class LineWriter implements JsonWriter {
  readonly fields: KeyStats[] = [];
  rows = 0;
  /** Bytes of the longest line. */
  longest = 0;
  readonly #places = new Map<string, KeyStats>();
  readonly #folded = new Set<string>([ROW_KEY]);
  readonly #file: BufferedFile;
  readonly #glanced: Glanced = { count: 0, places: [], kinds: [], classes: [] };

  constructor(file: BufferedFile) {
    this.#file = file;
  }

  write(row: Buffer, record: Buffer): RefusalReason | undefined {
    if (isPlainLine(record, this.fields, this.#glanced, classifyString)) {
      this.#count();
      this.#plainLine(row, record);
      this.rows += 1;
      return undefined;
    }
    let value: unknown;
    try {
      value = readJson(record.toString('utf8'));
    } catch {
      return 'invalid_json';
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not_an_object';
    if (inspect(record) && !isWellFormed(value)) return 'invalid_unicode';
    let at = 0;
    for (const key in value) {
      let field = this.fields[at];
      if (field?.key !== key) field = this.#field(key);
      this.#look(field, (value as Record<string, unknown>)[key]);
      at += 1;
    }
    this.#line(row, record, at === 0);
    this.rows += 1;
    return undefined;
  }

  /** Adds what a glance has seen to what is known of the keys. */
  #count(): void {
    const { count, places, kinds, classes } = this.#glanced;
    for (let at = 0; at < count; at += 1) {
      const [field, kind, seen = 0] = [this.fields[places[at] ?? 0], kinds[at], classes[at]];
      if (!field) continue;
      if (kind === 's') field.s += 1;
      else if (kind === 'n') field.n += 1;
      else field.b += 1;
      field.classes |= seen;
      if (seen === C.empty) field.empty += 1;
    }
  }

  #field(key: string): KeyStats {
    const known = this.#places.get(key);
    if (known) return known;
    if (this.fields.length >= MAX_COLUMNS) throw refuseKeys();
    const folded = key.toLowerCase();
    if (key === '' || key.includes('\0') || this.#folded.has(folded)) throw new NotPlain();
    this.#folded.add(folded);
    const made: KeyStats = { key, written: Buffer.from(JSON.stringify(key)), classes: 0, n: 0, s: 0, b: 0, j: 0, empty: 0 };
    this.#places.set(key, made);
    this.fields.push(made);
    return made;
  }

  #look(field: KeyStats, value: unknown): void {
    if (value === null) return;
    if (typeof value === 'string') {
      field.s += 1;
      if (value === '') {
        field.empty += 1;
        field.classes |= C.empty;
      } else if ((field.classes & C.text) === 0) field.classes |= classifyString(value);
    } else if (typeof value === 'number') {
      field.n += 1;
      field.classes |= numberClass(value);
    } else if (typeof value === 'boolean') {
      field.b += 1;
      field.classes |= C.boolean;
    } else {
      field.j += 1;
      field.classes |= C.nested;
    }
  }

  /** Begins the line of a record with its number. */
  #begin(row: Buffer, record: Buffer): BufferedFile {
    const file = this.#file;
    this.longest = Math.max(this.longest, record.length + OPENING.length + 16);
    file.bytes(OPENING);
    file.bytes(row);
    file.byte(QUOTE);
    return file;
  }

  /** Writes a record that begins with its brace, has a key, and has no line break between its tokens. */
  #plainLine(row: Buffer, record: Buffer): void {
    const file = this.#begin(row, record);
    file.byte(0x2c);
    file.bytes(record, 1);
    file.byte(0x0a);
  }

  #line(row: Buffer, record: Buffer, isEmpty: boolean): void {
    const file = this.#begin(row, record);
    if (isEmpty) file.byte(CLOSE_OBJECT);
    else {
      file.byte(0x2c);
      const start = record.indexOf(OPEN_OBJECT) + 1;
      // between the tokens of a record a line break is white space, and within a string there is none
      if (record.includes(0x0a) || record.includes(0x0d)) file.text(record.toString('utf8', start).replaceAll(/[\r\n]/g, ' '));
      else file.bytes(record, start);
    }
    file.byte(0x0a);
  }
}

const OPENING = Buffer.from(`{"${ROW_KEY}":"`);
