/** Copies DuckDB's rows, chunk by chunk, into Arrow columns. Its vectors have nearly the same layout, so most bytes are copied as they lie. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import type { Vector } from '@duckdb/node-bindings';
import type { ColumnType } from '../../terms/catalog.ts';
import { BooleanColumn, FlatColumn, ListColumn, TextColumn, type ArrowColumn, type StructColumn } from '../arrow/columns.ts';

/** The bytes of one text in a vector: its length, then the text itself if it has at most `SHORT` bytes, else its address. */
const TEXT_WIDTH = 16;
const SHORT = 12;

/** Rows `from` to `from + count` of a vector. `valid` has one bit for each row, from the vector's beginning; it is null when all rows have values. */
interface Rows {
  vector: Vector;
  type: ColumnType;
  valid: Uint8Array | null;
  from: number;
  count: number;
}

/** Detaches memory of the engine that has been copied. The garbage collector would count it as the service's own, and go through everything because of it. */
const letGo = (view: Uint8Array): void => {
  const { buffer } = view;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === view.byteLength) buffer.transfer(0);
};

const isValid = (valid: Uint8Array | null, row: number) => valid === null || (((valid[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;

// the driver answers null when every row has a value, although its types do not say so
const validityOf = (vector: Vector, rows: number): Uint8Array | null => bindings.vector_get_validity(vector, Math.ceil(rows / 64) * 8);

const rowsOf = (vector: Vector, type: ColumnType, from: number, count: number): Rows => ({
  vector,
  type,
  valid: validityOf(vector, from + count),
  from,
  count,
});

/** The bytes in which the engine stores a decimal: 2, 4, 8 or 16 by its precision. Arrow always has 16. Null for other types. */
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

/** Writes zeros in the places of missing values. The engine may have left values of rows there that the caller must not see. */
const blank = ({ values, width }: FlatColumn, { valid, from, count }: Rows): void => {
  if (valid === null) return;
  const first = values.length - count * width;
  for (let start = 0; start < count;) {
    let end = start;
    while (end < count && !isValid(valid, from + end)) end += 1;
    if (end > start) values.bytes.fill(0, first + start * width, first + end * width);
    start = end + 1;
  }
};

const flat = (column: FlatColumn, rows: Rows): void => {
  const width = storedWidth(rows.type) ?? column.width;
  const data = bindings.vector_get_data(rows.vector, (rows.from + rows.count) * width);
  if (width === column.width) column.values.copy(data.subarray(rows.from * width));
  else widened(column, data, width, rows);
  blank(column, rows);
  letGo(data);
};

const booleans = (column: BooleanColumn, { vector, valid, from, count }: Rows): void => {
  const data = bindings.vector_get_data(vector, from + count);
  for (let row = from; row < from + count; row += 1) column.values.push(isValid(valid, row) && data[row] === 1);
  letGo(data);
};

/** The bytes of a page of memory. A smaller gap between two texts can be read with them: it holds no whole page, so none that is not mapped. */
const PAGE = 4_096;

/** Memory that holds one or more texts. */
interface Window {
  start: number;
  end: number;
  bytes: Uint8Array | null;
}

const addressOf = (words: Uint32Array, row: number): number => (words[row * 4 + 2] ?? 0) + (words[row * 4 + 3] ?? 0) * 2 ** 32;

/** Shared by all vectors, one at a time. Memory of its own for each would cost as much as this saves. */
const STARTS = new Float64Array(2_048);

/** Where the texts of a vector lie: the bytes of all together, and for each long text its window and its address. */
interface Laid {
  total: number;
  starts: Float64Array;
  windows: (Window | undefined)[];
}

/** Finds where the texts of rows lie, and puts the long ones into few windows. To call the driver for each text costs more than to copy it. */
const laid = (words: Uint32Array, valid: Uint8Array | null, from: number, count: number): Laid => {
  const windows: (Window | undefined)[] = [];
  const starts = count <= STARTS.length ? STARTS : new Float64Array(count);
  let total = 0;
  let window: Window | undefined;
  for (let row = from; row < from + count; row += 1) {
    if (!isValid(valid, row)) continue;
    const length = words[row * 4] ?? 0;
    total += length;
    if (length <= SHORT) continue;
    const start = addressOf(words, row);
    const end = start + length;
    if (window && start < window.end + PAGE && end > window.start - PAGE) {
      if (start < window.start) window.start = start;
      if (end > window.end) window.end = end;
    } else window = { start, end, bytes: null };
    starts[row - from] = start;
    windows[row - from] = window;
  }
  return { total, starts, windows };
};

const POINTER = new ArrayBuffer(8);

const ADDRESS = new BigUint64Array(POINTER);

const opened = (window: Window): Uint8Array => {
  if (window.bytes) return window.bytes;
  ADDRESS[0] = BigInt(window.start);
  return (window.bytes = bindings.get_data_from_pointer(POINTER, 0, window.end - window.start));
};

const texts = ({ values, offsets }: TextColumn, { vector, valid, from, count }: Rows): void => {
  const data = bindings.vector_get_data(vector, (from + count) * TEXT_WIDTH);
  const words = new Uint32Array(data.buffer, data.byteOffset, (from + count) * 4);
  const { total, starts, windows } = laid(words, valid, from, count);
  let at = values.take(total, SHORT);
  const { bytes } = values;
  const view = new DataView(bytes.buffer);
  const ends = offsets.reserve(count);
  const first = ends.length - count - from;
  // copies long texts at once when they follow each other both in memory and in the column: the engine nearly always lays them so
  let [held, begin, end, to]: [Window | undefined, number, number, number] = [undefined, 0, 0, 0];
  const flush = () => {
    if (held) bytes.set(opened(held).subarray(begin - held.start, end - held.start), to);
  };
  for (let row = from; row < from + count; row += 1) {
    if (isValid(valid, row)) {
      const word = row * 4;
      const length = words[word] ?? 0;
      if (length > SHORT) {
        const window = windows[row - from];
        const start = starts[row - from] ?? 0;
        if (window !== held || start !== end || at !== to + start - begin) {
          flush();
          held = window;
          begin = start;
          to = at;
        }
        end = start + length;
      } else {
        // writes whole words, whose unused bytes the next text overwrites: a call or a loop for so few bytes costs more
        view.setUint32(at, words[word + 1] ?? 0, true);
        if (length > 4) view.setUint32(at + 4, words[word + 2] ?? 0, true);
        if (length > 8) view.setUint32(at + 8, words[word + 3] ?? 0, true);
      }
      at += length;
    }
    ends[first + row] = at;
  }
  flush();
  for (const window of new Set(windows)) if (window?.bytes) letGo(window.bytes);
  letGo(data);
};

const lists = (column: ListColumn, element: ColumnType, { vector, valid, from, count }: Rows): void => {
  const data = bindings.vector_get_data(vector, (from + count) * 16);
  const entries = new BigUint64Array(data.buffer, data.byteOffset, (from + count) * 2);
  const child = bindings.list_vector_get_child(vector);
  // elements of neighbouring rows nearly always follow each other too, and are then copied at once
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
  // the members of a missing struct may hold anything
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

/** Adds the rows of a chunk to columns. `types` are the types of the chunk's columns, in their order. */
export const appendChunk = (columns: readonly ArrowColumn[], types: readonly { type: ColumnType }[], chunk: DuckDBDataChunk): void => {
  const { rowCount } = chunk;
  for (const [index, column] of columns.entries()) {
    const type = types[index]?.type;
    if (type) append(column, rowsOf(bindings.data_chunk_get_vector(chunk.chunk, index), type, 0, rowCount));
  }
};
