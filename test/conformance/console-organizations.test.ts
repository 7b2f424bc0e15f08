import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdBack, launchChromium, looksRight, openVisitor, SIZES, type Size } from '../support/chromium.ts';
import { startConsoleSite, type ConsoleSite } from '../support/console-site.ts';
import { lettersTo } from '../support/outbox.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const EXPECTED = /409 \(Conflict\)|403 \(Forb|400 \(Bad|ERR_/;

let browser: Browser;
let site: ConsoleSite;
let receiver: Receiver;
beforeAll(async () => {
  browser = await launchChromium();
  receiver = await startReceiver();
  site = await startConsoleSite({ WEBHOOK_ALLOW_LOOPBACK: 'on', WEBHOOK_TIMEOUT_SECONDS: '2' });
});
afterAll(async () => {
  await browser.close();
  await site.stop();
  await receiver.stop();
});

const at = (path: string) => `${site.server.baseUrl}${path}`;
const leafLab = () => at(`/organizations/${site.organizationId}`);
const openAs = async (size: Size, address: string) => {
  const visitor = await openVisitor(browser, size, EXPECTED);
  await site.signIn(visitor.page, address);
  return visitor;
};
/** Sends from the page, as whoever is signed in there: members are managed by sessions, not by keys. */
const send = (page: Page, path: string, body: object) =>
  page.evaluate(
    async ([where, what]) => {
      const answer = await fetch(`/api/v1${where}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: what });
      return answer.status;
    },
    [path, JSON.stringify(body)] as const,
  );
const memberRow = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Members' }).getByRole('listitem').filter({ hasText: name });

test('makes an organization, invites, lets in, and gives roles', async () => {
  const { page, complaints, context } = await openAs('desk', 'owner@leaf-lab.example');
  await page.getByRole('button', { name: /your account/ }).click();
  await page.getByRole('menuitem', { name: 'Organizations' }).click();
  await page.getByRole('link', { name: 'Leaf Lab' }).waitFor();
  await looksRight(page, 'organizations-desk');

  // a name in addresses that is taken is refused, and what was typed stays
  await page.getByLabel('Name', { exact: true }).last().fill(' Blatt & Söhne, Straße 2');
  await expect.poll(() => page.getByLabel('Name in addresses').inputValue()).toBe('blatt-sohne-strasse-2');
  await page.getByLabel('Name in addresses').fill('leaf-lab');
  await page.getByLabel('Name', { exact: true }).last().fill(HOSTILE);
  await page.getByRole('button', { name: 'Make the organization' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).last().inputValue()).toBe(HOSTILE);
  await page.getByLabel('Name in addresses').fill('seed-bank');
  await page.getByRole('button', { name: 'Make the organization' }).click();
  await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
  const made = page.url();

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Seed Bank');
  await page.getByLabel('Who finds it').selectOption('public');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Seed Bank' }).waitFor();
  await looksRight(page, 'organization-settings-desk');

  // an address is invited by a letter, and comes in
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByLabel('Email address').fill('member@leaf-lab.example');
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Send the invitation' }).click();
  await page
    .getByRole('alert')
    .getByText(/cannot be reached/)
    .waitFor();
  expect(await page.getByLabel('Email address').inputValue()).toBe('member@leaf-lab.example');
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Send the invitation' }).click();
  await page.getByRole('region', { name: 'Invitations' }).getByText('member@leaf-lab.example').waitFor();
  await expect.poll(() => lettersTo({ dataDir: site.dataDir }, 'member@leaf-lab.example').length).toBe(1);
  // another is sent once the page has read anew what the one before changed
  await page.getByRole('button', { name: 'Send the invitation', disabled: false }).waitFor();
  // what is written while one is sent stays
  const letGo = await holdBack(page, /invite-member$/);
  await page.getByLabel('Email address').fill('nobody@field.example');
  await page.getByLabel('Email address').press('Enter');
  await page.getByLabel('Email address').fill('later@field.example');
  letGo();
  await page.getByRole('button', { name: 'Take back the invitation of nobody@field.example' }).click();
  await page.getByText('The invitation is taken back.').waitFor();
  expect(await page.getByLabel('Email address').inputValue()).toBe('later@field.example');
  const guest = await openAs('phone', 'member@leaf-lab.example');
  await guest.page.goto(at('/account/invitations'));
  await guest.page.getByRole('button', { name: 'Accept the invitation to Seed Bank' }).click();
  await guest.page.getByText('You are now a member of Seed Bank.').waitFor();
  // what is left of the page leads there
  await guest.page.locator('main').getByRole('link', { name: 'Organizations' }).click();
  await guest.page.getByRole('link', { name: 'Seed Bank' }).waitFor();

  // who finds it asks to join, and is let in
  const stranger = await openAs('phone', 'stranger@leaf-lab.example');
  await stranger.page.goto(at('/organizations?search=seed'));
  await stranger.page.getByRole('button', { name: 'Ask to join Seed Bank' }).click();
  await stranger.page.getByRole('button', { name: 'Take the request back from Seed Bank' }).click();
  await stranger.page.getByRole('button', { name: 'Ask to join Seed Bank' }).click();
  // the sentence of the first time may still stand
  await stranger.page.getByRole('button', { name: 'Take the request back from Seed Bank' }).waitFor();
  await looksRight(stranger.page, 'organizations-phone');
  await page.reload();
  await page.getByRole('button', { name: 'Let in Stranger Sample' }).click();
  await memberRow(page, 'Stranger Sample').waitFor();
  expect(stranger.complaints).toEqual([]);
  await stranger.context.close();
  await page.getByLabel('Role of Member Sample').selectOption('admin');
  await page.getByText('The role is changed.').waitFor();
  await looksRight(page, 'organization-members-desk');

  // an admin sees no settings, and is told when the right is gone
  await guest.page.goto(made);
  await guest.page.getByLabel('Email address').fill('late@field.example');
  expect(await guest.page.getByRole('link', { name: 'Settings' }).count()).toBe(0);
  // the sentence of the role before may still stand
  await Promise.all([
    page.waitForResponse((answer) => answer.url().endsWith('/update-member-role') && answer.ok()),
    page.getByLabel('Role of Member Sample').selectOption('member'),
  ]);
  await expect.poll(() => page.getByLabel('Role of Member Sample').inputValue()).toBe('member');
  await guest.page.getByRole('button', { name: 'Send the invitation' }).click();
  await guest.page
    .getByRole('alert')
    .getByText(/Ask somebody who manages it/)
    .waitFor();
  expect(await guest.page.getByLabel('Email address').inputValue()).toBe('late@field.example');
  await guest.page.reload();
  await memberRow(guest.page, 'Owner Sample').waitFor();
  expect(await guest.page.getByRole('main').getByRole('textbox').count()).toBe(0);
  expect(await guest.page.getByRole('link', { name: /Webhooks|Audit|Settings/ }).count()).toBe(0);
  await looksRight(guest.page, 'organization-members-phone');

  // teams
  await page.getByRole('link', { name: 'Teams' }).click();
  await page.getByText(/No team yet/).waitFor();
  await page.getByLabel('Name of a new team').fill(`Plots ${HOSTILE}`);
  await page.getByRole('button', { name: 'Make the team' }).click();
  await page.getByLabel(`Member to put into Plots ${HOSTILE}`).selectOption({ label: 'Stranger Sample' });
  await page.getByRole('button', { name: 'Put into the team' }).click();
  await page.getByRole('button', { name: `Take out Stranger Sample of Plots ${HOSTILE}` }).waitFor();
  await page.getByLabel(`New name of Plots ${HOSTILE}`).fill('Plots');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { name: 'Plots', exact: true }).waitFor();
  await looksRight(page, 'organization-teams-desk');
  await page.getByRole('button', { name: 'Take out Stranger Sample of Plots' }).click();
  await page.getByText('Nobody is in it yet.').waitFor();
  await page.getByRole('button', { name: 'Delete Plots' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText(/No team yet/).waitFor();

  // the log has all of it
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByText('by Owner Sample').first().waitFor();
  expect(await page.getByRole('region', { name: 'Audit log' }).getByRole('listitem').count()).toBeGreaterThan(5);
  await page.getByText('Details').first().click();
  await looksRight(page, 'organization-audit-desk');
  const log = page.getByRole('region', { name: 'Audit log' });
  const actions = async () => [...new Set(await log.locator('li .facts > code').allTextContents())];
  await page.getByLabel('What was done').selectOption('team.created');
  await expect.poll(actions).toEqual(['team.created']);
  await page.getByLabel('Done by').selectOption({ label: 'Member Sample' });
  await page.getByText('Nothing fits. Take a filter away, or choose more days.').waitFor();
  await page.getByLabel('Done by').selectOption({ label: 'Owner Sample' });
  await expect.poll(actions).toEqual(['team.created']);
  await page.getByLabel('To the day').fill('2020-05-01');
  await page.getByText('Nothing fits. Take a filter away, or choose more days.').waitFor();
  // the address says it, and what is refused is told
  await page.goto(`${page.url()}&from=2021-05-01`);
  await page.getByRole('alert').getByText('The range is empty: from must be before to.').waitFor();
  expect(await page.getByLabel('From the day').inputValue()).toBe('2021-05-01');
  await page.getByLabel('To the day').fill('');
  await expect.poll(actions).toEqual(['team.created']);
  await page.getByLabel('What was done').selectOption({ label: 'anything' });
  await expect.poll(actions).toContain('team.updated');
  await page.setViewportSize(SIZES.phone);
  await looksRight(page, 'organization-audit-phone');
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await page.setViewportSize(SIZES.desk);
  await page.getByRole('link', { name: 'Show all' }).click();
  await expect.poll(actions).toContain('organization.join-requested');
  expect(page.url()).not.toContain('?');
  await log.getByRole('link', { name: 'by Stranger Sample' }).first().click();
  await expect.poll(actions).not.toContain('team.created');

  // members go, and so does the organization
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByRole('button', { name: 'Remove Stranger Sample' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('They are no member any more.').waitFor();
  await guest.page.getByRole('button', { name: 'Leave the organization' }).click();
  await guest.page.getByRole('alertdialog').getByRole('button', { name: 'Leave the organization' }).click();
  await guest.page.getByText('You left the organization.').waitFor();
  expect(guest.complaints).toEqual([]);
  await guest.context.close();
  // the last owner cannot leave
  await page.getByRole('button', { name: 'Leave the organization' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Leave the organization' }).click();
  await page.getByRole('alertdialog', { name: 'Leave the organization?' }).getByRole('alert').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Delete the organization' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the organization' }).click();
  await page.getByText('The organization is deleted.').waitFor();
  await page.goto(`${leafLab()}/settings`);
  await page.getByText('1 of kind experiment').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('makes a webhook, whose secret is shown once, and sends again', async () => {
  const { page, complaints, context } = await openAs('desk', 'owner@leaf-lab.example');
  await page.goto(`${leafLab()}/webhooks`);
  await page.getByText('No webhook yet.').waitFor();

  // by keyboard alone, and refused at first: nothing is chosen to be told of
  await page.getByLabel('Address to call').focus();
  await page.keyboard.type(receiver.url);
  await page.keyboard.press('Tab');
  await page.keyboard.type(HOSTILE);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Address to call').inputValue()).toBe(receiver.url);
  await page.getByLabel('an experiment is made').focus();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Make the webhook' }).focus();
  await page.keyboard.press('Enter');
  const secret = page.locator('#webhook-secret');
  await secret.waitFor();
  expect(await secret.textContent()).toMatch(/^whsec_/);
  await looksRight(page, 'webhooks-desk');
  await page.getByRole('link', { name: receiver.url }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  const deliveries = page.getByRole('region', { name: 'Deliveries' });
  await deliveries.getByText('delivered', { exact: true }).waitFor({ timeout: 30_000 });
  expect(receiver.heard.length).toBe(1);
  await deliveries.getByText('What was sent').click();
  await deliveries.getByText(/accepted, answer 2\d\d/).waitFor();
  await looksRight(page, 'webhook-desk');
  await page.getByRole('button', { name: 'Send again' }).click();
  await expect.poll(() => receiver.heard.length).toBe(2);
  // what is sent while nothing is being tried is shown, too
  const each = deliveries.locator('.tag');
  await expect.poll(async () => (await each.allTextContents()).every((status) => status === 'delivered')).toBe(true);
  const had = await each.count();
  const here = new URL(page.url()).pathname;
  expect((await site.owner('POST', `/api/v1${here}/test`)).status).toBeLessThan(300);
  await expect.poll(() => each.count(), { timeout: 20_000 }).toBe(had + 1);
  await page.getByRole('link', { name: 'Failed' }).click();
  await page.getByText('Nothing was sent.').waitFor();
  await page.waitForURL(/status=failed/);
  await page.getByRole('link', { name: 'All', exact: true }).click();
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replace the secret' }).click();
  expect(await secret.textContent()).toMatch(/^whsec_/);
  await page.getByText(/calls carry a signature by the former secret, too/).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Switch off' }).waitFor();
  expect(await secret.count()).toBe(0);

  // switched off elsewhere: a test is refused with a sentence
  const id = /webhooks\/([\w-]{36})/.exec(page.url())![1]!;
  expect(
    (await site.owner('PATCH', `/api/v1/organizations/${site.organizationId}/webhooks/${id}`, { body: { enabled: false } })).status,
  ).toBe(200);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('alert').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByText('The webhook is on.').waitFor();
  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByText(/The webhook is off/).waitFor();
  expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0);

  // one call that failed is told as one, and one that is made again says when
  receiver.answer = (response) => response.writeHead(410).end();
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText(/^1 failure since /).waitFor({ timeout: 30_000 });
  await page.getByText('It answered 410 Gone.').waitFor();
  receiver.answer = (response) => response.writeHead(500).end();
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await deliveries.getByText(/^tried again in /).waitFor({ timeout: 30_000 });
  await deliveries.getByText('What was sent').first().click();
  await deliveries
    .getByText(/refused by the endpoint, answer 500/)
    .first()
    .waitFor();
  // what is open follows the next try
  await expect.poll(() => deliveries.getByText(/refused by the endpoint, answer 500/).count()).toBeGreaterThanOrEqual(2);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The webhook is deleted.').first().waitFor();
  await page.getByText('No webhook yet.').waitFor();
  expect(await send(page, '/auth/sign-out', {})).toBe(200);
  expect(complaints).toEqual([]);
  await context.close();
});

test('an outsider sees nothing of a private organization', async () => {
  const { page, context } = await openAs('phone', 'viewer@leaf-lab.example');
  await page.goto(leafLab());
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  await looksRight(page, 'organization-stranger-phone');
  await context.close();
});
