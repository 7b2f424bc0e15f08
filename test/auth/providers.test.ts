import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createUser } from '../../src/api/account/account.service.ts';
import { sql } from '../../src/database/sql.ts';
import { Browser, signIn } from '../support/browser.ts';
import { providerSettings, startFakeProvider, type FakeProvider, type Fault } from '../support/oauth-provider.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let provider: FakeProvider;
let serial = 0;
beforeAll(async () => {
  provider = await startFakeProvider();
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '1000', TRUSTED_ORIGINS: 'https://app.example.org', ...providerSettings(provider) });
});
afterAll(async () => {
  await site.stop();
  await provider.stop();
});
beforeEach(() => {
  serial += 1;
  provider.fault = 'none';
  provider.person = {
    githubId: 1_000 + serial,
    orcid: `0000-0002-0000-${String(serial).padStart(4, '0')}`,
    name: `Person ${serial}`,
    emails: [{ email: `person${serial}@provider.example`, primary: true, verified: true }],
  };
});

type Kind = 'github' | 'orcid';
const begin = (browser: Browser, kind: Kind, options: object = {}) =>
  kind === 'github'
    ? browser.call('POST', '/api/v1/auth/sign-in/social', { provider: kind, ...options })
    : browser.call('POST', '/api/v1/auth/sign-in/oauth2', { providerId: kind, ...options });

const follow = (browser: Browser, url: URL) => browser.call('GET', `${url.pathname}${url.search}`);

async function run(kind: Kind, browser = new Browser(site.server.baseUrl), options: object = {}) {
  const begun = await begin(browser, kind, options);
  expect(begun).toMatchObject({ status: 200, body: { redirect: true } });
  const back = provider.authorize(begun.body.url as string);
  return { browser, back, answer: await follow(browser, back) };
}

const who = async (browser: Browser) => (await browser.call('GET', '/api/v1/auth/get-session')).body?.user ?? null;

describe.each(['github', 'orcid'] as const)('signing in with %s', (kind) => {
  test('makes an account once, joins it again, and leaves the hint', async () => {
    const { browser, answer } = await run(kind);
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe(`${site.server.baseUrl}/account`);
    const user = await who(browser);
    expect(user).toMatchObject({ email: provider.person.emails[0]!.email, emailVerified: true });
    expect(browser.cookies.get('better-auth.last_used_login_method')).toBe(kind);
    const again = await run(kind);
    expect((await who(again.browser)).id).toBe(user.id);
    expect((await browser.call('GET', '/api/v1/auth/list-accounts')).body).toMatchObject([{ providerId: kind, userId: user.id }]);
    const organizations = await site.database.db.rows(sql('t')`select 1 from organizations where personal_user_id = ${user.id}`);
    expect(organizations).toHaveLength(1);
  });

  test('goes to the trusted place that was asked for, another one for new people', async () => {
    const options = { callbackURL: 'https://app.example.org/back', newUserCallbackURL: '/account/invitations' };
    expect((await run(kind, undefined, options)).answer.headers.get('location')).toBe(`${site.server.baseUrl}/account/invitations`);
    expect((await run(kind, undefined, options)).answer.headers.get('location')).toBe('https://app.example.org/back');
  });

  test('joins an existing account only where both sides have proven the address', async () => {
    const { email } = provider.person.emails[0]!;
    const { id } = await createUser(site.database.db, { email, firstName: 'Local', lastName: 'Person', verified: false });
    const refused = await run(kind);
    expect(refused.answer.headers.get('location')).toContain('error=account_not_linked');
    expect(await who(refused.browser)).toBeNull();
    await signIn(site, email);
    expect((await who((await run(kind)).browser)).id).toBe(id);
  });

  test('an address that the provider has not verified opens nothing', async () => {
    const { email } = provider.person.emails[0]!;
    await createUser(site.database.db, { email, firstName: 'Local', lastName: 'Person', verified: true });
    provider.person.emails[0]!.verified = false;
    const { browser, answer } = await run(kind);
    expect(answer.headers.get('location')).toContain('error=email_not_verified');
    expect(await who(browser)).toBeNull();
    const page = await browser.call(
      'GET',
      new URL(answer.headers.get('location')!).pathname + new URL(answer.headers.get('location')!).search,
    );
    expect([page.status, page.headers.get('location')]).toEqual([302, '/sign-in?error=email_not_verified']);
  });

  test('a callback works once, in the browser that began it, with the state it began with', async () => {
    const done = await run(kind);
    const cookies = new Map(done.browser.cookies);
    expect(done.answer.headers.get('location')).not.toContain('error');
    expect((await follow(done.browser, done.back)).headers.get('location')).toContain('error=state_mismatch');
    expect(await who(done.browser)).not.toBeNull();
    expect(cookies.has('fieldlake.session_token')).toBe(true);

    const mine = new Browser(site.server.baseUrl);
    const begun = await begin(mine, kind);
    const back = provider.authorize(begun.body.url as string);
    const other = new Browser(site.server.baseUrl);
    expect((await follow(other, back)).headers.get('location')).toContain('error=state_mismatch');
    expect(await who(other)).toBeNull();
    const kept = mine.cookies.get('fieldlake.state')!;
    const bent = new URL(back);
    bent.searchParams.set('state', 'bent');
    expect((await follow(mine, bent)).headers.get('location')).toContain('error=state_mismatch');
    // the ceremony is over, even for who kept its cookie
    mine.cookies.set('fieldlake.state', kept);
    expect((await follow(mine, back)).headers.get('location')).toContain('error=state_mismatch');
    expect(await who(mine)).toBeNull();
  });

  test('a code that was used already, or that the provider refuses, is refused', async () => {
    const used = await run(kind);
    const code = used.back.searchParams.get('code')!;
    const browser = new Browser(site.server.baseUrl);
    const back = provider.authorize((await begin(browser, kind)).body.url as string);
    back.searchParams.set('code', code);
    const answer = await follow(browser, back);
    expect(answer.headers.get('location')).toContain('error=provider_failed');
    expect(await who(browser)).toBeNull();
    const refused = new Browser(site.server.baseUrl);
    const denied = provider.authorize((await begin(refused, kind, { errorCallbackURL: '/sign-in' })).body.url as string);
    denied.searchParams.delete('code');
    denied.searchParams.set('error', 'access_denied');
    expect((await follow(refused, denied)).headers.get('location')).toBe(`${site.server.baseUrl}/sign-in?error=access_denied`);
  });

  test('destinations elsewhere are refused, by whatever spelling', async () => {
    const browser = new Browser(site.server.baseUrl);
    for (const callbackURL of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      'https://app.example.org.evil.example/',
      'https://app.example.org@evil.example/',
      'javascript:alert(1)',
      'http://app.example.org/',
      '/\tevil',
    ])
      expect((await begin(browser, kind, { callbackURL })).body, callbackURL).toMatchObject({ status: 403, code: 'INVALID_CALLBACK_URL' });
    expect((await begin(browser, kind, { errorCallbackURL: '//evil' })).body.code).toBe('INVALID_ERROR_CALLBACK_URL');
    expect((await begin(browser, kind, { newUserCallbackURL: '//evil' })).body.code).toBe('INVALID_NEW_USER_CALLBACK_URL');
  });
});

test.each<[Kind, Fault]>([
  ['github', 'api-down'],
  ['github', 'token-error'],
  ['orcid', 'api-down'],
  ['orcid', 'token-error'],
  ['orcid', 'wrong-nonce'],
  ['orcid', 'wrong-audience'],
  ['orcid', 'expired-token'],
  ['orcid', 'other-issuer'],
])('%s with %s identifies nobody', async (kind, fault) => {
  const good = await run(kind);
  expect(await who(good.browser)).not.toBeNull();
  provider.fault = fault;
  const { browser, answer } = await run(kind);
  expect(answer.headers.get('location')).toContain('error=provider_failed');
  expect(await who(browser)).toBeNull();
});

test('a person without a public address gets an account without one, which only its provider opens', async () => {
  provider.person.emails = [];
  const { browser } = await run('orcid');
  expect(await who(browser)).toMatchObject({ email: null, emailVerified: false, name: 'Josiah Carberry' });
  expect((await browser.call('POST', '/api/v1/auth/unlink-account', { providerId: 'orcid' })).body).toMatchObject({
    status: 400,
    code: 'FAILED_TO_UNLINK_LAST_ACCOUNT',
  });
  expect((await who((await run('orcid')).browser)).id).toBe((await who(browser)).id);
});

test('of two last ways to sign in, removed at the same time, one stays', async () => {
  for (let round = 0; round < 10; round += 1) {
    provider.person = {
      ...provider.person,
      githubId: 50_000 + round,
      orcid: `0000-0003-0000-${String(round).padStart(4, '0')}`,
      emails: [],
    };
    const { browser } = await run('orcid');
    const begun = await browser.call('POST', '/api/v1/auth/link-social', { provider: 'github' });
    await follow(browser, provider.authorize(begun.body.url as string));
    const answers = await Promise.all(
      ['github', 'orcid'].map((providerId) => browser.call('POST', '/api/v1/auth/unlink-account', { providerId })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await browser.call('GET', '/api/v1/auth/list-accounts')).body).toHaveLength(1);
  }
});

test('linking joins a provider to the account that is signed in, and to no other', async () => {
  const mine = await signIn(site, 'linker@example.com');
  const user = await who(mine);
  const begun = await mine.call('POST', '/api/v1/auth/oauth2/link', { providerId: 'orcid', callbackURL: '/account' });
  const done = await follow(mine, provider.authorize(begun.body.url as string));
  expect(done.headers.get('location')).toBe(`${site.server.baseUrl}/account`);
  expect((await who((await run('orcid')).browser)).id).toBe(user.id);

  const other = await signIn(site, 'other-linker@example.com');
  const taken = await other.call('POST', '/api/v1/auth/link-social', { provider: 'orcid' });
  expect((await follow(other, provider.authorize(taken.body.url as string))).headers.get('location')).toContain(
    'error=account_already_linked_to_different_user',
  );
  // begun signed in, ended signed out
  const left = await other.call('POST', '/api/v1/auth/link-social', { provider: 'github' });
  await other.call('POST', '/api/v1/auth/sign-out', {});
  expect((await follow(other, provider.authorize(left.body.url as string))).headers.get('location')).toContain('error=state_mismatch');
  expect((await mine.call('POST', '/api/v1/auth/unlink-account', { providerId: 'orcid' })).body).toEqual({ status: true });
  expect((await mine.call('POST', '/api/v1/auth/unlink-account', { providerId: 'orcid' })).body.code).toBe('ACCOUNT_NOT_FOUND');
  expect((await new Browser(site.server.baseUrl).call('POST', '/api/v1/auth/link-social', { provider: 'orcid' })).status).toBe(401);
});

test('a provider that is not configured is not there', async () => {
  const plain = await startTestServer();
  const browser = new Browser(plain.server.baseUrl);
  expect((await browser.call('POST', '/api/v1/auth/sign-in/social', { provider: 'github' })).body).toMatchObject({
    status: 404,
    code: 'PROVIDER_NOT_FOUND',
  });
  expect((await browser.call('GET', '/api/v1/auth/callback/github?code=x&state=y')).status).toBe(404);
  await plain.stop();
});

test('no token of a provider is in the database', async () => {
  await run('github');
  const rows = await site.database.db.rows<{ row: string }>(sql('t')`select to_jsonb(a)::text as row from provider_accounts a`);
  expect(rows.every(({ row }) => !/token/.test(row))).toBe(true);
});
