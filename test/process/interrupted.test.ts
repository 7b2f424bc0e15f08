/** What is killed while it waits, at a moment that a lock of the test chooses, is done by the next process. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql, type Query } from '../../src/database/sql.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';
import { callsTo } from '../support/server.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let person: Person;
beforeAll(async () => {
  site = await sharedSite();
  server = await spawnServer(site.environment);
  person = await makePerson(site.database.db, 'owner');
}, 60_000);
afterAll(async () => {
  await server.kill('SIGTERM');
  await site.remove();
}, 60_000);

const call = (method: string, path: string, body?: unknown) => callsTo(server.baseUrl)(person)(method, `/api/v1/${path}`, { body });
const countWaiting = async () =>
  (
    await site.database.db.rows(sql('t')`
      select distinct l.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid where not l.granted and a.datname = current_database()`)
  ).length;

/** Kills the server when what `begin` begins waits for what `lock` holds, and starts another. */
async function killAt(lock: Query, begin: () => unknown): Promise<void> {
  await site.database.db.transaction(async (tx) => {
    await tx.run(lock);
    await begin();
    await expect.poll(countWaiting, { timeout: 20_000 }).toBe(1);
    await server.kill('SIGKILL');
  });
  server = await spawnServer(site.environment);
}

test('a device that is detached keeps no right to publish', { timeout: 60_000 }, async () => {
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
  });
  expect((await call('GET', `devices/${device.id}/experiments`)).body).toEqual([]);
  await expect.poll(mayPublish, { timeout: 20_000 }).toBe(false);
});
