import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BufferedFile, HexCounter, Refusals } from '../../src/ingest/record-writer.ts';
import { scanJson } from '../../src/ingest/uploads/read/json.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

async function send(record: string, exact = false) {
  // a number that the quick way cannot keep, so that the file is read the long way
  const first = exact ? '{"n":0.1234567890123456789012}' : '{"n":1}';
  const { upload, report } = await lake.ingest(await lake.makeTable(), 'ndjson', [{ path: 'rows.ndjson', bytes: `${first}\n${record}\n` }]);
  return { ...upload, ...report!.files[0]! };
}

const keys = (count: number) => Array.from({ length: count }, (_key, at) => `"k${at}":1`).join(',');

test.each([false, true])('the keys, lists and objects of a record are counted before it is understood (exact: %s)', async (exact) => {
  for (const record of [`{"a":{${keys(90_000)}}}`, `{"a":[${'[],'.repeat(99_000)}1]}`, `{"a":[${'1,'.repeat(400_000)}1]}`])
    expect(await send(record, exact)).toMatchObject({ status: 'completed', stored: 2 });
  for (const record of [`{"a":{${keys(101_000)}}}`, `{"a":[${'[],'.repeat(101_000)}1]}`, `{"a":[${'{},'.repeat(101_000)}1]}`])
    expect(await send(record, exact)).toMatchObject({
      status: 'partial',
      stored: 1,
      quarantined: 1,
      message: expect.stringContaining('1 × too many members'),
    });
  // the end of the record is not JSON, and nobody comes to know
  expect(await send(`{${keys(101_000)}, no JSON}`, exact)).toMatchObject({ status: 'failed', reason: 'too_many_columns' });
});

test('others get their turn between the records of a file that is read in one piece', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldlake-bombs-'));
  const path = join(folder, 'rows.ndjson');
  writeFileSync(path, `{${keys(1_000)}}\n`.repeat(300));
  const [records, refused] = await Promise.all(['records', 'refused'].map((name) => BufferedFile.create(join(folder, name))));
  const turns = new Set<number>();
  let turn = 0;
  const clock = setInterval(() => (turn += 1), 0);
  const writer = {
    rows: 0,
    write() {
      turns.add(turn);
      // what understanding a record takes
      for (const from = performance.now(); performance.now() - from < 1;);
      writer.rows += 1;
      return undefined;
    },
  };
  try {
    await scanJson({ path, kind: 'ndjson', writer, records: records!, refusals: new Refusals(refused!), numbering: new HexCounter() });
    expect(writer.rows).toBe(300);
    expect(turns.size).toBeGreaterThan(5);
  } finally {
    clearInterval(clock);
    await Promise.all([records!.close(), refused!.close()]);
    await rm(folder, { recursive: true });
  }
});
