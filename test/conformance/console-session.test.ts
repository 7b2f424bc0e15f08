/** What the console keeps of who is signed in. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium, openVisitor } from '../support/chromium.ts';
import { startConsoleSite, type ConsoleSite } from '../support/console-site.ts';
import { nextCode } from '../support/outbox.ts';

const EXPECTED = /40[0134] \([A-Z]|ERR_/;

let browser: Browser;
let site: ConsoleSite;
beforeAll(async () => {
  browser = await launchChromium();
  site = await startConsoleSite();
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});

test('the page to sign in stands after a session has ended on the account page', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'ended@field.example');
  await page.goto(`${site.server.baseUrl}/account`);
  await page.getByRole('heading', { name: 'Linked providers' }).waitFor();
  await page.getByText('None.', { exact: true }).waitFor();
  await context.clearCookies();
  await page.getByRole('button', { name: 'End all other sessions' }).click();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Other ways' }).waitFor();
  await page.getByLabel('Email address').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a name that is said is known on the next page', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'nameless@field.example');
  await page.getByRole('link', { name: 'Say your name' }).click();
  await page.getByLabel('First name').fill('Ina');
  await page.getByLabel('Last name').fill('Okafor');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Your profile is saved.').waitFor();
  await page.getByRole('button', { name: 'Ina, your account' }).waitFor();
  // what was saved stays in the form
  await page.locator('form:not([aria-busy=true])').getByRole('button', { name: 'Save profile' }).waitFor();
  expect(await page.getByLabel('First name').inputValue()).toBe('Ina');
  await page.getByRole('link', { name: 'fieldlake' }).click();
  await page.getByRole('heading', { name: 'Experiments', exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'Say your name' }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a profile that could not be read is not written over', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'owner@leaf-lab.example');
  await page.route('**/api/v1/users/*/profile', (route) => route.abort('internetdisconnected'));
  await page.goto(`${site.server.baseUrl}/account`);
  const panel = page.getByRole('region', { name: 'Profile' });
  await panel
    .getByRole('alert')
    .getByText(/cannot be reached/)
    .waitFor({ timeout: 30_000 });
  expect(await panel.getByRole('button', { name: 'Save profile' }).count()).toBe(0);
  await page.unrouteAll();
  await panel.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => panel.getByLabel('First name').inputValue()).toBe('Owner');
  expect(complaints).toEqual([]);
  await context.close();
});

test('why a provider could not be linked is said on the account page', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'linking@field.example');
  await page.route('**/api/v1/auth/providers', (route) => route.fulfill({ json: { providers: ['github'] } }));
  await page.goto(`${site.server.baseUrl}/account`);
  const [asked] = await Promise.all([
    page.waitForRequest((request) => request.url().endsWith('/oauth2/link')),
    page.getByRole('button', { name: 'Link GitHub' }).click(),
  ]);
  const { errorCallbackURL } = asked.postDataJSON() as { errorCallbackURL: string };
  await page.goto(`${site.server.baseUrl}${errorCallbackURL}?error=account_already_linked_to_different_user`);
  const panel = page.getByRole('region', { name: 'Linked providers' });
  await panel.getByText('This provider account is linked to another account here.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('what was typed when a session ended is saved after signing in in another tab', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'phone', EXPECTED);
  await site.signIn(page, 'member@leaf-lab.example');
  await page.goto(`${site.server.baseUrl}/account`);
  await page.getByLabel('About you').fill('typed before');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByRole('alert').getByText('Sign in again in another tab').waitFor();
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sign in' });
  expect(await link.getAttribute('href')).toBe('/sign-in?next=%2Faccount');
  const other = await context.newPage();
  await site.signIn(other, 'member@leaf-lab.example');
  await other.close();
  await page.bringToFront();
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await page.getByRole('button', { name: 'Member, your account' }).waitFor();
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Your profile is saved.').waitFor();
  expect(await page.getByLabel('About you').inputValue()).toBe('typed before');
  expect(complaints).toEqual([]);
  await context.close();
});

test('a code is taken with the blanks that came along when it was copied', async () => {
  for (const [name, space] of [
    ['before', (code: string) => `    ${code} `],
    ['within', (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`],
  ] as const) {
    const { page, complaints, context } = await openVisitor(browser, 'desk');
    const address = `${name}@field.example`;
    await page.goto(`${site.server.baseUrl}/sign-in`);
    await page.getByLabel('Email address').fill(address);
    await page.getByRole('button', { name: 'Send me a code' }).click();
    const field = page.getByLabel(/Six digits/);
    await field.focus();
    // unlike `fill`, this is held to the length that the field takes, as a paste is
    await page.keyboard.insertText(space(await nextCode(site, address, 0)));
    await field.press('Enter');
    await page.waitForURL(`${site.server.baseUrl}/`);
    expect(complaints).toEqual([]);
    await context.close();
  }
});

test('a tab says who is signed in now, where that changed in another', async () => {
  const { context, page, complaints } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'teammate@leaf-lab.example');
  await page.goto(`${site.server.baseUrl}/organizations`);
  await page.getByRole('button', { name: 'Teammate, your account' }).waitFor();
  const other = await context.newPage();
  await other.goto(site.server.baseUrl);
  await other.getByRole('button', { name: 'Teammate, your account' }).click();
  await other.getByRole('menuitem', { name: 'Sign out' }).click();
  await other.getByLabel('Email address').waitFor();
  // what stood open stays
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sign in' }).waitFor();
  await page.getByRole('heading', { level: 1, name: 'Organizations' }).waitFor();
  await site.signIn(other, 'viewer@leaf-lab.example');
  await page.getByRole('button', { name: 'Viewer, your account' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
