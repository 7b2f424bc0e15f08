/** What is shown after a write is what is stored, also on pages that were seen just before. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/chromium.ts';
import { makeExperiment, removeAccess, startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

const points = (page: Page) => page.locator('.drawing .mark-symbol.role-mark > path');
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click();

test('a chart drops a row as soon as it has the flag that the chart leaves out', async () => {
  const id = await makeExperiment(site.owner, 'Outliers', site.sample.organizationId);
  const table = await uploadTable(site.owner, id, 'slope', 'n,height\n1,2\n2,4\n3,60\n4,8\n5,10\n');
  const search = new URLSearchParams({
    type: 'scatter',
    sources: JSON.stringify([
      { role: 'x', columnName: 'n' },
      { role: 'y', columnName: 'height' },
    ]),
    filters: JSON.stringify([{ column: 'annotations', operator: 'has_no_flag', value: ['outlier'] }]),
    region: JSON.stringify({ x: [3, 3], y: [50, 70] }),
  });
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}/chart?${search.toString()}`);
  await expect.poll(() => points(page).count()).toBe(5);
  const panel = page.getByRole('region', { name: 'Say something of a region' });
  await panel.getByText('1 row is in it.').waitFor();
  await panel.getByLabel('Say it as').selectOption('outlier');
  await panel.getByRole('button', { name: 'Annotate this row' }).click();
  await page.getByText('1 row is annotated.').waitFor();
  await panel.getByText('No row is in it.').waitFor();
  await expect.poll(() => points(page).count()).toBe(4);
  expect(complaints).toEqual([]);
});

test('a chart that was seen before an upload has its rows after it', async () => {
  const id = await makeExperiment(site.owner, 'More rows', site.sample.organizationId);
  const table = await uploadTable(site.owner, id, 'slope', 'n,height\n1,2\n2,4\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  await follow(page, 'Chart this');
  await expect.poll(() => points(page).count()).toBe(2);
  await follow(page, 'The rows');
  await follow(page, 'All tables');
  await follow(page, 'Upload files');
  await page
    .locator('input[type=file]:not([webkitdirectory])')
    .setInputFiles({ name: 'more.csv', mimeType: 'text/csv', buffer: Buffer.from('n,height\n3,6\n') });
  await page.getByLabel('Where the rows go').selectOption({ label: 'Into slope' });
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await follow(page, 'Open the table');
  await page.getByText('Rows 1–3 of 3').waitFor();
  await follow(page, 'Chart this');
  await expect.poll(() => points(page).count()).toBe(3);
  expect(complaints).toEqual([]);
});

test.each([
  { kind: 'dashboard', at: 'dashboards', body: { name: 'Before' } },
  {
    kind: 'metadata table',
    at: 'metadata',
    body: {
      metadata: {
        name: 'Before',
        columns: [{ id: 'c1', name: 'plot', type: 'string' }],
        rows: [{ _id: '1', c1: 'A' }],
        identifierColumnId: 'c1',
        experimentQuestionId: 'plot',
      },
    },
  },
])('a $kind is shown as it was saved, though an older reading comes late', async ({ at, body }) => {
  const id = await makeExperiment(site.owner, 'Read late', site.sample.organizationId);
  const made = await site.owner('POST', `/api/v1/experiments/${id}/${at}`, { body });
  expect(made.status, made.text).toBe(201);
  const { page, complaints, context } = await site.copyOf(owner, 'desk');
  await page.clock.install();
  await page.goto(`${site.baseUrl}/experiments/${id}/${at}/${String(made.body.id ?? made.body.metadataId)}?edit=true`);
  await page.getByLabel('Name', { exact: true }).fill('After');
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let reads = 0;
  await page.route(new RegExp(`/api/v1/.*/${at}/[^/]+$`), async (route) => {
    if (route.request().method() !== 'GET') return route.continue();
    const response = await route.fetch();
    reads += 1;
    await held;
    await route.fulfill({ response });
  });
  // who comes back to the window has what is older read anew
  await page.clock.fastForward(20_000);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await expect.poll(() => reads).toBe(1);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Stop editing' }).click();
  await page.getByRole('heading', { name: 'After' }).waitFor();
  letGo();
  await page.unrouteAll({ behavior: 'wait' });
  await page.waitForLoadState('networkidle');
  expect(await page.getByRole('heading', { name: 'After' }).count()).toBe(1);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a new key is listed, though the first reading of the list comes late and is older', async () => {
  const { page, complaints, context } = await site.visitAs('member');
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let reads = 0;
  await page.route('**/api/v1/auth/api-key/list', async (route) => {
    const response = await route.fetch();
    reads += 1;
    if (reads === 1) await held;
    // the reading that was held may have been given up
    await route.fulfill({ response }).catch(() => undefined);
  });
  await page.goto(`${site.baseUrl}/account`);
  await expect.poll(() => reads).toBe(1);
  await page.getByLabel('Name of a new key').fill('Early key');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.locator('#new-key-value').waitFor();
  letGo();
  await page.getByRole('button', { name: 'Revoke key Early key' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('rows show pseudonyms as soon as an experiment has them', async () => {
  const id = await makeExperiment(site.owner, 'Pseudonyms', site.sample.organizationId);
  const table = await uploadTable(site.owner, id, 'slope', 'n,height\n1,2\n2,4\n');
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}`);
  const names = page.getByRole('gridcell', { name: 'Owner Sample' });
  await expect.poll(() => names.count()).toBe(2);
  await follow(page, 'Settings');
  await page.getByLabel('Show people by pseudonyms instead of names').check();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The experiment is changed.').waitFor();
  await page.goBack();
  await page.getByRole('gridcell').first().waitFor();
  await expect.poll(() => names.count()).toBe(0);
  await page.getByRole('gridcell').first().waitFor();
  expect(complaints).toEqual([]);
});

test('an experiment shows its devices by the names that they have now', async () => {
  const id = await makeExperiment(site.owner, 'Sends here', site.sample.organizationId);
  const made = await site.owner('POST', '/api/v1/devices', { body: { serialNumber: 'fresh-1', deviceType: 'generic', name: 'Before' } });
  const deviceId = String(made.body.id);
  await site.owner('POST', `/api/v1/devices/${deviceId}/credentials`, { body: {} });
  const bound = await site.owner('POST', `/api/v1/devices/${deviceId}/onboard`, { body: { experimentIds: [id], includeWorkbook: false } });
  expect(bound.status, bound.text).toBeLessThan(300);
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/experiments/${id}`);
  await follow(page, 'Before');
  await page.getByLabel('Name', { exact: true }).fill('After');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText('The device has its new name.').waitFor();
  await page.getByRole('region', { name: 'Sends to' }).getByRole('link', { name: 'Sends here' }).click();
  await page.getByRole('heading', { name: 'Sends here', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'After', exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

test('runs that ended long ago have nothing read anew', async () => {
  const id = await makeExperiment(site.owner, 'Past runs', site.sample.organizationId);
  const code = "output['members'] = len(json)\n";
  const macro = String((await site.owner('POST', '/api/v1/macros', { body: { name: 'Counts', language: 'python', code } })).body.id);
  const path = `/api/v1/experiments/${id}/data/macros/${macro}/reprocess`;
  const statuses = async () => ((await site.owner('GET', path)).body as { status: string }[]).map(({ status }) => status);
  for (let run = 1; run <= 3; run += 1) {
    const started = await site.owner('POST', `/api/v1/experiments/${id}/macros/${macro}/run`, { body: {} });
    expect(started.status, started.text).toBeLessThan(300);
    await expect.poll(statuses, { timeout: 30_000 }).toEqual(Array.from({ length: run }, () => 'completed'));
  }
  const { page, complaints } = owner;
  let reads = 0;
  page.on('request', (request) => (reads += new URL(request.url()).pathname === `/api/v1/experiments/${id}/tables` ? 1 : 0));
  await page.goto(`${site.baseUrl}/experiments/${id}/macros/${macro}`);
  await expect.poll(() => page.getByText('ended', { exact: true }).count()).toBe(3);
  await expect.poll(() => reads).toBeGreaterThan(0);
  await page.waitForLoadState('networkidle');
  expect(reads).toBe(1);
  expect(complaints).toEqual([]);
});

test('rows that were jumped to stay, though a reading of those before comes late', async () => {
  const id = await makeExperiment(site.owner, 'Jumped', site.sample.organizationId);
  const lines = Array.from({ length: 1_000 }, (_, at) => `row ${at + 1}`);
  const table = await uploadTable(site.owner, id, 'long', `name\n${lines.join('\n')}\n`);
  const { page, complaints, context } = await site.copyOf(owner, 'desk');
  await page.clock.install();
  await page.goto(`${site.baseUrl}/experiments/${id}/tables/${table}?orderBy=id`);
  const grid = page.locator('.grid');
  await expect
    .poll(
      () =>
        grid
          .evaluate('(() => { const grid = document.querySelector(".grid"); grid.scrollTop = grid.scrollHeight; })()')
          .then(() => page.getByText(/Rows \d+–1,000 of 1,000/).count()),
      { timeout: 60_000 },
    )
    .toBe(1);
  await page.locator('.grid[aria-busy=true]').waitFor({ state: 'detached' });
  const gates: { isJump: boolean; letGo: () => void }[] = [];
  await page.route(/\/data\?/, async (route) => {
    const { searchParams } = new URL(route.request().url());
    const response = await route.fetch();
    await new Promise<void>((resolve) => gates.push({ isJump: !searchParams.has('cursor') && !searchParams.has('page'), letGo: resolve }));
    await route.fulfill({ response }).catch(() => undefined);
  });
  const first = page
    .getByRole('row')
    .filter({ has: page.getByRole('gridcell') })
    .first();
  await page.evaluate('document.querySelector(".grid").scrollTop = 0');
  await expect.poll(() => gates.filter(({ isJump }) => isJump).length).toBe(1);
  await page.clock.fastForward(70_000);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await expect.poll(() => gates.length).toBe(2);
  gates.find(({ isJump }) => isJump)!.letGo();
  await expect.poll(() => first.textContent()).toMatch(/row/);
  // of the reading before each page is let go as it comes; the rows are not jumped to again
  for (let at = 0; at < 20; at += 1) {
    for (const { isJump, letGo } of gates) if (!isJump) letGo();
    await page.waitForTimeout(100);
  }
  expect(await first.textContent()).toMatch(/row/);
  expect(gates.filter(({ isJump }) => isJump)).toHaveLength(1);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  expect(complaints).toEqual([]);
  await context.close();
});

test('an experiment that stands open shows its tables no more once access is taken away', async () => {
  const { page, context, complaints } = await site.visitAs('viewer');
  const id = await makeExperiment(site.owner, 'Taken away');
  const user = site.sample.users.viewer.id;
  const grant = { granteeType: 'user', granteeId: user, role: 'viewer' };
  const granted = await site.owner('POST', `/api/v1/experiment/${id}/collaborators`, { body: grant });
  expect(granted.status, granted.text).toBeLessThan(300);
  await page.clock.install();
  await page.goto(`${site.baseUrl}/experiments/${id}`);
  const tables = page.getByRole('heading', { name: 'Tables' });
  await tables.waitFor();
  await removeAccess(site.owner, id, user);
  await page.clock.fastForward(20_000);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await page.getByRole('alert').getByText('You may not read this experiment.').waitFor();
  expect(await tables.count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});
