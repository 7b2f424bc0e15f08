/**
 * Writes rows as `copy … from stdin (format binary)` takes them: numbers and bytes as they are, so that Postgres need not read any text.
 * https://www.postgresql.org/docs/18/sql-copy.html#SQL-COPY-FILE-FORMATS
 */
const BEGIN = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const NULL = -1;
const END = -1;
const BYTES_OF_UUID = 16;
const DASH = 0x2d;

const nibble = (code: number) => (code < 0x40 ? code - 0x30 : (code & 0x1f) + 9);

export class RowWriter {
  #bytes: Buffer;
  #at = BEGIN.length;

  /** Begins without rows. `size` is about how many bytes there will be. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(size, 1_024));
    BEGIN.copy(this.#bytes);
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe((this.#at + bytes) * 2);
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }

  /** Begins a row of this many fields, which must be written next. */
  row(fields: number): void {
    this.#reserve(2);
    this.#at = this.#bytes.writeInt16BE(fields, this.#at);
  }

  #field(length: number): void {
    this.#reserve(4 + Math.max(length, 0));
    this.#at = this.#bytes.writeInt32BE(length, this.#at);
  }

  nothing(): void {
    this.#field(NULL);
  }

  /** Writes a `bigint`. */
  long(value: number): void {
    this.#field(8);
    this.#at = this.#bytes.writeInt32BE(Math.floor(value / 2 ** 32), this.#at);
    this.#at = this.#bytes.writeUInt32BE(value % 2 ** 32, this.#at);
  }

  text(value: string): void {
    this.#field(Buffer.byteLength(value));
    this.#at += this.#bytes.write(value, this.#at);
  }

  /** Writes a `bytea`, given as an even number of hexadecimal digits. */
  hex(digits: string): void {
    this.#field(digits.length / 2);
    this.#digits(digits);
  }

  uuid(value: string): void {
    this.#field(BYTES_OF_UUID);
    this.#digits(value);
  }

  #digits(digits: string): void {
    const into = this.#bytes;
    let to = this.#at;
    for (let at = 0; at < digits.length; at += 2) {
      if (digits.charCodeAt(at) === DASH) at += 1;
      into[to++] = (nibble(digits.charCodeAt(at)) << 4) | nibble(digits.charCodeAt(at + 1));
    }
    this.#at = to;
  }

  /** Ends the rows and answers their bytes. Nothing may be written afterwards. */
  end(): Buffer {
    this.row(END);
    return this.#bytes.subarray(0, this.#at);
  }
}
