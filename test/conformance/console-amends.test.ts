/** What a person can mend, and is told, where something did not go as they meant. */
import { writeXlsx } from 'hucre/xlsx';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

const expectBadRequest = /status of 400/;

/** What is used of a choice in the page. */
interface Choice {
  offsetWidth: number;
  style: object;
  cloneNode(deep: boolean): Choice;
  after(other: Choice): void;
  remove(): void;
}

test('a filter is mended where it is no number, and changed when it is pressed', async () => {
  const id = await makeExperiment(site.owner, 'Heights');
  const table = await uploadTable(site.owner, id, 'heights', 'n,height\n1,80.5\n2,90.5\n3,100.5\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Column', { exact: true }).selectOption('height');
  await form.getByLabel('Condition').selectOption('is more than');
  await form.getByLabel('Value').fill('90,5');
  await form.getByRole('button', { name: 'Apply' }).click();
  await form.getByRole('alert').getByText('“90,5” is not a number.').waitFor({ timeout: 5_000 });
  await form.getByLabel('Value').fill('90.5');
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Rows 1–1 of 1').waitFor();
  await page.getByRole('button', { name: 'height is more than 90.5', exact: true }).click();
  expect(await form.getByLabel('Value').inputValue()).toBe('90.5');
  expect(await form.getByLabel('Condition').inputValue()).toBe('greater_than');
  await form.getByLabel('Value').fill('80.5');
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Rows 1–2 of 2').waitFor();
  await looksRight(page, 'filter-changed-desk');
  expect(await page.getByRole('button', { name: /^Take away/ }).count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('values with commas and quotes stay whole in a list of them', async () => {
  const id = await makeExperiment(site.owner, 'Places');
  const table = await uploadTable(site.owner, id, 'places', 'place\n"Field 1, north"\n"the ""old"" plot"\nField 1\nnorth\n');
  const { page, complaints } = owner;
  const filters = [{ column: 'place', operator: 'in', value: ['Field 1, north', 'the "old" plot'] }];
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}?filters=${encodeURIComponent(JSON.stringify(filters))}`);
  await page.getByText('Rows 1–2 of 2').waitFor();
  await page.getByRole('button', { name: 'place is one of Field 1, north, the "old" plot', exact: true }).click();
  const form = page.getByRole('dialog');
  const values = form.getByLabel(/^Values, separated by commas/);
  expect(await values.inputValue()).toBe('"Field 1, north", "the ""old"" plot"');
  await form.getByRole('button', { name: 'Apply' }).click();
  await form.waitFor({ state: 'detached' });
  expect(JSON.parse(new URL(page.url()).searchParams.get('filters') ?? '')).toEqual(filters);
  await page.getByRole('button', { name: 'place is one of Field 1, north, the "old" plot', exact: true }).click();
  await values.fill(' Field 1 ,"Field 1, north"');
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('button', { name: 'place is one of Field 1, Field 1, north', exact: true }).waitFor();
  await page.getByText('Rows 1–2 of 2').waitFor();
  expect(JSON.parse(new URL(page.url()).searchParams.get('filters') ?? '')).toMatchObject([{ value: ['Field 1', 'Field 1, north'] }]);
  expect(complaints).toEqual([]);
});

test('what an address asks wrongly is said once, and nothing is waited for', async () => {
  const id = await makeExperiment(site.owner, 'Asked wrongly');
  const table = await uploadTable(site.owner, id, 'heights', 'n\n1\n');
  const { page, complaints } = owner;
  const filters = encodeURIComponent(JSON.stringify([{ column: 'n', operator: 'greater_than', value: '90,5' }]));
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}?filters=${filters}`);
  await page
    .getByRole('alert')
    .getByText(/on column 'n'/)
    .first()
    .waitFor();
  expect(
    await page
      .getByRole('alert')
      .getByText(/on column 'n'/)
      .count(),
  ).toBe(1);
  expect(await page.locator('.table-head').getByText('One moment').count()).toBe(0);
  expect(complaints.filter((each) => !expectBadRequest.test(each))).toEqual([]);
  complaints.splice(0);
});

test('a deleted table is gone on the way back, and its upload is listed as one', async () => {
  const id = await makeExperiment(site.owner, 'Gone');
  const table = await uploadTable(site.owner, id, 'yields', 'n\n1\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('gridcell').first().waitFor();
  await page.getByRole('button', { name: 'Delete the table' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the table' }).click();
  await page.getByText('The table is deleted.').waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'There is no such table here' }).waitFor({ timeout: 15_000 });
  expect(await page.getByRole('grid').count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Chart this' }).count()).toBe(0);
  await expect.poll(() => page.title()).toBe('There is no such table here · fieldlake');
  await looksRight(page, 'table-gone-desk');
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  await page.getByRole('link', { name: 'Upload without a table' }).waitFor({ timeout: 15_000 });
  expect(complaints).toEqual([]);
});

test('a long column name leaves room for the arrow of its order', async () => {
  const id = await makeExperiment(site.owner, 'Long names');
  const name = 'photosynthetically_active_radiation_at_the_top_of_the_canopy';
  const table = await uploadTable(site.owner, id, 'light', `${name},n\n1,2\n`);
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  const head = page.getByRole('columnheader').filter({ hasText: name });
  await head.getByRole('button').click();
  const arrow = head.getByText('↑', { exact: true });
  await arrow.waitFor({ timeout: 15_000 });
  const [inner, outer] = [(await arrow.boundingBox())!, (await head.boundingBox())!];
  expect(inner.x + inner.width).toBeLessThanOrEqual(outer.x + outer.width);
  expect(complaints).toEqual([]);
});

test('a chart of means says so on its axis, with what its bars are', async () => {
  const id = await makeExperiment(site.owner, 'Means');
  const table = await uploadTable(site.owner, id, 'heights', 'day,height\n2025-05-01,1.5\n2025-05-01,2.5\n2025-05-02,3.5\n2025-05-02,4\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('link', { name: 'Chart this' }).click();
  await page.locator('.drawing svg').getByText('mean of height ± SE').waitFor({ timeout: 15_000 });
  expect(complaints).toEqual([]);
});

test('Ctrl Enter in a macro says what it waits for', async () => {
  const { page, complaints } = owner;
  const macro = (await site.owner('POST', '/api/v1/macros', { body: { name: 'Ratio', language: 'javascript', code: 'output.a = 1;' } }))
    .body as {
    id: string;
  };
  await page.goto(`${site.baseUrl}/library/macros/${macro.id}`);
  await page.getByRole('textbox', { name: 'Code of Ratio' }).focus();
  await page.keyboard.press('ControlOrMeta+Enter');
  await page.getByText('Choose an experiment and a measurement').waitFor({ timeout: 15_000 });
  expect(complaints).toEqual([]);
});

test('on a phone the section that is shown is in sight', async () => {
  const { page, complaints, context } = await site.copyOf(owner, 'phone');
  await page.goto(`${site.baseUrl}/experiments/${site.sample.experimentId}/sharing`);
  const shown = page.getByRole('navigation', { name: 'Of this experiment' }).getByRole('link', { name: 'Sharing' });
  await shown.waitFor();
  await expect
    .poll(async () => ((await shown.boundingBox())?.x ?? Infinity) + ((await shown.boundingBox())?.width ?? 0))
    .toBeLessThanOrEqual(390);
  expect(complaints).toEqual([]);
  await context.close();
});

test('who is not signed in is told so without keys, and a spent link leads on', async () => {
  const { page, complaints, context } = await site.copyOf(owner, 'desk');
  await page.goto(`${site.baseUrl}/account`);
  await page.getByLabel('About you').fill('typed');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByRole('alert').getByText('You are not signed in any more.').waitFor({ timeout: 15_000 });
  expect(await page.getByText('x-api-key').count()).toBe(0);
  await page.goto(`${site.baseUrl}/sign-in/link#${'a'.repeat(43)}`);
  await page.getByText('Ask whoever started the service for another link').waitFor({ timeout: 15_000 });
  expect(await page.getByText('Change what is named above').count()).toBe(0);
  await looksRight(page, 'link-spent-desk');
  await page.getByRole('link', { name: 'Other ways to sign in' }).click();
  await page.getByLabel('Email address').waitFor();
  expect(complaints.filter((each) => !/status of 40[01]/.test(each))).toEqual([]);
  await context.close();
});

test('a file that cannot be read leads to the setting that lets it be', async () => {
  const id = await makeExperiment(site.owner, 'Unreadable');
  const { page, complaints } = owner;
  const choose = (name: string, buffer: Buffer) =>
    page.locator('input[type=file]:not([webkitdirectory])').setInputFiles([{ name, mimeType: 'application/octet-stream', buffer }]);
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  await choose('höhe.csv', Buffer.from('Höhe,n\n1,2\n', 'latin1'));
  await page.getByRole('button', { name: 'Say what characters it has' }).click({ timeout: 30_000 });
  await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('upload-encoding');
  await looksRight(page, 'upload-characters-desk');
  await page.getByLabel('Characters of the file').selectOption('windows-1252');
  await page.getByText('can be read', { exact: true }).waitFor();

  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  const cover = { name: 'Cover', rows: [['Trial 2026'], ['made', 'by', 'us']] };
  await choose('trial.xlsx', Buffer.from(await writeXlsx({ sheets: [cover, { name: 'Plots', rows: [['plot'], [1]] }] })));
  await page.getByText("name it: 'Plots'.").waitFor({ timeout: 30_000 });
  await page.getByRole('button', { name: 'Choose another sheet' }).click();
  await page.keyboard.type('Plots');
  await page.getByText('can be read', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

test('a filter is mended where it is no day and no time', async () => {
  const id = await makeExperiment(site.owner, 'Harvests');
  const table = await uploadTable(site.owner, id, 'harvests', 'day,at\n2025-05-01,2025-05-01T06:00:00Z\n2025-05-02,2025-05-02T06:30:00Z\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  const form = page.getByRole('dialog');
  for (const [column, wrong, sentence, right] of [
    ['day', '02.05.2025', '“02.05.2025” is not a day.', '2025-05-02'],
    ['at', '2.5.2025 6:30', '“2.5.2025 6:30” is not a time.', '2025-05-02T06:30:00Z'],
  ] as const) {
    await form.getByLabel('Column', { exact: true }).selectOption(column);
    await form.getByLabel('Value').fill(wrong);
    await form.getByRole('button', { name: 'Apply' }).click();
    await form.getByRole('alert').getByText(sentence).waitFor({ timeout: 5_000 });
    await form.getByLabel('Value').fill(right);
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Rows 1–1 of 1').waitFor();
    await page.getByRole('button', { name: `Take away: ${column} is ${right}` }).click();
    await page.getByText('Rows 1–2 of 2').waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
  }
  await page.keyboard.press('Escape');
  expect(complaints).toEqual([]);
});

test('a time without a zone is shown whole in its column', async () => {
  const id = await makeExperiment(site.owner, 'Local times');
  const table = await uploadTable(site.owner, id, 'times', 'at\n01.03.2025 06:07\n02.03.2025 06:14:30.25\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  const cells = page.locator('[role=gridcell] time');
  await cells.first().waitFor();
  expect((await cells.allTextContents()).filter((text) => text.startsWith('2025'))).toEqual([
    '2025-03-01 06:07:00',
    '2025-03-02 06:14:30.25',
  ]);
  expect(complaints).toEqual([]);
});

test('what columns hold is said in words, with the exact type beside them', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const table = await uploadTable(
    site.owner,
    site.sample.experimentId,
    'worded',
    'dose,seen,wet\n123456789012345678.125,2026-05-01T10:00:00Z,true\n',
  );
  await page.goto(`${site.baseUrl}/experiments/${site.sample.experimentId}/tables/${table}`);
  for (const head of ['dose exact number', 'seen moment UTC', 'wet true or false'])
    await page.getByRole('columnheader', { name: head, exact: true }).waitFor();
  await page.getByRole('button', { name: /^Columns/ }).click();
  const dose = page.getByRole('checkbox', { name: 'dose exact number', exact: true });
  await dose.waitFor();
  expect(await page.locator('label', { has: dose }).getByTitle('decimal(38,3)').textContent()).toBe('exact number');
  await page.getByRole('checkbox', { name: 'seen moment, with a zone', exact: true }).waitFor();
  expect(complaints.slice(before)).toEqual([]);
});

test('sums have no choice of columns, which changes nothing of them', async () => {
  const id = await makeExperiment(site.owner, 'Sums');
  const table = await uploadTable(site.owner, id, 'sums', 'variety,height\nA,10\nA,20\nB,40\n');
  const aggregation = { groupBy: [{ column: 'variety' }], functions: [{ column: 'height', function: 'avg' }] };
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}?aggregation=${encodeURIComponent(JSON.stringify(aggregation))}`);
  await page.getByText('Rows 1–2 of 2').waitFor();
  expect(await page.getByRole('button', { name: /^Columns/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Back to rows' }).click();
  await page.getByRole('button', { name: /^Columns \d of \d$/ }).waitFor();
  expect(complaints).toEqual([]);
});

test('what is said of a column before the upload leads to how its values are read', async () => {
  const id = await makeExperiment(site.owner, 'Marks');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  const lines = Array.from({ length: 60 }, (_, at) => `${at},${at % 10 === 0 ? 'k.A.' : `${at},5`}`.replace(',', ';'));
  await page
    .locator('input[type=file]:not([webkitdirectory])')
    .setInputFiles([{ name: 'marks.csv', mimeType: 'text/csv', buffer: Buffer.from(['plot;height', ...lines, ''].join('\n')) }]);
  await page.getByText(/54 of 60 values are numbers/).waitFor({ timeout: 30_000 });
  await page.getByRole('button', { name: 'Say how its values are read' }).click();
  await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('upload-missing');
  await page.keyboard.type('k.A.');
  await page.getByText('6 × k.A.').waitFor({ timeout: 30_000 });
  await page.getByRole('button', { name: 'Say how its values are read' }).waitFor({ state: 'detached' });
  expect(await page.getByLabel('Type of height').locator('option').first().textContent()).toBe('number, by its values');
  expect(complaints).toEqual([]);
});

test('metadata takes decimal commas and days with points for numbers and days', async () => {
  const id = await makeExperiment(site.owner, 'Commas');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/metadata/new`);
  const rows = ['Größe;Area;Weight;Sown;Part', 'P1;2,5;1,500;01.05.2025;1,5', 'P2;;2,250;31.12.2025;1.5', 'P3;-10;3,125;9.6.2025;2'];
  await page.getByLabel('Rows, the first line with the names of the columns').fill(rows.join('\n'));
  await page.getByRole('button', { name: 'Read the rows' }).click();
  const valuesOf = (label: RegExp) =>
    page.getByLabel(label).evaluateAll((all) => all.map((each) => (each as unknown as { value: string }).value));
  await expect.poll(() => valuesOf(/^Type of/)).toEqual(['string', 'number', 'string', 'date', 'string']);
  expect(await valuesOf(/^Grosse of row/)).toEqual(['P1', 'P2', 'P3']);
  expect(await valuesOf(/^Area of row/)).toEqual(['2.5', '', '-10']);
  expect(await valuesOf(/^Weight of row/)).toEqual(['1,500', '2,250', '3,125']);
  expect(await valuesOf(/^Sown of row/)).toEqual(['2025-05-01', '2025-12-31', '2025-06-09']);
  expect(await valuesOf(/^Part of row/)).toEqual(['1,5', '1.5', '2']);
  expect(complaints).toEqual([]);
});

test('the word for the type of a column is read whole before the upload', async () => {
  const id = await makeExperiment(site.owner, 'Types');
  for (const size of ['desk', 'phone'] as const) {
    const { page, complaints, context } = await site.copyOf(owner, size);
    await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
    const lines = Array.from({ length: 30 }, (_, at) => `${at},${at % 2 === 0},2.5\n`);
    const buffer = Buffer.from(`plot,is_dry,height\n${lines.join('')}`);
    await page.locator('input[type=file]:not([webkitdirectory])').setInputFiles([{ name: 'types.csv', mimeType: 'text/csv', buffer }]);
    const select = page.getByLabel('Type of plot');
    await select.waitFor({ timeout: 30_000 });
    expect(await select.locator('option').first().textContent()).toBe('whole number, by its values');
    // a choice does not say how wide its text is, but a copy without bounds does
    const [has, needs] = await select.evaluate((element) => {
      const bound = element as unknown as Choice;
      const free = bound.cloneNode(true);
      Object.assign(free.style, { position: 'absolute', width: 'auto', maxWidth: 'none' });
      bound.after(free);
      const widths = [bound.offsetWidth, free.offsetWidth] as const;
      free.remove();
      return widths;
    });
    expect(has, size).toBeGreaterThanOrEqual(needs);
    await looksRight(page, `upload-types-${size}`);
    expect(complaints).toEqual([]);
    await context.close();
  }
});
