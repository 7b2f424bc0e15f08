import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDuckdbWriter } from '../../src/lakehouse/engines/duckdb/write.ts';
import { cutRowGroups } from '../../src/lakehouse/engines/parquet/cut.ts';
import { printType } from '../../src/lakehouse/terms/types.ts';
import { seedRandomTests } from '../support/random.ts';

const ROWS = 20_000;
const GROUP = 2_048;
// a value of every kind that the lake keeps, nulls, texts that repeat (which get a dictionary and a filter) and texts that do not
const SELECT = `select i as n, i % 5 = 0 as flag, (i % 7)::integer as small, i / 3 as share, case when i % 3 = 0 then null else 'text ' || i end as txt,
  ['red', 'green', 'blue'][1 + i % 3] as colour, date '2024-01-01' + (i % 400)::integer as day, timestamptz '2024-01-01 00:00:00+00' + to_seconds(i) as at,
  (i * 1.5)::decimal(38, 3) as dec, {'id': i, 'name': 'n' || i, 'inner': {'a': [i, null]}} as person, range(i % 4) as list, null::varchar as nothing,
  i as c1, i as c2, i as c3, i as c4 from range(${ROWS}) t(i)`;

let folder: string;
let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(seedRandomTests);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-cut-'));
  instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
  rmSync(folder, { recursive: true });
});

const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
const parts = (of: string) => readdirSync(of).sort((a, b) => Number(/\d+/.exec(a)?.[0]) - Number(/\d+/.exec(b)?.[0]));

test('the columns are read off the footer as the engine wrote them', async () => {
  const own = mkdtempSync(join(folder, 'schema-'));
  const select = SELECT.replace(
    ' from range',
    `, timestamp '2024-01-01' as clock, '{}'::json as free, 1.5::decimal(9, 2) as price,
    [{'id': 'a', 'at': timestamptz '2024-01-01', 'deep': [[1.5::double]]}] as notes, 1::integer as "a, b (c)" from range`,
  );
  await connection.run(`copy (${select}) to '${join(own, 'whole.parquet')}' (format parquet)`);
  const [file] = await cutRowGroups(own, 'whole.parquet', { rowsPerFile: ROWS, sortColumn: 'n' });
  const columns = Object.fromEntries((file?.columns ?? []).map(({ name, type }) => [name, printType(type)]));
  expect(columns).toEqual({
    n: 'BIGINT',
    flag: 'BOOLEAN',
    small: 'INT',
    share: 'DOUBLE',
    txt: 'STRING',
    colour: 'STRING',
    day: 'DATE',
    at: 'TIMESTAMP',
    dec: 'DECIMAL(38,3)',
    person: 'STRUCT<id: BIGINT, name: STRING, inner: STRUCT<a: ARRAY<BIGINT>>>',
    list: 'ARRAY<BIGINT>',
    nothing: 'STRING',
    ...{ c1: 'BIGINT', c2: 'BIGINT', c3: 'BIGINT', c4: 'BIGINT' },
    clock: 'TIMESTAMP_NTZ',
    free: 'VARIANT',
    price: 'DECIMAL(9,2)',
    notes: 'ARRAY<STRUCT<id: STRING, at: TIMESTAMP, deep: ARRAY<ARRAY<DOUBLE>>>>',
    'a, b (c)': 'INT',
  });
});

test.each([1, 3])(
  'every row is in the files as it was in the one, in order, and so are the filters of its columns (groups a file: %i)',
  async (groups) => {
    const cut = mkdtempSync(join(folder, 'cut-'));
    const most = groups * GROUP;
    await connection.run(
      `copy (${SELECT}) to '${join(cut, 'whole.parquet')}' (format parquet, compression zstd, row_group_size ${GROUP}, preserve_order true)`,
    );
    await cutRowGroups(cut, 'whole.parquet', { rowsPerFile: most, sortColumn: 'n' });
    const names = parts(cut);
    expect(names).toEqual(Array.from({ length: Math.ceil(ROWS / most) }, (_, index) => `part_${index}.parquet`));
    const list = `[${names.map((name) => `'${join(cut, name)}'`).join(', ')}]`;
    expect(await rows(`select * from read_parquet(${list}) t`)).toEqual(await rows(`select * from (${SELECT}) t`));
    for (const [index, name] of names.entries()) {
      const path = `'${join(cut, name)}'`;
      const here = Math.min(most, ROWS - index * most);
      expect(await rows(`select count(*)::integer, min(n)::integer, max(n)::integer from read_parquet(${path})`)).toEqual([
        [here, index * most, index * most + here - 1],
      ]);
      expect(await rows(`select num_rows::integer, num_row_groups::integer from parquet_file_metadata(${path})`)).toEqual([
        [here, Math.ceil(here / GROUP)],
      ]);
      expect(
        await rows(`select distinct row_group_id::integer, row_group_num_rows::integer from parquet_metadata(${path}) order by 1`),
      ).toEqual(Array.from({ length: Math.ceil(here / GROUP) }, (_, at) => [at, Math.min(GROUP, here - at * GROUP)]));
    }
    // of every row group: a filter for each that has one, which excludes what is not there and nothing that is
    const probe = (colour: string) =>
      rows(`select bloom_filter_excludes from parquet_bloom_probe('${join(cut, 'part_1.parquet')}', 'colour', '${colour}')`);
    const each = (excludes: boolean) => Array.from({ length: groups }, () => [excludes]);
    expect([await probe('grey'), await probe('green')]).toEqual([each(true), each(false)]);
  },
);

test('a file of one row group stays as it is', async () => {
  const whole = mkdtempSync(join(folder, 'whole-'));
  await connection.run(`copy (select 1 as n) to '${join(whole, 'whole.parquet')}' (format parquet)`);
  await cutRowGroups(whole, 'whole.parquet', { rowsPerFile: GROUP, sortColumn: 'n' });
  expect(readdirSync(whole)).toEqual(['whole.parquet']);
});

test.each([true, false])('staged files follow each other and know between which ids their rows lie (sorted before: %s)', async (sorted) => {
  const staging = await openDuckdbWriter({
    lakeFolder: join(folder, `lake-${sorted}`),
    workFolder: join(folder, `work-${sorted}`),
    threads: 4,
  });
  try {
    const session = await staging.session();
    const select = `select printf('%08x', ${sorted ? 'i' : `(i * 7919) % ${ROWS}`}) as id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, i as n from range(${ROWS}) t(i)`;
    const asked = {
      tableId: 'table',
      experimentId: 'experiment',
      select: { sql: select, values: [] },
      sortColumn: 'uploaded_at',
      rowsPerFile: GROUP,
    };
    const { files, rowCount } = await session.stage({ ...asked, sorted });
    const narrow = await session.stage({ ...asked, sorted, rowsPerFile: 3 * GROUP, rowsPerGroup: GROUP });
    session.close();
    expect(narrow.files.map((file) => [file.rowCount, file.minId])).toEqual(
      [0, 1, 2, 3].map((index) => [Math.min(3 * GROUP, ROWS - index * 3 * GROUP), (index * 3 * GROUP).toString(16).padStart(8, '0')]),
    );
    expect(rowCount).toBe(ROWS);
    expect(files).toHaveLength(Math.ceil(ROWS / GROUP));
    const id = (n: number) => n.toString(16).padStart(8, '0');
    for (const [index, file] of files.entries()) {
      expect([file.minId, file.maxId]).toEqual([id(index * GROUP), id(Math.min(ROWS, (index + 1) * GROUP) - 1)]);
      expect([file.rowCount, file.nullKeys, file.minKey]).toEqual([
        Math.min(GROUP, ROWS - index * GROUP),
        0,
        '2024-01-01T00:00:00.000000Z',
      ]);
    }
  } finally {
    await staging.close();
  }
});

test('the footer says of a file what a look at its rows says, also of odd times', async () => {
  const lake = mkdtempSync(join(folder, 'edges-'));
  const staging = await openDuckdbWriter({ lakeFolder: join(lake, 'lake'), workFolder: join(lake, 'work'), threads: 2 });
  const instants = [
    '2024-02-29 23:59:59.999999+00',
    '1969-12-31 23:59:59.999999+00',
    '1969-12-31 23:59:59.000001+00',
    '1970-01-01 00:00:00+00',
    '1582-10-04 12:00:00.5+00',
    '9999-12-31 23:59:59.999999+00',
    '10000-01-01 00:00:00+00',
    '0099-01-01 00:00:00+00',
    'infinity',
    '-infinity',
  ];
  const time = fc.option(
    fc.oneof(
      fc.constantFrom(...instants),
      fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }).map((at) => at.toISOString()),
    ),
  );
  const staged = async (times: readonly (string | null)[], sorted: boolean) => {
    const values = times.map((at, index) => `('${index.toString(16).padStart(32, '0')}', ${at === null ? 'null' : `'${at}'`})`);
    const rowsOf = `select id, sent::timestamptz as measured from (values ${values.join(', ')}) t(id, sent)`;
    const sql = sorted ? `${rowsOf} order by measured nulls last, id` : rowsOf;
    const request = {
      tableId: 'edges',
      experimentId: 'e',
      select: { sql, values: [] },
      sortColumn: 'measured',
      rowsPerFile: 2_048,
      sorted,
    };
    const { files } = await staging.stage(request);
    return files.map(({ path: _path, ...said }) => said);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(time, { minLength: 1, maxLength: 6 }), async (times) => {
      expect(await staged(times, false)).toEqual(await staged(times, true));
    }),
    {
      numRuns: process.env['SOAK'] === undefined ? 30 : 300,
      examples: [...instants.map((at): [(string | null)[]] => [[at, '2024-01-01 00:00:00+00', null]]), [[null, null]]],
    },
  );
  // over several row groups and files
  const many = Array.from({ length: 9_000 }, (_, n) =>
    n % 4 === 0 ? null : new Date(1_700_000_000_000 + ((n * 7_919) % 9_000) * 500).toISOString(),
  );
  const files = await staged(many, false);
  expect(files.length).toBeGreaterThan(2);
  expect(files).toEqual(await staged(many, true));
  await staging.close();
});
