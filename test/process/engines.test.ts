/** Which engine answers, and the commands for Databricks, beside a built server whose lake a warehouse of the tests reads. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { DatabricksLake, LAKE_URL } from '../lakehouse/databricks-lake.ts';
import { publishedUnder } from '../lakehouse/published-lake.ts';
import { runCommand } from '../support/command.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

const MIB = 1_048_576;
let lake: DatabricksLake;
let site: TestServer;
let folder: string;
let settings: Record<string, string>;
let data: string;
let small: string;
let large: string;
beforeAll(async () => {
  lake = await DatabricksLake.open(
    {},
    publishedUnder(LAKE_URL, () => site.lakeFolder),
  );
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-engines-'));
  writeFileSync(join(folder, 'ca.pem'), lake.server.authority);
  settings = {
    DATABRICKS_HOST: `localhost:${lake.server.port}`,
    DATABRICKS_HTTP_PATH: '/sql/1.0/warehouses/test',
    DATABRICKS_TOKEN: 'dapi-secret',
    DATABRICKS_CA_FILE: join(folder, 'ca.pem'),
    DATABRICKS_LAKE: LAKE_URL,
    DATABRICKS_CATALOG: 'field',
  };
  site = await startTestServer({ ...settings, ENGINE: 'auto', ENGINE_DUCKDB_MB: '1', RESULT_CACHE_MB: '0' });
  const call = site.as(site.cast.owner);
  const { id } = (await call('POST', '/api/v1/experiments', { body: { name: 'Zweite Dürre', organizationId: site.cast.leafLab } })).body;
  data = `/api/v1/experiments/${String(id)}/data`;
  small = await uploadTable(call, id, 'few', 'n,x\n1,0.5\n2,0.25\n');
  // text that does not compress makes it large with few rows
  const rows = Array.from({ length: 15_000 }, (_, n) => `${n},${Math.random()},${randomBytes(96).toString('base64')}`);
  large = await uploadTable(call, id, 'many', `n,x,noise\n${rows.join('\n')}\n`);
});
afterAll(async () => {
  await site.stop();
  await lake.close();
  rmSync(folder, { recursive: true, force: true });
});

const read = (tableName: string, query: Record<string, string | number> = {}) =>
  site.as(site.cast.owner)('GET', data, { query: { tableName, ...query } });
const sentBy = async (work: () => Promise<unknown>) => {
  const before = lake.server.statements.length;
  await work();
  return lake.server.statements.length - before;
};
const mean = JSON.stringify({ groupBy: [], functions: [{ column: 'x', function: 'avg', alias: 'mean' }] });

test('with `auto` DuckDB answers what looks at little, and Databricks what looks at much', async () => {
  const [bytes] = await site.db.rows<{ bytes: number }>(
    sql('test')`select sum(byte_count)::int as bytes from lake_files where table_id = ${large} and to_version is null`,
  );
  expect(bytes?.bytes).toBeGreaterThan(MIB);
  expect(await sentBy(async () => expect((await read(small, { aggregation: mean })).body[0].data.rows).toEqual([{ mean: 0.375 }]))).toBe(0);
  expect(await sentBy(async () => expect((await read(large, { aggregation: mean })).status).toBe(200))).toBeGreaterThan(0);
  // the manifest knows that no file holds such a row
  const filters = JSON.stringify([{ column: 'n', operator: 'greater_than', value: 1_000_000 }]);
  expect(await sentBy(async () => expect((await read(large, { filters })).body[0].totalRows).toBe(0))).toBe(0);
});

test('a version that is not published yet is 503, and is answered once it is', async () => {
  const held = await site.db.one<{ version: number }>(sql('test')`
    update lake_tables set published_version = published_version - 1 where id = ${large} returning version`);
  const waiting = await read(large);
  expect([waiting.status, waiting.body.code]).toEqual([503, 'LAKE_NOT_PUBLISHED']);
  const soon = read(large, { aggregation: mean });
  await site.db.run(sql('test')`update lake_tables set published_version = ${held!.version} where id = ${large}`);
  expect((await soon).status).toBe(200);
});

const command = (verb: string, environment = settings) =>
  runCommand({ url: site.database.url, dataDir: site.dataDir, environment }, 'lake', verb);

test('npm run lake -- check-databricks tries what reads rest on, says what does not hold, and leaves nothing', async () => {
  const listed = async () => {
    const found: string[] = [];
    for await (const { key } of (await site.context()).lake.list('tables/')) found.push(key);
    return found.sort();
  };
  const before = await listed();
  const [{ code, text, problem }, elsewhere] = await Promise.all([
    command('check-databricks'),
    command('check-databricks', { ...settings, DATABRICKS_LAKE: 's3://another' }),
  ]);
  expect([code, problem]).toEqual([0, '']);
  const lines = text.trim().split('\n');
  expect(lines.length).toBeGreaterThan(12);
  expect(lines.filter((line) => !line.startsWith('holds: '))).toEqual([]);
  expect(await listed()).toEqual(before);
  lake.server.accepted.delete('dapi-secret');
  const refused = await command('check-databricks');
  lake.server.accepted.add('dapi-secret');
  expect(refused.code).toBe(1);
  expect(refused.text).toMatch(/^DOES NOT HOLD: a statement is answered/);
  expect(refused.text).not.toContain('dapi-secret');
  expect([elsewhere.code, elsewhere.text]).toEqual([
    1,
    expect.stringContaining('DOES NOT HOLD: a table of the lake is found under its URL'),
  ]);
});

test('npm run lake -- register names each table once', async () => {
  const sent = () => lake.server.statements.map(({ sql: text }) => text).filter((text) => text.includes('create table'));
  const from = sent().length;
  lake.engine.answers.set(/^show tables in `field`.`fieldlake`$/, () => `select 'zweite_durre_few_${small.slice(-12)}' as "tableName"`);
  lake.engine.answers.set(/^create (schema|table) /, () => 'select 1 as done');
  const { DATABRICKS_CATALOG: _catalog, ...others } = settings;
  const [{ code, json, problem }, without] = await Promise.all([command('register'), command('register', others)]);
  expect([code, problem]).toEqual([0, '']);
  expect(json.named).toContain(`zweite_durre_many_${large.slice(-12)}`);
  expect(json.named).not.toContain(`zweite_durre_few_${small.slice(-12)}`);
  const made = sent().slice(from);
  expect(made).toHaveLength(json.named.length);
  const experimentId = data.split('/')[4]!;
  expect(made).toContain(
    `create table if not exists \`field\`.\`fieldlake\`.\`zweite_durre_many_${large.slice(-12)}\` using delta location '${LAKE_URL}/tables/${experimentId}/${large}'`,
  );
  expect([without.code, without.problem]).toEqual([1, expect.stringContaining('DATABRICKS_CATALOG')]);
});
