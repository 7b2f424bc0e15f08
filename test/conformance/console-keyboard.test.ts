/** A whole journey by keyboard alone: no element is touched but by keys, and what has the focus is always seen. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';

/** More elements than a page has that take the focus. */
const MOST_STEPS = 120;

let site: Console;
beforeAll(async () => {
  site = await startConsole();
});
afterAll(() => site.stop());

/** What has the focus: its name, and whether a person sees that it has it. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return { name: '', isSeen: true };
  const { outlineStyle, outlineWidth, boxShadow, borderColor } = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  const isOnScreen = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return {
    name: (one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent ?? '').trim(),
    isSeen: isOnScreen && ((outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'),
  };
})()`;
interface Focused {
  name: string;
  isSeen: boolean;
}

/** Presses Tab until something of a name has the focus; all on the way must show that they have it. */
async function reach(page: Page, name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    await page.keyboard.press(key);
    const focused = await page.evaluate<Focused>(FOCUSED);
    expect(focused).toEqual({ name: focused.name, isSeen: true });
    if (typeof name === 'string' ? focused.name === name : name.test(focused.name)) return;
    passed.push(focused.name.slice(0, 30));
  }
  throw new Error(`${String(name)} is not reached by ${key}: ${passed.join(' | ')}`);
}
async function press(page: Page, name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await reach(page, name, key);
  await page.keyboard.press('Enter');
}
const rowsOf = async (page: Page) => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;

test('from the first visit by a table, a filter and a row to something said and a chart', async () => {
  const { page, complaints } = await site.visitAs('owner');
  await page.getByRole('link', { name: 'leaf_measurements' }).waitFor();
  await press(page, 'leaf_measurements');
  const grid = page.getByRole('grid', { name: 'Rows of leaf_measurements' });
  await grid.getByRole('gridcell').first().waitFor();
  const all = await rowsOf(page);

  // a filter
  await press(page, 'Filter');
  const form = page.getByRole('dialog', { name: 'Filter' });
  await form.waitFor();
  await reach(page, 'Column');
  await page.keyboard.type('treatment');
  await expect.poll(() => form.getByLabel('Column').inputValue()).toBe('treatment');
  await reach(page, 'Value');
  await page.keyboard.type('drought');
  await press(page, 'Apply');
  await page.getByText('treatment is drought').waitFor();
  await expect.poll(() => rowsOf(page)).toBe(all / 2);

  // a row of the grid, which is one step for Tab
  await reach(page, 'Rows of leaf_measurements');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'End', 'Home']) await page.keyboard.press(key);
  await page.keyboard.press('Enter');
  const row = page.getByRole('dialog');
  await row.getByText('Where it came from').waitFor();

  // something said of it
  await reach(page, 'Say it as');
  await page.keyboard.press('ArrowDown');
  await reach(page, /^(Why, if you like|What you say)$/);
  await page.keyboard.type('seen by keyboard');
  await press(page, 'Annotate this row');
  await page.getByText('1 row is annotated.').waitFor();
  await row.getByText('seen by keyboard').waitFor();
  await page.keyboard.press('Escape');
  await row.waitFor({ state: 'detached' });
  // the focus is where it was
  await expect.poll(async () => (await page.evaluate<Focused>(FOCUSED)).name).toContain('Rows of leaf_measurements');

  // a chart of it, with the filter
  await press(page, 'Chart this', 'Shift+Tab');
  await page.locator('.drawing svg').first().waitFor({ timeout: 30_000 });
  await page.getByText('treatment is drought').waitFor();
  await reach(page, 'Type');
  await page.keyboard.type('box');
  await expect.poll(() => page.getByLabel('Type', { exact: true }).inputValue()).toBe('box-plot');
  await expect.poll(() => new URL(page.url()).searchParams.get('type')).toContain('box-plot');
  await page.locator('.chart-panel[aria-busy=false] .drawing svg').first().waitFor();
  await looksRight(page, 'keyboard-chart-desk');
  expect(complaints).toEqual([]);
});
