import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, SIZES, type Size } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';

let site: Console;
beforeAll(async () => {
  site = await startConsole();
});
afterAll(() => site.stop());

/** Of every control of the page, once it is scrolled to, whether something else lies over its middle. */
const FIND_COVERED = `[...document.querySelectorAll('main :is(a, button, input, select, textarea, summary)')]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height > 0 && !each.closest('.hidden-visually'))
  .filter((each) => {
    each.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    const { x, y, width, height } = each.getClientRects()[0];
    const top = document.elementFromPoint(x + width / 2, y + height / 2);
    return !(each.contains(top) || top?.contains(each) && !top.closest('.toasts'));
  })
  .map((each) => each.outerHTML.slice(0, 120))`;

test('what is said on a phone lies over no control', async () => {
  const { page, complaints } = await site.visitAs('member', 'phone');
  await page.goto(`${site.baseUrl}/account`);
  await page.getByRole('button', { name: 'Save profile' }).waitFor();
  // what failed stands until it is closed
  await page.route('**/api/v1/auth/sign-out', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '90', 'content-type': 'application/problem+json' },
      body: JSON.stringify({
        title: 'Too many requests',
        status: 429,
        detail: 'There were too many requests.',
        message: 'There were too many requests.',
      }),
    }),
  );
  await page.getByRole('button', { name: /your account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  const said = page.getByText(/There were too many requests\. Wait a moment, then try again\./);
  await said.waitFor();
  await page.evaluate('scrollTo(0, 0)');
  const head = (await page.locator('.top').boundingBox())!;
  const toast = (await page.locator('.toast').boundingBox())!;
  const main = (await page.getByRole('main').boundingBox())!;
  expect(toast.y).toBeGreaterThanOrEqual(head.y + head.height);
  expect(main.y).toBeGreaterThanOrEqual(toast.y + toast.height);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await looksRight(page, 'toast-phone');
  expect(await page.evaluate(FIND_COVERED)).toEqual([]);

  // a button at the lower edge is clicked while it stands
  const make = page.getByRole('button', { name: 'Make a key' });
  await page.getByLabel('Name of a new key').fill('Beside a toast');
  await make.evaluate((button) => (button as unknown as { scrollIntoView(how: object): void }).scrollIntoView({ block: 'end' }));
  const { x, y, width, height } = (await make.boundingBox())!;
  expect(y + height).toBeGreaterThan(SIZES.phone.height - 60);
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.getByText('Copy this key now. It is shown only once.').waitFor();
  expect(await said.isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Close' }).click();
  await said.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('at a desk what lies below it is clicked through it', async () => {
  const { page, complaints } = await site.visitAs('viewer', 'desk');
  await page.setViewportSize({ width: 660, height: 600 });
  await page.goto(`${site.baseUrl}/account`);
  const save = page.getByRole('button', { name: 'Save profile' });
  await save.waitFor();
  expect(await page.evaluate(FIND_COVERED)).toEqual([]);
  await save.click();
  const said = page.getByText('Your profile is saved.');
  await said.waitFor();
  // its left end lies over the field
  const field = page.getByLabel('Name of a new key');
  await page.evaluate(`document.body.style.paddingBottom = '40rem'`);
  const toast = (await page.locator('.toast').boundingBox())!;
  const { y } = (await field.boundingBox())!;
  await page.evaluate(`scrollBy({ top: ${y - toast.y - 5}, behavior: 'instant' })`);
  const box = (await field.boundingBox())!;
  expect(box.x + box.width).toBeGreaterThan(toast.x + 20);
  await page.mouse.click(toast.x + 20, box.y + box.height / 2);
  await page.keyboard.type('Through it');
  expect(await said.isVisible()).toBe(true);
  expect(await field.inputValue()).toBe('Through it');
  // it is closed as before
  await page.getByRole('button', { name: 'Close' }).click();
  await said.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('at a desk it stays in the corner', async () => {
  const size: Size = 'desk';
  const { page } = await site.visitAs('viewer', size);
  await page.goto(`${site.baseUrl}/account`);
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Your profile is saved.').waitFor();
  const toast = (await page.locator('.toast').boundingBox())!;
  expect(toast.x + toast.width).toBeGreaterThan(SIZES[size].width - 40);
  expect(toast.y + toast.height).toBeGreaterThan(SIZES[size].height - 40);
});

test('it goes by itself, but not while the pointer is over it or the focus in it', async () => {
  const { page, complaints } = await site.visitAs('viewer', 'desk');
  await page.goto(`${site.baseUrl}/account`);
  const said = page.getByText('Your profile is saved.');
  const close = page.getByRole('button', { name: 'Close' });
  const save = async () => {
    await page.getByRole('button', { name: 'Save profile' }).click();
    await said.waitFor();
  };
  const longerThanItStands = 7_500;
  await save();
  await said.waitFor({ state: 'detached' });

  await save();
  const { x, y, height } = (await page.locator('.toast').boundingBox())!;
  await close.hover();
  await page.mouse.move(x + 20, y + height / 2, { steps: 5 });
  await sleep(longerThanItStands);
  expect(await said.isVisible()).toBe(true);
  await page.mouse.move(200, 200, { steps: 5 });
  await said.waitFor({ state: 'detached' });

  await save();
  await close.focus();
  await page.mouse.move(x + 20, y + height / 2, { steps: 5 });
  await page.mouse.move(200, 200, { steps: 5 });
  await sleep(longerThanItStands);
  expect(await said.isVisible()).toBe(true);
  await page.getByLabel('About you').focus();
  await said.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});
