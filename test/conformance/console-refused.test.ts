/** Every change that the console sends is refused: why is said as a sentence, and what was written stays. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addPasskeyHolder, launchChromium, openVisitor, type Visitor } from '../support/chromium.ts';
import { changesListed, type Way } from '../support/console-changes.ts';
import { signInByCode, startConsoleSite, type ConsoleSite } from '../support/console-site.ts';
import { eventually } from '../support/crashes.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { makeRefusable, type Places } from '../support/refusable-world.ts';

interface Refusal {
  /** The problem document that is answered; null: there is no network. */
  problem: { status: number; title: string; detail: string; code: string } | null;
  /** What the person reads of it. */
  said: RegExp;
  /** What to do; the sentence itself where the sign-in library answers. */
  advice: RegExp;
}
/** The last one is there when the browser has its network again. */
const REFUSALS: readonly Refusal[] = [
  {
    problem: { status: 429, title: 'Too many requests', detail: 'There were too many requests.', code: 'RATE_LIMITED' },
    said: /There were too many requests/,
    advice: /Try again in 90 seconds|Wait a moment, then try again/,
  },
  {
    problem: { status: 403, title: 'Forbidden', detail: 'You may not do this here.', code: 'FORBIDDEN' },
    said: /You may not do this here/,
    advice: /You may not do this here/,
  },
  {
    problem: { status: 409, title: 'Conflict', detail: 'It is not as you saw it.', code: 'CONFLICT' },
    said: /It is not as you saw it/,
    advice: /Reload to see how it is now|It is not as you saw it/,
  },
  {
    problem: { status: 412, title: 'Precondition failed', detail: 'It was changed since you read it.', code: 'PRECONDITION_FAILED' },
    said: /It was changed since you read it|(What you did|Yours) is still here/,
    advice: /Somebody (changed (it|this)|saved another version)|It was changed since you read it/,
  },
  { problem: null, said: /The service cannot be reached/, advice: /Check your connection, then try again/ },
];
const EXPECTED = /status of (403|404|409|412|429)|ERR_INTERNET_DISCONNECTED/;
/** Asked of the service by what is no change. */
const READS = /\/users\/metadata|has-permission|\/data\/uploads\/preview|\/visualizations\/preview/;

let browser: Browser;
let site: ConsoleSite;
let receiver: Receiver;
let places: Places;
const people = new Map<NonNullable<Way['as']>, Visitor>();

/** Passkeys belong to a name, so that who holds one comes by the name of this machine. */
async function openKeyholder(): Promise<Visitor> {
  const visitor = await openVisitor(browser, 'desk', EXPECTED);
  const forgetPasskeys = await addPasskeyHolder(visitor);
  const baseUrl = site.server.baseUrl.replace('127.0.0.1', 'localhost');
  await signInByCode(visitor.page, { baseUrl, dataDir: site.dataDir }, 'keyholder@leaf-lab.example');
  await visitor.page.goto(`${baseUrl}/account`);
  await visitor.page.getByLabel('Name of a new passkey').fill('Busy passkey');
  await visitor.page.getByRole('button', { name: 'Add a passkey' }).click();
  await visitor.page.getByText('The passkey is added.').waitFor();
  // an authenticator holds one of each account
  await forgetPasskeys();
  return visitor;
}

beforeAll(async () => {
  browser = await launchChromium();
  receiver = await startReceiver();
  site = await startConsoleSite({ WEBHOOK_ALLOW_LOOPBACK: 'on' });
  for (const name of ['owner', 'stranger', 'member', 'viewer'] as const) {
    const visitor = await openVisitor(browser, 'desk', EXPECTED);
    await site.signIn(visitor.page, `${name}@leaf-lab.example`);
    people.set(name, visitor);
  }
  people.set('nobody', await openVisitor(browser, 'desk', EXPECTED));
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
});
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

/** A proxy in front of the service that refuses every change, or no network at all. Answers how many it refused, and what takes it away. */
async function refuse(page: Page, { problem }: Refusal): Promise<{ count: () => number; stop: () => Promise<void> }> {
  let refused = 0;
  const context = page.context();
  await page.route('**/api/v1/**', (route) => {
    if (route.request().method() === 'GET' || READS.test(route.request().url())) return route.continue();
    refused += 1;
    if (problem === null) return route.abort('internetdisconnected');
    const headers = { 'content-type': 'application/problem+json', ...(problem.status === 429 ? { 'retry-after': '90' } : {}) };
    return route.fulfill({ status: problem.status, headers, body: JSON.stringify({ ...problem, message: problem.detail }) });
  });
  await context.setOffline(problem === null);
  return {
    count: () => refused,
    stop: async () => {
      await page.unrouteAll({ behavior: 'wait' });
      await context.setOffline(false);
    },
  };
}

/** The ways in which a change is refused here: each of them with SOAK, else one of them in turn, and without a network. */
function refusalsOf(turn: number): readonly Refusal[] {
  const [last] = REFUSALS.slice(-1);
  const answered = REFUSALS.slice(0, -1);
  return process.env['SOAK'] ? REFUSALS : [answered[turn % answered.length]!, last!];
}

/** Sends the change as its way says, and sees it refused in some ways. */
async function send({ at, as = 'owner', first = [], fill = {}, press, ask, pick = {} }: Way, refusals: readonly Refusal[]): Promise<void> {
  const { page } = people.get(as)!;
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
  if (ask !== undefined) {
    const opener = page.getByRole('button', nameOf(ask)).first();
    // a press is lost where the page is still read and grows above its button
    const isAsked = async () => {
      await opener.click();
      return asked.waitFor({ timeout: 3000 }).then(
        () => true,
        () => false,
      );
    };
    expect(await eventually(isAsked, Boolean, 60_000)).toBe(true);
  }
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
  for (const refusal of refusals) {
    const { problem, said, advice } = refusal;
    const name = problem?.title ?? 'offline';
    const { count, stop } = await refuse(page, refusal);
    for (const [label, text] of Object.entries(pick)) await page.getByLabel(label).selectOption(text);
    if (press !== undefined) {
      const inForm = within.getByRole('button', nameOf(press));
      await ((await inForm.count()) > 0 ? inForm : page.getByRole('button', nameOf(press))).first().click();
    }
    await page.getByText(advice).first().waitFor();
    // a passkey is begun by a read
    if (problem === null) expect(count(), name).toBeLessThanOrEqual(1);
    else expect(count(), name).toBeGreaterThan(0);
    expect(await page.getByText(said).count(), name).toBeGreaterThan(0);
    expect(await written(), name).toEqual(kept);
    if (ask !== undefined) expect(await asked.count(), name).toBe(1);
    await stop();
  }
}

const ways = Object.entries(changesListed()).flatMap(([name, way]) => (typeof way === 'string' ? [] : [[name, way] as const]));

test.each(ways.map(([name, way], turn) => [name, way, turn] as const))('%s', async (_, way, turn) => {
  await send(way, refusalsOf(turn));
  for (const { complaints } of people.values()) expect(complaints.splice(0)).toEqual([]);
});
