/** Reads and writes whole structs of Thrift's compact protocol, as far as footers of Parquet files use it. A struct is a list of fields with numbers. */
import { BINARY, BYTE, DOUBLE, FALSE, LIST, SET, STRUCT, TRUE, type ThriftReader } from '../../terms/thrift.ts';

export interface ThriftList {
  type: number;
  items: ThriftValue[];
}

/** A value: an integer of any width, the bytes of a text or a double, a boolean, a list, or a struct as its fields. */
export type ThriftValue = bigint | boolean | Buffer | ThriftList | ThriftStruct;

export interface ThriftField {
  id: number;
  type: number;
  value: ThriftValue;
}

/** Fields in the order in which they stand. */
export type ThriftStruct = ThriftField[];

export const findField = (of: ThriftStruct, id: number): ThriftField | undefined => of.find((each) => each.id === id);

/** The whole number of a field; undefined where there is no such field. */
export const findNumber = (of: ThriftStruct, id: number): number | undefined => {
  const value = findField(of, id)?.value;
  return typeof value === 'bigint' ? Number(value) : undefined;
};

/** The bytes of a text or a double; undefined where there is no such field. */
export const findBytes = (of: ThriftStruct, id: number): Buffer | undefined => {
  const value = findField(of, id)?.value;
  return Buffer.isBuffer(value) ? value : undefined;
};

/** The structs of a list field; none where there is no such field. */
export const listStructs = (of: ThriftStruct, id: number): ThriftStruct[] => {
  const value = findField(of, id)?.value;
  if (typeof value !== 'object' || !('items' in value)) return [];
  return value.items.filter((item) => Array.isArray(item));
};

/** Reads a struct with all of its fields. Throws on types of the protocol that footers do not use. */
export function readStruct(reader: ThriftReader): ThriftStruct {
  const fields: ThriftStruct = [];
  reader.struct((id, type) => {
    fields.push({ id, type, value: readValue(reader, type) });
    return true;
  });
  return fields;
}

function readValue(reader: ThriftReader, type: number): ThriftValue {
  if (type === TRUE || type === FALSE) return type === TRUE;
  if (type === BYTE) return BigInt(reader.byte());
  if (type > BYTE && type < DOUBLE) return BigInt(reader.number());
  if (type === DOUBLE) return reader.take(8);
  if (type === BINARY) return reader.take(reader.varint());
  if (type === STRUCT) return readStruct(reader);
  if (type !== LIST && type !== SET) throw new Error(`The footer holds a value of type ${type}.`);
  const items: ThriftValue[] = [];
  return { type: reader.list((each) => items.push(each <= FALSE ? reader.byte() === TRUE : readValue(reader, each))), items };
}

export class CompactWriter {
  readonly #parts: Buffer[] = [];

  #byte(byte: number): void {
    this.#parts.push(Buffer.from([byte]));
  }

  #varint(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.#parts.push(Buffer.from(bytes));
  }

  #integer(value: bigint): void {
    this.#varint(value < 0n ? -value * 2n - 1n : value * 2n);
  }

  #list({ type, items }: ThriftList): void {
    this.#byte((Math.min(items.length, 15) << 4) | type);
    if (items.length >= 15) this.#varint(BigInt(items.length));
    for (const item of items)
      if (typeof item === 'boolean') this.#byte(item ? TRUE : FALSE);
      else this.#value(type, item);
  }

  #value(type: number, value: ThriftValue): void {
    if (typeof value === 'bigint') {
      if (type === BYTE) this.#byte(Number(value));
      else this.#integer(value);
    } else if (Buffer.isBuffer(value)) {
      if (type === BINARY) this.#varint(BigInt(value.length));
      this.#parts.push(value);
    } else if (Array.isArray(value)) this.struct(value);
    else if (typeof value === 'object') this.#list(value);
  }

  struct(fields: ThriftStruct): this {
    let last = 0;
    for (const { id, type, value } of fields) {
      const step = id - last;
      const kind = typeof value === 'boolean' ? (value ? TRUE : FALSE) : type;
      if (step > 0 && step <= 15) this.#byte((step << 4) | kind);
      else {
        this.#byte(kind);
        this.#integer(BigInt(id));
      }
      this.#value(type, value);
      last = id;
    }
    this.#byte(0);
    return this;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
