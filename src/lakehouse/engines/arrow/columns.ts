/** Builds the columns of an Arrow batch. Their buffers already have the layout that is sent, so that the engine's bytes are copied and never become values. */
import {
  DataType,
  DateDay,
  Decimal,
  Bool,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  Struct,
  TimestampMicrosecond,
  Utf8,
  makeData,
} from 'apache-arrow';
import type { Data } from 'apache-arrow';
import type { ColumnType } from '../../terms/catalog.ts';
import { printType } from '../../terms/types.ts';
import { Bits, Growing } from './memory.ts';

/** A column of any type. It knows which rows have a value, and about how many bytes it holds. */
abstract class Base<T extends DataType> {
  readonly type: T;
  readonly valid = new Bits();

  constructor(type: T) {
    this.type = type;
  }

  get length(): number {
    return this.valid.length;
  }

  /** Adds this many missing values. */
  abstract nulls(count: number): void;
  abstract readonly size: number;
  /** Answers the column's own buffers, which stay valid until `clear`. */
  abstract finish(): Data<T>;
  /** What holds the column's values. */
  protected abstract readonly parts: readonly { clear(): void }[];

  /** Removes all rows and keeps the memory. New memory for each batch cost more than to copy everything into it. */
  clear(): void {
    this.valid.clear();
    for (const part of this.parts) part.clear();
  }

  protected get base() {
    return { length: this.valid.length, nullCount: this.valid.zeros, nullBitmap: this.valid.zeros === 0 ? undefined : this.valid.finish() };
  }
}

type FlatType = Int32 | Int64 | Float64 | DateDay | TimestampMicrosecond | Decimal;

const typed = (type: FlatType, { bytes, length }: Growing) => {
  const { buffer } = bytes;
  if (DataType.isDecimal(type)) return new Uint32Array(buffer, 0, length / 4);
  if (DataType.isFloat(type)) return new Float64Array(buffer, 0, length / 8);
  if (type instanceof Int32 || DataType.isDate(type)) return new Int32Array(buffer, 0, length / 4);
  return new BigInt64Array(buffer, 0, length / 8);
};

/** A column of values that all have the same width. */
export class FlatColumn extends Base<FlatType> {
  readonly width: number;
  readonly values = new Growing(32_768);
  protected readonly parts = [this.values];

  constructor(type: FlatType) {
    super(type);
    this.width = DataType.isDecimal(type) ? 16 : type instanceof Int32 || DataType.isDate(type) ? 4 : 8;
  }

  get size(): number {
    return this.values.length;
  }

  nulls(count: number): void {
    this.valid.fill(false, count);
    this.values.bytes.fill(0, this.values.take(count * this.width), this.values.length);
  }

  finish(): Data<FlatType> {
    // the library's types want each type paired with its own kind of array
    return makeData({ ...this.base, type: this.type as Int64, data: typed(this.type, this.values) as BigInt64Array });
  }
}

export class BooleanColumn extends Base<Bool> {
  readonly values = new Bits();
  protected readonly parts = [this.values];

  constructor() {
    super(new Bool());
  }

  get size(): number {
    return this.values.length >> 3;
  }

  nulls(count: number): void {
    this.valid.fill(false, count);
    this.values.fill(false, count);
  }

  finish(): Data<Bool> {
    return makeData({ ...this.base, type: this.type, data: this.values.finish() });
  }
}

class Offsets {
  readonly #store = new Growing(8_192);
  #view: Int32Array;
  #count = 1;

  constructor() {
    this.#store.take(4);
    this.#view = new Int32Array(this.#store.bytes.buffer);
  }

  push(end: number): void {
    this.reserve(1)[this.#count - 1] = end;
  }

  /** Makes room for the ends of this many rows. They go into the last `count` places of the answer. */
  reserve(count: number): Int32Array {
    this.#store.take(4 * count);
    if (this.#view.buffer !== this.#store.bytes.buffer) this.#view = new Int32Array(this.#store.bytes.buffer);
    this.#count += count;
    return this.#view.subarray(0, this.#count);
  }

  finish(): Int32Array {
    return this.#view.subarray(0, this.#count);
  }

  clear(): void {
    this.#store.clear();
    this.#store.take(4);
    this.#count = 1;
  }
}

export class TextColumn extends Base<Utf8> {
  readonly offsets = new Offsets();
  readonly values = new Growing(65_536);
  protected readonly parts = [this.offsets, this.values];

  constructor() {
    super(new Utf8());
  }

  get size(): number {
    return this.values.length;
  }

  nulls(count: number): void {
    this.valid.fill(false, count);
    for (let each = 0; each < count; each += 1) this.offsets.push(this.values.length);
  }

  finish(): Data<Utf8> {
    return makeData({
      ...this.base,
      type: this.type,
      valueOffsets: this.offsets.finish(),
      data: this.values.bytes.subarray(0, this.values.length),
    });
  }
}

export class ListColumn extends Base<List> {
  readonly offsets = new Offsets();
  readonly element: ArrowColumn;
  protected readonly parts: readonly { clear(): void }[];

  constructor(type: List, element: ArrowColumn) {
    super(type);
    this.element = element;
    this.parts = [this.offsets, element];
  }

  get size(): number {
    return this.element.size;
  }

  nulls(count: number): void {
    this.valid.fill(false, count);
    for (let each = 0; each < count; each += 1) this.offsets.push(this.element.length);
  }

  finish(): Data<List> {
    return makeData({ ...this.base, type: this.type, valueOffsets: this.offsets.finish(), child: this.element.finish() });
  }
}

export class StructColumn extends Base<Struct> {
  readonly members: readonly { name: string; column: ArrowColumn }[];
  protected readonly parts: readonly ArrowColumn[];

  constructor(type: Struct, members: readonly { name: string; column: ArrowColumn }[]) {
    super(type);
    this.members = members;
    this.parts = members.map(({ column }) => column);
  }

  get size(): number {
    return this.members.reduce((size, { column }) => size + column.size, 0);
  }

  nulls(count: number): void {
    this.valid.fill(false, count);
    for (const { column } of this.members) column.nulls(count);
  }

  finish(): Data<Struct> {
    return makeData({ ...this.base, type: this.type, children: this.members.map(({ column }) => column.finish()) });
  }
}

export type ArrowColumn = FlatColumn | BooleanColumn | TextColumn | ListColumn | StructColumn;

/** Makes an empty column for values of a type. JSON values of any shape are sent as their text. */
export const makeArrowColumn = (type: ColumnType): ArrowColumn => {
  switch (type.kind) {
    case 'boolean':
      return new BooleanColumn();
    case 'int':
      return new FlatColumn(new Int32());
    case 'bigint':
      return new FlatColumn(new Int64());
    case 'double':
      return new FlatColumn(new Float64());
    case 'decimal':
      return new FlatColumn(new Decimal(type.scale, type.precision));
    case 'date':
      return new FlatColumn(new DateDay());
    case 'timestamp':
      return new FlatColumn(new TimestampMicrosecond('UTC'));
    case 'timestamp_ntz':
      return new FlatColumn(new TimestampMicrosecond());
    case 'string':
    case 'variant':
      return new TextColumn();
    case 'array': {
      const element = makeArrowColumn(type.element);
      return new ListColumn(new List(new Field('item', element.type as DataType, true)), element);
    }
    case 'struct': {
      const members = type.fields.map(({ name, type: inner }) => ({ name, column: makeArrowColumn(inner) }));
      const fields = members.map(({ name, column }) => new Field(name, column.type as DataType, true));
      return new StructColumn(new Struct(fields), members);
    }
  }
};

/** Makes a column's field. Its metadata names the type as the interface prints it. */
export const makeArrowField = (name: string, type: ColumnType, column: ArrowColumn): Field =>
  new Field(name, column.type as DataType, true, new Map([['type_text', printType(type)]]));
