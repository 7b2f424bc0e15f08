/** An export of many rows, while it runs: its progress, and how soon it is over when it is cancelled. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { detailsOf } from '../support/operators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const ROWS = Number(process.env.ROWS ?? 2_000_000);
let site: TestServer;
let base: string;

beforeAll(async () => {
  site = await startTestServer();
  const owner = site.as(site.cast.owner);
  const { id } = (await owner('POST', '/api/v1/experiments', { body: { name: 'Large', organizationId: site.cast.leafLab } })).body as {
    id: string;
  };
  base = `/api/v1/experiments/${id}/data`;
  const path = join(site.dataDir, 'large.parquet');
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  await connection.run(
    `copy (select i as n, i / 7 as share, 'row ' || i as note, md5(i::varchar) as mark from range(${ROWS}) t(i)) to '${path}' (format parquet)`,
  );
  connection.closeSync();
  instance.closeSync();
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'parquet', targetKind: 'new', targetName: 'large' })) form.append(field, value);
  form.append('files', await openAsBlob(path), 'large.parquet');
  const made = await owner('POST', `${base}/uploads`, { body: form });
  for (;;) {
    const { body } = await owner('GET', `${base}/uploads/${String(made.body.uploadId)}`);
    if (body.status === 'completed') return;
    if (body.status === 'failed') throw new Error(String(body.errorMessage));
    await sleep(200);
  }
}, 600_000);
afterAll(() => site.stop());

const started = async (format: string): Promise<string> => {
  const made = await site.as(site.cast.owner)('POST', `${base}/exports`, { body: { tableName: 'large', format } });
  expect(made.status, made.text).toBe(201);
  return `${base}/exports/${String(made.body.exportId)}`;
};
const status = async (path: string) => (await site.as(site.cast.owner)('GET', `${path}/status`)).body;

test.each(['csv', 'json', 'arrow'])('%s: progress comes at least every 2 s', async (format) => {
  const path = await started(format);
  let [percent, since, longest, steps, first] = [-1, performance.now(), 0, 0, 0];
  for (;;) {
    const state = await status(path);
    const now = performance.now();
    if (state.status === 'running' && state.progress.percent !== percent) {
      expect(state.progress.percent).toBeGreaterThan(percent);
      expect(state.progress.percent).toBeLessThanOrEqual(100);
      // what it waited before it began is the queue's
      if (percent >= 0) longest = Math.max(longest, now - since);
      if (state.progress.rows === 0) first = state.progress.percent;
      [percent, since] = [state.progress.percent, now];
      steps += 1;
    }
    if (state.status === 'completed') {
      longest = Math.max(longest, now - since);
      expect(state.progress).toMatchObject({ percent: 100, rows: ROWS });
      break;
    }
    expect(['queued', 'running']).toContain(state.status);
    await sleep(50);
  }
  console.log(
    `${format} of ${ROWS} rows: ${steps} steps of progress, at most ${Math.round(longest)} ms apart; ${first} % before the first row`,
  );
  expect(longest).toBeLessThan(2_000);
});

test.each(['csv', 'json', 'arrow', 'parquet'])('%s: a cancelled export lets go of the engine within a second', async (format) => {
  const exporting = async () => (await detailsOf(site)).warehouse.exporting;
  const path = await started(format);
  while ((await exporting()) === 0) await sleep(5);
  await sleep(100);
  const from = performance.now();
  expect((await site.as(site.cast.owner)('DELETE', path)).status).toBe(200);
  expect((await status(path)).status).toBe('cancelled');
  while ((await exporting()) > 0) await sleep(5);
  const took = performance.now() - from;
  console.log(`${format}: cancelled after ${Math.round(took)} ms`);
  expect(took).toBeLessThan(1_000);
  expect((await site.as(site.cast.owner)('GET', path)).body.code).toBe('EXPORT_CANCELLED');
});
