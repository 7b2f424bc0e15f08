/** Holds the memory of Arrow columns: bytes and bits that grow, are sent, and then start again from the beginning. */

/** Bytes in a buffer that doubles when it is full. */
export class Growing {
  bytes: Uint8Array;
  length = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Reserves the next `count` bytes and answers where they begin. The `spare` bytes behind them may be written to as well. */
  take(count: number, spare = 0): number {
    const at = this.length;
    this.length += count;
    if (this.length + spare > this.bytes.length) {
      const wider = new Uint8Array(Math.max(this.length + spare, 2 * this.bytes.length));
      wider.set(this.bytes.subarray(0, at));
      this.bytes = wider;
    }
    return at;
  }

  copy(from: Uint8Array): void {
    const at = this.take(from.length);
    this.bytes.set(from, at);
  }

  clear(): void {
    this.length = 0;
  }
}

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** Bits, the first in the lowest place of a byte. Unused bits are zero. */
export class Bits {
  readonly #store = new Growing(256);
  length = 0;
  zeros = 0;

  #grow(count: number): number {
    const at = this.length;
    this.length += count;
    const wanted = (this.length + 7) >> 3;
    if (wanted > this.#store.length) this.#store.take(wanted - this.#store.length);
    return at;
  }

  push(bit: boolean): void {
    const at = this.#grow(1);
    if (bit) this.#set(at);
    else this.zeros += 1;
  }

  #set(at: number): void {
    const { bytes } = this.#store;
    bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (1 << (at & 7));
  }

  fill(bit: boolean, count: number): void {
    const at = this.#grow(count);
    if (!bit) {
      this.zeros += count;
      return;
    }
    let each = at;
    for (; each < at + count && (each & 7) !== 0; each += 1) this.#set(each);
    const whole = (at + count) & ~7;
    if (each < whole) this.#store.bytes.fill(0xff, each >> 3, whole >> 3);
    for (each = Math.max(each, whole); each < at + count; each += 1) this.#set(each);
  }

  /** Adds the bits `from` to `from + count` of another bitmap. */
  copy(bits: Uint8Array, from: number, count: number): void {
    const at = this.#grow(count);
    let each = 0;
    if (((at | from) & 7) === 0) {
      const { bytes } = this.#store;
      for (; each + 8 <= count; each += 8) {
        const byte = bits[(from + each) >> 3] ?? 0;
        bytes[(at + each) >> 3] = byte;
        if (byte !== 0xff) this.zeros += 8 - (ONES[byte] ?? 0);
      }
    }
    for (; each < count; each += 1) {
      if (((bits[(from + each) >> 3] ?? 0) >> ((from + each) & 7)) & 1) this.#set(at + each);
      else this.zeros += 1;
    }
  }

  finish(): Uint8Array {
    return this.#store.bytes.subarray(0, this.#store.length);
  }

  clear(): void {
    this.#store.bytes.fill(0, 0, this.#store.length);
    this.#store.clear();
    this.length = 0;
    this.zeros = 0;
  }
}
