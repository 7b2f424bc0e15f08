import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

/** One of so many names is written in full; each of those between says how many bytes it shares with the one before. */
export const BLOCK = 16;

/** Most bytes that a name shares with the one before. One byte before each name says how many; no folded name holds such a byte. */
export const MOST_SHARED = 0x1f;

/** Bytes of a folded name; a longer one is not in the file. */
export const LONGEST_NAME = 255;

const NUMBER = Uint32Array.BYTES_PER_ELEMENT;
/** What stands before the columns: how many towns, how many names. */
const HEAD = 2 * NUMBER;

/** These bytes sort below and above everything that can follow a name, because a folded name holds only letters, digits and spaces. */
const BELOW = Buffer.from([0x00]);
const ABOVE = Buffer.from([0xff]);

const decompress = promisify(brotliDecompress);

/** All names of all towns. A town is a number here, and a larger population is a smaller number. */
export interface Names {
  /** Where the towns are in the gazetteer, by number. */
  positions: Uint32Array;
  /** Towns with this folded name, then those with a name that begins with it; each once, and both by population. */
  towns(name: string): Generator<number>;
}

function mark(bits: Uint32Array, number: number, isIn: boolean): void {
  const bit = 1 << (number & 31);
  const word = bits[number >> 5] ?? 0;
  bits[number >> 5] = isIn ? word | bit : word & ~bit;
}

/** The numbers that are marked, ascending. */
function* numbersIn(bits: Uint32Array): Generator<number> {
  for (let word = 0; word < bits.length; word += 1)
    for (let left = bits[word] ?? 0; left !== 0; left &= left - 1) yield (word << 5) + 31 - Math.clz32(left & -left);
}

/**
 * Reads the names: 4.5 MB on the disk and 10 in memory, where they stay packed. The file is a Brotli stream. It holds the two counts, the positions of the
 * towns, the town of each name, and the names, ascending by their bytes. A name is the length that it shares with the one before, and the rest.
 */
export async function readNames(file: string): Promise<Names> {
  const bytes = await decompress(await readFile(file), { chunkSize: 4_194_304 });
  const [towns = 0, count = 0] = new Uint32Array(bytes.buffer, bytes.byteOffset, 2);
  const positions = new Uint32Array(bytes.buffer, bytes.byteOffset + HEAD, towns);
  const owners = new Uint32Array(bytes.buffer, bytes.byteOffset + HEAD + towns * NUMBER, count);
  const texts = bytes.subarray(HEAD + (towns + count) * NUMBER);
  const blocks = new Uint32Array(Math.ceil(count / BLOCK) + 1);
  for (let at = 0, name = 0; at < texts.length; at += 1)
    if ((texts[at] ?? 0) <= MOST_SHARED) {
      if (name % BLOCK === 0) blocks[name / BLOCK] = at;
      name += 1;
    }
  blocks[blocks.length - 1] = texts.length;
  const written = Buffer.alloc(LONGEST_NAME);

  /** Where the name that begins at a byte ends. */
  const endOf = (at: number): number => {
    let end = at + 1;
    while (end < texts.length && (texts[end] ?? 0) > MOST_SHARED) end += 1;
    return end;
  };

  /** The last block that begins below `text`; -1 when none does. */
  const blockOf = (text: Buffer): number => {
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = blocks[middle] ?? 0;
      if (text.compare(texts, at + 1, endOf(at)) > 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };

  /** The first name that is not below `text`, by bytes. */
  const find = (text: Buffer): number => {
    const block = blockOf(text);
    if (block < 0) return 0;
    let name = block * BLOCK;
    for (let at = blocks[block] ?? 0; at < (blocks[block + 1] ?? 0); name += 1) {
      const shared = texts[at] ?? 0;
      const end = endOf(at);
      texts.copy(written, shared, at + 1, end);
      if (text.compare(written, 0, shared + end - at - 1) <= 0) return name;
      at = end;
    }
    return name;
  };

  return {
    positions,
    *towns(name) {
      const text = Buffer.from(name);
      const first = find(text);
      const called = owners.subarray(first, find(Buffer.concat([text, BELOW])));
      yield* called;
      const beginning = owners.subarray(first, find(Buffer.concat([text, ABOVE])));
      if (beginning.length === called.length) return;
      const others = new Uint32Array((towns >> 5) + 1);
      for (const town of beginning) mark(others, town, true);
      for (const town of called) mark(others, town, false);
      yield* numbersIn(others);
    },
  };
}
