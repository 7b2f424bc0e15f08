import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addPasskeyHolder, launchChromium, looksRight as pageLooksRight, openVisitor } from '../support/chromium.ts';
import { signInByCode } from '../support/console-site.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';

let folder: string;
let server: ServerProcess;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let base: string;
let complaints: string[];
const looksRight = (name: string) => pageLooksRight(page, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-chromium-'));
  server = await spawnServer({ DATA_DIR: folder, SIGN_INS_PER_MINUTE: '100' });
  base = server.baseUrl.replace('127.0.0.1', 'localhost');
  browser = await launchChromium();
  // what the test refuses itself is said by the browser too
  ({ page, context, complaints } = await openVisitor(browser, 'desk', /Failed to load resource/));
  await addPasskeyHolder({ context, page });
});
afterAll(async () => {
  await browser.close();
  await server.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

async function openAccount(address: string): Promise<void> {
  await signInByCode(page, { baseUrl: base, dataDir: folder }, address);
  await page.goto(`${base}/account`);
}

async function signOut(): Promise<void> {
  await page.getByRole('button', { name: /, your account$/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL(`${base}/sign-in`);
}

test('a person signs in by code, adds a passkey, renames it, signs out, signs in by it, and deletes it', async () => {
  await page.goto(`${base}/sign-in`);
  await looksRight('sign-in');
  await openAccount('chromium@example.com');
  await page.getByText('Signed in as chromium@example.com').waitFor();

  await page.getByLabel('First name').fill('Chrome');
  await page.getByLabel('Last name').fill('Person');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Your profile is saved.').waitFor();

  await page.getByLabel('Name of a new passkey').fill('Virtual');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Delete passkey Virtual' }).waitFor();
  await page.getByLabel(/Name of the passkey made/).fill('Renamed');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText('The passkey is renamed.').waitFor();

  await page.getByLabel('Name of a new key').fill('Rover');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.locator('#new-key-value:text-matches("^flk_")').waitFor();
  const key = (await page.locator('#new-key-value').textContent())!;
  expect((await fetch(`${base}/api/v1/experiments`, { headers: { 'x-api-key': key } })).status).toBe(200);
  await page.reload();
  expect(await page.content()).not.toContain(key);
  await looksRight('account');

  await signOut();
  await page.getByText('Last used').waitFor();
  const answered = page.waitForRequest(/verify-authentication/);
  await page.getByRole('button', { name: /Sign in with a passkey/ }).click();
  await page.waitForURL(`${base}/`);
  await page.goto(`${base}/account`);
  const { response } = (await answered).postDataJSON() as { response: object };
  expect((await context.cookies()).find(({ name }) => name === 'better-auth.last_used_login_method')?.value).toBe('passkey');

  // the same answer again, in the browser that gave it
  const replayed = await page.evaluate(async (body) => {
    const answer = await fetch('/api/v1/auth/passkey/verify-authentication', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return ((await answer.json()) as { code: string }).code;
  }, JSON.stringify({ response }));
  expect(replayed).toBe('CHALLENGE_NOT_FOUND');

  await page.getByRole('button', { name: 'Delete passkey Renamed' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.locator('#passkeys li').first().waitFor({ state: 'detached' });
  await page.goto(`${base}/account/invitations`);
  await signOut();
  await page.getByRole('button', { name: /Sign in with a passkey/ }).click();
  await page.getByRole('alert').filter({ hasText: /./ }).waitFor();
  expect(complaints).toEqual([]);
});

test('the page for invitations, and the one for a failed provider', async () => {
  await context.clearCookies();
  await openAccount('second@example.com');
  await page.goto(`${base}/account/invitations`);
  await page.getByText('You have no invitations.').waitFor();
  await looksRight('invitations');
  await context.clearCookies();
  await page.goto(`${base}/api/v1/auth/error?error=access_denied`);
  await page.getByText('You did not allow the provider').waitFor();
  await looksRight('provider-failed');
});

test('the cookie of a session is out of reach of pages, and everything works by keyboard', async () => {
  await context.clearCookies();
  await openAccount('keyboard@example.com');
  expect(await page.evaluate('document.cookie')).toBe('better-auth.last_used_login_method=email');
  await page.getByText('Signed in as keyboard@example.com').waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to content');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('main');
});
