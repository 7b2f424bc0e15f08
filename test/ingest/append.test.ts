import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ingestUpload } from '../../src/ingest/uploads/ingest.ts';
import { AWKWARD_WORDS } from '../support/words.ts';
import { parseStrict, writeField } from './rfc4180.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const csv = (path: string, bytes: string) => ({ path, bytes });

test('columns widen as decided; what does not fit is kept beside, and counted', async () => {
  const table = await lake.makeTable();
  await lake.ingest(table, 'csv', [csv('1.csv', 'i,l,big,d,day,t,none\n1,3000000000,9007199254740993,0.5,2024-01-01,x,\n')]);
  expect(await lake.types(table.id)).toEqual({
    i: 'INT',
    l: 'BIGINT',
    big: 'BIGINT',
    d: 'DOUBLE',
    day: 'DATE',
    t: 'STRING',
    none: 'STRING',
  });

  const { report, upload } = await lake.ingest(table, 'csv', [
    csv('2.csv', 'i,l,big,d,day,t,none,new\n2.5,1.5,1.5,low,2024-01-02T10:00,7,42,1\nlow,2,2,3,2024-01-03,8,43,2\n'),
  ]);
  expect(upload).toMatchObject({ status: 'completed', stored: 2 });
  expect(await lake.types(table.id)).toEqual({
    i: 'DOUBLE',
    l: 'DOUBLE',
    big: 'DECIMAL(38,1)',
    d: 'DOUBLE',
    day: 'TIMESTAMP_NTZ',
    t: 'STRING',
    none: 'INT',
    new: 'INT',
    i__text: 'STRING',
    d__text: 'STRING',
  });
  const { columns } = report!.files[0]!;
  expect(columns.filter(({ oddValues }) => oddValues > 0).map(({ name }) => name)).toEqual(['i', 'd']);
  expect(columns.find(({ name }) => name === 'i')).toMatchObject({ widenedFrom: 'INT', oddValues: 1 });
  const rows = await lake.rows(table.id);
  expect(rows.find(({ t }) => t === 'x')).toMatchObject({
    i: 1,
    big: '9007199254740993.0',
    day: '2024-01-01 00:00:00',
    none: null,
    new: null,
  });
  expect(rows.find(({ t }) => t === '7')).toMatchObject({
    i: 2.5,
    l: 1.5,
    big: '1.5',
    d: null,
    d__text: 'low',
    day: '2024-01-02 10:00:00',
    none: 42,
  });
  expect(rows.find(({ t }) => t === '8')).toMatchObject({ i: null, i__text: 'low', d: 3, none: 43 });
});

test('a BIGINT that holds more than a DOUBLE keeps stays BIGINT beside exponents', async () => {
  const table = await lake.makeTable();
  await lake.ingest(table, 'csv', [csv('1.csv', 'a,b\n9007199254740993,x\n')]);
  await lake.ingest(table, 'csv', [csv('2.csv', 'a,b\n1e300,y\n4,z\n')]);
  expect(await lake.types(table.id)).toEqual({ a: 'BIGINT', b: 'STRING', a__text: 'STRING' });
  expect((await lake.rows(table.id)).find(({ b }) => b === 'y')).toMatchObject({ a: null, a__text: '1e300' });
});

test('an old version keeps its rows and its columns', async () => {
  const table = await lake.makeTable();
  await lake.ingest(table, 'csv', [csv('1.csv', 'a\n1\n')]);
  await lake.ingest(table, 'csv', [csv('2.csv', 'a,b\n1.5,x\n')]);
  expect(await lake.rows(table.id, 1)).toEqual([{ a: 1 }]);
  expect(await lake.rows(table.id, 2)).toHaveLength(2);
});

test('the same file ten times at once, and again, is there once', async () => {
  const table = await lake.makeTable();
  const file = csv('a.csv', `a,b\n${Array.from({ length: 500 }, (_, index) => `${index},x`).join('\n')}\n1\n`);
  const all = await Promise.all(Array.from({ length: 10 }, () => lake.ingest(table, 'csv', [file])));
  const again = await lake.ingest(table, 'csv', [file]);
  expect(await lake.rows(table.id)).toHaveLength(500);
  expect(await lake.quarantined(table.experimentId)).toHaveLength(1);
  for (const { upload } of [...all, again]) expect(upload.rowsIn).toBe(501);
  expect(all.filter(({ upload }) => upload.stored === 500 && upload.quarantined === 1)).toHaveLength(1);
  expect(again.upload).toMatchObject({ status: 'completed', alreadyThere: 501, stored: 0 });
});

test('one upload worked on by two workers at once ends once', async () => {
  const table = await lake.makeTable();
  const id = await lake.receive(
    table,
    'csv',
    Array.from({ length: 5 }, (_, file) => csv(`${file}.csv`, `a\n${file}\n`)),
  );
  await Promise.all([ingestUpload(lake.deps, id), ingestUpload(lake.deps, id)]);
  expect((await lake.rows(table.id)).map(({ a }) => a).sort()).toEqual([0, 1, 2, 3, 4]);
  expect(await ingestUpload(lake.deps, id)).toBeUndefined();
});

test('different files at once into one new table agree on its columns', async () => {
  const table = await lake.makeTable();
  const bodies = ['a\n1\n', 'a\n1.5\n', 'a\nx\n', 'a,b\n3000000000,1\n', 'b\nq\n'];
  const all = await Promise.all(bodies.map((bytes, index) => lake.ingest(table, 'csv', [csv(`${index}.csv`, bytes)])));
  for (const { upload } of all) expect(upload).toMatchObject({ status: 'completed', rowsIn: 1, stored: 1 });
  const rows = await lake.rows(table.id);
  expect(rows).toHaveLength(5);
  for (const value of ['1', '1.5', 'x', '3000000000'])
    expect(
      rows.filter((row) =>
        [row.a, row.a__text]
          .map((cell) => cell as string | number | null)
          .some((cell) => (cell !== null && String(cell) === value) || Number(cell) === Number(value)),
      ),
    ).not.toEqual([]);
});

test('a cancelled upload leaves nothing behind and goes on later', async () => {
  const table = await lake.makeTable();
  const id = await lake.receive(table, 'csv', [csv('a.csv', 'a\n1\n'), csv('b.csv', 'a\n2\n')]);
  const stop = new AbortController();
  await expect(ingestUpload(lake.deps, id, { signal: stop.signal, onFile: () => stop.abort() })).rejects.toThrow();
  expect(await lake.rows(table.id)).toEqual([{ a: 1 }]);
  const report = await ingestUpload(lake.deps, id);
  expect(report).toMatchObject({ status: 'completed' });
  expect((await lake.rows(table.id)).map(({ a }) => a).sort()).toEqual([1, 2]);
});

// more than the first records by which a file is typed
const ROWS = process.env.SOAK === undefined ? 2_500 : 20_000 * Number(process.env.SOAK);

test(`${ROWS} awkward rows have the digest of an independent reader`, async () => {
  let state = Number(process.env.FC_SEED ?? 4711);
  const random = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const columns: Record<string, () => string | null> = {
    seq: () => null,
    whole: () => String(Math.floor(random() * 2_000) - 1_000),
    number: () => pick(['12.50', '-0.125', '1e3', '0', '-7', '3.1415926', '100']),
    code: () => pick(['007', '012', '1', '-12a', '+3']),
    day: () => pick(['2024-01-02', '2024-02-29', '1999-12-31']),
    us_day: () => pick(['01/02/2024', '12/31/1999']),
    local: () => pick(['2024-01-02T03:04:05', '2024-01-02 03:04']),
    text: () => pick(AWKWARD_WORDS),
    maybe: () => pick([null, ...AWKWARD_WORDS]),
    sparse: () => (random() < 0.01 ? pick(['5', '6.25']) : null),
  };
  const names = Object.keys(columns);
  const body = Array.from({ length: ROWS }, (_, row) =>
    names.map((name) => (name === 'seq' ? String(row) : random() < 0.05 ? null : columns[name]!())),
  );
  const bytes = [names, ...body].map((row) => row.map((value) => writeField(value)).join(',')).join('\r\n') + '\r\n';

  const table = await lake.makeTable();
  const { upload } = await lake.ingest(table, 'csv', [csv('awkward.csv', bytes)], { reading: { missing: [] } });
  expect(upload).toMatchObject({ status: 'completed', rowsIn: ROWS, stored: ROWS, quarantined: 0 });
  expect(await lake.types(table.id)).toEqual({
    seq: 'INT',
    whole: 'INT',
    number: 'DOUBLE',
    code: 'STRING',
    day: 'DATE',
    us_day: 'DATE',
    local: 'TIMESTAMP_NTZ',
    text: 'STRING',
    maybe: 'STRING',
    sparse: 'DOUBLE',
  });
  const numbers = new Set(['seq', 'whole', 'number', 'sparse']);
  const digest = (rows: Iterable<readonly (string | number | null)[]>) => {
    const hash = createHash('sha256');
    let row = 0;
    for (const cells of rows) {
      cells.forEach((value, column) => {
        const name = names[column]!;
        const meaning =
          value === null
            ? null
            : numbers.has(name)
              ? Number(value)
              : name === 'us_day'
                ? String(value).replace(/^(..)\/(..)\/(....)$/, '$3-$1-$2')
                : name === 'local'
                  ? Date.parse(`${String(value).replace(' ', 'T')}Z`)
                  : value;
        hash.update(JSON.stringify([row, name, meaning]));
      });
      row += 1;
    }
    return [row, hash.digest('hex')];
  };
  expect(digest((await lake.rows(table.id)).map((row) => names.map((name) => row[name] as string | null)))).toEqual(
    digest(parseStrict(bytes).slice(1)),
  );
});
