/** A Postgres that lets nobody in for a while, or gives a lock or a transaction less time than it takes. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from '../support/cast.ts';
import { ask } from '../support/faulted.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let owner: Person;
/** Beside the database of the service: whoever is in a database cannot close it. */
let admin: pg.Client;
let name: string;

beforeAll(async () => {
  site = await sharedSite();
  server = await spawnServer(site.environment);
  owner = await makePerson(site.database.db, 'owner');
  name = new URL(site.database.url.replace('@/', '@socket/')).pathname.slice(1);
  admin = new pg.Client({ connectionString: site.database.url.replace(name, 'postgres') });
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await server?.kill('SIGTERM');
  await site?.remove();
});

const create = () =>
  ask(server.baseUrl, { name: 'create', method: 'POST', path: '/api/v1/experiments', body: { name: 'Written' }, person: owner });
const created = () => expect.poll(async () => (await create()).status, { timeout: 10_000 }).toBe(201);

/** Changes the database for connections that come, and ends those that stand. */
async function alter(change: string): Promise<void> {
  await admin.query(`alter database ${name} ${change}`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
}

test('a database that takes no connections is DATABASE_UNAVAILABLE until it does', async () => {
  expect((await create()).status).toBe(201);
  await alter('allow_connections false');
  await expect.poll(async () => (await create()).body.code).toBe('DATABASE_UNAVAILABLE');
  const refused = await create();
  expect([refused.status, refused.body.code]).toEqual([503, 'DATABASE_UNAVAILABLE']);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  expect((await fetch(`${server.baseUrl}/health/ready`)).status).toBe(503);
  const details = (await (await fetch(`${server.adminUrl}/health/ready`)).json()) as { details: { postgres: object } };
  expect(details.details.postgres).toMatchObject({ ok: false, reason: expect.stringContaining('not currently accepting connections') });
  await admin.query(`alter database ${name} allow_connections true`);
  await created();
});

test.each(['lock_timeout', 'transaction_timeout'])('what waits longer than %s of Postgres allows is DATABASE_TIMEOUT', async (setting) => {
  await alter(`set ${setting} = '300ms'`);
  await created();
  const holder = new pg.Client({ connectionString: site.database.url });
  await holder.connect();
  try {
    await holder.query(`set ${setting} = 0`);
    // as VACUUM FULL does
    await holder.query('begin');
    await holder.query('lock table experiments in access exclusive mode');
    const refused = await create();
    expect([refused.status, refused.body.code]).toEqual([504, 'DATABASE_TIMEOUT']);
    await holder.query('rollback');
    await created();
  } finally {
    await holder.end();
    await alter(`reset ${setting}`);
  }
});
