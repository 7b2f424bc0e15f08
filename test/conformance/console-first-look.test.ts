/** What somebody who measures plants meets when they first look at the sample. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';

let site: Console;
let owner: Visitor;
let device: string;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
  const made = await site.owner('POST', '/api/v1/devices', { body: { serialNumber: '54:4b:09', deviceType: 'multispeq', name: 'Leaf 9' } });
  expect(made.status, made.text).toBe(201);
  device = String(made.body.id);
});
afterAll(() => site.stop());

test('a device whose measurements people sent is said to have connected and sent nothing itself', { timeout: 120_000 }, async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/devices`);
  const row = page.getByRole('listitem').filter({ hasText: 'Leaf 9' });
  await row.getByText('never connected', { exact: true }).waitFor();
  await row.getByText('sent nothing itself yet').waitFor();
  await row.getByText('nothing in a week').waitFor();
  expect(await page.getByText(/never seen|\baway\b|no data yet/).count()).toBe(0);
  await page.goto(`${site.baseUrl}/devices/${device}`);
  await page.getByText('never connected', { exact: true }).waitFor();
  await page.getByText('It sent nothing itself in this time. What people sent of it is in the tables of their experiments.').waitFor();
  await looksRight(page, 'device-never-connected-desk');
  expect(complaints).toEqual([]);
});
