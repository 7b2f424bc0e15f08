import { writeXlsx } from 'hucre/xlsx';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

async function send(rows: string[][]) {
  const bytes = Buffer.from(await writeXlsx({ sheets: [{ name: 'Data', rows }] }));
  expect(bytes.length).toBeLessThan(500_000);
  const { upload, report } = await lake.ingest(await lake.makeTable(), 'xlsx', [{ path: 'rows.xlsx', bytes }]);
  return { upload, file: report!.files[0]! };
}

const refusal = { status: 'failed', reason: 'unpacks_too_large', message: expect.stringMatching(/more than 64 MiB of text/) };

test('a long text that very many cells share is refused, and few of them are read', async () => {
  const sharing = (rows: number) => [['a'], ...Array.from({ length: rows }, () => ['x'.repeat(1_000_000)])];
  expect((await send(sharing(10))).upload).toMatchObject({ status: 'completed', rowsIn: 10 });
  expect((await send(sharing(100))).file).toMatchObject(refusal);
});

test('a row that comes to more than a text can be is refused', async () => {
  const long = 'x'.repeat(1_000_000);
  const wide = (cells: number) => [Array.from({ length: cells }, (_, at) => `c${at}`), Array.from({ length: cells }, () => long)];
  expect((await send(wide(5))).upload).toMatchObject({ status: 'completed', rowsIn: 1 });
  expect((await send(wide(1_500))).file).toMatchObject(refusal);
});
