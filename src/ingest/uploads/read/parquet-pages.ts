/** Measures what a Parquet file unpacks to, by its footer and by the header of each of its pages. No page is unpacked. */
import type { FileHandle } from 'node:fs/promises';
import { LIST, I32, I64, NotParquet, STRUCT, ThriftReader } from '../../../lakehouse/terms/thrift.ts';

interface Chunk {
  rows: number;
  values: number;
  unpackedBytes: number;
  packedBytes: number;
  start: number;
}

/** List elements of a footer at most: each costs the engine that reads it up to a kilobyte. */
const MAX_ELEMENTS = 400_000;
const MAX_FOOTER_BYTES = 64 * 1_048_576;
/** Bytes that are read of a page header at first. It can be longer, because it has statistics, and those have values. */
const HEADER_BYTES = 4_096;
const MAX_HEADER_BYTES = 16 * 1_048_576;
/** How many pages a file may have in any case, and for how many of its bytes one more: to look at a page costs as much as to look at thousands of bytes. */
const ANY_PAGES = 10_000;
const BYTES_OF_PAGE = 64;

function readColumn(reader: ThriftReader): Chunk {
  const chunk: Chunk = { rows: 0, values: 0, unpackedBytes: 0, packedBytes: 0, start: 0 };
  let dictionary = 0;
  reader.struct((id, type) => {
    if (id !== 3 || type !== STRUCT) return false;
    reader.struct((inner, kind) => {
      if (kind !== I64) return false;
      if (inner === 5) chunk.values = reader.number();
      else if (inner === 6) chunk.unpackedBytes = reader.number();
      else if (inner === 7) chunk.packedBytes = reader.number();
      else if (inner === 9) chunk.start = reader.number();
      else if (inner === 11) dictionary = reader.number();
      else return false;
      return true;
    });
    return true;
  });
  if (dictionary >= 4) chunk.start = Math.min(chunk.start, dictionary);
  return chunk;
}

/** Levels of nested columns at most: the engine calls itself for each, and where its stack ends the process does. */
const MAX_NESTING = 200;

/** Passes over the columns of a file, and answers how many there are at the top. */
function passSchema(reader: ThriftReader): number {
  let columns = 0;
  /** How many children each open group still waits for. An element stands before its children. */
  const open: number[] = [];
  reader.list(() => {
    let children = 0;
    reader.struct((id, type) => {
      if (id !== 5 || type !== I32) return false;
      children = reader.number();
      return true;
    });
    if (open.length === 0) columns = Math.max(columns, children);
    while (open.at(-1) === 0) open.pop();
    if (open.length > 0) open.push((open.pop() ?? 0) - 1);
    if (children > 0) open.push(children);
    if (open.length > MAX_NESTING) throw new NotParquet('its columns are nested too deeply');
  });
  return columns;
}

async function readFooter(handle: FileHandle, size: number) {
  const tail = Buffer.alloc(4);
  await handle.read(tail, 0, 4, size - 8);
  const length = tail.readUInt32LE();
  if (length > size - 12 || length > MAX_FOOTER_BYTES) throw new NotParquet('its footer is too long');
  const footer = Buffer.alloc(length);
  await handle.read(footer, 0, length, size - 8 - length);
  const reader = new ThriftReader(footer, MAX_ELEMENTS);
  const chunks: Chunk[] = [];
  let said = 0;
  let rows = 0;
  let columns = 0;
  reader.struct((id, type) => {
    if (id === 2 && type === LIST) columns = Math.max(columns, passSchema(reader));
    else if (id === 3 && type === I64) said = reader.number();
    else if (id === 4 && type === LIST)
      reader.list(() => {
        const first = chunks.length;
        let own = 0;
        reader.struct((inner, kind) => {
          if (inner === 1 && kind === LIST) reader.list(() => chunks.push(readColumn(reader)));
          else if (inner === 3 && kind === I64) own = reader.number();
          else return false;
          return true;
        });
        rows += own;
        for (const chunk of chunks.slice(first)) chunk.rows = own;
      });
    else return false;
    return true;
  });
  if (rows !== said) throw new NotParquet('it does not know how many rows it has');
  return { rows, columns, chunks };
}

interface Page {
  values: number;
  unpackedBytes: number;
  packedBytes: number;
}

function readHeader(bytes: Buffer): Page & { headerBytes: number } {
  const reader = new ThriftReader(bytes, MAX_ELEMENTS);
  const page: Page = { values: 0, unpackedBytes: 0, packedBytes: 0 };
  const counted = (inner: number, kind: number) => {
    if (inner !== 1 || kind !== I32) return false;
    page.values = reader.number();
    return true;
  };
  reader.struct((id, type) => {
    if (id === 2 && type === I32) page.unpackedBytes = reader.number();
    else if (id === 3 && type === I32) page.packedBytes = reader.number();
    else if ((id === 5 || id === 8) && type === STRUCT) reader.struct(counted);
    else return false;
    return true;
  });
  if (page.unpackedBytes < 0 || page.packedBytes < 0 || page.values < 0) throw new NotParquet('a page has less than nothing in it');
  return { ...page, headerBytes: reader.at };
}

async function pageAt(handle: FileHandle, at: number, room: Buffer): Promise<Page & { headerBytes: number }> {
  const { bytesRead } = await handle.read(room, 0, HEADER_BYTES, at);
  try {
    return readHeader(room.subarray(0, bytesRead));
  } catch (error) {
    if (!(error instanceof NotParquet) || bytesRead < HEADER_BYTES) throw error;
    const more = Buffer.alloc(MAX_HEADER_BYTES);
    return readHeader(more.subarray(0, (await handle.read(more, 0, MAX_HEADER_BYTES, at)).bytesRead));
  }
}

export interface Unpacked {
  rows: number;
  /** Columns, not those inside of nested ones. */
  columns: number;
  /** Cells, those inside of nested values included, and nulls. */
  values: number;
  /** Bytes as encoded, before compression. The values of a dictionary come to more where they are used. */
  bytes: number;
}

/**
 * Adds up what a Parquet file unpacks to: the larger of what its footer says and what its pages say, since either may lie. Stops as soon as `isEnough` says
 * so of what was found so far. Throws NotParquet when footer or pages cannot be followed.
 */
export async function measureParquet(handle: FileHandle, size: number, isEnough: (soFar: Unpacked) => boolean): Promise<Unpacked> {
  const { rows, columns, chunks } = await readFooter(handle, size);
  const total: Unpacked = { rows, columns, values: 0, bytes: 0 };
  for (const chunk of chunks) {
    total.values += chunk.values;
    total.bytes += chunk.unpackedBytes;
  }
  const room = Buffer.alloc(HEADER_BYTES);
  let pagesLeft = ANY_PAGES + size / BYTES_OF_PAGE;
  const walked: Unpacked = { rows, columns, values: 0, bytes: 0 };
  for (const chunk of chunks) {
    if (isEnough(total) || isEnough(walked)) break;
    let at = chunk.start;
    for (let values = 0; values < Math.max(chunk.values, chunk.rows) || at < chunk.start + chunk.packedBytes;) {
      if ((pagesLeft -= 1) < 0) throw new NotParquet('it has too many pages');
      const page = await pageAt(handle, at, room);
      values += page.values;
      walked.values += page.values;
      walked.bytes += page.unpackedBytes + page.headerBytes;
      at += page.headerBytes + page.packedBytes;
      if (isEnough(walked)) break;
    }
  }
  return { rows, columns, values: Math.max(total.values, walked.values), bytes: Math.max(total.bytes, walked.bytes) };
}
