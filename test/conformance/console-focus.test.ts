/** The focus stays where a person has it, whatever is drawn anew. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';

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

test('a key that was made takes the focus once, and no more from what is pressed after it', { timeout: 120_000 }, async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/account`);
  for (const name of ['first', 'second']) {
    await page.getByLabel('Name of a new key').fill(name);
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByRole('button', { name: `Revoke key ${name}` }).waitFor();
    await expect.poll(() => focused(page)).toBe(await page.locator('#new-key-value').textContent());
  }
  await page.getByRole('button', { name: 'Revoke key first' }).click();
  await page.getByText('The key is revoked.').waitFor();
  expect(await focused(page)).not.toBe(await page.locator('#new-key-value').textContent());
  await page.getByRole('button', { name: 'End all other sessions' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('All other sessions are ended.').waitFor();
  expect(await focused(page)).toBe('End all other sessions');
  expect(complaints).toEqual([]);
});

test('a signing secret takes the focus once', { timeout: 120_000 }, async () => {
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
  expect(await focused(page)).toBe('Switch on');
  expect(complaints).toEqual([]);
});
