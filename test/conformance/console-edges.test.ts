/** What is empty leads on, and what is longer than its place is seen whole. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

test('a chart that has no rows stays a page', { timeout: 180_000 }, async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const id = await makeExperiment(site.owner, 'Nothing measured');
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/raw_data`);
  await page.getByRole('link', { name: 'Chart this' }).click();
  await page.locator('.drawing').getByText('No data').waitFor();
  await page.getByLabel('Type', { exact: true }).waitFor();

  // one whose filter nothing fits is drawn again when that is taken away, with its regions
  const table = await uploadTable(site.owner, id, 'few', 'n,height\n1,2\n2,4\n3,6\n');
  const asked = new URLSearchParams({
    type: 'scatter',
    sources: JSON.stringify([
      { role: 'x', columnName: 'n' },
      { role: 'y', columnName: 'height' },
    ]),
    filters: JSON.stringify([{ column: 'n', operator: 'equals', value: 99 }]),
  });
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}/chart?${asked.toString()}`);
  await page.locator('.drawing').getByText('No data').waitFor();
  await page.getByRole('button', { name: /^Take away/ }).click();
  await page.locator('.drawing .brushed').waitFor();
  expect(await page.locator('.drawing').getByText('No data').count()).toBe(0);
  expect(complaints.slice(before)).toEqual([]);
});
