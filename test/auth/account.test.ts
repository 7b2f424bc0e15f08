import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueLink } from '../../src/auth/proofs/links.ts';
import { sql } from '../../src/database/sql.ts';
import { Authenticator } from '../support/authenticator.ts';
import { Browser, signIn } from '../support/browser.ts';
import { providerSettings, startFakeProvider, type FakeProvider } from '../support/oauth-provider.ts';
import { makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '1000', ...providerSettings(provider) });
});
afterAll(async () => {
  await site.stop();
  await provider.stop();
});

describe('GET /api/v1/users/me/audit', () => {
  test('shows a person every sign-in, refused ones included, and every change of keys and passkeys', async () => {
    const mine = await signIn(site, 'audited@example.com');
    await mine.call('POST', '/api/v1/auth/email-otp/send-verification-otp', { email: 'audited@example.com', type: 'sign-in' });
    await new Browser(site.server.baseUrl).call('POST', '/api/v1/auth/sign-in/email-otp', { email: 'audited@example.com', otp: '000000' });
    const { id } = (await mine.call('POST', '/api/v1/auth/api-key/create', { name: 'audited' })).body as { id: string };
    await mine.call('POST', '/api/v1/auth/api-key/delete', { keyId: id });
    await mine.call('POST', '/api/v1/auth/update-user', { name: 'Audited' });
    await mine.call('POST', '/api/v1/auth/revoke-other-sessions', {});
    const answer = await mine.call('GET', '/api/v1/users/me/audit');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-total-count')).toBe('6');
    expect((answer.body as { action: string }[]).map(({ action }) => action)).toEqual([
      'user.updated',
      'api-key.revoked',
      'api-key.created',
      'session.refused',
      'session.created',
      'user.created',
    ]);
    expect(answer.body[3]).toMatchObject({ byYou: false, details: { method: 'email', reason: 'wrong', ip: '127.0.0.1' } });
    expect(answer.body[4]).toMatchObject({ byYou: true, details: { method: 'email' } });
    const page = await mine.call('GET', '/api/v1/users/me/audit?page=2&pageSize=2');
    expect(page.body).toEqual(answer.body.slice(2, 4));
    expect((await mine.call('GET', '/api/v1/users/me/audit?pagesize=2')).status).toBe(400);
    const other = await signIn(site, 'not-audited@example.com');
    expect((await other.call('GET', '/api/v1/users/me/audit')).body).toHaveLength(2);
    expect((await site.as(null)('GET', '/api/v1/users/me/audit')).status).toBe(401);
  });
});

describe('what goes with a sign-in', () => {
  const activated = async (id: string) =>
    (await site.db.one<{ activated: boolean }>(sql('t')`select activated from profiles where user_id = ${id}`))?.activated;
  const makeProfile = (id: string) =>
    site.db.run(sql('t')`insert into profiles (user_id, first_name, last_name, activated) values (${id}, 'E', 'F', false)`);
  const idOf = async (browser: Browser) =>
    ((await browser.call('GET', '/api/v1/auth/get-session')).body as { user: { id: string } }).user.id;
  /** An invitation that waits for the next sign-in with this address; answers whether it was claimed. */
  const inviteTo = async (email: string) => {
    const { id } = await makeResource(site.db, 'macro', { organizationId: site.cast.leafLab, createdBy: site.cast.owner.id });
    await site.db.run(sql('t')`insert into invitations (id, resource_type, resource_id, email, tier, invited_by, expires_at)
      values (gen_random_uuid(), 'macro', ${id}, ${email}, 'viewer', ${site.cast.owner.id}, now() + interval '1 day')`);
    return async () => (await site.db.rows(sql('t')`select 1 as one from grants where resource_id = ${id}`)).length === 1;
  };

  test('happens at every kind of sign-in, with the proven address', async () => {
    const email = 'effects@example.com';
    let claimed = await inviteTo(email);
    const mine = await signIn(site, email);
    expect(await claimed()).toBe(true);
    const id = await idOf(mine);
    await makeProfile(id);
    const again = async () => {
      await site.db.run(sql('t')`update profiles set activated = false where user_id = ${id}`);
      claimed = await inviteTo(email);
      expect([await activated(id), await claimed()]).toEqual([false, false]);
    };
    const expectEffects = async () => expect([await activated(id), await claimed()]).toEqual([true, true]);

    await again();
    await signIn(site, email);
    await expectEffects();

    const authenticator = new Authenticator(site.server.baseUrl.replace('127.0.0.1', 'localhost'));
    const made = authenticator.create((await mine.call('GET', '/api/v1/auth/passkey/generate-register-options')).body);
    await mine.call('POST', '/api/v1/auth/passkey/verify-registration', { response: made });
    const options = (await mine.call('GET', '/api/v1/auth/passkey/generate-authenticate-options')).body as object;
    await again();
    expect((await mine.call('POST', '/api/v1/auth/passkey/verify-authentication', { response: authenticator.get(options) })).status).toBe(
      200,
    );
    await expectEffects();

    for (const kind of ['github', 'orcid'] as const) {
      await again();
      provider.person.emails = [{ email, primary: true, verified: true }];
      const browser = new Browser(site.server.baseUrl);
      const { url } = (await browser.call('POST', '/api/v1/auth/sign-in/oauth2', { providerId: kind })).body as { url: string };
      const back = provider.authorize(url);
      await browser.call('GET', `${back.pathname}${back.search}`);
      await expectEffects();
    }
  });

  test('may fail without failing the sign-in, or what comes after it', async () => {
    const email = 'soft@example.com';
    const id = await idOf(await signIn(site, email));
    await makeProfile(id);
    const claimed = await inviteTo(email);
    const owner = new pg.Client({ connectionString: site.database.url });
    await owner.connect();
    await owner.query(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'this effect fails'; end $$`);
    await owner.query('create trigger refuse before update on profiles for each row execute function refuse()');
    const browser = await signIn(site, email);
    expect((await browser.call('GET', '/api/v1/auth/get-session')).body.user.email).toBe(email);
    // the first effect failed, the second did not
    expect([await activated(id), await claimed()]).toEqual([false, true]);
    await owner.query('drop trigger refuse on profiles');
    await owner.end();
    await signIn(site, email);
    expect(await activated(id)).toBe(true);
    await expect.poll(() => site.server.output()).toContain('something that goes with a sign-in failed');
  });
});

describe('pages', () => {
  const page = async (browser: Browser, path: string) => browser.call('GET', path, undefined, { accept: 'text/html' });

  test.each(['/', '/sign-in', '/account', '/account/invitations', '/experiments/x'])(
    'GET %s is the console, without inline code and without anything of the person',
    async (path) => {
      const mine = await signIn(site, 'pages@example.com');
      await mine.call('POST', '/api/v1/auth/api-key/create', { name: 'hostile <img>' });
      const answer = await page(mine, path);
      expect(answer.status).toBe(200);
      expect(answer.text).not.toMatch(/<script(?![^>]*src=)|\son\w+=|<style|style=/);
      expect(answer.text).not.toMatch(/pages@example|hostile/);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("script-src 'self';");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(answer.headers.get('cache-control')).toBe('no-cache');
      const tag = answer.headers.get('etag') ?? '';
      expect((await mine.call('GET', path, undefined, { accept: 'text/html', 'if-none-match': tag })).status).toBe(304);
    },
  );

  test('GET /api/v1/auth/providers names those that are on', async () => {
    expect((await new Browser(site.server.baseUrl).call('GET', '/api/v1/auth/providers')).body).toEqual({ providers: ['github', 'orcid'] });
  });

  test('old addresses lead to the pages, and to no other host', async () => {
    const nobody = new Browser(site.server.baseUrl);
    const target = async (path: string) => (await page(nobody, path)).headers.get('location');
    expect(await target('/platform/account/invitations')).toBe('/account/invitations');
    expect(await target('/platform/experiments/x?a=b')).toBe('/experiments/x?a=b');
    expect(await target('/platform//evil.example')).toBe('/evil.example');
    expect(await target('/platform/%5C%5Cevil.example')).toBe('/%5C%5Cevil.example');
  });

  test('GET /api/v1/auth/error leads to signing in and repeats nothing of what it is given', async () => {
    const nobody = new Browser(site.server.baseUrl);
    const target = async (error: string) => (await page(nobody, `/api/v1/auth/error?error=${error}`)).headers.get('location');
    expect(await target('access_denied')).toBe('/sign-in?error=access_denied');
    expect(await target('%3Cscript%3Ealert(1)%3C/script%3E')).toBe('/sign-in?error=unknown');
  });
});

describe('POST /api/v1/auth/sign-in/link', () => {
  const spend = (token: string, headers: Record<string, string> = {}) =>
    new Browser(site.server.baseUrl).call('POST', '/api/v1/auth/sign-in/link', { token }, headers);
  const refused = { status: 400, body: { code: 'SIGN_IN_LINK_INVALID' } };

  test('signs in once, and leads to where the link was made for', async () => {
    const link = { userId: site.cast.owner.id, target: '/experiments/x' };
    const token = await issueLink(site.db, link);
    const browser = new Browser(site.server.baseUrl);
    const [first, second] = await Promise.all([browser.call('POST', '/api/v1/auth/sign-in/link', { token }), spend(token)]);
    expect([first.status, second.status].sort()).toEqual([200, 400]);
    expect((first.status === 200 ? first : second).body).toMatchObject({ target: '/experiments/x', user: { id: site.cast.owner.id } });
    expect(await spend(token)).toMatchObject(refused);
    const stored = await site.db.rows<{ hash: string }>(sql('t')`select encode(token_hash, 'base64') as hash from sign_in_links`);
    expect(stored).toEqual([]);
  });

  test('keeps a hash only, and ends after ten minutes', async () => {
    const token = await issueLink(site.db, { userId: site.cast.owner.id, target: '/' });
    const [row] = await site.db.rows<{ all: string; seconds: number }>(
      sql('t')`select sign_in_links::text as all, extract(epoch from expires_at - now())::integer as seconds from sign_in_links`,
    );
    expect(row?.all).not.toContain(token);
    expect(row?.seconds).toBeGreaterThan(590);
    expect(row?.seconds).toBeLessThanOrEqual(600);
    await site.db.run(sql('t')`update sign_in_links set expires_at = now() - interval '1 second'`);
    expect(await spend(token)).toMatchObject(refused);
    const fresh = await issueLink(site.db, { userId: site.cast.owner.id, target: '/' });
    expect((await spend(fresh)).status).toBe(200);
  });

  test('is refused from another page, and from another machine', async () => {
    const behind = await startTestServer({ TRUST_PROXY_HOPS: '1' });
    try {
      const token = await issueLink(behind.db, { userId: behind.cast.owner.id, target: '/' });
      const post = async (headers: Record<string, string>) =>
        (await behind.as(null)('POST', '/api/v1/auth/sign-in/link', { body: { token }, headers })).status;
      expect(await post({ 'x-forwarded-for': '192.0.2.7' })).toBe(403);
      expect(await post({ origin: 'https://evil.example' })).toBe(403);
      expect(await post({ 'x-forwarded-for': '127.0.0.1' })).toBe(200);
    } finally {
      await behind.stop();
    }
  });

  test('is refused when a proxy passed it on of which nobody told us', async () => {
    const token = await issueLink(site.db, { userId: site.cast.owner.id, target: '/' });
    for (const [name, value] of [
      ['x-forwarded-for', '127.0.0.1'],
      ['x-real-ip', '127.0.0.1'],
      ['forwarded', 'for=127.0.0.1'],
      ['via', '1.1 proxy'],
    ] as const)
      expect((await spend(token, { [name]: value })).body, name).toMatchObject({ code: 'SIGN_IN_LINK_ELSEWHERE' });
    expect((await spend(token)).status).toBe(200);
  });
});

test('routes of the client library that are dead or dangerous are absent', async () => {
  const mine = await signIn(site, 'absent@example.com');
  for (const path of [
    'sign-in/email',
    'sign-up/email',
    'email-otp/check-verification-otp',
    'email-otp/reset-password',
    'email-otp/request-password-reset',
    'forget-password/email-otp',
    'email-otp/change-email',
    'delete-user',
    'change-password',
    'reset-password',
    'change-email',
    'update-session',
    'get-access-token',
    'refresh-token',
    'organization/set-active',
  ])
    expect((await mine.call('POST', `/api/v1/auth/${path}`, {})).status, path).toBe(404);
  expect((await mine.call('GET', '/api/v1/auth/expo-authorization-proxy?authorizationURL=https://evil.example')).status).toBe(404);
  expect((await mine.call('POST', '/api/v1/auth/update-user', { email: 'new@example.com' })).body.code).toBe('EMAIL_CAN_NOT_BE_UPDATED');
  expect((await mine.call('POST', '/api/v1/auth/update-user', { registered: true, name: 'x' })).status).toBe(200);
  expect((await mine.call('GET', '/api/v1/auth/get-session')).body.user.registered).toBe(false);
  expect((await mine.call('POST', '/api/v1/auth/get-session', {})).status).toBe(405);
});
