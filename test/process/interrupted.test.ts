/** What is killed while it waits, at a moment that a lock of the test chooses, is done by the next process. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql, type Query } from '../../src/database/sql.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';
import { callsTo } from '../support/server.ts';
import { countWaiting } from '../support/waiting.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let person: Person;
beforeAll(async () => {
  site = await sharedSite();
  server = await spawnServer(site.environment);
  person = await makePerson(site.database.db, 'owner');
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await site.remove();
});

const call = (method: string, path: string, body?: unknown) => callsTo(server.baseUrl)(person)(method, `/api/v1/${path}`, { body });

/** Kills the process that `begin` answers when it waits for what `lock` holds. */
const killAt = (lock: Query, begin: () => ServerProcess | Promise<ServerProcess>): Promise<void> =>
  site.database.db.transaction(async (tx) => {
    await tx.run(lock);
    const victim = await begin();
    await expect.poll(() => countWaiting(site.database.db), { timeout: 20_000 }).toBe(1);
    await victim.kill('SIGKILL');
  });

test('a device that is detached keeps no right to publish', async () => {
  const { id: experimentId } = (await call('POST', 'experiments', { name: 'Left' })).body;
  const device = (await call('POST', 'devices', { serialNumber: randomUUID(), deviceType: 'multispeq' })).body;
  expect((await call('POST', `devices/${device.id}/credentials`)).status).toBe(201);
  expect((await call('POST', `devices/${device.id}/onboard`, { experimentIds: [experimentId] })).status).toBe(200);
  const mayPublish = async () =>
    (
      await site.database.db.rows(sql('t')`
        select from registry_things where thing_name = ${device.thingName} and position(${experimentId} in (record -> 'policies')::text) > 0`)
    ).length > 0;
  expect(await mayPublish()).toBe(true);
  await killAt(sql('t')`select pg_advisory_xact_lock(hashtextextended(${`device ${device.id}`}, 50))`, () => {
    call('DELETE', `experiments/${experimentId}/devices/${device.id}`).catch(() => undefined);
    return server;
  });
  server = await spawnServer(site.environment);
  expect((await call('GET', `devices/${device.id}/experiments`)).body).toEqual([]);
  await expect.poll(mayPublish, { timeout: 20_000 }).toBe(false);
});

test('a file that is refused says why', async () => {
  await server.kill('SIGTERM');
  server = await spawnServer({ ...site.environment, WORKER: 'off' });
  const { id } = (await call('POST', 'experiments', { name: 'Refused' })).body;
  const form = new FormData();
  for (const [name, value] of Object.entries({ sourceKind: 'parquet', targetKind: 'new', targetName: 'garbled' })) form.append(name, value);
  form.append('files', new Blob(['no Parquet at all']), 'a.parquet');
  const uploads = `experiments/${id}/data/uploads`;
  const { uploadId } = (await call('POST', uploads, form)).body;
  await killAt(sql('t')`select from upload_files where upload_id = ${uploadId} for update`, () => spawnServer(site.environment));
  await server.kill('SIGTERM');
  server = await spawnServer(site.environment);
  const find = async () => (await call('GET', `${uploads}/${uploadId}`)).body;
  await expect.poll(async () => (await find()).status, { timeout: 90_000 }).toBe('failed');
  expect((await find()).files).toMatchObject([{ status: 'failed', reason: 'wrong_type' }]);
});
