import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const FINER = 'Some of these times are finer than a microsecond, so they are kept as text.';

async function read(values: readonly string[], reading = {}) {
  const table = await lake.makeTable();
  const bytes = `v,n\n${values.map((value, index) => `${value},${index}\n`).join('')}`;
  const { report } = await lake.ingest(table, 'csv', [{ path: 'a.csv', bytes }], { reading });
  const { type, note, oddValues } = report!.files[0]!.columns[0]!;
  const rows = await lake.rows(table.id);
  return { type, note, oddValues, values: rows.map(({ v }) => v), odd: rows.map((row) => row['v__text'] ?? null) };
}

test('times to the nanosecond are times where they end in zeros, as polars writes them', async () => {
  expect(await read(['2026-03-29 00:30:00.123456000', '2026-03-29T00:30:01.000000000', '2026-03-29 00:30:02'])).toMatchObject({
    ...{ type: 'TIMESTAMP_NTZ', note: undefined },
    values: ['2026-03-29 00:30:00.123456', '2026-03-29 00:30:01', '2026-03-29 00:30:02'],
  });
  const zoned = await read(['2026-03-29T00:30:00.123456000+02:00', ' 2026-03-28T22:30:01.1000000Z']);
  expect([zoned.type, zoned.values.map(Date.parse as (time: unknown) => number)]).toEqual([
    'TIMESTAMP',
    [Date.parse('2026-03-28T22:30:00.123Z'), Date.parse('2026-03-28T22:30:01.1Z')],
  ]);
});

test('finer ones are text, and the report says why', async () => {
  const times = ['2026-03-29 00:30:00.123456789', '2026-03-29 00:30:01.000000000'];
  expect(await read(times)).toMatchObject({ type: 'STRING', note: FINER, values: times });
  expect(await read(times, { types: { v: 'timestamp_ntz' } })).toMatchObject({
    ...{ type: 'TIMESTAMP_NTZ', oddValues: 1, values: [null, '2026-03-29 00:30:01'] },
    odd: ['2026-03-29 00:30:00.123456789', null],
  });
  const words = ['2026-03-29 00:30:00.123456789', 'early', 'late', 'never'];
  expect(await read(words)).toMatchObject({ type: 'STRING', note: undefined, values: words });
  const impossible = ['2026-02-30 00:30:00.123456000', '2026-03-29 25:30:00.123456000'];
  expect(await read(impossible)).toMatchObject({ type: 'STRING', values: impossible });
});

test('times of day that a Parquet file has to the nanosecond are cut to the microsecond, and the report says so', async () => {
  // written by pyarrow: 01:00:00.000000001 as time64[ns], 01:00:00 as time64[us]; then no value, 00:00:00.000001
  const bytes = Buffer.from(
    'UEFSMRUAFRwVHCwVBBUAFQYVBhwAAAACAAAAAwEBoLgwRgMAABUAFSwVLCwVBBUAFQYVBhwAAAACAAAABAEApJPWAAAAAAEAAAAAAAAAFQQZPDUAGAZzY2hlbWEVBAAVBCUCGAVmaW5lcmx8Ehw8AAAAAAAVBCUCGAV3aG9sZWx8EhwsAAAAAAAWBBkcGSwm' +
      'ABwVBBklBgAZGAVmaW5lchUAFgQWQhZCJghJHBUAFQAVAgA8KQYZJgICAAAAJgAcFQQZJQYAGRgFd2hvbGUVABYEFlIWUiZKSRwVABUAFQIAPCkGGSYABAAAABaUARYEJggWlAEAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRksHAAAHAAAANMAAABQQVIx',
    'base64',
  );
  const table = await lake.makeTable();
  const { report } = await lake.ingest(table, 'parquet', [{ path: 'a.parquet', bytes }]);
  expect(report?.files[0]?.columns.map(({ name, type, note }) => [name, type, note])).toEqual([
    ['finer', 'STRING', 'The file has these times to the nanosecond; they are kept to the microsecond.'],
    ['whole', 'STRING', undefined],
  ]);
  expect((await lake.rows(table.id)).map(({ finer, whole }) => [finer, whole])).toEqual([
    ['01:00:00', '01:00:00'],
    [null, '00:00:00.000001'],
  ]);
});
