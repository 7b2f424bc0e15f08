import { isUtf8 } from 'node:buffer';

/** How much more room than needed a window makes: the next rest of a record may be longer. */
const SPARE = 1.25;

/** Bytes of a file in a window that moves on; what lies before `start` is let go, and written over. */
export class Window {
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  /** Where `bytes` begin in the file. */
  base = 0;
  final = false;
  /** Whether all that is in the window is text. */
  clean = true;
  readonly #read: () => Promise<Buffer>;
  readonly #isText: (bytes: Buffer) => boolean;
  #room: Buffer = this.bytes;

  constructor(read: () => Promise<Buffer>, isText: (bytes: Buffer) => boolean = isUtf8) {
    this.#read = read;
    this.#isText = isText;
  }

  async more(): Promise<void> {
    const piece = await this.#read();
    const rest = this.bytes.subarray(this.start);
    const length = rest.length + piece.length;
    if (length > this.#room.length) this.#room = Buffer.allocUnsafe(Math.ceil(length * SPARE));
    rest.copy(this.#room);
    piece.copy(this.#room, rest.length);
    this.bytes = this.#room.subarray(0, length);
    this.base += this.start;
    this.start = 0;
    this.final ||= piece.length === 0;
    this.clean = this.#isText(this.bytes);
  }
}
