/**
 * Finds where JSON values end in bytes. Each function answers the place just behind a value, or `NOT` where a look at one byte after the other does not tell.
 */
const TAB = 0x09;
const LINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
export const QUOTE = 0x22;
const PLUS = 0x2b;
export const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const ONE = 0x31;
const NINE = 0x39;
export const COLON = 0x3a;
const LETTER_E = 0x45;
export const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const SMALL_E = 0x65;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

/** What may follow a backslash, without `u`: an escape with `u` can be half of a character. */
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));

const MACROS = Buffer.from('"macros"');
export const TRUE = Buffer.from('true');
export const FALSE = Buffer.from('false');
export const NULL = Buffer.from('null');
const MOST_DIGITS = 17;
export const DEEPEST = 32;
export const NOT = -1;

/** Whether the bytes from `start` on begin with these letters. */
export function hasLettersAt(bytes: Buffer, start: number, letters: Buffer): boolean {
  const { length } = letters;
  if (start + length > bytes.length) return false;
  for (let at = 0; at < length; at += 1) if (bytes[start + at] !== letters[at]) return false;
  return true;
}

export const isSpace = (byte: number | undefined) => byte === SPACE || byte === LINE || byte === RETURN || byte === TAB;
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= ZERO && byte <= NINE;

/** Finds the end of the string that begins at `at` and has no escape; `NOT` for anything else. */
export function findStringEnd(bytes: Buffer, at: number): number {
  const { length } = bytes;
  for (let end = at + 1; end < length; end += 1) {
    const byte = bytes[end] as number;
    if (byte === QUOTE) return end + 1;
    if (byte < SPACE || byte === BACKSLASH) return NOT;
  }
  return NOT;
}

/** Finds the end of a number that has no exponent, at most `MOST_DIGITS` digits, and is nearer to zero than `bound`; `NOT` for any other. */
export function findNumberEnd(bytes: Buffer, start: number, bound: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start;
  const whole = at;
  let value = 0;
  for (; isDigit(bytes[at]); at += 1) value = value * 10 + (bytes[at] as number) - ZERO;
  let digits = at - whole;
  if (digits === 0 || (digits > 1 && bytes[whole] === ZERO)) return NOT;
  let isZero = value === 0;
  if (bytes[at] === POINT) {
    const part = at + 1;
    for (at = part; isDigit(bytes[at]); at += 1) if (bytes[at] !== ZERO) isZero = false;
    if (at === part) return NOT;
    digits += at - part;
  }
  // some readers keep the sign of a negative zero, and others drop it
  return digits > MOST_DIGITS || value >= bound || (isZero && whole > start) ? NOT : at;
}

/** Finds the end of a whole number that prints as it is written; `NOT` for any other. */
export function findWholeEnd(bytes: Buffer, start: number): number {
  let at = start;
  if (bytes[at] === ZERO) return at + 1;
  if ((bytes[at] ?? 0) < ONE) return NOT;
  while (isDigit(bytes[at])) at += 1;
  return at === start || at - start > 15 ? NOT : at;
}

/** Digits before the point with which no exponent of two digits makes a number too large for a double. */
const SURELY_FINITE = 200;

/**
 * Finds the end of the object or list that begins at `start`, if it is JSON and names no macros; `NOT` where that takes a closer look. It is one function
 * because every byte of a sample passes through it.
 */
export function findNestedEnd(bytes: Buffer, start: number): number {
  const { length } = bytes;
  /** One bit for each open object or list, the innermost lowest: 1 for an object, 0 for a list. */
  let open = 0;
  let depth = 0;
  /** What comes next: 0 a value, 1 a value or the end of a list, 2 a key, 3 a key or the end of an object, 4 a comma or an end. */
  let next = 0;
  for (let at = start; at < length;) {
    const byte = bytes[at] as number;
    if (byte === SPACE || byte === LINE || byte === RETURN || byte === TAB) {
      at += 1;
    } else if (next === 4) {
      at += 1;
      if (byte === COMMA) next = (open & 1) === 1 ? 2 : 0;
      else if (byte === ((open & 1) === 1 ? CLOSE_OBJECT : CLOSE_LIST)) {
        open >>>= 1;
        depth -= 1;
        if (depth === 0) return at;
      } else return NOT;
    } else if (byte === QUOTE) {
      const from = at;
      for (at += 1; at < length; at += 1) {
        const letter = bytes[at] as number;
        if (letter === QUOTE || letter < SPACE) break;
        if (letter !== BACKSLASH) continue;
        at += 1;
        if (at >= length || !ESCAPED.has(bytes[at] as number)) return NOT;
      }
      if (at >= length || bytes[at] !== QUOTE) return NOT;
      at += 1;
      if (at - from === MACROS.length && hasLettersAt(bytes, from, MACROS)) return NOT;
      if (next >= 2) {
        while (isSpace(bytes[at])) at += 1;
        if (bytes[at] !== COLON) return NOT;
        at += 1;
        next = 0;
      } else next = 4;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (next !== (byte === CLOSE_OBJECT ? 3 : 1)) return NOT;
      at += 1;
      open >>>= 1;
      depth -= 1;
      next = 4;
      if (depth === 0) return at;
    } else if (next >= 2) return NOT;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth >= DEEPEST) return NOT;
      open = (open << 1) | (byte === OPEN_OBJECT ? 1 : 0);
      next = byte === OPEN_OBJECT ? 3 : 1;
      at += 1;
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      if (byte === MINUS) at += 1;
      const whole = at;
      while (isDigit(bytes[at])) at += 1;
      if (at === whole || (at > whole + 1 && bytes[whole] === ZERO) || at - whole > SURELY_FINITE) return NOT;
      if (bytes[at] === POINT) {
        const part = (at += 1);
        while (isDigit(bytes[at])) at += 1;
        if (at === part) return NOT;
      }
      if (bytes[at] === LETTER_E || bytes[at] === SMALL_E) {
        at += 1;
        if (bytes[at] === PLUS || bytes[at] === MINUS) at += 1;
        const power = at;
        while (isDigit(bytes[at])) at += 1;
        if (at === power || at - power > 2) return NOT;
      }
      next = 4;
    } else {
      const word = byte === NULL[0] ? NULL : byte === TRUE[0] ? TRUE : FALSE;
      if (!hasLettersAt(bytes, at, word)) return NOT;
      at += word.length;
      next = 4;
    }
  }
  return NOT;
}

/** Finds the end of a list without elements; `NOT` for anything else. */
export function findEmptyListEnd(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (isSpace(bytes[at])) at += 1;
  return bytes[start] === OPEN_LIST && bytes[at] === CLOSE_LIST ? at + 1 : NOT;
}
