import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeIn, lettersTo, nextLetter } from '../support/outbox.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';

const SCREENS = join(import.meta.dirname, '..', '..', 'build', 'screenshots');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

let folder: string;
let server: ServerProcess;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let base: string;
const complaints: string[] = [];
const outbox = () => ({ dataDir: folder }) as Parameters<typeof nextLetter>[0];

beforeAll(async () => {
  mkdirSync(SCREENS, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-chromium-'));
  server = await spawnServer({ DATA_DIR: folder, SIGN_INS_PER_MINUTE: '100' });
  base = server.baseUrl.replace('127.0.0.1', 'localhost');
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  context = await browser.newContext({ viewport: { width: 1000, height: 900 } });
  page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
});
afterAll(async () => {
  await browser.close();
  await server.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

/** axe finds nothing, in light and in dark; a picture of both is kept. */
async function looksRight(name: string): Promise<void> {
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.evaluate(AXE);
    const found = await page.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`))',
    );
    expect(found, `${name} in ${scheme}`).toEqual([]);
    await page.screenshot({ path: join(SCREENS, `${name}-${scheme}.png`), fullPage: true });
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

async function signInByCode(address: string): Promise<void> {
  await page.goto(`${base}/platform/sign-in`);
  const had = lettersTo(outbox(), address).length;
  await page.getByLabel('Email address').fill(address);
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await page.getByLabel(/Six digits/).fill(codeIn(await nextLetter(outbox(), address, had)));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${base}/platform/account`);
}

test('a person signs in by code, adds a passkey, renames it, signs out, signs in by it, and deletes it', { timeout: 120_000 }, async () => {
  await page.goto(`${base}/platform/sign-in`);
  await looksRight('sign-in');
  await signInByCode('chromium@example.com');
  await page.getByText('chromium@example.com').waitFor();

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

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${base}/platform/sign-in`);
  await page.getByText('Last used').waitFor();
  const answered = page.waitForRequest(/verify-authentication/);
  await page.getByRole('button', { name: /Sign in with a passkey/ }).click();
  await page.waitForURL(`${base}/platform/account`);
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
  await page.locator('#passkeys li').first().waitFor({ state: 'detached' });
  await page.goto(`${base}/platform/account/invitations`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${base}/platform/sign-in`);
  await page.getByRole('button', { name: /Sign in with a passkey/ }).click();
  await page.getByRole('alert').filter({ hasText: /./ }).waitFor();
  expect(complaints).toEqual([]);
});

test('the page for invitations, and the one for a failed provider', async () => {
  await context.clearCookies();
  await signInByCode('second@example.com');
  await page.goto(`${base}/platform/account/invitations`);
  await page.getByText('You have no invitations.').waitFor();
  await looksRight('invitations');
  await page.goto(`${base}/api/v1/auth/error?error=access_denied`);
  await looksRight('provider-failed');
});

test('the cookie of a session is out of reach of pages, and everything works by keyboard', async () => {
  await context.clearCookies();
  await signInByCode('keyboard@example.com');
  expect(await page.evaluate('document.cookie')).toBe('better-auth.last_used_login_method=email');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to content');
});
