/** Turns whole numbers inside documents into text where a reader of JSON would round them. Those of columns are text already. */
import type { Readable } from 'node:stream';
import type { ColumnType } from './catalog.ts';
import { streamChunks } from './chunks.ts';

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;
/** Two to the 53rd: beyond it a JSON number would be read as its neighbour. */
export const SAFE = '9007199254740992';

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
/** Whether a byte may be part of a number: a digit, or + - . E e */
const isOfNumber = (byte: number | undefined): boolean =>
  isDigit(byte) || byte === 0x2b || byte === MINUS || byte === 0x2e || byte === 0x45 || byte === 0x65;

/** Whether the text has as many digits side by side as a large number has. One of them is then at a place that this looks at. */
const hasManyDigits = (json: Buffer): boolean => {
  for (let at = SAFE.length - 1; at < json.length; at += SAFE.length) {
    if (!isDigit(json[at])) continue;
    let [first, end] = [at, at + 1];
    while (isDigit(json[first - 1])) first -= 1;
    while (isDigit(json[end])) end += 1;
    if (end - first >= SAFE.length) return true;
  }
  return false;
};

/** Finds the place behind the JSON text that begins at a quote. */
const endOfText = (json: Buffer, start: number): number => {
  for (let at = json.indexOf(QUOTE, start + 1); at >= 0; at = json.indexOf(QUOTE, at + 1)) {
    let escapes = at;
    while (json[escapes - 1] === BACKSLASH) escapes -= 1;
    if ((at - escapes) % 2 === 0) return at + 1;
  }
  return json.length;
};

const isLarge = (number: string): boolean => {
  const digits = number.replace('-', '');
  return /^\d+$/.test(digits) && (digits.length > SAFE.length || (digits.length === SAFE.length && digits > SAFE));
};

/** Puts quotes around whole numbers beyond 2^53 in JSON text. Their digits stay as they were; fractions, exponents and texts do too. */
export const quoteLargeIntegers = (json: Buffer): Buffer => {
  if (!hasManyDigits(json)) return json;
  const parts: Buffer[] = [];
  let passed = 0;
  let at = 0;
  while (at < json.length) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfText(json, at);
    else if (isDigit(byte) || byte === MINUS) {
      const start = at;
      while (isOfNumber(json[at])) at += 1;
      if (at - start < SAFE.length) continue;
      const number = json.toString('latin1', start, at);
      if (!isLarge(number)) continue;
      parts.push(json.subarray(passed, start), Buffer.from(`"${number}"`));
      passed = at;
    } else at += 1;
  }
  return parts.length === 0 ? json : Buffer.concat([...parts, json.subarray(passed)]);
};

async function* quoteInLines(source: Readable): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const chunk of source as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    // no number and no text continues on another line
    if (end > 0) yield quoteLargeIntegers(Buffer.concat([...begun, chunk.subarray(0, end)]));
    if (end > 0) begun = [];
    if (end < chunk.length) begun.push(chunk.subarray(end));
  }
  if (begun.length > 0) yield quoteLargeIntegers(Buffer.concat(begun));
}

/** Passes lines of JSON on, with large whole numbers as text. */
export const quoteLargeIntegersIn = (source: Readable): Readable => streamChunks(quoteInLines(source), source);

/** Whether values of a type hold documents. */
export const hasDocuments = (type: ColumnType): boolean => {
  if (type.kind === 'struct') return type.fields.some((field) => hasDocuments(field.type));
  return type.kind === 'variant' || (type.kind === 'array' && hasDocuments(type.element));
};
