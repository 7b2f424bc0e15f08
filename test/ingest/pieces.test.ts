import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { ReadAhead } from '../../src/ingest/record-writer.ts';
import { DecodedFile } from '../../src/ingest/uploads/read/decoded-file.ts';
import { Window } from '../../src/ingest/uploads/read/window.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldlake-pieces-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads the lines of a file as its readers do: what lies before a line is let go, and its rest is read when it is needed. */
async function readLines(path: string, bytes: number): Promise<string[]> {
  const file = await ReadAhead.open(path, bytes);
  try {
    const decoded = new DecodedFile(file);
    await decoded.peek();
    const window = new Window(() => decoded.more());
    const lines: string[] = [];
    for (;;) {
      const end = window.bytes.indexOf(0x0a, window.start);
      if (end < 0 && !window.final) {
        await window.more();
        continue;
      }
      if (end < 0) return [...lines, window.bytes.toString('utf8', window.start)];
      lines.push(window.bytes.toString('utf8', window.start, end));
      window.start = end + 1;
    }
  } finally {
    await file.close();
  }
}

test('a file is what its pieces are, however it is cut and encoded', async () => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '温', '\u{1f331}', ';'), maxLength: 30 }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      texts,
      fc.integer({ min: 2, max: 64 }),
      fc.constantFrom('utf8' as const, 'utf16le' as const),
      async (lines, bytes, as) => {
        const path = join(folder, 'lines');
        writeFileSync(path, as === 'utf8' ? lines.join('\n') : Buffer.from(`\ufeff${lines.join('\n')}`, 'utf16le'));
        const read = await readLines(path, bytes);
        expect(read.join('\n').replace('\ufeff', '')).toBe(lines.join('\n'));
      },
    ),
    { numRuns: 300 },
  );
});

test('a long file is read through two rooms, and a short one through short ones', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, Buffer.alloc(1_000_000, 'x'));
  const file = await ReadAhead.open(path, 100_000);
  const rooms = new Set<ArrayBufferLike>();
  let length = 0;
  for (let piece = await file.more(); piece.length > 0; piece = await file.more()) {
    length += piece.length;
    rooms.add(piece.buffer);
  }
  await file.close();
  expect([length, rooms.size]).toEqual([1_000_000, 2]);

  writeFileSync(path, 'plot\n1\n');
  const before = process.memoryUsage().arrayBuffers;
  const short = await ReadAhead.open(path, 64 * 1_048_576);
  expect((await short.more()).toString()).toBe('plot\n1\n');
  expect((await short.more()).length).toBe(0);
  await short.close();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_048_576);
});
