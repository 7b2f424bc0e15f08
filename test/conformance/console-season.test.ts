/** What somebody meets in a season of an experiment: numbers, names and sentences that can be read. */
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

const asked = (parts: Record<string, unknown>) =>
  new URLSearchParams(Object.entries(parts).map(([name, part]) => [name, JSON.stringify(part)])).toString();

test('a mean has the digits that mean something, and gives every digit to a spreadsheet', { timeout: 240_000 }, async () => {
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

test('a text is not cut while there is room beside it', { timeout: 240_000 }, async () => {
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

test('a filter of a dashboard says which table it narrows, where there are others', { timeout: 240_000 }, async () => {
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
