/** What the console shows in the place of what was deleted, or was never shared. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

const NOBODY = '01a22354-dc8a-7d07-b942-e23ecf317aed';

test('what is not there is not offered to be tried again, and leads on', async () => {
  const { page, complaints } = owner;
  const id = await makeExperiment(site.owner, 'Half gone');
  const made = await site.owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'Short lived' } });
  expect(made.status, made.text).toBe(201);
  const dashboard = String(made.body.id);
  const main = page.getByRole('main');
  await page.goto(`${site.baseUrl}/experiments/${id}/dashboards/${dashboard}`);
  await page.getByRole('heading', { name: 'Short lived' }).waitFor();
  expect((await site.owner('DELETE', `/api/v1/experiments/${id}/dashboards/${dashboard}`)).status).toBe(200);
  for (const path of [
    `experiments/${id}/dashboards/${dashboard}`,
    `experiments/${id}/uploads/${NOBODY}`,
    `experiments/${id}/metadata/${NOBODY}`,
    `experiments/${NOBODY}`,
    `library/macros/${NOBODY}`,
    `library/protocols/${NOBODY}`,
    `library/workbooks/${NOBODY}`,
    `devices/${NOBODY}`,
    `devices/groups/${NOBODY}`,
    `organizations/${NOBODY}`,
  ]) {
    await page.goto(`${site.baseUrl}/${path}`);
    await main.getByRole('alert').getByText('It may have been deleted, or was never shared with you.').waitFor();
    expect(await main.getByRole('button', { name: 'Try again' }).count(), path).toBe(0);
    expect(await main.getByRole('link', { name: 'To your experiments' }).count(), path).toBe(1);
  }
  // an address of the library that names no kind of thing
  await page.goto(`${site.baseUrl}/library/constructor`);
  await main.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  await looksRight(page, 'missing-desk');
  await main.getByRole('link', { name: 'To your experiments' }).click();
  await page.getByRole('heading', { name: 'Experiments' }).waitFor();
  // the browser notes what the router shows a page for
  expect(complaints.filter((each) => !/ProblemError: There is no such/.test(each))).toEqual([]);
});
