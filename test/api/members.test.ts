import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type Answer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

/** Documents beside a key; the text is what a device wrote, so that digits are its own. */
const DOCUMENTS = [
  '{"phi2":0.71,"name":"ash","ok":true,"count":9007199254740993,"at":"2026-05-01T10:00:00+02:00","day":"2026-05-01","a.b":{"c":1},"deep":{"list":[1,2]},"__proto__":7}',
  '{"phi2":0.5,"name":"birch","ok":false,"count":3,"at":"2026-05-01T23:30:00Z","day":"2026-05-02","a.b":{"c":2},"blank here":"yes","constructor":"text"}',
  '{"phi2":"odd","name":"ash","ok":"maybe","count":1.5,"at":"yesterday","day":"2026-02-30","a.b":3,"x*":1,"é, 😀":"leaf"}',
  '{"phi2":null,"name":10}',
  '[1,2]',
];
const rows = DOCUMENTS.map((text, index) => `{"plot":${index + 1},"data":${text}}`).join('\n');

let site: TestServer;
let path: string;
const owner: Call = (...asked) => site.as(site.cast.owner)(...asked);
beforeAll(async () => {
  site = await startTestServer();
  const made = await owner('POST', '/api/v1/experiments', { body: { name: 'Members', organizationId: site.cast.leafLab } });
  path = `/api/v1/experiments/${String(made.body.id)}/data`;
  await uploadTable(owner, String(made.body.id), 'docs', `${rows}\n`, 'ndjson');
});
afterAll(() => site.stop());

const ask = (query: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Answer> => {
  const told = Object.entries({ tableName: 'docs', ...query }).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return owner('GET', path, { query: Object.fromEntries(told) as Record<string, string>, headers });
};
const rowsOf = async (query: Record<string, unknown>) => {
  const answer = await ask(query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body[0].data.rows as Record<string, unknown>[];
};
const columnOf = async (member: string) => {
  const rows = await rowsOf({ columns: [member], orderBy: 'plot' });
  return rows.map((row) => Object.values(row)[0]);
};
const plots = async (...filters: object[]) => (await rowsOf({ columns: 'plot', orderBy: 'plot', filters })).map(({ plot }) => plot);

describe('members of documents', () => {
  test('are text, and of the type that is asked for', async () => {
    const answer = await ask({ columns: 'data.phi2,data.phi2::double', orderBy: 'plot' });
    expect(answer.body[0].data.columns).toEqual([
      { name: 'data.phi2', type_name: 'STRING', type_text: 'STRING' },
      { name: 'data.phi2::double', type_name: 'DOUBLE', type_text: 'DOUBLE' },
    ]);
    expect(answer.body[0].data.rows[0]).toEqual({ 'data.phi2': '0.71', 'data.phi2::double': 0.71 });
    expect(await columnOf('data.phi2')).toEqual(['0.71', '0.5', 'odd', null, null]);
    expect(await columnOf('data.phi2::double')).toEqual([0.71, 0.5, null, null, null]);
    expect(await columnOf('data.ok::BOOLEAN')).toEqual([true, false, null, null, null]);
    expect(await columnOf('data.count::bigint')).toEqual(['9007199254740993', 3, null, null, null]);
    expect(await columnOf('data.count')).toEqual(['9007199254740993', '3', '1.5', null, null]);
    expect(await columnOf('data.day::date')).toEqual(['2026-05-01', '2026-05-02', null, null, null]);
    expect(await columnOf('data.at::timestamp')).toEqual(['2026-05-01T08:00:00.000Z', '2026-05-01T23:30:00.000Z', null, null, null]);
    expect(await columnOf('data."a.b".c::double')).toEqual([1, 2, null, null, null]);
    expect(await columnOf('data.deep.list')).toEqual(['[1,2]', null, null, null, null]);
    expect(await columnOf('data.name')).toEqual(['ash', 'birch', 'ash', '10', null]);
    expect(await columnOf('data.nothing.here::double')).toEqual([null, null, null, null, null]);
  });

  test('are filtered by what they are compared with', async () => {
    expect(await plots({ column: 'data.phi2', operator: 'greater_than', value: 0.6 })).toEqual([1]);
    expect(await plots({ column: 'data.phi2::double', operator: 'between', value: [0.4, 0.6] })).toEqual([2]);
    expect(await plots({ column: 'data.phi2', operator: 'equals', value: 'odd' })).toEqual([3]);
    expect(await plots({ column: 'data.ok', operator: 'equals', value: true })).toEqual([1]);
    expect(await plots({ column: 'data.name', operator: 'contains', value: 'irc' })).toEqual([2]);
    expect(await plots({ column: 'data.name', operator: 'starts_with', value: 'a' })).toEqual([1, 3]);
    expect(await plots({ column: 'data.name', operator: 'in', value: ['ash', 'oak'] })).toEqual([1, 3]);
    expect(await plots({ column: 'data.name', operator: 'not_in', value: ['ash'] })).toEqual([2, 4, 5]);
    expect(await plots({ column: 'data.phi2', operator: 'is_null' })).toEqual([4, 5]);
    expect(await plots({ column: 'data.phi2::double', operator: 'is_not_null' })).toEqual([1, 2]);
    expect(await plots({ column: 'data.at::timestamp', operator: 'less_than', value: '2026-05-01T12:00:00Z' })).toEqual([1]);
    expect(await plots({ column: 'data.count::bigint', operator: 'equals', value: '9007199254740993' })).toEqual([1]);
  });

  test('are ordered by, page by page, grouped and aggregated', async () => {
    expect((await rowsOf({ columns: 'plot', orderBy: 'data.phi2::double', orderDirection: 'DESC' })).map(({ plot }) => plot)).toEqual([
      1, 2, 3, 4, 5,
    ]);
    const seen: unknown[] = [];
    let next: string | undefined;
    do {
      const query = { columns: 'plot', orderBy: 'data.name', pageSize: '2', ...(next === undefined ? {} : { cursor: next }) };
      const answer = await ask(query);
      expect(answer.status, answer.text).toBe(200);
      seen.push(...(answer.body[0].data.rows as { plot: number }[]).map(({ plot }) => plot));
      next = /cursor=([^&>]+)[^>]*>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
      if (next !== undefined) next = decodeURIComponent(next);
    } while (next !== undefined);
    expect(seen).toEqual([4, 1, 3, 2, 5]);
    const aggregation = {
      groupBy: [{ column: 'data.name' }],
      functions: [
        { column: 'data.phi2', function: 'avg', alias: 'mean' },
        { column: 'data.phi2', function: 'count' },
        { column: 'data.phi2::double', function: 'max' },
      ],
    };
    expect(await rowsOf({ aggregation, orderBy: 'data.name' })).toEqual([
      { 'data.name': '10', mean: null, 'data.phi2_count': 0, 'data.phi2::double_max': null },
      { 'data.name': 'ash', mean: 0.71, 'data.phi2_count': 2, 'data.phi2::double_max': 0.71 },
      { 'data.name': 'birch', mean: 0.5, 'data.phi2_count': 1, 'data.phi2::double_max': 0.5 },
      { 'data.name': null, mean: null, 'data.phi2_count': 0, 'data.phi2::double_max': null },
    ]);
    const byDay = {
      groupBy: [{ column: 'data.at::timestamp', timeBucket: 'day', timezone: 'Europe/Amsterdam' }],
      functions: [{ column: '*', function: 'count', alias: 'n' }],
    };
    expect(await rowsOf({ aggregation: byDay })).toEqual([
      { 'data.at::timestamp_day': '2026-04-30T22:00:00.000Z', n: 1 },
      { 'data.at::timestamp_day': '2026-05-01T22:00:00.000Z', n: 1 },
      { 'data.at::timestamp_day': null, n: 3 },
    ]);
  });

  test('have distinct values', async () => {
    const distinct = (column: string) => owner('GET', `${path}/distinct`, { query: { tableName: 'docs', column } });
    expect((await distinct('data.name')).body).toMatchObject({ values: ['10', 'ash', 'birch'] });
    expect((await distinct('data.phi2::double')).body).toMatchObject({ values: ['0.5', '0.71'] });
    expect((await distinct('data')).status).toBe(400);
  });

  test('go out in every format as their type', async () => {
    const query = { columns: 'plot,data.phi2::double,data.name', orderBy: 'plot' };
    expect((await ask({ ...query, format: 'csv' })).text).toBe(
      'plot,data.phi2::double,data.name\n1,0.71,ash\n2,0.5,birch\n3,,ash\n4,,10\n5,,\n',
    );
    expect((await ask({ ...query, format: 'ndjson' })).text.split('\n')[0]).toBe('{"plot":1,"data.phi2::double":0.71,"data.name":"ash"}');
    const arrow = tableFromIPC((await ask({ ...query, format: 'arrow' })).bytes);
    expect(arrow.schema.fields.map(({ name, type }) => `${name} ${String(type)}`)).toEqual([
      'plot Int32',
      'data.phi2::double Float64',
      'data.name Utf8',
    ]);
    const parquet = await ask({ ...query, format: 'parquet' });
    expect(parquet.bytes.subarray(0, 4).toString()).toBe('PAR1');
    const made = await owner('POST', `${path}/exports`, { body: { tableName: 'docs', format: 'json', ...query } });
    expect(made.status, made.text).toBe(201);
    const file = `${path}/exports/${String(made.body.exportId)}`;
    await expect.poll(async () => (await owner('GET', `${file}/status`)).body.status as string).toBe('completed');
    expect((await owner('GET', file)).body[0]).toEqual({ plot: 1, 'data.phi2::double': 0.71, 'data.name': 'ash' });
  });

  test('are drawn', async () => {
    const source = (role: string, columnName: string, more: object = {}) => ({ tableName: 'docs', columnName, role, ...more });
    const dataSources = [source('x', 'data.name'), source('y', 'data.phi2::double', { aggregate: 'avg' })];
    const charts = path.replace(/data$/, 'visualizations');
    const body = { name: 'Phi2 by name', chartFamily: 'basic', chartType: 'bar', dataConfig: { tableName: 'docs', dataSources } };
    const made = await owner('POST', charts, { body });
    expect(made.status, made.text).toBe(201);
    const drawn = await owner('GET', `${charts}/${String(made.body.id)}/data`);
    expect(drawn.status, drawn.text).toBe(200);
    expect(drawn.body.series).toMatchObject([{ points: { x: ['10', 'ash', 'birch', null], y: [null, 0.71, 0.5, null] } }]);
  });

  test('keys are what they say, whatever they hold', async () => {
    expect(await columnOf('data.__proto__')).toEqual(['7', null, null, null, null]);
    expect(await columnOf('data.constructor')).toEqual([null, 'text', null, null, null]);
    expect(await columnOf('data."blank here"')).toEqual([null, 'yes', null, null, null]);
    expect(await columnOf('data."x*"')).toEqual([null, null, '1', null, null]);
    expect(await columnOf('data."é, 😀"')).toEqual([null, null, 'leaf', null, null]);
    expect(await columnOf('data."$"')).toEqual([null, null, null, null, null]);
    expect(await columnOf('data."[0]"')).toEqual([null, null, null, null, null]);
    expect(await columnOf('data."..x; drop table docs --"')).toEqual([null, null, null, null, null]);
    expect(await columnOf(`data.${'k'.repeat(255)}`)).toEqual([null, null, null, null, null]);
    expect(await columnOf(`data${'.k'.repeat(32)}`)).toEqual([null, null, null, null, null]);
  });

  test.each([
    ['an unknown column', 'dato.phi2', "This table has no column 'dato.phi2'. Did you mean 'data'?"],
    ['a member of what is no document', 'plot.phi2', "reaches for a field 'phi2' that column 'plot' does not have. Its type is INT."],
    ['an unknown type', 'data.phi2::float8', "'float8' is no type that a member can be read as"],
    ['a type of a whole column', 'plot::double', 'only members of a document take one'],
    ['a wildcard', 'data."*"', 'cannot be looked for'],
    ['a wildcard that is not quoted', 'data.*', 'cannot be looked for'],
    ['an apostrophe', `data.x' or 1=1 --`, 'cannot be looked for'],
    ['an apostrophe and a bracket', `data."x']['y"`, 'cannot be looked for'],
    ['a quote', 'data."a""b"', 'cannot be looked for'],
    ['a backslash', 'data."a\\b"', 'cannot be looked for'],
    ['a question mark', 'data."a?"', 'cannot be looked for'],
    ['a backtick', 'data."a`b"', 'a backtick'],
    ['a blank at the beginning', 'data." a"', 'cannot be looked for'],
    ['a control character', 'data."a\u0001"', 'cannot be looked for'],
    ['a key of 256 characters', `data.${'k'.repeat(256)}`, 'longer than 255'],
    ['a path of 33 keys', `data${'.k'.repeat(33)}`, 'at most 32 keys'],
  ])('%s is refused in words', async (_what, column, words) => {
    expect((await ask({ columns: ['data.phi2'] })).status).toBe(200);
    const answers = await Promise.all([
      ask({ columns: [column] }),
      ask({ orderBy: column }),
      ask({ filters: [{ column, operator: 'is_null' }] }),
      ask({ aggregation: { groupBy: [{ column }], functions: [] } }),
      ask({ aggregation: { groupBy: [], functions: [{ column, function: 'count' }] } }),
    ]);
    for (const { status, body, text } of answers) {
      expect(status, text).toBe(400);
      expect(body).toMatchObject({ code: 'QUERY_REFUSED' });
      expect(text).toContain(JSON.stringify(words).slice(1, -1));
    }
  });

  test('operators and functions are those of the type', async () => {
    const filter = (column: string, operator: string, value: unknown) => ask({ filters: [{ column, operator, value }] });
    expect((await filter('data.phi2', 'contains', '0.')).status).toBe(200);
    expect((await filter('data.phi2::double', 'contains', '0.')).status).toBe(400);
    expect((await filter('data.phi2::double', 'equals', 0.5)).status).toBe(200);
    expect((await filter('data.phi2::double', 'equals', 'high')).status).toBe(400);
    const of = (column: string) => ask({ aggregation: { groupBy: [], functions: [{ column, function: 'sum' }] } });
    expect((await of('data.phi2')).status).toBe(200);
    expect((await of('data.phi2::string')).status).toBe(400);
  });
});
