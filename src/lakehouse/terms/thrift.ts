/** Thrift's compact protocol, in which Parquet files say what is in them. */

/** The bytes are not those of a Parquet file, or break off. */
export class NotParquet extends Error {}

export const [STOP, TRUE, FALSE, BYTE, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT] = [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12];
const DEPTH = 32;
const MAX_ID = 32_767;

/** Reads Thrift's compact protocol, as far as footers and page headers need it: what is not asked for is passed over and never becomes an object. */
export class ThriftReader {
  readonly #bytes: Buffer;
  /** List elements that may still be met. */
  #elements: number;
  at = 0;

  constructor(bytes: Buffer, elements = Infinity) {
    this.#bytes = bytes;
    this.#elements = elements;
  }

  byte(): number {
    const value = this.#bytes[this.at];
    if (value === undefined) throw new NotParquet('it breaks off');
    this.at += 1;
    return value;
  }

  /** An unsigned number; beyond 2^53 only about right. */
  varint(): number {
    let value = 0;
    for (let factor = 1, count = 0; ; factor *= 128, count += 1) {
      if (count > 9) throw new NotParquet('a number is too long');
      const next = this.byte();
      value += (next & 0x7f) * factor;
      if (next < 0x80) return value;
    }
  }

  number(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Calls `onField` for each field of a struct; what it does not read is passed over. */
  struct(onField: (id: number, type: number) => boolean, depth = 0): void {
    let id = 0;
    for (;;) {
      const head = this.byte();
      const type = head & 0x0f;
      if (type === STOP) return;
      id = head >> 4 === 0 ? this.number() : id + (head >> 4);
      // another reader would cut it to 16 bits, and take it for another field
      if (Math.abs(id) > MAX_ID) throw new NotParquet('it has a field of no known number');
      if (!onField(id, type)) this.#skip(type, depth + 1);
    }
  }

  /** Calls `onElement` for each element of a list, and answers the type of the elements. */
  list(onElement: (type: number) => void): number {
    const head = this.byte();
    const type = head & 0x0f;
    const length = head >> 4 === 15 ? this.varint() : head >> 4;
    this.#elements -= length;
    if (this.#elements < 0) throw new NotParquet('it has too many parts');
    for (let at = 0; at < length; at += 1) onElement(type);
    return type;
  }

  /** The next bytes, which are not copied. */
  take(length: number): Buffer {
    this.at += length;
    if (this.at > this.#bytes.length) throw new NotParquet('it breaks off');
    return this.#bytes.subarray(this.at - length, this.at);
  }

  #skip(type: number, depth: number): void {
    if (depth > DEPTH) throw new NotParquet('it is nested too deeply');
    if (type === TRUE || type === FALSE) return;
    if (type === BYTE) this.take(1);
    else if (type > BYTE && type <= I64) this.varint();
    else if (type === DOUBLE) this.take(8);
    else if (type === BINARY) this.take(this.varint());
    else if (type === LIST || type === SET) this.list((each) => this.#element(each, depth + 1));
    else if (type === MAP) {
      const length = this.varint();
      this.#elements -= length;
      if (this.#elements < 0) throw new NotParquet('it has too many parts');
      const kinds = length === 0 ? 0 : this.byte();
      for (let at = 0; at < length; at += 1) {
        this.#element(kinds >> 4, depth + 1);
        this.#element(kinds & 0x0f, depth + 1);
      }
    } else if (type === STRUCT) this.struct(() => false, depth + 1);
    else throw new NotParquet('it has a field of no known type');
  }

  /** An element of a list, where a truth value has a byte of its own. */
  #element(type: number, depth: number): void {
    if (type === TRUE || type === FALSE) this.take(1);
    else this.#skip(type, depth);
  }
}
