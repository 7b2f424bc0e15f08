import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';
import { SCRIPTS } from '../support/scripts-in-text.ts';

interface Stored {
  metadataId: string;
  metadata: {
    name: string;
    columns: { id: string; name: string; type: string }[];
    rows: Record<string, unknown>[];
    identifierColumnId: string;
    experimentQuestionId: string;
  };
}

let site: Console;
let owner: Visitor;
let experimentId: string;
let files: string;

const api = (path = '') => `/api/v1/experiments/${experimentId}/metadata${path}`;
const address = (path = '') => `${site.baseUrl}/experiments/${experimentId}/metadata${path}`;
const list = async (): Promise<Stored[]> => (await site.owner('GET', api())).body as Stored[];
const only = async (): Promise<Stored> => {
  const found = await list();
  expect(found).toHaveLength(1);
  return found[0]!;
};
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const cell = (page: Page, column: string, row: number) => page.getByLabel(`${column} of row ${row}`, { exact: true });
const valuesOf = (controls: unknown[]) => controls.map((each) => (each as { value: string }).value);
const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth');

beforeAll(async () => {
  files = mkdtempSync(join(tmpdir(), 'fieldlake-metadata-'));
  site = await startConsole();
  owner = await site.visitAs('owner');
  const members = [{ userId: site.sample.users.viewer.id }];
  const body = { name: 'Plots under drought', organizationId: site.sample.organizationId, members };
  experimentId = String((await site.owner('POST', '/api/v1/experiments', { body })).body.id);
  const { body: place } = await site.owner('POST', '/api/v1/iot/upload-url', { body: { experimentId } });
  const measured = ['P1', 'P2'].map((plot, at) => ({
    timestamp: `2026-05-01T10:00:0${at}Z`,
    device_id: 'dev-a',
    sample: { at },
    questions: [{ question_label: 'Plot', question_answer: plot }],
  }));
  const sent = await fetch(place.uploadUrl, { method: 'PUT', headers: place.headers, body: JSON.stringify(measured) });
  expect(sent.status).toBeLessThan(300);
  const rows = async () =>
    ((await site.owner('GET', `/api/v1/experiments/${experimentId}/tables`)).body as { identifier: string; totalRows: number }[]).find(
      ({ identifier }) => identifier === 'raw_data',
    )?.totalRows;
  await vi.waitUntil(async () => (await rows()) === 2, { timeout: 60_000, interval: 100 });
});
afterAll(async () => {
  await site.stop();
  rmSync(files, { recursive: true });
});

test('is pasted, looked through, saved, and stands beside the measurements', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${experimentId}`);
  await page.getByRole('link', { name: 'Metadata', exact: true }).click();
  await page.getByRole('heading', { name: 'No metadata table yet' }).waitFor();
  await looksRight(page, 'metadata-none-desk');
  await page.getByRole('link', { name: 'Add a table' }).click();
  const source = page.getByLabel('Rows, the first line with the names of the columns');

  // what is no table is told with its line, and stays
  for (const [text, sentence] of [
    [' \n ', /nothing to read/],
    ['plot,treatment\nP1,"dry\nP2,wet\n', /quote that begins in line 2 does not end/],
    ['plot,treatment\n\nP1,dry,late\n', /Line 3 has 3 cells, but the first line names 2 columns/],
  ] as const) {
    await source.fill(text);
    await click(page, 'Read the rows');
    await page.getByRole('alert').getByText(sentence).waitFor();
    expect(await source.inputValue()).toBe(text);
  }
  await looksRight(page, 'metadata-paste-desk');
  await source.fill('plot\tSown on\tarea\tcode\tcode\nP1\t2026-03-01\t2.5\t007\t"a\ttab, ""quoted"""\nP2\t2026-03-02\t\t012\t\n');
  await click(page, 'Read the rows');
  await expect.poll(() => page.getByLabel(/^Name of column/).evaluateAll(valuesOf)).toEqual(['plot', 'Sown_on', 'area', 'code', 'code_2']);
  expect(await page.getByLabel(/^Type of/).evaluateAll(valuesOf)).toEqual(['string', 'date', 'number', 'string', 'string']);
  await page.getByLabel('Name', { exact: true }).fill('Plots');
  await page.getByLabel('Is matched with').selectOption({ label: 'the answer to “plot”' });

  // names that would be refused are told at once
  await page.getByLabel('Name of column 5').fill('CODE');
  await page.getByText('Two columns are called “CODE”. Upper and lower case count as the same.').waitFor();
  expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
  await page.getByLabel('Name of column 5').fill('said');
  await cell(page, 'area', 2).fill('a few');
  await page.getByText(/1 cell is not of the type of the column/).waitFor();
  await looksRight(page, 'metadata-make-desk');
  await click(page, 'Save');
  await page.getByText(/The metadata table is made/).waitFor();
  await page.getByRole('region', { name: 'Rows of Plots' }).first().waitFor();
  expect((await only()).metadata).toEqual({
    name: 'Plots',
    columns: [
      { id: 'c1', name: 'plot', type: 'string' },
      { id: 'c2', name: 'Sown_on', type: 'date' },
      { id: 'c3', name: 'area', type: 'number' },
      { id: 'c4', name: 'code', type: 'string' },
      { id: 'c5', name: 'said', type: 'string' },
    ],
    rows: [
      { _id: '1', c1: 'P1', c2: '2026-03-01', c3: 2.5, c4: '007', c5: 'a\ttab, "quoted"' },
      { _id: '2', c1: 'P2', c2: '2026-03-02', c3: 'a few', c4: '012' },
    ],
    identifierColumnId: 'c1',
    experimentQuestionId: 'plot',
  });
  await page.getByText('Its column “plot” is matched with the answer to “plot”.').waitFor();
  await looksRight(page, 'metadata-desk');
  await page.getByRole('link', { name: 'See them beside the measurements' }).click();
  await page.getByRole('columnheader', { name: /Sown_on/ }).waitFor();
  await page.getByRole('gridcell', { name: '2026-03-01' }).waitFor();
  await page.getByRole('gridcell', { name: '2.5' }).waitFor();
  expect(complaints).toEqual([]);
});

test('is edited: cells, rows and columns, and replaced as a whole', async () => {
  const { page, complaints } = owner;
  const before = await only();
  // what the console does not show is kept
  const rows = [...before.metadata.rows.map((row) => ({ ...row, note: ['kept'] })), { _id: 'x', plot: 'P1', area: 7 }];
  const stored = await site.owner('PUT', api(`/${before.metadataId}`), { body: { metadata: { ...before.metadata, rows } } });
  expect(stored.status, stored.text).toBe(200);
  await page.goto(address());
  await page.getByRole('link', { name: 'Plots', exact: true }).click();
  await page.getByText(/More than one row has the identifier P1/).waitFor();
  await click(page, 'Edit');
  expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
  await cell(page, 'area', 2).fill('4.25');
  await cell(page, 'said', 1).fill('');
  await page.getByLabel('Name of column 3').fill('square_metres');
  await click(page, 'Take off column code');
  await click(page, 'Add a column');
  await page.getByLabel('Name of column 5').fill('treatment');
  await click(page, 'Add a row');
  await cell(page, 'plot', 4).fill('P4');
  await cell(page, 'treatment', 4).fill('dry');
  await click(page, 'Take off row 1');
  await looksRight(page, 'metadata-edit-desk');
  await click(page, 'Save');
  await page.getByText(/The metadata table is saved/).waitFor();
  expect((await only()).metadata).toMatchObject({
    columns: [
      { id: 'c1', name: 'plot' },
      { id: 'c2', name: 'Sown_on' },
      { id: 'c3', name: 'square_metres', type: 'number' },
      { id: 'c5', name: 'said' },
      { name: 'treatment', type: 'string' },
    ],
    rows: [
      { _id: '2', c1: 'P2', c2: '2026-03-02', c3: 4.25, note: ['kept'] },
      { _id: 'x', plot: 'P1', c3: 7 },
      { c1: 'P4', c6: 'dry' },
    ],
  });
  await click(page, 'Stop editing');
  await page.getByRole('cell', { name: 'P4' }).waitFor();
  expect(complaints).toEqual([]);
});

test('keeps what was done when the service refuses it', async () => {
  const { page, complaints } = owner;
  const { metadataId, metadata } = await only();
  const elsewhere = (name: string) => site.owner('PUT', api(`/${metadataId}`), { body: { metadata: { ...metadata, name } } });
  const name = page.getByLabel('Name', { exact: true });
  await page.goto(address(`/${metadataId}?edit=true`));
  await name.fill('Mine');
  expect((await elsewhere('Theirs')).status).toBe(200);
  await click(page, 'Save');
  await page
    .getByRole('alert')
    .getByText(/Somebody changed this metadata table while you edited it/)
    .waitFor();
  expect(await name.inputValue()).toBe('Mine');
  expect((await only()).metadata.name).toBe('Theirs');
  await looksRight(page, 'metadata-conflict-desk');
  await click(page, 'Save mine over it');
  await page.getByText(/The metadata table is saved/).waitFor();
  expect((await only()).metadata.name).toBe('Mine');
  await name.fill('Mine again');
  expect((await elsewhere(SCRIPTS[3]!)).status).toBe(200);
  await click(page, 'Save');
  await click(page, 'Drop mine and show theirs');
  await expect.poll(() => name.inputValue()).toBe(SCRIPTS[3]);
  expect((await elsewhere('Plots')).status).toBe(200);
  await page.reload();

  const refused = async (sentence: RegExp) => {
    await click(page, 'Save');
    await page.getByRole('alert').getByText(sentence).waitFor({ timeout: 30_000 });
    expect(await name.inputValue()).toBe('Kept');
    expect(await cell(page, 'plot', 1).inputValue()).toBe('P9');
  };
  await name.fill('Kept');
  await cell(page, 'plot', 1).fill('P9');
  await owner.context.setOffline(true);
  await refused(/cannot be reached/);
  await owner.context.setOffline(false);
  await site.owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'archived' } });
  await refused(/archived/);
  await site.owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'active' } });
  await page.getByLabel('Name of column 2').fill('device_id');
  await refused(/The name “device_id” is the name of a column that every measurement has/);
  await page.getByLabel('Name of column 2').fill('sown_on');
  await page.route('**/metadata/*', (route) =>
    route.request().method() === 'GET'
      ? route.continue()
      : route.fulfill({
          status: 429,
          headers: { 'retry-after': '90', 'content-type': 'application/problem+json' },
          body: JSON.stringify({ title: 'Too many requests', status: 429, detail: 'There were too many requests.', code: 'RATE_LIMITED' }),
        }),
  );
  await refused(/Try again in 90 seconds/);
  await page.unroute('**/metadata/*');

  // whoever leaves is asked, and may stay
  await page.getByRole('link', { name: 'All metadata tables' }).click();
  await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor();
  await click(page, 'Cancel');
  expect(await name.inputValue()).toBe('Kept');
  await click(page, 'Save');
  await page.getByText(/The metadata table is saved/).waitFor();
  expect((await only()).metadata).toMatchObject({ name: 'Kept', rows: [{ c1: 'P9' }, {}, {}] });

  // a deletion that is refused says why, where it was asked
  await click(page, 'Stop editing');
  await site.owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'archived' } });
  await click(page, 'Delete Kept');
  const asked = page.getByRole('alertdialog', { name: 'Delete Kept' });
  await asked.getByRole('button', { name: 'Delete' }).click();
  await asked.getByText(/archived/).waitFor();
  await asked.getByRole('button', { name: 'Cancel' }).click();
  expect(await list()).toHaveLength(1);
  await page.reload();
  await page.getByRole('heading', { name: 'Kept' }).waitFor();
  for (const button of ['Edit', 'Delete Kept']) expect(await page.getByRole('button', { name: button, exact: true }).count()).toBe(0);
  await site.owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'active' } });
  // the browser tells of the refusal too
  expect(complaints.splice(0)).toEqual([expect.stringMatching(/status of 400/)]);
});

test('is seen by whoever may only read, without a control', async () => {
  const { metadataId } = await only();
  const heard: number[] = [];
  const metadata = {
    name: SCRIPTS[0],
    columns: [
      { id: 'a', name: 'instrument', type: 'string' },
      { id: 'b', name: 'note', type: 'string' },
      // no row has one, though every object knows one
      { id: 'constructor', name: 'constructor', type: 'string' },
    ],
    rows: Array.from({ length: 120 }, (_, at) => ({ _id: String(at), a: `dev-${at}`, b: SCRIPTS[at % SCRIPTS.length] })),
    identifierColumnId: 'a',
    experimentQuestionId: 'column:device_id',
  };
  const made = await site.owner('POST', api(), { body: { metadata } });
  expect(made.status, made.text).toBe(201);
  for (const size of ['desk', 'phone'] as const) {
    const viewer = await site.visitAs('viewer', size);
    const { page } = viewer;
    await page.exposeFunction('fired', (number: number) => void heard.push(number));
    await page.goto(address());
    await page.getByRole('link', { name: 'Kept' }).waitFor();
    expect(await page.getByRole('link', { name: 'Add a table' }).count()).toBe(0);
    await looksRight(page, `metadata-list-${size}`);
    await page.getByRole('link', { name: SCRIPTS[0]! }).click();
    await page.getByText('Its column “instrument” is matched with the device that measured.').waitFor();
    await page.getByText('Rows 1–50 of 120').waitFor();
    await click(page, 'Next rows');
    await click(page, 'Next rows');
    await page.getByText('Rows 101–120 of 120').waitFor();
    await page.getByRole('cell', { name: 'dev-119' }).waitFor();
    const next = page.getByRole('button', { name: 'Next rows' });
    expect(await next.getAttribute('aria-disabled')).toBe('true');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Next rows');
    await looksRight(page, `metadata-seen-${size}`);
    expect(await fits(page)).toBe(true);
    // addresses of forms show none
    for (const path of [`/${metadataId}?edit=true`, '/new']) {
      await page.goto(address(path));
      await page.getByRole('link', { name: 'All metadata tables' }).waitFor();
      for (const button of ['Edit', 'Save', 'Read the rows', 'Delete Kept'])
        expect(await page.getByRole('button', { name: button, exact: true }).count()).toBe(0);
    }
    await page.getByText(/Whoever manages the experiment adds metadata tables/).waitFor();
    expect(viewer.complaints).toEqual([]);
    await viewer.context.close();
  }
  expect(heard).toEqual([]);
  expect((await site.owner('DELETE', api(`/${String(made.body.metadataId)}`))).status).toBe(200);
});

test('is read of a file and deleted, on a phone', async () => {
  const phone = await site.copyOf(owner, 'phone');
  const { page } = phone;
  await page.goto(address('/new'));
  const field = page.getByLabel('Or read a file (CSV, TSV)');
  const workbook = join(files, 'sheet.csv');
  writeFileSync(workbook, Buffer.from([0x50, 0x4b, 3, 4, 0, 0, 0]));
  await field.setInputFiles(workbook);
  await page
    .getByRole('alert')
    .getByText(/This is no text/)
    .waitFor();
  // as a spreadsheet of another country writes it
  const file = join(files, 'Devices 2026.csv');
  writeFileSync(file, Buffer.from('instrument;Höhe;Ort\r\ndev-a;12;Ede\r\ndev-b;14;Köln\r\n', 'latin1'));
  await field.setInputFiles(file);
  await page.getByLabel('Name', { exact: true }).waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Devices 2026');
  await page.getByLabel('Is matched with').selectOption({ label: 'another question…' });
  await page.getByLabel('The question as its column is called').fill('never_asked');
  await looksRight(page, 'metadata-make-phone');
  expect(await fits(page)).toBe(true);
  await page.getByLabel('Is matched with').selectOption({ label: 'the device that measured' });
  await phone.context.setOffline(true);
  await click(page, 'Save');
  await page
    .getByRole('alert')
    .getByText(/cannot be reached/)
    .waitFor({ timeout: 30_000 });
  await phone.context.setOffline(false);
  await click(page, 'Save');
  await page.getByRole('heading', { name: 'Devices 2026' }).waitFor();
  const [newest] = await list();
  expect(newest!.metadata).toMatchObject({
    name: 'Devices 2026',
    columns: [{ name: 'instrument' }, { name: 'Hohe', type: 'number' }, { name: 'Ort' }],
    rows: [
      { c1: 'dev-a', c2: 12, c3: 'Ede' },
      { c1: 'dev-b', c2: 14, c3: 'Köln' },
    ],
    experimentQuestionId: 'column:device_id',
  });
  await looksRight(page, 'metadata-phone');
  await click(page, 'Delete Devices 2026');
  await page.getByRole('alertdialog', { name: 'Delete Devices 2026' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The metadata table is deleted.').waitFor();
  await page.getByRole('link', { name: 'Kept' }).waitFor();
  expect(await list()).toHaveLength(1);
  expect(phone.complaints).toEqual([]);
  await phone.context.close();
});
