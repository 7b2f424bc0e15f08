import { apiKeyClient } from '@better-auth/api-key/client';
import { passkeyClient } from '@better-auth/passkey/client';
import { createAuthClient } from 'better-auth/client';
import { emailOTPClient, genericOAuthClient } from 'better-auth/client/plugins';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, signIn } from '../support/browser.ts';
import { findFreePort } from '../support/free-port.ts';
import { lettersTo, nextCode } from '../support/outbox.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '1000' });
});
afterAll(() => site.stop());

const clientOf = (browser: Browser) =>
  createAuthClient({
    baseURL: `${browser.baseUrl}/api/v1/auth`,
    plugins: [emailOTPClient(), apiKeyClient(), passkeyClient(), genericOAuthClient()],
    fetchOptions: { customFetchImpl: browser.fetch },
  });

async function signedIn(email: string, name?: string) {
  const browser = new Browser(site.server.baseUrl);
  const client = clientOf(browser);
  const had = lettersTo(site, email).length;
  expect((await client.emailOtp.sendVerificationOtp({ email, type: 'sign-in' })).data).toEqual({ success: true });
  const otp = await nextCode(site, email, had);
  const { data, error } = await client.signIn.emailOtp({ email, otp, ...(name === undefined ? {} : { name }) });
  expect(error).toBeNull();
  return { browser, client, user: data!.user };
}

test('POST /api/v1/auth/api-key/create with an Idempotency-Key makes one key, and never repeats its secret', async () => {
  const { browser, client } = await signedIn('once@example.com');
  const make = () => browser.call('POST', '/api/v1/auth/api-key/create', { name: 'Once' }, { 'idempotency-key': 'once' });
  const made = await make();
  expect(made.status).toBe(200);
  const again = await make();
  expect(again).toMatchObject({ status: 409, body: { code: 'ALREADY_DONE', detail: expect.stringContaining(made.body.id) } });
  expect(again.text).not.toContain(made.body.key);
  expect((await client.apiKey.list()).data!.total).toBe(1);
});

test('on https every cookie is bound to secure connections and the shared domain, and trusted pages elsewhere may read answers', async () => {
  const port = await findFreePort();
  const app = 'https://app.example.org';
  const secure = await startTestServer({
    PORT: String(port),
    BASE_URL: 'https://api.example.org',
    COOKIE_DOMAIN: 'example.org',
    TRUSTED_ORIGINS: app,
  });
  const browser = new Browser(`http://127.0.0.1:${port}`, app);
  await signIn(secure, 'secure@example.com', browser);
  const names = [...browser.cookies.keys()].sort();
  expect(names).toEqual(['__Secure-fieldlake.browser', '__Secure-fieldlake.session_token', 'better-auth.last_used_login_method']);
  const out = await browser.call('POST', '/api/v1/auth/sign-out', {});
  expect(out.headers.getSetCookie()).toEqual([
    '__Secure-fieldlake.session_token=; Path=/; Domain=example.org; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
  ]);
  expect(out.headers.get('access-control-allow-origin')).toBe(app);
  expect(out.headers.get('access-control-allow-credentials')).toBe('true');
  const preflight = (origin: string) =>
    fetch(`http://127.0.0.1:${port}/api/v1/experiments`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PATCH' },
    });
  const trusted = await preflight(app);
  expect(trusted.status).toBe(204);
  expect(trusted.headers.get('access-control-allow-methods')?.split(', ').sort()).toEqual([
    'DELETE',
    'GET',
    'HEAD',
    'PATCH',
    'POST',
    'PUT',
  ]);
  expect(trusted.headers.get('access-control-allow-headers')).toMatch(/\bAuthorization\b.*\bX-Api-Key\b/);
  const foreign = await preflight('https://evil.example');
  expect(foreign.status).toBe(204);
  expect(foreign.headers.get('access-control-allow-methods')).toBeNull();
  expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
  await secure.stop();
});

describe('the unmodified better-auth client', () => {
  test('signs up by the code of a letter, is somebody on the API, and signs out', async () => {
    const { browser, client, user } = await signedIn('newcomer@example.com', 'New Comer');
    expect(user).toMatchObject({ email: 'newcomer@example.com', emailVerified: true, name: 'New Comer', registered: false });
    const session = await client.getSession();
    expect(session.data?.user.email).toBe('newcomer@example.com');
    expect(session.data?.session.token).toBe(session.data?.session.id);
    const made = await browser.call('POST', '/api/v1/experiments', { name: 'Mine' });
    expect(made.status).toBe(201);
    expect(browser.cookies.get('better-auth.last_used_login_method')).toBe('email');
    expect((await client.updateUser({ name: 'Renamed' })).data).toEqual({ status: true });
    expect((await client.getSession()).data?.user.name).toBe('Renamed');
    const kept = new Map(browser.cookies);
    expect((await client.signOut()).data).toEqual({ success: true });
    expect((await client.getSession()).data).toBeNull();
    // whoever kept the cookie has nothing
    for (const [name, value] of kept) browser.cookies.set(name, value);
    expect((await client.getSession()).data).toBeNull();
    expect((await browser.call('GET', '/api/v1/experiments')).status).toBe(401);
  });

  test('lists and revokes sessions by a handle that opens nothing', async () => {
    const one = await signedIn('sessions@example.com');
    const two = await signedIn('sessions@example.com');
    const three = await signedIn('sessions@example.com');
    const sessions = (await one.client.listSessions()).data!;
    expect(sessions).toHaveLength(3);
    const secrets = [one, two, three].map(({ browser }) => browser.cookies.get('fieldlake.session_token'));
    for (const { token } of sessions) {
      expect(secrets).not.toContain(token);
      const thief = new Browser(site.server.baseUrl);
      thief.cookies.set('fieldlake.session_token', token);
      expect((await thief.call('GET', '/api/v1/experiments')).status).toBe(401);
    }
    const handle = (await two.client.getSession()).data!.session.token;
    // a stranger's revocation does nothing
    const stranger = await signedIn('other@example.com');
    expect((await stranger.client.revokeSession({ token: handle })).data).toEqual({ status: true });
    expect((await two.client.getSession()).data).not.toBeNull();
    expect((await one.client.revokeSession({ token: handle })).data).toEqual({ status: true });
    expect((await two.client.getSession()).data).toBeNull();
    expect((await one.client.revokeOtherSessions()).data).toEqual({ status: true });
    expect((await three.client.getSession()).data).toBeNull();
    expect((await one.client.getSession()).data).not.toBeNull();
    expect((await one.client.revokeSessions()).data).toEqual({ status: true });
    expect((await one.client.getSession()).data).toBeNull();
  });

  test('makes, uses, changes and revokes a key', async () => {
    const { client } = await signedIn('keys@example.com');
    const made = (await client.apiKey.create({ name: 'Rover', expiresIn: 86_400 * 30 })).data!;
    expect(made.key).toMatch(/^flk_[0-9A-Za-z]{49}$/);
    expect(made).toMatchObject({ name: 'Rover', prefix: 'flk_', start: 'flk_', enabled: true, rateLimitMax: 100 });
    const call = site.as(made.key);
    expect((await call('GET', '/api/v1/experiments')).status).toBe(200);
    const listed = (await client.apiKey.list()).data!;
    expect(listed.total).toBe(1);
    expect(JSON.stringify(listed)).not.toContain(made.key);
    expect((await client.apiKey.get({ query: { id: made.id } })).data).toMatchObject({ id: made.id, requestCount: 1 });
    expect((await client.apiKey.update({ keyId: made.id, name: 'Drone', enabled: false })).data).toMatchObject({
      name: 'Drone',
      enabled: false,
    });
    expect((await call('GET', '/api/v1/experiments')).status).toBe(401);
    expect((await client.apiKey.update({ keyId: made.id, enabled: true })).data).toMatchObject({ enabled: true });
    expect((await call('GET', '/api/v1/experiments')).status).toBe(200);
    expect((await client.apiKey.delete({ keyId: made.id })).data).toEqual({ success: true });
    expect((await call('GET', '/api/v1/experiments')).status).toBe(401);
    expect((await client.apiKey.list()).data!.apiKeys[0]).toMatchObject({ id: made.id, enabled: false });
    expect((await client.apiKey.update({ keyId: made.id, enabled: true })).error).toMatchObject({ status: 409, code: 'API_KEY_REVOKED' });
  });

  test('gets the codes and sentences that it knows', async () => {
    const browser = new Browser(site.server.baseUrl);
    const client = clientOf(browser);
    expect((await client.signIn.emailOtp({ email: 'nobody@example.com', otp: '123456' })).error).toMatchObject({
      status: 400,
      code: 'INVALID_OTP',
      message: expect.any(String),
    });
    expect((await client.listSessions()).error).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    expect((await client.signIn.oauth2({ providerId: 'orcid' })).error).toMatchObject({ status: 404, code: 'PROVIDER_NOT_FOUND' });
    expect((await client.emailOtp.sendVerificationOtp({ email: 'not an address', type: 'sign-in' })).error?.code).toBe('INVALID_EMAIL');
    const { client: mine } = await signedIn('codes@example.com');
    expect((await mine.apiKey.create({ name: '' })).error?.code).toBe('NAME_REQUIRED');
    expect((await mine.apiKey.create({ name: 'x'.repeat(33) })).error?.code).toBe('INVALID_NAME_LENGTH');
    expect((await mine.apiKey.create({ name: 'x\u202ey' })).error?.status).toBe(400);
    expect((await mine.apiKey.create({ name: 'x', expiresIn: 86_399 })).error?.code).toBe('EXPIRES_IN_IS_TOO_SMALL');
    expect((await mine.apiKey.create({ name: 'x', expiresIn: 86_400 * 365 + 1 })).error?.code).toBe('EXPIRES_IN_IS_TOO_LARGE');
    expect((await mine.apiKey.update({ keyId: crypto.randomUUID(), name: 'x' })).error?.code).toBe('KEY_NOT_FOUND');
    expect((await mine.apiKey.get({ query: { id: 'nonsense' } })).error).toMatchObject({ status: 404, code: 'KEY_NOT_FOUND' });
    expect((await mine.passkey.deletePasskey({ id: crypto.randomUUID() })).error?.code).toBe('PASSKEY_NOT_FOUND');
    expect((await mine.passkey.listUserPasskeys()).data).toEqual([]);
  });
});
