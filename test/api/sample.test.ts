import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSeason } from '../../src/operator/sample/season.service.ts';
import { measurementAt, weatherNdjson } from '../../src/operator/sample/season.ts';
import { decodePayload } from '../../src/ingest/messages/decode/payload.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let test$: TestServer;
beforeAll(async () => {
  test$ = await startTestServer();
});
afterAll(() => test$.stop());

const MACRO = { id: '5f0c7a52-8c7e-4d0b-9a35-6f2f3f1f2a10', name: 'm', filename: 'm' };
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

test('the n-th measurement is the same every time, and every one of them can be stored', () => {
  const season = () => JSON.stringify(Array.from({ length: 2_000 }, (_, n) => measurementAt(n * 11, MACRO)));
  expect(digest(season())).toBe(digest(season()));
  expect(weatherNdjson()).toBe(weatherNdjson());
  const decoded = decodePayload(Buffer.from(season()), {
    bytes: 1e8,
    decompressed: 1e8,
    depth: 64,
    values: 1e7,
    messages: 1e5,
    samples: 1e5,
  });
  expect(decoded.filter(({ kind }) => kind !== 'measurement')).toEqual([]);
});

test('the season loads over HTTP, once, whoever asks how often', async () => {
  const { cast, server } = test$;
  const owner = test$.as(cast.owner);
  const { body } = await owner('POST', '/api/v1/experiments', { body: { name: 'Season', organizationId: cast.leafLab } });
  const users = { ...cast } as never;
  const asked = { baseUrl: server.baseUrl, experimentId: body.id as string, users };
  const lines: string[] = [];
  for (const rows of [2_500, 2_500, 3_000]) await loadSeason(asked, { rows, say: (line) => lines.push(line) });
  expect(lines.at(-1)).toBe('3,000 measurements can be read');
  const tables = (await owner('GET', `/api/v1/experiments/${body.id}/tables`)).body as { displayName: string; totalRows: number }[];
  const countOf = (name: string) => tables.find(({ displayName }) => displayName.startsWith(name))?.totalRows;
  expect(countOf('Raw Data')).toBe(3_000);
  expect(countOf('Processed Data')).toBe(2_250);
  expect(countOf('weather')).toBe(1_440);
  const listUploads = async () =>
    (await owner('GET', `/api/v1/experiments/${body.id}/data/uploads`)).body.uploads as { status: string; [name: string]: unknown }[];
  for (let tries = 0; tries < 200 && (await listUploads()).some(({ status }) => status === 'pending' || status === 'running'); tries += 1)
    await sleep(100);
  const uploads = await listUploads();
  expect(uploads).toHaveLength(2);
  expect(uploads).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ uploadTableName: 'weather', status: 'completed', rowsIn: 1_440, quarantined: 0 }),
      expect.objectContaining({ uploadTableName: 'ambyte_traces', status: 'completed', rowsIn: 96, rowCount: 96, quarantined: 0 }),
    ]),
  );
  const devices = await owner('GET', `/api/v1/experiments/${body.id}/data`, { query: { tableName: 'device', pageSize: 100, page: 1 } });
  const total = (devices.body[0].data.rows as { total_measurements: number }[]).reduce((sum, row) => sum + row.total_measurements, 0);
  expect(total).toBe(3_000);
  const gone = new AbortController();
  gone.abort();
  await expect(loadSeason(asked, { rows: 4_000, signal: gone.signal })).rejects.toThrow();
}, 90_000);
