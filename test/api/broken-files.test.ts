import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataFilesOf } from '../support/lake-files.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const ROWS = 6_000;

test('a read of many rows that fails before the first of them is sent is a problem document', async () => {
  const call = site.as(site.cast.owner);
  const { id } = (await call('POST', '/api/v1/experiments', { body: { name: 'Broken', organizationId: site.cast.leafLab } })).body;
  const rows = Array.from({ length: ROWS }, (_, at) => `${at},${Math.sin(at)},${Math.cos(at)}`);
  const body = new FormData();
  for (const [name, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: 'waves' })) body.append(name, value);
  body.append('files', new Blob([`at,sine,cosine\n${rows.join('\n')}\n`]), 'waves.csv');
  const { uploadId, uploadTableId } = (await call('POST', `/api/v1/experiments/${id}/data/uploads`, { body })).body;
  const status = async () => (await call('GET', `/api/v1/experiments/${id}/data/uploads/${uploadId}`)).body.status as string;
  while (['pending', 'running'].includes(await status())) await sleep(50);
  const read = (limit: number) => call('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: uploadTableId, limit } });
  const whole = await read(ROWS);
  expect(whole.status).toBe(200);
  expect(whole.body[0].data.rows).toHaveLength(ROWS);

  const files = dataFilesOf(site.lakeFolder, uploadTableId);
  expect(files.length).toBeGreaterThan(0);
  for (const path of files) {
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, 4, bytes.length - 4_096));
  }
  // an answer that was given is kept
  const broken = await read(ROWS - 1);
  expect(broken).toMatchObject({ status: 500, body: { status: 500, code: 'LAKE_FILE_UNREADABLE' } });
  expect(broken.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(JSON.stringify(broken.body)).not.toContain(site.lakeFolder);
});
