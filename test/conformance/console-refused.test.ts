/** Every change that the console sends is refused: why is said as a sentence, and what was written stays. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium, openVisitor, type Visitor } from '../support/chromium.ts';
import { changesListed, type Way } from '../support/console-changes.ts';
import { signInByCode, startConsoleSite, type ConsoleSite } from '../support/console-site.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { makeRefusable, type Places } from '../support/refusable-world.ts';

const REFUSALS = {
  429: {
    title: 'Too many requests',
    detail: 'There were too many requests.',
    code: 'RATE_LIMITED',
    advice: /Try again in 90 seconds|Wait a moment, then try again/,
  },
  403: { title: 'Forbidden', detail: 'You may not do this here.', code: 'FORBIDDEN', advice: /You may not do this here/ },
} as const;
/** Asked of the service by what is no change. */
const READS = /\/users\/metadata|has-permission|\/data\/uploads\/preview|\/visualizations\/preview/;

let browser: Browser;
let site: ConsoleSite;
let receiver: Receiver;
let places: Places;
const people = new Map<NonNullable<Way['as']>, Visitor>();

/** Passkeys belong to a name, so that who holds one comes by the name of this machine. */
async function openKeyholder(): Promise<Visitor> {
  const visitor = await openVisitor(browser, 'desk', /status of (403|429)/);
  const devtools = await visitor.context.newCDPSession(visitor.page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const baseUrl = site.server.baseUrl.replace('127.0.0.1', 'localhost');
  await signInByCode(visitor.page, { baseUrl, dataDir: site.dataDir }, 'keyholder@leaf-lab.example');
  await visitor.page.goto(`${baseUrl}/account`);
  await visitor.page.getByLabel('Name of a new passkey').fill('Busy passkey');
  await visitor.page.getByRole('button', { name: 'Add a passkey' }).click();
  await visitor.page.getByText('The passkey is added.').waitFor();
  // an authenticator holds one of each account
  await devtools.send('WebAuthn.clearCredentials', { authenticatorId });
  return visitor;
}

beforeAll(async () => {
  browser = await launchChromium();
  receiver = await startReceiver();
  site = await startConsoleSite({ WEBHOOK_ALLOW_LOOPBACK: 'on' });
  for (const name of ['owner', 'stranger', 'member', 'viewer'] as const) {
    const visitor = await openVisitor(browser, 'desk', /status of (403|404|429)/);
    await site.signIn(visitor.page, `${name}@leaf-lab.example`);
    people.set(name, visitor);
  }
  people.set('nobody', await openVisitor(browser, 'desk', /status of (403|429)/));
  people.set('keyholder', await openKeyholder());
  const pageOf = (name: 'owner' | 'stranger' | 'member') => people.get(name)!.page;
  const { user } = await pageOf('member').evaluate<{ user: { id: string } }>(
    "fetch('/api/v1/auth/get-session').then((answer) => answer.json())",
  );
  places = await makeRefusable(site, { owner: pageOf('owner'), stranger: pageOf('stranger'), memberId: user.id, receiver: receiver.url });
  const page = pageOf('owner');
  await page.goto(`${site.server.baseUrl}/account`);
  await page.getByLabel('Name of a new key').fill('Busy key');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('button', { name: 'Revoke key Busy key' }).waitFor();
  // a second session of the owner
  const second = await openVisitor(browser);
  await site.signIn(second.page, 'owner@leaf-lab.example');
  await second.context.close();
}, 300_000);
afterAll(async () => {
  await browser.close();
  await site.stop();
  await receiver.stop();
});

const nameOf = (said: string) => {
  const [, pattern] = /^\/(.*)\/$/.exec(said) ?? [];
  return pattern === undefined ? { name: said, exact: true } : { name: new RegExp(pattern) };
};
const isSelect = (field: Locator) => field.evaluate((element) => element.tagName === 'SELECT');
async function write(field: Locator, text: string): Promise<void> {
  if (await isSelect(field)) await field.selectOption(await optionOf(field, text));
  else await field.fill(text);
}
async function optionOf(select: Locator, text: string): Promise<string> {
  const [, pattern] = /^\/(.*)\/$/.exec(text) ?? [];
  const option = select
    .locator('option')
    .filter({ hasText: pattern === undefined ? text : new RegExp(pattern) })
    .first();
  await option.waitFor({ state: 'attached' });
  return (await option.getAttribute('value')) ?? text;
}

/** A proxy in front of the service that refuses every change. */
async function refuse(page: Page, status: keyof typeof REFUSALS): Promise<() => number> {
  let refused = 0;
  const { title, detail, code } = REFUSALS[status];
  await page.route('**/api/v1/**', (route) => {
    if (route.request().method() === 'GET' || READS.test(route.request().url())) return route.continue();
    refused += 1;
    return route.fulfill({
      status,
      headers: { 'content-type': 'application/problem+json', ...(status === 429 ? { 'retry-after': '90' } : {}) },
      body: JSON.stringify({ title, status, detail, message: detail, code }),
    });
  });
  return () => refused;
}

/** Sends the change as its way says, and sees it refused with either status. */
async function send({ at, as = 'owner', first = [], fill = {}, press, ask, confirm, pick = {} }: Way): Promise<void> {
  const { page } = people.get(as)!;
  page.setDefaultTimeout(10_000);
  const base = as === 'keyholder' ? site.server.baseUrl.replace('127.0.0.1', 'localhost') : site.server.baseUrl;
  await page.goto(base + at.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name] ?? `no ${name}`));
  for (const step of first)
    if (typeof step === 'string') await page.getByRole('button', nameOf(step)).first().click();
    else
      for (const [field, text] of Object.entries(step))
        if (text === null) await page.locator(field).first().click();
        else await write(page.locator(field), text);
  for (const [field, text] of Object.entries(fill)) await write(page.locator(field), text);
  const written = async () => {
    const values: Record<string, string> = {};
    for (const field of Object.keys(fill)) values[field] = await page.locator(field).inputValue();
    return values;
  };
  const kept = await written();
  const asked = page.getByRole('alertdialog').filter({ has: page.getByRole('button', { name: 'Cancel' }) });
  if (ask !== undefined) await page.getByRole('button', nameOf(ask)).first().click();
  const [field] = Object.keys(fill);
  const within =
    ask !== undefined
      ? asked
      : field === undefined
        ? page
        : page
            .locator('form, body')
            .filter({ has: page.locator(field) })
            .last();
  for (const status of [429, 403] as const) {
    const count = await refuse(page, status);
    for (const [label, text] of Object.entries(pick)) await page.getByLabel(label).selectOption(text);
    if (confirm !== undefined) {
      await page.getByRole('button', nameOf(confirm)).first().click();
      await asked.getByRole('button', nameOf(confirm)).click();
    }
    if (press !== undefined) {
      const inForm = within.getByRole('button', nameOf(press));
      await ((await inForm.count()) > 0 ? inForm : page.getByRole('button', nameOf(press))).first().click();
    }
    await page.getByText(REFUSALS[status].advice).first().waitFor();
    expect(count(), String(status)).toBeGreaterThan(0);
    expect(await page.getByText(REFUSALS[status].detail).count(), String(status)).toBeGreaterThan(0);
    expect(await written(), String(status)).toEqual(kept);
    if (ask !== undefined) expect(await asked.count(), String(status)).toBe(1);
    await page.unrouteAll({ behavior: 'wait' });
  }
}

const ways = Object.entries(changesListed()).flatMap(([name, way]) => (typeof way === 'string' ? [] : [[name, way] as const]));

test.each(ways)('%s', { timeout: 60_000 }, async (_, way) => {
  await send(way);
  for (const { complaints } of people.values()) expect(complaints.splice(0)).toEqual([]);
});
