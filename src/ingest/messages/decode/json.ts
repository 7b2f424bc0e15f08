import { readJson } from '../../../json.ts';

/**
 * JSON as instruments send it. It is bounded before it is parsed. NaN and infinities become null, numbers that no double holds become text, and no digit is
 * lost.
 */
export type JsonFault = 'json-invalid' | 'too-deep' | 'too-many-values';

export interface JsonCaps {
  /** Nesting of objects and arrays. */
  depth: number;
  /** Values, keys included, in one text. */
  values: number;
}

/** Where a child of the outermost object or array stands in the text; `key` is null in an array. */
export interface Child {
  key: string | null;
  start: number;
  end: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const notANumber = /^[+-]?(?:nan|inf|infinity)$/i;

const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9;
/** `, : [ ] { }` */
const isStructure = (code: number) => code === 44 || code === 58 || code === 91 || code === 93 || code === 123 || code === 125;
const opens = (code: number) => code === 91 || code === 123;
const closes = (code: number) => code === 93 || code === 125;

/** Finds the place just behind the closing quote of the string that begins at `start`; -1 when the string never ends. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return -1;
}

/** Characters that end a word. */
const ENDS = Uint8Array.from({ length: 128 }, (_, code) => (code === QUOTE || isSpace(code) || isStructure(code) ? 1 : 0));

function endOfWord(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && ENDS[text.charCodeAt(end)] !== 1) end++;
  return end;
}

/** Whether a text may hold half of a surrogate pair, raw or escaped: engines downstream refuse those. */
const mayBeIllFormed = (text: string) => (text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text)) || !text.isWellFormed();

/** Whether a text may hold a number that no double holds: engines downstream read one as infinity, or refuse it. */
const mayOverflow = (text: string) => /[eE]\+?\d{3}|\d{200}/.test(text);

/** A string literal without half surrogate pairs. */
function wellFormed(literal: string): string {
  try {
    const value = readJson(literal) as string;
    return value.isWellFormed() ? literal : JSON.stringify(value.toWellFormed());
  } catch {
    return literal;
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const overflows = (word: string) => !Number.isFinite(Number(word)) && NUMBER.test(word);

/** A word that begins like a number, true or false needs no closer look: the parser decides. */
const isPlainWord = (text: string, at: number) => {
  const code = text.charCodeAt(at);
  const digit = code === 45 ? text.charCodeAt(at + 1) : code;
  return (digit >= 48 && digit <= 57) || code === 116 || code === 102;
};

/** A text that reads as JSON. */
export interface StrictJson {
  text: string;
  value: unknown;
  /** The texts of those members of the outermost object that are objects or arrays, as they stand in `text`. */
  members: () => ReadonlyMap<string, string>;
}

const keyOf = (literal: string): string => (literal.includes('\\') ? (readJson(literal) as string) : literal.slice(1, -1));

/** Finds the place just behind the object or array that begins at `start` of a strict text. */
function endOfNested(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (opens(code)) depth++;
    else if (closes(code) && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Finds those members of a strict text's outermost object that are objects or arrays. A text that is no object has none. */
function nestedMembers(text: string): Map<string, string> {
  const found = new Map<string, string>();
  if (!text.trimStart().startsWith('{')) return found;
  let keyStart = 0;
  let keyEnd = 0;
  // a string here is a key or a value, and only a key comes right before an object or an array
  for (let at = text.indexOf('{') + 1; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      keyStart = at;
      at = keyEnd = endOfString(text, at);
    } else if (opens(code)) {
      const end = endOfNested(text, at);
      found.set(keyOf(text.slice(keyStart, keyEnd)), text.slice(at, end));
      at = end;
    } else at++;
  }
  return found;
}

/** Whether a text holds so few opening brackets, in strings or not, that it nests no deeper than `depth`. */
function isShallow(text: string, depth: number): boolean {
  let left = depth;
  for (let at = 0; at < text.length && left >= 0; at++) if (opens(text.charCodeAt(at))) left--;
  return left >= 0;
}

function parsed(text: string): StrictJson | undefined {
  try {
    return { text, value: readJson(text), members: () => nestedMembers(text) };
  } catch {
    return undefined;
  }
}

/**
 * Reads a text in which nothing is to be replaced and no cap can be reached, as in nearly every text; else undefined. The JavaScript engine's own parser reads
 * such a text faster than we could.
 */
const plainJson = (text: string, caps: JsonCaps): StrictJson | undefined =>
  text.length > caps.values || !isShallow(text, caps.depth) || mayBeIllFormed(text) || mayOverflow(text) ? undefined : parsed(text);

/**
 * Turns a text into strict JSON, or says why it cannot. NaN and the infinities (any case, any sign) become null. A number that no double holds becomes the text
 * that it is written as. Takes linear time and never throws.
 */
export function readStrictJson(text: string, caps: JsonCaps): StrictJson | JsonFault {
  return plainJson(text, caps) ?? madeStrict(text, caps);
}

function madeStrict(text: string, caps: JsonCaps): StrictJson | JsonFault {
  const kept: string[] = [];
  let keptTo = 0;
  let depth = 0;
  let values = 0;
  const suspicious = mayBeIllFormed(text);
  const large = mayOverflow(text);
  const replace = (from: number, to: number, by: string) => {
    if (by === text.slice(from, to)) return;
    kept.push(text.slice(keptTo, from), by);
    keptTo = to;
  };
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) at++;
    else if (isStructure(code)) {
      if (opens(code)) {
        if (++depth > caps.depth) return 'too-deep';
      } else if (closes(code)) depth--;
      at++;
    } else {
      if (++values > caps.values) return 'too-many-values';
      const end = code === QUOTE ? endOfString(text, at) : endOfWord(text, at);
      if (end < 0) return 'json-invalid';
      if (code === QUOTE) {
        if (suspicious) replace(at, end, wellFormed(text.slice(at, end)));
      } else if (!isPlainWord(text, at)) {
        if (notANumber.test(text.slice(at, end))) replace(at, end, 'null');
      } else if (large && overflows(text.slice(at, end))) replace(at, end, `"${text.slice(at, end)}"`);
      at = end;
    }
  }
  return parsed(keptTo === 0 ? text : kept.join('') + text.slice(keptTo)) ?? 'json-invalid';
}

/** The children of the outermost object or array of a strict text, in order; none for a scalar. */
export function listChildren(text: string): Child[] {
  const found: Child[] = [];
  let depth = 0;
  let start = -1;
  let key: string | null = null;
  let end = 0;
  const close = () => {
    if (start >= 0) found.push({ key, start, end });
    start = -1;
    key = null;
  };
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) {
      at++;
      continue;
    }
    const from = at;
    at = code === QUOTE ? endOfString(text, at) : isStructure(code) ? at + 1 : endOfWord(text, at);
    if (closes(code) && --depth === 0) close();
    else if (depth === 1 && code === 44) close();
    else if (depth === 1 && code === 58) {
      key = readJson(text.slice(start, end)) as string;
      start = -1;
    } else if (depth >= 1) {
      if (start < 0) start = from;
      end = at;
    }
    if (opens(code)) depth++;
  }
  return found;
}
