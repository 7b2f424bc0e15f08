import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';
import { SCRIPTS } from '../support/scripts-in-text.ts';
import { uploadTable } from '../support/uploads.ts';

interface Stored {
  name: string;
  description: string | null;
  widgets: { id: string; type: string; layout: { col: number; row: number; colSpan: number; rowSpan: number }; config: object }[];
}

let site: Console;
let owner: Visitor;
let experimentId: string;
let table: string;
let address: string;

const api = (path = '') => `/api/v1/experiments/${experimentId}/dashboards${path}`;
const stored = async (): Promise<Stored> =>
  (await site.owner('GET', api(`/${new URL(address).pathname.split('/').at(-1)!}`))).body as Stored;
const kinds = async () => (await stored()).widgets.map(({ type }) => type);
const save = async (page: Page) => {
  // the sentence of the save before may still stand
  const answered = page.waitForResponse((answer) => answer.request().method() === 'PATCH' && answer.url().includes('/dashboards/'));
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await answered;
  await page.getByText('The dashboard is saved.').first().waitFor();
  // nothing is left to save
  await page.getByRole('button', { name: 'Save', exact: true, disabled: true }).waitFor();
};
const bars = (page: Page) => page.locator('.drawing .mark-rect.role-mark > path');

/** A chart of the leaves. */
async function makeChart(name: string, chartType: string, roles: Record<string, string>, aggregate: boolean): Promise<void> {
  const dataSources = Object.entries(roles).map(([role, columnName]) => ({
    tableName: table,
    columnName,
    role,
    ...(aggregate && role === 'y' ? { aggregate: 'avg' } : {}),
  }));
  const body = { name, chartFamily: 'basic', chartType, config: {}, dataConfig: { tableName: table, dataSources } };
  const made = await site.owner('POST', `/api/v1/experiments/${experimentId}/visualizations`, { body });
  expect(made.status, made.text).toBe(201);
}

beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
  const members = [{ userId: site.sample.users.viewer.id }];
  const body = { name: 'Drought in pots', organizationId: site.sample.organizationId, members };
  experimentId = String((await site.owner('POST', '/api/v1/experiments', { body })).body.id);
  const leaves = Array.from({ length: 480 }, (_, at) => {
    const isDry = at % 2 === 1;
    const spad = (isDry ? 38 : 44) + ((at * 7) % 40) / 10;
    return `${at + 1},${isDry ? 'drought' : 'control'},${['B73', 'Mo17', 'W22'][at % 3]!},${spad.toFixed(1)}`;
  });
  table = await uploadTable(site.owner, experimentId, 'leaf_measurements', `plot,treatment,genotype,spad\n${leaves.join('\n')}\n`);
  await makeChart('SPAD by genotype', 'bar', { x: 'genotype', y: 'spad', color: 'treatment' }, true);
  await makeChart('Every leaf', 'dot-plot', { x: 'genotype', y: 'spad' }, false);
});
afterAll(() => site.stop());

test('puts charts, text and rows on one page, by pointer and by keyboard', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${experimentId}`);
  await page.getByRole('link', { name: 'Dashboards' }).click();
  await page.getByRole('heading', { name: 'No dashboard yet' }).waitFor();
  await looksRight(page, 'dashboards-none-desk');
  await page.getByLabel('Name of a new dashboard').fill('Season at a glance');
  await page.getByRole('button', { name: 'Make a dashboard' }).click();
  await page.getByRole('heading', { name: 'Season at a glance' }).waitFor();
  address = page.url().replace(/\?.*/, '');

  await page.getByLabel('Add a chart').selectOption({ label: 'SPAD by genotype' });
  await page.getByLabel('Add a chart').selectOption({ label: 'Every leaf' });
  await page.getByLabel('Add rows of a table').selectOption({ label: 'leaf_measurements' });
  const columns = page.locator('#add-filter optgroup[label=leaf_measurements] option');
  const treatment = columns.filter({ hasText: /^treatment$/ });
  await page.getByLabel('Add a filter by').selectOption(await treatment.getAttribute('value'));
  await page.getByRole('button', { name: 'Add text' }).click();
  await expect.poll(() => page.locator('.drawing svg').count()).toBe(2);

  // text, by keyboard
  await page.getByRole('button', { name: 'Edit the text' }).click();
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('What drought does');
  await page.getByRole('button', { name: 'Heading' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Leaves lose colour.');
  await page.getByRole('button', { name: 'Bold' }).waitFor();
  await looksRight(page, 'dashboard-edit-desk');
  await page.getByRole('button', { name: 'Done' }).click();
  await save(page);
  expect(await kinds()).toEqual(['visualization', 'visualization', 'table', 'filter', 'richText']);
  const widgets = (await stored()).widgets;
  expect(widgets.at(-1)!.config).toEqual({ html: expect.stringMatching(/<h2>What drought does<\/h2><p>Leaves lose colour\.<\/p>/) });
  expect(widgets.map(({ layout }) => [layout.col, layout.row])).toEqual([
    [0, 0],
    [6, 0],
    [0, 4],
    [6, 4],
    [0, 8],
  ]);

  // the text goes to the top by keyboard alone
  await page.getByRole('button', { name: /^Move Text/ }).focus();
  await page.keyboard.press('Enter');
  const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
  await expect
    .poll(async () => {
      if (!/^Insert before/.test(String(await focused()))) await page.keyboard.press('ArrowUp');
      return focused();
    })
    .toBe('Insert before Chart: SPAD by genotype');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.part-name').first().textContent()).toMatch(/^Text: What drought/);
  // and the rows before the charts by pointer
  const first = page.locator('.part-item').nth(1);
  const places = { sourcePosition: { x: 20, y: 20 }, targetPosition: { x: 60, y: 4 } };
  await page.locator('.part-item').filter({ hasText: 'Rows: leaf_measurements' }).dragTo(first, places);
  await expect.poll(() => page.locator('.part-name').nth(1).textContent()).toBe('Rows: leaf_measurements');
  await page.getByLabel(/^Width of Filter/).selectOption('half');
  await save(page);
  expect(await kinds()).toEqual(['richText', 'table', 'visualization', 'visualization', 'filter']);
  expect((await stored()).widgets.map(({ layout }) => [layout.col, layout.row, layout.colSpan])).toEqual([
    [0, 0, 12],
    [0, 2, 6],
    [6, 2, 6],
    [0, 6, 6],
    [6, 6, 6],
  ]);
  await page.getByRole('button', { name: 'Stop editing' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  await looksRight(page, 'dashboard-desk');
  expect(complaints).toEqual([]);
});

test('narrows what it shows, says so in the address, and shows others the same', async () => {
  const { page } = owner;
  await expect.poll(() => bars(page).count()).toBeGreaterThan(3);
  const all = await bars(page).count();
  await page.getByLabel('Only where treatment is').selectOption('drought');
  await expect.poll(() => bars(page).count()).toBeLessThan(all);
  const { body } = await site.owner('GET', `/api/v1/experiments/${experimentId}/data`, {
    query: { tableName: table, filters: JSON.stringify([{ column: 'treatment', operator: 'equals', value: 'drought' }]), pageSize: 10 },
  });
  const total = Number(body[0].totalRows).toLocaleString('en');
  await page.getByText(`10 of ${total} rows`).waitFor();
  expect(page.url()).toContain('filters=');
  // back undoes the last choice alone
  await page.goBack();
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  await expect.poll(() => page.getByLabel('Only where treatment is').inputValue()).toBe('');
  await expect.poll(() => bars(page).count()).toBe(all);
  await page.goForward();
  await page.getByText(`10 of ${total} rows`).waitFor();
  await owner.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText(/The link is copied/).waitFor();
  const link = String(await page.evaluate('navigator.clipboard.readText()'));

  for (const size of ['desk', 'phone'] as const) {
    const viewer = await site.visitAs('viewer', size);
    await viewer.page.goto(link);
    await viewer.page.getByText(`10 of ${total} rows`).waitFor();
    await expect.poll(() => viewer.page.locator('.drawing svg').count()).toBe(2);
    await viewer.page.getByRole('heading', { name: 'What drought does' }).waitFor();
    for (const name of ['Edit', 'Delete Season at a glance'])
      expect(await viewer.page.getByRole('button', { name, exact: true }).count()).toBe(0);
    await looksRight(viewer.page, `dashboard-seen-${size}`);
    expect(await viewer.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    // an address that asks for the form gets the page
    await viewer.page.goto(`${address}?edit=true`);
    await viewer.page.getByRole('heading', { name: 'What drought does' }).waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    await viewer.page.goto(address.replace(/\/[^/]*$/, ''));
    await viewer.page.getByRole('link', { name: 'Season at a glance' }).waitFor();
    expect(await viewer.page.getByLabel('Name of a new dashboard').count()).toBe(0);
    expect(viewer.complaints).toEqual([]);
    await viewer.context.close();
  }
  await page.getByRole('link', { name: 'All rows' }).click();
  await page.getByText('treatment is drought').waitFor();
  expect(owner.complaints).toEqual([]);
});

test('keeps what was done when the service refuses it', async () => {
  const { page, complaints } = owner;
  const elsewhere = (body: object) => site.owner('PATCH', api(`/${new URL(address).pathname.split('/').at(-1)!}`), { body });
  const name = page.getByLabel('Name', { exact: true });
  const click = (button: string) => page.getByRole('button', { name: button, exact: true }).click();
  await page.goto(`${address}?edit=true`);
  await name.fill('Mine');
  expect((await elsewhere({ description: 'theirs' })).status).toBe(200);
  await click('Save');
  await page
    .getByRole('alert')
    .getByText(/Somebody changed this dashboard while you edited it/)
    .waitFor();
  expect(await name.inputValue()).toBe('Mine');
  expect((await stored()).name).toBe('Season at a glance');
  await looksRight(page, 'dashboard-conflict-desk');
  await click('Save mine over it');
  await page.getByText('The dashboard is saved.').waitFor();
  expect((await stored()).name).toBe('Mine');

  // or theirs is taken
  await page.reload();
  await name.fill('Mine again');
  expect((await elsewhere({ name: SCRIPTS[3], description: SCRIPTS[0] })).status).toBe(200);
  await click('Save');
  await click('Drop mine and show theirs');
  await expect.poll(() => name.inputValue()).toBe(SCRIPTS[3]);
  await page.getByRole('heading', { name: SCRIPTS[3]! }).waitFor();

  const refused = async (sentence: RegExp) => {
    await click('Save');
    await page.getByRole('alert').getByText(sentence).waitFor({ timeout: 30_000 });
    expect(await name.inputValue()).toBe('Kept');
  };
  await name.fill('Kept');
  await owner.context.setOffline(true);
  await refused(/cannot be reached/);
  await owner.context.setOffline(false);
  await site.owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'archived' } });
  await refused(/archived/);
  await site.owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'active' } });
  await page.route('**/dashboards/*', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '90', 'content-type': 'application/problem+json' },
      body: JSON.stringify({ title: 'Too many requests', status: 429, detail: 'There were too many requests.', code: 'RATE_LIMITED' }),
    }),
  );
  await refused(/Try again in 90 seconds/);
  await page.unroute('**/dashboards/*');

  // whoever leaves is asked, and may stay
  await page.getByRole('link', { name: 'All dashboards' }).click();
  await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor();
  await click('Cancel');
  expect(await name.inputValue()).toBe('Kept');
  await page.getByRole('link', { name: 'All dashboards' }).click();
  await click('Leave');
  await page.getByLabel('Name of a new dashboard').waitFor();
  expect((await stored()).name).toBe(SCRIPTS[3]);
  expect(complaints).toEqual([]);
});

test('runs nothing of what somebody else wrote, fetches nothing of it, and is deleted', async () => {
  const { page, complaints } = owner;
  const heard: number[] = [];
  await page.exposeFunction('fired', (number: number) => void heard.push(number));
  const layout = { col: 0, row: 0, colSpan: 12, rowSpan: 4 };
  const html = `<h1 style="color: red">Seen</h1><img src="https://elsewhere.example/x.png" alt="a field"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="dot"><a href="https://elsewhere.example/">there</a>`;
  const made = await site.owner('POST', api(), {
    body: {
      name: SCRIPTS[5],
      description: SCRIPTS[1],
      widgets: [
        { id: crypto.randomUUID(), type: 'richText', layout, config: { html } },
        { id: crypto.randomUUID(), type: 'richText', layout, config: { html: `Above${'<div>'.repeat(10_000)}` } },
        ...SCRIPTS.map((script) => ({ id: crypto.randomUUID(), type: 'richText', layout, config: { html: script } })),
        { id: crypto.randomUUID(), type: 'table', layout, config: { tableName: table, title: SCRIPTS[4], description: SCRIPTS[3] } },
        {
          id: crypto.randomUUID(),
          type: 'visualization',
          layout,
          config: { title: SCRIPTS[2], description: SCRIPTS[3], showDescription: true },
        },
      ],
    },
  });
  expect(made.status, made.text).toBe(201);
  await page.goto(`${site.baseUrl}/experiments/${experimentId}/dashboards/${String(made.body.id)}`);
  await page.getByRole('heading', { name: 'Seen' }).waitFor();
  expect(await page.getByRole('link', { name: 'Picture: a field' }).getAttribute('href')).toBe('https://elsewhere.example/x.png');
  expect(await page.getByRole('img', { name: 'dot' }).count()).toBe(1);
  await page.getByText('The chart was deleted, or none was chosen.').waitFor();
  await page.getByText('Above').waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  for (let at = 0; at < 4; at += 1) {
    await page.getByRole('button', { name: 'Edit the text' }).nth(at).click();
    await page.getByRole('textbox', { name: 'Text', exact: true }).waitFor();
  }
  expect(heard).toEqual([]);
  await page.getByRole('button', { name: /^Delete / }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The dashboard is deleted.').waitFor();
  expect((await site.owner('GET', api(`/${String(made.body.id)}`))).status).toBe(404);
  expect(complaints).toEqual([]);
});

test('what was being written in a dashboard goes with it, unasked', async () => {
  const made = await site.owner('POST', api(), { body: { name: 'Gone' } });
  const { page } = owner;
  await page.goto(`${site.baseUrl}/experiments/${experimentId}/dashboards/${String(made.body.id)}?edit=true`);
  await page.getByLabel('Name', { exact: true }).fill('Gone, with more');
  await page.getByRole('button', { name: 'Delete Gone' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The dashboard is deleted.').first().waitFor();
  await page.waitForURL(/\/dashboards$/);
});

test('an arrow key opens a list that acts on what is chosen, and chooses nothing', async () => {
  const { page } = owner;
  const made = await site.owner('POST', `/api/v1/experiments/${site.sample.experimentId}/dashboards`, { body: { name: 'By keyboard' } });
  expect(made.status, made.text).toBe(201);
  await page.goto(`${site.baseUrl}/experiments/${site.sample.experimentId}/dashboards/${String(made.body.id)}?edit=true`);
  const list = page.getByLabel('Add rows of a table');
  await list.waitFor();
  const [, , second] = await list.locator('option').allInnerTexts();
  await list.focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  const parts = page.getByRole('grid', { name: 'Parts, in the order in which they are read' });
  await parts.getByRole('row').first().waitFor();
  expect(second).toBeDefined();
  expect(await parts.getByRole('row').allInnerTexts()).toEqual([expect.stringContaining(second!)]);
});
