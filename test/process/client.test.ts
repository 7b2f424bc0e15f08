import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeyClient } from '@better-auth/api-key/client';
import { createAuthClient } from 'better-auth/client';
import { emailOTPClient } from 'better-auth/client/plugins';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { lettersTo, nextCode } from '../support/outbox.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';

let folder: string;
let server: ServerProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-client-'));
  server = await spawnServer({ DATA_DIR: folder });
});
afterAll(async () => {
  await server.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

const outbox = () => ({ dataDir: folder }) as Parameters<typeof nextCode>[0];

async function signUp(email: string) {
  const browser = new Browser(server.baseUrl);
  const client = createAuthClient({
    baseURL: `${server.baseUrl}/api/v1/auth`,
    plugins: [emailOTPClient(), apiKeyClient()],
    fetchOptions: { customFetchImpl: browser.fetch },
  });
  const had = lettersTo(outbox(), email).length;
  await client.emailOtp.sendVerificationOtp({ email, type: 'sign-in' });
  const { error } = await client.signIn.emailOtp({ email, otp: await nextCode(outbox(), email, had) });
  expect(error).toBeNull();
  return { browser, client };
}

test('the unmodified better-auth client signs up, revokes sessions and uses keys of a server that was just started', async () => {
  const email = 'process@example.com';
  const { client } = await signUp(email);
  const second = await signUp(email);
  const sessions = (await client.listSessions()).data!;
  expect(sessions).toHaveLength(2);
  const current = (await client.getSession()).data!.session.token;
  const other = sessions.find(({ token }) => token !== current)!;
  expect((await client.revokeSession({ token: other.token })).data).toEqual({ status: true });
  expect((await second.client.getSession()).data).toBeNull();

  const { key, id } = (await client.apiKey.create({ name: 'Field laptop' })).data!;
  const asKey = () => fetch(`${server.baseUrl}/api/v1/experiments`, { headers: { 'x-api-key': key } });
  expect((await asKey()).status).toBe(200);
  expect((await client.apiKey.delete({ keyId: id })).data).toEqual({ success: true });
  expect((await asKey()).status).toBe(401);

  expect((await client.signOut()).data).toEqual({ success: true });
  expect((await client.getSession()).data).toBeNull();
});
