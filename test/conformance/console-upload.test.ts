import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { launchChromium, looksRight, openVisitor, type Size, pickSizes } from '../support/chromium.ts';
import { lettersTo, nextCode } from '../support/outbox.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';
import { callsTo, type Call } from '../support/server.ts';

const file = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
const OWN = file('Große Blätter 2026.csv', 'plot,spad,measured on\n1,41.2,2026-05-01\n2,39.8,2026-05-02\n3,NA,2026-05-03\n');

/** Three hundred records: a number that is twice a word and ten times missing, a day that is odd once, and a record with a cell too many. */
const MESSY = file(
  'messy.csv',
  [
    'plot,height,day,note',
    ...Array.from({ length: 300 }, (_, at) => {
      const height = at === 4 ? 'tall' : at === 9 ? '<img src=x onerror=alert(1)>' : at % 30 === 7 ? 'NA' : (at / 10).toFixed(1);
      const day = at === 20 ? 'yesterday' : `2026-05-${String((at % 28) + 1).padStart(2, '0')}`;
      return `${at},${height},${day},fine${at === 100 ? ',one too many' : ''}`;
    }),
    '',
  ].join('\n'),
);

let folder: string;
let browser: Browser;
let server: ServerProcess;
let experimentId: string;
let owner: Call;

const dataDir = (size: Size) => join(folder, size);
const printed = (what: RegExp) => what.exec(server.output())?.[0];
const choose = (page: Page, ...files: { name: string; mimeType: string; buffer: Buffer }[]) =>
  page.locator('input[type=file]:not([webkitdirectory])').setInputFiles(files);
const uploads = () => `${server.baseUrl}/experiments/${experimentId}/uploads`;

/** Signs a person in by the code that is sent to their address. */
async function signIn(page: Page, size: Size, address: string): Promise<void> {
  const outbox = { dataDir: dataDir(size) };
  await page.goto(`${server.baseUrl}/sign-in`);
  const had = lettersTo(outbox, address).length;
  await page.getByLabel('Email address').fill(address);
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await page.getByLabel(/Six digits/).fill(await nextCode(outbox, address, had));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${server.baseUrl}/`);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-console-upload-'));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(pickSizes('desk'))('uploading at a %s', (size: Size) => {
  beforeAll(async () => {
    server = await spawnServer({ DATA_DIR: dataDir(size), SAMPLE_DATA: 'on', UPLOAD_FILE_MIB: '1', SIGN_INS_PER_MINUTE: '100' });
    await vi.waitUntil(() => printed(/Try these/), { timeout: 120_000 });
    const quickstart = JSON.parse(readFileSync(join(dataDir(size), 'quickstart.json'), 'utf8')) as Record<string, string>;
    experimentId = quickstart['experimentId']!;
    owner = callsTo(server.baseUrl)(quickstart['apiKey']!);
  });
  afterAll(() => server.kill('SIGTERM'));

  test('leads from the printed link to the own file as a table, and back to its report', async () => {
    const { page, complaints, context } = await openVisitor(browser, size, /409 \(Conflict\)|413 \(|ERR_/);
    let clicks = 0;
    const click = async (role: 'link' | 'button', name: string) => {
      await page.getByRole(role, { name, exact: true }).click();
      clicks += 1;
    };
    await page.goto(printed(/http:\S+\/sign-in\/link#[\w-]{43}/)!);
    const begun = Date.now();
    await click('link', 'Upload files');
    await page.getByRole('heading', { name: 'Upload files' }).waitFor();
    await looksRight(page, `upload-empty-${size}`);
    const chooser = page.waitForEvent('filechooser');
    await click('button', 'Choose files');
    await (await chooser).setFiles([OWN]);
    expect(await page.getByLabel('Name of the new table').inputValue()).toBe('Grosse_Blatter_2026');
    expect(await page.getByLabel('Kind of file').inputValue()).toBe('csv');
    const decided = page.getByRole('table', { name: 'Decided for Große Blätter 2026.csv' });
    await decided.getByRole('rowheader', { name: 'measured on' }).waitFor({ timeout: 30_000 });
    await page.getByText('How the values are read').click();
    await looksRight(page, `upload-chosen-${size}`);
    await click('button', 'Upload the file');
    await page.getByRole('link', { name: 'Open the table' }).waitFor({ timeout: 60_000 });
    await looksRight(page, `upload-report-${size}`);
    await click('link', 'Open the table');
    const grid = page.getByRole('grid', { name: 'Rows of Grosse_Blatter_2026' });
    await grid.getByRole('gridcell').first().waitFor();
    expect(await grid.getAttribute('aria-rowcount')).toBe('4');
    process.stdout.write(`${size}: own file as a table after ${clicks} clicks and ${((Date.now() - begun) / 1_000).toFixed(1)} s\n`);
    expect(clicks).toBeLessThanOrEqual(8);

    // the name is taken by now: what was chosen stays, and another name is all that it takes
    await page.goto(uploads());
    await page.getByRole('link', { name: 'Grosse_Blatter_2026' }).waitFor();
    await choose(page, MESSY);
    await page.getByText('How the values are read').click();
    await page.getByLabel('What stands for a missing value').fill('NA');
    await page.getByLabel('Name of the new table').fill('Grosse_Blatter_2026');
    await page.getByText(/There is a table Grosse_Blatter_2026 already/).waitFor();
    await click('button', 'Upload the file');
    await page
      .getByRole('alert')
      .getByText(/Grosse_Blatter_2026/)
      .waitFor();
    await page.getByText(/or another name for the new one/).waitFor();
    await looksRight(page, `upload-refused-${size}`);
    expect(await page.getByLabel('What stands for a missing value').inputValue()).toBe('NA');
    await page.getByRole('list', { name: 'Chosen files' }).getByText('messy.csv').waitFor();

    // nobody is there: the files wait
    await context.setOffline(true);
    await page.getByLabel('Name of the new table').fill('messy');
    await click('button', 'Upload the file');
    await page.getByText(/The files are sent as soon as you are connected/).waitFor();
    await context.setOffline(false);
    await page.getByRole('link', { name: 'Open the table' }).waitFor({ timeout: 60_000 });

    // the report says what is odd, and where
    const row = (column: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: column }) });
    const height = await row('height').textContent();
    expect(height).toMatch(/number/);
    expect(height).toContain('tall');
    expect(height).toContain('record 5');
    expect(height).toContain('<img src=x onerror=alert(1)>');
    expect(height).toContain('kept in height__text');
    expect(await row('day').textContent()).toContain('yesterday');
    expect(await row('day').textContent()).toContain('record 21');
    await page.getByText(/299 of 300 records stored, 1 in quarantine/).waitFor();
    await looksRight(page, `upload-messy-${size}`);
    // a column is not changed while the file is read
    const upload = /uploads\/([\w-]+)$/.exec(new URL(page.url()).pathname)![1]!;
    await Promise.all([
      page.waitForResponse((answer) => answer.url().endsWith('/replay') && answer.ok()),
      click('button', 'Read the quarantine again'),
    ]);
    const status = async () => (await owner('GET', `/api/v1/experiments/${experimentId}/data/uploads/${upload}`)).body.status;
    await expect.poll(status).toBe('partial');
    await page.getByRole('button', { name: 'Read the quarantine again' }).waitFor();

    // a column gets another name and type
    await page.getByRole('button', { name: 'Change plot' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('plot_id');
    await page.getByRole('dialog').getByLabel('Type').selectOption('string');
    await page.getByRole('button', { name: 'Change the column' }).click();
    await page.getByText(/Now plot_id, text: 0 missing, 0 odd/).waitFor({ timeout: 30_000 });

    // a file that is too large is refused, and stays chosen
    await page.getByRole('link', { name: 'Upload more' }).click();
    await choose(page, file('large.csv', `a,b\n${'1,2\n'.repeat(400_000)}`));
    await click('button', 'Upload the file');
    await page.getByRole('alert').getByText(/1 MiB/).waitFor({ timeout: 30_000 });
    await page.getByRole('list', { name: 'Chosen files' }).getByText('large.csv').waitFor();
    await choose(page, file('small.csv', 'a,b\n1,2\n'));
    await page.getByRole('button', { name: 'Take large.csv away' }).click();
    await click('button', 'Upload the file');
    await page.getByRole('link', { name: 'Open the table' }).waitFor({ timeout: 60_000 });
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('says what it decides of each column before anything is sent, and follows what is said of the reading', async () => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: 'joined' })) body.append(name, value);
    body.append('files', new Blob([OWN.buffer]), 'joined.csv');
    const data = `/api/v1/experiments/${experimentId}/data/uploads`;
    const sent = await owner('POST', data, { body });
    const status = async () => (await owner('GET', `${data}/${sent.body.uploadId}`)).body.status;
    await expect.poll(status).toBe('completed');
    const { page, complaints, context } = await openVisitor(browser, size, /429 \(|413 \(|403 \(|ERR_/);
    await signIn(page, size, 'owner@leaf-lab.example');
    await page.goto(uploads());
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    await choose(page, MESSY);
    const decided = page.getByRole('table', { name: 'Decided for messy.csv' });
    const row = (column: string) => decided.getByRole('row').filter({ has: page.getByRole('rowheader', { name: column, exact: true }) });
    const says = (column: string, text: RegExp) => row(column).filter({ hasText: text }).waitFor({ timeout: 30_000 });
    await says('height', /number, by its values.*10 × NA.*tall.*record 5/s);
    await says('day', /day, by its values.*yesterday.*record 21.*2026-05-01/s);
    await page.getByText(/All 300 records .*, 1 would go into quarantine/).waitFor();
    await page.getByText('Fields are parted by commas. Numbers have a decimal point.').waitFor();
    await row('note').scrollIntoViewIfNeeded();
    await looksRight(page, `upload-preview-${size}`);

    // other marks, and a type by hand
    await page.getByText('How the values are read').click();
    await page.getByLabel('What stands for a missing value').fill('NA, tall, 0.0');
    await says('height', /10 × NA.*1 × 0\.0.*1 × tall/s);
    await decided.getByLabel('Type of plot').selectOption('string');
    await expect.poll(() => page.getByLabel('Name of the column').inputValue()).toBe('plot');
    await decided.getByLabel('Type of height').selectOption('int');
    await says('height', /28[0-9]/);
    await decided.getByLabel('Type of height').selectOption('');
    await says('height', /number, by its values/);

    expect(await decided.getByText('a new column').count()).toBe(0);

    // into a table that is there, columns are held against its own
    await choose(page, file('more.csv', 'plot,spad,measured on,tag\n4,leafy,2026-05-04,7\n'));
    await page.getByRole('button', { name: 'Take messy.csv away' }).click();
    await page.getByLabel('Where the rows go').selectOption({ label: 'Into joined' });
    const joining = page.getByRole('table', { name: 'Decided for more.csv' });
    await joining.getByText('what does not fit stays text beside it').waitFor({ timeout: 30_000 });
    await joining.getByRole('combobox', { name: 'Type of tag' }).waitFor();
    expect(await joining.getByRole('combobox').count()).toBe(1);
    expect(await joining.getByRole('row').filter({ hasText: 'a new column' }).getByRole('rowheader').allTextContents()).toEqual(['tag']);

    // of a workbook that is no longer whole nothing can be said, and it can be sent all the same
    await page.getByRole('button', { name: 'Take more.csv away' }).click();
    await choose(page, { name: 'long.xlsx', mimeType: 'application/zip', buffer: Buffer.alloc(4_194_305, 'PK') });
    await page.getByText(/Of a part of a workbook nothing can be said/).waitFor({ timeout: 30_000 });
    expect(await page.getByRole('button', { name: 'Upload the file' }).isEnabled()).toBe(true);
    await page.getByRole('button', { name: 'Take long.xlsx away' }).click();

    // a large file is looked at by its beginning
    // 32 bytes a record: the look at many short ones may take longer than it is given
    await choose(page, file('large.csv', `a,b\n${`1,${'x'.repeat(29)}\n`.repeat(50_000)}`));
    await page.getByText(/The first 32,76[78] records/).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Take large.csv away' }).click();

    // refusals are sentences, and what was chosen stays
    const asked = '**/data/uploads/preview';
    const problem = (status: number, code: string, detail: string) =>
      JSON.stringify({ type: 'about:blank', title: 'No', status, detail, instance: 'x', code });
    for (const [status, code, detail] of [
      [403, 'ACTION_DENIED', 'You may not contribute to this experiment.'],
      [413, 'PAYLOAD_TOO_LARGE', 'The request is larger than what stands between allows.'],
      [429, 'RATE_LIMITED', 'You have asked too often.'],
    ] as const) {
      await page.route(asked, (route) =>
        route.fulfill({
          status,
          headers: { 'content-type': 'application/problem+json', 'retry-after': '60' },
          body: problem(status, code, detail),
        }),
      );
      await choose(page, file(`refused-${status}.csv`, 'a,b\n1,2\n'));
      await page.getByRole('alert').getByText(detail).waitFor();
      await page.getByText('The files can be uploaded all the same').waitFor();
      await page.getByRole('list', { name: 'Chosen files' }).getByText(`refused-${status}.csv`).waitFor();
      await page.unroute(asked);
      if (status === 413) await looksRight(page, `upload-preview-refused-${size}`);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('table', { name: `Decided for refused-${status}.csv` }).waitFor({ timeout: 30_000 });
      await page.getByRole('button', { name: `Take refused-${status}.csv away` }).click();
    }
    await context.setOffline(true);
    await page.getByText('You are offline. What is on this page stays').waitFor();
    await choose(page, file('offline.csv', 'a,b\n1,2\n'));
    await page.getByText(/looked at as soon as you are connected/).waitFor();
    await context.setOffline(false);
    await page.getByRole('table', { name: 'Decided for offline.csv' }).waitFor({ timeout: 30_000 });
    await page.getByRole('button', { name: 'Take offline.csv away' }).click();
    // the network goes while the file is on its way
    let failed = 0;
    await page.route(asked, async (route) => {
      await context.setOffline(true);
      await page.getByText('You are offline. What is on this page stays').waitFor();
      failed += 1;
      await route.abort('internetdisconnected');
    });
    await choose(page, file('lost.csv', 'a,b\n1,2\n'));
    await page.getByText(/looked at as soon as you are connected/).waitFor();
    await page.unroute(asked);
    await context.setOffline(false);
    await page.getByRole('table', { name: 'Decided for lost.csv' }).waitFor({ timeout: 30_000 });
    expect(failed).toBe(1);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('whoever may not contribute sees no control, and who loses access keeps what was chosen', async () => {
    const { page, context } = await openVisitor(browser, size);
    const path = `/api/v1/experiment/${experimentId}/collaborators`;
    await signIn(page, size, 'viewer@leaf-lab.example');
    await page.goto(uploads());
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    // who does not manage adds to tables that are there
    await choose(page, OWN);
    const target = page.getByLabel('Where the rows go');
    expect(await target.locator('option', { hasText: 'A new table' }).count()).toBe(0);
    // and says to which: rows that were added to another stay there
    expect(await target.inputValue()).toBe('');
    await page.getByText('Choose the table that the rows are added to.').waitFor();
    await page.getByRole('button', { name: 'Upload the file' }).click();
    expect(await page.locator('#upload-target:invalid').count()).toBe(1);
    await target.selectOption({ index: 1 });
    await page.getByRole('table', { name: `Decided for ${OWN.name}` }).waitFor();

    const grants = (await owner('GET', path)).body as unknown as { kind: string; id: string; grantee: { displayName: string } }[];
    expect((await owner('PATCH', `/api/v1/experiments/${experimentId}/visibility`, { body: { visibility: 'public' } })).status).toBe(200);
    const theirs = grants.find(({ kind, grantee }) => kind === 'grant' && grantee.displayName.startsWith('Viewer'))!;
    expect((await owner('DELETE', `${path}/${theirs.id}`)).status).toBeLessThan(300);
    await page.getByRole('button', { name: 'Upload the file' }).click();
    await page
      .getByRole('alert')
      .getByText(/Ask somebody who manages it/)
      // the preview may have been refused, too
      .first()
      .waitFor();
    await page.getByRole('list', { name: 'Chosen files' }).getByText(OWN.name).waitFor();

    await page.goto(`${server.baseUrl}/experiments/${experimentId}`);
    await page.getByRole('heading', { name: 'Tables' }).waitFor();
    expect(await page.getByRole('link', { name: /upload/i }).count()).toBe(0);
    await page.goto(uploads());
    await page.getByText(/Uploading is for contributors/).waitFor();
    expect(await page.locator('input, select, form').and(page.locator('main *')).count()).toBe(0);
    await looksRight(page, `upload-forbidden-${size}`);
    await context.close();
  });
});
