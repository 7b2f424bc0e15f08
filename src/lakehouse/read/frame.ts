/** Puts bytes around rows that the engine printed: JSON arrays from lines, CSV headers. */
import { Transform, pipeline, type Readable } from 'node:stream';

const NEWLINE = 0x0a;
const COMMA = 0x2c;

export interface LineCount {
  rows: number;
  /** Whether a row beyond `limit` was seen; it is not passed on. */
  cut: boolean;
  /** The text of that row, where the caller waited for it. */
  beyond?: string;
}

/** Joins lines by commas, at most `limit` of them. Stops reading the source at the first line beyond, or behind that line where `waits` asks for its text. */
export async function* joinLines(source: Readable, limit: number, seen: LineCount, waits = false): AsyncGenerator<Buffer> {
  let owed = false;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    if (chunk.length === 0) continue;
    if (seen.rows >= limit) {
      seen.cut = true;
      if (!waits) return;
      seen.beyond = `${seen.beyond ?? ''}${chunk.toString()}`;
      continue;
    }
    if (owed) yield Buffer.from([COMMA]);
    owed = false;
    let end = chunk.length;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
      seen.rows += 1;
      chunk[at] = COMMA;
      if (seen.rows === limit || at === chunk.length - 1) {
        seen.cut = at < chunk.length - 1;
        if (seen.cut && waits) seen.beyond = chunk.toString('utf8', at + 1);
        end = at;
        owed = true;
        break;
      }
    }
    yield chunk.subarray(0, end);
    if (seen.cut && !waits) return;
  }
}

const QUOTE = 0x22;

/** Passes CSV or NDJSON on and counts its records. A line break inside quotes ends no record. */
export async function* countRecords(source: Readable, kind: 'csv' | 'ndjson', seen: LineCount): AsyncGenerator<Buffer> {
  let quoted = false;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    if (kind === 'ndjson' || (!quoted && !chunk.includes(QUOTE)))
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) seen.rows += 1;
    else
      for (const byte of chunk)
        if (byte === QUOTE) quoted = !quoted;
        else if (byte === NEWLINE && !quoted) seen.rows += 1;
    yield chunk;
  }
}

/** Makes one JSON array from lines of JSON objects. */
export async function* wrapJsonArray(source: Readable, seen: LineCount): AsyncGenerator<Buffer> {
  yield Buffer.from('[');
  yield* joinLines(source, Infinity, seen);
  yield Buffer.from(']\n');
}

const FORMULA = /^[=+\-@\t\r]/;

/** Prints the header line of a CSV file, guarded and quoted like its cells. */
export const printCsvHeader = (columns: readonly { name: string }[], guard: boolean): string =>
  `${columns
    .map(({ name }) => (guard && FORMULA.test(name) ? `'${name}` : name))
    .map((name) => (/[",\r\n]|^\s|\s$|^$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name))
    .join(',')}\n`;

/** Sends the header with the first rows, or at the end when there are none. So a failure before the first row can still become a problem document. */
export const addHeader = (header: string, source: Readable): Readable => {
  let held: string | null = header;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      if (held !== null) this.push(held);
      held = null;
      next(null, chunk);
    },
    flush(done) {
      done(null, held);
    },
  });
  // a failure on either side destroys both, so that a broken stream never looks complete
  pipeline(source, body, () => undefined);
  return body;
};
