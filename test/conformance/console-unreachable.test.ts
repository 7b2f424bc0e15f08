/** A service that is away for a while: the page stays, says so, and goes on afterwards. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

test('a part of the console that was not opened before says that the service is away, and opens afterwards', async () => {
  const { context, page, complaints } = owner;
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

test('a dashboard is edited as soon as there is a network, and what was changed stays while one is missing', async () => {
  const { context, page } = owner;
  const id = await makeExperiment(site.owner, 'Away');
  const layout = { col: 0, row: 0, colSpan: 12, rowSpan: 2 };
  const text = { id: randomUUID(), type: 'richText', layout, config: { html: '<p>Half of the plots</p>' } };
  const body = { name: 'Season', layout: { columns: 12, rowHeight: 60, gap: 16 }, widgets: [text] };
  const made = await site.owner('POST', `/api/v1/experiments/${id}/dashboards`, { body });
  expect(made.status, made.text).toBe(201);
  await page.goto(`${site.baseUrl}/experiments/${id}/dashboards/${made.body.id}`);
  await page.getByText('Half of the plots').waitFor();

  await context.setOffline(true);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByText('One moment…').waitFor();
  await context.setOffline(false);
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Not saved yet');

  await context.setOffline(true);
  await page.getByRole('button', { name: 'Edit the text' }).click();
  await page.getByText('One moment…').waitFor();
  expect(await name.inputValue()).toBe('Not saved yet');
  await context.setOffline(false);
  await page.getByRole('textbox', { name: 'Text', exact: true }).waitFor();
  expect(await name.inputValue()).toBe('Not saved yet');
});

test('an editor of code that could not be fetched is opened by trying again', async () => {
  const { page } = owner;
  const made = await site.owner('POST', '/api/v1/macros', { body: { name: 'Cut off', language: 'python', code: 'output["n"] = 1\n' } });
  expect(made.status, made.text).toBe(201);
  const EDITOR = /assets\/codemirror/;
  await page.route(EDITOR, (route) => route.abort('connectionfailed'));
  await page.goto(`${site.baseUrl}/library/macros/${made.body.id}`);
  await page.getByText('The service cannot be reached.').first().waitFor();
  await page.unroute(EDITOR);
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await page
    .getByRole('textbox', { name: /^Code of/ })
    .getByText('output')
    .waitFor();
  expect(await page.getByText('The service cannot be reached.').count()).toBe(0);
});

test('a chart whose library could not be fetched is drawn by trying again', async () => {
  const { page } = await site.copyOf(owner, 'desk');
  const table = `${site.baseUrl}/experiments/${site.sample.experimentId}/tables/raw_data`;
  const LIBRARY = /assets\/(vega-)?embed/;
  await page.route(LIBRARY, (route) => route.abort('connectionfailed'));
  await page.goto(`${table}/chart`);
  await page.getByText('The service cannot be reached.').first().waitFor();
  await page.unroute(LIBRARY);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.drawing svg').waitFor();
  expect(await page.getByText('The service cannot be reached.').count()).toBe(0);
});
