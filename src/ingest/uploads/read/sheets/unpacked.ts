/** Reads what a ZIP archive's directory says of its parts, and checks whether it is so (APPNOTE.TXT 4.3.7, 4.3.12, 4.3.14 to 4.3.16 and 4.5.3). */
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';

const END = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES = 65_535;
const PART = 0x02014b50;
const PART_BYTES = 46;
const LOCATOR = 0x07064b50;
const LOCATOR_BYTES = 20;
const WIDE_END = 0x06064b50;
const WIDE_END_BYTES = 56;
/** Stands for a number that is elsewhere, in eight bytes: in the second end of the directory, or behind the name of a part. */
const ELSEWHERE = 0xffff_ffff;
const WIDE_NUMBERS = 1;
const HEAD_BYTES = 30;
const STORED = 0;

export interface Part {
  name: string;
  packed: number;
  /** Bytes; the reader stops where a part turns out to be longer. */
  unpacked: number;
  checksum: number;
  isStored: boolean;
  /** Where the head begins that stands before its bytes. */
  offset: number;
}

const readWide = (bytes: Buffer, at: number): number => (at + 8 <= bytes.length ? Number(bytes.readBigUInt64LE(at)) : Infinity);

/** Where the directory begins, and how many parts it has. */
function findDirectory(bytes: Buffer, end: number): { start: number; count: number } {
  const start = bytes.readUInt32LE(end + 16);
  if (start !== ELSEWHERE) return { start, count: bytes.readUInt16LE(end + 10) };
  const locator = end - LOCATOR_BYTES;
  const wide = locator >= 0 && bytes.readUInt32LE(locator) === LOCATOR ? readWide(bytes, locator + 8) : Infinity;
  const isThere = wide + WIDE_END_BYTES <= bytes.length && bytes.readUInt32LE(wide) === WIDE_END;
  return isThere ? { start: readWide(bytes, wide + 48), count: readWide(bytes, wide + 32) } : { start: Infinity, count: 1 };
}

/** Fills in those of some numbers that are elsewhere, in their order. */
function fillIn(numbers: readonly number[], extra: Buffer): number[] {
  let at = 0;
  while (at + 4 <= extra.length && extra.readUInt16LE(at) !== WIDE_NUMBERS) at += 4 + extra.readUInt16LE(at + 2);
  at += 4;
  return numbers.map((number) => {
    if (number !== ELSEWHERE) return number;
    at += 8;
    return readWide(extra, at - 8);
  });
}

/** The parts of an archive; undefined when its directory is not whole. */
export function listParts(bytes: Buffer): Part[] | undefined {
  let end = bytes.length - END_BYTES;
  while (end >= 0 && end >= bytes.length - END_BYTES - COMMENT_BYTES && bytes.readUInt32LE(end) !== END) end -= 1;
  if (end < 0 || bytes.readUInt32LE(end) !== END) return undefined;
  const parts: Part[] = [];
  const { start, count } = findDirectory(bytes, end);
  let at = start;
  for (let left = count; left > 0; left -= 1) {
    if (at + PART_BYTES > bytes.length || bytes.readUInt32LE(at) !== PART) return undefined;
    const name = at + PART_BYTES;
    const extra = name + bytes.readUInt16LE(at + 28);
    const next = extra + bytes.readUInt16LE(at + 30);
    const told = [at + 24, at + 20, at + 42].map((place) => bytes.readUInt32LE(place));
    const [unpacked = Infinity, packed = Infinity, offset = Infinity] = fillIn(told, bytes.subarray(extra, next));
    parts.push({
      name: bytes.toString('utf8', name, extra),
      ...{ packed, unpacked, offset, checksum: bytes.readUInt32LE(at + 16), isStored: bytes.readUInt16LE(at + 10) === STORED },
    });
    at = next + bytes.readUInt16LE(at + 32);
  }
  return parts;
}

/** Reads the bytes of a part. */
export function openPart(bytes: Buffer, { offset, packed, isStored }: Part): AsyncIterable<Buffer> {
  const from = offset + HEAD_BYTES + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  const content = bytes.subarray(from, from + packed);
  return isStored ? Readable.from([content]) : (Readable.from([content]).pipe(createInflateRaw()) as AsyncIterable<Buffer>);
}

/** Whether a part unpacks to the bytes that the directory speaks of. Unpacking stops where there are more of them. */
export async function isWhole(bytes: Buffer, part: Part): Promise<boolean> {
  if (part.offset + HEAD_BYTES > bytes.length) return false;
  let length = 0;
  let sum = 0;
  try {
    for await (const chunk of openPart(bytes, part)) {
      length += chunk.length;
      if (length > part.unpacked) return false;
      sum = crc32(chunk, sum);
    }
  } catch {
    return false;
  }
  return length === part.unpacked && sum === part.checksum;
}
