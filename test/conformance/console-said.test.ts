/** What the console says is so. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

const rowsOf = async (page: Page) => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;

test('what is true or false is chosen, on a table and on a dashboard', async () => {
  const id = await makeExperiment(site.owner, 'Truths');
  const table = await uploadTable(site.owner, id, 'leaves', 'n,alive\n1,true\n2,true\n3,false\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByLabel('Column', { exact: true }).selectOption('alive');
  await page.getByLabel('Value').selectOption('true');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('alive is true').waitFor();
  await expect.poll(() => rowsOf(page)).toBe(2);

  const config = { tableName: table, column: 'alive', operator: 'equals' };
  const layout = { col: 0, row: 0, colSpan: 12, rowSpan: 4 };
  const made = await site.owner('POST', `/api/v1/experiments/${id}/dashboards`, {
    body: {
      name: 'Truths',
      widgets: [
        { id: crypto.randomUUID(), type: 'filter', layout, config },
        { id: crypto.randomUUID(), type: 'table', layout, config: { tableName: table } },
      ],
    },
  });
  await page.goto(`${site.baseUrl}/experiments/${id}/dashboards/${made.body.id}`);
  await page.getByText('3 of 3 rows').waitFor();
  await page.getByLabel('Only where alive is').selectOption('false');
  await page.getByText('1 of 1 rows').waitFor();
  expect(complaints).toEqual([]);
  // what somebody wrote into an address is asked as it stands there
  const [widget] = (await site.owner('GET', `/api/v1/experiments/${id}/dashboards/${made.body.id}`)).body.widgets as { id: string }[];
  const filters = encodeURIComponent(JSON.stringify({ [widget!.id]: ['True'] }));
  await page.goto(`${site.baseUrl}/experiments/${id}/dashboards/${made.body.id}?filters=${filters}`);
  await page
    .getByRole('alert')
    .getByText(/'alive': the value must be true or false/)
    .first()
    .waitFor();
  // the browser tells of the refusal too
  complaints.splice(0);
});

test('a dashboard says what is no number before it asks', async () => {
  const id = await makeExperiment(site.owner, 'Numbers');
  const table = await uploadTable(site.owner, id, 'leaves', 'n,height\n1,10.5\n2,20.5\n3,30.5\n');
  const layout = { col: 0, row: 0, colSpan: 12, rowSpan: 4 };
  const filter = (operator: string) => ({
    id: crypto.randomUUID(),
    type: 'filter',
    layout,
    config: { tableName: table, column: 'height', operator },
  });
  const rows = { id: crypto.randomUUID(), type: 'table', layout, config: { tableName: table } };
  const body = { name: 'Numbers', widgets: [filter('greater_than'), filter('in'), rows] };
  const made = await site.owner('POST', `/api/v1/experiments/${id}/dashboards`, { body });
  const { page, complaints } = owner;
  const refused: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() >= 400) refused.push(answer.url());
  });
  await page.goto(`${site.baseUrl}/experiments/${id}/dashboards/${made.body.id}`);
  await page.getByText('3 of 3 rows').waitFor();
  const more = page.getByLabel('Only where height is more than');
  const one = page.getByLabel('Only where height is one of');
  const write = async (field: typeof more, text: string) => {
    await field.fill(text);
    await field.press('Enter');
  };
  await write(more, '15,5');
  await page.getByText('“15,5” is not a number. Write it with a point').waitFor();
  await write(more, '15.5');
  await page.getByText('2 of 2 rows').waitFor();
  await write(one, '20.5, much');
  await page.getByText('“much” is not a number').waitFor();
  await write(one, '20.5, 10.5');
  await page.getByText('1 of 1 rows').waitFor();
  expect(await page.getByText('is not a number').count()).toBe(0);
  expect(refused).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a file of no kind is told what can be uploaded', async () => {
  const id = await makeExperiment(site.owner, 'Pictures');
  const { page } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  const choose = (name: string) =>
    page.locator('input[type=file]:not([webkitdirectory])').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from('n\n1\n') });
  const told = page.getByText('What can be uploaded: CSV, TSV, Excel,');
  await choose('leaves.csv');
  await page.getByLabel('Kind of file').selectOption('tsv');
  await page.getByText('leaves.csv is not of this kind by name.').waitFor();
  expect(await told.count()).toBe(0);
  await choose('leaf.jpg');
  await told.waitFor();
});

test('a row says nothing of what is said of it before it is there', async () => {
  const id = await makeExperiment(site.owner, 'One row');
  const table = await uploadTable(site.owner, id, 'leaves', 'n\n1\n');
  const { page, complaints } = owner;
  const none = page.getByText('Nobody has said anything about this row.');
  let isFailing = true;
  await page.route('**/data?*limit=1*', (route) => (isFailing ? route.abort('internetdisconnected') : route.continue()));
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('gridcell', { name: '1', exact: true }).dblclick();
  const row = page.getByRole('dialog', { name: 'Row' });
  await row.getByText('One moment…').first().waitFor();
  expect(await none.count()).toBe(0);
  await row
    .getByRole('alert')
    .getByText(/cannot be reached/)
    .first()
    .waitFor();
  expect(await none.count()).toBe(0);
  isFailing = false;
  await row.getByRole('button', { name: 'Try again' }).click();
  await none.waitFor();
  await page.unrouteAll();
  // and of one that is not there, nothing else
  const gone = new URL(page.url());
  gone.searchParams.set('row', JSON.stringify('00000000-0000-7000-8000-000000000000'));
  await page.goto(gone.href);
  await row.getByText('This row is not in the table any more, or never was.').waitFor();
  expect(await none.count()).toBe(0);
  expect(await row.getByRole('alert').count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('the ends of a region are moments of the axis, wherever the browser is', async () => {
  const id = await makeExperiment(site.owner, 'Moments');
  const lines = Array.from({ length: 9 }, (_, at) => `${at + 1},2026-05-01T0${at + 1}:00:00Z`);
  const table = await uploadTable(site.owner, id, 'leaves', `n,taken\n${lines.join('\n')}\n`);
  const { page, context, complaints } = owner;
  const devtools = await context.newCDPSession(page);
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'America/New_York' });
  const search = new URLSearchParams({
    type: 'line',
    sources: JSON.stringify([
      { role: 'x', columnName: 'taken' },
      { role: 'y', columnName: 'n' },
    ]),
    region: JSON.stringify({ x: [Date.UTC(2026, 4, 1, 3), Date.UTC(2026, 4, 1, 5)], y: [0, 100] }),
  });
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}/chart?${search.toString()}`);
  await page.getByText('3 rows are in it.').waitFor();
  const from = page.getByLabel('taken (UTC) from');
  const to = page.getByLabel('taken (UTC) to');
  await from.waitFor();
  expect(await from.inputValue()).toMatch(/^2026-05-01T03:00/);
  await to.fill('2026-05-01T06:00');
  await page.getByRole('button', { name: 'Choose the region' }).click();
  await page.getByText('4 rows are in it.').waitFor();
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId: '' });
  expect(complaints).toEqual([]);
});

test('a page behind the last leads back, and says of no list that it is empty', async () => {
  const { page, complaints } = owner;
  const { experimentId, organizationId } = site.sample;
  const lab = `/organizations/${organizationId}`;
  const lists = ['/', '/library/macros', '/devices', '/devices/groups', `/experiments/${experimentId}/uploads`];
  for (const at of [...lists, `/experiments/${experimentId}/metadata`, `${lab}/audit`]) {
    await page.goto(`${site.baseUrl}${at}?page=900`);
    await page.getByText('The list ends before this page.').waitFor();
    expect(await page.getByText(/(No .* yet$|^Nothing)/).allTextContents(), at).toEqual([]);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Previous' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('page')).toMatch(/^\d\d?$/);
    await page.getByText('The list ends before this page.').waitFor({ state: 'detached' });
  }
  expect(complaints).toEqual([]);
});

test('where nothing is archived nothing else is said to be missing', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/?archived=true&scope=mine`);
  await page.getByRole('heading', { name: 'No experiment is archived' }).waitFor();
  expect(await page.getByText(/made no experiment/).count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('what went wrong before is not said of what was saved after it', async () => {
  const id = await makeExperiment(site.owner, 'Saved after all');
  const table = await uploadTable(site.owner, id, 'leaves', 'n,m\n1,2\n2,3\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}/chart`);
  await page.getByRole('button', { name: 'Save chart' }).click();
  const another = page.getByRole('button', { name: 'Save as another chart' });
  await another.waitFor();
  await page.route('**/visualizations', (route) =>
    route.fulfill({
      status: 403,
      headers: { 'content-type': 'application/problem+json' },
      body: JSON.stringify({ title: 'Forbidden', status: 403, detail: 'You may not do this here.', code: 'FORBIDDEN' }),
    }),
  );
  await another.click();
  const refusal = page.getByRole('alert').getByText('You may not do this here.');
  await refusal.waitFor();
  await page.unrouteAll();
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'PATCH'),
    page.getByRole('button', { name: 'Save changes' }).click(),
  ]);
  expect(answer.status()).toBe(200);
  await refusal.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test.each(['desk', 'phone'] as const)('a second click where a chart was saved saves it again: %s', async (size) => {
  const id = await makeExperiment(site.owner, `Clicked twice on a ${size}`);
  const table = await uploadTable(site.owner, id, 'leaves', 'n,m\n1,2\n2,3\n');
  const { page, context, complaints } = await site.copyOf(owner, size);
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}/chart`);
  const save = page.getByRole('button', { name: 'Save chart' });
  await save.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await save.boundingBox())!;
  const press = () => page.mouse.click(x + width / 2, y + height / 2);
  await press();
  await page.getByRole('button', { name: 'Save as another chart' }).waitFor();
  const [answer] = await Promise.all([page.waitForResponse((response) => response.request().method() === 'PATCH'), press()]);
  expect(answer.status()).toBe(200);
  expect((await site.owner('GET', `/api/v1/experiments/${id}/visualizations`)).body).toHaveLength(1);
  await looksRight(page, `chart-saved-${size}`);
  expect(complaints).toEqual([]);
  await context.close();
});

test('what the browser does not let be copied is said', async () => {
  const { page, context, complaints } = await site.visitAs('member');
  await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.goto(`${site.baseUrl}/experiments/${site.sample.experimentId}`);
  await page.getByRole('link', { name: 'leaf_measurements' }).click();
  await page.getByText('The same question as').click();
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByText('The browser did not let it be copied.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('an experiment says what it holds in words, of one row too', async () => {
  const id = await makeExperiment(site.owner, 'In words');
  await uploadTable(site.owner, id, 'leaves', 'n\n1\n');
  const device = await site.owner('POST', '/api/v1/devices', { body: { serialNumber: 'in-words', deviceType: 'multispeq' } });
  await site.owner('POST', `/api/v1/devices/${device.body.id}/credentials`, { body: {} });
  await site.owner('POST', `/api/v1/devices/${device.body.id}/onboard`, { body: { experimentIds: [id], includeWorkbook: false } });
  const flow = { nodes: [{ id: 'start', type: 'instruction', name: 'Begin', content: { text: 'Begin.' }, isStart: true }], edges: [] };
  expect((await site.owner('POST', `/api/v1/experiments/${id}/flow`, { body: flow })).status).toBe(201);
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}`);
  await page.getByText('1 row', { exact: true }).waitFor();
  await page.getByText(/1 row stored, report of/).waitFor();
  await page.getByText('MultispeQ, certificate').waitFor();
  await page.getByRole('region', { name: 'Protocol' }).getByText('note', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

test('every device and every experiment of one’s own can be chosen', async () => {
  const devices = Array.from({ length: 30 }, (_, at) => ({ serialNumber: `many-${at}` }));
  const made = await site.owner('POST', '/api/v1/devices/bulk', { body: { devices, deviceType: 'generic' } });
  const [first] = made.body.devices as { device: { id: string } }[];
  await site.owner('POST', `/api/v1/devices/${first!.device.id}/credentials`, { body: {} });
  for (let at = 0; at < 30; at += 1) await makeExperiment(site.owner, `Many ${at}`);
  const group = await site.owner('POST', '/api/v1/device-groups', { body: { name: 'Many' } });
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/devices/groups/${group.body.id}`);
  const offered = (label: string) => page.getByLabel(label, { exact: true }).locator('option').allTextContents();
  await expect.poll(() => offered('Device to add')).toEqual(expect.arrayContaining(['Leaf Lab 1', 'many-0', 'many-29']));
  await page.goto(`${site.baseUrl}/devices/${first!.device.id}`);
  await expect.poll(() => offered('Experiment')).toEqual(expect.arrayContaining(['Maize under drought', 'Many 0', 'Many 29']));
  expect(complaints).toEqual([]);
});

test('of more than a hundred protocols, versions and members of a group each is there', async () => {
  const makeOne = async (method: 'POST' | 'PUT', path: string, body: object) => {
    const made = await site.owner(method, path, { body });
    expect(made.status, made.text).toBeLessThan(300);
    return String(made.body.id);
  };
  const macro = await makeOne('POST', '/api/v1/macros', { name: 'Of all', language: 'python', code: "output['n'] = 1\n" });
  for (let at = 2; at <= 102; at += 1) {
    await makeOne('PUT', `/api/v1/macros/${macro}`, { code: `output['n'] = ${at}\n` });
    await makeOne('POST', '/api/v1/protocols', { name: `Every ${at}`, family: 'generic', code: [{}] });
  }
  const group = await makeOne('POST', '/api/v1/device-groups', { name: 'Hundred and one' });
  for (const many of [100, 1]) {
    const devices = Array.from({ length: many }, (_, at) => ({ serialNumber: `member-${many}-${at}` }));
    await makeOne('POST', '/api/v1/devices/bulk', { devices, deviceType: 'generic', group: { groupId: group } });
  }
  const { page, complaints } = owner;
  const before = complaints.length;
  await page.goto(`${site.baseUrl}/library/macros/${macro}`);
  const offered = (label: string) => page.getByLabel(label, { exact: true }).locator('option').allTextContents();
  await page.getByText(/The list holds 100 of \d+/).waitFor();
  await page.getByLabel('Find: Protocol', { exact: true }).fill('Every 10');
  await expect.poll(() => offered('Protocol')).toEqual(['choose one', 'Every 10', 'Every 100', 'Every 101', 'Every 102']);
  await page.getByLabel('Protocol', { exact: true }).selectOption('Every 10');
  // what is chosen stays, whatever is looked for then
  await page.getByLabel('Find: Protocol', { exact: true }).fill('Every 50');
  await expect.poll(() => offered('Protocol')).toEqual(['choose one', 'Every 10', 'Every 50']);
  await page.getByLabel('Find: Protocol', { exact: true }).press('Enter');
  await page.getByRole('button', { name: 'Link it' }).click();
  await page.getByRole('link', { name: 'Every 10', exact: true }).waitFor();
  await expect.poll(async () => (await offered('Compare')).some((text) => text.startsWith('Version 1,'))).toBe(true);
  await page.goto(`${site.baseUrl}/devices/groups/${group}`);
  for (const name of ['member-1-0', 'member-100-0', 'member-100-99']) await page.getByRole('link', { name, exact: true }).waitFor();
  expect(complaints.slice(before)).toEqual([]);
});

test('a table of a macro that somebody may not know is listed with words, and not by an id', { timeout: 360_000 }, async () => {
  const { experimentId } = site.sample;
  const at = `${site.baseUrl}/experiments/${experimentId}`;
  // the sample goes on after the start
  const isRun = async () => /Photosynthesis/.test((await site.owner('GET', `/api/v1/experiments/${experimentId}/tables`)).text);
  await expect.poll(isRun, { timeout: 240_000 }).toBe(true);
  await owner.page.goto(at);
  await owner.page.getByRole('heading', { name: 'Processed Data (Photosynthesis)' }).waitFor();
  const viewer = await site.visitAs('viewer');
  await viewer.page.goto(at);
  await viewer.page
    .getByRole('link', { name: /^Processed Data \(of a macro that is deleted or not shared with you: …[\da-f]{4}\)$/ })
    .click();
  await viewer.page.getByRole('heading', { name: /^Processed Data \(of a macro/ }).waitFor();
  expect(viewer.complaints).toEqual([]);
  await viewer.context.close();
});

test('a name that is read from the right keeps what follows it in its place', async () => {
  const { page } = owner;
  const id = await makeExperiment(site.owner, 'قمح');
  await page.goto(`${site.baseUrl}/experiments/${id}/settings`);
  await page.getByRole('button', { name: 'Delete the experiment' }).click();
  await page.getByRole('alertdialog', { name: 'Delete \u2068قمح\u2069?' }).waitFor();
  await page.keyboard.press('Escape');
});
