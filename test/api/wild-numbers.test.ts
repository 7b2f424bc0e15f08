import { readFileSync } from 'node:fs';
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

test('what an answer shows as null is null to filters too', async () => {
  expect((await rowsOf({ columns: 'n,x,x__text', orderBy: 'n' })).map(({ x, x__text }) => [x, x__text])).toEqual([
    [2, null],
    [null, null],
    [null, 'inf'],
    [null, '-inf'],
    [null, null],
    [4, null],
  ]);
  expect(await whose('is_null')).toEqual([2, 3, 4, 5]);
  expect(await whose('is_not_null')).toEqual([1, 6]);
  expect(await whose('greater_than', 1)).toEqual([1, 6]);
  expect(await whose('less_than', 3)).toEqual([1]);
  expect(await whose('not_equals', 2)).toEqual([2, 3, 4, 5, 6]);
});

test('and to aggregates, groups, distinct values and other formats', async () => {
  const functions = ['count', 'sum', 'avg', 'min', 'max', 'median', 'p95', 'std', 'count_distinct'].map((name) => ({
    column: 'x',
    function: name,
    alias: name,
  }));
  expect(await rowsOf({ aggregation: JSON.stringify({ groupBy: [], functions }) })).toEqual([
    { count: 2, sum: 6, avg: 3, min: 2, max: 4, median: 3, p95: 3.9, std: Math.SQRT2, count_distinct: 2 },
  ]);
  const groups = { groupBy: [{ column: 'x' }], functions: [{ column: '*', function: 'count', alias: 'rows' }] };
  expect(await rowsOf({ aggregation: JSON.stringify(groups) })).toEqual([
    { x: 2, rows: 1 },
    { x: 4, rows: 1 },
    { x: null, rows: 4 },
  ]);
  const distinct = await site.as(site.cast.owner)('GET', `${path}/distinct`, { query: { tableName, column: 'x' } });
  expect(distinct.body).toEqual({ values: ['2', '4'], truncated: false });
  expect((await ask({ columns: 'n,x', orderBy: 'n' }, { accept: 'text/csv' })).text.trim().split(/\r?\n/)).toEqual([
    'n,x',
    '1,2.0',
    '2,',
    '3,',
    '4,',
    '5,',
    '6,4.0',
  ]);
  const arrow = tableFromIPC((await ask({ columns: 'x', orderBy: 'n' }, { accept: 'application/vnd.apache.arrow.stream' })).bytes);
  expect(arrow.getChild('x')?.toArray()).toEqual(Float64Array.of(2, 0, 0, 0, 0, 4));
  expect(arrow.getChild('x')?.nullCount).toBe(4);
});

test('a list with NaN makes no answer that is not JSON', async () => {
  expect((await rowsOf({ columns: 'list', orderBy: 'n' })).slice(0, 3)).toEqual([{ list: [1, null] }, { list: [] }, { list: null }]);
});
