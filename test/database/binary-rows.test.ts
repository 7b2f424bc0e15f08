import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RowWriter } from '../../src/database/binary-rows.ts';
import { openDatabase, type Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { seedRandomTests } from '../support/random.ts';

let clone: TestDatabase;
let db: Database;
beforeAll(seedRandomTests);
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openDatabase({ url: clone.url, max: 2 });
  await db.run(sql('test')`create table copied (place bigint primary key, id uuid, bytes bytea, words text)`);
});
afterAll(async () => {
  await db.close();
  await clone.drop();
});

interface Row {
  id: string | null;
  bytes: string | null;
  words: string | null;
}

function written(rows: readonly Row[], size: number, first = 0): Buffer {
  const writer = new RowWriter(size);
  for (const [at, { id, bytes, words }] of rows.entries()) {
    writer.row(4);
    writer.long(first + at);
    if (id === null) writer.nothing();
    else writer.uuid(id);
    if (bytes === null) writer.nothing();
    else writer.hex(bytes);
    if (words === null) writer.nothing();
    else writer.text(words);
  }
  return writer.end();
}

const copy = sql('test')`copy copied (place, id, bytes, words) from stdin (format binary)`;
const all = () =>
  db.rows<Row & { place: number }>(sql('test')`select place, id, encode(bytes, 'hex') as bytes, words from copied order by place`);

test('rows of every kind of value are in the table as they were written, however many', async () => {
  const row = fc.record({
    id: fc.option(fc.uuid()),
    bytes: fc.option(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('hex'))),
    words: fc.option(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', ''))),
  });
  const first = fc.constantFrom(0, 1, 2 ** 32 - 2, 2 ** 52);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 60 }), first, fc.constantFrom(0, 100_000), async (rows, from, size) => {
      await db.run(sql('test')`truncate copied`);
      await db.transaction((tx) => tx.copyIn(copy, written(rows, size, from)));
      expect(await all()).toEqual(rows.map((each, at) => ({ place: from + at, ...each })));
    }),
    { numRuns: 60 },
  );
});

test('more than the server takes at once arrives whole, and nothing of what is refused', async () => {
  await db.run(sql('test')`truncate copied`);
  const rows = Array.from({ length: 5_000 }, (_, n): Row => ({ id: null, bytes: 'abcd'.repeat(20), words: `row ${n}` }));
  await db.transaction((tx) => tx.copyIn(copy, written(rows, 0)));
  expect((await all()).at(-1)).toEqual({ place: 4_999, ...rows.at(-1) });
  const again = db.transaction((tx) => tx.copyIn(copy, written(rows, 0, 4_999)));
  await expect(again).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(await all()).toHaveLength(5_000);
  // the connection is as good as before
  expect(await db.transaction((tx) => tx.one(sql('test')`select 1 as one`))).toEqual({ one: 1 });
});

test('what is left of a refused copy is not sent into the next one', async () => {
  await db.run(sql('test')`truncate copied`);
  const only = openDatabase({ url: clone.url, max: 1 });
  const rows = (count: number) => Array.from({ length: count }, (): Row => ({ id: null, bytes: 'abcd'.repeat(100), words: null }));
  await only.transaction((tx) => tx.copyIn(copy, written(rows(1), 0)));
  for (let round = 1; round <= 10; round += 1) {
    const refused = only.transaction((tx) => tx.copyIn(copy, written(rows(40_000), 0)));
    await expect(refused).rejects.toMatchObject({ code: 'CONFLICT' });
    await only.transaction((tx) => tx.copyIn(copy, written(rows(100), 0, round * 1_000)));
  }
  await only.close();
  expect(await all()).toHaveLength(1 + 10 * 100);
});
