import { VARCHAR } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeBoundedConverter } from '../../src/lakehouse/engines/duckdb/bounded.ts';
import { sql } from '../../src/database/sql.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let little: TestServer;
beforeAll(async () => {
  site = await startTestServer();
  // neither the engine of exports nor that of reads has memory for 80 MB of texts, printed
  little = await startTestServer({ DUCKDB_MEMORY_MB: '256' });
});
afterAll(async () => {
  await site.stop();
  await little.stop();
});

test('a chart of texts of 40 MB is refused, and one of some of its rows is drawn', async () => {
  const owner = site.as(site.cast.owner);
  const id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Texts', organizationId: site.cast.leafLab } })).body.id;
  const csv = ['n,note', ...Array.from({ length: 40 }, (_, row) => `${row},${String.fromCodePoint(97 + (row % 26)).repeat(1_000_000)}`)];
  const tableName = await uploadTable(owner, id, 'notes', csv.join('\n'));
  const source = (role: string, columnName: string) => ({ tableName, columnName, role });
  const draw = (most: number) => {
    const filters = [{ column: 'n', operator: 'less_than', value: most }];
    const chart = { chartType: 'line', dataConfig: { tableName, dataSources: [source('x', 'n'), source('y', 'note')], filters } };
    return owner('GET', `/api/v1/experiments/${id}/chart?chart=${encodeURIComponent(JSON.stringify(chart))}`);
  };
  expect(await draw(2)).toMatchObject({ status: 200 });
  expect(await draw(40)).toMatchObject({ status: 400, body: { code: 'QUERY_REFUSED', detail: expect.stringContaining('32 MiB') } });
});

test('a read that does not fit the memory of the engine is refused and said so, and is read in parts', async () => {
  const owner = little.as(little.cast.owner);
  const id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Long', organizationId: little.cast.leafLab } })).body.id;
  const csv = ['n,note', ...Array.from({ length: 20 }, (_, row) => `${row},${String.fromCodePoint(97 + row).repeat(4_000_000)}`)];
  const tableName = await uploadTable(owner, id, 'long', csv.join('\n'));
  const read = (query: object) => owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName, ...query } });
  for (const query of [{ pageSize: 2 }, { columns: 'n' }]) expect((await read(query)).status).toBe(200);
  expect(await read({})).toMatchObject({ status: 400, body: { code: 'READ_TOO_LARGE', detail: expect.stringContaining('more memory') } });

  const exports = `/api/v1/experiments/${id}/data/exports`;
  const { exportId } = (await owner('POST', exports, { body: { tableName, format: 'ndjson' } })).body as { exportId: string };
  const status = async () => (await owner('GET', `${exports}/${exportId}/status`)).body as { status: string; errorMessage: string | null };
  const attempts = async () =>
    (await little.db.one<{ attempt: number }>(sql('test.attempts')`select attempt from exports where id = ${exportId}`))?.attempt;
  await expect.poll(attempts, { timeout: 60_000 }).toBe(2);
  // the next error is the fifth
  await little.db.run(sql('test.errors')`update exports set errors = 4 where id = ${exportId}`);
  await expect.poll(async () => (await status()).status, { timeout: 60_000 }).toBe('failed');
  expect((await status()).errorMessage).toContain('more memory');
});

test('an answer of 64 Mi characters is converted, and not one more', () => {
  const whole = makeBoundedConverter();
  const parts = Array.from({ length: 64 }, () => 'x'.repeat(1_048_576));
  expect(parts.map((part) => whole(part, VARCHAR, whole))).toEqual(parts);
  expect(() => whole('x', VARCHAR, whole)).toThrow('64 MiB');
});
