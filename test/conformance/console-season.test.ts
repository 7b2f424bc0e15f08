/** What somebody meets in a season of an experiment: numbers, names and sentences that can be read. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
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

const asked = (parts: Record<string, unknown>) =>
  new URLSearchParams(Object.entries(parts).map(([name, part]) => [name, JSON.stringify(part)])).toString();

test('a mean has the digits that mean something, and gives every digit to a spreadsheet', async () => {
  const id = await makeExperiment(site.owner, 'Means');
  const table = await uploadTable(site.owner, id, 'leaves', 'plot,spad,mass\na,41.5,123456789.1\na,42,123456789.2\na,43,123456789.2\n');
  const { page, complaints } = owner;
  const functions = [
    { column: 'spad', function: 'avg' },
    { column: 'mass', function: 'avg' },
    { column: 'spad', function: 'max' },
  ];
  await page.goto(
    `${site.baseUrl}/experiments/${id}/tables/${table}?${asked({ aggregation: { groupBy: [{ column: 'plot' }], functions } })}`,
  );
  const cells = page.getByRole('gridcell');
  await expect.poll(() => cells.allTextContents()).toEqual(['a', '42.1667', '123456789', '43']);
  expect(await cells.nth(1).locator('data').getAttribute('title')).toBe('42.166666666666664');
  await owner.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const copy = async (marked: string) => {
    await page.evaluate(`document.getSelection().selectAllChildren(document.querySelector('${marked}'))`);
    await page.keyboard.press('Control+c');
    return String(await page.evaluate('navigator.clipboard.readText()'));
  };
  expect((await copy('.grid-body .grid-row')).split('\t').slice(0, 2)).toEqual(['a', '42.166666666666664']);
  expect(await copy('.grid-body data')).toBe('42.166666666666664');
  expect(complaints).toEqual([]);
});

test('a text is not cut while there is room beside it', async () => {
  const id = await makeExperiment(site.owner, 'Remarks');
  const remark = 'the leaf was folded by the wind and measured again';
  const table = await uploadTable(site.owner, id, 'leaves', `n,remark,station\n1,${remark},north\n2,fine,south\n`);
  const { page, complaints } = owner;
  const isCut = (text: string) => page.getByRole('gridcell', { name: text }).evaluate((cell) => cell.scrollWidth > cell.clientWidth);
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}?${asked({ columns: ['n', 'remark', 'station'] })}`);
  await expect.poll(() => isCut(remark)).toBe(false);
  await page.getByRole('gridcell', { name: 'north' }).waitFor();
  expect(complaints).toEqual([]);
});

test('a filter of a dashboard says which table it narrows, where there are others', async () => {
  const id = await makeExperiment(site.owner, 'Two tables');
  const [leaves, roots] = [
    await uploadTable(site.owner, id, 'leaves', 'n,treatment\n1,control\n2,drought\n'),
    await uploadTable(site.owner, id, 'roots', 'n,treatment\n1,control\n2,drought\n'),
  ];
  const layout = { col: 0, row: 0, colSpan: 12, rowSpan: 4 };
  const part = (type: string, config: object) => ({ id: crypto.randomUUID(), type, layout, config });
  const filter = part('filter', { tableName: leaves, column: 'treatment', operator: 'equals' });
  const make = async (...tables: string[]) => {
    const widgets = [filter, ...tables.map((tableName) => part('table', { tableName }))];
    const made = await site.owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'Season', widgets } });
    return `${site.baseUrl}/experiments/${id}/dashboards/${made.body.id}`;
  };
  const { page, complaints } = owner;
  const told = page.getByText('Narrows what is drawn of leaves only.');
  await page.goto(await make(leaves));
  await page.getByText('2 of 2 rows').waitFor();
  expect(await told.count()).toBe(0);
  await page.goto(await make(leaves, roots));
  await told.waitFor();
  await page.getByLabel('Only where treatment is').selectOption('drought');
  await page.getByText('1 of 1 rows').waitFor();
  await page.getByText('2 of 2 rows').waitFor();
  expect(complaints).toEqual([]);
});

test('a metadata table says when no measurement names its identifiers', async () => {
  const id = await makeExperiment(site.owner, 'Plots');
  const { body: place } = await site.owner('POST', '/api/v1/iot/upload-url', { body: { experimentId: id } });
  const measured = ['01', '02'].map((plot, at) => ({
    timestamp: `2026-05-01T10:00:0${at}Z`,
    sample: { at },
    questions: [{ question_label: 'plot', question_answer: plot }],
  }));
  expect((await fetch(place.uploadUrl, { method: 'PUT', headers: place.headers, body: JSON.stringify(measured) })).status).toBeLessThan(
    300,
  );
  const rows = async () => (await site.owner('GET', `/api/v1/experiments/${id}/data?tableName=raw_data`)).body[0]?.totalRows as number;
  await vi.waitUntil(async () => (await rows()) === 2, { timeout: 60_000, interval: 200 });
  const make = async (plots: readonly (string | number)[]) => {
    const columns = [
      { id: 'p', name: 'Plot', type: typeof plots[0] },
      { id: 's', name: 'Soil', type: 'string' },
    ];
    const metadata = {
      name: 'Soils',
      columns,
      rows: plots.map((p) => ({ _id: String(p), p, s: 'clay' })),
      identifierColumnId: 'p',
      experimentQuestionId: 'plot',
    };
    const made = await site.owner('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata } });
    expect(made.status).toBe(201);
    return `${site.baseUrl}/experiments/${id}/metadata/${made.body.metadataId}`;
  };
  const { page, complaints } = owner;
  const none = page.getByText('Measurements name 01, 02; the table has 1, 2.');
  await page.goto(await make([1, 2]));
  await none.waitFor();
  await page.goto(await make(['01']));
  await page.getByText('It has no row for measurements of 02.').waitFor();
  expect(await none.count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('a macro that nothing names is run over every measurement, unless told otherwise', async () => {
  const id = await makeExperiment(site.owner, 'No macro yet');
  const made = await site.owner('POST', '/api/v1/macros', { body: { name: 'Lone', language: 'javascript', code: 'return { a: 1 };' } });
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/macros/${made.body.id}`);
  await page.getByText('It is not run over rows of uploaded files.').waitFor();
  expect(await page.getByLabel('every measurement').isChecked()).toBe(true);
  await page.getByLabel('measurements that name it').check();
  await page.getByRole('button', { name: 'Run over the past' }).click();
  await page.getByText('A run over every measurement needs no name.').waitFor();
  expect(await page.locator('main').innerText()).not.toContain('POST');
  expect(complaints).toEqual([]);
});

test('a new branch reads the question before it, and says how cells are named', async () => {
  const question = { kind: 'yes_no', text: 'Is it dry?', required: false };
  const cells = [{ id: 'question-1', type: 'question', isCollapsed: false, name: 'dry', question, isAnswered: false }];
  const made = await site.owner('POST', '/api/v1/workbooks', { body: { name: 'Ways', cells } });
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/library/workbooks/${made.body.id}`);
  await page.getByLabel('Add a cell').selectOption('branch');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('before the branch: question-1 (dry).').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  await page.getByText('The workbook is saved.').waitFor();
  const stored = (await site.owner('GET', `/api/v1/workbooks/${made.body.id}`)).body as { cells: { paths?: unknown[] }[] };
  expect(stored.cells[1]?.paths?.[0]).toMatchObject({ conditions: [{ sourceCellId: 'question-1', field: 'answer', operator: 'eq' }] });
  await page.getByText('Nothing would stop it in the field.').waitFor();
  expect(complaints).toEqual([]);
});

test('a type of chart that there is none of is told, and drawn as one that there is', async () => {
  const id = await makeExperiment(site.owner, 'Types');
  const table = await uploadTable(site.owner, id, 'leaves', 'genotype,spad\nB73,41.5\nMo17,42\n,40\n');
  const { page, complaints } = owner;
  const told = page.getByText('There is no chart of the type “piechart”');
  const sources = JSON.stringify([
    { role: 'x', columnName: 'genotype' },
    { role: 'y', columnName: 'spad' },
  ]);
  const address = (type: string) =>
    `${site.baseUrl}/experiments/${id}/tables/${table}/chart?${new URLSearchParams({ type, sources }).toString()}`;
  await page.goto(address('bar'));
  await page.locator('.drawing svg').getByText('no value').waitFor();
  expect(await told.count()).toBe(0);
  await page.goto(address('piechart'));
  await told.waitFor();
  await page.getByLabel('Type', { exact: true }).selectOption('bar');
  await told.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('a row is left by Escape only when what was written of it may go', async () => {
  const id = await makeExperiment(site.owner, 'Words');
  const table = await uploadTable(site.owner, id, 'leaves', 'n\n1\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('gridcell', { name: '1', exact: true }).dblclick();
  const row = page.getByRole('dialog', { name: 'Row' });
  await row.getByLabel('What you say').fill('windy');
  await row.getByRole('button', { name: 'Annotate this row' }).click();
  await row.getByRole('button', { name: 'Change: windy' }).click();
  const text = row.getByLabel('What you say').first();
  await text.fill('windy, and measured again');
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await text.inputValue()).toBe('windy, and measured again');
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Leave' }).click();
  await row.waitFor({ state: 'detached' });
  // nothing is asked where nothing was written
  await page.getByRole('gridcell', { name: '1', exact: true }).dblclick();
  await row.getByText('windy', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await row.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('rows are found by a flag that is chosen', async () => {
  const id = await makeExperiment(site.owner, 'Flags');
  const table = await uploadTable(site.owner, id, 'leaves', 'n\n1\n2\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByLabel('Choose row 2').check();
  await page.getByLabel('Say it as').selectOption('outlier');
  await page.getByRole('button', { name: 'Annotate this row' }).click();
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByLabel('Column', { exact: true }).selectOption('annotations');
  await page.getByLabel('Value').selectOption('outlier');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('annotations holds the flag outlier').waitFor();
  await expect.poll(async () => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1).toBe(1);
  expect(complaints).toEqual([]);
});

test('only columns that can be summed up are offered, and moments that stand for themselves are told', async () => {
  const id = await makeExperiment(site.owner, 'Moments');
  const table = await uploadTable(site.owner, id, 'leaves', 'at,genotype,spad\n2026-05-01T08:00:00Z,B73,41\n2026-05-02T08:00:00Z,W22,42\n');
  const { page, complaints } = owner;
  const sources = JSON.stringify([
    { role: 'x', columnName: 'at' },
    { role: 'y', columnName: 'spad', aggregate: 'avg' },
  ]);
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}/chart?${new URLSearchParams({ type: 'line', sources }).toString()}`);
  const offered = () => page.getByLabel('Up (y)', { exact: true }).getByRole('option').allTextContents();
  await page.locator('.drawing svg').waitFor();
  expect(await offered()).toEqual(['choose a column', 'spad']);
  await page.getByLabel('Sum rows up by').selectOption({ label: 'every row by itself' });
  await expect.poll(offered).toContain('genotype');
  const told = page.getByText('Each moment stands for itself.');
  expect(await told.count()).toBe(0);
  await page.getByLabel('Type', { exact: true }).selectOption('box-plot');
  await told.waitFor();
  await page.getByLabel('Across (x)', { exact: true }).selectOption('genotype');
  await told.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});
