import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { removeAccess, startConsole, type Console } from '../support/console.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

const FIRST = 400;
/** From the acknowledgement of rows until they are seen. */
const SEEN_MS = 3_000;

let site: Console;
let owner: Visitor;
let experimentId: string;
let table: string;
let rows = FIRST;

const csv = (from: number, to: number) =>
  `n,genotype\n${Array.from({ length: to - from + 1 }, (_, at) => `${from + at},${['B73', 'Mo17', 'W22'][at % 3]!}`).join('\n')}\n`;
const address = (search = '') => `${site.baseUrl}/experiments/${experimentId}/tables/${table}?orderBy=n&orderDirection=DESC${search}`;
const grid = (page: Page) => page.getByRole('grid', { name: 'Rows of leaves' });
const counted = async (page: Page) => Number(await grid(page).getAttribute('aria-rowcount')) - 1;
/** The number of the first row whose cells are seen below the head. */
const topRow = (page: Page) =>
  page.evaluate(`(() => {
    const grid = document.querySelector('.grid');
    const top = grid.getBoundingClientRect().top + 60;
    const row = [...document.querySelectorAll('.grid-row')].find((each) => each.getBoundingClientRect().bottom > top + 2 && each.getBoundingClientRect().top >= top - 33);
    return row.querySelector('.grid-cell').textContent;
  })()`);

const scrollTo = (page: Page, pixels: number) => page.evaluate(`document.querySelector('.grid').scrollTop = ${pixels}`);

/** Sends rows by HTTP as a person's program does, and answers when the service has taken them. */
async function send(count: number): Promise<number> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: table }))
    form.append(field, value);
  form.append('files', new Blob([csv(rows + 1, rows + count)]), 'rows.csv');
  const answer = await site.owner('POST', `/api/v1/experiments/${experimentId}/data/uploads`, { body: form });
  expect(answer.status, answer.text).toBeLessThan(300);
  rows += count;
  return Date.now();
}
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
  const members = [{ userId: site.sample.users.viewer.id }];
  const body = { name: 'Wheat at two sites', organizationId: site.sample.organizationId, members };
  experimentId = String((await site.owner('POST', '/api/v1/experiments', { body })).body.id);
  table = await uploadTable(site.owner, experimentId, 'leaves', csv(1, FIRST));
});
afterAll(() => site.stop());

test('says how many rows are new, and shows them without losing the place', async () => {
  const { page, complaints } = owner;
  await page.goto(address());
  await grid(page).getByRole('gridcell').first().waitFor();
  await sleep(2_000);
  expect(await page.getByText(/new row/).count()).toBe(0);
  await scrollTo(page, 33 * 30);
  await expect.poll(() => topRow(page)).toBe(String(FIRST - 30));
  await send(12);
  await page.getByText('12 new rows', { exact: true }).waitFor();
  expect(await counted(page)).toBe(FIRST);
  await looksRight(page, 'live-told-desk');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect.poll(() => counted(page)).toBe(rows);
  await page.getByText('12 new rows', { exact: true }).waitFor({ state: 'detached' });
  expect(await topRow(page)).toBe(String(FIRST - 30));

  // how many of them a filter lets through nobody was told
  await page.goto(address(`&filters=${encodeURIComponent(JSON.stringify([{ column: 'n', operator: 'less_than', value: 50 }]))}`));
  await grid(page).getByRole('gridcell').first().waitFor();
  await sleep(1_000);
  await send(1);
  await page.getByText('The table has changed.').waitFor();
  // a version that was chosen stays as it is
  await page.goto(address('&asOf=1'));
  await grid(page).getByRole('gridcell').first().waitFor();
  expect(await page.getByRole('button', { name: 'Live' }).count()).toBe(0);
  expect(await counted(page)).toBe(FIRST);
  // and so does its chart, until the newest is asked for
  const drawnAt = async (act: () => Promise<void>) => {
    const [drawn] = await Promise.all([page.waitForResponse((answer) => /\/chart\?.*format=vega-lite/.test(answer.url())), act()]);
    await page.locator('.chart-panel[aria-busy=false] .drawing svg').first().waitFor();
    return Number(drawn.headers()['x-table-version']);
  };
  expect(await drawnAt(() => page.getByRole('link', { name: 'Chart this' }).click())).toBe(1);
  await page.getByText('It is drawn from the table as it was in version 1.').waitFor();
  expect(new URL(page.url()).searchParams.get('asOf')).toBe('1');
  expect(await page.getByRole('button', { name: 'Save chart' }).count()).toBe(0);
  await looksRight(page, 'chart-version-desk');
  expect(await drawnAt(() => page.getByRole('button', { name: 'Draw the newest version' }).click())).toBeGreaterThan(1);
  await page.getByText('It is drawn from the table as it was in version 1.').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save chart' }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'The rows' }).click();
  await grid(page).getByRole('gridcell').first().waitFor();
  expect(await counted(page)).toBe(FIRST);
  expect(complaints).toEqual([]);
});

test('shows the newest first where no order was chosen', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  await page.goto(address().split('?')[0]!);
  await grid(page).getByRole('gridcell').first().waitFor();
  await page.getByRole('button', { name: 'Live' }).click();
  await page.waitForURL(/live=true/);
  expect(new URL(page.url()).searchParams.get('orderDirection')).toBe('DESC');
  await sleep(1_000);
  await send(1);
  await expect.poll(() => topRow(page), { timeout: 20_000 }).toBe(String(rows));
  expect(complaints.slice(before)).toEqual([]);
});

test('shows rows as they come where that was chosen, within three seconds', async () => {
  const { page, complaints } = owner;
  await page.goto(address());
  await grid(page).getByRole('gridcell').first().waitFor();
  await page.getByRole('button', { name: 'Live' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/live=true/);
  await sleep(1_000);
  const waits: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const isAtTop = round % 2 === 0;
    const before = String(isAtTop ? rows : rows - 40);
    await scrollTo(page, isAtTop ? 0 : 33 * 40);
    await expect.poll(() => topRow(page)).toBe(before);
    const taken = await send(5);
    await expect.poll(() => counted(page), { interval: 50 }).toBe(rows);
    waits.push(Date.now() - taken);
    // at the top the new rows are seen, elsewhere everything stays where it was
    await expect.poll(() => topRow(page)).toBe(isAtTop ? String(rows) : before);
  }
  process.stdout.write(`seen ${waits.join(', ')} ms after they were acknowledged\n`);
  // half of them may have met a machine that was busy with something else
  expect(waits.sort((a, b) => a - b)[2]).toBeLessThanOrEqual(SEEN_MS);
  await looksRight(page, 'live-desk');

  // the address says it, on a phone too; rows come while the page is not looked at
  const phone = await site.copyOf(owner, 'phone');
  await phone.page.goto(page.url());
  await grid(phone.page).getByRole('gridcell').first().waitFor();
  expect(await phone.page.getByRole('button', { name: 'Live' }).getAttribute('aria-pressed')).toBe('true');
  await sleep(1_000);
  await send(3);
  await expect.poll(() => counted(phone.page)).toBe(rows);
  await looksRight(phone.page, 'live-phone');
  expect(await phone.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect([...complaints, ...phone.complaints]).toEqual([]);
  await phone.context.close();
});

test('says that it ends when access does', async () => {
  const viewer = await site.visitAs('viewer');
  await viewer.page.goto(address());
  await grid(viewer.page).getByRole('gridcell').first().waitFor();
  await sleep(1_000);
  await appendTo(site.owner, experimentId, table, csv(rows + 1, rows + 2));
  rows += 2;
  await viewer.page.getByText('2 new rows', { exact: true }).waitFor();
  await removeAccess(site.owner, experimentId, site.sample.users.viewer.id);
  await viewer.page.getByText('New rows are not told here any more.').waitFor({ timeout: 30_000 });
  await viewer.page
    .getByRole('alert')
    .getByText(/was never shared with you|Ask somebody/)
    .waitFor();
  // what was read stays to be seen
  await grid(viewer.page).getByRole('gridcell').first().waitFor();
  expect(viewer.complaints).toEqual([]);
  await viewer.context.close();
});
