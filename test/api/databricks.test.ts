import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC } from 'apache-arrow';
import { ParquetReader } from 'parquetjs-lite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DatabricksLake } from '../lakehouse/databricks-lake.ts';
import { settled } from '../lakehouse/databricks-aborts.ts';
import { dataFiles } from '../support/lake-files.ts';
import { detailsOf } from '../support/operators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

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

/** Rows that were stored here, in the tables there. */
async function carry(): Promise<void> {
  for (const file of dataFiles(site.lakeFolder)) await lake.write(`select * from read_parquet('${file.path}')`, file.tableId);
}

beforeAll(async () => {
  lake = await DatabricksLake.open();
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-databricks-'));
  writeFileSync(join(folder, 'ca.pem'), lake.server.authority);
  site = await startTestServer({
    DATABRICKS_HOST: `localhost:${lake.server.port}`,
    DATABRICKS_HTTP_PATH: '/sql/1.0/warehouses/test',
    DATABRICKS_CATALOG: 'field',
    DATABRICKS_TOKEN: 'dapi-secret',
    DATABRICKS_CA_FILE: join(folder, 'ca.pem'),
    STATEMENT_TIMEOUT_SECONDS: '2',
  });
  const call = site.as(site.cast.owner);
  const experiment = await call('POST', '/api/v1/experiments', { body: { name: 'Drought', organizationId: site.cast.leafLab } });
  path = `/api/v1/experiments/${String(experiment.body.id)}/data`;
  tableId = await uploadTable(call, String(experiment.body.id), 'spad', CSV);
  await carry();
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
  expect(sent.map(({ sql }) => sql).join(' ')).toContain('from `gold`.`upload`');
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

test('rows that came since are seen: no answer is taken for unchanged', async () => {
  const before = await ask();
  await lake.engine.run(
    `delete from gold.upload where upload_table_id = '${tableId}' and variant_extract(uploaded_data, 'plot')::integer = 3`,
  );
  const after = await ask({}, { 'if-none-match': before.headers.get('etag') ?? '' });
  expect([after.status, after.body[0].totalRows]).toEqual([200, 2]);
});

test('a failure tells its caller what to do, and nothing of the warehouse', async () => {
  lake.server.inject({ method: 'GetOperationStatus', times: 2, how: { kind: 'status', message: WORDS } });
  const failed = await ask();
  expect([failed.status, failed.body.code]).toEqual([500, 'INTERNAL']);
  lake.server.clearFaults();
  await lake.server.stopFor(60_000, 'status');
  const starting = await ask();
  expect([starting.status, starting.body.code, starting.headers.get('retry-after')]).toEqual([503, 'WAREHOUSE_STARTING', '30']);
  await lake.server.stopFor(0, 'status');
  lake.server.accepted.delete('dapi-secret');
  const refused = await ask();
  expect([refused.status, refused.body.code]).toEqual([500, 'WAREHOUSE_REFUSED']);
  lake.server.accepted.add('dapi-secret');
  for (const { text } of [failed, starting, refused]) expect(text).not.toMatch(/secret|hidden|session|thrift|driver|localhost/i);
  expect((await ask()).status).toBe(200);
});

test('a caller who goes away takes the statement along', async () => {
  const url = `${site.server.baseUrl}${path}?tableName=${tableId}`;
  for (let turn = 0; turn < 5; turn += 1) {
    const [cancelled, sent] = [lake.server.count('CancelOperation'), lake.server.statements.length];
    lake.server.inject({ method: 'GetOperationStatus', times: 2, how: { kind: 'slow', ms: 1_500 } });
    const gone = new AbortController();
    const asked = fetch(url, { headers: { 'x-api-key': site.cast.owner.apiKey }, signal: gone.signal }).catch(() => null);
    while (lake.server.statements.length === sent) await sleep(5);
    gone.abort();
    await asked;
    for (let tries = 0; lake.server.count('CancelOperation') === cancelled && tries < 200; tries += 1) await sleep(5);
    expect(lake.server.count('CancelOperation')).toBeGreaterThan(cancelled);
    lake.server.clearFaults();
    expect(await settled(lake, async () => (await detailsOf(site)).warehouse.running)).toEqual([0, 0, 0]);
  }
});
