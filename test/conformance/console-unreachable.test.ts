/** A service that is away for a while: the page stays, says so, and goes on afterwards. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startConsole, type Console } from '../support/console.ts';

let site: Console;
beforeAll(async () => {
  site = await startConsole();
});
afterAll(() => site.stop());

test('a part of the console that was not opened before says that the service is away, and opens afterwards', { timeout: 240_000 }, async () => {
  const { context, page, complaints } = await site.visitAs('owner');
  const nav = page.getByRole('navigation', { name: 'Of this experiment' });
  await page.getByRole('link', { name: 'Maize under drought' }).first().click();
  await nav.getByRole('link', { name: 'Charts', exact: true }).click();
  await page.getByRole('heading', { name: 'Charts', exact: true }).waitFor();

  await context.setOffline(true);
  await nav.getByRole('link', { name: 'Metadata' }).click();
  await page.getByRole('heading', { name: 'That did not work' }).waitFor();
  await page.getByText('The service cannot be reached.').waitFor();
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Metadata', exact: true }).waitFor();
  expect(complaints.filter((each) => !/UnreachableError/.test(each))).toEqual([]);
});
