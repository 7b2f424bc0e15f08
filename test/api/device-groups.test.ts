import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { countWaiting } from '../support/waiting.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const owner = () => site.as(site.cast.owner);
let serials = 0;
const device = async () =>
  (
    await owner()('POST', '/api/v1/devices', {
      body: { serialNumber: `G-${(serials += 1)}`, deviceType: 'ambyte', organizationId: site.cast.leafLab },
    })
  ).body.id as string;
const newGroup = async (name: string) =>
  (await owner()('POST', '/api/v1/device-groups', { body: { name, organizationId: site.cast.leafLab } })).body;

test('POST, GET, PATCH and DELETE /api/v1/device-groups', async () => {
  const made = await owner()('POST', '/api/v1/device-groups', {
    body: { name: '  Roof  ', description: 'South side', organizationId: site.cast.leafLab },
  });
  expect(made).toMatchObject({
    status: 201,
    body: {
      name: 'Roof',
      description: 'South side',
      organizationId: site.cast.leafLab,
      visibility: 'private',
      createdBy: site.cast.owner.id,
    },
  });
  const path = `/api/v1/device-groups/${made.body.id}`;
  expect((await owner()('GET', path)).body).toMatchObject({ memberCount: 0, capabilities: { canManage: true, canTransfer: false } });
  expect((await owner()('GET', '/api/v1/device-groups')).body).toMatchObject([{ id: made.body.id, memberCount: 0 }]);
  expect((await site.as(site.cast.stranger)('GET', '/api/v1/device-groups')).body).toEqual([]);
  expect((await site.as(site.cast.stranger)('GET', path)).status).toBe(403);
  expect((await owner()('PATCH', path, { body: { description: null } })).body).toMatchObject({ name: 'Roof', description: null });
  expect((await owner()('PATCH', path, { body: { name: ' ' } })).status).toBe(400);
  expect((await site.as(site.cast.member)('PATCH', path, { body: { name: 'x' } })).status).toBe(403);
  expect((await owner()('POST', '/api/v1/device-groups', { body: { name: '' } })).status).toBe(400);
  expect(await owner()('DELETE', path)).toMatchObject({ status: 200, body: null });
  expect((await owner()('GET', path)).status).toBe(404);
});

test('members: added all or none, shown as far as they may be read, removed again', async () => {
  const group = await newGroup('Members');
  const [one, two] = [await device(), await device()];
  const path = `/api/v1/device-groups/${group.id}/devices`;
  expect(await owner()('POST', path, { body: { deviceIds: [one, crypto.randomUUID(), two, crypto.randomUUID()] } })).toMatchObject({
    status: 404,
    body: { errors: [{ path: '/deviceIds/1' }, { path: '/deviceIds/3' }] },
  });
  expect((await owner()('GET', path)).body).toEqual([]);
  const added = await owner()('POST', path, { body: { deviceIds: [one, two, one] } });
  expect(added.body).toHaveLength(2);
  expect(added.body[0]).toEqual({
    deviceId: two,
    name: null,
    serialNumber: expect.any(String),
    deviceType: 'ambyte',
    status: 'pending',
    connected: false,
    addedAt: expect.any(String),
  });
  await grant(site.db, { id: group.id, type: 'device_group' }, { user: site.cast.viewer.id }, 'admin');
  expect((await site.as(site.cast.viewer)('GET', path)).body[0]).toMatchObject({ deviceId: two, serialNumber: null, connected: null });
  const theirs = (await site.as(site.cast.viewer)('POST', '/api/v1/devices', { body: { serialNumber: 'mine', deviceType: 'ambyte' } })).body
    .id;
  expect(await owner()('POST', path, { body: { deviceIds: [one, theirs] } })).toMatchObject({
    status: 403,
    body: { errors: [{ path: '/deviceIds/1' }] },
  });
  expect((await owner()('POST', path, { body: { deviceIds: [] } })).status).toBe(400);
  expect((await owner()('DELETE', `${path}/${one}`)).body).toBeNull();
  expect((await owner()('DELETE', `${path}/${one}`)).status).toBe(200);
  expect((await owner()('GET', path)).body).toHaveLength(1);
});

test('devices that are added while their group is deleted are added before it goes, and to a deleted one not at all', async () => {
  const group = await newGroup('Short');
  const path = `/api/v1/device-groups/${group.id}`;
  const one = await device();
  const add = () => owner()('POST', `${path}/devices`, { body: { deviceIds: [one] } });
  const [added, deleted] = await site.db
    .transaction(async (tx) => {
      await tx.run(sql('t')`select from devices where id = ${one} for update`);
      const adding = add();
      await expect.poll(() => countWaiting(site.db)).toBe(1);
      let isDeleted = false;
      const deleting = owner()('DELETE', path).finally(() => (isDeleted = true));
      await expect.poll(async () => isDeleted || (await countWaiting(site.db)) > 1).toBe(true);
      return [adding, deleting];
    })
    .then((calls) => Promise.all(calls));
  expect([added?.status, deleted?.status]).toEqual([200, 200]);
  expect((await add()).status).toBe(404);
});

test('credentials, rotate, onboard and revoke say for every member how it went', async () => {
  const group = await newGroup('Changes');
  const ids = await Promise.all([device(), device(), device()]);
  const path = `/api/v1/device-groups/${group.id}`;
  await owner()('POST', `${path}/devices`, { body: { deviceIds: ids } });
  const outsider = await device();
  const issued = await owner()('POST', `${path}/credentials`, { body: { deviceIds: [ids[0], outsider, ids[1]] } });
  expect(issued.body.devices.map((row: any) => [row.deviceId, row.credentials !== null, row.error !== null])).toEqual([
    [ids[0], true, false],
    [outsider, false, true],
    [ids[1], true, false],
  ]);
  expect(issued.body.devices[0].credentials.privateKey).toContain('PRIVATE KEY');
  const all = await owner()('POST', `${path}/credentials`);
  expect(all.body.devices.filter((row: any) => row.error === null)).toHaveLength(1);
  const rotated = await owner()('POST', `${path}/credentials/rotate`);
  expect(rotated.body.devices.every((row: any) => row.credentials !== null && row.error === null)).toBe(true);
  const experiment = (await owner()('POST', '/api/v1/experiments', { body: { name: 'Field', organizationId: site.cast.leafLab } })).body;
  const onboarded = await owner()('POST', `${path}/onboard`, { body: { experimentIds: [experiment.id] } });
  expect(onboarded.body.devices.every((row: any) => row.config.experiments[0].experimentId === experiment.id)).toBe(true);
  await grant(site.db, { id: group.id, type: 'device_group' }, { user: site.cast.viewer.id }, 'admin');
  const denied = await site.as(site.cast.viewer)('POST', `${path}/credentials/revoke`);
  expect(denied.body.devices.every((row: any) => row.error === 'You may not manage this device.')).toBe(true);
  const revoked = await owner()('POST', `${path}/credentials/revoke`, { body: { deviceIds: ids } });
  expect(revoked.body.devices).toEqual(ids.map((deviceId) => ({ deviceId, error: null })));
  expect((await site.as(site.cast.member)('POST', `${path}/credentials`)).status).toBe(403);
});

test('certificates that were made for a group are not made again under one Idempotency-Key', async () => {
  const group = await newGroup('Repeated');
  const ids = await Promise.all([device(), device()]);
  const path = `/api/v1/device-groups/${group.id}`;
  await owner()('POST', `${path}/devices`, { body: { deviceIds: ids } });
  const live = async () => (await owner()('GET', `/api/v1/devices/${ids[0]}`)).body.certificateId as string;
  for (const route of ['credentials', 'credentials/rotate']) {
    const call = () => owner()('POST', `${path}/${route}`, { headers: { 'idempotency-key': 'group' } });
    const first = await call();
    expect(first.body.devices.map((row: any) => [row.error, row.credentials !== null])).toEqual([
      [null, true],
      [null, true],
    ]);
    const made = await live();
    expect(await call()).toMatchObject({ status: 409, body: { code: 'ALREADY_DONE', detail: expect.stringContaining(made) } });
    expect(await live()).toBe(made);
  }
});
