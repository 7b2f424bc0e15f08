import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import type { Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';

let site: Console;
let visitor: Visitor;
let page: Page;
beforeAll(async () => {
  site = await startConsole();
  visitor = await site.visitAs('owner');
  ({ page } = visitor);
});
afterAll(() => site.stop());

/** Chooses one file, and waits until it is looked at. */
async function choose(name: string, text: string, sign?: Locator) {
  await page.goto(`${site.baseUrl}/experiments/${site.sample.experimentId}/uploads`);
  await page.locator('input[type=file]:not([webkitdirectory])').setInputFiles([{ name, mimeType: 'text/csv', buffer: Buffer.from(text) }]);
  const decided = page.getByRole('table', { name: `Decided for ${name}` });
  await (sign ?? decided).waitFor();
  return decided;
}
const send = async () => {
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByRole('link', { name: 'Open the table' }).waitFor();
};

test('a row of units is named before and after the upload, and can be said to be data', async () => {
  const decided = await choose('units.csv', 'plot,height\n,cm\n1,12.5\n2,13\n');
  await decided.getByRole('rowheader', { name: 'height in cm' }).waitFor();
  await page.getByText('All 2 records').waitFor();
  await page.getByRole('button', { name: 'Say what it is' }).click();
  await page.getByLabel('Row below the header').selectOption('is data');
  await page.getByText('All 3 records').waitFor();
  await decided.getByRole('rowheader', { name: 'height', exact: true }).waitFor();
  await page.getByLabel('Row below the header').selectOption('as the values say');
  await page.getByText('All 2 records').waitFor();
  await send();
  await page.getByText('The row below the header has units').waitFor();
  await page.getByRole('rowheader', { name: 'height in cm' }).waitFor();
  await page.getByText('2 of 2 records stored').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('the row that is taken as header is named, and can be said to be another', async () => {
  const decided = await choose('titled.csv', 'Trial 2026\n\nplot,height\n1,12.5\n2,13\n');
  await decided.getByRole('rowheader', { name: 'height' }).waitFor();
  await page.getByText('The header is row 3.').waitFor();
  await page.getByText('Above it stands “Trial 2026”').waitFor();
  await choose('operator.csv', 'Operator,Anna\nplot,height\n1,12.5\n2,13\n');
  await page.getByRole('rowheader', { name: 'Anna' }).waitFor();
  await page.getByText('How the values are read').click();
  await page.getByLabel('Row of the header').fill('2');
  await page.getByRole('rowheader', { name: 'height' }).waitFor();
  // where nobody can tell it, the way to say it is beside the refusal
  await page.getByRole('button', { name: 'Take operator.csv away' }).click();
  await choose('years.csv', 'Trial 2026\nplot,2025,2026\n1,2,3\n', page.getByRole('button', { name: 'Say where the header is' }));
  await page.getByRole('button', { name: 'Say where the header is' }).click();
  await page.keyboard.type('2');
  await page.getByRole('rowheader', { name: '2025' }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('a column is left out by its tick, and the report names it', async () => {
  const decided = await choose('left.csv', 'plot,note,height\n1,wet,12.5\n2,dry,13\n');
  await decided.getByRole('checkbox', { name: 'Take in note' }).uncheck();
  await page.getByText("Left out: 'note'.").waitFor();
  await decided.getByRole('checkbox', { name: 'Take in height' }).uncheck();
  await page.getByText("Left out: 'note', 'height'.").waitFor();
  await decided.getByRole('checkbox', { name: 'Take in height' }).check();
  await page.getByText("Left out: 'note'.").waitFor();
  expect(await decided.getByRole('rowheader').allTextContents()).toEqual(['plot', 'note', 'height']);
  expect(await decided.getByRole('checkbox', { name: 'Take in note' }).isChecked()).toBe(false);
  // whoever chooses by keys goes on from the tick
  await decided.getByRole('checkbox', { name: 'Take in height' }).and(page.locator(':focus')).waitFor();
  await send();
  await page.getByText("Left out: 'note'.").waitFor();
  expect(await page.getByRole('rowheader').allTextContents()).toEqual(['plot', 'height']);
  expect(visitor.complaints).toEqual([]);
});

test('what the service says of a file is said in the words of the form', async () => {
  const decided = await choose('days.csv', 'plot,day\n1,01/02/2026\n2,03/04/2026\n');
  await decided.getByText('Send the file with “Order of days” chosen to make days of them.').waitFor();
  expect(await page.locator('main').textContent()).not.toContain('dateOrder');
  await page.getByRole('button', { name: 'Say how its values are read' }).click();
  await page.getByLabel('Order of days').selectOption('day, month, year');
  await decided.getByText('2026-02-01').waitFor();
  expect(visitor.complaints).toEqual([]);
});
