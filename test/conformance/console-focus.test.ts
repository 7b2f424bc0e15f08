/** The focus stays where a person has it, whatever is drawn anew. */
import type { Page } from 'playwright-core';
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

/** Name or text of what has the focus; empty for the page itself. */
const focused = (page: Page) =>
  page.evaluate<string>(
    "document.activeElement === document.body ? '' : (document.activeElement.getAttribute('aria-label') ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent).trim()",
  );

test('a key that was made takes the focus once, and no more from what is pressed after it', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/account`);
  for (const name of ['first', 'second']) {
    await page.getByLabel('Name of a new key').fill(name);
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByRole('button', { name: `Revoke key ${name}` }).waitFor();
    // the list has its name before the key itself is shown, and that of the key before stands until then
    await expect.poll(async () => (await focused(page)) === (await page.locator('#new-key-value').textContent())).toBe(true);
  }
  await page.getByRole('button', { name: 'Revoke key first' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('The key is revoked.').waitFor();
  // a question keeps the focus for as long as it stands
  await page.getByRole('alertdialog', { name: 'Revoke key first?' }).waitFor({ state: 'detached' });
  expect(await focused(page)).not.toBe(await page.locator('#new-key-value').textContent());
  await page.getByRole('button', { name: 'End all other sessions' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('All other sessions are ended.').waitFor();
  expect(await focused(page)).toBe('End all other sessions');
  expect(complaints).toEqual([]);
});

test('what is removed leaves the focus at the heading of its part', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/account`);
  await page.getByLabel('Name of a new key').fill('brief');
  await page.getByRole('button', { name: 'Make a key' }).click();
  // takes the focus once it stands there, after its line in the list
  await page.locator('#new-key-value').waitFor();
  await page.getByRole('button', { name: 'Revoke key brief' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Revoke key brief' }).waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('API keys');

  await page.goto(`${site.baseUrl}/organizations/${site.sample.organizationId}`);
  await page.getByLabel('Email address').fill('brief@field.example');
  await page.keyboard.press('Enter');
  const taking = page.getByRole('button', { name: 'Take back the invitation of brief@field.example' });
  await taking.focus();
  await page.keyboard.press('Enter');
  await taking.waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('Invitations');

  await page.goto(`${site.baseUrl}/organizations/${site.sample.organizationId}/teams`);
  await page.getByLabel('Name of a new team').fill('Brief');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Delete Brief' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Delete Brief' }).waitFor({ state: 'detached' });
  const heading = await page.getByRole('heading', { level: 1 }).textContent();
  await expect.poll(() => focused(page)).toBe(heading);
  expect(complaints).toEqual([]);
});

test('what failed and is asked for again leaves the focus at the heading of its part', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  for (const [at, asked, heading] of [
    ['/devices', /\/api\/v1\/devices\?/, 'Devices'],
    [`/experiments/${site.sample.experimentId}`, /\/data\/uploads\?/, 'What came in'],
  ] as const) {
    await page.route(asked, (route) => route.fulfill({ status: 403, json: { status: 403, code: 'FORBIDDEN', detail: 'Not now.' } }));
    await page.goto(site.baseUrl + at);
    const again = page.getByRole('button', { name: 'Try again' });
    await again.focus();
    await page.unrouteAll();
    await page.keyboard.press('Enter');
    await again.waitFor({ state: 'detached' });
    await expect.poll(() => focused(page), { message: at }).toBe(heading);
  }
  expect(complaints.slice(before)).toEqual([]);
});

test('what is taken away before anything is sent leaves the focus near it', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const make = async (path: string, body: object) => String((await site.owner('POST', path, { body })).body.id);
  const workbook = await make('/api/v1/workbooks', { name: 'Taken', cells: [{ id: 'note', type: 'markdown', content: 'One.' }] });
  const experiment = await make('/api/v1/experiments', { name: 'Taken' });
  const dashboard = await make(`/api/v1/experiments/${experiment}/dashboards`, { name: 'Taken' });
  const { experimentId, uploadTableId } = site.sample;
  const filters = encodeURIComponent(JSON.stringify([{ column: 'plot', operator: 'less_than', value: 9 }]));
  const take = async (name: RegExp) => {
    const button = page.getByRole('button', { name }).first();
    await button.focus();
    await page.keyboard.press('Enter');
    await button.waitFor({ state: 'detached' });
  };
  page.on('dialog', (dialog) => void dialog.accept());

  await page.goto(`${site.baseUrl}/library/workbooks/${workbook}`);
  await take(/^Take cell 1 away$/);
  await expect.poll(() => focused(page)).toBe('Cells');
  await page.goto(`${site.baseUrl}/experiments/${experiment}/dashboards/${dashboard}?edit=true`);
  await page.getByRole('button', { name: 'Add text' }).click();
  await take(/^Take off Text/);
  await expect.poll(() => focused(page)).not.toBe('');
  await page.goto(`${site.baseUrl}/experiments/${experiment}/uploads`);
  await page
    .locator('input[type=file]:not([webkitdirectory])')
    .first()
    .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('a\n1\n') });
  await take(/^Take a.csv away$/);
  await expect.poll(() => focused(page)).not.toBe('');
  await page.goto(`${site.baseUrl}/experiments/${experimentId}/tables/${uploadTableId}/chart?filters=${filters}`);
  await take(/^Take away: plot/);
  await expect.poll(() => focused(page)).toMatch(/^Chart: /);
  expect(complaints.slice(before)).toEqual([]);
});

test('a signing secret takes the focus once', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/organizations/${site.sample.organizationId}/webhooks`);
  await page.getByLabel('Address to call').fill('https://field.example/hook');
  await page.getByLabel('an upload fails').check();
  await page.getByRole('button', { name: 'Make the webhook' }).click();
  await page.getByRole('link', { name: 'https://field.example/hook' }).click();
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replace the secret' }).click();
  await page.locator('#webhook-secret').waitFor();
  await page.getByRole('alertdialog', { name: 'Replace the signing secret?' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Switch off' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('The webhook is off').waitFor();
  await expect.poll(() => focused(page)).toBe('Switch on');
  expect(complaints).toEqual([]);
});

test.each([
  { at: '/', label: 'Search experiments', asks: 'search', shows: /^Nothing fits/ },
  { at: '/library/macros', label: 'Find a macro', asks: 'find', shows: /^Nothing fits/ },
  { at: '/devices', label: 'Name or serial number', asks: 'search', shows: 'Nothing fits' },
  { at: '/organizations', label: 'Name', asks: 'search', within: 'Others that are public', shows: 'No public organization fits.' },
])('a search from $at keeps the focus, and follows the address', async ({ at, label, asks, within, shows }) => {
  const { page, complaints } = owner;
  await page.goto(site.baseUrl + at);
  const field = (within === undefined ? page : page.getByRole('region', { name: within })).getByRole('searchbox', { name: label });
  const letGo = await holdBack(page, /\/api\/v1\/.*seldom/);
  await field.focus();
  await page.keyboard.type('seldom');
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get(asks)).toBe('seldom');
  // what is written on before the answer is there stays
  await page.keyboard.type('s');
  letGo();
  await page.getByText(shows).first().waitFor();
  expect(await focused(page)).toBe(label);
  expect(await field.inputValue()).toBe('seldoms');
  await page.goBack();
  await expect.poll(() => field.inputValue()).toBe('');
  expect(complaints).toEqual([]);
});

test('what is written while a page is awaited keeps the focus when it comes', async () => {
  const { page, context, complaints } = await site.copyOf(owner, 'desk');
  await page.goto(`${site.baseUrl}/account`);
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  const experiments = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Experiments' });
  const arrived = page.getByRole('heading', { name: 'Experiments', level: 1 });
  let letGo = await holdBack(page, /\/api\/v1\/experiments\?/);
  await experiments.click();
  const search = page.getByRole('searchbox', { name: 'Search experiments' });
  await search.focus();
  await page.keyboard.type('bar');
  letGo();
  await arrived.waitFor();
  await page.waitForLoadState('networkidle');
  await page.keyboard.type('ley');
  expect(await search.inputValue()).toBe('barley');
  expect(await focused(page)).toBe('Search experiments');
  // where nothing is written, the page that comes has it
  await page.goto(`${site.baseUrl}/account`);
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.unrouteAll();
  letGo = await holdBack(page, /\/api\/v1\/experiments\?/);
  await experiments.click();
  letGo();
  await arrived.waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
  expect(complaints).toEqual([]);
  await context.close();
});

async function makeTable(name: string) {
  const id = String((await site.owner('POST', '/api/v1/experiments', { body: { name } })).body.id);
  const table = await uploadTable(site.owner, id, 'slope', 'n,height,kind\n1,2,a\n2,4,b\n3,6,b\n');
  return { id, table };
}

test('the fields of a chart keep the focus when their text is taken', async () => {
  const { id, table } = await makeTable('Fields of a chart');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}/chart`);
  await page.locator('.drawing svg').waitFor();
  await page.getByLabel('Title', { exact: true }).focus();
  await page.keyboard.type('Slope');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toContain('Slope');
  await page.locator('.chart-panel[aria-busy=false]').waitFor();
  expect(await focused(page)).toBe('Title');
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Title across');
  // by Enter in the last field of a region, and by its button
  await page.getByLabel('n from').focus();
  for (const [at, value] of ['0', '2.5', '0', '10'].entries()) {
    if (at > 0) await page.keyboard.press('Tab');
    await page.keyboard.type(value);
  }
  await page.keyboard.press('Enter');
  await page.getByText('2 rows are in it.').waitFor();
  expect(await focused(page)).toBe('height to');
  await page.getByRole('button', { name: 'Choose the region' }).focus();
  await page.getByLabel('n to').fill('1.5');
  await page.getByRole('button', { name: 'Choose the region' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('1 row is in it.').waitFor();
  expect(await focused(page)).toBe('Choose the region');
  expect(complaints).toEqual([]);
});

test('the filters of a dashboard keep the focus when something is chosen or written', async () => {
  const { id, table } = await makeTable('Filters');
  const layout = { col: 0, row: 0, colSpan: 12, rowSpan: 4 };
  const widget = (type: string, config: object) => ({ id: crypto.randomUUID(), type, layout, config: { tableName: table, ...config } });
  const made = await site.owner('POST', `/api/v1/experiments/${id}/dashboards`, {
    body: {
      name: 'Filtered',
      widgets: [
        widget('filter', { column: 'kind', operator: 'equals' }),
        widget('filter', { column: 'n', operator: 'between' }),
        widget('table', { columns: ['n', 'kind'] }),
      ],
    },
  });
  expect(made.status, made.text).toBe(201);
  const { page, complaints } = owner;
  const letGo = await holdBack(page, /\/distinct\?/);
  await page.goto(`${site.baseUrl}/experiments/${id}/dashboards/${made.body.id}`);
  await page.getByText('3 of 3 rows').waitFor();
  // nobody writes into a field that becomes a list
  const kind = page.getByLabel('Only where kind is');
  expect(await kind.count()).toBe(0);
  letGo();
  await kind.locator('option', { hasText: 'b' }).waitFor({ state: 'attached' });
  await kind.focus();
  await page.keyboard.type('b');
  await page.getByText('2 of 2 rows').waitFor();
  expect(await focused(page)).toBe('Only where kind is');
  await page.getByLabel('Only where n is between: from').focus();
  await page.keyboard.type('3');
  await page.keyboard.press('Tab');
  await page.keyboard.type('9');
  await page.keyboard.press('Enter');
  await page.getByText('1 of 1 rows').waitFor();
  expect(await focused(page)).toBe('Only where n is between: to');
  expect(complaints).toEqual([]);
});

test('a day can be typed into the audit log', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/organizations/${site.sample.organizationId}/audit`);
  await page.getByLabel('From the day').focus();
  await page.keyboard.type('05042026');
  await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe('2026-05-04');
  expect(await page.getByLabel('From the day').inputValue()).toBe('2026-05-04');
  expect(complaints).toEqual([]);
});
