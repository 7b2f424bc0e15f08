/** What somebody has said or made is changed where it stands, and what an organization owns is found. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { makeExperiment, startConsole, type Console } from '../support/console.ts';
import { callsTo } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());
const drawerOf = ({ page }: Visitor) => page.getByRole('dialog');

test('what one has said of a row is changed by keyboard, and only by whoever said it', async () => {
  const id = await makeExperiment(site.owner, 'Words', site.sample.organizationId);
  const table = await uploadTable(site.owner, id, 'words', 'n\n1\n');
  const readRow = async () => {
    const { body } = await site.owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: table } });
    return body[0].data.rows[0] as { id: string; annotations: { content: object }[] };
  };
  const row = (await readRow()).id;
  for (const content of [
    { type: 'comment', text: 'a bent leaf' },
    { type: 'flag', flagType: 'outlier', text: 'rain' },
  ]) {
    const body = { tableName: table, rowId: row, annotation: { type: content.type, content } };
    expect((await site.owner('POST', `/api/v1/experiments/${id}/data/annotations`, { body })).status).toBe(201);
  }
  const saidOf = async () => (await readRow()).annotations.map(({ content }) => content);
  const before = await saidOf();
  const address = `${site.baseUrl}/experiments/${id}/tables/${table}?row=${row}`;

  const { page, complaints } = owner;
  await page.goto(address);
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Change: a bent leaf' }).focus();
  await page.keyboard.press('Enter');
  const form = drawer.getByRole('form', { name: 'Change' });
  const text = form.getByLabel('What you say');
  expect(await text.inputValue()).toBe('a bent leaf');
  expect(await text.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
  await looksRight(page, 'annotation-changed-desk');
  await text.fill('not that');
  await form.getByRole('button', { name: 'Cancel' }).press('Enter');
  await form.waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Change: a bent leaf');
  expect(await saidOf()).toEqual(before);

  await drawer.getByRole('button', { name: 'Change: a bent leaf' }).press('Enter');
  await text.fill('a broken leaf');
  await text.press('Enter');
  await drawer.getByRole('listitem').getByText('a broken leaf').waitFor();
  await drawer.getByRole('button', { name: 'Change: rain' }).press('Enter');
  await form.getByLabel('Say it as').selectOption('a flag: needs review');
  await form.getByLabel('Why, if you like').fill('');
  await form.getByRole('button', { name: 'Save' }).press('Enter');
  await drawer.getByRole('listitem').getByText('needs review').waitFor();
  expect(await saidOf()).toEqual([
    { ...before[0], text: 'a broken leaf' },
    { ...before[1], flagType: 'needs_review', text: null },
  ]);
  expect(complaints).toEqual([]);

  // a member may say something too, and cannot change what others said
  const member = await site.visitAs('member');
  await member.page.goto(address);
  await drawerOf(member).getByText('a broken leaf').waitFor();
  await drawerOf(member).getByLabel('What you say').fill('so it is');
  await drawerOf(member).getByRole('button', { name: 'Annotate this row' }).click();
  await drawerOf(member).getByRole('button', { name: 'Change: so it is' }).waitFor();
  expect(
    await drawerOf(member)
      .getByRole('button', { name: /^Change/ })
      .count(),
  ).toBe(1);
  expect(member.complaints).toEqual([]);
  await member.context.close();

  const phone = await site.copyOf(owner, 'phone');
  await phone.page.goto(address);
  await drawerOf(phone).getByRole('button', { name: 'Change: needs review' }).click();
  await drawerOf(phone).getByLabel('Why, if you like').waitFor();
  await looksRight(phone.page, 'annotation-changed-phone');
  await phone.context.close();
});

test('a key gets another name, ends at another time, and is switched off', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/account`);
  await page.getByLabel('Name of a new key').fill('Logger');
  await page.getByRole('button', { name: 'Make a key' }).click();
  const key = (await page.locator('#new-key-value').textContent()) ?? '';
  const statusOf = async () => (await callsTo(site.baseUrl)(key)('GET', '/api/v1/experiments')).status;
  expect(await statusOf()).toBe(200);
  await page.getByRole('button', { name: 'Change key Logger' }).press('Enter');
  const form = page.getByRole('form', { name: 'Change key Logger' });
  await form.getByLabel('Name').fill('Field logger');
  await form.getByLabel('It is').selectOption('off: programs that use it are refused');
  await form.getByLabel('It ends').selectOption('never');
  await looksRight(page, 'key-changed-desk');
  await page.getByRole('link', { name: 'Devices' }).first().click();
  await page.getByRole('alertdialog').getByText('What you wrote is not saved yet.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).last().click();
  await form.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByText('The key is changed.').waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Change key Field logger');
  const row = page.locator('#keys li').filter({ hasText: 'Field logger' });
  await row.getByText('off', { exact: true }).waitFor();
  await row.getByText('ends never').waitFor();
  expect(await statusOf()).toBe(401);

  await page.getByRole('button', { name: 'Change key Field logger' }).click();
  await page.getByRole('form', { name: 'Change key Field logger' }).getByLabel('It is').selectOption('active');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await row.getByText('active', { exact: true }).waitFor();
  await row.getByText('ends never').waitFor();
  expect(await statusOf()).toBe(200);
  expect(complaints).toEqual([]);
  const phone = await site.copyOf(owner, 'phone');
  await phone.page.goto(`${site.baseUrl}/account`);
  await phone.page.getByRole('button', { name: 'Change key Field logger' }).click();
  await looksRight(phone.page, 'key-changed-phone');
  await phone.context.close();
});

test('an organization says what it owns to whoever may read it', async () => {
  const { page, complaints } = owner;
  const under = `${site.baseUrl}/organizations/${site.sample.organizationId}`;
  await page.goto(under);
  await page.getByRole('link', { name: 'What it owns' }).click();
  const owned = page.getByRole('region', { name: 'What it owns' });
  await owned.getByText(/^\d+ experiments?, /).waitFor();
  await looksRight(page, 'owned-desk');
  const phone = await site.copyOf(owner, 'phone');
  await phone.page.goto(page.url());
  await phone.page.getByRole('link', { name: 'Maize under drought' }).waitFor();
  await looksRight(phone.page, 'owned-phone');
  await phone.page.setViewportSize({ width: 360, height: 800 });
  expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  await phone.context.close();
  await owned.getByRole('link', { name: 'Maize under drought' }).click();
  await page.getByRole('heading', { name: 'Maize under drought', level: 1 }).waitFor();

  await page.goto(`${under}/resources?page=2`);
  await owned.getByText('The list ends before this page.').waitFor();
  await owned.getByRole('link', { name: 'Previous' }).click();
  await owned.getByRole('link', { name: 'Maize under drought' }).waitFor();

  // who is no member finds what is public, and no members
  const send = (path: string, body: object) =>
    page.evaluate(
      async ([where, what]) => {
        const headers = { 'content-type': 'application/json' };
        return (await (await fetch(`/api/v1/auth/organization/${where}`, { method: 'POST', headers, body: what })).json()) as {
          id: string;
        };
      },
      [path, JSON.stringify(body)] as const,
    );
  const open = await send('create', { name: 'Open Lab', slug: 'open-lab' });
  await send('update', { organizationId: open.id, data: { visibility: 'public' } });
  const stranger = await site.visitAs('stranger');
  await stranger.page.goto(`${site.baseUrl}/organizations/${open.id}/resources`);
  await stranger.page.getByText('It owns nothing that you may read.').waitFor();
  expect(await stranger.page.getByRole('link', { name: 'Members' }).count()).toBe(0);
  const shown = { name: 'Shown to all', organizationId: open.id, visibility: 'public' };
  expect((await site.owner('POST', '/api/v1/experiments', { body: shown })).status).toBe(201);
  await makeExperiment(site.owner, 'Kept among us', open.id);
  await stranger.page.reload();
  await stranger.page.getByRole('link', { name: 'Shown to all' }).waitFor();
  await stranger.page.getByText('1 experiment', { exact: true }).waitFor();
  expect(await stranger.page.getByText('Kept among us').count()).toBe(0);
  expect([...complaints, ...stranger.complaints]).toEqual([]);
  await stranger.context.close();
});
