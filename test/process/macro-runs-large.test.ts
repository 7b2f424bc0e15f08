import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readElements } from '../../src/api/macro-runs/elements.ts';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { openDuckdbWriter } from '../../src/lakehouse/engines/duckdb/write.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer({ MACRO_LANGUAGES: 'javascript', DUCKDB_MEMORY_MB: '128' });
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

/** Together more than the memory of the engine that looks through them. */
const MEASUREMENTS = 20;
const BYTES = 8_000_000;

test('a run whose measurements cannot be found in the memory of the engine ends, and says why', { timeout: 400_000 }, async () => {
  const organizationId = site.cast.leafLab;
  const experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Large', organizationId } })).body.id;
  const code = 'return { length: json.text.length };';
  const macroId = (await owner('POST', '/api/v1/macros', { body: { name: 'Length', language: 'javascript', code, organizationId } })).body
    .id;
  const measurement = (n: number) => ({
    timestamp: new Date(Date.UTC(2026, 4, 1, 10, 0, n)).toISOString(),
    device_id: 'd',
    sample: gzipSync(JSON.stringify({ text: String.fromCodePoint(97 + (n % 26)).repeat(BYTES) })).toString('base64'),
    _sample_encoding: 'gzip+base64',
  });
  const stored = () =>
    site.db.one(sql('test.stored')`select status from messages where experiment_id = ${experimentId} and status = 'pending' limit 1`);
  // a few at a time: those that come together are written together
  for (let n = 0; n < MEASUREMENTS; n += 4) {
    const bodies = Array.from({ length: 4 }, (_, at) => Buffer.from(JSON.stringify(measurement(n + at))));
    await storeMessages(
      site.db,
      bodies.map((body) => ({ experimentId, userId: site.cast.owner.id, body })),
    );
    while (await stored()) await sleep(50);
  }
  const run = async (body: object) => {
    const made = await owner('POST', `/api/v1/experiments/${experimentId}/macros/${macroId}/run`, { body });
    expect([made.status, made.text]).toEqual([201, expect.anything()]);
    const found = async () =>
      (await owner('GET', `/api/v1/experiments/${experimentId}/data/macros/${macroId}/reprocess/${made.body.id}`)).body as object;
    await expect.poll(found, { timeout: 180_000, interval: 500 }).toMatchObject({ status: 'completed' });
    return found();
  };
  const none = [{ column: 'device_id', operator: 'equals', value: 'other' }];
  expect(await run({ filters: none })).toMatchObject({ totalRows: 0, note: expect.stringContaining('No measurement matches') });
  const large = [{ column: 'data.text', operator: 'contains', value: 'zzz' }];
  expect(await run({ filters: large })).toMatchObject({ totalRows: 0, note: expect.stringContaining('more memory') });
  // those that are found are read in as many parts as it takes
  const all = [{ column: 'device_id', operator: 'equals', value: 'd' }];
  expect(await run({ filters: all })).toMatchObject({ totalRows: MEASUREMENTS, doneRows: MEASUREMENTS });
  const { body } = await owner('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName: macroId } });
  const rows = body[0].data.rows as { length?: number | null; macro_error: string | null }[];
  expect(rows).toHaveLength(MEASUREMENTS);
  // on a busy machine a macro may take longer than it may for so much text
  const ends = rows.map(({ length, macro_error: error }) => length ?? error?.split(':')[0]);
  process.stdout.write(`macros over 8 MB of text: ${ends.filter((end) => end === BYTES).length} of ${MEASUREMENTS} in time\n`);
  expect(ends.filter((end) => end !== BYTES && end !== 'TimeoutError')).toEqual([]);
});

test('measurements that do not fit the memory of the engine together are read in parts, one that never fits becomes an error', async () => {
  const { body: experiment } = await owner('POST', '/api/v1/experiments', { body: { name: 'Parts' } });
  const text = 'x'.repeat(6_000_000);
  const sample = gzipSync(JSON.stringify({ text })).toString('base64');
  const bodies = Array.from({ length: 8 }, (_, n) => ({
    timestamp: new Date(Date.UTC(2026, 4, 1, 10, 0, n)).toISOString(),
    device_id: `d-${n}`,
    sample,
    _sample_encoding: 'gzip+base64',
  }));
  // together, so that they lie in one file
  await storeMessages(
    site.db,
    bodies.map((body) => ({ experimentId: experiment.id, userId: site.cast.owner.id, body: Buffer.from(JSON.stringify(body)) })),
  );
  const read = () =>
    owner('GET', `/api/v1/experiments/${experiment.id}/data`, { query: { tableName: 'raw_data', columns: 'id', pageSize: 100 } });
  await expect.poll(async () => (await read()).body[0].data.rows.length, { timeout: 30_000 }).toBe(8);
  const rowIds = (await read()).body[0].data.rows.map(({ id }: { id: string }) => id) as string[];
  const context = await site.context();
  const small = async (memoryLimit: string) => ({
    ...context,
    staging: await openDuckdbWriter({ lakeFolder: site.lakeFolder, workFolder: join(site.dataDir, 'work'), memoryLimit, threads: 1 }),
  });
  const piece = (ids: string[], tries: number) => ({
    ...{ id: '', experimentId: experiment.id as string, macroId: '', workbookVersionId: null, senderId: null, reprocessId: null },
    ...{ rowIds: ids, from: bodies[0]!.timestamp, to: bodies[7]!.timestamp, tries },
  });
  const readIn = async (memoryLimit: string, ids: string[], tries: number) => {
    const ctx = await small(memoryLimit);
    try {
      return await readElements(ctx, piece(ids, tries), AbortSignal.timeout(30_000));
    } finally {
      await ctx.staging.close();
    }
  };
  const one = rowIds.slice(0, 1);
  expect(await readIn('400MB', rowIds, 1)).toMatchObject(rowIds.map(() => ({ data: { text } })));
  expect(await readIn('8MB', rowIds, 1)).toBeUndefined();
  await expect(readIn('8MB', one, 1)).rejects.toThrow('Out of Memory');
  expect(await readIn('8MB', one, 3)).toMatchObject([
    { row: { id: one[0], facts: { deviceId: expect.stringMatching(/^d-/) } }, error: expect.stringContaining('more memory') },
  ]);
});
