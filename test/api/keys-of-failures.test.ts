import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
let admin: pg.Client;
beforeAll(async () => {
  site = await startTestServer({ MACRO_LANGUAGES: 'none' });
  owner = site.as(site.cast.owner);
  admin = new pg.Client({ connectionString: site.database.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await site.stop();
});

const headers = () => ({ 'idempotency-key': randomUUID() });
const count = async (name: string) =>
  (await site.db.one<{ count: number }>(sql('test')`select count(*)::integer as count from resources where name = ${name}`))!.count;
const create = (name: string, options: { headers: Record<string, string> }) =>
  owner('POST', '/api/v1/experiments', { body: { name }, ...options });
/** Has Postgres refuse new experiments at the end of their transaction. */
const refuse = async (state: string, seconds = 0) => {
  await admin.query(`
    create function refuse() returns trigger language plpgsql as $$ begin perform pg_sleep(${seconds}); raise exception 'refused' using errcode = '${state}'; end $$;
    create constraint trigger refuse after insert on experiments deferrable initially deferred for each row execute function refuse()`);
  return () => admin.query('drop function refuse() cascade');
};

test.each([
  ['XX000', 500],
  ['53300', 503],
])('a key whose first call failed with %s is free for the next call at once', async (state, status) => {
  const key = headers();
  const mend = await refuse(state);
  const answers = new Set<number>();
  for (let times = 0; times < 50; times += 1) answers.add((await create(`K ${state}`, { headers: key })).status);
  expect([...answers]).toEqual([status]);
  await mend();
  const made = await create(`K ${state}`, { headers: key });
  expect(made.status).toBe(201);
  const again = await create(`K ${state}`, { headers: key });
  expect([again.status, again.body.id, again.headers.get('idempotency-replayed')]).toEqual([201, made.body.id, 'true']);
  expect(await count(`K ${state}`)).toBe(1);
});

test('a key whose caller left while the call failed is free for the next call at once', async () => {
  const key = headers();
  const mend = await refuse('XX000', 2);
  const sent = fetch(`${site.server.baseUrl}/api/v1/experiments`, {
    method: 'POST',
    body: JSON.stringify({ name: 'Left' }),
    headers: { ...key, 'content-type': 'application/json', 'x-api-key': site.cast.owner.apiKey },
    signal: AbortSignal.timeout(1_000),
  });
  await expect(sent).rejects.toThrow();
  await sleep(3_000);
  await mend();
  expect((await create('Left', { headers: key })).status).toBe(201);
  expect(await count('Left')).toBe(1);
});

test('a key whose caller left while the call succeeded keeps its answer', async () => {
  const key = headers();
  await admin.query(`
    create function wait() returns trigger language plpgsql as $$ begin perform pg_sleep(2); return null; end $$;
    create constraint trigger wait after insert on experiments deferrable initially deferred for each row execute function wait()`);
  const sent = fetch(`${site.server.baseUrl}/api/v1/experiments`, {
    method: 'POST',
    body: JSON.stringify({ name: 'Kept' }),
    headers: { ...key, 'content-type': 'application/json', 'x-api-key': site.cast.owner.apiKey },
    signal: AbortSignal.timeout(1_000),
  });
  await expect(sent).rejects.toThrow();
  await sleep(3_000);
  await admin.query('drop function wait() cascade');
  const again = await create('Kept', { headers: key });
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  expect(await count('Kept')).toBe(1);
});
