/** What the marks of a chart say to whoever points at them, or comes to them by keyboard. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
let id: string;
let table: string;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
  id = await makeExperiment(site.owner, 'Charts that are read');
  const rows = Array.from({ length: 12 }, (_, at) => `2026-04-0${1 + (at % 3)}T00:00:00Z,${'ABC'[at % 3]},${10 + at / 3}\n`);
  table = await uploadTable(site.owner, id, 'leaves', `day,line,spad\n${rows.join('')}`);
});
afterAll(() => site.stop());

async function draw(page: Page, search: Record<string, unknown>): Promise<void> {
  const address = new URL(`${site.baseUrl}/experiments/${id}/tables/${table}/chart`);
  for (const [name, value] of Object.entries(search))
    address.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  await page.goto(address.href);
  await page.locator('.chart-panel[aria-busy=false] .drawing svg').waitFor();
}
const tip = (page: Page) => page.locator('.tip').textContent();
const mean = { columnName: 'spad', role: 'y', aggregate: 'avg' };

test('a bar says its value to the pointer, and to the arrow keys', async () => {
  const { page, complaints } = owner;
  await draw(page, {
    type: 'bar',
    sources: [
      { columnName: 'line', role: 'x' },
      { ...mean, error: 'sem' },
    ],
  });
  // the ends of error bars come after them
  const bars = page.locator('.drawing .mark-rect.role-mark').first().locator('> path');
  expect(await bars.count()).toBe(3);
  expect(await tip(page)).toBe('');
  await bars.nth(1).hover();
  // the mean of 10⅓, 11⅓, 12⅓ and 13⅓
  await expect.poll(() => tip(page)).toBe('line: B\nmean of spad ± SE: 11.8333 ± 0.645497');
  await page.getByRole('heading', { name: 'Chart of leaves' }).hover();
  await expect.poll(() => tip(page)).toBe('');

  await page.getByRole('application', { name: 'Values of the chart, by the arrow keys' }).focus();
  await page.getByRole('img', { name: /^Chart: / }).waitFor();
  await page.keyboard.press('End');
  await expect.poll(() => tip(page)).toMatch(/^line: C\nmean of spad ± SE: 12\.1667 /);
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => tip(page)).toMatch(/^line: B\n/);
  await looksRight(page, 'chart-value-desk');
  await page.keyboard.press('Escape');
  await expect.poll(() => tip(page)).toBe('');
  await page.keyboard.press('Home');
  await expect.poll(() => tip(page)).toMatch(/^line: A\n/);
  await page.keyboard.press('Tab');
  await expect.poll(() => tip(page)).toBe('');

  // on paper stands what is seen, and nothing that is pressed
  const pressed = page.getByRole('button').or(page.getByRole('combobox'));
  expect(await pressed.count()).toBeGreaterThan(5);
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('.drawing svg').isVisible()).toBe(true);
  expect(await pressed.count()).toBe(0);
  await page.emulateMedia({ media: null });
  expect(complaints).toEqual([]);
});

test('a point of a line, a box and a slice say theirs, on a phone too', async () => {
  const phone = await site.copyOf(owner, 'phone');
  const { page, complaints } = phone;
  await draw(page, { type: 'line', sources: [{ columnName: 'day', role: 'x' }, mean] });
  await page.locator('.drawing .mark-symbol.role-mark > path').first().tap();
  await expect.poll(() => tip(page)).toBe('day: 2026-04-01\nmean of spad: 11.5');
  await looksRight(page, 'chart-value-phone');
  await page.locator('.drawing').tap({ position: { x: 5, y: 5 } });
  await expect.poll(() => tip(page)).toBe('');
  for (const [type, sources, said] of [
    [
      'scatter',
      [
        { columnName: 'line', role: 'x' },
        { columnName: 'spad', role: 'y' },
      ],
      /^line: [ABC]\nspad: 1\d(\.\d+)?$/,
    ],
    [
      'box-plot',
      [
        { columnName: 'line', role: 'x' },
        { columnName: 'spad', role: 'y' },
      ],
      /^line: [ABC]\nupper whisker: .*\nmedian: /s,
    ],
    ['pie', [{ columnName: 'line', role: 'labels' }], /^line: [ABC]\n4$/],
    ['histogram', [{ columnName: 'spad', role: 'y' }], /^spad: 1\d(\.\d)? – 1\d(\.\d)?\ncount: \d$/],
  ] as const) {
    await draw(page, { type, sources });
    await page.locator('.drawing-frame').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => tip(page), { message: type }).toMatch(said);
  }
  expect(complaints).toEqual([]);
});

test('a group keeps its colour when a filter takes others away', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const color = { columnName: 'line', role: 'color' };
  /** The colours of marks, by what they say of themselves. */
  const colors = async () => {
    const found: Record<string, string | null> = {};
    await page.locator('.drawing-frame').focus();
    for (let at = 0; at < 3; at += 1) {
      await page.keyboard.press(at === 0 ? 'Home' : 'ArrowRight');
      const group = /line: ([ABC])/.exec((await tip(page)) ?? '')?.[1];
      if (group !== undefined) found[group] = await page.locator('.drawing .is-read').getAttribute('fill');
    }
    return found;
  };
  const filters = [{ column: 'line', operator: 'not_equals', value: 'A' }];
  for (const [type, sources] of [
    ['bar', [{ columnName: 'line', role: 'x' }, mean, color]],
    ['pie', [{ columnName: 'line', role: 'labels' }]],
  ] as const) {
    await draw(page, { type, sources });
    const { A, ...others } = await colors();
    expect(new Set([A, ...Object.values(others)]).size).toBe(3);
    await draw(page, { type, sources, filters });
    expect(await colors()).toEqual(others);
  }
  expect(complaints.slice(before)).toEqual([]);
});
