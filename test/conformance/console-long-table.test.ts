/** A long table in a browser: that what is seen stays right while pages come and go, what it takes of memory, and how long it lasts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReadsSite, type ReadsSite } from '../../bench/seed-reads.ts';
import { launchChromium, openVisitor, type Visitor } from '../support/chromium.ts';
import { signInByCode } from '../support/console-site.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { callsTo } from '../support/server.ts';

const ROWS = Number(process.env['LONG_ROWS'] ?? (process.env['SOAK'] === '1' ? 5_000_000 : 200_000));
const PAGE = 100;
const PAGES = 100;
const ROW_HEIGHT = 33;
/** Rows that a desk's screen has room for, at least. */
const LEAST_IN_SIGHT = 14;
/** Pixels of one step of a wheel. */
const WHEEL = 120;
const MB = 1_000_000;
const MOST_HEAP = 150 * MB;
/** Rows that the page may hold, wherever in it, of the ten thousand that are read. */
const MOST_HELD = 1_500;

let database: TestDatabase;
let folder: string;
let site: ReadsSite;
let browser: Browser;
let visitor: Visitor;
let cdp: CDPSession;
let table: string;
let address: string;

beforeAll(async () => {
  // the test runner's own word for where a page is
  delete process.env['BASE_URL'];
  database = await cloneDatabase();
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-long-'));
  site = await startReadsSite({
    url: database.url,
    dataDir: folder,
    tables: { season: ROWS },
    threads: 2,
    memoryMb: 512,
    works: true,
    keptMb: 64,
  });
  browser = await launchChromium();
  visitor = await openVisitor(browser, 'desk', /status of 404/);
  const { page, context } = visitor;
  await page.addInitScript(
    `window.longest = []; new PerformanceObserver((list) => longest.push(...list.getEntries().map((entry) => Math.round(entry.duration)))).observe({ type: 'longtask' });
     new MutationObserver((_, observer) => {
       if (document.querySelector('.grid [role=gridcell]') === null) return;
       observer.disconnect();
       requestAnimationFrame(() => (window.drawnAt = performance.now()));
     }).observe(document, { childList: true, subtree: true });`,
  );
  await signInByCode(page, { baseUrl: site.baseUrl, dataDir: folder }, 'bench@example.org');
  cdp = await context.newCDPSession(page);
  // of the processor, which others share
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const tables = await callsTo(site.baseUrl)(site.apiKey)('GET', site.path.replace(/data$/, 'tables'));
  table = (tables.body as { identifier: string; displayName: string }[]).find(({ displayName }) => displayName === 'season')!.identifier;
  address = `${site.baseUrl}/experiments/${/experiments\/([\w-]+)/.exec(site.path)![1]!}/tables/${table}`;
}, 1_800_000);
afterAll(async () => {
  await browser.close();
  await site.stop();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const say = (text: string) => process.stdout.write(`${text}\n`);
const scrollTo = (page: Page, row: number) => page.evaluate(`document.querySelector('.grid').scrollTop = ${row * ROW_HEIGHT}`);
const momentOf = (row: number) => new Date(Date.UTC(2024, 0, 1) + 10_000 * row).toISOString().slice(0, 19).replace('T', ' ');

/** Scrolls until a row is the first in sight, which takes as many pages as lie between. */
const goTo = (page: Page, row: number) =>
  expect.poll(async () => (await scrollTo(page, row), (await look(page)).first), { timeout: 30_000, interval: 20 }).toBe(row);

interface InSight {
  /** Index of the first row below the head. */
  first: number;
  /** What each row in sight has in the column by which they are ordered; null while it is not held. */
  moments: (string | null)[];
}
/** The rows in sight, by their place on the screen and not by what the grid says of them. */
const look = (page: Page) =>
  page.evaluate<InSight>(`(() => {
    const grid = document.querySelector('.grid');
    const [top, bottom] = [grid.getBoundingClientRect().top + 56, grid.getBoundingClientRect().bottom];
    const rows = [...grid.querySelectorAll('.grid-row')].filter((row) => row.getBoundingClientRect().top >= top - 1 && row.getBoundingClientRect().bottom <= bottom);
    return { first: Math.ceil(grid.scrollTop / ${ROW_HEIGHT}), moments: rows.map((row) => row.querySelector('time')?.textContent ?? null) };
  })()`);

/** What stands in sight when a row is the first there, and every row that has room is held. */
async function expectPlace(page: Page, row: number, rowAt: (index: number) => string = momentOf): Promise<void> {
  const describe = async () => {
    const { first, moments } = await look(page);
    const wrong = moments.findIndex((moment, at) => moment !== rowAt(first + at));
    return `${first}, ${moments.length < LEAST_IN_SIGHT ? `only ${moments.length} rows` : wrong === -1 ? 'right' : `${moments[wrong]} at ${first + wrong}`}`;
  };
  await expect.poll(describe, { timeout: 30_000, interval: 20 }).toBe(`${row}, right`);
}
async function heap(): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage');
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value;
}
/** Rows that are anywhere in the page's memory. */
async function countHeld(): Promise<number> {
  const plain = await cdp.send('Runtime.evaluate', { expression: 'Object.prototype' });
  const { objects } = await cdp.send('Runtime.queryObjects', { prototypeObjectId: plain.result.objectId! });
  const functionDeclaration = `function () { return this.filter((one) => Object.hasOwn(one, 'measured_at')).length; }`;
  const counted = await cdp.send('Runtime.callFunctionOn', { objectId: objects.objectId!, functionDeclaration, returnByValue: true });
  await cdp.send('Runtime.releaseObject', { objectId: objects.objectId! });
  return counted.result.value as number;
}
const WORK = ['TaskDuration', 'ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'] as const;
type Work = Record<(typeof WORK)[number], number>;
/** Milliseconds of processor that the main thread has worked, and at what. */
async function readWork(): Promise<Work> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return Object.fromEntries(WORK.map((name) => [name, metrics.find((metric) => metric.name === name)!.value * 1_000])) as Work;
}
/** What the main thread does while something is done and two frames are drawn. */
async function workOf(page: Page, act: () => Promise<unknown>): Promise<Work> {
  const before = await readWork();
  await act();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  const after = await readWork();
  return Object.fromEntries(WORK.map((name) => [name, after[name] - before[name]])) as Work;
}
const open = async (page: Page, search: string) => {
  await page.goto(`${address}?columns=${encodeURIComponent('["measured_at","id","plot","treatment","sensor","spad","note"]')}&${search}`);
  await page.getByRole('grid').getByRole('gridcell').first().waitFor();
};

test('shows the right rows wherever they are, and holds only those near', { timeout: 600_000 }, async () => {
  const { page, complaints } = visitor;
  const drawn: number[] = [];
  for (let time = 0; time < 5; time += 1) {
    await open(page, 'orderBy=measured_at');
    await expect.poll(() => page.evaluate('window.drawnAt ?? null')).not.toBeNull();
    drawn.push(
      await page.evaluate<number>(
        `drawnAt - Math.min(...performance.getEntriesByType('resource').filter(({ name }) => /\\/data\\?/.test(name)).map(({ responseEnd }) => responseEnd))`,
      ),
    );
  }
  await page.evaluate('void longest.splice(0)');

  // down by steps of a wheel
  await expectPlace(page, 0);
  await page.getByRole('grid').hover();
  const [steps, idle]: [Work[], Work[]] = [[], []];
  for (let step = 0; step < 50; step += 1) idle.push(await workOf(page, () => Promise.resolve()));
  for (let step = 0; step < 300; step += 1) steps.push(await workOf(page, () => page.mouse.wheel(0, WHEEL)));
  const middle = (works: readonly Work[], name: keyof Work) => median(works.map((work) => work[name])).toFixed(1);
  const long = await page.evaluate<number[]>('longest');

  // page after page, to the hundredth
  for (let at = 24; at <= PAGES; at += 1) {
    await goTo(page, at * PAGE - 40);
    await expectPlace(page, at * PAGE - 40);
  }
  const [late, held] = [await heap(), await countHeld()];
  say(
    `${ROWS} rows: first rows ${drawn.map(Math.round).join(', ')} ms after the answer; a step of the wheel ${WORK.map((name) => `${middle(steps, name)} ms ${name}`).join(', ')} at the median, ` +
      `${Math.max(...steps.map((work) => work.TaskDuration)).toFixed(1)} at most, of which ${middle(idle, 'TaskDuration')} ms are the measuring, tasks above 50 ms: ${long.join(', ') || 'none'}; ${held} rows are held, heap ${(late / MB).toFixed(1)} MB at page ${PAGES}`,
  );
  expect(late).toBeLessThan(MOST_HEAP);
  expect(held).toBeGreaterThan(PAGE);
  expect(held).toBeLessThan(MOST_HELD);

  // back over what is not held any more, step by step and at once, and down again
  const end = PAGES * PAGE - 40;
  for (let row = end; row > end - 3_000; row -= 60) {
    await goTo(page, row);
    await expectPlace(page, row);
  }
  for (const row of [0, 7_013, 350, 9_100, 9_000, 20, 5_555]) {
    await goTo(page, row);
    await expectPlace(page, row);
  }
  // by keyboard: the first row, and the last that was read
  await page.getByRole('grid').focus();
  await page.keyboard.press('Control+Home');
  await expectPlace(page, 0);
  await page.keyboard.press('Control+End');
  await expect.poll(async () => (await look(page)).moments.at(-1) ?? null).not.toBeNull();
  const last = await look(page);
  expect(last.moments.at(-1)).toBe(momentOf(last.first + last.moments.length - 1));
  expect(last.first).toBeGreaterThan(end - 100);
  expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(ROWS + 1));
  expect(complaints).toEqual([]);
});

test('chooses all rows between two, though most of them are not held any more', async () => {
  const { page, complaints } = visitor;
  await open(page, 'orderBy=measured_at');
  await page.getByRole('checkbox', { name: 'Choose row 3', exact: true }).check();
  for (let row = 60; row < 3_060; row += 60) {
    await goTo(page, row);
    await expectPlace(page, row);
  }
  await page.getByRole('checkbox', { name: 'Choose row 3005', exact: true }).click({ modifiers: ['Shift'] });
  await page.getByRole('status').getByText('3,003 rows chosen').waitFor();
  expect(complaints).toEqual([]);
});

/** Sends rows that are newer than all others, and answers when the service has taken them. */
let sent = 0;
async function send(count: number): Promise<number> {
  const columns = 'plot,treatment,sensor,measured_at,spad,phi2,temperature,humidity,par,pulses,valid,note';
  const lines = Array.from(
    { length: count },
    () => `1,control,S-00001,${momentOf(ROWS + sent++).replace(' ', 'T')}Z,40.5,0.5,20.5,50.5,100,7,true,new`,
  );
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: table }))
    form.append(field, value);
  form.append('files', new Blob([`${columns}\n${lines.join('\n')}\n`]), 'rows.csv');
  const answer = await callsTo(site.baseUrl)(site.apiKey)('POST', site.path.replace(/$/, '/uploads'), { body: form });
  expect(answer.status, answer.text).toBeLessThan(300);
  return performance.now();
}

test('shows rows as they come at the top, and keeps the place elsewhere', async () => {
  const { page, complaints } = visitor;
  const counted = async () => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;
  const newest = (index: number) => momentOf(ROWS + sent - 1 - index);
  await open(page, 'orderBy=measured_at&orderDirection=DESC&live=true');
  await expectPlace(page, 0, newest);
  const waits: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const taken = await send(5);
    await expect.poll(counted, { timeout: 60_000, interval: 20 }).toBe(ROWS + sent);
    waits.push(Math.round(performance.now() - taken));
    await expectPlace(page, 0, newest);
  }
  // where many pages were read, and the first of them are not held any more
  for (let row = 60; row <= 3_000; row += 60) {
    await goTo(page, row);
    await expectPlace(page, row, newest);
  }
  const deep: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const before = (await look(page)).moments;
    const taken = await send(5);
    await expect.poll(counted, { timeout: 60_000, interval: 20 }).toBe(ROWS + sent);
    deep.push(Math.round(performance.now() - taken));
    await expect.poll(async () => (await look(page)).moments.slice(1, 10)).toEqual(before.slice(1, 10));
  }
  say(`rows seen ${waits.join(', ')} ms after their acknowledgement at the top, ${deep.join(', ')} ms where 3,000 were read`);
  // what comes above is there for whoever goes up
  await goTo(page, 0);
  await expectPlace(page, 0, newest);
  expect(complaints).toEqual([]);
});
