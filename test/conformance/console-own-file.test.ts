/** Somebody who measures plants brings a file as spreadsheets make them, and goes from it to a chart without its outliers. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';

const longName = (at: number) => `Fluoreszenz Messung ${at} am dritten Blatt (rel.)`;
/** Decimal commas, days as they are written in Europe, a column without a name, two of one name, and gaps below merged cells. */
const FILE = [
  ['Parzelle', 'Datum', 'SPAD', 'SPAD', '', 'Höhe [cm]', longName(1), longName(2)].join(';'),
  '1;3.5.2026;41,5;41,0;;120;0,25;0,5',
  ';3.5.2026;43,5;43,0;;n.a.;0,75;0,5',
  '2;17.5.2026;420,0;42,0;;118;0,5;0,5',
  ';17.5.2026;42,0;42,5;;121;0,5;0,5',
  '',
].join('\r\n');
const ODD = 'Does an odd value stand for a missing one?';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

test.each(['desk', 'phone'] as const)('an own file becomes a chart without its outliers, %s', async (size) => {
  const id = await makeExperiment(site.owner, 'Feldversuch', site.sample.organizationId);
  const { page, complaints, context } = await site.copyOf(owner, size);
  const at = `${site.baseUrl}/experiments/${id}`;
  const current = page.getByRole('navigation', { name: 'Of this experiment' }).locator('[aria-current]');

  await page.goto(`${at}/uploads`);
  await expect.poll(() => current.allTextContents()).toEqual(['Tables']);
  await page.getByRole('heading', { name: 'Upload files' }).waitFor();
  await page
    .locator('input[type=file]:not([webkitdirectory])')
    .setInputFiles({ name: 'Mai.csv', mimeType: 'text/csv', buffer: Buffer.from(FILE, 'latin1') });
  await page.getByRole('button', { name: 'Say what characters it has' }).click();
  await page.getByLabel('Characters of the file').selectOption('windows-1252');
  const rowOf = (name: RegExp) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
  await rowOf(/^column_5 without a name in the file$/).waitFor();
  expect(
    await rowOf(/^Parzelle$/)
      .getByRole('combobox')
      .locator('option:checked')
      .textContent(),
  ).toBe('whole number, by its values');
  await page.getByText(ODD).waitFor();
  await looksRight(page, `own-file-odd-${size}`);
  await page.getByRole('button', { name: 'Say what stands for a missing value' }).click();
  expect(await page.evaluate('document.activeElement.id')).toBe('upload-missing');
  await page.keyboard.type('n.a.');
  await rowOf(/^Höhe/).getByText('1 × n.a.').waitFor();
  expect(await page.getByText(ODD).count()).toBe(0);
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByRole('link', { name: 'Open the table' }).waitFor();
  await rowOf(/^Höhe/).getByText('whole number', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'Open the table' }).click();
  await page.getByRole('gridcell', { name: '420', exact: true }).waitFor();
  // the rows of a phone have no room for the sections
  if (size === 'desk') await expect.poll(() => current.allTextContents()).toEqual(['Tables']);
  await page.locator('.grid').evaluate('document.querySelector(".grid").scrollLeft = 900');
  await page.getByRole('columnheader', { name: longName(2) }).waitFor();
  const cut =
    "[...document.querySelectorAll('.grid-name')].filter((each) => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight).map((each) => each.textContent)";
  expect(await page.evaluate(cut)).toEqual([]);

  // means at first: 42.5 on the 3rd, and 231 on the 17th with the outlier in it
  await page.getByRole('link', { name: 'Chart this' }).click();
  await page.getByLabel('Type').selectOption('scatter');
  const points = page.locator('.drawing .mark-symbol.role-mark > path');
  await expect.poll(() => points.count()).toBe(2);
  const panel = page.getByRole('region', { name: 'Say something of a region' });
  await panel.getByRole('button', { name: 'Draw every row by itself' }).waitFor();
  await looksRight(page, `own-file-means-${size}`);
  await panel.getByRole('button', { name: 'Draw every row by itself' }).click();
  await expect.poll(() => points.count()).toBe(4);
  for (const [label, text] of [
    ['Datum from', '2026-05-17'],
    ['Datum to', '2026-05-17'],
    ['SPAD from', '300'],
    ['SPAD to', '500'],
  ] as const)
    await panel.getByLabel(label).fill(text);
  await panel.getByRole('button', { name: 'Choose the region' }).click();
  await panel.getByText('1 row is in it.').waitFor();
  await panel.getByLabel('Say it as').selectOption('outlier');
  await panel.getByRole('button', { name: 'Annotate this row' }).click();
  await page.getByText('1 row is annotated.').waitFor();
  await page.getByLabel('Without rows flagged as outliers').check();
  await expect.poll(() => points.count()).toBe(3);
  await page.getByLabel('Without rows flagged as outliers').uncheck();
  await expect.poll(() => points.count()).toBe(4);
  expect(complaints).toEqual([]);
  await context.close();
});

test('sharing says what each role may', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${site.sample.experimentId}/sharing`);
  await page.getByText('A contributor may read and contribute.').waitFor();
  await page.getByLabel('As', { exact: true }).selectOption('admin');
  await page.getByText('An admin may do everything.').waitFor();
  const field = page.getByLabel('Name or email address');
  const { width } = (await field.boundingBox())!;
  await field.fill('a.person.with.a.long.name.at.the.institute@plants.example');
  await page.getByRole('button', { name: /^Invite a\.person/ }).waitFor();
  expect((await field.boundingBox())!.width).toBe(width);
  expect(complaints).toEqual([]);
});
