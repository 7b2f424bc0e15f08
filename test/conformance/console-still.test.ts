/** Pages stay where they are while they come, so that a press meets what it was meant for. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdBack, type Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

const WATCH = `globalThis.moved = [];
  globalThis.observer = new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      if (value > 0.001) moved.push(sources.map(({ node }) => (node?.parentElement ?? document.body).textContent.slice(0, 60)).join(' | '));
  });
  observer.observe({ type: 'layout-shift', buffered: true });`;
/** What moved by itself until the frame after the next. */
const MOVED = 'new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => tell(moved)))))';

test('nothing moves when a part of a page comes later than those below it', async () => {
  const { page, complaints } = owner;
  await page.addInitScript(WATCH);
  for (const [at, late, below, comes] of [
    ['/account', /\/users\/[^/]+\/profile/, 'API keys', 'Save profile'],
    ['/account', /auth\/list-sessions/, 'API keys', 'End all other sessions'],
    [`/experiments/${site.sample.experimentId}`, /\/tables$/, 'What came in', 'leaf_measurements'],
    [`/experiments/${site.sample.experimentId}/tables/${site.sample.uploadTableId}`, /\/data\?/, 'Aggregate', 'Live'],
    [`/experiments/${site.sample.experimentId}/dashboards`, /api.*\/dashboards$/, 'Make a dashboard', 'The season at a glance'],
    [`/experiments/${site.sample.experimentId}/tables/raw_data/chart?type=scatter`, /api.*\/tables$/, 'Dashboards', 'Download PNG'],
    [
      `/organizations/${site.sample.organizationId}/teams`,
      /api.*\/teams$/,
      'Make the team',
      'No team yet. A team is given access to something at once, whoever is in it.',
    ],
    ['/organizations', /users\/me\/organizations/, 'Others that are public', 'Leaf Lab'],
  ] as const) {
    const release = await holdBack(page, late);
    await page.goto(site.baseUrl + at);
    await page.getByRole('main').getByText(below, { exact: true }).waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
    release();
    await page.getByRole('main').getByText(comes, { exact: true }).first().waitFor();
    await page.getByRole('main').getByText(below, { exact: true }).waitFor();
    expect(await page.evaluate(MOVED), `${at} without ${late.source}`).toEqual([]);
    await page.unrouteAll();
  }
  expect(complaints).toEqual([]);
});

test('what the account can do is there and stays where it is while its lists come', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  for (const [late, control] of [
    [/auth\/list-sessions/, page.getByRole('button', { name: 'End all other sessions' })],
    [/passkey\/list-user-passkeys/, page.getByLabel('Name of a new passkey')],
    [/api-key\/list/, page.getByLabel('Name of a new key')],
  ] as const) {
    const release = await holdBack(page, late);
    await page.goto(`${site.baseUrl}/account`);
    await control.waitFor({ timeout: 15_000 });
    const place = await control.boundingBox();
    const listed = page.waitForResponse(late);
    release();
    await listed;
    await page.getByRole('region', { name: 'Delete your account' }).waitFor();
    expect(await control.boundingBox(), late.source).toEqual(place);
    await page.unrouteAll();
  }
  expect(complaints.slice(before)).toEqual([]);
});

test('a column is found among many, and the others are unmarked at once', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const names = Array.from({ length: 300 }, (_, at) => `band_${at}`);
  const { experimentId } = site.sample;
  const table = await uploadTable(site.owner, experimentId, 'bands', `${names.join()}\n${names.map((_, at) => at).join()}\n`);
  await page.goto(`${site.baseUrl}/experiments/${experimentId}/tables/${table}`);
  await page.getByRole('button', { name: /^Columns/ }).click();
  await page.getByRole('button', { name: 'Unmark them' }).click();
  await page.getByLabel('Find a column').fill('BAND_29');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('checkbox', { name: /^band_/ }).count()).toBe(11);
  await page.getByRole('button', { name: 'Mark those below' }).click();
  await page.getByRole('checkbox', { name: /^band_290 / }).uncheck();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('button', { name: 'Columns 10 of 304' }).waitFor();
  expect(complaints.slice(before)).toEqual([]);
});

test('what is shown of the question before is dimmed until the next answer is there', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const opacityOf = (shown: string) => page.evaluate(`getComputedStyle(document.querySelector('${shown}')).opacity`);
  const { experimentId, uploadTableId } = site.sample;
  const table = `/experiments/${experimentId}/tables/${uploadTableId}`;
  for (const [at, shown, late, ask] of [
    [table, '.grid-body', /\/data\?/, () => page.getByRole('columnheader', { name: /^spad/ }).click()],
    [
      `${table}/chart?type=box-plot`,
      '.drawing-frame',
      /format=vega-lite/,
      () => page.getByLabel('Up (y)', { exact: true }).selectOption('phi2'),
    ],
  ] as const) {
    await page.goto(site.baseUrl + at);
    await page.locator(`${shown} [role=gridcell], ${shown} svg`).first().waitFor();
    expect(await opacityOf(shown), at).toBe('1');
    const letGo = await holdBack(page, late);
    await ask();
    await expect.poll(() => opacityOf(shown), { message: at }).toBe('0.45');
    letGo();
    await expect.poll(() => opacityOf(shown), { message: at }).toBe('1');
    await page.unrouteAll();
  }
  expect(complaints.slice(before)).toEqual([]);
});
