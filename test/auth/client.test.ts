import { createAuthClient } from 'better-auth/client';
import { emailOTPClient } from 'better-auth/client/plugins';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { codeIn, nextLetter } from '../support/outbox.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '1000' });
});
afterAll(() => site.stop());

const clientOf = (browser: Browser) =>
  createAuthClient({
    baseURL: `${browser.baseUrl}/api/v1/auth`,
    plugins: [emailOTPClient()],
    fetchOptions: { customFetchImpl: browser.fetch },
  });

describe('the unmodified better-auth client', () => {
  test('signs up by the code of a letter, is somebody on the API, and signs out', async () => {
    const browser = new Browser(site.server.baseUrl);
    const client = clientOf(browser);
    expect((await client.getSession()).data).toBeNull();
    expect((await client.emailOtp.sendVerificationOtp({ email: 'Newcomer@Example.com', type: 'sign-in' })).data).toEqual({ success: true });
    const otp = codeIn(await nextLetter(site, 'newcomer@example.com', 0));
    const { data, error } = await client.signIn.emailOtp({ email: 'newcomer@example.com', otp, name: 'New Comer' });
    expect(error).toBeNull();
    expect(data?.user).toMatchObject({ email: 'newcomer@example.com', emailVerified: true, name: 'New Comer', registered: false });
    const session = await client.getSession();
    expect(session.data?.user.email).toBe('newcomer@example.com');
    const made = await browser.call('POST', '/api/v1/experiments', { name: 'Mine' });
    expect(made.status).toBe(201);
    expect((await client.signOut()).data).toEqual({ success: true });
    expect((await client.getSession()).data).toBeNull();
    expect((await browser.call('GET', '/api/v1/experiments')).status).toBe(401);
  });
});
