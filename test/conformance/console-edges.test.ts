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

test('an experiment with nothing in it leads to where each part of it begins', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const id = await makeExperiment(site.owner, 'Begun today');
  for (const [name, path] of [
    ['Add one in the settings.', `/experiments/${id}/settings`],
    ['Attach a workbook, or write the flow.', `/experiments/${id}/workbook`],
    ['Bind one of yours on its page.', '/devices'],
  ] as const) {
    await page.goto(`${site.baseUrl}/experiments/${id}`);
    await page.getByRole('link', { name, exact: true }).click();
    await page.waitForURL(`${site.baseUrl}${path}`);
  }
  expect(complaints.slice(before)).toEqual([]);
});

test('a chart that has no rows stays a page', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const id = await makeExperiment(site.owner, 'Nothing measured');
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/raw_data`);
  await page.getByRole('link', { name: 'Chart this' }).click();
  await page.locator('.drawing').getByText('No data').waitFor();
  await page.getByRole('img', { name: /: No data$/ }).waitFor();
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

test('a number that its column cuts is seen whole where the pointer or the focus is', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const id = await makeExperiment(site.owner, 'Large numbers');
  const table = await uploadTable(site.owner, id, 'large', 'plot,counted,other\na,900719925474099312,1\nb,900719925474099313,2\n');
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  const cell = (text: string) => page.getByRole('gridcell', { name: text, exact: true });
  const isCut = (text: string) => cell(text).evaluate((element) => element.scrollWidth > element.clientWidth);
  const [first, second] = ['900719925474099312', '900719925474099313'] as const;
  await cell(first).waitFor();
  expect([await isCut(first), await isCut(second)]).toEqual([true, true]);
  await cell(second).hover();
  expect([await isCut(first), await isCut(second)]).toEqual([true, false]);
  await page.mouse.move(5, 5);
  await page.locator('.grid').focus();
  await page.keyboard.press('ArrowRight');
  expect([await isCut(first), await isCut(second)]).toEqual([false, true]);
  expect(complaints.slice(before)).toEqual([]);
});

test('all devices of an experiment are found on its page', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const id = await makeExperiment(site.owner, 'Twelve devices');
  for (let at = 1; at <= 12; at += 1) {
    const made = await site.owner('POST', '/api/v1/devices', { body: { serialNumber: `twelve-${at}`, deviceType: 'generic' } });
    expect(made.status, made.text).toBe(201);
    const certified = await site.owner('POST', `/api/v1/devices/${made.body.id}/credentials`, { body: {} });
    expect(certified.status, certified.text).toBeLessThan(300);
    const bound = await site.owner('POST', `/api/v1/devices/${made.body.id}/onboard`, {
      body: { experimentIds: [id], includeWorkbook: false },
    });
    expect(bound.status, bound.text).toBeLessThan(300);
  }
  await page.goto(`${site.baseUrl}/experiments/${id}`);
  const devices = page.getByRole('region', { name: 'Devices' }).getByRole('link');
  await expect.poll(() => devices.filter({ visible: true }).count()).toBe(10);
  await page.getByText('and 2 more').click();
  await expect.poll(() => devices.filter({ visible: true }).count()).toBe(12);
  expect(complaints.slice(before)).toEqual([]);
});

test('a long name of a column is read whole where columns are chosen', async () => {
  const { page, complaints, context } = await site.copyOf(owner, 'phone');
  const id = await makeExperiment(site.owner, 'Long columns');
  const table = await uploadTable(site.owner, id, 'long', `plot,${'temperatureofleaf'.repeat(4)}\na,1\n`);
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('button', { name: /^Columns/ }).click();
  const choice = page.getByRole('checkbox', { name: /^temperatureofleaf/ });
  await choice.waitFor();
  expect(await page.locator('.checks').evaluate((list) => list.scrollWidth > list.clientWidth)).toBe(false);
  expect(complaints).toEqual([]);
  await context.close();
});
