import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { launchChromium, looksRight, openVisitor, SIZES } from '../support/chromium.ts';
import { nextCode } from '../support/outbox.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';

let folder: string;
let browser: Browser;
let server: ServerProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-charts-'));
  browser = await launchChromium();
  server = await spawnServer({ DATA_DIR: folder, SAMPLE_DATA: 'on' });
  await vi.waitUntil(() => /Try these/.test(server.output()), { timeout: 120_000 });
});
afterAll(async () => {
  await browser.close();
  await server.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

/** Marks of the chart itself; those of error bars come after them. */
const marks = (page: Page, kind: string) => page.locator(`.drawing .mark-${kind}.role-mark`).first().locator('> path');
/** Sends from the page, as whoever is signed in there. */
const send = (page: Page, method: string, path: string, body?: object) =>
  page.evaluate(
    async ([how, where, what]) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(where, what === null ? { method: how } : { method: how, headers, body: what });
      return { status: answer.status, body: await answer.json() };
    },
    [method, path, body === undefined ? null : JSON.stringify(body)] as const,
  );

test('leads from a table to a chart that is kept', async () => {
  // the sample has no flow, and a changed version is refused below
  const { page, complaints, context } = await openVisitor(browser, 'desk', /412 \(Precondition/);
  await page.goto(/http:\S+\/sign-in\/link#[\w-]{43}/.exec(server.output())![0]);
  await page.getByRole('link', { name: 'leaf_measurements' }).click();
  await page.getByRole('grid').getByRole('gridcell').first().waitFor();
  await page.getByRole('button', { name: 'Filter' }).click();
  await looksRight(page, 'filter-desk');
  await page.getByLabel('Column', { exact: true }).selectOption('treatment');
  await page
    .getByRole('textbox', { name: 'Value' })
    .or(page.getByRole('combobox', { name: 'Value' }))
    .fill('drought');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('treatment is drought').waitFor();

  // one click from the table, and its filter comes along
  await page.getByRole('link', { name: 'Chart this' }).click();
  await page.locator('.drawing svg').waitFor();
  await page.getByText('treatment is drought').waitFor();
  await expect.poll(() => marks(page, 'line').count()).toBe(1);
  await looksRight(page, 'chart-first-desk');
  await page.getByRole('button', { name: 'Take away: treatment is drought' }).click();

  // what is drawn has as many bars as there are groups; two choices in one moment are both taken
  await page.getByLabel('Type', { exact: true }).selectOption('bar');
  await page.locator('.drawing .mark-rect.role-mark').first().waitFor();
  await page.evaluate(`for (const [id, value] of [['role-x-0', 'genotype'], ['role-color-0', 'treatment']]) {
    const field = document.getElementById(id);
    field.value = value;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  }`);
  await expect.poll(() => page.getByLabel('Colour').inputValue()).toBe('treatment');
  await expect.poll(() => page.getByLabel('Across (x)').inputValue()).toBe('genotype');
  await page.getByLabel('Error bars').selectOption('ci95');
  await page.getByLabel('Title up').fill('SPAD');
  await page.getByLabel('Title up').press('Enter');
  const experiment = /experiments\/([\w-]+)/.exec(page.url())![1]!;
  const table = /tables\/([\w-]+)/.exec(page.url())![1]!;
  const aggregation = JSON.stringify({
    groupBy: [{ column: 'genotype' }, { column: 'treatment' }],
    functions: [{ column: '*', function: 'count' }],
  });
  const data = `/api/v1/experiments/${experiment}/data?${new URLSearchParams({ tableName: table, aggregation }).toString()}`;
  const groups = (await send(page, 'GET', data)).body as [{ totalRows: number }];
  expect(groups[0].totalRows).toBeGreaterThan(3);
  await expect.poll(() => marks(page, 'rect').count()).toBe(groups[0].totalRows);
  // each with an interval and two caps
  await expect.poll(() => page.locator('.drawing .mark-rect.role-mark > path').count()).toBe(3 * groups[0].totalRows);
  await page.locator('.drawing').getByText('SPAD', { exact: true }).waitFor();
  await looksRight(page, 'chart-bars-desk');

  // the address says all of it
  const shown = await page.locator('.drawing svg').innerHTML();
  await page.reload();
  await page.locator('.drawing svg').waitFor();
  // the pointer may rest on a mark
  const bare = (svg: string) => svg.replaceAll(/gradient_\d+|clip\d+| class="(is-read)?"/g, '');
  await expect.poll(async () => bare(await page.locator('.drawing svg').innerHTML())).toBe(bare(shown));

  for (const format of ['PNG', 'SVG']) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: `Download ${format}` }).click()]);
    expect(statSync(await download.path()).size).toBeGreaterThan(1_000);
    expect(download.suggestedFilename()).toMatch(new RegExp(`\\.${format.toLowerCase()}$`));
  }

  await page.getByLabel('Name', { exact: true }).fill('SPAD by genotype');
  await page.getByRole('button', { name: 'Save chart' }).click();
  await page.getByText('The chart is saved.').waitFor();
  await page.getByRole('button', { name: 'Save changes' }).waitFor();
  expect(page.url()).toContain('saved=');
  await page.getByRole('link', { name: 'Charts', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Charts' }).waitFor();
  await page.getByRole('link', { name: 'SPAD by genotype' }).waitFor();
  await looksRight(page, 'charts-desk');
  await page.getByRole('link', { name: 'SPAD by genotype' }).click();
  await expect.poll(() => marks(page, 'rect').count()).toBe(groups[0].totalRows);

  // what somebody else changed meanwhile is not overwritten, also where the page has read it since, and what was typed stays
  const saved = new URL(page.url()).searchParams.get('saved')!.replaceAll('"', '');
  const path = `/api/v1/experiments/${experiment}/visualizations/${saved}`;
  const isRead = (response: Response) => response.request().method() === 'GET' && response.url().endsWith(path);
  const changeElsewhere = async (title: string) => {
    const read = page.waitForResponse(isRead);
    expect((await send(page, 'PATCH', path, { config: { title } })).status).toBe(200);
    // as when somebody signs in in another tab
    await page.evaluate("new BroadcastChannel('session').postMessage(null)");
    await read;
  };
  const title = page.getByLabel('Title', { exact: true });
  const save = page.getByRole('button', { name: 'Save changes' });
  const conflict = page.getByRole('alert').filter({ hasText: 'What you did is still here.' });
  await title.fill('Mine');
  await title.press('Enter');
  await expect.poll(() => page.url()).toContain('Mine');
  await changeElsewhere('Theirs');
  await save.click();
  const popup = page.waitForEvent('popup');
  await conflict.getByRole('link', { name: 'See theirs in another tab' }).click();
  const other = await popup;
  await expect.poll(() => other.getByLabel('Title', { exact: true }).inputValue()).toBe('Theirs');
  await other.close();
  expect(await title.inputValue()).toBe('Mine');
  await conflict.getByRole('button', { name: 'Save mine over it' }).click();
  await page.getByText('The chart is saved.').waitFor();
  await conflict.waitFor({ state: 'detached' });
  expect((await send(page, 'GET', path)).body).toMatchObject({ config: { title: 'Mine' } });
  await changeElsewhere('Theirs again');
  await save.click();
  await conflict.getByRole('button', { name: 'Drop mine and show theirs' }).click();
  await expect.poll(() => title.inputValue()).toBe('Theirs again');
  await conflict.waitFor({ state: 'detached' });

  // every picture by keyboard and at a phone's width
  await page.setViewportSize(SIZES.phone);
  const wide = await page.locator('.drawing svg').innerHTML();
  await page.getByLabel('Type', { exact: true }).focus();
  await page.keyboard.type('box');
  await expect.poll(() => page.url()).toContain('type=box-plot');
  await expect.poll(() => page.locator('.drawing svg').innerHTML()).not.toBe(wide);
  await page.locator('.chart-panel[aria-busy=false] .drawing svg').waitFor();
  await page.evaluate('scrollTo(0, 0)');
  await looksRight(page, 'chart-phone');
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await page.setViewportSize(SIZES.desk);

  await page.reload();
  await page.getByRole('button', { name: 'Delete chart' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete chart' }).click();
  await page.getByText('The chart is deleted.').waitFor();
  await page.getByRole('heading', { name: 'No chart yet' }).waitFor();

  // who may read and not manage has the chart, and nothing to save it with
  // rows of a public experiment may be kept for its contributors
  const visitor = await openVisitor(browser, 'desk', /403 \(Forbidden\)/);
  await visitor.page.goto(`${server.baseUrl}/`);
  await visitor.page.getByLabel('Email address').fill('reader@example.org');
  await visitor.page.getByRole('button', { name: 'Send me a code' }).click();
  await visitor.page.getByLabel(/Six digits/).fill(await nextCode({ dataDir: folder }, 'reader@example.org', 0));
  await visitor.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await visitor.page.getByRole('heading', { name: 'Experiments' }).waitFor();
  const opened = await send(page, 'PATCH', `/api/v1/experiments/${experiment}/visibility`, { visibility: 'public' });
  expect(opened.status, JSON.stringify(opened.body)).toBe(200);
  await visitor.page.goto(`${server.baseUrl}/experiments/${experiment}/tables/${table}/chart`);
  await visitor.page.getByRole('heading', { name: /^Chart of/ }).waitFor();
  await visitor.page.getByRole('region', { name: /^Chart: / }).waitFor();
  expect(await visitor.page.getByRole('button', { name: /Save/ }).count()).toBe(0);
  expect([...complaints, ...visitor.complaints]).toEqual([]);
  await visitor.context.close();
  await context.close();
});
