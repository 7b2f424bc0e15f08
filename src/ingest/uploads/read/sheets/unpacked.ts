/** Reads what a ZIP archive's directory says of its parts, and checks whether it is so (APPNOTE.TXT 4.3.7, 4.3.12 and 4.3.16). */
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';

const END = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES = 65_535;
const PART = 0x02014b50;
const PART_BYTES = 46;
const SAYS_ZIP64 = 0xffff_ffff;
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

/** The parts of an archive; undefined when its directory is not whole, or in the form for more than 4 GiB. */
export function listParts(bytes: Buffer): Part[] | undefined {
  let end = bytes.length - END_BYTES;
  while (end >= 0 && end >= bytes.length - END_BYTES - COMMENT_BYTES && bytes.readUInt32LE(end) !== END) end -= 1;
  if (end < 0 || bytes.readUInt32LE(end) !== END) return undefined;
  const parts: Part[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (at + PART_BYTES > bytes.length || bytes.readUInt32LE(at) !== PART) return undefined;
    const packed = bytes.readUInt32LE(at + 20);
    const unpacked = bytes.readUInt32LE(at + 24);
    if (packed === SAYS_ZIP64 || unpacked === SAYS_ZIP64) return undefined;
    const nameBytes = bytes.readUInt16LE(at + 28);
    parts.push({
      name: bytes.toString('utf8', at + PART_BYTES, at + PART_BYTES + nameBytes),
      ...{ packed, unpacked, checksum: bytes.readUInt32LE(at + 16), isStored: bytes.readUInt16LE(at + 10) === STORED },
      offset: bytes.readUInt32LE(at + 42),
    });
    at += PART_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return parts;
}

/** Whether a part unpacks to the bytes that the directory speaks of. Unpacking stops where there are more of them. */
export async function isWhole(bytes: Buffer, { offset, packed, unpacked, checksum, isStored }: Part): Promise<boolean> {
  if (offset + HEAD_BYTES > bytes.length) return false;
  const from = offset + HEAD_BYTES + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  const content = bytes.subarray(from, from + packed);
  let length = 0;
  let sum = 0;
  try {
    const chunks = isStored ? [content] : (Readable.from([content]).pipe(createInflateRaw()) as AsyncIterable<Buffer>);
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > unpacked) return false;
      sum = crc32(chunk, sum);
    }
  } catch {
    return false;
  }
  return length === unpacked && sum === checksum;
}
