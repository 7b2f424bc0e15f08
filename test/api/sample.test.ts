import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openClient } from '../../src/operator/sample/client.ts';
import { loadSeason } from '../../src/operator/sample/season.service.ts';
import { makeMeasurement, printWeather } from '../../src/operator/sample/season.ts';
import { preparePartners, prepareViews } from '../../src/operator/sample/views.service.ts';
import { decodePayload } from '../../src/ingest/messages/decode/payload.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let test$: TestServer;
beforeAll(async () => {
  test$ = await startTestServer({ MACRO_LANGUAGES: 'javascript' });
});
afterAll(() => test$.stop());

const MACRO = { id: '5f0c7a52-8c7e-4d0b-9a35-6f2f3f1f2a10', name: 'm', filename: 'm' };
type Table = { identifier: string; displayName: string; totalRows: number };
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

test('the n-th measurement is the same every time, and every one of them can be stored', () => {
  const season = () => JSON.stringify(Array.from({ length: 2_000 }, (_, n) => makeMeasurement(n * 11, MACRO)));
  expect(digest(season())).toBe(digest(season()));
  expect(printWeather()).toBe(printWeather());
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
  const asked = { baseUrl: server.baseUrl, experimentId: body.id as string, organizationId: cast.leafLab, users };
  const lines: string[] = [];
  // the third object is a member's
  for (const rows of [2_010, 2_010, 2_100]) await loadSeason(asked, { rows, say: (line) => lines.push(line) });
  expect(lines.at(-1)).toBe('2,100 measurements can be read');
  const tables = (await owner('GET', `/api/v1/experiments/${body.id}/tables`)).body as Table[];
  const countOf = (name: string) => tables.find(({ displayName }) => displayName.startsWith(name))?.totalRows;
  expect(countOf('Raw Data')).toBe(2_100);
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
  expect(total).toBe(2_100);

  const client = openClient(server.baseUrl, cast.owner.apiKey);
  const library = await loadSeason(asked, { rows: 2_100 });
  const uploadTableId = tables.find(({ displayName }) => displayName === 'weather')!.identifier;
  for (let times = 0; times < 2; times += 1) {
    await prepareViews(client, { ...asked, uploadTableId, lowest: 'rain_mm' }, library);
    await preparePartners(openClient(server.baseUrl, cast.teammate.apiKey));
  }
  const experiment = `/api/v1/experiments/${body.id}`;
  const listOf = async (path: string) => (await owner('GET', path)).body as { name: string; [more: string]: unknown }[];
  const results = ((await owner('GET', `${experiment}/tables`)).body as typeof tables).find(({ displayName }) =>
    displayName.startsWith('Processed'),
  );
  expect(results).toMatchObject({ displayName: 'Processed Data (Photosynthesis)', identifier: library.macro.id });
  expect(await listOf('/api/v1/macros?search=Photosynthesis')).toMatchObject([{ id: results!.identifier }]);
  const read = await owner('GET', `${experiment}/data`, {
    query: { tableName: library.macro.id, page: 1, pageSize: 5, columns: 'Phi2,LEF,macro_error', orderBy: 'Phi2' },
  });
  expect([read.status, read.text]).toEqual([200, expect.anything()]);
  const flows = read.body[0].data.rows as object[];
  expect(flows).toHaveLength(5);
  expect(flows).toEqual(flows.map(() => ({ Phi2: expect.any(Number), LEF: expect.any(Number), macro_error: null })));
  const charts = await listOf(`${experiment}/visualizations`);
  expect(charts.map(({ name }) => name).sort()).toEqual([
    'Drought lowers photosynthesis week by week',
    'Electron flow in the light',
    'Greenness of the genotypes',
    'The weather of the season',
  ]);
  for (const { id } of charts) expect((await owner('GET', `${experiment}/visualizations/${String(id)}/image`)).status).toBe(200);
  expect(await listOf(`${experiment}/dashboards`)).toMatchObject([{ name: 'The season at a glance', widgets: { length: 5 } }]);
  expect(await listOf(`${experiment}/metadata`)).toHaveLength(1);
  const flagged = await owner('GET', `${experiment}/data`, {
    query: {
      tableName: uploadTableId,
      page: 1,
      pageSize: 10,
      filters: JSON.stringify([{ column: 'annotations', operator: 'has_flag', value: 'needs_review' }]),
    },
  });
  expect(flagged.body[0].data.rows).toHaveLength(3);
  expect((await listOf('/api/v1/devices')).map(({ name }) => name)).toEqual(expect.arrayContaining(['Leaf Lab 1', 'MiniPAR north']));
  expect(await listOf('/api/v1/device-groups')).toMatchObject([{ name: 'Field 4' }]);
  const seen = (await test$.as(cast.stranger)('GET', '/api/v1/experiments?scope=all&search=Wheat')).body as object[];
  expect(seen).toMatchObject([{ name: 'Wheat in two soils', visibility: 'public' }]);

  const gone = new AbortController();
  gone.abort();
  await expect(loadSeason(asked, { rows: 3_000, signal: gone.signal })).rejects.toThrow();
});
