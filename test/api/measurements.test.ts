import { gzipSync } from 'node:zlib';
import { connect as connectMqtt, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { grant, makePerson } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
const clients: MqttClient[] = [];
beforeAll(async () => {
  site = await startTestServer({ LOG_LEVEL: 'info' });
});
afterAll(async () => {
  for (const client of clients) client.end(true);
  await site.stop();
});

const owner = () => site.as(site.cast.owner);
const experiment = async (body: object = {}) =>
  (await owner()('POST', '/api/v1/experiments', { body: { name: 'Field', organizationId: site.cast.leafLab, ...body } })).body.id as string;

interface Bundle {
  certificatePem: string;
  privateKey: string;
}

interface Credentials {
  accessKeyId: string;
  sessionToken: string;
}

async function device(serialNumber: string, experimentIds: string[]) {
  const made = (
    await owner()('POST', '/api/v1/devices', { body: { serialNumber, deviceType: 'multispeq', organizationId: site.cast.leafLab } })
  ).body;
  const bundle = (await owner()('POST', `/api/v1/devices/${made.id}/credentials`)).body as Bundle;
  const config = (await owner()('POST', `/api/v1/devices/${made.id}/onboard`, { body: { experimentIds } })).body;
  return { id: made.id as string, thing: made.thingName as string, bundle, config };
}

/** Connects by a device's certificate, by a person's temporary credentials, or by nothing. */
async function connect(config: { endpoint: string }, clientId: string, proof: Bundle | Credentials | null): Promise<MqttClient> {
  const client = connectMqtt(`mqtts://${config.endpoint}`, {
    clientId,
    ca: (await site.context()).iot.embedded!.authority.certificatePem,
    ...(proof && 'privateKey' in proof ? { key: proof.privateKey, cert: proof.certificatePem } : {}),
    ...(proof && 'sessionToken' in proof ? { username: proof.accessKeyId, password: proof.sessionToken } : {}),
    reconnectPeriod: 0,
    connectTimeout: 3_000,
  });
  clients.push(client);
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.on('error', reject);
    client.once('close', () => reject(new Error('closed')));
  });
  return client;
}

const publish = (client: MqttClient, prefix: string, payload: object | Buffer) =>
  Promise.race([
    client.publishAsync(`${prefix}/2.0/sensor-1`, Buffer.isBuffer(payload) ? payload : JSON.stringify(payload), { qos: 1 }),
    new Promise((_, reject) => {
      client.once('close', () => reject(new Error('closed')));
    }),
  ]);

const rows = async (experimentId: string, tableName = 'raw_data') =>
  (await owner()('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName, pageSize: 100 } })).body[0]?.data?.rows as any[];
const message = (more: object = {}) => ({
  timestamp: '2026-05-01T10:00:00.123456Z',
  timezone: 'Europe/Amsterdam',
  sample: { spad: 41.5, id: 1 },
  device_id: 'D1',
  device_name: 'Blue',
  device_firmware: '2.1',
  device_battery: 88,
  latitude: 52.1,
  longitude: 5.1,
  ...more,
});

describe('from broker to table', () => {
  test('a registered, certified and onboarded device connects over TLS, publishes, and its measurement is read within 5 s', async () => {
    const id = await experiment();
    const { thing, bundle, config, id: deviceId } = await device('first', [id]);
    const client = await connect(config, thing, bundle);
    const prefix = config.experiments[0].topicPrefix;
    await publish(client, prefix, message());
    await publish(client, prefix, message());
    await publish(client, prefix, gzipSync(JSON.stringify([message({ sample: [{ a: 1 }, { a: 2 }] }), { sample: {} }])));
    await expect.poll(async () => (await rows(id))?.length).toBe(3);
    const found = await rows(id);
    expect(found[0]).toMatchObject({
      device_id: 'D1',
      device_name: 'Blue',
      timezone: 'Europe/Amsterdam',
      measurement_time_local: '2026-05-01 12:00:00',
      local_time: '12:00',
      date: '2026-05-01',
      latitude: 52.1,
    });
    const [fact] = await rows(id, 'device');
    expect(fact).toMatchObject({ device_id: 'D1', client_id: thing, device_firmware: '2.1', device_battery: 88 });
    const listed = await owner()('GET', `/api/v1/devices/${deviceId}`);
    expect(listed.body.connectivity).toMatchObject({ connected: true, lastSeenAt: expect.any(String) });

    const range = { from: '2026-05-01T00:00:00Z', to: '2026-05-02T00:00:00Z', bucket: 'hour' };
    const path = `/api/v1/devices/${deviceId}`;
    const monitoring = (await owner()('GET', `${path}/monitoring`, { query: range })).body;
    expect(monitoring).toMatchObject({
      bucket: 'hour',
      truncated: false,
      throughput: [{ bucketStart: '2026-05-01T10:00:00.000Z', experimentId: id, count: 2 }],
      battery: [{ averageBattery: 88 }],
      payload: {
        totalMeasurements: 2,
        withGps: 2,
        withBattery: 2,
        workbookRuns: 0,
        firmwareMix: [{ version: '2.1', count: 2 }],
        protocolMix: [],
        workbookMix: [{ workbookVersionId: null, count: 2 }],
        macroMix: [{ macroId: null, count: 2 }],
      },
      firmwareHistory: [{ version: '2.1', count: 2 }],
      pipelineUnavailable: false,
    });
    expect(monitoring.recentMeasurements).toHaveLength(2);
    expect(monitoring.recentMeasurements[0]).toMatchObject({ experimentId: id, battery: 88, latitude: 52.1, sample: expect.any(String) });
    expect((await owner()('GET', `${path}/activity`)).body).toEqual({ lastDataAt: '2026-05-01T10:00:00.123Z', pipelineUnavailable: false });
    expect((await owner()('GET', `${path}/firmware-history`, { query: range })).body.versions).toMatchObject([
      { version: '2.1', count: 2 },
    ]);
    const observed = { from: range.from, to: range.to };
    expect((await owner()('GET', `${path}/experiments/observed`, { query: observed })).body.experiments).toMatchObject([
      { experimentId: id, count: 2 },
    ]);
    const fleet = (await owner()('GET', '/api/v1/devices/monitoring', { query: range })).body;
    expect(fleet).toMatchObject({ devices: [{ deviceId, lastDataAt: '2026-05-01T10:00:00.123Z' }], throughput: [{ deviceId, count: 2 }] });
    const day = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date(Date.now() + 3_600_000).toISOString(), bucket: 'day' };
    const now = (await owner()('GET', `${path}/monitoring`, { query: day })).body;
    expect(now.events).toMatchObject([{ eventType: 'connected', sessionIdentifier: expect.any(String) }]);
    expect(now.sessions).toMatchObject([{ end: null, openStart: false }]);
    expect(now.uptimePercent).toBeGreaterThan(0);

    // whoever may read the device but not the experiment sees no id, place or sample of it
    await grant(site.db, { id: deviceId, type: 'device' }, { user: site.cast.stranger.id }, 'viewer');
    const strange = site.as(site.cast.stranger);
    for (const sub of ['monitoring', 'experiments/observed', 'experiments']) {
      const { status, text } = await strange('GET', `${path}/${sub}`, {
        query: sub === 'experiments' ? {} : sub === 'monitoring' ? range : observed,
      });
      expect(status).toBe(200);
      expect(text).not.toContain(id);
      expect(text).not.toContain('52.1');
      expect(text).not.toContain('spad');
    }
    expect((await strange('GET', `${path}/monitoring`, { query: range })).body.throughput).toMatchObject([
      { experimentId: null, count: 2 },
    ]);

    // groups
    const group = (await owner()('POST', '/api/v1/device-groups', { body: { name: 'Watched', organizationId: site.cast.leafLab } })).body;
    await owner()('POST', `/api/v1/device-groups/${group.id}/devices`, { body: { deviceIds: [deviceId] } });
    expect((await owner()('GET', `/api/v1/device-groups/${group.id}/monitoring`, { query: range })).body).toMatchObject({
      members: [{ deviceId, connectivity: { connected: true }, lastDataAt: '2026-05-01T10:00:00.123Z' }],
      throughput: [{ deviceId, count: 2 }],
      dataByExperiment: [{ experimentId: id, count: 2 }],
      firmware: [{ deviceId, version: '2.1' }],
      pipelineUnavailable: false,
    });
    const at = Date.parse(range.from);
    const asked = (to: number) => owner()('GET', `${path}/monitoring`, { query: { ...range, to: new Date(to).toISOString() } });
    expect((await asked(at + 31 * 86_400_000)).status).toBe(200);
    expect((await asked(at + 31 * 86_400_000 + 1)).body.code).toBe('RANGE_INVALID');
    expect((await asked(at)).status).toBe(400);

    // what is refused, each after it has worked
    await expect(connect(config, 'another-name', bundle)).rejects.toThrow();
    await expect(connect(config, thing, null)).rejects.toThrow();
    const other = await experiment();
    await expect(publish(client, prefix.replace(id, other), message({ id: 'x' }))).rejects.toThrow('closed');
    const again = await connect(config, thing, bundle);
    await publish(again, prefix, message({ id: 'again' }));
    await owner()('DELETE', `/api/v1/experiments/${id}/devices/${deviceId}`);
    await expect(publish(again, prefix, message({ id: 'unbound' }))).rejects.toThrow('closed');
    const third = await connect(config, thing, bundle);
    const ended = new Promise<void>((resolve) => third.once('close', () => resolve()));
    await owner()('DELETE', `/api/v1/devices/${deviceId}/credentials`);
    await ended;
    await expect(connect(config, thing, bundle)).rejects.toThrow();
    await expect.poll(async () => (await rows(id)).length).toBe(4);
    await expect.poll(async () => (await owner()('GET', `/api/v1/devices/${deviceId}`)).body.connectivity.connected).toBe(false);
  });
});

// most of each is waiting, and each has an experiment of its own
describe.concurrent('from broker to table, several at once', () => {
  test('what comes for an archived experiment waits until it is archived no more', async ({ expect }) => {
    const id = await experiment();
    const { thing, bundle, config } = await device('second', [id]);
    const client = await connect(config, thing, bundle);
    await owner()('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
    await publish(client, config.experiments[0].topicPrefix, message());
    const { db } = site;
    const state = async () =>
      (
        await db.rows<{ status: string; reasons: Record<string, number> }>(
          sql('test')`select status, reasons from messages where experiment_id = ${id}`,
        )
      )[0];
    await expect.poll(state).toEqual({ status: 'quarantined', reasons: { archived: 1 } });
    expect(await rows(id)).toHaveLength(0);
    await owner()('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'active' } });
    await expect.poll(async () => (await rows(id)).length).toBe(1);
  });

  test('what is stored is counted, and counted once, whichever way it came; words that no index takes are cut', async ({ expect }) => {
    const id = await experiment();
    const { thing, bundle, config, id: deviceId } = await device('third', [id]);
    const client = await connect(config, thing, bundle);
    const prefix = config.experiments[0].topicPrefix;
    const odd = {
      device_firmware: 'v\0\ud800'.padEnd(5_000, 'x'),
      workbook_run_id: 'run\0',
      macros: [{ id: 'm'.repeat(5_000) }, { id: null }],
    };
    await publish(client, prefix, [message({ id: 'a' }), message({ id: 'b', ...odd }), { sample: {} }]);
    await publish(client, prefix, [message({ id: 'b' }), message({ id: 'c' })]);
    const { uploadUrl } = (await owner()('POST', '/api/v1/iot/upload-url', { body: { experimentId: id } })).body;
    expect((await fetch(uploadUrl, { method: 'PUT', body: JSON.stringify([message({ id: 'a' }), message({ id: 'd' })]) })).status).toBe(
      200,
    );
    await expect.poll(async () => (await rows(id))?.length).toBe(5);
    const counts = () =>
      site.db.rows<{ client: string; count: number }>(
        sql(
          'test',
        )`select client_id as client, sum(count)::int as count from message_hours where experiment_id = ${id} group by 1 order by 1`,
      );
    expect(await counts()).toEqual([
      { client: '', count: 2 },
      { client: thing, count: 3 },
    ]);
    const query = { from: '2026-05-01T00:00:00Z', to: '2026-05-02T00:00:00Z', bucket: 'hour' };
    const { payload, recentMeasurements } = (await owner()('GET', `/api/v1/devices/${deviceId}/monitoring`, { query })).body;
    expect(payload).toMatchObject({ totalMeasurements: 3, workbookRuns: 1 });
    expect(recentMeasurements).toHaveLength(3);
  });

  test('a certificate that was rotated, revoked or removed with its device is refused, and logged as that', async ({ expect }) => {
    const { id, thing, bundle, config } = await device('ENDS', []);
    const path = `/api/v1/devices/${id}`;
    const logged = (end: string) =>
      expect.poll(() => site.server.output()).toContain(`"reason":"certificate-${end}","clientId":"${thing}"`);
    const newer = async (method: string): Promise<Bundle> => {
      const { status, body } = await owner()('POST', `${path}/credentials${method}`);
      expect(status).toBe(201);
      return body;
    };
    (await connect(config, thing, bundle)).end();
    const second = await newer('/rotate');
    await expect.poll(() => connect(config, thing, bundle).catch(() => null)).toBe(null);
    await logged('rotated');
    (await connect(config, thing, second)).end();
    expect((await owner()('DELETE', `${path}/credentials`)).status).toBe(200);
    await expect(connect(config, thing, second)).rejects.toThrow();
    await logged('revoked');
    const third = await newer('');
    (await connect(config, thing, third)).end();
    expect((await owner()('DELETE', path)).status).toBe(200);
    await expect(connect(config, thing, third)).rejects.toThrow();
    await logged('removed');
  });

  test('a person’s credentials publish under their own tree, where they may contribute', async ({ expect }) => {
    const id = await experiment({ members: [{ userId: site.cast.viewer.id }] });
    const credentials = (await site.as(site.cast.viewer)('GET', '/api/v1/iot/credentials')).body;
    // a device of the same broker is told where it is
    const { config } = await device('FOR-THE-ENDPOINT', [id]);
    const client = await connect(config, `${credentials.clientIdPrefix}phone`, credentials);
    const closed = await experiment();
    await client.publishAsync(`${credentials.topicPrefix}${id}/multispeq/2.0/phone`, JSON.stringify(message()), { qos: 1 });
    await client.publishAsync(`${credentials.topicPrefix}${closed}/multispeq/2.0/phone`, JSON.stringify(message()), { qos: 1 });
    await expect.poll(async () => (await rows(id))?.[0]?.contributor?.name).toBe('Viewer Tester');
    expect(await rows(closed)).toHaveLength(0);
  });

  test('a closed account is connected no longer, and its credentials connect nobody', async ({ expect }) => {
    const leaver = await makePerson(site.db, 'leaver');
    const credentials = (await site.as(leaver)('GET', '/api/v1/iot/credentials')).body;
    const { config } = await device('FOR-THE-LEAVER', []);
    const client = await connect(config, `${credentials.clientIdPrefix}phone`, credentials);
    (await connect(config, `${credentials.clientIdPrefix}second`, credentials)).end();
    expect((await site.as(leaver)('DELETE', `/api/v1/users/${leaver.id}`)).status).toBe(200);
    await expect.poll(() => client.connected).toBe(false);
    await expect(connect(config, `${credentials.clientIdPrefix}third`, credentials)).rejects.toThrow(/not authorized/i);
  });
});
