import { setImmediate } from 'node:timers/promises';

/**
 * Reads JSON that came from outside. The engine's own parser (V8 12.8 to 14.6 at least, nodejs/node#63785) can misread a key that holds an escape. It cuts the
 * raw text of the key to as many characters as the key has. When an object before has a key equal to that, it takes that key: after `{"n":1,"\\":1}` it takes
 * `{"n":1,"\n":1}` for the same object. What it says of every other text, and of whether a text is JSON at all, holds.
 */
declare global {
  interface JSON {
    /** A number that is printed as it was written. */
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}
export interface RawNumber {
  readonly rawJSON: string;
}

/** Makes another value of a number, whose text is `source`. */
type Numbers = (value: number, source: string) => unknown;

const native = JSON.parse as (text: string) => unknown;

const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const COMMA = 44;
const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const isWhite = (code: number) => code === 32 || code === 10 || code === 13 || code === 9;
const endsWord = (code: number) => code === COMMA || code === COLON || code === CLOSE_LIST || code === CLOSE_OBJECT || isWhite(code);
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Whether a JSON text has a key that holds an escape. Hardly any text holds a backslash. In a text that does, it looks back from each colon, over white space
 * and the quote that ends the key, to the next backslash or quote. A quote that is not escaped begins the key. It may say yes for text inside a string.
 */
function hasEscapedKey(text: string): boolean {
  const first = text.indexOf('\\');
  if (first < 0) return false;
  for (let colon = text.indexOf(':', first); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    let quote = colon - 1;
    while (isWhite(text.charCodeAt(quote))) quote--;
    if (text.charCodeAt(quote) !== QUOTE) continue;
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) continue;
    for (let at = quote - 1; at >= first; at--) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH || (code === QUOTE && text.charCodeAt(at - 1) === BACKSLASH)) return true;
      if (code === QUOTE) break;
    }
  }
  return false;
}

/** Tokens, and characters, that are read before others get their turn: about 2 ms. */
const STEP = 20_000;
/** Tokens that take as long as one look whether a double holds a long number. */
const LOOK = 20;
const STEP_CHARACTERS = 500_000;

/** Reads a text a step at a time. Lists and objects may nest to any depth. What stands outside of its strings is checked at the end. Throws SyntaxError. */
function* readTokens(text: string, numbers: Numbers | undefined): Generator<undefined, unknown> {
  // all but the strings that hold an escape, which are read each for itself
  const outside: string[] = [];
  let copied = 0;
  const open: (unknown[] | Record<string, unknown>)[] = [];
  let whole: unknown;
  let key: string | undefined;
  const put = (value: unknown) => {
    const inner = open.at(-1);
    if (inner === undefined) whole = value;
    else if (Array.isArray(inner)) inner.push(value);
    else {
      if (key === '__proto__') Object.defineProperty(inner, key, { value, writable: true, enumerable: true, configurable: true });
      else inner[key ?? ''] = value;
      key = undefined;
    }
  };
  let tokens = 0;
  let turn = 0;
  for (let at = 0; at < text.length;) {
    tokens += 1;
    if (tokens >= STEP || at - turn >= STEP_CHARACTERS) {
      tokens = 0;
      turn = at;
      yield;
    }
    const start = at;
    const first = text.charCodeAt(at++);
    if (first === OPEN_OBJECT || first === OPEN_LIST) {
      const begun = first === OPEN_OBJECT ? {} : [];
      put(begun);
      open.push(begun);
    } else if (first === CLOSE_OBJECT || first === CLOSE_LIST) open.pop();
    else if (first === QUOTE) {
      let plain = true;
      for (let code = text.charCodeAt(at); code !== QUOTE && at < text.length; code = text.charCodeAt(at)) {
        if (code === BACKSLASH) plain = false;
        at += code === BACKSLASH ? 2 : 1;
      }
      const value = plain ? text.slice(start + 1, at) : (native(text.slice(start, at + 1)) as string);
      at++;
      if (!plain) {
        outside.push(text.slice(copied, start), '""');
        copied = at;
      }
      if (key === undefined && open.length > 0 && !Array.isArray(open.at(-1))) key = value;
      else put(value);
    } else if (!endsWord(first)) {
      while (at < text.length && !endsWord(text.charCodeAt(at))) at++;
      const word = text.slice(start, at);
      const known = WORDS.get(word);
      if (numbers !== undefined && word.length > KEPT_DIGITS) tokens += LOOK;
      put(known !== undefined ? known : numbers === undefined ? Number(word) : numbers(Number(word), word));
    }
  }
  outside.push(text.slice(copied));
  native(outside.join(''));
  return whole;
}

/** Reads a text a step at a time. Throws SyntaxError as `JSON.parse` does. */
function* steps(text: string, numbers: Numbers | undefined): Generator<undefined, unknown> {
  try {
    return yield* readTokens(text, numbers);
  } catch (error) {
    // its message says where in the whole text
    if (error instanceof SyntaxError) native(text);
    throw error;
  }
}

function read(text: string, numbers: Numbers | undefined): unknown {
  const reading = steps(text, numbers);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
}

const ZERO = 48;
const POINT = 46;
const isDigitOrPoint = (code: number) => (code >= ZERO && code < ZERO + 10) || code === POINT;
/** Digits that any double keeps: of a whole number, and of one with a fraction as JavaScript prints it. */
const KEPT_DIGITS = 15;
const KEPT_PRINTED = 17;

/** Whether a text has a number of so many digits that a double may hold another one. It may say yes for digits inside a string. Takes 5 ms a MB at most. */
function hasLongNumber(text: string): boolean {
  // a longer number has a digit or a point at one of the places that this looks at
  for (let at = KEPT_DIGITS; at < text.length; at += KEPT_DIGITS + 1) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let first = at;
    while (isDigitOrPoint(text.charCodeAt(first - 1))) first -= 1;
    let digits = 0;
    let most = KEPT_DIGITS;
    for (let code = text.charCodeAt((at = first)); isDigitOrPoint(code); code = text.charCodeAt(++at)) {
      if (code === POINT) most = KEPT_PRINTED;
      else if (digits > 0 || code !== ZERO) digits += 1;
    }
    if (digits > most) return true;
  }
  return false;
}

/** The digits of a number, without sign, point, exponent and zeros at either end. */
const digitsOf = (number: string): string => number.replace(/e.*/i, '').replaceAll(/\D/g, '').replace(/^0+/, '').replace(/0+$/, '');

const isWhole = (number: string): boolean => !/[.e]/i.test(number);

/** Characters of a number that are looked at; a longer one takes time by the square of its length. */
const MOST_CHARACTERS = 1_000;

/** Whether a double holds a number as far as its digits say. Of a fraction 17 digits count. Numbers beyond all doubles are none that it could hold otherwise. */
export function isHeldByDouble(number: string): boolean {
  if (number.length > MOST_CHARACTERS) return false;
  const digits = digitsOf(number);
  const value = Number(number);
  if (digits.length <= (isWhole(number) ? KEPT_DIGITS : KEPT_PRINTED) || !Number.isFinite(value)) return true;
  return [String(value), value.toPrecision(Math.min(100, digits.length))].some((printed) => digitsOf(printed) === digits);
}

// JavaScript prints 2 to the 63rd with zeros at its end, though a double holds it
const isLost = (value: number, source: string): boolean =>
  source.length > KEPT_DIGITS && (isWhole(source) ? value !== 0 && String(value) !== source : !isHeldByDouble(source));
const keepLost: Numbers = (value, source) => (isLost(value, source) ? JSON.rawJSON(source) : value);

/** What is asked of a number that keeps its digits, where no number does. */
export const LONG_NUMBER = 'has more digits than are kept of a number: send it as text';

/** Reads a JSON text. A number that a JavaScript number would print as another one is printed as it was written. Throws SyntaxError. */
export const readFullJson = (text: string): unknown => readJson(text, hasLongNumber(text) ? keepLost : undefined);

/** Puts text in the place of every number that keeps its digits, within lists and objects too. */
export function printLongNumbers(value: unknown): unknown {
  if (JSON.isRawJSON(value)) return value.rawJSON;
  if (typeof value !== 'object' || value === null) return value;
  for (const [key, inner] of Object.entries(value))
    if (typeof inner === 'object') (value as Record<string, unknown>)[key] = printLongNumbers(inner);
  return value;
}

/** Characters behind those that are looked at: a long number is seen whole that begins before their end. */
const BEHIND = 64;

async function hasLongNumberWithin(text: string): Promise<boolean> {
  for (let at = 0; at < text.length; at += STEP_CHARACTERS) {
    if (at > 0) await setImmediate();
    if (hasLongNumber(text.slice(at, at + STEP_CHARACTERS + BEHIND))) return true;
  }
  return false;
}

/** Reads a text as `readFullJson` does, with turns for others where it takes long. Throws SyntaxError. */
export async function readLongJson(text: string): Promise<unknown> {
  const numbers = (await hasLongNumberWithin(text)) ? keepLost : undefined;
  if (numbers === undefined && !hasEscapedKey(text)) return native(text);
  const reading = steps(text, numbers);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
    await setImmediate();
  }
}

/** Reads a JSON text, with exactly the keys that it has. Throws SyntaxError as `JSON.parse` does. */
export function readJson(text: string, numbers?: Numbers): unknown {
  // with a function for each value the engine's own parser takes ten times as long as this one
  return numbers === undefined && !hasEscapedKey(text) ? native(text) : read(text, numbers);
}

/**
 * Reads a JSON text so that printing it gives every number back as it was written: 1.0 stays 1.0, 12345678901234567890 stays itself. Numbers that JavaScript
 * prints that way are plain numbers. Throws SyntaxError.
 */
export const readExactJson = (text: string): unknown =>
  readJson(text, (value, source) => (String(value) === source ? value : JSON.rawJSON(source)));

/** Replaces what neither Postgres nor a file of the lake takes as text: lone surrogates and NUL become U+FFFD. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** Prints what Postgres takes as JSON, whatever its texts hold. Keys are printed as they are. */
export const printCleanJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? cleanText(each) : each));

/** True for a JSON object: neither null, nor a list, nor a number that keeps its text. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);

/** True when lists and objects within each other reach more than `most` levels. Does not recurse, so depth takes no stack. */
export function isNestedDeeper(value: unknown, most: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= most; depth += 1) {
    level = level.filter((each) => typeof each === 'object' && each !== null);
    if (level.length === 0) return false;
    if (depth < most) level = level.flatMap((each): unknown[] => Object.values(each as object));
  }
  return true;
}
