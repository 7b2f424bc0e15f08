import { isUtf8 } from 'node:buffer';
import type { Encoding } from '../../typing/readings.ts';
import { MAX_COLUMNS, MAX_RECORD_BYTES } from '../../limits.ts';
import { FileRefused, ReadAhead, refuseShortPart, type BufferedFile, type FileScan } from '../../record-writer.ts';
import { countBreaks, findRecord, listRecords, findLineEnd, splitRecord, type Found } from './delimited.ts';
import { chooseDelimiter, COMMA, readDelimiterLine, TAB } from './delimiters.ts';
import { DecodedFile } from './decoded-file.ts';
import { refuseOtherKinds, refuseUtf16 } from './signatures.ts';
import { findHeader, MOST_ROWS, explainDoubt } from './titles.ts';
import { findUnits, LOOKED_AT_BYTES, type Units } from './units.ts';
import { Window } from './window.ts';

const QUOTE = 0x22;
const LF = 0x0a;
const CHUNK = 4 * 1_048_576;
/** The least bound on the length of records; the engine gains nothing by a lower one. */
const LEAST_LONGEST = 1_048_576;
const MOST_TOLD_BYTES = 1_000;

interface CsvSource extends FileScan {
  /** `csv`: the delimiter is found by its first lines; `tsv`: tab. */
  kind: 'csv' | 'tsv';
  /** What the file is told to be in; UTF-8 unless given. */
  encoding?: Encoding;
  /** What stands between fields, where whoever made the file says so. */
  delimiter?: string;
  /** The line of the header, where somebody says it. */
  headerRow?: number;
  /** Whether the row below the header has units; the records below it say it unless given. */
  unitsRow?: boolean;
  /** Marks that stand for missing values. */
  missing: readonly string[];
}

/** The first rows, and where they begin. `line` is that of the first. */
function lookAtRows(bytes: Buffer, start: number, { delimiter, final, line: first }: { delimiter: number; final: boolean; line: number }) {
  const rows: { fields: string[]; start: number; line: number }[] = [];
  for (let at = start; rows.length < MOST_ROWS && at - start < LOOKED_AT_BYTES;) {
    const [row] = listRecords(bytes, at, { delimiter, final, most: 1 });
    if (!row) break;
    rows.push({ fields: row.fields, start: at, line: first + countBreaks(bytes, start, at) });
    at = row.next;
  }
  return rows;
}

/**
 * Reads a delimited file once, and writes its well-formed records in one strict form for the engine: index first, LF between records, no header, no BOM.
 * Every other record goes to `refusals` with its place, reason and text; after broken quotes reading goes on at the next line. Blank lines are not records,
 * except in a file of one column, where they are nulls. Throws FileRefused when the file as a whole is not such a file.
 */
export async function scanCsv({
  path,
  kind,
  encoding: told,
  delimiter: made,
  headerRow,
  unitsRow,
  missing,
  records,
  refusals,
  numbering,
  signal,
  maxRecordBytes = MAX_RECORD_BYTES,
  isPart = false,
}: CsvSource) {
  const file = await ReadAhead.open(path, CHUNK);
  try {
    const decoded = new DecodedFile(file, told);
    const isReadable = (text: Buffer) => isUtf8(text) && !decoded.isBroken(text);
    const window = new Window(() => {
      signal?.throwIfAborted();
      return decoded.more();
    }, isReadable);
    const found: Found = { end: -1, next: 0, fields: 0, quoted: false, strayQuote: false, problem: undefined };
    let line = 1;
    let header: string[] | undefined;
    let headerLine = 1;
    let units: Units | undefined;
    let delimiter = kind === 'tsv' ? TAB : COMMA;
    let named = made?.charCodeAt(0);
    let isSought = headerRow === undefined;
    const above: string[] = [];
    let rows = 0;
    let multiline = false;
    let longest = 0;

    refuseOtherKinds(await decoded.peek(), kind);
    await window.more();
    refuseUtf16(window.bytes);
    if (window.bytes[0] === 0xef && window.bytes[1] === 0xbb && window.bytes[2] === 0xbf) window.start = 3;

    for (;;) {
      let { bytes, start } = window;
      if (start >= bytes.length) {
        if (window.final) break;
        await window.more();
        continue;
      }
      if (header === undefined) {
        while (!window.final && bytes.length - start < LOOKED_AT_BYTES) {
          await window.more();
          ({ bytes, start } = window);
        }
        const first = findLineEnd(bytes, start, window.final && !isPart);
        const firstLine = first && bytes.subarray(start, first.end);
        if (first && firstLine && named === undefined) {
          named = readDelimiterLine(firstLine);
          if (named !== undefined) {
            window.start = first.next;
            line += 1;
            continue;
          }
        }
        if (headerRow !== undefined && line < headerRow) {
          if (!first && window.final) break;
          if (!first && bytes.length - start > maxRecordBytes) throw new FileRefused('bad_header', `Line ${line} is too long.`);
          if (first) {
            above.push(bytes.toString('utf8', start, Math.min(first.end, start + MOST_TOLD_BYTES)));
            window.start = first.next;
            line += 1;
          } else await window.more();
          continue;
        }
        delimiter = named ?? chooseDelimiter(kind, bytes.subarray(start, start + LOOKED_AT_BYTES));
        if (isSought && named === undefined) {
          isSought = false;
          const looked = lookAtRows(bytes, start, { delimiter, final: window.final && !isPart, line });
          const place = findHeader(looked.map(({ fields }) => fields));
          const top = looked[place.at];
          if (place.doubt) {
            const { first: title, ...counts } = place.doubt;
            const lines = { first: looked[title]?.line ?? 1, header: top?.line ?? 1 };
            throw new FileRefused('bad_header', explainDoubt(['line', 'field'], { ...lines, ...counts }));
          }
          above.push(...looked.slice(0, place.at).map(({ fields }) => fields.filter((text) => text !== '').join(' ')));
          if (top) {
            line = top.line;
            window.start = top.start;
          }
          continue;
        }
      }
      findRecord(bytes, start, delimiter, window.final && !isPart, found);
      let { problem } = found;
      let { end, next } = found;
      if (end < 0 && problem === undefined) {
        if (window.final) break;
        if (bytes.length - start <= maxRecordBytes) {
          await window.more();
          continue;
        }
        problem = found.quoted ? 'unclosed_quote' : 'record_too_long';
      } else if (problem === undefined && end - start > maxRecordBytes) problem = 'record_too_long';
      if (header === undefined) {
        if (problem !== undefined)
          throw new FileRefused('bad_header', 'The header line is not valid: its quotes are broken or it is too long.');
        if (end === start && !found.quoted) {
          window.start = next;
          line += 1;
          continue;
        }
        if (!isReadable(bytes.subarray(start, end)))
          throw new FileRefused(
            'wrong_encoding',
            `The header line is not ${decoded.encoding} text; send the file with the encoding that it is in, such as windows-1252.`,
          );
        header = splitRecord(bytes.toString('utf8', start, end), String.fromCharCode(delimiter));
        if (header.length > MAX_COLUMNS)
          throw new FileRefused('too_many_columns', `The file has ${header.length} columns; a table holds at most ${MAX_COLUMNS}.`);
        headerLine = line;
        line += countBreaks(bytes, start, next);
        window.start = next;
        while (!window.final && window.bytes.length - window.start < LOOKED_AT_BYTES) await window.more();
        const search = { delimiter, final: window.final && !isPart, isReadable, missing, fields: header.length, told: unitsRow };
        const row = findUnits({ ...search, bytes: window.bytes, start: window.start });
        if (row) {
          units = { ...row, line };
          line += Math.max(row.rows, countBreaks(window.bytes, window.start, row.next));
          window.start = row.next;
        }
        continue;
      }
      if (problem !== undefined) {
        let stop = findLineEnd(bytes, start, window.final);
        while (!stop && bytes.length - start <= maxRecordBytes * 2) {
          await window.more();
          ({ bytes, start } = window);
          stop = findLineEnd(bytes, start, window.final);
        }
        // a line longer than twice the limit is refused in pieces
        stop ??= { end: bytes.length, next: bytes.length };
        ({ end, next } = stop);
      } else if (end === start && header.length > 1) {
        line += 1;
        window.start = next;
        continue;
      } else if (found.fields !== header.length) problem = found.fields < header.length ? 'too_few_fields' : 'too_many_fields';
      if (problem === undefined && !window.clean && !isReadable(bytes.subarray(start, end)))
        problem = decoded.encoding === 'utf-8' ? 'invalid_utf8' : 'invalid_characters';

      const row = numbering.next(window.base + start);
      if (!row) {
        // passed over
      } else if (problem !== undefined)
        await refusals.add(row, { line, byteOffset: window.base + start }, problem, bytes.subarray(start, end));
      else {
        records.bytes(row);
        records.byte(delimiter);
        if (found.strayQuote) {
          const fields = splitRecord(bytes.toString('utf8', start, end), String.fromCharCode(delimiter));
          rewrite(records, fields, bytes, start, delimiter);
        } else records.bytes(bytes, start, end);
        records.byte(LF);
        rows += 1;
        if (end - start > longest) longest = end - start;
        if (records.full) await records.drain();
      }
      if (found.quoted || problem !== undefined) {
        const breaks = countBreaks(bytes, start, next);
        if (breaks > 1) multiline = true;
        line += Math.max(breaks, 1);
      } else line += 1;
      window.start = next;
    }
    if (header === undefined)
      throw isPart && window.start < window.bytes.length
        ? refuseShortPart()
        : headerRow !== undefined
          ? new FileRefused('bad_header', `The file has no header in line ${headerRow}, nor below it.`)
          : new FileRefused('empty_file', 'The file is empty: it has no header line.');
    const mark = String.fromCharCode(delimiter);
    // at most every byte is a quote and is doubled, every field gets quotes, and the record's number stands before
    return {
      header,
      encoding: decoded.encoding,
      /** The line that the header begins in, counted from 1. */
      headerLine,
      /** What the lines above the header hold. */
      above,
      /** The row of units below the header, which is no record. */
      units,
      delimiter: mark,
      /** Records written to `records`, each with its place in the file as a first field. */
      rows,
      /** Whether any field holds a line break, at which a parallel reader could cut. */
      multiline,
      /** Bytes that no record in `records` is longer than. */
      longest: 2 * longest + 2 * header.length + LEAST_LONGEST,
    };
  } finally {
    await file.close();
  }
}

/** Writes fields in quotes, leaving an unquoted empty one as it is: that is a null. */
function rewrite(records: BufferedFile, fields: readonly string[], bytes: Buffer, start: number, delimiter: number): void {
  const mark = String.fromCharCode(delimiter);
  let at = start;
  fields.forEach((field, index) => {
    if (index > 0) records.text(mark);
    const wasQuoted = bytes[at] === QUOTE;
    if (field !== '' || wasQuoted) records.quoted(field);
    // Byte length of the field as it was written: its text, with its quotes doubled and around it when it was quoted.
    at += Buffer.byteLength(field) + (wasQuoted ? 2 + (field.split('"').length - 1) : 0) + 1;
  });
}
