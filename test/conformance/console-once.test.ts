/** What a person asks for again, since no answer came, is done once. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

/** Carries changes at an address out and loses their answers, until that is taken back. */
async function loseAnswers(page: Page, address: string): Promise<() => Promise<void>> {
  await page.route(address, async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    await route.fetch();
    await route.abort('internetdisconnected');
  });
  return () => page.unroute(address);
}
const unreachable = (page: Page) => page.getByRole('alert').getByText('The service cannot be reached.');

test('an experiment is made once, though the answer was lost and the button was pressed again', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const listed = async (name: string) =>
    ((await site.owner('GET', `/api/v1/experiments?search=${name}`)).body as { name: string }[]).filter((each) => each.name === name)
      .length;
  await page.goto(`${site.baseUrl}/experiments/new`);
  const make = async (name: string) => {
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByRole('button', { name: 'Make the experiment' }).click();
  };
  const findAgain = await loseAnswers(page, '**/api/v1/experiments');
  await make('Once');
  await unreachable(page).waitFor();
  await findAgain();
  await make('Once');
  await page.getByRole('heading', { level: 1, name: 'Once' }).waitFor();
  expect(await listed('Once')).toBe(1);
  // what was answered is asked for anew: another of the same name is another
  await page.goto(`${site.baseUrl}/experiments/new`);
  await make('Once');
  await page.getByRole('heading', { level: 1, name: 'Once' }).waitFor();
  expect(await listed('Once')).toBe(2);
  expect(complaints.slice(before)).toEqual([]);
});

test('a comment is made once, though the answer was lost and the button was pressed again', async () => {
  const id = await makeExperiment(site.owner, 'Said once');
  const table = await uploadTable(site.owner, id, 'leaves', 'n\n1\n');
  const { page, complaints } = owner;
  const before = complaints.length;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('gridcell', { name: '1', exact: true }).dblclick();
  const row = page.getByRole('dialog');
  await row.getByLabel('What you say').fill('wilted');
  const findAgain = await loseAnswers(page, '**/annotations/**');
  await row.getByRole('button', { name: 'Annotate this row' }).click();
  await unreachable(page).waitFor();
  await findAgain();
  await row.getByRole('button', { name: 'Annotate this row' }).click();
  await page.getByText('1 row is annotated.').waitFor();
  await row.getByText('wilted').first().waitFor();
  expect(await row.getByRole('button', { name: 'Remove: wilted' }).count()).toBe(1);
  expect(complaints.slice(before)).toEqual([]);
});

test('a save whose answer was lost is no conflict with itself, and one of somebody else is one', async () => {
  const id = await makeExperiment(site.owner, 'Saved once');
  const { page, complaints } = owner;
  const before = complaints.length;
  const address = `/api/v1/experiments/${id}/dashboards`;
  const { body: made } = await site.owner('POST', address, { body: { name: 'Season', widgets: [] } });
  const stored = async () => String((await site.owner('GET', `${address}/${made.id}`)).body.name);
  await page.goto(`${site.baseUrl}/experiments/${id}/dashboards/${made.id}?edit=true`);
  const name = page.getByLabel('Name', { exact: true });
  const save = page.getByRole('button', { name: 'Save', exact: true });
  const findAgain = await loseAnswers(page, `**${address}/*`);
  await name.fill('Season of rain');
  await save.click();
  await unreachable(page).waitFor();
  await findAgain();
  await expect.poll(stored).toBe('Season of rain');
  // written on meanwhile
  await name.fill('Season of much rain');
  await save.click();
  await page.getByText('The dashboard is saved.').waitFor();
  expect(await stored()).toBe('Season of much rain');

  const findOnce = await loseAnswers(page, `**${address}/*`);
  await name.fill('Season of sun');
  await save.click();
  await unreachable(page).waitFor();
  await findOnce();
  expect((await site.owner('PATCH', `${address}/${made.id}`, { body: { name: 'Theirs' } })).status).toBe(200);
  await save.click();
  await page.getByText('Somebody changed this dashboard while you edited it.').waitFor();
  expect(await stored()).toBe('Theirs');
  expect(complaints.slice(before)).toEqual([]);
});

test('a metadata table is saved and deleted, though an answer was lost', async () => {
  const id = await makeExperiment(site.owner, 'Deleted once');
  const { page, complaints } = owner;
  const before = complaints.length;
  const metadata = {
    name: 'Plots',
    columns: [{ id: 'c', name: 'plot', type: 'string' }],
    rows: [{ _id: '1', c: 'P1' }],
    identifierColumnId: 'c',
  };
  const { body: made } = await site.owner('POST', `/api/v1/experiments/${id}/metadata`, {
    body: { metadata: { ...metadata, experimentQuestionId: 'plot' } },
  });
  /** Loses the answer to the first change alone: the client asks again by itself. */
  const loseOne = (address: string) => {
    let isLost = false;
    return page.route(address, async (route) => {
      if (isLost || route.request().method() === 'GET') return route.continue();
      isLost = true;
      await route.fetch();
      await route.abort('internetdisconnected');
    });
  };
  const address = `**/api/v1/experiments/${id}/metadata/*`;
  await page.goto(`${site.baseUrl}/experiments/${id}/metadata/${made.metadataId}?edit=true`);
  await loseOne(address);
  await page.getByLabel('Name', { exact: true }).fill('All plots');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The metadata table is saved.').waitFor();
  await page.unroute(address);
  await page.goto(`${site.baseUrl}/experiments/${id}/metadata/${made.metadataId}`);
  await loseOne(address);
  await page.getByRole('button', { name: /^Delete/ }).click();
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Delete/ })
    .click();
  await page.waitForURL(/\/metadata$/);
  expect((await site.owner('GET', `/api/v1/experiments/${id}/metadata/${made.metadataId}`)).status).toBe(404);
  expect(complaints.slice(before)).toEqual([]);
});

test('an upload that is cut off waits for the network, goes on, and is one', async () => {
  const id = await makeExperiment(site.owner, 'Cut off');
  const { page, context, complaints } = owner;
  const before = complaints.length;
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  await page
    .locator('input[type=file]:not([webkitdirectory])')
    .setInputFiles({ name: 'leaves.csv', mimeType: 'text/csv', buffer: Buffer.from('n\n1\n2\n') });
  await page.getByRole('table', { name: 'Decided for leaves.csv' }).waitFor();
  // the first try arrives, and the network goes before the answer
  let tries = 0;
  await page.route(`**/api/v1/experiments/${id}/data/uploads`, async (route) => {
    tries += 1;
    if (tries === 1) {
      await route.fetch();
      await context.setOffline(true);
    }
    await (tries <= 4 ? route.abort('internetdisconnected') : route.continue());
  });
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByText('The files are sent as soon as you are connected').waitFor();
  expect(tries).toBe(4);
  await context.setOffline(false);
  await page.getByRole('status').getByText('Upload complete: 2 rows stored.').waitFor({ timeout: 60_000 });
  expect(tries).toBe(5);
  const { body } = await site.owner('GET', `/api/v1/experiments/${id}/data/uploads`);
  expect(body.uploads).toHaveLength(1);
  expect(complaints.slice(before)).toEqual([]);
});

test('settings whose answer was lost are saved by another press', async () => {
  const id = await makeExperiment(site.owner, 'Set once');
  const { page, complaints } = owner;
  const before = complaints.length;
  await page.goto(`${site.baseUrl}/experiments/${id}/settings`);
  const findAgain = await loseAnswers(page, `**/api/v1/experiments/${id}`);
  await page.locator('#experiment-name').fill('Set twice');
  const save = page
    .locator('form')
    .filter({ has: page.locator('#experiment-name') })
    .getByRole('button', { name: 'Save', exact: true });
  await save.click();
  await unreachable(page).waitFor();
  await findAgain();
  await save.click();
  await page.getByText('The experiment is changed.').waitFor();
  expect((await site.owner('GET', `/api/v1/experiments/${id}`)).body.name).toBe('Set twice');
  expect(complaints.slice(before)).toEqual([]);
});
