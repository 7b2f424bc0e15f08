import type { Encoding } from '../../typing/readings.ts';
import type { ReadAhead } from '../../record-writer.ts';

/** What stands for bytes that are no character of the encoding. */
const REPLACEMENT = '\ufffd';

const MARKS: readonly { encoding: Encoding; bytes: readonly number[] }[] = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
];

/** Finds the encoding of a file by the mark at its beginning. */
const findMarked = (head: Buffer): Encoding | undefined =>
  MARKS.find(({ bytes }) => bytes.every((byte, at) => head[at] === byte))?.encoding;

/** Reads a file in pieces of UTF-8, whatever its encoding. A mark at its beginning counts more than what was told. */
export class DecodedFile {
  readonly #file: ReadAhead;
  #decoder: TextDecoder | undefined;
  #first: Buffer | undefined;
  encoding: Encoding;

  constructor(file: ReadAhead, told: Encoding = 'utf-8') {
    this.#file = file;
    this.encoding = told;
  }

  /** The first piece as it lies in the file, whose mark tells the encoding. `more` answers it again. */
  async peek(): Promise<Buffer> {
    this.#first = await this.#file.more();
    this.encoding = findMarked(this.#first) ?? this.encoding;
    if (this.encoding !== 'utf-8') this.#decoder = new TextDecoder(this.encoding, { ignoreBOM: true });
    return this.#first;
  }

  /** The next piece; an empty one at the end. */
  async more(): Promise<Buffer> {
    const raw = this.#first ?? (await this.#file.more());
    this.#first = undefined;
    return this.#decoder ? this.#decode(this.#decoder, raw) : raw;
  }

  /** Whether bytes of a piece hold what could not be decoded. Those of a file in UTF-8 are not decoded, and are never said to. */
  isBroken(bytes: Buffer): boolean {
    return this.#decoder !== undefined && bytes.includes(REPLACEMENT);
  }

  /** Decodes a piece, with those after it where it holds but a part of a character. */
  async #decode(decoder: TextDecoder, raw: Buffer): Promise<Buffer> {
    let piece = raw;
    for (;;) {
      const isLast = piece.length === 0;
      const text = decoder.decode(piece, { stream: !isLast });
      if (isLast || text !== '') return Buffer.from(text);
      piece = await this.#file.more();
    }
  }
}
