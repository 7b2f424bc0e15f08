import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC } from 'apache-arrow';
import { ParquetReader } from 'parquetjs-lite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteValues } from '../../src/lakehouse/tables/value-notes.ts';
import { DatabricksLake, LAKE_URL } from '../lakehouse/databricks-lake.ts';
import { publishedUnder } from '../lakehouse/published-lake.ts';
import { settled } from '../lakehouse/databricks-aborts.ts';
import { detailsOf } from '../support/operators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

const CSV = `plot,spad,big,note
1,41.5,9007199254740993,ok
2,38.25,1,"a ""quoted"", note"
3,,2,=1+1
`;
const WORDS = 'org.apache.secret.Exception: gold.hidden';

let lake: DatabricksLake;
let site: TestServer;
let folder: string;
let path: string;
let tableId: string;

beforeAll(async () => {
  lake = await DatabricksLake.open(
    {},
    publishedUnder(LAKE_URL, () => site.lakeFolder),
  );
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-databricks-'));
  writeFileSync(join(folder, 'ca.pem'), lake.server.authority);
  site = await startTestServer({
    DATABRICKS_HOST: `localhost:${lake.server.port}`,
    DATABRICKS_HTTP_PATH: '/sql/1.0/warehouses/test',
    DATABRICKS_LAKE: LAKE_URL,
    DATABRICKS_TOKEN: 'dapi-secret',
    DATABRICKS_CA_FILE: join(folder, 'ca.pem'),
    STATEMENT_TIMEOUT_SECONDS: '2',
  });
  const call = site.as(site.cast.owner);
  const experiment = await call('POST', '/api/v1/experiments', { body: { name: 'Drought', organizationId: site.cast.leafLab } });
  path = `/api/v1/experiments/${String(experiment.body.id)}/data`;
  tableId = await uploadTable(call, String(experiment.body.id), 'spad', CSV);
});
afterAll(async () => {
  await site.stop();
  await lake.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (query: Record<string, string | number> = {}, headers: Record<string, string> = {}) =>
  site.as(site.cast.owner)('GET', path, { query: { tableName: tableId, orderBy: 'plot', ...query }, headers });

test('a page comes from Databricks, named by its request', async () => {
  const answer = await ask({ columns: 'plot,spad,big,note,contributor.name' });
  expect(answer.status).toBe(200);
  const [page] = answer.body;
  expect(page).toMatchObject({ totalRows: 3, totalPages: 1, data: { truncated: false } });
  expect(page.data.rows.map(({ plot, spad, big, note }: Record<string, unknown>) => [plot, spad, big, note])).toEqual([
    [1, 41.5, '9007199254740993', 'ok'],
    [2, 38.25, 1, 'a "quoted", note'],
    [3, null, 2, '=1+1'],
  ]);
  const sent = lake.server.statements.slice(-2);
  expect(sent.map(({ sql }) => sql).join(' ')).toMatch(/from delta\.`s3:\/\/field-lake\/tables\/[0-9a-f-]+\/[0-9a-f-]+` version as of 1\b/);
  for (const { overlay } of sent) expect(overlay).toEqual({ query_tags: `request:${answer.headers.get('x-request-id') ?? ''}` });
});

test('a filter, an aggregate and downloads are answered too', async () => {
  const filtered = await ask({ filters: JSON.stringify([{ column: 'spad', operator: 'greater_than', value: 40 }]) });
  expect(filtered.body[0].totalRows).toBe(1);
  const aggregation = JSON.stringify({ groupBy: [], functions: [{ column: 'spad', function: 'avg', alias: 'mean' }] });
  const mean = await site.as(site.cast.owner)('GET', path, { query: { tableName: tableId, aggregation } });
  expect(mean.body[0].data.rows).toEqual([{ mean: 39.875 }]);
  const csv = await ask({ columns: 'plot,note' }, { accept: 'text/csv' });
  expect(csv.text).toBe(`plot,note\n1,ok\n2,"a ""quoted"", note"\n3,'=1+1\n`);
  const arrow = await ask({ columns: 'plot,big,note' }, { accept: 'application/vnd.apache.arrow.stream' });
  expect(
    tableFromIPC(arrow.bytes)
      .toArray()
      .map(({ plot, big, note }: Record<string, unknown>) => [plot, big, note]),
  ).toEqual([
    [1, 9007199254740993n, 'ok'],
    [2, 1n, 'a "quoted", note'],
    [3, 2n, '=1+1'],
  ]);
  const parquet = await ask({ columns: 'plot,note' }, { accept: 'application/vnd.apache.parquet' });
  const cursor = (await ParquetReader.openBuffer(parquet.bytes)).getCursor();
  expect(await cursor.next()).toMatchObject({ plot: 1, note: 'ok' });
});

/** A filter that keeps every row and was never asked before, so that no answer is at hand. */
let asks = 1_000;
const another = () => JSON.stringify([{ column: 'plot', operator: 'less_than', value: (asks += 1) }]);
const askAnew = () => ask({ filters: another() });

/** Statements that were sent after so many. */
const statementsSince = (count: number) => lake.server.statements.slice(count).map(({ sql }) => sql);

test('what is written shows at the next read, and every statement is pinned to its versions', async () => {
  const call = site.as(site.cast.owner);
  const before = lake.server.statements.length;
  const [page] = (await ask({ columns: 'id,plot,annotations' })).body;
  const [first] = page.data.rows;
  expect(first.annotations).toEqual([]);
  const made = await call('POST', `${path}/annotations`, {
    body: { tableName: tableId, rowId: first.id, annotation: { type: 'comment', content: { type: 'comment', text: 'seen there' } } },
  });
  expect(made.status, made.text).toBe(201);
  const noted = (await ask({ columns: 'id,plot,annotations' })).body[0].data.rows;
  expect(noted[0].annotations).toMatchObject([{ content: { text: 'seen there' } }]);
  const changed = await call('PATCH', `${path}/annotations/${String(noted[0].annotations[0].id)}`, {
    body: { content: { type: 'comment', text: 'changed there' } },
  });
  expect(changed.status, changed.text).toBe(200);
  expect((await ask({ columns: 'plot,annotations' })).body[0].data.rows[0].annotations).toMatchObject([
    { content: { text: 'changed there' } },
  ]);
  const removals = Array.from({ length: 3 }, () => call('DELETE', `${path}/annotations/${String(noted[0].annotations[0].id)}`));
  expect((await Promise.all(removals)).map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
  expect((await ask({ columns: 'plot,annotations' })).body[0].data.rows[0].annotations).toEqual([]);
  await appendTo(call, path.split('/')[4]!, tableId, 'plot,spad,big,note\n4,40,3,late\n');
  const now = await ask();
  expect([now.body[0].totalRows, now.headers.get('x-table-version')]).toEqual([4, '2']);
  const then = await ask({ asOf: 1 });
  expect([then.body[0].totalRows, then.headers.get('x-table-version')]).toEqual([3, '1']);
  const read = statementsSince(before).flatMap((sql) => [...sql.matchAll(/delta\.`[^`]+`(?<pin> version as of \d+)?/g)]);
  expect(read.length).toBeGreaterThan(8);
  expect(read.filter(({ groups }) => groups?.['pin'] === undefined)).toEqual([]);
});

test('an unchanged answer is known by its tag, and costs no statement', async () => {
  const first = await ask({ columns: 'plot' });
  const sent = lake.server.statements.length;
  expect((await ask({ columns: 'plot' }, { 'if-none-match': first.headers.get('etag') ?? '' })).status).toBe(304);
  expect((await ask({ columns: 'plot' })).text).toBe(first.text);
  expect(lake.server.statements.length).toBe(sent);
});

test('distinct values cost no statement once the values of every file are noted', async () => {
  const distinct = (limit: number) =>
    site.as(site.cast.owner)('GET', `${path}/distinct`, { query: { tableName: tableId, column: 'plot', limit } });
  const sent = lake.server.statements.length;
  const before = await distinct(500);
  expect(before.body.values).toContain('3');
  expect(lake.server.statements.length).toBe(sent + 1);
  expect(await noteValues(await site.context(), tableId)).toBeGreaterThan(0);
  // another limit, since kept answers are of a question
  expect((await distinct(501)).body).toEqual(before.body);
  expect(lake.server.statements.length).toBe(sent + 1);
});

test('an export of a version is written from Databricks', async () => {
  const call = site.as(site.cast.owner);
  const sent = lake.server.statements.length;
  const { body } = await call('POST', `${path}/exports`, { body: { tableName: tableId, format: 'csv' } });
  const state = async () => (await call('GET', `${path}/exports/${String(body.exportId)}/status`)).body;
  await expect.poll(async () => (await state()).status).toBe('completed');
  expect((await state()).rowCount).toBe(4);
  expect(statementsSince(sent).join()).toContain('version as of 2');
});

test('a failure tells its caller what to do, and nothing of the warehouse', async () => {
  lake.server.inject({ method: 'GetOperationStatus', times: 2, how: { kind: 'status', message: WORDS } });
  const failed = await askAnew();
  expect([failed.status, failed.body.code]).toEqual([500, 'INTERNAL']);
  lake.server.clearFaults();
  await lake.server.stopFor(60_000, 'status');
  const starting = await askAnew();
  expect([starting.status, starting.body.code, starting.headers.get('retry-after')]).toEqual([503, 'WAREHOUSE_STARTING', '30']);
  await lake.server.stopFor(0, 'status');
  lake.server.accepted.delete('dapi-secret');
  const refused = await askAnew();
  expect([refused.status, refused.body.code]).toEqual([500, 'WAREHOUSE_REFUSED']);
  lake.server.accepted.add('dapi-secret');
  for (const { text } of [failed, starting, refused]) expect(text).not.toMatch(/secret|hidden|session|thrift|driver|localhost/i);
  expect((await askAnew()).status).toBe(200);
});

test('a caller who goes away takes the statement along', async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    const [cancelled, sent] = [lake.server.count('CancelOperation'), lake.server.statements.length];
    lake.server.inject({ method: 'GetOperationStatus', times: 2, how: { kind: 'slow', ms: 1_500 } });
    const gone = new AbortController();
    const url = `${site.server.baseUrl}${path}?${new URLSearchParams({ tableName: tableId, filters: another() }).toString()}`;
    const asked = fetch(url, { headers: { 'x-api-key': site.cast.owner.apiKey }, signal: gone.signal }).catch(() => null);
    while (lake.server.statements.length === sent) await sleep(5);
    gone.abort();
    await asked;
    for (let tries = 0; lake.server.count('CancelOperation') === cancelled && tries < 12_000; tries += 1) await sleep(5);
    expect(lake.server.count('CancelOperation')).toBeGreaterThan(cancelled);
    lake.server.clearFaults();
    expect(await settled(lake, async () => (await detailsOf(site)).warehouse.running)).toEqual([0, 0, 0]);
  }
});
