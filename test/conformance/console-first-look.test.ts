/** What somebody who measures plants meets when they first look at the sample. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
let device: string;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
  const made = await site.owner('POST', '/api/v1/devices', { body: { serialNumber: '54:4b:09', deviceType: 'multispeq', name: 'Leaf 9' } });
  expect(made.status, made.text).toBe(201);
  device = String(made.body.id);
});
afterAll(() => site.stop());

test('a device whose measurements people sent is said to have connected and sent nothing itself', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/devices`);
  const row = page.getByRole('listitem').filter({ hasText: 'Leaf 9' });
  await row.getByText('never connected', { exact: true }).waitFor();
  await row.getByText('sent nothing itself yet').waitFor();
  await row.getByText('nothing in a week').waitFor();
  expect(await page.getByText(/never seen|\baway\b|no data yet/).count()).toBe(0);
  await page.goto(`${site.baseUrl}/devices/${device}`);
  await page.getByText('never connected', { exact: true }).waitFor();
  await page.getByText('It sent nothing itself in this time. What people sent of it is in the tables of their experiments.').waitFor();
  await looksRight(page, 'device-never-connected-desk');
  expect(complaints).toEqual([]);
});

test('the head says which part of the console one is in', async () => {
  const { page } = owner;
  const part = page.getByRole('navigation').first().locator('[aria-current]');
  for (const [path, name] of [
    ['/', 'Experiments'],
    [`/experiments/${site.sample.experimentId}`, 'Experiments'],
    ['/experiments/new', 'Experiments'],
    ['/devices/new', 'Devices'],
    ['/library/macros', 'Library'],
    ['/library/protocols', 'Library'],
  ] as const) {
    await page.goto(`${site.baseUrl}${path}`);
    await page.locator('main h1').first().waitFor();
    await expect.poll(() => part.allTextContents(), { message: path }).toEqual([name]);
  }
});

test('an address with half an id leads back, and speaks of no UUID', async () => {
  const { page } = owner;
  for (const path of ['/devices/01a2', `/experiments/${site.sample.experimentId}/dashboards/01a2`, '/library/macros/01a2']) {
    await page.goto(`${site.baseUrl}${path}`);
    const alert = page.getByRole('main').getByRole('alert');
    await alert.getByText('The address may be mistyped, or what it led to was deleted.').waitFor();
    expect(await alert.getByText('UUID').count()).toBe(0);
  }
  await page.getByRole('link', { name: 'Macros', exact: true }).click();
  await page.getByRole('heading', { name: 'Library' }).waitFor();
  await page.goto(`${site.baseUrl}/devices/01a2`);
  await page.getByRole('link', { name: 'To your experiments' }).click();
  await page.getByRole('heading', { name: 'Experiments' }).waitFor();
});

test('an address with the name of a table leads to the table', async () => {
  const id = await makeExperiment(site.owner, 'Named table');
  const table = await uploadTable(site.owner, id, 'leaves', 'plot,spad\n1,41\n2,43\n');
  const { page } = owner;
  const at = `${site.baseUrl}/experiments/${id}/tables`;
  await page.goto(`${at}/leaves?orderBy=spad`);
  await page.waitForURL(`${at}/${table}?orderBy=spad`);
  await page.getByRole('button', { name: /^Columns \d of \d$/ }).waitFor();
  await page.goto(`${at}/leaves/chart?type=histogram`);
  await page.waitForURL(`${at}/${table}/chart?type=histogram`);
  for (const [path, back] of [
    ['leafs', 'All tables'],
    ['leafs/chart', 'All tables'],
  ] as const) {
    await page.goto(`${at}/${path}`);
    await page.getByRole('heading', { name: 'There is no such table here' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: back }).click();
    await page.waitForURL(`**/experiments/${id}`);
  }
});

test('names of columns are read whole, uploads lead to their experiment, and nothing in quarantine is not counted', async () => {
  const id = await makeExperiment(site.owner, 'First look');
  const table = await uploadTable(site.owner, id, 'leaves', 'plot,leaf_temperature,measurement_time_utc\n1,23.5,2026-05-01T08:00:00Z\n');
  const { page } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('gridcell').first().waitFor();
  const cut =
    "[...document.querySelectorAll('.grid-name')].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)";
  for (const name of ['leaf_temperature', 'measurement_time_utc']) {
    await page.getByRole('columnheader', { name }).getByRole('button').click();
    await page.getByRole('columnheader', { name }).getByText('↑', { exact: true }).waitFor();
    expect(await page.evaluate(cut)).toEqual([]);
  }
  await page.goto(`${site.baseUrl}/experiments/${id}`);
  await page.getByText(/1 row stored, report of/).waitFor();
  await page.getByText('No device is bound to this experiment. People may send what instruments measured.').waitFor();
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  await page.getByText(/^CSV, 1 row stored, /).waitFor();
  expect(await page.getByText('quarantine').count()).toBe(0);
  await page.goto(site.baseUrl);
  await page.getByRole('region', { name: 'Lately' }).getByRole('link', { name: 'First look' }).click();
  await page.waitForURL(`**/experiments/${id}`);
});

test('code and the audit log can be used on a page that is twice as large', async () => {
  const { page, complaints, context } = await site.copyOf(owner, 'desk');
  await page.setViewportSize({ width: 640, height: 400 });
  const [macro] = (await site.owner('GET', '/api/v1/macros')).body as unknown as { id: string }[];
  await page.goto(`${site.baseUrl}/library/macros/${macro!.id}`);
  await page.getByRole('textbox', { name: 'Code' }).first().waitFor();
  await looksRight(page, 'macro-twice-as-large');
  await page.goto(`${site.baseUrl}/organizations/${site.sample.organizationId}/audit`);
  await page
    .getByRole('link', { name: /^only this / })
    .first()
    .waitFor();
  await looksRight(page, 'audit-twice-as-large');
  expect(complaints).toEqual([]);
  await context.close();
});

test('the account says in words which browsers are signed in and what happened', async () => {
  const other = await site.visitAs('member', 'phone');
  const { page, context } = await site.visitAs('member');
  await page.goto(`${site.baseUrl}/account`);
  await page.getByRole('heading', { name: 'Chrome on Linux' }).first().waitFor();
  await page.getByText('Signed in', { exact: true }).first().waitFor();
  expect(await page.getByText(/Mozilla|session\.created/).count()).toBe(0);
  await looksRight(page, 'account-in-words-desk');
  await other.context.close();
  await context.close();
});

test('the title of a page says what it shows, and of which experiment or organization', async () => {
  const { page } = owner;
  const sections = page.getByRole('main').getByRole('navigation').first();
  await page.goto(`${site.baseUrl}/experiments/${site.sample.experimentId}`);
  for (const section of ['Charts', 'Dashboards', 'Exports', 'Macros', 'Workbook and flow', 'Metadata', 'Sharing', 'Settings']) {
    await sections.getByRole('link', { name: section, exact: true }).click();
    await expect.poll(() => page.title()).toBe(`${section} · Maize under drought · fieldlake`);
  }
  await sections.getByRole('link', { name: 'Tables', exact: true }).click();
  await page.getByRole('link', { name: 'leaf_measurements', exact: true }).click();
  await expect.poll(() => page.title()).toBe('leaf_measurements · Maize under drought · fieldlake');
  await page.goto(`${site.baseUrl}/organizations/${site.sample.organizationId}`);
  for (const section of ['Teams', 'Webhooks', 'Audit log', 'Settings', 'Members']) {
    await sections.getByRole('link', { name: section, exact: true }).click();
    await expect.poll(() => page.title()).toBe(`${section} · Leaf Lab · fieldlake`);
  }
});

test('a row says of its times that they are those of UTC, and is printed in dark letters', async () => {
  const id = await makeExperiment(site.owner, 'Far away');
  const table = await uploadTable(site.owner, id, 'times', 'plot,seen,heard\nA,2026-05-01T10:00:00Z,2026-05-01T10:00:00\n');
  const { page, complaints } = owner;
  const before = complaints.length;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('columnheader', { name: 'seen moment UTC' }).waitFor();
  await page.getByRole('columnheader', { name: 'heard time', exact: true }).waitFor();
  await page.getByRole('gridcell', { name: 'A', exact: true }).dblclick();
  const value = (name: string) => page.locator('.values > div').filter({ hasText: name }).locator('dd');
  await expect.poll(() => value('seen').innerText()).toBe('2026-05-01 10:00:00 UTC');
  expect(await value('heard').innerText()).toBe('2026-05-01 10:00:00');
  await page.evaluate("document.documentElement.dataset.theme = 'dark'");
  const ink = () => page.evaluate('getComputedStyle(document.body).color');
  expect(await ink()).toBe('rgb(233, 238, 234)');
  await page.emulateMedia({ media: 'print' });
  expect(await ink()).toBe('rgb(24, 32, 27)');
  await page.emulateMedia({ media: 'screen' });
  expect(complaints.slice(before)).toEqual([]);
});

test('a heatmap whose cells are means has the places that it had of rows', async () => {
  const id = await makeExperiment(site.owner, 'Cells', site.sample.organizationId);
  const table = await uploadTable(site.owner, id, 'cells', 'column,row,height\n1,1,2\n1,2,4\n2,1,6\n2,2,8\n2,2,10\n');
  const sources = ['x column', 'y row', 'z height'].map((each) => {
    const [role, columnName] = each.split(' ');
    return { role, columnName };
  });
  const search = new URLSearchParams({ type: 'heatmap', sources: JSON.stringify(sources) });
  const { page, complaints } = owner;
  const before = complaints.length;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}/chart?${search.toString()}`);
  const cells = page.locator('.drawing .mark-rect.role-mark > path');
  await expect.poll(() => cells.count()).toBe(4);
  const answered = page.waitForResponse((response) => /\/chart\?.*avg/.test(decodeURIComponent(response.url())));
  await page.locator('#chart-summary').selectOption('avg');
  const { data } = (await (await answered).json()) as { data: { values: { x: number; y: number; z: number }[] } };
  expect(data.values).toEqual([
    { x: 1, y: 1, z: 2 },
    { x: 1, y: 2, z: 4 },
    { x: 2, y: 1, z: 6 },
    { x: 2, y: 2, z: 9 },
  ]);
  await expect.poll(() => cells.count()).toBe(4);
  expect(complaints.slice(before)).toEqual([]);
});
