/** What a technician in the field and an analyst at a desk meet on their ways through the console. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { dataFilesOf } from '../support/lake-files.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

test('means of groups over time are drawn as lines over time, whichever is grouped by first', async () => {
  const id = await makeExperiment(site.owner, 'By week');
  const rows = ['wet,2026-05-01T08:00:00Z,40', 'wet,2026-05-12T08:00:00Z,42', 'dry,2026-05-01T08:00:00Z,30', 'dry,2026-05-12T08:00:00Z,31'];
  const table = await uploadTable(site.owner, id, 'weeks', `water,at,spad\n${rows.join('\n')}\n`);
  const { page, complaints } = owner;
  const groups = [{ column: 'water' }, { column: 'at', timeBucket: 'week' }];
  for (const groupBy of [groups, groups.toReversed()]) {
    const aggregation = JSON.stringify({ groupBy, functions: [{ column: 'spad', function: 'avg' }] });
    await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}?${new URLSearchParams({ aggregation }).toString()}`);
    await page.getByText('Rows 1–4 of 4').waitFor();
    await page.getByRole('link', { name: 'Chart this' }).click();
    await page.locator('.chart-panel[aria-busy=false] .drawing svg').waitFor();
    expect(await page.getByLabel('Type', { exact: true }).inputValue()).toBe('line');
    expect(await page.getByLabel('Across (x)').inputValue()).toBe('at');
    expect(await page.getByLabel('Colour', { exact: true }).inputValue()).toBe('water');
  }
  expect(complaints).toEqual([]);
});

test('rows are grouped by a day whichever comes first, in a form that holds its button', async () => {
  const id = await makeExperiment(site.owner, 'By day');
  const table = await uploadTable(
    site.owner,
    id,
    'days',
    'genotype,at,spad\nB73,2026-05-01T08:00:00Z,40\nB73,2026-05-01T09:00:00Z,42\nMo17,2026-05-01T08:00:00Z,30\nMo17,2026-05-02T08:00:00Z,31\n',
  );
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByText('Rows 1–4 of 4').waitFor();
  for (const [first, second] of [
    ['at', 'genotype'],
    ['genotype', 'at'],
  ] as const) {
    await page.getByRole('button', { name: 'Aggregate', exact: true }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Group by').selectOption(first);
    await form.getByLabel('and by').selectOption(second);
    await form.getByLabel('Bucket of time').selectOption('day');
    await form.getByLabel('Column', { exact: true }).selectOption('spad');
    const apply = form.getByRole('button', { name: 'Apply' });
    const [button, box] = [await apply.boundingBox(), await page.locator('.popover').boundingBox()];
    expect(button!.y + button!.height).toBeLessThanOrEqual(box!.y + box!.height);
    await apply.click();
    await page.getByText('Rows 1–3 of 3').waitFor();
    await page.getByRole('columnheader', { name: /at_day/ }).waitFor();
    await looksRight(page, `aggregate-by-${first}-desk`);
    await page.getByRole('button', { name: 'Back to rows' }).click();
    await page.getByText('Rows 1–4 of 4').waitFor();
  }
  expect(complaints).toEqual([]);
});

test('more than one thing is computed of a group, and what the form has no field for stays', async () => {
  const id = await makeExperiment(site.owner, 'By zone');
  const rows = ['wet,2026-05-01T08:00:00Z,40,1', 'wet,2026-05-01T23:30:00Z,42,2', 'dry,2026-05-01T08:00:00Z,30,3'];
  const table = await uploadTable(site.owner, id, 'more', `water,at,spad,area\n${rows.join('\n')}\n`);
  const { page, complaints } = owner;
  const day = { column: 'at', timeBucket: 'day', timezone: 'Europe/Berlin' };
  const mean = { column: 'spad', function: 'avg' };
  const address = `${site.baseUrl}/experiments/${id}/tables/${table}`;
  await page.goto(`${address}?aggregation=${encodeURIComponent(JSON.stringify({ groupBy: [day], functions: [mean] }))}`);
  await page.getByText('Rows 1–2 of 2').waitFor();
  await page.getByRole('button', { name: 'Aggregate', exact: true }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Bucket of time in Europe/Berlin').selectOption('month');
  await form.getByLabel('and by').selectOption('water');
  await form.getByLabel('and compute').selectOption('count');
  await form.getByLabel('and compute').last().selectOption('max');
  await form.getByLabel('of column').selectOption('area');
  await looksRight(page, 'aggregate-more-desk');
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('columnheader', { name: /max/ }).waitFor();
  const asked = () => JSON.parse(new URL(page.url()).searchParams.get('aggregation') ?? '{}') as unknown;
  const functions = [mean, { column: '*', function: 'count', alias: 'count' }, { column: 'area', function: 'max' }];
  expect(asked()).toEqual({ groupBy: [{ ...day, timeBucket: 'month' }, { column: 'water' }], functions });
  await page.getByRole('button', { name: 'Aggregate', exact: true }).click();
  await form.getByLabel('Group by').selectOption('nothing');
  await form.getByLabel('and compute').first().selectOption('nothing');
  await form.getByRole('button', { name: 'Apply' }).click();
  await expect.poll(asked).toEqual({ groupBy: [{ column: 'water' }], functions: [mean, functions[2]] });
  expect(complaints).toEqual([]);
});

test('days of a zone stand at the date they have there', async () => {
  const id = await makeExperiment(site.owner, 'Zones');
  const table = await uploadTable(site.owner, id, 'zones', 'at,spad\n2026-05-01T08:00:00Z,40\n2026-05-01T23:30:00Z,42\n');
  const { page, complaints } = owner;
  const group = async (key: object) => {
    const aggregation = { groupBy: [{ column: 'at', ...key }], functions: [{ column: 'spad', function: 'avg' }] };
    await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}?aggregation=${encodeURIComponent(JSON.stringify(aggregation))}`);
    await page.getByRole('gridcell').first().waitFor();
    return page.locator('.grid-cell time').allTextContents();
  };
  expect((await group({ timeBucket: 'day' })).toSorted()).toEqual(['2026-05-01']);
  expect((await group({ timeBucket: 'day', timezone: 'Europe/Berlin' })).toSorted()).toEqual(['2026-05-01', '2026-05-02']);
  expect((await group({ timeBucket: 'month', timezone: 'Europe/Berlin' })).toSorted()).toEqual(['2026-05-01']);
  // an hour is an instant as a moment is
  expect((await group({ timeBucket: 'hour', timezone: 'Europe/Berlin' })).toSorted()).toEqual([
    '2026-05-01 08:00:00',
    '2026-05-01 23:00:00',
  ]);
  expect(complaints).toEqual([]);
});

test('an upload that failed, and one whose table is gone, are said in whole sentences', async () => {
  const id = await makeExperiment(site.owner, 'Sentences');
  const table = await uploadTable(site.owner, id, 'gone', 'n\n1\n');
  const form = new FormData();
  for (const [name, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: 'nothing' })) form.append(name, value);
  form.append('files', new Blob(['']), 'nothing.csv');
  expect((await site.owner('POST', `/api/v1/experiments/${id}/data/uploads`, { body: form })).status).toBe(201);
  expect((await site.owner('DELETE', `/api/v1/experiments/${id}/data/tables/${table}`)).status).toBe(200);
  const uploads = `/api/v1/experiments/${id}/data/uploads`;
  await expect.poll(async () => (await site.owner('GET', uploads)).text, { timeout: 20_000 }).toContain('no header line');
  const { page, complaints } = owner;
  await page.goto(site.baseUrl);
  const lately = page.getByRole('region', { name: 'Lately' });
  await lately.getByText('An upload failed', { exact: true }).waitFor();
  await lately.getByText('1 row into a table that was deleted', { exact: true }).waitFor();
  await page.goto(`${site.baseUrl}/experiments/${id}`);
  const came = page.getByRole('region', { name: 'What came in' });
  await came.getByText('no header line').waitFor();
  expect(await came.innerText()).toMatch(/it has no header line\. report of/);
  expect(await came.innerText()).toMatch(/1 row stored, report of/);
  expect(complaints).toEqual([]);
});

test('cells that are marked are copied as a spreadsheet takes them', async () => {
  const id = await makeExperiment(site.owner, 'Copied');
  const table = await uploadTable(site.owner, id, 'copied', 'plot,height,note\nA1,41.2,tall\nA2,,\nA3,39.8,short\n');
  const { page, context, complaints } = owner;
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  const cell = (text: string) =>
    page
      .getByRole('gridcell')
      .getByText(text, { exact: true })
      .or(page.getByRole('gridcell', { name: text, exact: true }))
      .first();
  await cell('A1').waitFor();
  const [from, to] = [await cell('A1').boundingBox(), await cell('short').boundingBox()];
  await page.mouse.move(from!.x + 13, from!.y + from!.height / 2);
  await page.mouse.down();
  await page.mouse.move(to!.x + to!.width - 2, to!.y + to!.height / 2, { steps: 8 });
  await page.mouse.up();
  await page.keyboard.press('ControlOrMeta+c');
  const lines = String(await page.evaluate('navigator.clipboard.readText()')).split('\n');
  // the rows between are marked to their ends
  expect(lines.map((line) => line.split('\t').slice(0, 3))).toEqual([
    ['A1', '41.2', 'tall'],
    ['A2', '', ''],
    ['A3', '39.8', 'short'],
  ]);
  expect(complaints).toEqual([]);
});

test('a table with places is first drawn at them, and its measurements over time', async () => {
  const id = await makeExperiment(site.owner, 'Places');
  const rows = ['S1,51.97,5.66,41.2,2026-05-01', 'S2,51.98,5.67,39.8,2026-05-02', 'S3,51.99,5.68,37.1,2026-05-03'];
  const { page, complaints } = owner;
  const draw = async (name: string, lines: readonly string[]) => {
    const table = await uploadTable(site.owner, id, name, `${lines.join('\n')}\n`);
    await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}/chart`);
    await page.locator('.drawing svg').waitFor();
    return page.getByRole('img', { name: /^Chart: / }).getAttribute('aria-label');
  };
  expect(await draw('timed', ['site,Latitude,Longitude,spad,day', ...rows])).toBe('Chart: spad by day');
  const still = rows.map((row) => row.split(',').slice(0, 4).join());
  expect(await draw('still', ['site,lat,lon,spad', ...still])).toBe('Chart: lat by lon, spad');
  expect(complaints).toEqual([]);
});

test('a file that failed for a reason that is not its own is read again by a button', async () => {
  const id = await makeExperiment(site.owner, 'Kept');
  const table = await uploadTable(site.owner, id, 'leaves', 'n\n1\n');
  // decimals have the files of the table written anew, which these cannot be
  const files = dataFilesOf(site.lakeFolder, table).map((path) => ({ path, bytes: readFileSync(path) }));
  expect(files).toHaveLength(1);
  for (const { path, bytes } of files) writeFileSync(path, Buffer.from(bytes).fill(0xff, 4));
  const form = new FormData();
  for (const [name, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: table })) form.append(name, value);
  form.append('files', new Blob(['n\n1.5\n']), 'decimals.csv');
  const { body: sent } = await site.owner('POST', `/api/v1/experiments/${id}/data/uploads`, { body: form });
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads/${sent.uploadId}`);
  const again = page.getByRole('button', { name: 'Read the files again' });
  await again.waitFor({ timeout: 90_000 });
  await page.getByText('decimals.csv').first().waitFor();
  for (const { path, bytes } of files) writeFileSync(path, bytes);
  await again.click();
  await page.getByText('1 of 1 records stored').waitFor({ timeout: 60_000 });
  expect(await again.count()).toBe(0);
  expect(complaints).toEqual([]);
});
test('a table of no row leads to an upload, and the report of what stored none to its table', async () => {
  const id = await makeExperiment(site.owner, 'No row');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  const choose = (name: string, text: string) =>
    page
      .locator('input[type=file]:not([webkitdirectory])')
      .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
  await choose('cut.json', '{"n": [1,');
  await page.getByText('cannot be read', { exact: true }).waitFor();
  // nothing of it would be stored, and a table would be left behind
  await page.getByText('so there is nothing to send').waitFor();
  const send = page.getByRole('button', { name: 'Upload the file' });
  expect(await send.isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Take cut.json away' }).click();
  await choose('whole.json', '[{"n": 1}]');
  await page.getByText('can be read', { exact: true }).waitFor();
  expect(await send.isDisabled()).toBe(false);
  const form = new FormData();
  for (const [name, value] of Object.entries({ sourceKind: 'json', targetKind: 'new', targetName: 'cut' })) form.append(name, value);
  form.append('files', new Blob(['{"n": [1,']), 'cut.json');
  const { body: sent } = await site.owner('POST', `/api/v1/experiments/${id}/data/uploads`, { body: form });
  await page.goto(`${site.baseUrl}/experiments/${id}`);
  const listed = page.getByRole('region', { name: 'Tables' }).getByRole('listitem').filter({ hasText: 'cut' });
  await listed.getByText('Nothing is stored in it yet.').waitFor();
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads/${sent.uploadId}`);
  await page.getByRole('heading', { name: 'Upload into cut' }).waitFor();
  await page.getByRole('link', { name: 'Open the table' }).click();
  await page.getByRole('heading', { name: 'This table is empty' }).waitFor();
  await page.getByText('0 rows', { exact: true }).waitFor();
  expect(await page.getByText('No row fits').count()).toBe(0);
  expect(await page.getByText('a device sends').count()).toBe(0);
  await looksRight(page, 'empty-table-desk');
  // who needs it no more takes it away, who mended the file goes on
  await page.getByRole('button', { name: 'Delete the table' }).waitFor();
  await page.getByRole('link', { name: 'Upload files' }).click();
  await choose('cut.json', '[{"n": 1}]');
  await page.getByLabel('Where the rows go').selectOption('Into cut');
  await page.getByText('can be read', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByRole('link', { name: 'Open the table' }).click();
  await page.getByText('Rows 1–1 of 1').waitFor();
  expect(complaints).toEqual([]);
});

test('a filter begins with what was measured, in a form that covers no field of it', async () => {
  const id = await makeExperiment(site.owner, 'Filtered');
  const table = await uploadTable(site.owner, id, 'plots', 'plot,spad\n1,41\n2,43\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByText('Rows 1–2 of 2').waitFor();
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  const form = page.getByRole('dialog');
  expect(await form.getByLabel('Column', { exact: true }).inputValue()).toBe('plot');
  const field = await form.getByLabel('Value', { exact: true }).boundingBox();
  const button = await form.getByRole('button', { name: 'Apply' }).boundingBox();
  expect(field!.y + field!.height).toBeLessThan(button!.y);
  await page.keyboard.press('Escape');
  // a column that is left out moves no other
  await page.getByRole('button', { name: /^Columns/ }).click();
  await form.getByRole('checkbox', { name: /^spad/ }).uncheck();
  await form.getByRole('button', { name: 'Apply' }).click();
  const names = async () => (await page.getByRole('columnheader').allInnerTexts()).map((text) => text.split('\n')[0]).filter(Boolean);
  await expect.poll(names).not.toContain('spad');
  expect((await names()).slice(0, 2)).toEqual(['Choose', 'plot']);
  expect(complaints).toEqual([]);
});
