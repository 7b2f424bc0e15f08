/** The card of an Ambyte: a folder for each of its four ambits, with files of the same names. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeAmbyteFiles } from '../../src/operator/sample/ambyte.ts';
import { looksRight, type Size, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';

const FILES = makeAmbyteFiles();
const PATHS = FILES.map(({ path }) => path).sort();

let folder: string;
let card: string;
let site: Console;
let owner: Visitor;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-card-'));
  card = join(folder, 'Ambyte_7');
  for (const { path, text } of FILES) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  // what a computer leaves on a card, and what a person does
  for (const name of ['.DS_Store', `1/._${FILES[0]!.path.split('/').at(-1)}`, 'notes.doc']) writeFileSync(join(card, name), 'x');
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(async () => {
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

const choose = async (page: Page): Promise<void> => {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  await (await chooser).setFiles(card);
};

/** Drops the folder as a hand does, which a page cannot make by itself. */
async function drop(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const { x, y } = (await page.getByText('Drop files or folders here').boundingBox())!;
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, x, y, data: { items: [], files: [card], dragOperationsMask: 1 } });
}

test.each([
  ['chosen', 'desk', choose],
  ['chosen', 'phone', choose],
  ['dropped', 'desk', drop],
] as const)('a card that is %s keeps its folders, %s', async (how, size: Size, bring) => {
  const id = await makeExperiment(site.owner, `A card is ${how}, ${size}`, site.sample.organizationId);
  const { page, complaints, context } = await site.copyOf(owner, size);
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  await page.getByRole('heading', { name: 'Upload files' }).waitFor();
  await bring(page);
  await page.getByText('3 files of the folder are hidden or of no kind that can be uploaded. They are left out.').waitFor();
  const names = page.getByRole('list', { name: 'Chosen files' }).locator('.file-name');
  expect(await names.allTextContents()).toEqual(PATHS);
  expect(await page.getByLabel('Kind of file').inputValue()).toBe('ambyte');
  expect(await page.getByLabel('Name of the new table').inputValue()).toBe('Ambyte_7');
  await page.getByRole('heading', { name: PATHS[0]! }).waitFor();
  await looksRight(page, `card-${how}-${size}`);
  await page.getByRole('button', { name: `Upload ${PATHS.length} files` }).click();
  await page.getByRole('link', { name: 'Open the table' }).waitFor();
  expect((await page.getByRole('heading', { level: 3 }).allTextContents()).filter((name) => name.endsWith('.txt')).sort()).toEqual(PATHS);
  const table = (await page.getByRole('link', { name: 'Open the table' }).getAttribute('href'))!.split('/').at(-1)!;
  const { body } = await site.owner('GET', `/api/v1/experiments/${id}/data/distinct`, {
    query: { tableName: table, column: 'ambit_index' },
  });
  expect(body.values).toEqual(['1', '2', '3', '4']);
  expect(complaints).toEqual([]);
  await context.close();
});
