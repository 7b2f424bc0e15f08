import { afterAll, beforeAll, expect, test } from 'vitest';
import { Authenticator } from '../support/authenticator.ts';
import { Browser } from '../support/browser.ts';
import { providerSettings, startFakeProvider, type FakeProvider } from '../support/oauth-provider.ts';
import { nextCode } from '../support/outbox.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

let shared: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let provider: FakeProvider;
beforeAll(async () => {
  shared = await sharedSite();
  provider = await startFakeProvider();
  server = await spawnServer({ ...shared.environment, ...providerSettings(provider), SIGN_INS_PER_MINUTE: '1000' });
});
afterAll(async () => {
  // what it wrote is what counts here; how a server stops is proven elsewhere
  await server.kill('SIGKILL');
  await provider.stop();
  await shared.remove();
});

test('no secret of a sign-in appears in a log line, whether it goes well or not', async () => {
  const site = { dataDir: shared.folder } as Parameters<typeof nextCode>[0];
  const secrets = new Set<string>();
  const browser = new Browser(server.baseUrl);
  const note = () => {
    for (const [name, value] of browser.cookies) if (name !== 'better-auth.last_used_login_method') secrets.add(value);
  };
  const address = 'canary@example.com';
  await browser.call('POST', '/api/v1/auth/email-otp/send-verification-otp', { email: address, type: 'sign-in' });
  const code = await nextCode(site, address, 0);
  secrets.add(code);
  // codes, keys and tokens in places where they do not belong
  await browser.call('POST', `/api/v1/auth/sign-in/email-otp?otp=${code}`, { email: address, otp: 'wrong' });
  await browser.call('GET', `/api/v1/nowhere/${code}`);
  expect((await browser.call('POST', '/api/v1/auth/sign-in/email-otp', { email: address, otp: code })).status).toBe(200);
  note();
  const { key } = (await browser.call('POST', '/api/v1/auth/api-key/create', { name: 'canary' })).body as { key: string };
  secrets.add(key);
  await browser.call('GET', `/api/v1/experiments?key=${key}`);
  await browser.call('GET', `/api/v1/experiments/${key}`, undefined, { 'x-api-key': key });
  await browser.call('POST', '/api/v1/auth/revoke-session', { token: { [key]: key } });
  const authenticator = new Authenticator(server.baseUrl.replace('127.0.0.1', 'localhost'));
  const asked = (await browser.call('GET', '/api/v1/auth/passkey/generate-register-options')).body as { challenge: string };
  note();
  secrets.add(asked.challenge);
  const response = authenticator.create(asked);
  expect((await browser.call('POST', '/api/v1/auth/passkey/verify-registration', { response })).status).toBe(200);
  for (const fault of ['none', 'token-error', 'api-down'] as const) {
    provider.fault = fault;
    const begun = await browser.call('POST', '/api/v1/auth/sign-in/oauth2', { providerId: 'orcid' });
    note();
    const back = provider.authorize((begun.body as { url: string }).url);
    secrets.add(back.searchParams.get('code')!).add(back.searchParams.get('state')!);
    await browser.call('GET', `${back.pathname}${back.search}`);
    note();
  }
  await browser.call('POST', '/api/v1/auth/sign-out', {});
  // lines are written a few at a time
  await expect.poll(() => server.output()).toContain('/api/v1/auth/sign-out');
  const output = server.output();
  expect(output.split('\n').length).toBeGreaterThan(15);
  expect(output).toContain('/api/v1/auth/sign-in/email-otp');
  expect(secrets.size).toBeGreaterThan(8);
  // a code of six digits may stand in a longer number by chance
  const bounded = (secret: string) => new RegExp(`(^|[^0-9A-Za-z])${secret.replace(/[.*+?^$()|[\]\\]/g, '\\$&')}([^0-9A-Za-z]|$)`);
  for (const secret of secrets) expect(bounded(secret).test(output), secret).toBe(false);
  expect(output).not.toContain('hush');
});
