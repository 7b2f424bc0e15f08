import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const owner = () => site.as(site.cast.owner);
let serials = 0;
const serial = () => `E8:F6:0A:${(serials += 1)}`;
const register = async (body: object = {}, call = owner()) => {
  const answer = await call('POST', '/api/v1/devices', {
    body: { serialNumber: serial(), deviceType: 'multispeq', organizationId: site.cast.leafLab, ...body },
  });
  expect(answer.status).toBe(201);
  return answer.body;
};
const experiment = async (body: object = {}) =>
  (await owner()('POST', '/api/v1/experiments', { body: { name: 'Field', organizationId: site.cast.leafLab, ...body } })).body;
const things = async () => (await site.db.rows(sql('test')`select thing_name from registry_things`)).length;

test('PATCH /api/v1/devices/{deviceId} renames it, for whoever may update it', async () => {
  const device = await register({ serialNumber: 'AA:02' });
  const path = `/api/v1/devices/${device.id}`;
  const name = { body: { name: '  Blue two ' } };
  expect((await site.as(site.cast.stranger)('PATCH', path, name)).status).toBe(403);
  await grant(site.db, { id: device.id, type: 'device' }, { user: site.cast.viewer.id }, 'viewer');
  expect((await site.as(site.cast.viewer)('PATCH', path, name)).body.code).toBe('ACTION_DENIED');
  const renamed = await owner()('PATCH', path, name);
  expect(renamed).toMatchObject({
    status: 200,
    body: { id: device.id, name: 'Blue two', serialNumber: 'AA:02', thingName: device.thingName },
  });
  const stale = { ...name, headers: { 'if-match': '"0"' } };
  expect((await owner()('PATCH', path, stale)).status).toBe(412);
  expect((await owner()('PATCH', path, { body: {} })).body).toEqual(renamed.body);
  const found = await owner()('GET', '/api/v1/devices', { query: { search: 'blue two' } });
  expect(found.body.map(({ id }: { id: string }) => id)).toEqual([device.id]);
  for (const body of [{ name: '' }, { name: '   ' }, { name: 'x'.repeat(256) }, { name: 7 }])
    expect((await owner()('PATCH', path, { body })).status, JSON.stringify(body)).toBe(400);
  expect((await owner()('PATCH', path, { body: { name: null } })).body.name).toBeNull();
});

describe('POST /api/v1/devices', () => {
  test('registers a device with every field, and its thing', async () => {
    const device = await register({ serialNumber: 'AA:01', name: 'Blue one' });
    expect(device).toMatchObject({
      thingName: 'multispeq_AA:01',
      thingArn: 'arn:fieldlake:iot:local:000000000000:thing/multispeq_AA:01',
      serialNumber: 'AA:01',
      name: 'Blue one',
      deviceType: 'multispeq',
      status: 'pending',
      certificateId: null,
      certificateArn: null,
      createdBy: site.cast.owner.id,
      organizationId: site.cast.leafLab,
      visibility: 'private',
    });
    const record = await site.db.one(sql('test')`select record from registry_things where thing_name = ${device.thingName}`);
    expect(record).toMatchObject({ record: { serialNumber: 'AA:01', deviceType: 'multispeq' } });
  });

  test('refuses what is not valid, and an organization that is not yours', async () => {
    const call = owner();
    const post = (body: object) => call('POST', '/api/v1/devices', { body });
    expect((await post({ serialNumber: 'ok-1', deviceType: 'multispeq' })).status).toBe(201);
    expect((await post({ serialNumber: 'ok-2', deviceType: 'mobile' })).status).toBe(400);
    expect((await post({ serialNumber: 'not ok', deviceType: 'multispeq' })).status).toBe(400);
    expect((await post({ serialNumber: '', deviceType: 'multispeq' })).status).toBe(400);
    expect((await post({ serialNumber: 'x'.repeat(256), deviceType: 'multispeq' })).status).toBe(400);
    const outside = await site.as(site.cast.stranger)('POST', '/api/v1/devices', {
      body: { serialNumber: 'ok-3', deviceType: 'multispeq', organizationId: site.cast.leafLab },
    });
    expect(outside).toMatchObject({ status: 403, body: { code: 'NOT_A_MEMBER' } });
  });

  test('50 at once with one serial: one 201, 49 409, one thing', async () => {
    const before = await things();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => owner()('POST', '/api/v1/devices', { body: { serialNumber: 'race', deviceType: 'ambyte' } })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status, body }) => status === 409 && body.code === 'SERIAL_TAKEN')).toHaveLength(49);
    expect(await things()).toBe(before + 1);
    // another type may have the same serial, and serials that differ in a sign are two devices
    const names = [];
    for (const [serialNumber, deviceType] of [
      ['race', 'minipar'],
      ['a.b', 'ambyte'],
      ['a-b', 'ambyte'],
    ] as const)
      names.push((await register({ serialNumber, deviceType })).thingName);
    expect(new Set(names).size).toBe(3);
  });

  test('an Idempotency-Key replays', async () => {
    const options = { body: { serialNumber: serial(), deviceType: 'ambit' }, headers: { 'idempotency-key': 'device' } };
    const first = await owner()('POST', '/api/v1/devices', options);
    expect(await owner()('POST', '/api/v1/devices', options)).toMatchObject({ status: 201, body: first.body });
  });
});

describe('POST /api/v1/devices/mobile', () => {
  test('makes the phone once, names it once, and is nobody else’s', async () => {
    const installId = crypto.randomUUID();
    const call = site.as(site.cast.viewer);
    const first = await call('POST', '/api/v1/devices/mobile', { body: { installId } });
    expect(first).toMatchObject({ status: 200, body: { status: 'active', deviceType: 'mobile', certificateId: null, name: null } });
    const named = await call('POST', '/api/v1/devices/mobile', { body: { installId: installId.toUpperCase(), name: 'My phone' } });
    expect(named.body).toMatchObject({ id: first.body.id, name: 'My phone' });
    expect((await call('POST', '/api/v1/devices/mobile', { body: { installId, name: 'Other' } })).body.name).toBe('My phone');
    const other = await site.as(site.cast.stranger)('POST', '/api/v1/devices/mobile', { body: { installId } });
    expect(other).toMatchObject({ status: 409, body: { code: 'INSTALL_TAKEN' } });
    expect((await call('POST', '/api/v1/devices/mobile', { body: { installId: 'x' } })).status).toBe(400);
    const id = crypto.randomUUID();
    const many = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/api/v1/devices/mobile', { body: { installId: id } })));
    expect(new Set(many.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect((await call('GET', `/api/v1/devices/${first.body.id}`)).body.connection).toBeNull();
    expect((await call('POST', `/api/v1/devices/${first.body.id}/onboard`, { body: {} })).status).toBe(409);
    expect((await call('POST', `/api/v1/devices/${first.body.id}/credentials`)).status).toBe(409);
  });
});

describe('POST /api/v1/devices/bulk', () => {
  test('100 devices with one bad serial: 99 devices and one row that says so; the new ones join a new group', async () => {
    const taken = (await register({ deviceType: 'minipar' })).serialNumber;
    const devices = Array.from({ length: 100 }, (_, index) => ({ serialNumber: index === 41 ? taken : `bulk-${index}` }));
    const body = { devices, deviceType: 'minipar', organizationId: site.cast.leafLab, group: { name: 'Greenhouse' } };
    const answer = await owner()('POST', '/api/v1/devices/bulk', { body });
    expect(answer.status).toBe(200);
    expect(answer.body.devices.map((row: any) => row.serialNumber)).toEqual(devices.map((row) => row.serialNumber));
    expect(answer.body.devices.filter((row: any) => row.device !== null && row.error === null)).toHaveLength(99);
    expect(answer.body.devices[41]).toMatchObject({ device: null, error: expect.stringContaining('registered already') });
    expect(answer.body.groupError).toBeNull();
    expect((await owner()('GET', `/api/v1/device-groups/${answer.body.groupId}`)).body).toMatchObject({
      name: 'Greenhouse',
      memberCount: 99,
    });
    const none = await owner()('POST', '/api/v1/devices/bulk', {
      body: { devices: [{ serialNumber: taken }], deviceType: 'minipar', group: { name: 'x' } },
    });
    expect(none.body).toMatchObject({ groupId: null, groupError: expect.any(String) });
    const [a, b] = [serial(), serial()];
    const denied = await site.as(site.cast.stranger)('POST', '/api/v1/devices/bulk', {
      body: { devices: [{ serialNumber: a }], deviceType: 'ambit', group: { groupId: answer.body.groupId } },
    });
    expect(denied.body).toMatchObject({ devices: [{ error: null }], groupId: null, groupError: expect.any(String) });
    for (const wrong of [
      { devices: [], deviceType: 'ambit' },
      { devices: Array.from({ length: 101 }, () => ({ serialNumber: serial() })), deviceType: 'ambit' },
      { devices: [{ serialNumber: b }, { serialNumber: b }], deviceType: 'ambit' },
      { devices: [{ serialNumber: b }], deviceType: 'ambit', group: {} },
    ])
      expect((await owner()('POST', '/api/v1/devices/bulk', { body: wrong })).status).toBe(400);
  });
});

test('POST /api/v1/devices/bulk with an Idempotency-Key answers a repeat as it answered first', async () => {
  const headers = { 'idempotency-key': 'many' };
  const call = (serialNumber: string) =>
    owner()('POST', '/api/v1/devices/bulk', {
      body: { devices: [{ serialNumber }], deviceType: 'minipar', group: { name: 'Shed' } },
      headers,
    });
  const fresh = serial();
  const first = await call(fresh);
  expect(first.body).toMatchObject({ devices: [{ error: null }], groupError: null });
  expect(await call(fresh)).toMatchObject({ status: 200, body: first.body });
  expect(await call(serial())).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
});

describe('GET /api/v1/devices', () => {
  test('lists what the caller may read, with connectivity, in pages', async () => {
    const call = site.as(site.cast.teammate);
    for (let index = 0; index < 3; index += 1)
      await call('POST', '/api/v1/devices', { body: { serialNumber: serial(), deviceType: 'generic', name: `Listed ${index}` } });
    const all = await call('GET', '/api/v1/devices');
    expect(all.body.map((device: any) => device.name)).toEqual(['Listed 2', 'Listed 1', 'Listed 0']);
    expect(all.body[0].connectivity).toEqual({ connected: false, lastSeenAt: null });
    expect(all.headers.get('x-total-count')).toBe('3');
    const page = await call('GET', '/api/v1/devices', { query: { page: 2, pageSize: 2, search: 'listed' } });
    expect(page.body.map((device: any) => device.name)).toEqual(['Listed 0']);
    expect((await site.as(null)('GET', '/api/v1/devices')).status).toBe(401);
    expect((await call('GET', '/api/v1/devices', { query: { nonsense: 1 } })).status).toBe(400);
  });
});

describe('GET and DELETE /api/v1/devices/{deviceId}', () => {
  test('shows a device to who may read it, and deletes it with its thing', async () => {
    const device = await register();
    const path = `/api/v1/devices/${device.id}`;
    const seen = await owner()('GET', path);
    expect(seen.body).toMatchObject({
      ...device,
      connectivity: { connected: false, lastSeenAt: null },
      connection: { host: 'localhost', port: expect.any(Number), authorityPem: expect.stringMatching(/^-----BEGIN CERTIFICATE/) },
      capabilities: { canManage: true, canTransfer: false },
    });
    expect((await site.as(site.cast.stranger)('GET', path)).status).toBe(403);
    expect((await owner()('GET', `/api/v1/devices/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await owner()('GET', '/api/v1/devices/x')).status).toBe(400);
    await grant(site.db, { id: device.id, type: 'device' }, { user: site.cast.viewer.id }, 'viewer');
    expect((await site.as(site.cast.viewer)('GET', path)).status).toBe(200);
    expect((await site.as(site.cast.viewer)('DELETE', path)).status).toBe(403);
    expect((await owner()('DELETE', path, { headers: { 'if-match': '"99-x"' } })).status).toBe(412);
    const before = await things();
    const gone = await owner()('DELETE', path);
    expect(gone).toMatchObject({ status: 200, body: null });
    expect((await owner()('GET', path)).status).toBe(404);
    expect(await things()).toBe(before - 1);
    await register({ serialNumber: device.serialNumber });
  });

  test('of many deletions at once one is carried out, and written down once', async () => {
    const { id } = await register();
    const many = await Promise.all(Array.from({ length: 5 }, () => owner()('DELETE', `/api/v1/devices/${id}`)));
    expect(many.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404, 404]);
    const written = await owner()('GET', `/api/v1/organizations/${site.cast.leafLab}/audit`, {
      query: { resourceId: id, action: 'device.deleted' },
    });
    expect(written.body).toHaveLength(1);
  });
});

describe('certificates', () => {
  test('POST, rotate and DELETE /api/v1/devices/{deviceId}/credentials', async () => {
    const device = await register();
    const path = `/api/v1/devices/${device.id}/credentials`;
    expect((await owner()('POST', `${path}/rotate`)).status).toBe(409);
    expect((await owner()('DELETE', path)).status).toBe(409);
    const issued = await owner()('POST', path, { headers: { 'idempotency-key': 'secret' } });
    expect(issued).toMatchObject({
      status: 201,
      body: {
        certificateId: expect.stringMatching(/^[0-9a-f]{64}$/),
        certificatePem: expect.stringContaining('BEGIN CERTIFICATE'),
        publicKey: expect.stringContaining('BEGIN PUBLIC KEY'),
        privateKey: expect.stringContaining('PRIVATE KEY'),
      },
    });
    expect(await owner()('POST', path, { headers: { 'idempotency-key': 'secret' } })).toMatchObject({
      status: 409,
      body: { code: 'ALREADY_DONE' },
    });
    expect((await owner()('POST', path)).body.code).toBe('DEVICE_STATE_REFUSED');
    expect((await owner()('GET', `/api/v1/devices/${device.id}`)).body).toMatchObject({
      status: 'active',
      certificateId: issued.body.certificateId,
    });
    const rotated = await owner()('POST', `${path}/rotate`);
    expect(rotated.status).toBe(201);
    expect(rotated.body.certificateId).not.toBe(issued.body.certificateId);
    const { iot } = await site.context();
    const certificates = () => iot.registry.listCertificates(device.thingName);
    await expect.poll(async () => (await certificates()).map(({ certificateId }) => certificateId)).toEqual([rotated.body.certificateId]);
    const both = await Promise.all([owner()('POST', `${path}/rotate`), owner()('POST', `${path}/rotate`)]);
    expect(both.some(({ status }) => status === 201)).toBe(true);
    await expect.poll(async () => (await certificates()).length).toBe(1);
    const { body } = await owner()('GET', `/api/v1/devices/${device.id}`);
    expect((await certificates())[0]).toMatchObject({ certificateId: body.certificateId, status: 'active' });
    const revoked = await owner()('DELETE', path);
    expect(revoked).toMatchObject({ status: 200, body: { status: 'revoked', certificateId: null, certificateArn: null } });
    expect(await certificates()).toEqual([]);
    expect((await owner()('POST', path)).status).toBe(201);
    expect((await owner()('POST', path, { body: { csr: 'nonsense' } })).status).toBe(400);
    expect((await site.as(site.cast.member)('POST', path)).status).toBe(403);
  });
});

describe('POST /api/v1/devices/{deviceId}/onboard', () => {
  test('binds, answers all live experiments, and binds nothing when it refuses', async () => {
    const device = await register();
    const [first, second, archived] = [
      await experiment({ name: 'One' }),
      await experiment({ name: 'Two' }),
      await experiment({ status: 'archived' }),
    ];
    const path = `/api/v1/devices/${device.id}/onboard`;
    expect((await owner()('POST', path, { body: {} })).body.code).toBe('DEVICE_STATE_REFUSED');
    await owner()('POST', `/api/v1/devices/${device.id}/credentials`);
    const config = await owner()('POST', path, { body: { experimentIds: [first.id] } });
    expect(config).toMatchObject({
      status: 200,
      body: {
        thingName: device.thingName,
        deviceType: 'multispeq',
        endpoint: expect.stringMatching(/^localhost/),
        experiments: [
          {
            experimentId: first.id,
            experimentName: 'One',
            topicPrefix: `experiment/data_ingest/v1/${first.id}/multispeq`,
            workbookVersion: null,
            procedures: [],
          },
        ],
      },
    });
    expect((await owner()('POST', path, { body: { experimentIds: [second.id, archived.id] } })).body.code).toBe('EXPERIMENT_ARCHIVED');
    expect((await owner()('POST', path, { body: { experimentIds: [crypto.randomUUID()] } })).status).toBe(404);
    expect((await owner()('POST', path)).body.experiments).toHaveLength(1);
    const again = await owner()('POST', path, { body: { experimentIds: [second.id] } });
    expect(again.body.experiments.map((each: any) => each.experimentName)).toEqual(['Two', 'One']);
    // somebody who manages the device but may not read its experiments
    await grant(site.db, { id: device.id, type: 'device' }, { user: site.cast.viewer.id }, 'admin');
    expect((await site.as(site.cast.viewer)('POST', path)).body.code).toBe('EXPERIMENT_UNREADABLE');
    expect((await site.as(site.cast.viewer)('POST', path, { body: { experimentIds: [first.id] } })).status).toBe(403);
    const theirs = await site.as(site.cast.viewer)('GET', `/api/v1/devices/${device.id}/experiments`);
    expect(theirs.body).toEqual([]);
    expect((await owner()('GET', `/api/v1/devices/${device.id}/experiments`)).body).toMatchObject([
      {
        id: second.id,
        name: 'Two',
        status: 'active',
        addedAt: expect.any(String),
        topicPrefix: `experiment/data_ingest/v1/${second.id}/multispeq`,
      },
      { id: first.id },
    ]);
  });

  test('GET and DELETE /api/v1/experiments/{id}/devices', async () => {
    const device = await register({ name: 'Bound' });
    const one = await experiment({ visibility: 'public' });
    await owner()('POST', `/api/v1/devices/${device.id}/credentials`);
    await owner()('POST', `/api/v1/devices/${device.id}/onboard`, { body: { experimentIds: [one.id] } });
    const path = `/api/v1/experiments/${one.id}/devices`;
    const listed = await site.as(site.cast.member)('GET', path);
    expect(listed.body).toEqual([
      {
        device: {
          id: device.id,
          thingName: device.thingName,
          serialNumber: device.serialNumber,
          name: 'Bound',
          deviceType: 'multispeq',
          status: 'active',
        },
        addedBy: site.cast.owner.id,
        addedAt: expect.any(String),
      },
    ]);
    expect((await site.as(site.cast.stranger)('GET', path)).status).toBe(403);
    expect((await site.as(site.cast.stranger)('DELETE', `${path}/${device.id}`)).status).toBe(403);
    await owner()('PATCH', `/api/v1/experiments/${one.id}`, { body: { status: 'archived' } });
    expect(await owner()('DELETE', `${path}/${device.id}`)).toMatchObject({ status: 200, body: null });
    expect((await owner()('DELETE', `${path}/${device.id}`)).body.code).toBe('NOT_ATTACHED');
  });

  test('takes at most 100 experiments', async () => {
    const device = await register();
    await owner()('POST', `/api/v1/devices/${device.id}/credentials`);
    const { db } = site;
    const ids = Array.from({ length: 101 }, () => crypto.randomUUID());
    for (const id of ids) {
      await db.run(
        sql(
          'test',
        )`insert into resources (id, type, organization_id, name, created_by) values (${id}, 'experiment', ${site.cast.leafLab}, 'Many', ${site.cast.owner.id})`,
      );
      await db.run(sql('test')`insert into experiments (id) values (${id})`);
    }
    const path = `/api/v1/devices/${device.id}/onboard`;
    expect((await owner()('POST', path, { body: { experimentIds: ids.slice(0, 100) } })).body.experiments).toHaveLength(100);
    expect((await owner()('POST', path, { body: { experimentIds: ids.slice(100) } })).body.code).toBe('TOO_MANY_BINDINGS');
    expect((await owner()('POST', path, { body: { experimentIds: ids } })).status).toBe(400);
  });
});

describe('iot', () => {
  test('GET /api/v1/iot/credentials', async () => {
    const answer = await site.as(site.cast.stranger)('GET', '/api/v1/iot/credentials');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ accessKeyId: expect.any(String), clientIdPrefix: `u-${site.cast.stranger.id}-`, keyPrefix: null });
    expect(new Date(answer.body.expiration).getTime() - Date.now()).toBeGreaterThan(3_500_000);
    expect((await site.as(null)('GET', '/api/v1/iot/credentials')).status).toBe(401);
  });

  test('POST /api/v1/iot/devices/registry', async () => {
    const device = await register();
    const ask = (call = owner()) =>
      call('POST', '/api/v1/iot/devices/registry', { body: { thingNames: [device.thingName, 'no-such-thing'] } });
    expect((await ask()).body).toEqual({
      devices: [
        {
          thingName: device.thingName,
          id: device.id,
          serialNumber: device.serialNumber,
          deviceType: 'multispeq',
          status: 'pending',
          createdBy: site.cast.owner.id,
        },
      ],
      success: true,
    });
    expect((await ask(site.as(site.cast.stranger))).body.devices).toEqual([]);
    expect((await owner()('POST', '/api/v1/iot/devices/registry', { body: { thingNames: [] } })).status).toBe(400);
  });
});
