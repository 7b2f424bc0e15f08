import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { launchChromium, looksRight, openVisitor, type Size } from '../support/chromium.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';

/** Bytes over the wire before the first table is seen, as gzip, which is what Chromium asks for without https; as Brotli they are 7 % less. */
const BUDGET = 310_000;

let folder: string;
let browser: Browser;
let server: ServerProcess;

const printed = (what: RegExp) => what.exec(server.output())?.[0];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-console-'));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(['desk', 'phone'] as const)('a first visit at a %s', (size: Size) => {
  beforeAll(async () => {
    server = await spawnServer({ DATA_DIR: join(folder, size), SAMPLE_DATA: 'on' });
    await vi.waitUntil(() => printed(/Try these/), { timeout: 120_000 });
  });
  afterAll(() => server.kill('SIGTERM'));

  test('leads from the printed link to the rows of the sample', async () => {
    const link = printed(/http:\S+\/sign-in\/link#[\w-]{43}/)!;
    // the sample has no flow, which the service says with a 404
    const { page, complaints, transferred, context } = await openVisitor(browser, size);
    const shoot = (name: string) => looksRight(page, `${name}-${size}`);

    await page.goto(link);
    await page.getByRole('heading', { name: 'Maize under drought' }).waitFor();
    expect(page.url()).not.toContain('#');
    await page.getByRole('link', { name: 'leaf_measurements' }).waitFor();
    await shoot('experiment');

    // the parts of an experiment stand above each of its pages, which say where one is
    const parts = page.getByRole('navigation', { name: 'Of this experiment' });
    const current = () => parts.locator('[aria-current=page]').allInnerTexts();
    expect(await current()).toEqual(['Tables']);
    await parts.getByRole('link', { name: 'Charts' }).click();
    await page.getByRole('heading', { name: 'Charts', exact: true }).waitFor();
    expect(await current()).toEqual(['Charts']);
    await parts.getByRole('link', { name: 'Tables' }).click();
    await page.getByRole('link', { name: 'leaf_measurements' }).waitFor();

    await page.getByRole('link', { name: 'leaf_measurements' }).click();
    const grid = page.getByRole('grid', { name: 'Rows of leaf_measurements' });
    await grid.getByRole('gridcell').first().waitFor();
    expect(transferred()).toBeLessThan(BUDGET);
    expect(transferred()).toBeGreaterThan(BUDGET / 10);
    await shoot('table');

    // it is folded, so that the rows begin high
    const same = page.locator('summary', { hasText: 'The same question as' });
    expect(await page.getByRole('tabpanel').count()).toBe(0);
    expect((await grid.boundingBox())!.y).toBeLessThan(size === 'phone' ? 330 : 400);
    await same.click();
    // the same question, as the URL says it, is answered with the same number of rows
    const total = Number(await grid.getAttribute('aria-rowcount')) - 1;
    const url = (await page.getByRole('tabpanel').textContent())!;
    const asked = await page.evaluate(async (address) => (await fetch(address)).json() as Promise<[{ totalRows: number }]>, url);
    expect(asked[0].totalRows).toBe(total);

    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Column', { exact: true }).selectOption('treatment');
    await page
      .getByRole('textbox', { name: 'Value' })
      .or(page.getByRole('combobox', { name: 'Value' }))
      .fill('drought');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('treatment is drought').waitFor();
    await expect.poll(async () => Number(await grid.getAttribute('aria-rowcount')) - 1).toBe(total / 2);

    await grid.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Where it came from').waitFor();
    await page
      .getByRole('dialog')
      .getByText(/An uploaded file/)
      .waitFor();
    await shoot('row');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.getByText(/^Enter, a double click or two taps open a row\./).waitFor();
    await page.getByRole('button', { name: 'Aggregate' }).click();
    await page.getByLabel('Group by').selectOption('treatment');
    await page.getByLabel('Function').selectOption('avg');
    await page.getByLabel('Column', { exact: true }).selectOption('spad');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('columnheader', { name: /avg/ }).waitFor();
    await shoot('aggregate');

    await page.getByRole('tab', { name: 'SQL plan' }).click();
    await page
      .getByText(/select/i)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'fieldlake' }).click();
    await page.getByRole('heading', { name: 'Experiments' }).waitFor();
    await page.getByText(/rows into leaf_measurements/).waitFor();
    await shoot('home');

    await page.goto(`${server.baseUrl}/nothing-here`);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    await shoot('not-found');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('the link works once', async () => {
    const link = printed(/http:\S+\/sign-in\/link#[\w-]{43}/)!;
    const { page, context } = await openVisitor(browser, size);
    await page.goto(link);
    await page
      .getByRole('alert')
      .getByText(/used already/)
      .waitFor();
    await context.close();
  });
});
