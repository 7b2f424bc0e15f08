import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

const experiment = async (body: object = {}) =>
  (await owner('POST', '/api/v1/experiments', { body: { name: 'Field', organizationId: site.cast.leafLab, ...body } })).body.id as string;
const register = async (serialNumber: string) =>
  (await owner('POST', '/api/v1/devices', { body: { serialNumber, deviceType: 'ambyte', organizationId: site.cast.leafLab } })).body;
const send = (experimentId: string, clientId: string, n: number) =>
  storeMessages(site.db, [
    {
      experimentId,
      clientId,
      body: Buffer.from(JSON.stringify({ timestamp: `2026-05-01T10:0${n}:00Z`, sample: { n }, device_id: `own-${clientId}` })),
    },
  ]);
const read = async (experimentId: string, query: Record<string, string | number> = {}, as: Call = owner) =>
  (await as('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName: 'raw_data', orderBy: 'timestamp', ...query } }))
    .body[0].data.rows as any[];
const devices = async (experimentId: string) => (await read(experimentId)).map(({ device }) => device);

// most of each is waiting, and each has an experiment of its own
test.concurrent('a measurement says what the registry says of the device that sent it, as it is now', async ({ expect }) => {
  const id = await experiment();
  const made = await register('AMB-1');
  await send(id, made.thingName, 1);
  await send(id, 'never-registered', 2);
  const known = { id: made.id, serial_number: 'AMB-1', owner: site.cast.owner.id, status: 'pending', device_type: 'ambyte' };
  await expect.poll(() => devices(id)).toEqual([known, null]);
  expect((await read(id, { tableName: 'device', columns: 'client_id,device', orderBy: 'client_id' })).map(({ device }) => device)).toEqual(
    expect.arrayContaining([known, null]),
  );

  // a filter and a group by a field of it
  const filters = JSON.stringify([{ column: 'device.serial_number', operator: 'equals', value: 'AMB-1' }]);
  expect(await read(id, { filters })).toHaveLength(1);

  // the entity tag changes with it
  const path = `/api/v1/experiments/${id}/data`;
  const query = { tableName: 'raw_data' };
  const tag = (await owner('GET', path, { query })).headers.get('etag')!;
  expect((await owner('GET', path, { query, headers: { 'if-none-match': tag } })).status).toBe(304);
  expect((await owner('POST', `/api/v1/devices/${made.id}/credentials`)).status).toBe(201);
  await expect.poll(() => devices(id)).toEqual([{ ...known, status: 'active' }, null]);
  expect((await owner('GET', path, { query, headers: { 'if-none-match': tag } })).status).toBe(200);

  expect((await owner('DELETE', `/api/v1/devices/${made.id}/credentials`)).status).toBe(200);
  await expect.poll(() => devices(id)).toEqual([{ ...known, status: 'revoked' }, null]);
  expect((await owner('DELETE', `/api/v1/devices/${made.id}`)).status).toBe(200);
  await expect.poll(() => devices(id)).toEqual([null, null]);
  // registered again, it is known again
  const again = await register('AMB-1');
  await expect.poll(() => devices(id)).toEqual([{ ...known, id: again.id }, null]);
});

test.concurrent('whoever may read the rows sees their device, of an experiment of their own and of no other', async ({ expect }) => {
  const [one, other] = [await experiment(), await experiment()];
  const [mine, theirs] = [await register('AMB-2'), await register('AMB-3')];
  await send(one, mine.thingName, 1);
  await send(other, theirs.thingName, 1);
  await expect.poll(async () => (await devices(one))[0]?.serial_number).toBe('AMB-2');
  await expect.poll(async () => (await devices(other))[0]?.serial_number).toBe('AMB-3');
  await grant(site.db, { id: one, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
  const viewer = site.as(site.cast.viewer);
  expect((await viewer('GET', `/api/v1/devices/${mine.id}`)).status).toBe(403);
  expect((await read(one, {}, viewer))[0].device).toMatchObject({ id: mine.id, serial_number: 'AMB-2' });
  expect((await viewer('GET', `/api/v1/experiments/${other}/data`, { query: { tableName: 'raw_data' } })).status).toBe(403);
});

test.concurrent('an anonymised experiment names the owner of a device by pseudonym', async ({ expect }) => {
  const id = await experiment({ anonymizeContributors: true });
  const made = await register('AMB-4');
  await send(id, made.thingName, 1);
  await expect.poll(async () => (await devices(id))[0]?.serial_number).toBe('AMB-4');
  expect((await devices(id))[0].owner).toMatch(/^Contributor-[0-9A-F]{16}$/);
  expect(JSON.stringify(await read(id))).not.toContain(site.cast.owner.id);
});

test('an experiment that cannot be written holds back no other, and is written once it can', async () => {
  const experiments = [await experiment(), await experiment()] as const;
  const made = [await register('AMB-5'), await register('AMB-6')] as const;
  for (const [at, id] of experiments.entries()) {
    await send(id, made[at]!.thingName, 1);
    await expect.poll(async () => (await devices(id))[0]?.status).toBe('pending');
  }
  const [broken, whole] = experiments;
  const folder = join(site.lakeFolder, 'tables', broken);
  renameSync(folder, `${folder}.away`);
  writeFileSync(folder, 'in its place');
  for (const { id } of made) expect((await owner('POST', `/api/v1/devices/${id}/credentials`)).status).toBe(201);
  await expect.poll(async () => (await devices(whole))[0]?.status).toBe('active');
  const left = () =>
    site.db.rows(sql('test')`select experiment_id as id from registry_changes where experiment_id = any (${[...experiments]}::uuid[])`);
  expect(await left()).toEqual([{ id: broken }]);
  rmSync(folder);
  renameSync(`${folder}.away`, folder);
  await expect.poll(async () => (await devices(broken))[0]?.status, { timeout: 20_000 }).toBe('active');
});

test('two at work on many changes at once leave the lake as the registry is', async () => {
  const id = await experiment();
  const made = await Promise.all(Array.from({ length: 8 }, (_, n) => register(`AMB-1${n}`)));
  await Promise.all(made.map(({ thingName }, n) => send(id, thingName, n)));
  await Promise.all(made.map((device) => owner('POST', `/api/v1/devices/${device.id}/credentials`)));
  await expect.poll(async () => (await devices(id)).map((device) => device?.status)).toEqual(made.map(() => 'active'));
  const left = () => site.db.one(sql('test')`select count(*)::int as left from registry_changes`);
  await expect.poll(left).toEqual({ left: 0 });
});
