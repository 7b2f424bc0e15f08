/** What a person hears who does not see the page, and where their focus is. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdBack, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
let id: string;
let table: string;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
  id = await makeExperiment(site.owner, 'By ear');
  const rows = Array.from({ length: 90 }, (_, at) => `${at},${at % 2 === 0 ? 'wet' : 'dry'}\n`);
  table = await uploadTable(site.owner, id, 'leaves', `n,ground\n${rows.join('')}`);
});
afterAll(() => site.stop());

const grid = (page: Page) => page.getByRole('grid', { name: 'Rows of leaves' });
/** What the head of a table reads out. */
const readOut = (page: Page) => page.locator('.table-head [role=status]').ariaSnapshot();
async function openTable(page: Page, search = ''): Promise<void> {
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}${search}`);
  await grid(page).getByRole('gridcell').first().waitFor();
}

test('a page that comes is said by its title', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  await page.goto(`${site.baseUrl}/experiments/${id}`);
  await page.getByRole('link', { name: 'Charts' }).click();
  await page.getByRole('status').getByText('Charts · By ear · fieldlake', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Metadata', exact: true }).click();
  await page.getByRole('status').getByText('Metadata · By ear · fieldlake', { exact: true }).waitFor();
  expect(complaints.slice(before)).toEqual([]);
});

test('a table is sorted by keyboard, and says so', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  await openTable(page);
  const active = async () => page.locator(`#${await grid(page).getAttribute('aria-activedescendant')}`).textContent();
  await grid(page).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await expect.poll(active).toBe('0');
  await page.keyboard.press('ArrowUp');
  await expect.poll(active).toMatch(/^n/);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowRight');
  await expect.poll(active).toMatch(/^ground/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await expect.poll(() => readOut(page)).toBe('- status: 90 rows, by n, smallest first');
  await page.keyboard.press('Enter');
  await expect.poll(() => readOut(page)).toBe('- status: 90 rows, by n, largest first');
  await expect.poll(() => grid(page).getByRole('columnheader', { name: /^n/ }).getAttribute('aria-sort')).toBe('descending');
  // the rows are where they were
  await page.keyboard.press('ArrowDown');
  await expect.poll(active).toBe('89');
  expect(complaints.slice(before)).toEqual([]);
});

test('steps through rows are not read out twice, and what a column holds is said shortly', async () => {
  const { page } = owner;
  await openTable(page);
  await page.getByText('Rows 1–').waitFor();
  await grid(page).focus();
  await page.keyboard.press('Control+End');
  await page.getByText('–90 of 90').waitFor();
  expect(await readOut(page)).toBe('- status: 90 rows');
  await page.keyboard.press('End');
  await grid(page).getByRole('columnheader', { name: 'annotations list', exact: true }).waitFor();
});

test('the active cell is seen in chosen colours too, and so is an entry of a menu', async () => {
  const { page } = owner;
  await page.emulateMedia({ forcedColors: 'active' });
  await openTable(page);
  const outlineOf = (selector: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}') ?? document.body).outlineStyle`);
  await grid(page).focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => outlineOf('.grid-cell.focused')).toBe('solid');
  await page.getByRole('button', { name: 'Theme' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menu').waitFor();
  await expect.poll(() => outlineOf('.menu-item[data-focused]')).toBe('solid');
  await page.keyboard.press('Escape');
  await page.emulateMedia({ forcedColors: 'none' });
});

test('a filter that is taken away, and a choice that ends, leave the focus beside them', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  await openTable(page, `?filters=${encodeURIComponent('[{"column":"ground","operator":"equals","value":"wet"}]')}`);
  await expect.poll(() => readOut(page)).toBe('- status: 45 rows');
  await page.getByRole('button', { name: 'Take away: ground is wet' }).press('Enter');
  await expect.poll(() => readOut(page)).toBe('- status: 90 rows');
  expect(await page.locator(':focus').textContent()).toBe('Filter');

  const isAtGrid = async () => (await page.locator('.grid:focus').count()) === 1;
  await grid(page).focus();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Choose none' }).press('Enter');
  await expect.poll(isAtGrid).toBe(true);
  await page.keyboard.press('Space');
  await page.getByLabel('What you say').fill('wilted');
  await page.getByLabel('What you say').press('Enter');
  await page.getByText('1 row is annotated.').waitFor();
  await expect.poll(isAtGrid).toBe(true);

  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove: wilted' }).press('Enter');
  await page.getByRole('alertdialog').getByText('What was said is removed.').waitFor();
  expect(complaints.slice(before)).toEqual([]);
});

test('an upload keeps the focus while it is sent, and says how it ended', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  await page
    .locator('input[type=file]:not([webkitdirectory])')
    .setInputFiles({ name: 'more.csv', mimeType: 'text/csv', buffer: Buffer.from('a\n1\n2\n') });
  const send = page.getByRole('button', { name: 'Upload the file' });
  const isAtSend = async () => (await page.locator(':focus').textContent()) === 'Upload the file';
  const letGo = await holdBack(page, /\/data\/uploads$/);
  await send.press('Enter');
  await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor();
  expect(await isAtSend()).toBe(true);
  await page.getByRole('button', { name: 'Cancel', exact: true }).press('Enter');
  await page.getByText('Cancelled: nothing was stored.').waitFor();
  expect(await isAtSend()).toBe(true);
  letGo();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.getByLabel('Name of the new table').fill('more_leaves');
  await send.press('Enter');
  await page.getByRole('status').getByText('Upload complete: 2 rows stored.').waitFor({ timeout: 60_000 });
  expect(complaints.slice(before)).toEqual([]);
});

test('who is found to share with is counted', async () => {
  const { page } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/sharing`);
  await page.getByLabel('Name or email address').fill('member@leaf-lab.example');
  await page.getByRole('button', { name: 'Share with Member Sample' }).waitFor();
  await page.getByRole('status').getByText('1 found').waitFor();
});
