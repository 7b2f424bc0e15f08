/** The same thing has one word on every page, and what is shown of a value is what means something. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { lettersTo } from '../support/outbox.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
let id: string;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
  id = await makeExperiment(site.owner, 'Words');
});
afterAll(() => site.stop());

test('a moment with microseconds is shown whole', async () => {
  const table = await uploadTable(site.owner, id, 'instants', 'at,spad\n2026-03-30T10:10:08.123456Z,40\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  const cell = page.getByRole('gridcell').filter({ hasText: '2026-03-30 10:10:08.123456' });
  await cell.waitFor();
  expect(await cell.evaluate((shown) => shown.scrollWidth - shown.clientWidth)).toBeLessThanOrEqual(0);
  await looksRight(page, 'microseconds-desk');
  expect(complaints).toEqual([]);
});

test('what is computed has the words of charts, and a count the name count', async () => {
  const table = await uploadTable(site.owner, id, 'counted', 'plot,line,spad\n1,A,40\n2,A,42\n3,B,30\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByText('Rows 1–3 of 3').waitFor();
  await page.getByRole('button', { name: 'Aggregate', exact: true }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Group by').selectOption('line');
  await form.getByLabel('Function').selectOption({ label: 'mean' });
  // the plot is a label, whose mean says nothing
  expect(await form.getByLabel('Column', { exact: true }).inputValue()).toBe('spad');
  await form.getByLabel('and compute').selectOption({ label: 'number of rows' });
  await looksRight(page, 'aggregate-words-desk');
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('columnheader', { name: /^spad_avg/ }).waitFor();
  await page.getByRole('columnheader', { name: /^count / }).waitFor();
  expect(complaints).toEqual([]);
});

test('days, weeks and longer of UTC are days, too', async () => {
  const table = await uploadTable(site.owner, id, 'weeks', 'at,spad\n2026-04-01T08:00:00Z,40\n2026-04-02T08:00:00Z,42\n');
  const { page } = owner;
  for (const [timeBucket, shown] of [
    ['week', ['2026-03-30']],
    ['month', ['2026-04-01']],
    ['hour', ['2026-04-01 08:00:00', '2026-04-02 08:00:00']],
  ] as const) {
    const aggregation = { groupBy: [{ column: 'at', timeBucket }], functions: [{ column: 'spad', function: 'avg' }] };
    await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}?aggregation=${encodeURIComponent(JSON.stringify(aggregation))}`);
    await page.getByRole('gridcell').first().waitFor();
    expect((await page.locator('.grid-cell time').allTextContents()).toSorted()).toEqual(shown);
  }
});

test('who may read and contribute is a contributor, on the page as in the letter', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/sharing`);
  await page.getByText('A contributor may read and contribute.').waitFor();
  await page.getByLabel('Name or email address').fill('somebody@field.example');
  await page.getByRole('button', { name: 'Invite somebody@field.example' }).click();
  await page.getByText(/^as contributor, by Owner Sample/).waitFor();
  const dataDir = site.lakeFolder.replace(/\/lake$/, '');
  await vi.waitFor(() => expect(lettersTo({ dataDir }, 'somebody@field.example').join('')).toContain('as a contributor who can'), 20_000);
  await looksRight(page, 'contributor-desk');

  const made = await site.owner('POST', '/api/v1/protocols', { body: { name: 'Words', code: [{}], family: 'multispeq' } });
  expect(made.status, made.text).toBe(201);
  await page.goto(`${site.baseUrl}/library/protocols/${String(made.body.id)}/sharing`);
  await page.getByText('A viewer may read.').waitFor();
  expect(complaints).toEqual([]);
});
