import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { readJson } from '../../../json.ts';
import { printToken, readExactNumber } from '../../exact-json.ts';
import { SAFE_DIGITS } from './json-glance.ts';
import { MAX_COLUMNS, MAX_RECORD_BYTES, MAX_RECORD_PARTS } from '../../limits.ts';
import { FileRefused, ReadAhead, refuseShortPart, type BufferedFile, type FileScan, type RefusalReason } from '../../record-writer.ts';
import { isWellFormed, refuseKeys, type JsonWriter } from './json-lines.ts';
import { COMMA, countParts, LF, scanElements, scanLines, trim, type Scan } from './json-pieces.ts';
import { refuseOtherKinds, refuseUtf16 } from './signatures.ts';
import { Window } from './window.ts';

const CHUNK = 4 * 1_048_576;
/** Bytes of records that are understood before others get their turn: some ten milliseconds. */
const BYTES_BETWEEN = 262_144;
interface JsonSource extends FileScan {
  kind: 'json' | 'ndjson';
  /** Takes the records, and writes them to `records`. */
  writer: JsonWriter;
}

// 15 significant digits survive a JavaScript number. A record is read with care when one of its numbers has an exponent, or has more digits and JavaScript
// prints it in another way.
const EXPONENT = /[:,[\s]-?\d[\d.]*[eE]/;
const LONG_NUMBER = /-?\d[\d.]{15,}/g;

function losesDigits(text: string): boolean {
  if (EXPONENT.test(text)) return true;
  for (const number of text.match(LONG_NUMBER) ?? []) if (String(Number(number)) !== number) return true;
  return false;
}

/**
 * Whether a number itself has an exponent or more digits, whatever other numbers its record has. So 891.0 is 891, as it is where the engine reads the lines
 * (json-lines.ts).
 */
const needsCare = (source: string): boolean => /[eE]/.test(source) || source.replaceAll(/\D/g, '').length > SAFE_DIGITS;

const parseRecord = (text: string): unknown =>
  losesDigits(text) ? readJson(text, (value, source) => (needsCare(source) ? readExactNumber(value, source) : value)) : readJson(text);

const hasLoneSurrogate = (text: string, value: unknown): boolean =>
  text.includes('\\u') && /\\ud[89a-f]/i.test(text) && !isWellFormed(value);

/** Finds what is too much of a record. Throws FileRefused when it has more keys than a table has columns. */
function findExcess(record: Buffer): RefusalReason | undefined {
  // each part has two bytes
  if (record.length < 2 * MAX_RECORD_PARTS) return undefined;
  const { keys, parts } = countParts(record);
  if (keys > MAX_COLUMNS) throw refuseKeys();
  return parts > MAX_RECORD_PARTS ? 'too_many_members' : undefined;
}

/** `"data": [` as the only beginning of a wrapping object. */
const WRAPPER = /^\s*\{\s*"data"\s*:\s*\[/;

/**
 * Reads JSON once, record by record: the lines of NDJSON, the elements of a list or of `{"data": [...]}`, or a single object. Each record goes to the writer,
 * and those that the writer does not take go to `refusals`.
 */
export async function scanJson({
  path,
  kind,
  records,
  writer,
  refusals,
  numbering,
  signal,
  maxRecordBytes = MAX_RECORD_BYTES,
  isPart = false,
}: JsonSource): Promise<void> {
  const file = await ReadAhead.open(path, CHUNK);
  try {
    const window = new Window(() => {
      signal?.throwIfAborted();
      return file.more();
    });
    await window.more();
    refuseOtherKinds(window.bytes, kind);
    refuseUtf16(window.bytes);
    if (window.bytes[0] === 0xef && window.bytes[1] === 0xbb && window.bytes[2] === 0xbf) window.start = 3;
    const place = { line: 1 };
    let taken = 0;
    const isEnd = () => (window.final && !isPart) || window.bytes.length - window.start > maxRecordBytes * 2;
    const take: Scan['take'] = async ({ start, end }) => {
      const row = numbering.next(window.base + start);
      if (!row) return;
      const bytes = window.bytes.subarray(start, end);
      const problem =
        bytes.length > maxRecordBytes
          ? 'record_too_long'
          : !window.clean && !isUtf8(bytes)
            ? 'invalid_utf8'
            : (findExcess(bytes) ?? writer.write(row, bytes));
      if (problem !== undefined) await refusals.add(row, { line: place.line, byteOffset: window.base + start }, problem, bytes);
      if (records.full) await records.drain();
      taken += bytes.length;
      if (taken < BYTES_BETWEEN) return;
      taken = 0;
      await setImmediate();
    };
    const scan: Scan = { window, place, isEnd, take };

    if (kind === 'ndjson') {
      await scanLines(scan);
      if (writer.rows === 0 && refusals.count === 0) throw isPart ? refuseShortPart() : new FileRefused('empty_file', 'The file is empty.');
      return;
    }
    const head = window.bytes.toString('latin1', window.start, window.start + 1_000);
    const first = /\S/.exec(head);
    if (!first) throw new FileRefused('empty_file', 'The file is empty.');
    const wrapper = WRAPPER.exec(head);
    if (first[0] !== '[' && !wrapper) {
      if (isPart) throw refuseShortPart();
      while (!window.final && window.bytes.length <= maxRecordBytes) await window.more();
      const [start, end] = trim(window.bytes, window.start, window.bytes.length);
      await take({ start, end });
      return;
    }
    window.start += wrapper ? wrapper[0].length : first.index + 1;
    const { elements, closed } = await scanElements(scan);
    if (!closed && elements === 0 && isPart) throw refuseShortPart();
    if (!closed && elements === 0) throw new FileRefused('invalid_json', 'The list of records is never closed.');
    await checkRest(window, wrapper !== null, closed);
  } finally {
    await file.close();
  }
}

/** Refuses a file in which anything but the end of the wrapping object follows the list. */
async function checkRest(window: Window, wrapped: boolean, closed: boolean): Promise<void> {
  if (!closed) return;
  while (!window.final && window.bytes.length - window.start < CHUNK) await window.more();
  const rest = window.bytes.toString('utf8', window.start).trim();
  if (rest !== (wrapped ? '}' : ''))
    throw new FileRefused(
      'invalid_json',
      wrapped ? 'Beside "data" the object must hold nothing else.' : 'Something follows the list of records.',
    );
}

/** Writes each object as one line of tokens by key (its number first), so that numbers keep every digit that was sent. */
export class TokenWriter implements JsonWriter {
  /** In the order in which they were first seen. */
  readonly keys: string[] = [];
  rows = 0;
  /** Whether any value holds a line break. */
  multiline = false;
  readonly #places = new Map<string, number>();
  readonly #records: BufferedFile;
  #line: (string | null)[] = [];

  constructor(records: BufferedFile) {
    this.#records = records;
  }

  write(row: Buffer, record: Buffer): RefusalReason | undefined {
    const text = record.toString('utf8');
    let value: unknown;
    try {
      value = parseRecord(text);
    } catch {
      return 'invalid_json';
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value) || JSON.isRawJSON(value)) return 'not_an_object';
    if (hasLoneSurrogate(text, value)) return 'invalid_unicode';
    const tokens = this.#line;
    tokens.fill(null);
    for (const [key, inner] of Object.entries(value)) {
      let place = this.#places.get(key);
      if (place === undefined) {
        place = this.keys.length;
        if (place >= MAX_COLUMNS) throw refuseKeys();
        this.#places.set(key, place);
        this.keys.push(key);
        tokens.push(null);
      }
      tokens[place] = printToken(inner);
    }
    this.#records.bytes(row);
    for (const each of tokens) {
      this.#records.byte(COMMA);
      if (each === null) continue;
      if (PLAIN.test(each)) this.#records.text(each);
      else {
        if (!this.multiline && (each.includes('\n') || each.includes('\r'))) this.multiline = true;
        this.#records.quoted(each);
      }
    }
    this.#records.byte(LF);
    this.rows += 1;
    return undefined;
  }
}

const PLAIN = /^[^",\r\n]*$/;
