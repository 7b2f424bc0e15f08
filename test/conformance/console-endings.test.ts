import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium, looksRight, openVisitor } from '../support/chromium.ts';
import { makeExperiment } from '../support/console.ts';
import { startConsoleSite, type ConsoleSite } from '../support/console-site.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const EXPECTED = /40[0349] \([A-Z]|ERR_/;

let browser: Browser;
let site: ConsoleSite;
beforeAll(async () => {
  browser = await launchChromium();
  site = await startConsoleSite();
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});

test('places of an experiment are found by name, added and removed', async () => {
  const id = await makeExperiment(site.owner, 'Places', site.organizationId);
  const { page, complaints, context } = await openVisitor(browser, 'phone', EXPECTED);
  await site.signIn(page, 'owner@leaf-lab.example');
  await page.goto(`${site.server.baseUrl}/experiments/${id}/settings`);
  await page.getByText('No places yet.').waitFor();
  await page.getByLabel('Find a place by its name').fill('Wageningen');
  const add = page.getByRole('list', { name: 'Places that were found' }).getByRole('button').first();
  await add.waitFor();
  await context.setOffline(true);
  await add.click();
  await page
    .getByRole('alert')
    .getByText(/cannot be reached/)
    .waitFor();
  expect(await page.getByLabel('Find a place by its name').inputValue()).toBe('Wageningen');
  await context.setOffline(false);
  await add.focus();
  await page.keyboard.press('Enter');
  await page.getByText('The place is added.').waitFor();
  await page.getByLabel('Find a place by its name').fill('nowhere at all');
  await page.getByText('No place has that name.').waitFor();
  await looksRight(page, 'places-phone');
  const read = async () => (await site.owner('GET', `/api/v1/experiments/${id}/locations`)).body as { name: string }[];
  expect(await read()).toMatchObject([{ name: 'Wageningen' }]);
  await site.owner('POST', `/api/v1/experiments/${id}/locations`, {
    body: { locations: [{ name: HOSTILE, latitude: 1, longitude: 2 }] },
  });
  await page.reload();
  await page.getByRole('button', { name: 'Remove the place Wageningen' }).click();
  await page.getByText('The place is removed.').waitFor();
  expect(await read()).toMatchObject([{ name: HOSTILE, latitude: 1, longitude: 2 }]);
  await page.getByText(HOSTILE).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a table is deleted after a question, by those who may', async () => {
  const id = await makeExperiment(site.owner, 'Tables', site.organizationId);
  const uploadTableId = await uploadTable(site.owner, id, 'yields', 'n\n1\n');
  const read = () => site.owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: uploadTableId } });
  const address = `${site.server.baseUrl}/experiments/${id}/tables/${uploadTableId}`;

  const member = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(member.page, 'member@leaf-lab.example');
  await member.page.goto(address);
  await member.page.getByRole('gridcell').first().waitFor();
  expect(await member.page.getByRole('button', { name: 'Delete the table' }).count()).toBe(0);

  const { page, complaints } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'owner@leaf-lab.example');
  await page.goto(address);
  const ask = page.getByRole('button', { name: 'Delete the table' });
  await ask.click();
  const question = page.getByRole('alertdialog');
  await question.getByText(`Delete the table yields?`).waitFor();
  await looksRight(page, 'table-delete-desk');
  await question.getByRole('button', { name: 'Cancel' }).click();

  // archived meanwhile: the refusal is a sentence where it was asked
  const setStatus = (status: string) => site.owner('PATCH', `/api/v1/experiments/${id}`, { body: { status } });
  await setStatus('archived');
  await ask.click();
  await question.getByRole('button', { name: 'Delete the table' }).click();
  await question.getByRole('alert').waitFor();
  await setStatus('active');
  await question.getByRole('button', { name: 'Delete the table' }).click();
  await page.getByText('The table is deleted.').waitFor();
  await page.waitForURL(`${site.server.baseUrl}/experiments/${id}`);
  expect((await read()).status).toBe(404);
  expect([...complaints, ...member.complaints]).toEqual([]);
});

test('an upload is taken back after a question, and the same file can be sent again', async () => {
  const id = await makeExperiment(site.owner, 'Taken back', site.organizationId);
  const tableId = await uploadTable(site.owner, id, 'yields', 'n\n1\n');
  await appendTo(site.owner, id, tableId, 'n,extra\n2,x\n');
  const { body } = await site.owner('GET', `/api/v1/experiments/${id}/data/uploads`);
  const address = `${site.server.baseUrl}/experiments/${id}/uploads/${String(body.uploads[0].uploadId)}`;
  const button = { name: 'Take the upload back' };

  const member = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(member.page, 'member@leaf-lab.example');
  await member.page.goto(address);
  await member.page.getByText('rows stored').waitFor();
  expect(await member.page.getByRole('button', button).count()).toBe(0);

  for (const size of ['desk', 'phone'] as const) {
    const { page, complaints, context } = await openVisitor(browser, size, EXPECTED);
    await site.signIn(page, 'owner@leaf-lab.example');
    await page.goto(address);
    if (size === 'desk') {
      await page.getByRole('button', button).click();
      const question = page.getByRole('alertdialog');
      await question.getByText('1 row of this upload leaves yields').waitFor();
      await looksRight(page, 'upload-withdraw-desk');
      await question.getByRole('button', button).click();
    }
    await page.getByText(/^Taken back /).waitFor();
    expect(await page.getByRole('button', button).count()).toBe(0);
    await looksRight(page, `upload-withdrawn-${size}`);
    expect(complaints).toEqual([]);
    await context.close();
  }
  const { body: rows } = await site.owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: tableId } });
  expect(rows[0].data.rows).toMatchObject([{ n: 1 }]);
  expect(rows[0].data.rows[0]).not.toHaveProperty('extra');
  await appendTo(site.owner, id, tableId, 'n,extra\n2,x\n');
});

test.each(['desk', 'phone'] as const)('who has no name yet is asked for it, %s', async (size) => {
  const { page, complaints, context } = await openVisitor(browser, size, EXPECTED);
  await site.signIn(page, `nameless-${size}@example.com`);
  await page.goto(site.server.baseUrl);
  const link = page.getByRole('link', { name: 'Say your name' });
  await link.waitFor();
  await looksRight(page, `nameless-${size}`);
  // who comes by an invitation sees no list of experiments first
  await page.goto(`${site.server.baseUrl}/account/invitations`);
  await link.click();
  await page.getByLabel('First name').fill('Ina');
  await page.getByLabel('Last name').fill('O');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Your profile is saved.').waitFor();
  await page.goto(site.server.baseUrl);
  await page.getByRole('heading', { name: 'Experiments', exact: true }).waitFor();
  expect(await link.count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('an account is deleted by its own person, and what keeps it is named', async () => {
  const { page, complaints } = await openVisitor(browser, 'desk', EXPECTED);
  const address = 'leaving@example.com';
  await site.signIn(page, address);
  const send = (path: string, body: object) =>
    page.evaluate(
      async ([where, what]) =>
        (await fetch(`/api/v1${where}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: what })).status,
      [path, JSON.stringify(body)] as const,
    );
  expect(await send('/experiments', { name: 'Mine alone' })).toBe(201);
  expect(await send('/experiments', { name: 'Ours' })).toBe(201);
  await page.goto(`${site.server.baseUrl}/account`);
  const panel = page.getByRole('region', { name: 'Delete your account' });
  // what is shared with nobody leads to where it is shared; whoever then has access can be chosen
  await panel.getByRole('link', { name: 'Ours' }).click();
  await page.getByLabel('Name or email address').fill('owner@leaf-lab.example');
  await page.getByRole('button', { name: 'Share with Owner Sample' }).click();
  await page.getByRole('region', { name: 'Who has access' }).getByText('Owner Sample').waitFor();
  await page.goto(`${site.server.baseUrl}/account`);
  await panel.getByLabel('Who becomes an admin of Ours').selectOption('Owner Sample');
  await looksRight(page, 'account-hand-over-desk');
  await panel.getByRole('button', { name: 'Hand over' }).click();
  await panel.getByRole('link', { name: 'Ours' }).waitFor({ state: 'detached' });
  await panel.getByText('experiment, shared with nobody by name').waitFor();
  await panel.getByRole('link', { name: 'Mine alone' }).waitFor();
  await panel.getByRole('button', { name: 'Delete my account' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByRole('button', { name: 'Delete my account' }).click();
  await question
    .getByRole('alert')
    .getByText(/cannot be deleted yet/)
    .waitFor();
  await looksRight(page, 'account-delete-desk');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await panel.getByLabel(/Delete with it what is private/).check();
  await panel.getByRole('button', { name: 'Delete my account' }).click();
  await question.getByText(/Private resources that only you can reach/).waitFor();
  await question.getByRole('button', { name: 'Delete my account' }).click();
  await page.waitForURL(`${site.server.baseUrl}/sign-in`);
  // the session is over
  await page.goto(`${site.server.baseUrl}/account`);
  await page.getByLabel('Email address').waitFor();
  expect(complaints).toEqual([]);
});
