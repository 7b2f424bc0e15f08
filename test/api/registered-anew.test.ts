import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putPresence } from '../../src/api/messages/measurements.queries.ts';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
let stranger: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  stranger = site.as(site.cast.stranger);
});
afterAll(() => site.stop());

const register = async (as: Call, body: object = {}) =>
  (await as('POST', '/api/v1/devices', { body: { serialNumber: 'SOLD-1', deviceType: 'ambyte', ...body } })).body;

/** What monitoring tells of a device: measurements, connections, and when it was last heard of. */
async function told(as: Call, id: string) {
  const range = { from: '2026-05-01T00:00:00Z', to: '2026-05-02T00:00:00Z' };
  const { body } = await as('GET', `/api/v1/devices/${id}/monitoring`, { query: { ...range, bucket: 'day' } });
  const { lastDataAt } = (await as('GET', `/api/v1/devices/${id}/activity`)).body;
  const { experiments } = (await as('GET', `/api/v1/devices/${id}/experiments/observed`, { query: range })).body;
  const { connectivity } = (await as('GET', `/api/v1/devices/${id}`)).body;
  return {
    measurements: body.payload.totalMeasurements,
    points: body.throughput.length,
    recent: body.recentMeasurements.length,
    runs: body.payload.workbookRuns,
    events: body.events.length,
    observed: experiments.length,
    lastDataAt,
    lastSeenAt: connectivity.lastSeenAt,
  };
}

test('whoever registers a device that another organization removed learns nothing of what it did there, nor do its rows name them', async () => {
  const organizationId = site.cast.leafLab;
  const id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Field', organizationId } })).body.id as string;
  const rows = async () =>
    (await owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'raw_data' } })).body[0].data.rows as { device: any }[];
  const device = async () => (await rows()).map((row) => row.device?.id ?? null);
  const first = await register(owner, { organizationId });
  const message = { timestamp: '2026-05-01T10:00:00Z', sample: { n: 1 }, workbook_run_id: 'r1' };
  await storeMessages(site.db, [{ experimentId: id, clientId: first.thingName, body: Buffer.from(JSON.stringify(message)) }]);
  const at = new Date('2026-05-01T09:00:00Z');
  const event = { eventType: 'connected', at, reason: null, session: 's1', broker: 'b1' };
  await putPresence(site.db, { id: randomUUID(), thingName: first.thingName, ...event });
  await expect.poll(device).toEqual([first.id]);
  const become = async (status: string) =>
    expect((await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status } })).status).toBe(200);
  const all = { measurements: 1, points: 1, recent: 1, runs: 1, events: 1, observed: 1, lastDataAt: '2026-05-01T10:00:00.000Z' };
  const known = { ...all, lastSeenAt: at.toISOString() };
  expect(await told(owner, first.id)).toEqual(known);

  // removed by mistake and registered again by the same organization, it is the same device
  expect((await owner('DELETE', `/api/v1/devices/${first.id}`)).status).toBe(200);
  await expect.poll(device).toEqual([null]);
  const again = await register(owner, { organizationId });
  expect(await told(owner, again.id)).toEqual(known);
  await expect.poll(device).toEqual([again.id]);

  expect((await owner('DELETE', `/api/v1/devices/${again.id}`)).status).toBe(200);
  await expect.poll(device).toEqual([null]);
  const sold = await register(stranger);
  const nothing = { measurements: 0, points: 0, recent: 0, runs: 0, events: 0, observed: 0, lastDataAt: null, lastSeenAt: null };
  expect(await told(stranger, sold.id)).toEqual(nothing);
  const left = () => site.db.one(sql('test')`select count(*)::int as left from registry_changes`);
  await expect.poll(left).toEqual({ left: 0 });
  expect(await device()).toEqual([null]);

  // nor of what it had sent before and becomes rows later
  const late = async (clientId: string, n: number) => {
    await become('archived');
    const body = Buffer.from(JSON.stringify({ timestamp: '2026-05-01T11:00:00Z', sample: { n } }));
    await storeMessages(site.db, [{ experimentId: id, clientId, body }]);
  };
  const arrived = async (count: number) => {
    await become('active');
    await expect.poll(async () => (await rows()).length).toBe(count);
    await expect.poll(left).toEqual({ left: 0 });
  };
  await late(sold.thingName, 2);
  await arrived(2);
  // registered and sent by the one who has it, it counts
  expect((await told(stranger, sold.id)).measurements).toBe(1);
  await late(sold.thingName, 3);
  expect((await stranger('DELETE', `/api/v1/devices/${sold.id}`)).status).toBe(200);
  const bought = await register(owner, { organizationId });
  await arrived(3);
  expect(await told(owner, bought.id)).toEqual(nothing);
  expect((await rows()).map((row) => row.device)).toEqual([null, null, null]);
});
