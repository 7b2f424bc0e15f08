/**
 * The quickest look at a JSON record. It takes an object of plain values that has the keys of the records before it, in the same order, as exports have them.
 * It tells from the bytes what kind each value is, and makes no value. Any other record is read as JSON (json-lines.ts).
 */
import { isPlainInstant } from '../../messages/decode/instant.ts';
import { hasLettersAt } from '../../messages/decode/plain-json.ts';
import { TEXT_CLASSES } from '../../value-classes.ts';

const C = TEXT_CLASSES;
const SPACE = 0x20;
export const QUOTE = 0x22;
const COMMA = 0x2c;
export const MINUS = 0x2d;
export const POINT = 0x2e;
export const ZERO = 0x30;
export const NINE = 0x39;
const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
/** So many significant digits survive a JavaScript number, and a DOUBLE. */
export const SAFE_DIGITS = 15;
/** What may follow a backslash, without `u`. */
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

/** A key that records had before. */
interface Known {
  /** Union of the classes of its values. */
  readonly classes: number;
  /** As it is written in a record. */
  readonly written: Buffer;
}

/** The values of one record. Reused, so that a million records make no garbage. */
export interface Glanced {
  /** How many values there are, nulls left out. */
  count: number;
  /** For each value: the place of its key, its JSON kind, and its class. The class is 0 for a string whose key has text already. */
  places: number[];
  kinds: ('n' | 's' | 'b')[];
  classes: number[];
}

/** Answers the class of a string. `stringClass` is asked where the first letters do not tell. */
function classOf(bytes: Buffer, start: number, end: number, stringClass: (text: string) => number): number {
  if (end - start < 10) return C.text;
  if (isPlainInstant(bytes, start, end)) return C.instant;
  return stringClass(bytes.toString('utf8', start, end));
}

/** The class of a number of many digits; 0 where it takes a closer look. */
function longClass(bytes: Buffer, start: number, end: number): number {
  const text = bytes.toString('latin1', start, end);
  return String(Number(text)) === text ? C.double : 0;
}

/**
 * Fills `found` with the values of this record, which must be valid UTF-8, and answers true. False says nothing about the record. This is one function, with
 * its place in a variable of its own, because every byte of a file passes through it.
 */
export function isPlainLine(bytes: Buffer, known: readonly Known[], found: Glanced, stringClass: (text: string) => number): boolean {
  const { length } = bytes;
  let at = 1;
  let count = 0;
  if (bytes[0] !== OPEN_OBJECT) return false;
  for (let place = 0; ; place += 1) {
    while (bytes[at] === SPACE) at += 1;
    let key = known[place];
    while (key && !hasLettersAt(bytes, at, key.written)) key = known[(place += 1)];
    if (!key) return false;
    at += key.written.length;
    while (at < length && bytes[at] === SPACE) at += 1;
    if (bytes[at] !== COLON) return false;
    at += 1;
    while (at < length && bytes[at] === SPACE) at += 1;
    if (at >= length) return false;

    const first = bytes[at] as number;
    let kind: 'n' | 's' | 'b' | undefined;
    let classes = 0;
    if (first === QUOTE) {
      const start = at + 1;
      let byte = 0;
      for (at = start; at < length; at += 1) {
        byte = bytes[at] as number;
        if (byte === QUOTE || byte < SPACE) break;
        if (byte !== BACKSLASH) continue;
        at += 1;
        // an escape with `u` can be half of a character; a string with any other is taken only where its key has text already
        if (at >= length || !ESCAPED.has(bytes[at] as number) || (key.classes & C.text) === 0) return false;
      }
      if (byte !== QUOTE || at >= length) return false;
      kind = 's';
      if (at === start) classes = C.empty;
      else if ((key.classes & C.text) === 0) classes = classOf(bytes, start, at, stringClass);
      at += 1;
    } else if (first === MINUS || (first >= ZERO && first <= NINE)) {
      const start = at;
      const whole = first === MINUS ? start + 1 : start;
      let value = 0;
      let isFraction = false;
      for (at = whole; at < length; at += 1) {
        const byte = bytes[at] as number;
        if (byte < ZERO || byte > NINE) break;
        value = value * 10 + byte - ZERO;
      }
      let digits = at - whole;
      if (digits === 0 || (digits > 1 && bytes[whole] === ZERO)) return false;
      if (at < length && bytes[at] === POINT) {
        const part = at + 1;
        for (at = part; at < length; at += 1) {
          const byte = bytes[at] as number;
          if (byte < ZERO || byte > NINE) break;
          if (byte !== ZERO) isFraction = true;
        }
        if (at === part) return false;
        digits += at - part;
      }
      kind = 'n';
      if (digits > SAFE_DIGITS) {
        classes = isFraction ? longClass(bytes, start, at) : 0;
        if (classes === 0) return false;
      } else if (isFraction) classes = C.double;
      else classes = value <= 2_147_483_647 || (whole > start && value === 2_147_483_648) ? C.int : C.long;
    } else {
      const literal = first === NULL[0] ? NULL : first === TRUE[0] ? TRUE : FALSE;
      if (!hasLettersAt(bytes, at, literal)) return false;
      at += literal.length;
      if (literal !== NULL) {
        kind = 'b';
        classes = C.boolean;
      }
    }
    if (kind !== undefined) {
      found.places[count] = place;
      found.kinds[count] = kind;
      found.classes[count] = classes;
      count += 1;
    }

    while (at < length && bytes[at] === SPACE) at += 1;
    const mark = bytes[at];
    at += 1;
    if (mark === CLOSE_OBJECT) {
      found.count = count;
      return at === length;
    }
    if (mark !== COMMA) return false;
  }
}
