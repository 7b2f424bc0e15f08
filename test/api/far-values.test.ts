import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

const NINES = '9'.repeat(38);

let site: TestServer;
let path: string;
let tableName: string;

beforeAll(async () => {
  site = await startTestServer();
  const owner = site.as(site.cast.owner);
  const { body } = await owner('POST', '/api/v1/experiments', { body: { name: 'Far', organizationId: site.cast.leafLab } });
  path = `/api/v1/experiments/${String(body.id)}/data`;
  const file = join(site.dataDir, 'far.parquet');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`copy (select n::integer as n, d::decimal(38, 0) as d, make_timestamptz(y, 1, 1, 0, 0, 0, 'UTC') as at, make_timestamp(y, 1, 1, 0, 0, 0) as local,
      make_date(y, 1, 1) as day from (values (1, ${NINES}, 2024), (2, ${NINES}, 9999), (3, 5, 10000), (4, 6, 12345), (5, 7, 200000)) t(n, d, y)) to '${file}' (format parquet)`);
  connection.closeSync();
  instance.closeSync();
  tableName = await uploadTable(owner, String(body.id), 'far', readFileSync(file), 'parquet');
});
afterAll(() => site.stop());

const ask = (query: Record<string, string>, headers: Record<string, string> = {}) =>
  site.as(site.cast.owner)('GET', path, { query: { tableName, ...query }, headers });
const filtered = (column: string, operator: string, value: unknown, extra: object[] = []) =>
  ask({ columns: 'n', orderBy: 'n', filters: JSON.stringify([{ column, operator, value }, ...extra]) });

test.each(['sum', 'cumsum', 'avg'])('a %s of more than 38 digits is refused with a sentence, in every format', async (name) => {
  const aggregation = JSON.stringify({
    groupBy: name === 'cumsum' ? [{ column: 'n' }] : [],
    functions: [{ column: 'd', function: name, alias: 'total' }],
  });
  const few = JSON.stringify([{ column: 'n', operator: 'greater_than', value: 1 }]);
  for (const accept of ['application/json', 'text/csv', 'application/vnd.apache.arrow.stream']) {
    expect((await ask({ aggregation, filters: few }, { accept })).status, accept).toBe(200);
    const refused = await ask({ aggregation }, { accept });
    expect([refused.status, refused.body.detail], accept).toEqual([
      400,
      'A sum or mean of these rows needs more than 38 digits. Filter or group the rows so that fewer are added up.',
    ]);
  }
});

test.each(['at', 'local', 'day'])('pages are walked to the end and back over years beyond 9999, by %s', async (orderBy) => {
  const seen: unknown[] = [];
  let [query, turned]: [Record<string, string>, boolean] = [{ columns: 'n', orderBy, pageSize: '2' }, false];
  for (let steps = 0; steps < 9; steps += 1) {
    const answer = await ask(query);
    expect(answer.status, answer.text).toBe(200);
    seen.push((answer.body[0].data.rows as { n: number }[]).map(({ n }) => n));
    const link = (rel: string) => new RegExp(`<([^>]+)>; rel="${rel}"`).exec(answer.headers.get('link') ?? '')?.[1];
    turned ||= link('next') === undefined;
    const to = link(turned ? 'prev' : 'next');
    if (to === undefined) break;
    query = Object.fromEntries(new URL(to, 'http://localhost').searchParams);
  }
  expect(seen).toEqual([[1, 2], [3, 4], [5], [3, 4], [1, 2]]);
});

test('years beyond 9999 and before 0 are written as ISO 8601 has them: with a sign, and six digits or more', async () => {
  const years = [2024, 9999, 10_000, 12_345, 200_000];
  const written = years.map((year) => (year > 9999 ? `+${String(year).padStart(6, '0')}` : String(year)));
  const shown = (await ask({ columns: 'at,local,day', orderBy: 'n' })).body[0].data.rows as Record<string, string>[];
  const far = (year: string, rest: string) =>
    year.startsWith('+') ? `${year}-01-01T00:00:00.000000${rest}` : `${year}-01-01T00:00:00.000${rest}`;
  expect(shown).toEqual(written.map((year) => ({ at: far(year, 'Z'), local: far(year, ''), day: `${year}-01-01` })));
  expect(shown.map(({ at }) => new Date(at!).getUTCFullYear())).toEqual(years);
  const csv = await ask({ columns: 'day', orderBy: 'n' }, { accept: 'text/csv' });
  expect(csv.text.trim().split(/\r?\n/)).toEqual(['day', ...written.map((year) => `${year}-01-01`)]);
  const groupBy = [{ column: 'local', timeBucket: 'year', timezone: 'UTC' }];
  const grouped = await ask({ aggregation: JSON.stringify({ groupBy, functions: [{ column: 'day', function: 'max' }] }) });
  expect(
    grouped.body[0].data.rows.map((row: object) => Object.values(row)),
    grouped.text,
  ).toEqual(shown.map(({ local, day }) => [local, day]));
});

test('days before the year 0 go out with a sign, and pages are walked over them', async () => {
  const file = join(site.dataDir, 'ancient.parquet');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`copy (select n::integer as n, make_date(y, 11, 26) as day, make_timestamp(y, 11, 26, 0, 0, 0) as local
      from (values (1, -4712), (2, -2), (3, 0), (4, 1), (5, 987)) t(n, y)) to '${file}' (format parquet)`);
  connection.closeSync();
  instance.closeSync();
  const owner = site.as(site.cast.owner);
  const ancient = await uploadTable(owner, path.split('/')[4]!, 'ancient', readFileSync(file), 'parquet');
  const days: string[] = [];
  let query: Record<string, string> = { tableName: ancient, columns: 'day,local', orderBy: 'day', pageSize: '2' };
  for (let pages = 0; pages < 3; pages += 1) {
    const answer = await owner('GET', path, { query });
    expect(answer.status, answer.text).toBe(200);
    for (const { day, local } of answer.body[0].data.rows as { day: string; local: string }[]) {
      expect(new Date(`${local}Z`).toISOString().split('T')[0]).toBe(day);
      days.push(day);
    }
    const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
    if (next !== undefined) query = Object.fromEntries(new URL(next, 'http://localhost').searchParams);
  }
  expect(days).toEqual(['-004712-11-26', '-000002-11-26', '0000-11-26', '0001-11-26', '0987-11-26']);
});

test('a number beyond what a column holds lies above or below all of its values', async () => {
  const rows = async (operator: string, value: unknown, column = 'n') => {
    const answer = await filtered(column, operator, value);
    expect(answer.status, answer.text).toBe(200);
    return (answer.body[0].data.rows as { n: number }[]).map(({ n }) => n);
  };
  for (const column of ['n', 'd'])
    for (const value of [1e300, '1e300', '9'.repeat(60)]) {
      expect(await rows('less_than', value, column)).toEqual([1, 2, 3, 4, 5]);
      expect(await rows('greater_than', value, column)).toEqual([]);
      expect(await rows('equals', value, column)).toEqual([]);
      expect(await rows('greater_than', `-${String(value)}`, column)).toEqual([1, 2, 3, 4, 5]);
    }
  expect(await rows('greater_than', '1e-300')).toEqual([1, 2, 3, 4, 5]);
  expect((await filtered('n', 'less_than', '1e401')).body.errors[0].message).toMatch(/must be a number/);
});
