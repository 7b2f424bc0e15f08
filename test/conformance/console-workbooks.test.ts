import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSession } from '../../src/auth/sessions.ts';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { grant, type Person } from '../support/cast.ts';
import { launchChromium, looksRight, openVisitor, pickSizes, SIZES, type Size, type Visitor, writeOver } from '../support/chromium.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"\'';

let site: BuiltSite;
let browser: Browser;
let protocol: string;
let macro: string;

beforeAll(async () => {
  browser = await launchChromium();
  site = await startBuiltSite();
  const organizationId = site.cast.leafLab;
  protocol = await make('protocols', { name: `Phi2 ${HOSTILE}`, family: 'multispeq', code: [{ n: 1 }], organizationId });
  macro = await make('macros', { name: 'Twice', language: 'javascript', code: 'return { twice: json.x * 2 };', organizationId });
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});

async function make(kind: string, body: object): Promise<string> {
  const made = await site.owner('POST', `/api/v1/${kind}`, { body });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

/** A browser in which a person is signed in. */
async function open(person: Person, size: Size, expects = /^$/): Promise<Visitor> {
  const visitor = await openVisitor(browser, size, expects);
  const { token } = await startSession(site.db, { userId: person.id, method: 'email', ipAddress: null, userAgent: null });
  await visitor.context.addCookies([{ name: 'fieldlake.session_token', value: token, url: site.server.baseUrl }]);
  visitor.page.on('dialog', (dialog) => void dialog.accept());
  return visitor;
}

describe.each(pickSizes('desk'))('workbooks at a %s', (size: Size) => {
  test('are made of cells, attached to an experiment, changed and followed', async () => {
    const { page, complaints, context } = await open(site.cast.owner, size, /412 \(Precondition|400 \(Bad/);
    await page.goto(`${site.server.baseUrl}/library/workbooks`);
    await page.getByRole('button', { name: 'New workbook' }).click();
    await page.getByLabel('Name', { exact: true }).fill(`Leaves ${HOSTILE} ${size}`);
    await page.getByLabel('It belongs to').selectOption({ label: 'Leaf Lab' });
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByText('No cell yet. Add the first one below.').waitFor();
    const id = page.url().split('/').at(-1)!;
    const path = `/api/v1/workbooks/${id}`;
    const add = async (type: string) => {
      await page.getByLabel('Add a cell').selectOption({ label: type });
      await page.getByRole('button', { name: 'Add', exact: true }).click();
    };
    const save = () => page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await add('Note');
    await page.getByLabel('Text, as Markdown').fill(`Hold the leaf flat. ${HOSTILE}`);
    await add('Question');
    await page.getByLabel(/^Label, which names/).fill('Leaf side');
    await page.getByLabel('What is asked').fill('Which side?');
    await page.getByLabel('How it is answered').selectOption('multi_choice');
    await page.getByLabel('Answers to choose from, one a line').fill('top\nbottom');
    await add('Protocol');
    await page.getByLabel('Which protocol').selectOption(protocol);
    await add('Macro');
    await page.getByLabel('Which macro').selectOption(macro);
    await add('Branch');
    await page.getByRole('textbox', { name: 'The cell, as JSON, 5' }).waitFor();
    await looksRight(page, `workbook-written-${size}`);
    await save();
    await page.getByText('The workbook is saved.').waitFor();
    await page.getByText('Nothing would stop it in the field.').waitFor();
    const stored = (await site.owner('GET', path)).body;
    expect(stored.cells.map(({ type }: { type: string }) => type)).toEqual(['markdown', 'question', 'protocol', 'macro', 'branch']);
    expect(stored.cells[1].question).toMatchObject({ kind: 'multi_choice', text: 'Which side?', options: ['top', 'bottom'] });

    // moved by keyboard, and what would stop it is said where it is
    const focused = () => page.evaluate('document.activeElement.ariaLabel');
    await page.getByRole('button', { name: 'Move cell 1 down' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Move cell 2 down');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Move cell 1 up');
    // it is followed to the end
    await page.getByRole('button', { name: 'Move cell 3 down' }).focus();
    for (const place of [4, 5]) {
      await page.keyboard.press('Enter');
      await expect.poll(focused).toBe(`Move cell ${place} down`);
      const { top, bottom } = await page.evaluate<{ top: number; bottom: number }>('document.activeElement.getBoundingClientRect()');
      expect({ place, isSeen: top >= 0 && bottom <= SIZES[size].height }).toEqual({ place, isSeen: true });
    }
    for (const place of [4, 3]) {
      await page.getByRole('button', { name: `Move cell ${place + 1} up` }).click();
      await page.getByRole('button', { name: `Move cell ${place} up` }).waitFor();
    }
    await page.getByRole('button', { name: 'Move cell 4 up' }).focus();
    for (const place of [3, 2, 1]) {
      await page.keyboard.press('Enter');
      await expect.poll(focused).toBe(`Move cell ${place} up`);
    }
    await save();
    await page.getByText('Nothing before this cell gives the macro an input.').waitFor();
    await page.getByRole('button', { name: 'Take cell 1 away' }).click();
    await save();
    await expect.poll(async () => (await site.owner('GET', path)).body.cells.length).toBe(4);
    await page.getByRole('button', { name: 'Undo my changes' }).waitFor({ state: 'detached' });
    // what the service refuses stays written
    await page.getByLabel(/^Label, which names/).fill('');
    await save();
    await page
      .getByRole('alert')
      .getByText(/Change what is named above/)
      .waitFor();
    expect(await page.getByLabel('What is asked').inputValue()).toBe('Which side?');
    await page.getByRole('button', { name: 'Undo my changes' }).click();

    // attached: the flow is written from it
    const experiment = await make('experiments', { name: `Field ${size}`, organizationId: site.cast.leafLab });
    await page.goto(`${site.server.baseUrl}/experiments/${experiment}`);
    await page.getByRole('link', { name: 'Workbook and flow' }).click();
    await page.getByText('No workbook is attached.').waitFor();
    await looksRight(page, `attached-none-${size}`);
    await page.getByLabel('Workbook to attach').selectOption(id);
    await page.getByRole('button', { name: 'Attach it' }).click();
    await page.getByText(/^It follows Leaves .*, version 1\.$/).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Leaf side' }).getByText('question').waitFor();
    // it changes, and the experiment follows
    const { cells } = (await site.owner('GET', path)).body;
    const changed = [...cells, { id: 'more', type: 'markdown', content: '## Well done.\n\nThe pot goes back.' }];
    expect((await site.owner('PATCH', path, { body: { cells: changed } })).status).toBe(200);
    await page.reload();
    await page.getByText('The workbook has changed since.').waitFor();
    await looksRight(page, `attached-${size}`);
    await page.getByRole('button', { name: 'Follow it as it is now' }).click();
    await page.getByText('It follows version 2 now.').waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: /^Well done\. note/ })
      .waitFor();
    await page.getByLabel('Version to follow').selectOption({ index: 1 });
    await page.getByRole('button', { name: 'Follow this version' }).click();
    await page.getByText('It follows version 1 now.').waitFor();
    await page.getByText(/^It follows Leaves .*, version 1\.$/).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);

    // a version is what was written then, without what a run left in it
    await page.goto(`${site.server.baseUrl}/library/workbooks/${id}?before=2`);
    await page.getByText('Both say the same.').waitFor();

    // versions compared
    await page.goto(`${site.server.baseUrl}/library/workbooks/${id}?before=1&after=2`);
    await page.getByRole('textbox', { name: 'What changed from version 1 to version 2' }).getByText('Well done.').waitFor();

    // somebody else changes it: yours stays
    await page.getByLabel('What is asked').fill('Mine?');
    expect((await site.owner('PATCH', path, { body: { cells } })).status).toBe(200);
    await save();
    await page
      .getByRole('alert')
      .getByText(/Yours is still here/)
      .waitFor();
    expect(await page.getByLabel('What is asked').inputValue()).toBe('Mine?');
    await page.getByRole('button', { name: 'Save mine all the same' }).click();
    await expect.poll(async () => (await site.owner('GET', path)).text).toContain('Mine?');

    // detached, and a flow written by hand
    await page.goto(`${site.server.baseUrl}/experiments/${experiment}/workbook`);
    // its flow is read before it goes: the browser tells of a flow that is asked for and not there
    await page.getByRole('listitem').filter({ hasText: 'Leaf side' }).waitFor();
    await page.getByRole('button', { name: 'Detach the workbook' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Detach the workbook' }).click();
    await page.getByText('The workbook is detached.').waitFor();
    await page.getByText('No flow of questions and measurements yet.').waitFor();
    await page.getByText('Edit the flow as JSON').click();
    await page.getByRole('textbox', { name: 'Flow as JSON' }).waitFor();
    await page.locator('details').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The flow is saved.').waitFor();
    await page.getByText('begins here').waitFor();
    expect((await site.owner('GET', `/api/v1/experiments/${experiment}/flow`)).body.graph.nodes).toHaveLength(1);
    // and written anew
    const flowPath = `/api/v1/experiments/${experiment}/flow`;
    const flow = (await site.owner('GET', flowPath)).body.graph as { nodes: { name: string }[] };
    flow.nodes[0]!.name = 'Look first';
    await writeOver(page.getByRole('textbox', { name: 'Flow as JSON' }), JSON.stringify(flow));
    const again = page.locator('details').getByRole('button', { name: 'Save', exact: true });
    await expect.poll(() => again.isEnabled()).toBe(true);
    // by keyboard: on a phone the word that the first was saved lies over the button
    await again.press('Enter');
    await expect.poll(async () => (await site.owner('GET', flowPath)).text).toContain('Look first');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('whoever may only read sees them, and no control', async () => {
    const id = await make('workbooks', {
      name: `Read ${size}`,
      organizationId: site.cast.leafLab,
      cells: [{ id: 'note', type: 'markdown', content: HOSTILE }],
    });
    const experiment = await make('experiments', { name: `Shown ${size}`, organizationId: site.cast.leafLab });
    await grant(site.db, { id, type: 'workbook' }, { user: site.cast.viewer.id }, 'viewer');
    await grant(site.db, { id: experiment, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
    expect((await site.owner('POST', `/api/v1/experiments/${experiment}/workbook/attach`, { body: { workbookId: id } })).status).toBe(200);
    const { page, complaints, context } = await open(site.cast.viewer, size);
    await page.goto(`${site.server.baseUrl}/library/workbooks/${id}`);
    expect(await page.getByLabel('Text, as Markdown').inputValue()).toBe(HOSTILE);
    for (const name of ['Save', 'Add', 'Delete', 'Make public', 'Take cell 1 away'])
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
    await looksRight(page, `workbook-read-${size}`);
    await page.goto(`${site.server.baseUrl}/experiments/${experiment}/workbook`);
    await page.getByText(/^It follows Read/).waitFor();
    for (const name of ['Attach it', 'Detach the workbook', 'Follow it as it is now'])
      expect(await page.getByRole('button', { name }).count(), name).toBe(0);
    expect(await page.getByText('Edit the flow as JSON').count()).toBe(0);
    // where there is none, who may only read is not told to make one
    expect((await site.owner('POST', `/api/v1/experiments/${experiment}/workbook/detach`)).status).toBeLessThan(300);
    await page.reload();
    await page.getByRole('heading', { name: 'No workbook is attached.' }).waitFor();
    expect(await page.getByText('Attach one').count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
