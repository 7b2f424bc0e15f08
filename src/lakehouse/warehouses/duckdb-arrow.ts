/** What DuckDB hands out, chunk by chunk, into Arrow columns: its vectors have nearly the same layout, so that most of it is copied as it lies. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import type { Vector } from '@duckdb/node-bindings';
import type { ColumnType } from '../catalog.ts';
import { BooleanColumn, FlatColumn, ListColumn, TextColumn } from './arrow-columns.ts';
import type { ArrowColumn, StructColumn } from './arrow-columns.ts';

/** A row of text: its length, then the text itself up to so many bytes, else its address. */
const TEXT_WIDTH = 16;
const SHORT = 12;

/** Rows `from` to `from + count` of a vector; `valid` has a bit a row from the vector's beginning, or is null when all have values. */
interface Rows {
  vector: Vector;
  type: ColumnType;
  valid: Uint8Array | null;
  from: number;
  count: number;
}

/** Memory of the engine's that has been copied. The collector counts it as the service's own, and would go through everything for the sake of it. */
const letGo = (view: Uint8Array): void => {
  const { buffer } = view;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === view.byteLength) buffer.transfer(0);
};

const isValid = (valid: Uint8Array | null, row: number) => valid === null || (((valid[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;

// the driver answers null where every row has a value, which its types do not say
const validityOf = (vector: Vector, rows: number): Uint8Array | null => bindings.vector_get_validity(vector, Math.ceil(rows / 64) * 8);

const rowsOf = (vector: Vector, type: ColumnType, from: number, count: number): Rows => ({
  vector,
  type,
  valid: validityOf(vector, from + count),
  from,
  count,
});

/** Decimals lie in 2, 4, 8 or 16 bytes by their precision, and go out in 16. */
const storedWidth = (type: ColumnType): number | null => {
  if (type.kind !== 'decimal') return null;
  return type.precision <= 4 ? 2 : type.precision <= 9 ? 4 : type.precision <= 18 ? 8 : 16;
};

const widened = (column: FlatColumn, data: Uint8Array, width: number, { from, count }: Rows): void => {
  const at = column.values.take(count * 16);
  const target = new DataView(column.values.bytes.buffer, at, count * 16);
  const stored = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let row = 0; row < count; row += 1) {
    const place = (from + row) * width;
    const value =
      width === 2
        ? BigInt(stored.getInt16(place, true))
        : width === 4
          ? BigInt(stored.getInt32(place, true))
          : stored.getBigInt64(place, true);
    target.setBigInt64(row * 16, value, true);
    target.setBigInt64(row * 16 + 8, value < 0n ? -1n : 0n, true);
  }
};

const flat = (column: FlatColumn, rows: Rows): void => {
  const width = storedWidth(rows.type) ?? column.width;
  const data = bindings.vector_get_data(rows.vector, (rows.from + rows.count) * width);
  if (width === column.width) column.values.copy(data.subarray(rows.from * width));
  else widened(column, data, width, rows);
  letGo(data);
};

const booleans = (column: BooleanColumn, { vector, from, count }: Rows): void => {
  const data = bindings.vector_get_data(vector, from + count);
  for (let row = from; row < from + count; row += 1) column.values.push(data[row] === 1);
  letGo(data);
};

/** Memory between two texts that lie closer than this is mapped: every page of it holds a byte of one of them. */
const PAGE = 4_096;

/** Memory that holds one or more texts. */
interface Window {
  start: number;
  end: number;
  bytes: Uint8Array | null;
}

const addressOf = (words: Uint32Array, row: number): number => (words[row * 4 + 2] ?? 0) + (words[row * 4 + 3] ?? 0) * 2 ** 32;

/**
 * Where the long texts of rows lie, in few pieces: a call of the driver for each text costs more than to copy it. The answer has the piece of every
 * row whose text is long.
 */
const windowsOf = (words: Uint32Array, valid: Uint8Array | null, from: number, count: number): (Window | undefined)[] => {
  const windows: (Window | undefined)[] = [];
  let window: Window | undefined;
  for (let row = from; row < from + count; row += 1) {
    const length = words[row * 4] ?? 0;
    if (length <= SHORT || !isValid(valid, row)) continue;
    const start = addressOf(words, row);
    const end = start + length;
    if (window && start < window.end + PAGE && end > window.start - PAGE) {
      if (start < window.start) window.start = start;
      if (end > window.end) window.end = end;
    } else window = { start, end, bytes: null };
    windows[row - from] = window;
  }
  return windows;
};

const POINTER = new ArrayBuffer(8);

const ADDRESS = new BigUint64Array(POINTER);

const opened = (window: Window): Uint8Array => {
  if (window.bytes) return window.bytes;
  ADDRESS[0] = BigInt(window.start);
  return (window.bytes = bindings.get_data_from_pointer(POINTER, 0, window.end - window.start));
};

/** Long texts that follow each other, where they lie and where they go, copied at once: the engine nearly always lays them so. */
class Run {
  readonly #to: Uint8Array;
  #from: Uint8Array | null = null;
  #start = 0;
  #end = 0;
  #at = 0;

  constructor(to: Uint8Array) {
    this.#to = to;
  }

  add(from: Uint8Array, place: number, length: number, at: number): void {
    if (from !== this.#from || place !== this.#end || at !== this.#at + place - this.#start) {
      this.flush();
      this.#from = from;
      this.#start = place;
      this.#at = at;
    }
    this.#end = place + length;
  }

  flush(): void {
    if (this.#from) this.#to.set(this.#from.subarray(this.#start, this.#end), this.#at);
    this.#from = null;
  }
}

const texts = ({ values, offsets }: TextColumn, { vector, valid, from, count }: Rows): void => {
  const data = bindings.vector_get_data(vector, (from + count) * TEXT_WIDTH);
  const words = new Uint32Array(data.buffer, data.byteOffset, (from + count) * 4);
  const windows = windowsOf(words, valid, from, count);
  let total = 0;
  for (let row = from; row < from + count; row += 1) if (isValid(valid, row)) total += words[row * 4] ?? 0;
  let at = values.take(total);
  const { bytes } = values;
  const run = new Run(bytes);
  const ends = offsets.reserve(count);
  const first = ends.length - count - from;
  for (let row = from; row < from + count; row += 1) {
    if (isValid(valid, row)) {
      const length = words[row * 4] ?? 0;
      const window = length > SHORT ? windows[row - from] : undefined;
      if (window) run.add(opened(window), addressOf(words, row) - window.start, length, at);
      else {
        const place = row * TEXT_WIDTH + 4;
        // a call for so few bytes costs more than they do
        for (let each = 0; each < length; each += 1) bytes[at + each] = data[place + each] ?? 0;
      }
      at += length;
    }
    ends[first + row] = at;
  }
  run.flush();
  for (const window of new Set(windows)) if (window?.bytes) letGo(window.bytes);
  letGo(data);
};

const lists = (column: ListColumn, element: ColumnType, { vector, valid, from, count }: Rows): void => {
  const data = bindings.vector_get_data(vector, (from + count) * 16);
  const entries = new BigUint64Array(data.buffer, data.byteOffset, (from + count) * 2);
  const child = bindings.list_vector_get_child(vector);
  // elements of rows that follow each other nearly always do so too: they are copied at once
  let [start, end] = [0, 0];
  const flush = () => {
    if (end > start) append(column.element, rowsOf(child, element, start, end - start));
  };
  let length = column.element.length;
  for (let row = from; row < from + count; row += 1) {
    const size = isValid(valid, row) ? Number(entries[row * 2 + 1]) : 0;
    if (size > 0) {
      const first = Number(entries[row * 2]);
      if (first !== end) {
        flush();
        start = first;
      }
      end = first + size;
    }
    column.offsets.push((length += size));
  }
  flush();
};

const structs = (column: StructColumn, type: Extract<ColumnType, { kind: 'struct' }>, { vector, valid, from, count }: Rows): void => {
  const children = type.fields.map((_field, index) => bindings.struct_vector_get_child(vector, index));
  // what a missing struct's members hold is anything
  for (let start = from; start < from + count;) {
    const present = isValid(valid, start);
    let end = start + 1;
    while (end < from + count && isValid(valid, end) === present) end += 1;
    for (const [index, { column: member }] of column.members.entries()) {
      const [child, field] = [children[index], type.fields[index]];
      if (!present || !child || !field) member.nulls(end - start);
      else append(member, rowsOf(child, field.type, start, end - start));
    }
    start = end;
  }
};

function append(column: ArrowColumn, rows: Rows): void {
  if (column instanceof FlatColumn) flat(column, rows);
  else if (column instanceof BooleanColumn) booleans(column, rows);
  else if (column instanceof TextColumn) texts(column, rows);
  else if (column instanceof ListColumn) {
    if (rows.type.kind === 'array') lists(column, rows.type.element, rows);
  } else if (rows.type.kind === 'struct') structs(column, rows.type, rows);
  if (rows.valid) {
    column.valid.copy(rows.valid, rows.from, rows.count);
    letGo(rows.valid);
  } else column.valid.fill(true, rows.count);
}

/** Adds the first `count` rows of a chunk to columns; the chunk's first columns have these types, in this order. */
export const appendChunk = (
  columns: readonly ArrowColumn[],
  types: readonly { type: ColumnType }[],
  chunk: DuckDBDataChunk,
  count: number,
): void => {
  for (const [index, column] of columns.entries()) {
    const type = types[index]?.type;
    if (type) append(column, rowsOf(bindings.data_chunk_get_vector(chunk.chunk, index), type, 0, count));
  }
};

/** Whether the last row of a chunk is true in a column without nulls. */
export const isEnd = (chunk: DuckDBDataChunk, column: number): boolean => {
  const { rowCount } = chunk;
  return bindings.vector_get_data(bindings.data_chunk_get_vector(chunk.chunk, column), rowCount)[rowCount - 1] === 1;
};
