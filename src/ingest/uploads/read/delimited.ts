/** Tells records of delimited text and their fields apart. */
import type { RefusalReason } from '../../record-writer.ts';

// the engine of JavaScript reads exported constants anew for every byte
const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/** Where a record ends and what was found on the way. Reused, so that a million records make no garbage. */
export interface Found {
  /** `end` is just past the record's text, or -1 when more bytes are needed. `next` is just past its line break. */
  end: number;
  next: number;
  fields: number;
  quoted: boolean;
  /** A quote inside an unquoted field: legal text for us, ambiguous for readers, so the record is quoted anew. */
  strayQuote: boolean;
  problem: RefusalReason | undefined;
}

/**
 * Finds the record at `start`: RFC 4180 with LF, CRLF or CR as line breaks. A quote opens a quoted field only as the first byte of a field and is plain text elsewhere;
 * a closing quote must be followed by the delimiter or a line break.
 */
export function findRecord(bytes: Buffer, start: number, delimiter: number, final: boolean, found: Found): void {
  const length = bytes.length;
  let at = start;
  found.end = -1;
  found.fields = 1;
  found.quoted = false;
  found.strayQuote = false;
  found.problem = undefined;
  for (;;) {
    if (at < length && bytes[at] === QUOTE) {
      found.quoted = true;
      at += 1;
      for (;;) {
        while (at < length && bytes[at] !== QUOTE) at += 1;
        if (at >= length || (at + 1 >= length && !final)) {
          if (final) found.problem = 'unclosed_quote';
          return;
        }
        if (bytes[at + 1] !== QUOTE) break;
        at += 2;
      }
      at += 1;
      if (at < length && bytes[at] !== delimiter && bytes[at] !== LF && bytes[at] !== CR) {
        found.problem = 'broken_quotes';
        return;
      }
    } else {
      while (at < length) {
        const byte = bytes[at];
        if (byte === delimiter || byte === LF || byte === CR) break;
        if (byte === QUOTE) found.strayQuote = true;
        at += 1;
      }
    }
    if (at >= length) {
      if (!final) return;
      found.end = length;
      found.next = length;
      return;
    }
    if (bytes[at] !== delimiter) break;
    found.fields += 1;
    at += 1;
  }
  if (bytes[at] === CR && at + 1 >= length && !final) return;
  found.end = at;
  found.next = bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : at + 1;
}

/** The end of the physical line at `start`, without and with its line break; undefined when more bytes are needed. */
export function findLineEnd(bytes: Buffer, start: number, final: boolean): { end: number; next: number } | undefined {
  let at = start;
  while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at += 1;
  if (at >= bytes.length) return final ? { end: at, next: at } : undefined;
  if (bytes[at] === CR && at + 1 >= bytes.length && !final) return undefined;
  return { end: at, next: bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : at + 1 };
}

/** The fields of a well-formed record as text. */
export function splitRecord(record: string, delimiter: string): string[] {
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    if (record[at] === '"') {
      let value = '';
      at += 1;
      for (;;) {
        const quote = record.indexOf('"', at);
        value += record.slice(at, quote < 0 ? record.length : quote);
        at = quote < 0 ? record.length : quote + 1;
        if (record[at] !== '"' || quote < 0) break;
        value += '"';
        at += 1;
      }
      fields.push(value);
      at = record.indexOf(delimiter, at);
    } else {
      const end = record.indexOf(delimiter, at);
      fields.push(record.slice(at, end < 0 ? record.length : end));
      at = end;
    }
    if (at < 0) return fields;
    at += delimiter.length;
  }
}

export function countBreaks(bytes: Buffer, start: number, end: number): number {
  let breaks = 0;
  for (let at = start; at < end; at += 1) if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) breaks += 1;
  return breaks;
}

/** A well-formed record: its fields, where its text ends, and where the next one begins. */
export interface DelimitedRecord {
  fields: string[];
  end: number;
  next: number;
}

/** Lists the records that lie whole in `bytes` from `start` on, `most` of them, up to the first that is not well-formed. */
export function* listRecords(
  bytes: Buffer,
  start: number,
  { delimiter, final, most }: { delimiter: number; final: boolean; most: number },
): Generator<DelimitedRecord> {
  const found: Found = { end: -1, next: start, fields: 0, quoted: false, strayQuote: false, problem: undefined };
  for (let at = start, many = 0; many < most && at < bytes.length; at = found.next, many += 1) {
    findRecord(bytes, at, delimiter, final, found);
    if (found.end < 0 || found.problem !== undefined) return;
    yield { fields: splitRecord(bytes.toString('utf8', at, found.end), String.fromCharCode(delimiter)), end: found.end, next: found.next };
  }
}
