/** A Postgres that takes no writes, as a standby behind a name that still leads there, or one whose provider found its disk full. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from '../support/cast.ts';
import { ask } from '../support/faulted.ts';
import { failing, sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let owner: Person;
let admin: pg.Client;

beforeAll(async () => {
  site = await sharedSite();
  server = await spawnServer(site.environment);
  owner = await makePerson(site.database.db, 'owner');
  admin = new pg.Client({ connectionString: site.database.url });
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await server?.kill('SIGTERM');
  await site?.remove();
});

const create = () =>
  ask(server.baseUrl, { name: 'create', method: 'POST', path: '/api/v1/experiments', body: { name: 'Written' }, person: owner });
const ready = () => fetch(`${server.baseUrl}/health/ready`);

/** Connections of our own service that stand are ended; those that come are of this kind. */
async function turn(kind: 'on' | 'off'): Promise<void> {
  await admin.query('set default_transaction_read_only = off');
  await admin.query(`alter database ${admin.database!} set default_transaction_read_only = ${kind}`);
  if (kind === 'on')
    await admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
}

test('a service whose Postgres takes no writes says so, and goes on by itself once new connections may write', async () => {
  expect((await create()).status).toBe(201);
  expect((await ready()).status).toBe(200);
  await turn('on');
  await expect.poll(async () => (await ready()).status).toBe(503);
  const refused = await create();
  expect([refused.status, refused.body.code]).toEqual([503, 'DATABASE_UNAVAILABLE']);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  const details = (await (await fetch(`${server.adminUrl}/health/ready`)).json()) as { details: { postgres: object } };
  expect(details.details.postgres).toMatchObject({ ok: false, reason: expect.stringContaining('read-only') });
  expect(await failing(site.environment)).toMatchObject({
    code: 1,
    text: expect.stringMatching(/^fieldlake cannot start: .*takes no writes.*\n$/),
  });
  // connections that were made meanwhile stay read-only
  await turn('off');
  await expect.poll(async () => (await ready()).status, { timeout: 10_000 }).toBe(200);
  await expect.poll(async () => (await create()).status, { timeout: 10_000 }).toBe(201);
});
