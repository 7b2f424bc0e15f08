/** Two people change the same: nothing is lost without a word, and both can be seen. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeOver, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

/** Asks as somebody else who may change the same. */
async function call(method: 'POST' | 'PATCH' | 'PUT', path: string, body: object) {
  const answer = await site.owner(method, path, { body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body as Record<string, string>;
}
const flowOf = (name: string) => ({
  nodes: [{ id: 'start', type: 'instruction', name, content: { text: 'Begin here.' }, isStart: true }],
  edges: [],
});
const noteOf = (content: string) => ({ cells: [{ id: 'note', type: 'markdown', content }] });

test('a workbook is saved beside another name of it, and over other cells after they were seen', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const { id } = await call('POST', '/api/v1/workbooks', { name: 'Ours', ...noteOf('First.') });
  const path = `/api/v1/workbooks/${id}`;
  const stored = async () => (await site.owner('GET', path)).body as { name: string; cells: { content: string }[] };
  await page.goto(`${site.baseUrl}/library/workbooks/${id}`);
  const note = page.getByLabel('Text, as Markdown');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  const behind = page.getByRole('alert').filter({ hasText: 'Yours is still here' });

  // a name of one's own is no conflict
  await note.fill('Mine.');
  await page.getByLabel('Name', { exact: true }).fill('Ours, renamed');
  await save.last().click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  await save.first().click();
  await page.getByText('The workbook is saved.').waitFor();
  expect(await stored()).toMatchObject({ name: 'Ours, renamed', ...noteOf('Mine.') });

  // one of somebody else stays
  await note.fill('Mine again.');
  await call('PATCH', path, { name: 'Theirs' });
  await save.first().click();
  await behind.getByRole('button', { name: 'Save mine all the same' }).click();
  await expect.poll(stored).toMatchObject({ name: 'Theirs', ...noteOf('Mine again.') });

  // other cells are seen beside one's own, and may be taken
  await note.fill('Mine at last.');
  await call('PATCH', path, noteOf('Written by them.'));
  await save.first().click();
  await behind
    .getByRole('textbox', { name: 'What mine changes of theirs' })
    .getByText(/Written by them/)
    .waitFor();
  expect(await note.inputValue()).toBe('Mine at last.');
  expect(await stored()).toMatchObject(noteOf('Written by them.'));
  await behind.getByRole('button', { name: 'Undo my changes' }).click();
  await expect.poll(() => note.inputValue()).toBe('Written by them.');
  expect(await page.locator('main .problem').count()).toBe(0);
  expect(complaints.slice(before)).toEqual([]);
});

test('a flow that somebody else wrote meanwhile is seen before it is written over', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const experiment = await makeExperiment(site.owner, 'Walked by two');
  const path = `/api/v1/experiments/${experiment}/flow`;
  await call('POST', path, flowOf('First'));
  await page.goto(`${site.baseUrl}/experiments/${experiment}/workbook`);
  await page.getByText('Edit the flow as JSON').click();
  await writeOver(page.getByRole('textbox', { name: 'Flow as JSON' }), JSON.stringify(flowOf('Mine')));
  await call('PUT', path, flowOf('Written by them'));
  await page.locator('details').getByRole('button', { name: 'Save', exact: true }).click();
  const behind = page.getByRole('alert').filter({ hasText: 'Yours is still here' });
  await behind
    .getByRole('textbox', { name: 'What mine changes of theirs' })
    .getByText(/Written by them/)
    .first()
    .waitFor();
  await behind.getByRole('button', { name: 'Save mine all the same' }).click();
  await page.getByText('The flow is saved.').waitFor();
  expect((await site.owner('GET', path)).body.graph.nodes[0].name).toBe('Mine');
  expect(complaints.slice(before)).toEqual([]);
});

test('a dashboard of somebody else is seen before one decides', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const experiment = await makeExperiment(site.owner, 'Seen by two');
  const path = `/api/v1/experiments/${experiment}/dashboards`;
  const { id } = await call('POST', path, { name: 'Season', widgets: [] });
  await page.goto(`${site.baseUrl}/experiments/${experiment}/dashboards/${id}?edit=true`);
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Mine');
  await call('PATCH', `${path}/${id}`, { name: 'Season of theirs', description: 'What they saw.' });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const opened = page.waitForEvent('popup');
  await page.getByRole('alert').getByRole('link', { name: 'See theirs in another tab' }).click();
  const other = await opened;
  await other.getByRole('heading', { name: 'Season of theirs' }).waitFor();
  await other.getByText('What they saw.').waitFor();
  await other.close();
  expect(await name.inputValue()).toBe('Mine');
  await page.getByRole('button', { name: 'Save mine over it' }).click();
  await page.getByText('The dashboard is saved.').waitFor();
  expect((await site.owner('GET', `${path}/${id}`)).body.name).toBe('Mine');
  expect(complaints.slice(before)).toEqual([]);
});

test('what is saved once more after one was told is not written over unseen', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  const experiment = await makeExperiment(site.owner, 'Seen by three');
  const within = `/experiments/${experiment}`;
  const dashboard = await call('POST', `/api/v1${within}/dashboards`, { name: 'Season', widgets: [] });
  const metadataOf = (name: string) => ({
    metadata: {
      name,
      columns: [{ id: 'c1', name: 'plot', type: 'string' }],
      rows: [{ _id: '1', c1: 'A' }],
      identifierColumnId: 'c1',
      experimentQuestionId: 'plot',
    },
  });
  const metadata = await call('POST', `/api/v1${within}/metadata`, metadataOf('Season'));
  const macro = await call('POST', '/api/v1/macros', { name: 'Season', language: 'python', code: 'output["n"] = 1\n' });
  const named = (name: string) => ({ name });
  for (const [at, field, method, path, bodyOf] of [
    [`${within}/dashboards/${dashboard['id']}?edit=true`, '#dashboard-name', 'PATCH', `${within}/dashboards/${dashboard['id']}`, named],
    [
      `${within}/metadata/${metadata['metadataId']}?edit=true`,
      '#metadata-name',
      'PUT',
      `${within}/metadata/${metadata['metadataId']}`,
      metadataOf,
    ],
    [`/library/macros/${macro['id']}`, '#about-name', 'PUT', `/macros/${macro['id']}`, named],
  ] as const) {
    const stored = async () => JSON.stringify((await site.owner('GET', `/api/v1${path}`)).body);
    await page.goto(site.baseUrl + at);
    await page.locator(field).fill('Mine');
    await call(method, `/api/v1${path}`, bodyOf('Second'));
    const form = page.locator('form').filter({ has: page.locator(field) });
    await form.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByRole('alert').filter({ hasText: 'while you edited it' });
    await conflict.waitFor();
    await call(method, `/api/v1${path}`, bodyOf('Third'));
    await page.getByRole('button', { name: 'Save mine over it' }).click();
    await page.getByRole('alert').filter({ hasText: 'Somebody saved once more' }).waitFor();
    expect(await stored(), at).toContain('"Third"');
    expect(await page.locator(field).inputValue()).toBe('Mine');
    expect(await page.evaluate('document.activeElement.textContent'), at).toBe('Save mine over it');
    await page.getByRole('button', { name: 'Save mine over it' }).click();
    await expect.poll(stored).toContain('"Mine"');
    await page.getByRole('button', { name: 'Save mine over it' }).waitFor({ state: 'detached' });
  }
  expect(complaints.slice(before)).toEqual([]);
});

test('two who write the first flow at once keep what they wrote', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  // what one wrote, and what the editor begins with
  for (const mine of ['Mine', 'Begin']) {
    const experiment = await makeExperiment(site.owner, 'First of two');
    const path = `/api/v1/experiments/${experiment}/flow`;
    await page.goto(`${site.baseUrl}/experiments/${experiment}/workbook`);
    await page.getByText('Edit the flow as JSON').click();
    const editor = page.getByRole('textbox', { name: 'Flow as JSON' });
    await editor.waitFor();
    if (mine !== 'Begin') await writeOver(editor, JSON.stringify(flowOf(mine)));
    await call('POST', path, flowOf('Written by them'));
    await page.locator('details').getByRole('button', { name: 'Save', exact: true }).click();
    const behind = page.getByRole('alert').filter({ hasText: 'Yours is still here' });
    const compared = behind.getByRole('textbox', { name: 'What mine changes of theirs' });
    await compared
      .getByText(/Written by them/)
      .first()
      .waitFor();
    expect(await editor.textContent()).toContain(`"${mine}"`);
    // a third saves before one decides
    await call('PUT', path, flowOf('Written since'));
    await behind.getByRole('button', { name: 'Save mine all the same' }).click();
    await page.getByRole('alert').filter({ hasText: 'Somebody saved once more' }).waitFor();
    expect((await site.owner('GET', path)).body.graph.nodes[0].name).toBe('Written since');
    await page.getByRole('button', { name: 'Save mine all the same' }).click();
    await page.getByText('The flow is saved.').first().waitFor();
    await expect.poll(async () => (await site.owner('GET', path)).body.graph.nodes[0].name).toBe(mine);
  }
  expect(complaints.slice(before)).toEqual([]);
});

test('what somebody removed or deleted meanwhile is told so, once', async () => {
  const { page } = owner;
  const { experimentId, uploadTableId: table } = site.sample;
  const data = `/api/v1/experiments/${experimentId}/data`;
  const { body } = await site.owner('GET', data, { query: { tableName: table, columns: '["id"]', limit: 1 } });
  const [{ id: row }] = body[0].data.rows as [{ id: string }];
  const annotation = { type: 'comment', content: { type: 'comment', text: 'windy' } };
  const say = () => call('POST', `${data}/annotations/bulk`, { tableName: table, rowIds: [row], annotation });
  const silence = async () => {
    const gone = await site.owner('POST', `${data}/annotations/bulk-delete`, {
      body: { tableName: table, rowIds: [row], type: 'comment' },
    });
    expect(gone.status, gone.text).toBeLessThan(300);
  };
  const address = `${site.baseUrl}/experiments/${experimentId}/tables/${table}?row=${row}`;
  const shown = page.getByRole('dialog', { name: 'Row' });

  await say();
  await page.goto(address);
  await shown.getByRole('button', { name: 'Change: windy' }).click();
  await silence();
  await shown.getByLabel('What you say').first().fill('windy, and wet');
  await shown.getByRole('button', { name: 'Save', exact: true }).click();
  await shown.getByText('Somebody removed it meanwhile.').waitFor();
  expect(await shown.getByLabel('What you say').first().inputValue()).toBe('windy, and wet');
  await shown.getByRole('button', { name: 'Cancel', exact: true }).click();
  await shown.getByText('Nobody has said anything about this row.').waitFor();

  await say();
  await page.goto(address);
  const remove = shown.getByRole('button', { name: 'Remove: windy' });
  await remove.waitFor();
  await silence();
  await remove.click();
  await shown.getByText('Nobody has said anything about this row.').waitFor();

  const { id } = await call('POST', `/api/v1/experiments/${experimentId}/dashboards`, { name: 'Ours' });
  const dashboard = `/api/v1/experiments/${experimentId}/dashboards/${id}`;
  await page.goto(`${site.baseUrl}/experiments/${experimentId}/dashboards/${id}?edit=true`);
  await page.getByLabel('Name', { exact: true }).fill('Mine');
  await call('PATCH', dashboard, { name: 'Theirs' });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const mine = page.getByRole('button', { name: 'Save mine over it' });
  await mine.waitFor();
  const gone = await site.owner('DELETE', dashboard);
  expect(gone.status, gone.text).toBeLessThan(300);
  await mine.click();
  await expect.poll(() => page.getByRole('alert').allInnerTexts()).toEqual([expect.stringMatching(/deleted/)]);
});
