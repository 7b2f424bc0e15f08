import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let path: string;
let tableName: string;

beforeAll(async () => {
  site = await startTestServer();
  const owner = site.as(site.cast.owner);
  const { body } = await owner('POST', '/api/v1/experiments', { body: { name: 'Wild', organizationId: site.cast.leafLab } });
  path = `/api/v1/experiments/${String(body.id)}/data`;
  const file = join(site.dataDir, 'wild.parquet');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`copy (select * from (values (1, 2::double, [1, 'nan'::double]), (2, 'nan', []), (3, 'inf', null), (4, '-inf', null), (5, null, null), (6, 4, null))
    t(n, x, list)) to '${file}' (format parquet)`);
  connection.closeSync();
  instance.closeSync();
  tableName = await uploadTable(owner, String(body.id), 'wild', readFileSync(file), 'parquet');
});
afterAll(() => site.stop());

const ask = (query: Record<string, string>, headers: Record<string, string> = {}) =>
  site.as(site.cast.owner)('GET', path, { query: { tableName, ...query }, headers });
const rowsOf = async (query: Record<string, string>) => (await ask(query)).body[0].data.rows as Record<string, unknown>[];
const whose = async (operator: string, value?: unknown) =>
  (
    await rowsOf({
      columns: 'n',
      orderBy: 'n',
      filters: JSON.stringify([{ column: 'x', operator, ...(value === undefined ? {} : { value }) }]),
    })
  ).map(({ n }) => n);

test('are null in JSON, nothing in CSV, and themselves in Arrow and Parquet', async () => {
  const x = [2, NaN, Infinity, -Infinity, null, 4];
  const shown = x.map((value) => (Number.isFinite(value) ? value : null));
  expect((await rowsOf({ columns: 'n,x', orderBy: 'n' })).map((row) => row['x'])).toEqual(shown);
  const csv = await ask({ columns: 'n,x', orderBy: 'n' }, { accept: 'text/csv' });
  expect(csv.text.trim().split(/\r?\n/)).toEqual(['n,x', '1,2.0', '2,', '3,', '4,', '5,', '6,4.0']);
  const arrow = tableFromIPC((await ask({ columns: 'x', orderBy: 'n' }, { accept: 'application/vnd.apache.arrow.stream' })).bytes);
  expect(Array.from({ length: arrow.numRows }, (_, at) => arrow.getChild('x')?.get(at) as unknown)).toEqual(x);
  const file = join(site.dataDir, 'read.parquet');
  writeFileSync(file, (await ask({ columns: 'n,x', orderBy: 'n' }, { accept: 'application/vnd.apache.parquet' })).bytes);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const read = await connection.runAndReadAll(`select x from '${file}' order by n`);
  expect(read.getRows().map(([value]) => value)).toEqual(x);
  connection.closeSync();
  instance.closeSync();
});

test('are numbers to filters, of which NaN is the greatest', async () => {
  expect(await whose('is_null')).toEqual([5]);
  expect(await whose('greater_than', 3)).toEqual([2, 3, 6]);
  expect(await whose('less_than', 3)).toEqual([1, 4]);
});

test('a list with NaN makes no answer that is not JSON', async () => {
  expect((await rowsOf({ columns: 'list', orderBy: 'n' })).slice(0, 3)).toEqual([{ list: [1, null] }, { list: [] }, { list: null }]);
});
