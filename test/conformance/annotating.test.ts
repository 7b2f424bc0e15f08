import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Quickstart } from '../../src/operator/sample/sample.service.ts';
import { launchChromium, looksRight, openVisitor, type Visitor } from '../support/chromium.ts';
import { lettersTo, nextCode } from '../support/outbox.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';
import { SCRIPTS } from '../support/scripts-in-text.ts';
import { callsTo, type Call } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

/** Refusals that the tests bring about, and the missing flow of an experiment. */
const EXPECTED = /status of (403|404|409|429)|ERR_INTERNET_DISCONNECTED/;
const ROWS = 40;

let dataDir: string;
let browser: Browser;
let server: ServerProcess;
let sample: Quickstart;
let owner: Call;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'fieldlake-annotating-'));
  browser = await launchChromium();
  server = await spawnServer({ DATA_DIR: dataDir, SAMPLE_DATA: 'on' });
  await vi.waitUntil(() => server.output().includes('Try these'), { timeout: 120_000 });
  sample = JSON.parse(readFileSync(join(dataDir, 'quickstart.json'), 'utf8')) as Quickstart;
  owner = callsTo(server.baseUrl)(sample.apiKey);
  visitor = await openVisitor(browser, 'desk', EXPECTED);
  page = visitor.page;
  await page.goto(/http:\S+\/sign-in\/link#[\w-]{43}/.exec(server.output())![0]);
  await page.getByRole('heading', { name: 'Maize under drought' }).waitFor();
});
afterAll(async () => {
  await browser.close();
  await server.kill('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
});

/** An experiment of the owner with a table of rows, its first `n` 1. */
async function experimentWithRows(more: object = {}) {
  const made = await owner('POST', '/api/v1/experiments', { body: { name: `Notes ${Math.random()}`, ...more } });
  const id = String(made.body.id);
  const csv = `n,word\n${Array.from({ length: ROWS }, (_, n) => `${n + 1},w${n + 1}`).join('\n')}\n`;
  const table = await uploadTable(owner, id, 'words', csv);
  const address = `${server.baseUrl}/experiments/${id}/tables/${table}?orderBy=n&orderDirection=ASC`;
  const rows = async (filters: object[] = []) => {
    const { body } = await owner('GET', `/api/v1/experiments/${id}/data`, {
      query: { tableName: table, orderBy: 'n', orderDirection: 'ASC', limit: 100, filters: JSON.stringify(filters) },
    });
    return body[0].data.rows as { id: string; n: number; annotations: { type: string; content: { text: string | null } }[] | null }[];
  };
  return { id, table, address, rows };
}
const flagged = (...flags: string[]) => [{ column: 'annotations', operator: 'has_flag', value: flags }];
const gridOf = (at: Page) => at.getByRole('grid', { name: 'Rows of words' });

async function openTable(at: Page, address: string) {
  await at.goto(address);
  await gridOf(at).getByRole('gridcell').first().waitFor();
  return gridOf(at);
}

/** Signs a person of the sample in, as they would themselves. */
async function visitAs(name: string): Promise<Visitor> {
  const opened = await openVisitor(browser, 'desk', EXPECTED);
  const address = `${name}@leaf-lab.example`;
  await opened.page.goto(`${server.baseUrl}/sign-in`);
  await opened.page.getByLabel('Email address').fill(address);
  const had = lettersTo({ dataDir }, address).length;
  await opened.page.getByRole('button', { name: 'Send me a code' }).click();
  const code = await nextCode({ dataDir }, address, had);
  await opened.page.getByLabel(/Six digits/).fill(code);
  await opened.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await opened.page.getByRole('heading', { name: 'Experiments' }).waitFor();
  return opened;
}

test('says something of one row and takes it back, by keyboard', async () => {
  const { address, rows } = await experimentWithRows();
  const grid = await openTable(page, address);
  await grid.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog');
  await drawer.getByText('Nobody has said anything').waitFor();
  await drawer.getByLabel('What you say').fill('a bent leaf');
  await page.keyboard.press('Enter');
  await drawer.getByRole('listitem').getByText('a bent leaf').waitFor();
  await expect.poll(() => drawer.getByLabel('What you say').inputValue()).toBe('');
  await looksRight(page, 'annotated-row-desk');
  const said = (await rows()).map(({ annotations }) => annotations?.map(({ content }) => content.text) ?? []);
  expect(said).toEqual(Array.from({ length: ROWS }, (_, at) => (at === 1 ? ['a bent leaf'] : [])));

  await drawer.getByRole('button', { name: 'Remove: a bent leaf' }).focus();
  await page.keyboard.press('Enter');
  await drawer.getByText('Nobody has said anything').waitFor();
  expect((await rows()).every(({ annotations }) => (annotations ?? []).length === 0)).toBe(true);
});

test('flags many rows that were chosen by keyboard, mouse and range', async () => {
  const { address, rows } = await experimentWithRows();
  const grid = await openTable(page, address);
  await grid.focus();
  await page.keyboard.press('Space');
  for (const _ of [1, 2, 3]) await page.keyboard.press('Shift+ArrowDown');
  await page.getByText('4 rows chosen').first().waitFor();
  await grid.getByRole('checkbox', { name: 'Choose row 7', exact: true }).click();
  await grid.getByRole('checkbox', { name: 'Choose row 9', exact: true }).click({ modifiers: ['Shift'] });
  await grid.getByRole('checkbox', { name: 'Choose row 1', exact: true }).click();
  await page.getByText('6 rows chosen').first().waitFor();
  await page.getByLabel('Say it as').selectOption('outlier');
  await page.getByLabel('Why, if you like').fill('rain');
  await looksRight(page, 'chosen-rows-desk');
  await page.evaluate('scrollTo(0, 40)');
  await page.getByRole('button', { name: 'Annotate 6 rows' }).click();
  await page.getByText('6 rows are annotated.').waitFor();
  await page.getByText('6 rows chosen').first().waitFor({ state: 'detached' });
  expect(await page.evaluate('scrollY'), 'what one looks at stays').toBe(40);
  const marked = grid.locator('.annotated');
  await expect.poll(() => marked.count()).toBe(6);
  await marked.first().getByRole('gridcell', { name: 'outlier', exact: true }).waitFor();
  await looksRight(page, 'annotated-rows-desk');
  expect((await rows(flagged('outlier'))).map(({ n }) => n)).toEqual([2, 3, 4, 7, 8, 9]);
  expect(await rows(flagged('needs_review'))).toEqual([]);
});

test('says each refusal as a sentence and keeps what was typed', async () => {
  const { id, table, address, rows } = await experimentWithRows({
    organizationId: sample.organizationId,
    members: [{ userId: sample.users.viewer.id }],
  });
  const guest = await visitAs('viewer');
  const at = guest.page;
  await openTable(at, address);
  await gridOf(at).getByRole('checkbox', { name: 'Choose row 3', exact: true }).click();
  const text = at.getByLabel('What you say');
  const button = at.getByRole('button', { name: 'Annotate this row' });
  await text.fill('before');
  await button.click();
  await at.getByText('1 row is annotated.').waitFor();
  // the choice is dropped after it is said
  await text.waitFor({ state: 'detached' });
  expect((await rows()).filter(({ annotations }) => (annotations ?? []).length > 0).map(({ n }) => n)).toEqual([3]);

  await gridOf(at).getByRole('checkbox', { name: 'Choose row 5', exact: true }).click();
  await text.fill('kept words');
  const refused = async (sentence: RegExp) => {
    await button.click();
    await at.getByRole('alert').getByText(sentence).waitFor({ timeout: 30_000 });
    expect(await text.inputValue()).toBe('kept words');
    expect(await at.getByText('1 row chosen').count()).toBeGreaterThan(0);
  };

  await guest.context.setOffline(true);
  await refused(/cannot be reached/);
  await guest.context.setOffline(false);

  // a proxy in front that asks for more patience than the client has
  await at.route('**/annotations/bulk', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '90', 'content-type': 'application/problem+json' },
      body: JSON.stringify({ title: 'Too many requests', status: 429, detail: 'There were too many requests.', code: 'RATE_LIMITED' }),
    }),
  );
  await refused(/Try again in 90 seconds/);
  await at.unroute('**/annotations/bulk');

  await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
  await refused(/archived/);
  await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'active' } });

  const { body } = await owner('GET', `/api/v1/experiment/${id}/collaborators`);
  const grant = (body as { id: string; granteeId?: string }[]).find(({ granteeId }) => granteeId === sample.users.viewer.id)!;
  const path = `/api/v1/experiment/${id}/collaborators/${grant.id}`;
  expect((await owner('DELETE', path)).status).toBeLessThan(300);
  await refused(/Ask somebody who manages it for access/);
  expect((await rows()).flatMap(({ annotations }) => annotations ?? [])).toHaveLength(1);
  expect(guest.complaints).toEqual([]);
  await guest.context.close();

  // the table and its rows go while somebody writes
  await openTable(page, address);
  await gridOf(page).getByRole('checkbox', { name: 'Choose row 5', exact: true }).click();
  await page.getByLabel('What you say').fill('too late');
  expect((await owner('DELETE', `/api/v1/experiments/${id}/data/tables/${table}`)).status).toBeLessThan(300);
  await page.getByText('This table was deleted').waitFor();
  // a page that is looked at again reads what has become old, of which the list of tables is a part
  await page.clock.setFixedTime(Date.now() + 60_000);
  const listed = page.waitForResponse((answer) => answer.url().endsWith(`/experiments/${id}/tables`));
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
  await listed;
  await page.getByRole('button', { name: 'Annotate this row' }).click();
  await page
    .getByRole('region', { name: '1 row chosen' })
    .getByRole('alert')
    .getByText(/deleted/)
    .waitFor();
  expect(await page.getByLabel('What you say').inputValue()).toBe('too late');
});

test('shows no control where nothing can be said', async () => {
  const { id, address } = await experimentWithRows();
  const grid = await openTable(page, address);
  expect(await grid.getByRole('checkbox').count()).toBeGreaterThan(0);
  await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
  await openTable(page, address);
  await page.getByText('nothing can be said of its rows').waitFor();
  expect(await grid.getByRole('checkbox').count()).toBe(0);
  await grid.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('Nobody has said anything').waitFor();
  expect(await page.getByLabel('Say it as').count()).toBe(0);

  await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'active', visibility: 'public' } });
  const stranger = await visitAs('stranger');
  await stranger.page.goto(address);
  await stranger.page.getByRole('alert').first().waitFor();
  expect(await stranger.page.getByRole('checkbox').count()).toBe(0);
  expect(await stranger.page.getByLabel('Say it as').count()).toBe(0);
  await stranger.context.close();
});

/** Hears every script that a text starts, by what it calls and by what it throws. */
async function hearScripts(at: Page): Promise<number[]> {
  const heard: number[] = [];
  await at.exposeFunction('fired', (number: number) => void heard.push(number));
  at.on('dialog', (dialog) => {
    heard.push(-1);
    void dialog.dismiss();
  });
  return heard;
}
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

test('runs no script of a text that somebody else wrote', async () => {
  // where texts are taken for markup, most of the corpus runs: the hooks hear it
  const naive = await (await browser.newContext()).newPage();
  const heardThere = await hearScripts(naive);
  for (const script of SCRIPTS) await naive.setContent(script, { waitUntil: 'load' }).catch(() => undefined);
  await expect.poll(() => new Set(heardThere).size).toBeGreaterThan(10);
  await naive.close();

  const shown = await openVisitor(browser, 'desk', EXPECTED);
  await shown.context.addCookies(await visitor.context.cookies());
  const heard = await hearScripts(shown.page);
  const at = shown.page;

  for (const name of SCRIPTS) expect((await owner('POST', '/api/v1/experiments', { body: { name, description: name } })).status).toBe(201);
  const made = await owner('POST', '/api/v1/experiments', { body: { name: SCRIPTS[3], description: SCRIPTS[4] } });
  const id = String(made.body.id);
  const cells = SCRIPTS.map((_, row) => SCRIPTS.map((__, column) => quoted(SCRIPTS[(row + column) % SCRIPTS.length]!)).join(','));
  const table = await uploadTable(owner, id, 'words', `${SCRIPTS.map(quoted).join(',')}\n${cells.join('\n')}\n`);
  for (const targetName of SCRIPTS) {
    const form = new FormData();
    for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName })) form.append(field, value);
    form.append('files', new Blob(['a\n1\n']), 'a.csv');
    expect((await owner('POST', `/api/v1/experiments/${id}/data/uploads`, { body: form })).status).toBe(400);
  }
  const { body } = await owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: table, limit: 1 } });
  const row = body[0].data.rows[0] as Record<string, string>;
  expect(Object.keys(row).length).toBeGreaterThan(SCRIPTS.length);
  for (const text of SCRIPTS) {
    const annotation = { type: 'comment', content: { type: 'comment', text } };
    const path = `/api/v1/experiments/${id}/data/annotations`;
    expect((await owner('POST', path, { body: { tableName: table, rowId: row['id'], annotation } })).status).toBe(201);
  }

  let home = '';
  for (const number of [1, 2, 3]) {
    await at.goto(`${server.baseUrl}/?page=${number}`);
    await at.getByRole('heading', { name: 'Experiments' }).waitFor();
    await at.waitForLoadState('networkidle');
    home += await at.locator('main').innerText();
  }
  expect(SCRIPTS.filter((name) => !home.includes(name))).toEqual([]);
  await at.goto(`${server.baseUrl}/experiments/${id}`);
  await at.getByRole('link', { name: 'words' }).waitFor();
  await at.waitForLoadState('networkidle');
  const grid = await openTable(at, `${server.baseUrl}/experiments/${id}/tables/${table}`);
  await grid.focus();
  for (const key of ['End', 'Control+End', 'Home', 'Control+Home']) {
    await at.keyboard.press(key);
    await at.waitForTimeout(300);
  }
  for (const tool of [/^Filter/, /^Columns/, /^Aggregate/]) {
    await at.getByRole('button', { name: tool }).click();
    await at.getByRole('dialog').waitFor();
    await at.keyboard.press('Escape');
    await at.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await at.goto(`${server.baseUrl}/experiments/${id}/tables/${table}?row=${row['id']}`);
  const drawer = at.getByRole('dialog');
  for (const text of SCRIPTS) await drawer.getByRole('listitem').getByText(text, { exact: true }).first().waitFor();
  const filters = JSON.stringify([{ column: Object.keys(row).at(-1), operator: 'equals', value: SCRIPTS[0] }]);
  await at.goto(`${server.baseUrl}/experiments/${id}/tables/${table}?filters=${encodeURIComponent(filters)}`);
  await at.getByText('The same question as').click();
  for (const tab of ['curl', 'Python', 'R', 'JavaScript', 'SQL plan']) {
    await at.getByRole('tab', { name: tab, exact: true }).click();
    await at.getByRole('tabpanel', { name: tab, exact: true }).waitFor();
  }
  // what would run has had the time to; the page itself listens on, so that the network is never idle
  await at.waitForTimeout(1_000);
  expect(heard).toEqual([]);
  expect(shown.complaints).toEqual([]);
  await shown.context.close();
});
