import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey, revokeKey } from '../../src/api/credentials/credentials.service.ts';
import { sql } from '../../src/database/sql.ts';
import { makePerson } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let servers: ServerProcess[];
let userId: string;

beforeAll(async () => {
  site = await sharedSite();
  servers = await Promise.all([spawnServer(site.environment), spawnServer(site.environment)]);
  userId = (await makePerson(site.database.db, 'caller')).id;
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill('SIGTERM')));
  await site.remove();
});

const call = (server: ServerProcess, key: string) =>
  fetch(`${server.baseUrl}/api/v1/experiments?pageSize=1`, { headers: { 'x-api-key': key } });
const key = async () => (await createApiKey(site.database.db, { userId, name: 'limited' })).key;

test('of 130 calls at once on one key exactly 100 pass, also when two processes share them', async () => {
  const limited = await key();
  const answers = await Promise.all(Array.from({ length: 130 }, (_, index) => call(servers[index % 2]!, limited)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
  expect(refused).toHaveLength(30);
  for (const { headers } of refused) {
    const wait = Number(headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(61);
    expect(headers.get('ratelimit')).toMatch(/^"key";r=0;t=\d+$/);
    expect(headers.get('ratelimit-policy')).toBe('"key";q=100;w=60');
  }
  for (const answer of refused) await answer.body?.cancel();
});

test('a key that was used before the clock of Postgres was set back by an hour has its limit of each minute', async () => {
  const limited = await key();
  const answers = await Promise.all(Array.from({ length: 100 }, () => call(servers[0]!, limited)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect((await call(servers[0]!, limited)).status).toBe(429);
  // as the window stands once the clock was set back
  await site.database.db.run(sql('t')`update api_key_windows set second = second + 3600`);
  const later = await Promise.all(Array.from({ length: 101 }, () => call(servers[0]!, limited)));
  expect(later.filter(({ status }) => status === 200)).toHaveLength(100);
});

test('a revoked key is refused on the very next call, in every process', async () => {
  for (let round = 0; round < 20; round += 1) {
    const doomed = await key();
    expect((await call(servers[0]!, doomed)).status).toBe(200);
    expect((await call(servers[1]!, doomed)).status).toBe(200);
    await revokeKey(site.database.db, doomed);
    const after = await Promise.all(servers.map((server) => call(server, doomed)));
    expect(after.map(({ status }) => status)).toEqual([401, 401]);
  }
});

test('a key is revoked by its id or its text, and a text that is neither is no key', async () => {
  const { db } = site.database;
  const [one, other] = [await createApiKey(db, { userId, name: 'one' }), await createApiKey(db, { userId, name: 'other' })];
  expect(await revokeKey(db, one.id)).toEqual({ id: one.id });
  expect(await revokeKey(db, other.key)).toEqual({ id: other.id });
  await expect(revokeKey(db, 'my laptop')).rejects.toMatchObject({ code: 'API_KEY_UNKNOWN' });
});
