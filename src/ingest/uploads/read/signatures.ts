import { FileRefused } from '../../record-writer.ts';

const SIGNATURES: readonly { what: string; bytes: readonly number[] }[] = [
  { what: 'a ZIP archive or a spreadsheet', bytes: [0x50, 0x4b, 0x03, 0x04] },
  { what: 'gzip data', bytes: [0x1f, 0x8b] },
  { what: 'a Parquet file', bytes: [0x50, 0x41, 0x52, 0x31] },
  { what: 'a PDF document', bytes: [0x25, 0x50, 0x44, 0x46] },
  { what: 'an old spreadsheet', bytes: [0xd0, 0xcf, 0x11, 0xe0] },
  { what: 'Zstandard data', bytes: [0x28, 0xb5, 0x2f, 0xfd] },
];

/** Refuses a text file whose first bytes say that it is of another kind. */
export function refuseOtherKinds(head: Buffer, kind: string): void {
  for (const { what, bytes } of SIGNATURES)
    if (bytes.every((byte, index) => head[index] === byte)) throw new FileRefused('wrong_type', `This is ${what}, not a ${kind} file.`);
}

/** Refuses UTF-16 where UTF-8 is awaited. */
export function refuseUtf16(head: Buffer): void {
  const sample = head.subarray(0, 512);
  const zeros = (odd: number) => sample.filter((byte, index) => byte === 0 && index % 2 === odd).length;
  const marked = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  const half = Math.floor(sample.length / 2);
  if (marked || (half >= 2 && Math.max(zeros(0), zeros(1)) > half * 0.6))
    throw new FileRefused(
      'utf16',
      'The file is UTF-16 text; save it as UTF-8, or send it with its encoding where it is a csv or tsv file.',
    );
}
