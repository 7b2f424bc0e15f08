import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { Authenticator, type Deviation } from '../support/authenticator.ts';
import { Browser, signIn } from '../support/browser.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let origin: string;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '1000' });
  origin = site.server.baseUrl.replace('127.0.0.1', 'localhost');
});
afterAll(() => site.stop());

const AUTH = '/api/v1/auth/passkey';
const options = async (browser: Browser, kind: 'register' | 'authenticate') =>
  (await browser.call('GET', `${AUTH}/generate-${kind}-options`)).body;

async function register(browser: Browser, deviation: Deviation = {}, authenticator = new Authenticator(origin)) {
  const response = authenticator.create(await options(browser, 'register'), deviation);
  const answer = await browser.call('POST', `${AUTH}/verify-registration`, { response, name: ' Laptop ' });
  return { authenticator, answer };
}

async function enter(authenticator: Authenticator, deviation: Deviation = {}, browser = new Browser(site.server.baseUrl)) {
  const response = authenticator.get(await options(browser, 'authenticate'), deviation);
  return { browser, response, answer: await browser.call('POST', `${AUTH}/verify-authentication`, { response }) };
}

let serial = 0;
const somebody = () => signIn(site, `passkey${(serial += 1)}@example.com`);

describe('passkeys', () => {
  test('are made, listed, renamed, used and deleted; deleting one ends no session', async () => {
    const mine = await somebody();
    const { authenticator, answer } = await register(mine);
    expect(answer).toMatchObject({
      status: 200,
      body: { name: 'Laptop', deviceType: 'singleDevice', backedUp: false, transports: 'internal' },
    });
    const { id } = answer.body as { id: string };
    expect((await mine.call('GET', `${AUTH}/list-user-passkeys`)).body).toMatchObject([{ id, name: 'Laptop' }]);
    expect((await mine.call('POST', `${AUTH}/update-passkey`, { id, name: 'Phone' })).body).toMatchObject({
      passkey: { id, name: 'Phone' },
    });
    expect((await mine.call('POST', `${AUTH}/update-passkey`, { id: id.toUpperCase(), name: 'Tablet' })).body).toMatchObject({
      passkey: { id, name: 'Tablet' },
    });
    expect((await mine.call('POST', `${AUTH}/update-passkey`, { id, name: '  ' })).status).toBe(400);
    const entered = await enter(authenticator);
    expect(entered.answer).toMatchObject({
      status: 200,
      body: { user: { email: `passkey${serial}@example.com` }, session: { userId: expect.any(String) } },
    });
    expect(entered.browser.cookies.get('better-auth.last_used_login_method')).toBe('passkey');
    const stranger = await somebody();
    expect((await stranger.call('POST', `${AUTH}/delete-passkey`, { id })).status).toBe(404);
    expect((await stranger.call('POST', `${AUTH}/update-passkey`, { id, name: 'Stolen' })).status).toBe(404);
    expect((await mine.call('POST', `${AUTH}/delete-passkey`, { id })).body).toEqual({ status: true });
    expect((await entered.browser.call('GET', '/api/v1/experiments')).status).toBe(200);
    expect((await enter(authenticator)).answer.body).toMatchObject({ status: 401, code: 'PASSKEY_NOT_FOUND' });
  });

  test('need user verification, and the origin and relying party that are ours', async () => {
    const asked = await options(await somebody(), 'register');
    expect(asked).toMatchObject({
      rp: { id: 'localhost' },
      authenticatorSelection: { userVerification: 'required', residentKey: 'required' },
    });
    const mine = await somebody();
    const faults: Deviation[] = [
      { origin: 'https://evil.example' },
      { origin: origin.replace('localhost', 'localhost.evil.example') },
      { rpId: 'evil.example' },
      { userVerified: false },
      { challenge: 'AAAA' },
      { type: 'webauthn.other' },
    ];
    for (const fault of faults)
      expect((await register(mine, fault)).answer.body, JSON.stringify(fault)).toMatchObject({
        status: 400,
        code: 'FAILED_TO_VERIFY_REGISTRATION',
      });
    const { authenticator, answer } = await register(mine);
    expect(answer.status).toBe(200);
    for (const fault of [...faults, { forged: true }])
      expect((await enter(authenticator, fault)).answer.body, JSON.stringify(fault)).toMatchObject({
        status: 401,
        code: 'AUTHENTICATION_FAILED',
      });
    expect((await enter(authenticator)).answer.status).toBe(200);
  });

  test('a challenge is used once, in the browser that asked for it, within five minutes', async () => {
    const { authenticator } = await register(await somebody());
    const done = await enter(authenticator);
    expect(done.answer.status).toBe(200);
    const { response } = done;
    expect((await done.browser.call('POST', `${AUTH}/verify-authentication`, { response })).body.code).toBe('CHALLENGE_NOT_FOUND');

    const browser = new Browser(site.server.baseUrl);
    const asked = await options(browser, 'authenticate');
    const kept = browser.cookies.get('fieldlake.passkey_ceremony')!;
    const other = new Browser(site.server.baseUrl);
    expect((await other.call('POST', `${AUTH}/verify-authentication`, { response: authenticator.get(asked) })).body.code).toBe(
      'CHALLENGE_NOT_FOUND',
    );
    await site.database.db.run(sql('t')`update ceremonies set expires_at = now()`);
    expect((await browser.call('POST', `${AUTH}/verify-authentication`, { response: authenticator.get(asked) })).body.code).toBe(
      'CHALLENGE_NOT_FOUND',
    );
    browser.cookies.set('fieldlake.passkey_ceremony', `${kept.slice(0, -2)}AA`);
    expect((await browser.call('POST', `${AUTH}/verify-authentication`, { response: authenticator.get(asked) })).body.code).toBe(
      'CHALLENGE_NOT_FOUND',
    );
    // a wrong answer ends the ceremony too
    const second = new Browser(site.server.baseUrl);
    const again = await options(second, 'authenticate');
    const cookie = second.cookies.get('fieldlake.passkey_ceremony')!;
    expect(
      (await second.call('POST', `${AUTH}/verify-authentication`, { response: authenticator.get(again, { forged: true }) })).status,
    ).toBe(401);
    second.cookies.set('fieldlake.passkey_ceremony', cookie);
    expect((await second.call('POST', `${AUTH}/verify-authentication`, { response: authenticator.get(again) })).body.code).toBe(
      'CHALLENGE_NOT_FOUND',
    );
  });

  test('a counter that does not move on is refused: the passkey may be a copy', async () => {
    const { authenticator } = await register(await somebody());
    expect((await enter(authenticator, { counter: 10 })).answer.status).toBe(200);
    expect((await enter(authenticator, { counter: 10 })).answer.status).toBe(401);
    expect((await enter(authenticator, { counter: 11 })).answer.status).toBe(200);
  });

  test('a registration belongs to the person who began it, with a session of today', async () => {
    const mine = await somebody();
    const made = new Authenticator(origin).create(await options(mine, 'register'));
    const cookie = mine.cookies.get('fieldlake.passkey_ceremony')!;
    const other = await somebody();
    other.cookies.set('fieldlake.passkey_ceremony', cookie);
    expect((await other.call('POST', `${AUTH}/verify-registration`, { response: made })).body.code).toBe('CHALLENGE_NOT_FOUND');
    const { authenticator, answer } = await register(mine);
    expect(answer.status).toBe(200);
    // nobody registers the credential of another, with a key of their own
    const thief = new Authenticator(origin);
    thief.credential = { ...authenticator.credential! };
    expect((await register(other, { sameId: true }, thief)).answer.body).toMatchObject({ status: 400, code: 'PREVIOUSLY_REGISTERED' });
    await site.database.db.run(sql('t')`update sessions set created_at = now() - interval '25 hours'`);
    expect((await mine.call('GET', `${AUTH}/generate-register-options`)).body).toMatchObject({ status: 403, code: 'SESSION_NOT_FRESH' });
    expect((await mine.call('POST', `${AUTH}/verify-registration`, { response: made })).body.code).toBe('SESSION_NOT_FRESH');
    expect((await enter(authenticator)).answer.status).toBe(200);
  });

  test('nonsense is refused, however large or odd', async () => {
    const mine = await somebody();
    for (const response of [{}, { id: 'x' }, { id: 'x', rawId: 'x', type: 'public-key', response: {} }, { id: 'a'.repeat(9_000_000) }]) {
      await options(mine, 'register');
      expect((await mine.call('POST', `${AUTH}/verify-registration`, { response })).status).toBe(400);
      await options(mine, 'authenticate');
      expect((await mine.call('POST', `${AUTH}/verify-authentication`, { response })).status).toBe(401);
    }
  });

  test('passkeys and keys are for sessions: an API key may not touch them', async () => {
    const { owner } = site.cast;
    for (const [method, path] of [
      ['GET', `${AUTH}/generate-register-options`],
      ['POST', `${AUTH}/verify-registration`],
      ['GET', `${AUTH}/list-user-passkeys`],
      ['POST', `${AUTH}/update-passkey`],
      ['POST', `${AUTH}/delete-passkey`],
      ['POST', '/api/v1/auth/api-key/create'],
      ['GET', '/api/v1/auth/api-key/list'],
      ['POST', '/api/v1/auth/api-key/update'],
      ['POST', '/api/v1/auth/api-key/delete'],
      ['GET', '/api/v1/auth/list-sessions'],
      ['POST', '/api/v1/auth/revoke-sessions'],
      ['POST', '/api/v1/auth/update-user'],
    ] as const) {
      const body = method === 'POST' ? { body: {} } : {};
      expect(await site.as(owner)(method, path, body), path).toMatchObject({ status: 401, body: { code: 'API_KEY_NOT_ACCEPTED' } });
      expect((await site.as(null)(method, path, body)).status, path).toBe(401);
    }
  });
});
