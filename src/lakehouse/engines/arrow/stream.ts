/** Writes rows as an Arrow IPC stream: the schema, batches of bounded size, the end. Bytes are handed out as they are made. */
import { RecordBatch, RecordBatchStreamWriter, Schema, Struct, makeData } from 'apache-arrow';
import type { NamedType } from '../../terms/warehouse.ts';
import { makeArrowColumn, makeArrowField, type ArrowColumn } from './columns.ts';

const MOST_ROWS = 16_384;
const MOST_BYTES = 4_194_304;
/** The most bytes of one piece of a batch. The C library maps memory of 256 KB and more anew each time, which took three times as long as to copy it. */
const PIECE_BYTES = 196_608;

/** The library's writer, changed so that it keeps its bytes until they are taken. */
class Bytes extends RecordBatchStreamWriter {
  #written: Uint8Array[] = [];

  protected override _write(chunk: Parameters<RecordBatchStreamWriter['_write']>[0]): this {
    const view = chunk as unknown as ArrayBufferView;
    if (view.byteLength > 0) this.#written.push(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return this;
  }

  taken(): Buffer[] {
    let left = this.#written.reduce((bytes, { length }) => bytes + length, 0);
    const pieces: Buffer[] = [];
    let at = 0;
    for (const each of this.#written)
      for (let from = 0; from < each.length;) {
        let last = pieces.at(-1);
        if (!last || at === last.length) {
          pieces.push((last = Buffer.allocUnsafeSlow(Math.min(left, PIECE_BYTES))));
          at = 0;
        }
        const part = each.subarray(from, from + last.length - at);
        last.set(part, at);
        at += part.length;
        from += part.length;
        left -= part.length;
      }
    this.#written = [];
    return pieces;
  }
}

export class ArrowStream {
  /** The columns of the batch that is being filled. All must have equally many rows when `take` is called. */
  readonly columns: readonly ArrowColumn[];
  /** Rows of the batches that were taken. */
  rows = 0;
  readonly #schema: Schema;
  readonly #writer = new Bytes();

  constructor(types: readonly NamedType[]) {
    this.columns = types.map(({ type }) => makeArrowColumn(type));
    this.#schema = new Schema(types.map(({ name, type }, index) => makeArrowField(name, type, this.#column(index))));
  }

  #column(index: number): ArrowColumn {
    const column = this.columns[index];
    if (!column) throw new RangeError(`There is no column ${index}.`);
    return column;
  }

  /** The bytes before the first batch. */
  start(): Buffer[] {
    this.#writer.reset(undefined, this.#schema);
    return this.#writer.taken();
  }

  /** Whether the batch has reached its largest size. */
  get isFull(): boolean {
    const [first] = this.columns;
    return (first?.length ?? 0) >= MOST_ROWS || this.columns.reduce((bytes, { size }) => bytes + size, 0) >= MOST_BYTES;
  }

  /** Takes the bytes of the batch, in pieces, and begins another batch. Answers none when the batch has no rows. */
  take(): Buffer[] {
    const length = this.columns[0]?.length ?? 0;
    if (length === 0) return [];
    const children = this.columns.map((column) => column.finish());
    const data = makeData({ type: new Struct(this.#schema.fields), length, nullCount: 0, children });
    this.#writer.write(new RecordBatch(this.#schema, data));
    this.rows += length;
    const pieces = this.#writer.taken();
    for (const column of this.columns) column.clear();
    return pieces;
  }

  /** The bytes after the last batch. */
  end(): Buffer[] {
    this.#writer.finish();
    return this.#writer.taken();
  }
}
