import { readFileSync } from 'node:fs';
import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { removeAccess, startConsole, type Console } from '../support/console.ts';
import { SCRIPTS } from '../support/scripts-in-text.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

/** One more than fits on a sheet, so that its export fails. */
const LARGE = 1_048_576;

let site: Console;
let owner: Visitor;
let experimentId: string;
let table: string;
let large: string;

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const rowsFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => `${first + at},${quoted(SCRIPTS[(first + at) % SCRIPTS.length]!)}`).join('\n');
const tableAt = (search: Record<string, unknown>, of = table) =>
  `${site.baseUrl}/experiments/${experimentId}/tables/${of}?${new URLSearchParams(
    Object.entries(search).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString()}`;
const exportsPage = () => `${site.baseUrl}/experiments/${experimentId}/exports`;

async function openGrid(page: Page, address: string) {
  await page.goto(address);
  await page.getByRole('grid').getByRole('gridcell').first().waitFor();
}
async function download(page: Page, name: RegExp): Promise<Download> {
  // it may stand behind others of the same caller
  const button = page.getByRole('button', { name }).first();
  await button.waitFor({ timeout: 120_000 });
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return file;
}

beforeAll(async () => {
  site = await startConsole({ EXPORTS_PER_CALLER: '1' });
  owner = await site.visitAs('owner');
  const { body } = await site.owner('POST', '/api/v1/experiments', {
    body: {
      name: 'Wheat at two sites',
      description: SCRIPTS[3],
      organizationId: site.sample.organizationId,
      members: [{ userId: site.sample.users.viewer.id }],
    },
  });
  experimentId = String(body.id);
  table = await uploadTable(site.owner, experimentId, 'yields', `n,word\n${rowsFrom(1, 60)}\n`);
  large = await uploadTable(site.owner, experimentId, 'large', `n\n${'1\n'.repeat(LARGE)}`);
});
afterAll(() => site.stop());

test('makes a file of what the grid shows, and of no more', async () => {
  const { page, complaints } = owner;
  const filters = [{ column: 'n', operator: 'greater_than', value: 20 }];
  await openGrid(page, tableAt({ filters, columns: ['n', 'word'], orderBy: 'n', orderDirection: 'DESC' }));
  const asked = { tableName: table, filters: JSON.stringify(filters), columns: '["n","word"]', orderBy: 'n', orderDirection: 'DESC' };
  const read = await site.owner('GET', `/api/v1/experiments/${experimentId}/data`, { query: { ...asked, format: 'csv' } });
  // rows that come after the grid was read are in no file of it
  await appendTo(site.owner, experimentId, table, `n,word\n${rowsFrom(61, 70)}\n`);

  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Export what the grid shows' });
  for (const sentence of ['2 of 6 columns', 'n is more than 20', 'by n, largest first', /^version \d+ of the table$/])
    await dialog.getByText(sentence).waitFor();
  await looksRight(page, 'export-form-desk');
  await dialog.getByRole('button', { name: 'Make the file' }).click();
  await dialog.getByText('ready', { exact: true }).waitFor({ timeout: 30_000 });
  await dialog.getByText(/^40 rows, /).waitFor();
  await looksRight(page, 'export-ready-desk');
  const file = await download(page, /^Download CSV of yields/);
  expect(file.suggestedFilename()).toMatch(/\.csv$/);
  const text = readFileSync(await file.path(), 'utf8');
  expect(text).toBe(read.text);
  expect(text.trim().split('\n').length).toBeGreaterThan(40);

  // groups, as another kind of file, by keyboard alone
  const aggregation = { groupBy: [{ column: 'n' }], functions: [{ column: '*', function: 'count', alias: 'rows' }] };
  await openGrid(page, tableAt({ aggregation }));
  await page.getByRole('button', { name: 'Export', exact: true }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByText('the groups and what is computed of them').waitFor();
  await page.getByLabel('Kind of file').focus();
  await page.keyboard.type('NDJSON');
  // past the one choice between
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await dialog.getByText('ready', { exact: true }).waitFor({ timeout: 30_000 });
  await dialog.getByText(/^70 rows, /).waitFor();
  const lines = readFileSync(await (await download(page, /^Download NDJSON of yields/)).path(), 'utf8');
  expect(lines.trim().split('\n')).toHaveLength(70);

  // both are listed, and stay until they are deleted
  await dialog.getByRole('link', { name: 'All exports of this table' }).click();
  await page.getByRole('heading', { name: 'Exports' }).waitFor();
  expect(new URL(page.url()).searchParams.get('table')).toContain(table);
  await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'of yields' }).count()).toBe(2);
  await page.getByRole('button', { name: 'Delete CSV of yields' }).click();
  await page.getByRole('alertdialog').getByText('The file goes with it').waitFor();
  await looksRight(page, 'export-delete-desk');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  expect(await page.getByRole('listitem').filter({ hasText: 'CSV of yields' }).count()).toBe(1);
  await page.getByRole('button', { name: 'Delete CSV of yields' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The export is deleted.').waitFor();
  await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'of yields' }).count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('follows long ones, cancels, and says why one failed', async () => {
  const { page, complaints } = owner;
  const path = `/api/v1/experiments/${experimentId}/data/exports`;
  for (const format of ['xlsx', 'parquet', 'arrow', 'json', 'csv', 'ndjson'])
    expect((await site.owner('POST', path, { body: { tableName: large, format } })).status).toBe(201);
  await page.goto(exportsPage());
  const item = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  // one runs at once, so that the last one waits
  await item('NDJSON of large').getByText('It waits for your other exports.').waitFor();
  await page.getByRole('button', { name: 'Cancel NDJSON of large' }).click();
  await page.getByText('The export is cancelled.').waitFor();
  await item('NDJSON of large').getByText('cancelled', { exact: true }).waitFor();
  await item('Excel of large')
    .getByText(/1048575|1,048,575/)
    .waitFor({ timeout: 60_000 });
  await item('Parquet of large').getByText('ready', { exact: true }).waitFor({ timeout: 60_000 });
  await item('Parquet of large').getByText('1,048,576 rows').waitFor();
  expect(await page.getByRole('button', { name: 'Download Excel of large' }).count()).toBe(0);
  await looksRight(page, 'exports-desk');
  await page.getByLabel('Exports of').selectOption('yields');
  await page.waitForURL(/table=/);
  await item('NDJSON of yields').waitFor();
  expect(await item('Excel of large').count()).toBe(0);
  expect(complaints).toEqual([]);

  const phone = await site.copyOf(owner, 'phone');
  await openGrid(phone.page, tableAt({}));
  await phone.page.getByRole('button', { name: 'Export', exact: true }).click();
  await phone.page.getByLabel('Kind of file').selectOption('xlsx');
  await looksRight(phone.page, 'export-form-phone');
  await phone.page.getByRole('button', { name: 'Make the file' }).click();
  expect((await download(phone.page, /^Download Excel of yields/)).suggestedFilename()).toMatch(/\.xlsx$/);
  await phone.page.getByRole('link', { name: 'All exports of this table' }).click();
  await phone.page.getByRole('heading', { name: 'Exports' }).waitFor();
  await phone.page.getByRole('button', { name: 'Delete Excel of yields' }).waitFor();
  await looksRight(phone.page, 'exports-phone');
  expect(await phone.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(phone.complaints).toEqual([]);
  await phone.context.close();
});

test('says each refusal as a sentence, and shows no button that is refused', async () => {
  const viewer = await site.visitAs('viewer');
  const { page } = viewer;
  await openGrid(page, tableAt({}));
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByLabel('Kind of file').selectOption('ndjson');
  const make = page.getByRole('button', { name: 'Make the file' });
  const refused = async (sentence: RegExp) => {
    await make.click();
    await page.getByRole('alert').getByText(sentence).waitFor({ timeout: 30_000 });
    expect(await page.getByLabel('Kind of file').inputValue()).toBe('ndjson');
  };
  await viewer.context.setOffline(true);
  await refused(/cannot be reached/);
  await viewer.context.setOffline(false);
  // a proxy in front that asks for more patience than the client has
  await page.route('**/data/exports', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '90', 'content-type': 'application/problem+json' },
      body: JSON.stringify({ title: 'Too many requests', status: 429, detail: 'There were too many requests.', code: 'RATE_LIMITED' }),
    }),
  );
  await refused(/Try again in 90 seconds/);
  await page.unroute('**/data/exports');
  await make.click();
  await page.getByText('ready', { exact: true }).waitFor({ timeout: 30_000 });
  await page.getByRole('link', { name: 'All exports of this table' }).click();

  // others' files are there to be read, and not to be deleted
  await page.getByRole('listitem').filter({ hasText: 'Excel of yields' }).waitFor();
  expect(await page.getByRole('button', { name: 'Delete Excel of yields' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Delete NDJSON of yields' }).first().waitFor();

  // access that was taken away meanwhile; a page of an older version does not listen, which would take the button away first
  const tables = (await site.owner('GET', `/api/v1/experiments/${experimentId}/tables`)).body as { identifier: string; version: number }[];
  await openGrid(page, tableAt({ asOf: tables.find(({ identifier }) => identifier === table)!.version }));
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByLabel('Kind of file').selectOption('ndjson');
  await site.owner('PATCH', `/api/v1/experiments/${experimentId}/visibility`, { body: { visibility: 'public' } });
  await removeAccess(site.owner, experimentId, site.sample.users.viewer.id);
  await refused(/Ask somebody who manages it for access/);
  await page.goto(exportsPage());
  await page.getByRole('heading', { name: 'No export yet' }).waitFor();
  expect(await page.getByLabel('Exports of').locator('option').allTextContents()).not.toContain('yields');
  await page.goto(tableAt({}));
  await page.getByRole('alert').first().waitFor();
  expect(await page.getByRole('button', { name: 'Export', exact: true }).count()).toBe(0);
  await page.goto(exportsPage());
  await looksRight(page, 'exports-forbidden-desk');
  expect(viewer.complaints).toEqual([]);
  await viewer.context.close();
});
