import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askForReadBack, readBack, readBackChanges } from '../../src/api/lake/read-back.service.ts';
import { sql } from '../../src/database/sql.ts';
import { DatabricksLake } from '../lakehouse/databricks-lake.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let lake: DatabricksLake;
let site: TestServer;
let folder: string;
let experimentId: string;
let path: string;
const table = randomUUID();
const upload = randomUUID();

const literal = (value: string | number | boolean | null) =>
  value === null ? 'null' : typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
const put = (name: string, row: Readonly<Record<string, string | number | boolean | null>>) =>
  lake.engine.run(
    `insert into gold.${name} by name select ${Object.entries(row)
      .map(([key, value]) => `${literal(value)} as ${key}`)
      .join(', ')}`,
  );

const count = (
  kind: string,
  identifier: string,
  row_count: number,
  more: Readonly<Record<string, string | number | boolean | null>> = {},
) => put('table_counts', { experiment_id: experimentId, kind, identifier, name: null, row_count, state: `${row_count} once`, ...more });
const column = (name: string, type: string, position: number, more: Readonly<Record<string, string | number | boolean | null>> = {}) =>
  put('table_columns', {
    ...{
      experiment_id: experimentId,
      table_id: table,
      name,
      original_key: null,
      type,
      origin: 'uploaded',
      has_values: true,
      exact_double: true,
      position,
    },
    ...more,
  });
const report = (file: string, ordinal: number, more: Readonly<Record<string, string | number | boolean | null>>) =>
  put('ingest_reports', {
    ...{
      experiment_id: experimentId,
      table_id: table,
      upload_id: upload,
      source_kind: 'csv',
      contributor_id: site.cast.owner.id,
      path: file,
      ordinal,
    },
    ...{
      uploaded_at: '2026-03-01T10:00:00.123456Z',
      status: 'completed',
      stored: 0,
      quarantined: 0,
      already_there: 0,
      reason: null,
      message: null,
      columns: '[]',
    },
    ...more,
  });

const tables = async () => {
  const { body } = await site.as(site.cast.owner)('GET', `/api/v1/experiments/${experimentId}/tables`);
  return body as {
    identifier: string;
    displayName: string;
    totalRows: number;
    version: number;
    columns: { name: string; originalKey: string | null; type: string }[];
  }[];
};
const expanded = async () => (await tables()).find(({ identifier }) => identifier === table);
const shown = ({ columns = [] }: Partial<Awaited<ReturnType<typeof tables>>[number]> = {}) =>
  columns.slice(-3).map(({ name, originalKey, type }) => [name, originalKey, type]);
const bring = async () => readBack(await site.context());

beforeAll(async () => {
  lake = await DatabricksLake.open();
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-read-back-'));
  writeFileSync(join(folder, 'ca.pem'), lake.server.authority);
  site = await startTestServer({
    DATABRICKS_HOST: `localhost:${lake.server.port}`,
    DATABRICKS_HTTP_PATH: '/sql/1.0/warehouses/test',
    DATABRICKS_CATALOG: 'field',
    DATABRICKS_TOKEN: 'dapi-secret',
    DATABRICKS_CA_FILE: join(folder, 'ca.pem'),
    // its own watch would look in between
    WORKER: 'off',
  });
  const experiment = await site.as(site.cast.owner)('POST', '/api/v1/experiments', {
    body: { name: 'Drought', organizationId: site.cast.leafLab },
  });
  experimentId = String(experiment.body.id);
  path = `/api/v1/experiments/${experimentId}/data`;
});
afterAll(async () => {
  await site.stop();
  await lake.close();
  rmSync(folder, { recursive: true, force: true });
});

test('before a pipeline has made its tables there is nothing to bring', async () => {
  const missing = '[TABLE_OR_VIEW_NOT_FOUND] The table or view `gold`.`table_counts` cannot be found.';
  lake.server.inject({ method: 'GetOperationStatus', times: 1, how: { kind: 'status', message: missing } });
  await readBackChanges(await site.context(), new AbortController().signal);
  await askForReadBack(site.db);
  lake.server.inject({ method: 'GetOperationStatus', times: 1, how: { kind: 'status', message: 'another fault' } });
  await expect(readBackChanges(await site.context(), new AbortController().signal)).rejects.toThrow();
  lake.server.clearFaults();
});

test('columns, counts and reports of tables there are those of the API', async () => {
  await lake.engine.run(
    'create table gold.table_counts (experiment_id varchar, kind varchar, identifier varchar, name varchar, row_count bigint, state varchar)',
  );
  await lake.engine
    .run(`create table gold.table_columns (experiment_id varchar, table_id varchar, name varchar, original_key varchar, type varchar, origin varchar,
    has_values boolean, exact_double boolean, position integer)`);
  await lake.engine
    .run(`create table gold.ingest_reports (experiment_id varchar, table_id varchar, upload_id varchar, source_kind varchar, contributor_id varchar, path varchar,
    ordinal integer, uploaded_at timestamptz, status varchar, stored bigint, quarantined bigint, already_there bigint, reason varchar, message varchar, columns varchar)`);
  expect(await bring()).toStrictEqual({ tables: 0, failed: 0, columns: 0, reports: 0 });
  await count('raw_data', 'raw_data', 7);
  await column('site', 'STRING', 1, { table_id: 'raw_data', origin: 'question' });
  // of another experiment's measurements
  await column('elsewhere', 'STRING', 1, { table_id: 'raw_data', origin: 'question', experiment_id: randomUUID() });
  await count('upload', table, 2, { name: 'field_sheet' });
  await column('spad', 'DOUBLE', 3);
  await column('plot', 'INT', 1);
  await column('data_id', 'DECIMAL(38,2)', 2, { original_key: 'id' });
  await report('a.csv', 0, { stored: 2, columns: '[{"name":"plot","originalKey":"plot","type":"INT","oddValues":0}]' });
  await report('b.csv', 1, { status: 'failed', reason: 'empty_file', message: 'The file is empty: it has no header line.' });
  await lake.engine.run(
    `insert into gold.upload by name select '${'0'.repeat(32)}' || i as id, timestamptz '2026-03-01 10:00:00Z' as uploaded_at, '${experimentId}' as experiment_id,
      '${upload}' as upload_id, '${site.cast.owner.id}' as contributor_id, '${table}' as upload_table_id,
      ('{"plot":' || i || ',"data_id":' || i || '.25,"spad":41.5}')::json::variant as uploaded_data from range(2) t(i)`,
  );
  await bring();
  const raw = (await tables()).find(({ identifier }) => identifier === 'raw_data');
  expect(raw?.totalRows).toBe(7);
  expect(raw?.columns.map(({ name }) => name).filter((name) => ['site', 'elsewhere'].includes(name))).toStrictEqual(['site']);
  const found = await expanded();
  expect(found).toMatchObject({ displayName: 'field_sheet', totalRows: 2 });
  expect(shown(found)).toStrictEqual([
    ['plot', null, 'INT'],
    ['data_id', 'id', 'DECIMAL(38,2)'],
    ['spad', null, 'DOUBLE'],
  ]);
  const read = await site.as(site.cast.owner)('GET', path, {
    query: { tableName: 'field_sheet', columns: 'plot,data_id,spad', orderBy: 'plot' },
  });
  expect(read.body[0].data.rows).toStrictEqual([
    { plot: 0, data_id: '0.25', spad: 41.5 },
    { plot: 1, data_id: '1.25', spad: 41.5 },
  ]);
  const said = await site.as(site.cast.owner)('GET', `${path}/uploads/${upload}`);
  expect(said.body).toMatchObject({
    ...{
      status: 'partial',
      fileCount: 2,
      rowCount: 2,
      rowsIn: 2,
      quarantined: 0,
      alreadyThere: 0,
      uploadTableName: 'field_sheet',
      sourceKind: 'csv',
    },
    ...{
      createdBy: site.cast.owner.id,
      createdAt: '2026-03-01T10:00:00.123Z',
      errorMessage: 'b.csv: The file is empty: it has no header line.',
    },
    files: [
      { path: 'a.csv', status: 'completed', stored: 2, columns: [{ name: 'plot', type: 'INT' }] },
      { path: 'b.csv', status: 'failed', stored: 0, reason: 'empty_file' },
    ],
  });
});

test('what has not changed is not read again', async () => {
  const before = lake.server.statements.length;
  const found = await expanded();
  expect(await bring()).toStrictEqual({ tables: 0, failed: 0, columns: 0, reports: 0 });
  expect(lake.server.statements.slice(before).map(({ sql }) => /from (gold\.\w+)/.exec(sql)?.[1])).toStrictEqual(['gold.table_counts']);
  expect(await expanded()).toStrictEqual(found);
});

test('a table that changed is brought up to date, and several at once bring it once', async () => {
  const before = await expanded();
  await lake.engine.run(`update gold.table_counts set row_count = 50, state = '50 now' where identifier = '${table}'`);
  await lake.engine.run(`update gold.table_columns set type = 'DOUBLE' where table_id = '${table}' and name = 'plot'`);
  await lake.engine.run(
    `update gold.ingest_reports set stored = 48, quarantined = 2, status = 'partial', reason = 'too_few_fields', message = 'Not stored: 2 × too few fields.' where path = 'a.csv'`,
  );
  await Promise.all([bring(), bring(), bring()]);
  const after = await expanded();
  expect(after).toMatchObject({ totalRows: 50, version: (before?.version ?? 0) + 1 });
  expect(shown(after)[0]).toStrictEqual(['plot', null, 'DOUBLE']);
  const said = await site.as(site.cast.owner)('GET', `${path}/uploads/${upload}`);
  expect(said.body).toMatchObject({ status: 'partial', rowsIn: 50, rowCount: 48, quarantined: 2 });
  expect(said.body.errorMessage).toContain('a.csv: Not stored: 2 × too few fields.');
  expect(await bring()).toStrictEqual({ tables: 0, failed: 0, columns: 0, reports: 0 });
});

test('a table that cannot be brought stops no other, and experiments that are gone get none', async () => {
  const [bad, taken, good] = [randomUUID(), randomUUID(), randomUUID()];
  await count('upload', bad, 1, { name: 'unreadable' });
  await put('table_columns', {
    ...{ experiment_id: experimentId, table_id: bad, name: 'x', type: 'NO SUCH TYPE' },
    ...{ origin: 'uploaded', has_values: true, exact_double: true, position: 1 },
  });
  await count('upload', taken, 1, { name: 'FIELD_sheet' });
  await count('upload', good, 3, { name: 'readable' });
  await count('upload', randomUUID(), 9, { name: 'elsewhere', experiment_id: randomUUID() });
  expect(await bring()).toMatchObject({ tables: 3, failed: 2 });
  const names = (await tables()).map(({ displayName, totalRows }) => [displayName, totalRows]);
  expect(names.slice(2).sort()).toStrictEqual([
    ['field_sheet', 50],
    ['readable', 3],
  ]);
  // they are tried again, and brought once they can be
  await lake.engine.run(`update gold.table_columns set type = 'STRING' where table_id = '${bad}'`);
  expect(await bring()).toMatchObject({ tables: 2, failed: 1, columns: 1 });
  expect((await tables()).map(({ displayName }) => displayName)).toContain('unreadable');
});

describe('a look that may start a warehouse', () => {
  const landedAgo = async (seconds: number | null) => {
    await site.db.run(sql('test')`update uploads set shared_at = now()`);
    if (seconds === null) return;
    await site.db.run(
      sql('test')`update uploads set landed_at = now() - make_interval(secs => ${seconds}), shared_at = null where id = ${upload}`,
    );
  };
  const watch = async () => readBackChanges(await site.context(), new AbortController().signal);
  const looks = () => lake.server.statements.filter(({ sql: text }) => text.includes('gold.table_counts')).length;
  /** Whether a watch looks, so many seconds after the last look. */
  const looksAfter = async (seconds: number) => {
    await site.db.run(sql('test')`update shared_looks set looked_at = now() - make_interval(secs => ${seconds})`);
    const before = looks();
    await watch();
    return looks() > before;
  };
  const HOUR = 3_600;

  test('comes in a long while when nothing is waited for, or when it is asked for', async () => {
    await landedAgo(null);
    expect(await looksAfter(0)).toBe(false);
    expect(await looksAfter(5.9 * HOUR)).toBe(false);
    expect(await looksAfter(6 * HOUR)).toBe(true);
    // it counts as the last one
    const before = looks();
    await watch();
    expect(looks()).toBe(before);
    await askForReadBack(site.db);
    await watch();
    expect(looks()).toBe(before + 1);
  });

  test('is made once, however many processes want it', async () => {
    await landedAgo(null);
    await askForReadBack(site.db);
    const before = looks();
    await Promise.all([watch(), watch(), watch(), watch()]);
    expect(looks()).toBe(before + 1);
  });

  test('comes often after files were landed, and less often the longer their report is waited for', async () => {
    await landedAgo(60);
    expect(await looksAfter(29)).toBe(false);
    expect(await looksAfter(30)).toBe(true);
    await landedAgo(HOUR);
    expect(await looksAfter(14 * 60)).toBe(false);
    expect(await looksAfter(16 * 60)).toBe(true);
    await landedAgo(1_000 * HOUR);
    expect(await looksAfter(5.9 * HOUR)).toBe(false);
    expect(await looksAfter(6.1 * HOUR)).toBe(true);
  });

  test('is no longer waited for once every file of the upload has its report', async () => {
    await landedAgo(60);
    const again = async (change: string) => {
      await lake.engine.run(`update gold.ingest_reports set ${change} where upload_id = '${upload}' and path = 'b.csv'`);
      await lake.engine.run(`update gold.table_counts set state = state || ' again' where identifier = '${table}'`);
      await bring();
    };
    await again(`status = 'pending', reason = null, message = null`);
    expect(await looksAfter(30)).toBe(true);
    await again(`status = 'failed', reason = 'empty_file', message = 'The file is empty.'`);
    expect(await looksAfter(30)).toBe(false);
    expect(await looksAfter(HOUR)).toBe(false);
  });
});
