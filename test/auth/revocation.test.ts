import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import { createApiKey, revokeKey } from '../../src/api/credentials/credentials.service.ts';
import { endSession, startSession } from '../../src/auth/sessions.ts';
import { sql } from '../../src/database/sql.ts';
import { Browser } from '../support/browser.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const ROUNDS = process.env['SOAK'] === '1' ? 1_000 : 100;

let site: TestServer;
let second: ServerProcess;
beforeAll(async () => {
  site = await startTestServer();
  second = await spawnServer({ DATABASE_URL: site.database.url, DATA_DIR: site.dataDir, WORKER: 'off' });
});
afterAll(async () => {
  await second.kill('SIGTERM');
  await site.stop();
});

const status = async (baseUrl: string, headers: Record<string, string>) =>
  (await fetch(`${baseUrl}/api/v1/experiments?pageSize=1`, { headers })).status;

test('what is revoked in one process is refused by the next call in another', async () => {
  const { db } = site.database;
  const { id: userId } = site.cast.owner;
  const both = [site.server.baseUrl, second.baseUrl] as const;
  const stale = { sessions: 0, keys: 0 };
  const race = async (round: number) => {
    const [here, there] = round % 2 === 0 ? both : [both[1], both[0]];
    const { token, handle } = await startSession(db, { userId, method: 'email', ipAddress: null, userAgent: null });
    const { id, key } = await createApiKey(db, { userId, name: 'race', rateLimit: 1_000 });
    const cookie = { cookie: `fieldlake.session_token=${token}` };
    const header = { 'x-api-key': key };
    expect([await status(there, cookie), await status(there, header)]).toEqual([200, 200]);
    // calls are in flight everywhere while the revocation commits
    const inFlight = [status(there, cookie), status(there, header), status(here, cookie)];
    if (round % 4 < 2) {
      const browser = new Browser(here);
      browser.cookies.set('fieldlake.session_token', token);
      expect((await browser.call('POST', '/api/v1/auth/api-key/delete', { keyId: id })).status).toBe(200);
      expect((await browser.call('POST', '/api/v1/auth/sign-out', {})).status).toBe(200);
    } else {
      await Promise.all([endSession(db, userId, handle), revokeKey(db, id)]);
    }
    const [session, apiKey] = await Promise.all([status(there, cookie), status(there, header)]);
    if (session !== 401) stale.sessions += 1;
    if (apiKey !== 401) stale.keys += 1;
    await Promise.all(inFlight);
  };
  const lanes = Array.from({ length: 5 }, async (_, lane) => {
    for (let round = lane; round < ROUNDS; round += 5) await race(round);
  });
  await Promise.all(lanes);
  expect(stale).toEqual({ sessions: 0, keys: 0 });
});

test('an account that is closed is refused at once, by session and by key', async () => {
  const { db } = site.database;
  const { id: userId, apiKey } = site.cast.stranger;
  const { token } = await startSession(db, { userId, method: 'email', ipAddress: null, userAgent: null });
  expect(await status(second.baseUrl, { cookie: `fieldlake.session_token=${token}` })).toBe(200);
  await db.run(sql('t')`update users set deleted_at = now(), email = null, email_verified = false, image = null where id = ${userId}`);
  expect(await status(second.baseUrl, { cookie: `fieldlake.session_token=${token}` })).toBe(401);
  expect(await status(second.baseUrl, { 'x-api-key': apiKey })).toBe(401);
});

test('a session slides: renewed at most once a day, for thirty days, and gone when they pass', async () => {
  const { db } = site.database;
  const { id: userId } = site.cast.member;
  const { token, handle } = await startSession(db, { userId, method: 'email', ipAddress: null, userAgent: null });
  const call = () => fetch(`${site.server.baseUrl}/api/v1/experiments`, { headers: { cookie: `fieldlake.session_token=${token}` } });
  const days = async () =>
    (
      await db.one<{ days: number }>(
        sql('t')`select extract(epoch from expires_at - now()) / 86400 as days from sessions where id = ${handle}`,
      )
    )?.days ?? 0;
  expect((await call()).headers.getSetCookie()).toEqual([]);
  await db.run(
    sql('t')`update sessions set expires_at = now() + interval '28 days', renewed_at = now() - interval '23 hours' where id = ${handle}`,
  );
  expect((await call()).headers.getSetCookie()).toEqual([]);
  expect(await days()).toBeCloseTo(28, 1);
  await db.run(
    sql('t')`update sessions set expires_at = now() + interval '1 minute', renewed_at = now() - interval '25 hours' where id = ${handle}`,
  );
  const renewed = await call();
  expect(renewed.status).toBe(200);
  expect(renewed.headers.getSetCookie()).toEqual([`fieldlake.session_token=${token}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax`]);
  expect(await days()).toBeCloseTo(30, 1);
  expect((await call()).headers.getSetCookie()).toEqual([]);
  await db.run(sql('t')`update sessions set expires_at = now() where id = ${handle}`);
  expect((await call()).status).toBe(401);
});

test('an unknown key passes next to a valid session, a malformed one never does', async () => {
  const { db } = site.database;
  const { token } = await startSession(db, { userId: site.cast.member.id, method: 'email', ipAddress: null, userAgent: null });
  const { key } = await createApiKey(db, { userId: site.cast.owner.id, name: 'gone' });
  const cookie = `fieldlake.session_token=${token}`;
  expect(await status(site.server.baseUrl, { 'x-api-key': key })).toBe(200);
  await revokeKey(db, key);
  expect(await status(site.server.baseUrl, { 'x-api-key': key })).toBe(401);
  expect(await status(site.server.baseUrl, { 'x-api-key': key, cookie })).toBe(200);
  expect(await status(site.server.baseUrl, { 'x-api-key': 'flk_nonsense', cookie })).toBe(403);
  expect(await status(site.server.baseUrl, { 'x-api-key': '', cookie })).toBe(200);
  expect(await status(site.server.baseUrl, { cookie: `fieldlake.session_token=${randomUUID()}` })).toBe(401);
});

test('a write with a cookie comes from a trusted page, on every route; a key needs none', async () => {
  const { token } = await startSession(site.database.db, { userId: site.cast.owner.id, method: 'email', ipAddress: null, userAgent: null });
  const write = async (headers: Record<string, string>, path = '/api/v1/experiments') => {
    const response = await fetch(`${site.server.baseUrl}${path}`, {
      method: 'POST',
      headers: { cookie: `fieldlake.session_token=${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ name: 'x' }),
    });
    const { code, detail } = (await response.json()) as { code?: string; detail?: string };
    if (code === 'ORIGIN_NOT_TRUSTED') expect(detail).toContain('BASE_URL');
    return { status: response.status, code };
  };
  const own = new URL(site.server.baseUrl).origin;
  expect((await write({ origin: own })).status).toBe(201);
  expect((await write({ origin: own.replace('127.0.0.1', 'localhost') })).status).toBe(201);
  expect((await write({ 'sec-fetch-site': 'same-origin' })).status).toBe(201);
  for (const origin of ['https://evil.example', `${own}.evil.example`, own.replace(/\d+$/, '1'), 'http://localhost'])
    expect(await write({ origin }), origin).toEqual({ status: 403, code: 'ORIGIN_NOT_TRUSTED' });
  for (const headers of [{}, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }] as Record<
    string,
    string
  >[])
    expect(await write(headers), JSON.stringify(headers)).toEqual({ status: 403, code: 'ORIGIN_MISSING' });
  expect(await write({}, '/api/v1/auth/revoke-other-sessions')).toEqual({ status: 403, code: 'MISSING_OR_NULL_ORIGIN' });
  expect(await write({ origin: 'https://evil.example' }, '/api/v1/auth/sign-out')).toEqual({ status: 403, code: 'INVALID_ORIGIN' });
  expect(await write({ origin: 'https://evil.example' }, '/api/v1/auth/email-otp/send-verification-otp')).toEqual({
    status: 403,
    code: 'INVALID_ORIGIN',
  });
  const keyed = await site.as(site.cast.owner)('POST', '/api/v1/experiments', {
    body: { name: 'x' },
    headers: { origin: 'https://evil.example' },
  });
  expect(keyed.status).toBe(201);
  expect(await status(site.server.baseUrl, { cookie: `fieldlake.session_token=${token}`, origin: 'https://evil.example' })).toBe(200);
});
