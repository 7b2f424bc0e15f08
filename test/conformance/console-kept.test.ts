/** What was written or made stays until it is saved, taken or given up. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdBack, writeOver, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

async function make(path: string, body: object) {
  const made = await site.owner('POST', path, { body });
  expect(made.status, made.text).toBeLessThan(300);
  return made.body as Record<string, string>;
}

test('the way back out of a form asks before what was written is lost', async () => {
  const { page, complaints } = owner;
  const { id = '' } = await make('/api/v1/experiments', { name: 'Written' });
  const dashboard = await make(`/api/v1/experiments/${id}/dashboards`, { name: 'Season' });
  const metadata = await make(`/api/v1/experiments/${id}/metadata`, {
    metadata: {
      name: 'Season',
      columns: [{ id: 'c1', name: 'plot', type: 'string' }],
      rows: [{ _id: '1', c1: 'A' }],
      identifierColumnId: 'c1',
      experimentQuestionId: 'plot',
    },
  });
  for (const at of [`dashboards/${dashboard['id']}`, `metadata/${metadata['metadataId']}`]) {
    await page.goto(`${site.baseUrl}/experiments/${id}/${at}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Not saved yet');
    await page.goBack();
    const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await name.inputValue()).toBe('Not saved yet');
    await page.goBack();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Season' }).waitFor();
    // nothing is asked where nothing was written
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Stop editing' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  }
  expect(complaints).toEqual([]);
});

test('a cell that is written as JSON stays a cell, and goes back to what is stored', async () => {
  const { page, complaints } = owner;
  const paths = [{ id: 'p', label: 'Otherwise', color: '#1d6a45', conditions: [] }];
  const cell = { id: 'branch-1', type: 'branch', isCollapsed: false, paths };
  const { id } = await make('/api/v1/workbooks', { name: 'Ways', cells: [cell] });
  await page.goto(`${site.baseUrl}/library/workbooks/${id}`);
  const editor = page.getByRole('textbox', { name: 'The cell, as JSON, 1' });
  await editor.waitFor();
  const before = await editor.textContent();
  await writeOver(editor, '{"id":"branch-1","type":"branc"}');
  await page.getByText(/leave its id and type as they are/).waitFor();
  await writeOver(editor, JSON.stringify({ ...cell, paths: [{ ...paths[0], label: 'Else' }] }));
  await page.getByText('Not saved yet.').waitFor();
  expect(await editor.textContent()).toContain('Else');
  await page.getByRole('button', { name: 'Undo my changes' }).click();
  await expect.poll(() => editor.textContent()).toBe(before);
  expect(complaints).toEqual([]);
});

test('certificates that are not downloaded yet outlast another request for them', async () => {
  const { page, complaints } = owner;
  const deviceIds: string[] = [];
  for (const serialNumber of ['kept-1', 'kept-2'])
    deviceIds.push((await make('/api/v1/devices', { serialNumber, deviceType: 'generic' }))['id'] ?? '');
  const { id } = await make('/api/v1/device-groups', { name: 'Kept' });
  await make(`/api/v1/device-groups/${id}/devices`, { deviceIds });
  await page.goto(`${site.baseUrl}/devices/groups/${id}`);
  const together = page.getByRole('region', { name: 'All of them at once' });
  const download = together.getByRole('button', { name: 'Download the bundle' });
  const issue = async () => {
    await together.getByRole('button', { name: 'Get certificates' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Get certificates' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Get certificates' }).waitFor({ state: 'detached' });
  };
  await issue();
  await download.waitFor();
  await issue();
  const [file] = await Promise.all([page.waitForEvent('download'), download.click()]);
  const bundles = JSON.parse(readFileSync(await file.path(), 'utf8')) as { privateKey: string }[];
  expect(bundles).toHaveLength(2);
  expect(bundles[0]!.privateKey).toMatch(/PRIVATE KEY/);
  expect(complaints).toEqual([]);
});

test('a decision between two versions of a dashboard says when it fails', async () => {
  const { page, complaints } = owner;
  const { id = '' } = await make('/api/v1/experiments', { name: 'Two versions' });
  const dashboard = await make(`/api/v1/experiments/${id}/dashboards`, { name: 'Season' });
  await page.goto(`${site.baseUrl}/experiments/${id}/dashboards/${dashboard['id']}?edit=true`);
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Mine');
  await site.owner('PATCH', `/api/v1/experiments/${id}/dashboards/${dashboard['id']}`, { body: { name: 'Theirs' } });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const conflict = page.getByRole('alert').filter({ hasText: 'Somebody changed this dashboard while you edited it' });
  await conflict.waitFor();
  await page.route('**/dashboards/*', (route) => route.abort('internetdisconnected'));
  await conflict.getByRole('button', { name: 'Drop mine and show theirs' }).click();
  await conflict.getByText(/cannot be reached/).waitFor();
  expect(await name.inputValue()).toBe('Mine');
  await page.unrouteAll();
  await conflict.getByRole('button', { name: 'Drop mine and show theirs' }).click();
  await expect.poll(() => name.inputValue()).toBe('Theirs');
  expect(complaints).toEqual([]);
});

test('leaving a macro that is not saved is asked for as everywhere', async () => {
  const { page, complaints } = owner;
  const { id } = await make('/api/v1/macros', { name: 'Unsaved', language: 'python', code: "output['n'] = 1\n" });
  // a window of the browser itself would be in its language, and is not one of ours
  page.once('dialog', (dialog) => {
    complaints.push(`asked by the browser: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`${site.baseUrl}/library/macros/${id}`);
  const editor = page.getByRole('textbox', { name: 'Code of Unsaved' });
  await editor.waitFor();
  await writeOver(editor, "output['n'] = 2");
  await page.getByText('Not saved yet.').waitFor();
  await page.getByRole('link', { name: 'Macros', exact: true }).click();
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await editor.textContent()).toContain('= 2');
  await page.getByRole('link', { name: 'Macros', exact: true }).click();
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'Library' }).waitFor();
  expect(complaints).toEqual([]);
});

test('what is said to be made is not asked for while its page is awaited', async () => {
  const { page, complaints } = await site.copyOf(owner, 'desk');
  let isHeld = false;
  await page.route(/\/api\/v1\/devices\/[\w-]{36}$/, async (route) => {
    isHeld = true;
    await new Promise((go) => setTimeout(go, 3_000));
    await route.continue();
  });
  await page.goto(`${site.baseUrl}/devices/new`);
  await page.locator('#new-serials').fill('made-slowly');
  await page.getByRole('button', { name: 'Register the device', exact: true }).click();
  await page.locator('.toast').first().waitFor();
  expect(isHeld).toBe(true);
  await page.getByRole('link', { name: 'fieldlake' }).click();
  await page.waitForURL(`${site.baseUrl}/`);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('what is written in settings is asked for before it is lost', async () => {
  const { page, complaints } = await site.copyOf(owner, 'desk');
  const founded = await page.request.post(`${site.baseUrl}/api/v1/auth/organization/create`, {
    data: { name: 'Written', slug: 'written' },
    headers: { origin: site.baseUrl },
  });
  const organization = (await founded.json()) as { id: string };
  const experiment = await make('/api/v1/experiments', { name: 'Written', description: 'Two\r\nlines' });
  const macro = await make('/api/v1/macros', { name: 'Written', language: 'python', code: 'output["n"] = 1\n' });
  const device = await make('/api/v1/devices', { serialNumber: 'written', deviceType: 'generic', name: 'Written' });
  const group = await make('/api/v1/device-groups', { name: 'Written' });
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  const asked: string[] = [];
  page.setDefaultTimeout(15_000);
  const leave = () => page.getByRole('link', { name: 'fieldlake' }).click();
  for (const [at, field, button] of [
    [`/experiments/${experiment['id']}/settings`, '#experiment-name', 'Save'],
    [`/organizations/${organization.id}/settings`, '#organization-name', 'Save'],
    [`/devices/${device['id']}`, '#device-name', 'Rename'],
    [`/devices/groups/${group['id']}`, '#group-name', 'Save'],
    [`/library/macros/${macro['id']}`, '#about-name', 'Save'],
    ['/account', '#bio', 'Save profile'],
    ['/experiments/new', '#new-description', 'Make the experiment'],
    ['/devices/new', '#new-serials', 'Register the device'],
    ['/devices/groups', '#group-name', 'Make the group'],
    [`/experiments/${experiment['id']}/dashboards`, '#dashboard-new', 'Make a dashboard'],
    ['/organizations', '#organization-name', 'Make the organization'],
  ] as const) {
    await page.goto(site.baseUrl + at);
    const control = page.locator(field);
    if (at === '/experiments/new') await page.getByLabel('Name', { exact: true }).fill('Not made yet');
    // a serial number has no blanks
    const written = at === '/devices/new' ? 'not-saved-yet' : 'Not saved yet';
    await control.fill(written);
    await leave();
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await control.inputValue(), at).toBe(written);
    page.once('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    await page.evaluate('location.reload()');
    await expect.poll(() => asked.splice(0)).toEqual(['beforeunload']);
    // nothing is asked once it is saved
    await page.locator('form').filter({ has: control }).getByRole('button', { name: button, exact: true }).click();
    await page.locator('.toast').first().waitFor();
    await leave();
    await page.waitForURL(`${site.baseUrl}/`);
    await page.goto(site.baseUrl + at);
    await control.fill('Given up');
    await leave();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(`${site.baseUrl}/`);
  }
  // a form in which nothing was written is left
  await page.goto(`${site.baseUrl}/experiments/new`);
  await page.getByRole('option', { name: 'Not saved yet' }).first().waitFor({ state: 'attached' });
  await leave();
  await page.waitForURL(`${site.baseUrl}/`);
  await page.goto(`${site.baseUrl}/organizations/${organization.id}/settings`);
  await page.getByLabel('Kind').selectOption('university');
  await leave();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('.toast').first().waitFor();
  await leave();
  await page.waitForURL(`${site.baseUrl}/`);
  expect(complaints).toEqual([]);
});

test('the name of something new for the library is asked for before it is lost', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  for (const [kind, button] of [
    ['Macros', 'New macro'],
    ['Protocols', 'New protocol'],
    ['Workbooks', 'New workbook'],
  ] as const) {
    await page.goto(`${site.baseUrl}/account`);
    await page.getByRole('link', { name: 'Library' }).click();
    if (kind !== 'Macros') await page.getByRole('link', { name: kind, exact: true }).click();
    await page.getByRole('button', { name: button }).click();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill(`Begun as ${button}`);
    await page.goBack();
    const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await name.inputValue()).toBe(`Begun as ${button}`);
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByRole('heading', { name: `Begun as ${button}`, level: 1 }).waitFor();
  }
  expect(complaints.slice(before)).toEqual([]);
});

test('what was begun for the library is there again after a press beside it', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  await page.goto(`${site.baseUrl}/account`);
  await page.getByRole('link', { name: 'Library' }).click();
  await page.getByRole('button', { name: 'New macro' }).click();
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Begun beside');
  await page.locator('#make-language').selectOption('r');
  await page.mouse.click(5, 500);
  await name.waitFor({ state: 'detached' });
  // it is asked for too while its form is closed
  await page.goBack();
  await page.getByRole('alertdialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'New macro' }).click();
  expect(await name.inputValue()).toBe('Begun beside');
  expect(await page.locator('#make-language').inputValue()).toBe('r');
  await page.goBack();
  await page.getByRole('alertdialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
  await name.waitFor({ state: 'detached' });
  expect(complaints.slice(before)).toEqual([]);
});

test('chosen files are asked for before they are lost', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const { id = '' } = await make('/api/v1/experiments', { name: 'Chosen' });
  await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
  const leave = () => page.getByRole('link', { name: 'fieldlake' }).click();
  await page
    .locator('input[type=file]:not([webkitdirectory])')
    .setInputFiles([{ name: 'plots.csv', mimeType: 'text/csv', buffer: Buffer.from('plot,height\nA,2.5\n') }]);
  const chosen = page.getByRole('list', { name: 'Chosen files' }).getByText('plots.csv');
  await chosen.waitFor();
  await leave();
  const question = page.getByRole('alertdialog', { name: 'Leave without uploading?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await chosen.waitFor();
  // nothing is asked once they arrived
  await page.getByRole('button', { name: 'Upload the file' }).click();
  await page.getByText(/Upload complete/).waitFor({ timeout: 60_000 });
  await leave();
  await page.waitForURL(`${site.baseUrl}/`);
  expect(complaints.slice(before)).toEqual([]);
});

test('what is being saved is not asked for, and what is written on a dashboard can be given up', async () => {
  const id = await makeExperiment(site.owner, 'Given up');
  const made = await site.owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'As it was' } });
  expect(made.status, made.text).toBe(201);
  const { page, complaints } = owner;
  const address = `${site.baseUrl}/experiments/${id}/dashboards/${String(made.body.id)}`;
  await page.goto(address);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const name = page.getByLabel('Name', { exact: true });
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  const press = (button: string) => page.getByRole('button', { name: button, exact: true }).click();

  // given up: asked first, then as it was
  await name.fill('Given up');
  await press('Stop editing');
  await question.waitFor();
  await press('Cancel');
  expect(await name.inputValue()).toBe('Given up');
  await press('Stop editing');
  await press('Leave');
  await page.getByRole('heading', { name: 'As it was' }).waitFor();
  await name.waitFor({ state: 'detached' });
  await press('Edit');
  expect(await name.inputValue()).toBe('As it was');

  // left while it is saved: nobody is asked, and it is saved
  await name.fill('Saved');
  const letGo = await holdBack(page, /\/dashboards\/[^/]+$/);
  await press('Save');
  await page.getByRole('link', { name: 'All dashboards' }).click();
  letGo();
  await page.getByRole('link', { name: 'Saved' }).waitFor();
  expect(await question.count()).toBe(0);
  await page.unrouteAll({ behavior: 'ignoreErrors' });

  // a save that is refused is not lost unasked
  await page.getByRole('link', { name: 'Saved' }).click();
  await press('Edit');
  await name.fill('Refused');
  await page.route(/\/dashboards\/[^/]+$/, (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()));
  await press('Save');
  await page.getByRole('link', { name: 'All dashboards' }).click();
  await question.waitFor();
  await press('Cancel');
  expect(await name.inputValue()).toBe('Refused');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await press('Stop editing');
  await press('Leave');
  await page.getByRole('heading', { name: 'Saved' }).waitFor();
  expect(complaints.filter((said) => !/ERR_FAILED/.test(said))).toEqual([]);
});

test('what is said of a row is asked for before it is lost', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const { experimentId, uploadTableId } = site.sample;
  await page.goto(`${site.baseUrl}/experiments/${experimentId}/tables/${uploadTableId}`);
  await page.getByRole('gridcell', { name: 'Mo17', exact: true }).first().dblclick();
  const row = page.getByRole('dialog', { name: 'Row' });
  const text = row.getByLabel('What you say');
  await text.fill('broken by the wind');
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await text.inputValue()).toBe('broken by the wind');
  // nothing is asked once it is said
  await row.getByRole('button', { name: 'Annotate this row' }).click();
  await row.getByRole('button', { name: 'Remove: broken by the wind' }).waitFor();
  await page.keyboard.press('Escape');
  await row.waitFor({ state: 'detached' });
  expect(complaints.slice(before)).toEqual([]);
});

test('files that are sent while one looks elsewhere are asked for, and told of', async () => {
  const { page } = owner;
  const id = await makeExperiment(site.owner, 'Sent elsewhere');
  const asked: string[] = [];
  // a test before this one still listens for a question that never came
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.dismiss();
  });
  const send = async (name: string) => {
    await page.goto(`${site.baseUrl}/experiments/${id}/uploads`);
    await page
      .locator('input[type=file]:not([webkitdirectory])')
      .setInputFiles([{ name: `${name}.csv`, mimeType: 'text/csv', buffer: Buffer.from('plot,height\nA,2.5\n') }]);
    await page.getByRole('table', { name: `Decided for ${name}.csv` }).waitFor();
    const letGo = await holdBack(page, /\/data\/uploads$/);
    await page.getByRole('button', { name: 'Upload the file' }).click();
    await page.getByRole('link', { name: 'fieldlake' }).click();
    await page.waitForURL(`${site.baseUrl}/`);
    await page.evaluate('setTimeout(() => location.reload())');
    await expect.poll(() => asked.splice(0)).toEqual(['beforeunload']);
    return letGo;
  };
  const letGo = await send('arrives');
  letGo();
  await page.getByText('Your files have arrived.').waitFor();
  // nothing is asked once they are there
  await page.reload();
  expect(asked).toEqual([]);

  const letFail = await send('fails');
  const archived = await site.owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
  expect(archived.status, archived.text).toBe(200);
  letFail();
  await page
    .locator('.toast.problem')
    .getByText(/archived/)
    .waitFor();
});
