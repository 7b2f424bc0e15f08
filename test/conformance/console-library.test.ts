import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startSession } from '../../src/auth/sessions.ts';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { grant, type Person } from '../support/cast.ts';
import { launchChromium, looksRight, openVisitor, type Size, type Visitor, writeOver, pickSizes } from '../support/chromium.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"\'{{7*7}}';

let site: BuiltSite;
let browser: Browser;
let experimentId: string;
let withheldMacro: string;

beforeAll(async () => {
  browser = await launchChromium();
  site = await startBuiltSite({ MACRO_LANGUAGES: 'javascript,python', MACRO_LEVEL: 'embedded', MACRO_ACCEPT_ROOT: 'on' });
  experimentId = await make('experiments', { name: `Leaves ${HOSTILE}`, organizationId: site.cast.leafLab });
  withheldMacro = await make('macros', { name: 'Kept for me', language: 'javascript', code: 'return { third: json.x / 3 };' });
  const message = (n: number, macros: string[]) => ({
    experimentId,
    userId: site.cast.member.id,
    body: Buffer.from(
      JSON.stringify({
        timestamp: new Date(Date.UTC(2026, 4, 1, 10, n)).toISOString(),
        device_name: HOSTILE,
        sample: { x: n, note: HOSTILE },
        macros,
      }),
    ),
  });
  await storeMessages(site.db, [message(1, []), message(2, []), message(3, [withheldMacro])]);
  const stored = async () =>
    (await site.owner('GET', `/api/v1/experiments/${experimentId}/data?tableName=raw_data`)).body[0].totalRows as number;
  await vi.waitUntil(async () => (await stored()) === 3, { timeout: 60_000, interval: 200 });
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

const editor = (page: Page) => page.getByRole('textbox', { name: /^Code of/ });
const write = (page: Page, text: string) => writeOver(editor(page), text);
const fitsWidth = async (page: Page) => expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
const alert = (page: Page, text: RegExp | string) => page.getByRole('alert').getByText(text).first().waitFor();

describe.each(pickSizes('phone'))('macros at a %s', (size: Size) => {
  test('are made, tried on a real measurement, saved, compared, linked and run over the past', async () => {
    const { page, complaints, context } = await open(site.cast.owner, size, /412 \(Precondition|ERR_INTERNET_DISCONNECTED/);
    await page.goto(site.server.baseUrl);
    if (size === 'phone') {
      await page.getByRole('button', { name: /your account$/ }).click();
      await page.getByRole('menuitem', { name: 'Library' }).click();
    } else await page.getByRole('link', { name: 'Library' }).click();
    await page.getByRole('heading', { name: 'Library' }).waitFor();
    await page.getByRole('searchbox', { name: 'Find a macro' }).fill('nothing of the sort');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /Nothing fits/ }).waitFor();
    await looksRight(page, `library-empty-${size}`);

    // made, by keyboard alone
    await page.getByRole('button', { name: 'New macro' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name', { exact: true }).focus();
    await page.keyboard.insertText(`Twice ${HOSTILE} ${size}`);
    await page.getByRole('dialog').getByLabel('Language').selectOption('javascript');
    await page.getByLabel('It belongs to').selectOption({ label: 'Leaf Lab' });
    await page.getByLabel('It belongs to').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Twice ${HOSTILE} ${size}` }).waitFor();
    const id = page.url().split('/').at(-1)!;

    // tried before it is saved: an error has its line, and leads there
    await page.getByLabel('Experiment', { exact: true }).selectOption({ label: `Leaves ${HOSTILE}` });
    await page.getByText('What the macro sees as json').click();
    await page
      .getByLabel('What the macro sees as json')
      .getByText(/"x": 3/)
      .waitFor();
    await write(page, 'const wanted = json.nope;\nreturn { twice: wanted.x };\n');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page
      .getByText(/Line 2: TypeError/)
      .first()
      .waitFor({ timeout: 60_000 });
    await page.getByRole('heading', { name: `Twice ${HOSTILE} ${size}` }).scrollIntoViewIfNeeded();
    await looksRight(page, `macro-failed-${size}`);
    await page.getByRole('button', { name: 'Go to line 2' }).click();
    await expect.poll(() => editor(page).evaluate((element) => element.matches(':focus'))).toBe(true);
    await write(page, 'console.log("seen", json.x);\nreturn { twice: json.x * 2 };\n');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByLabel('Output').getByText('"twice": 6').waitFor();
    await page.getByLabel('What it printed').getByText('seen 3').waitFor();
    expect((await site.owner('GET', `/api/v1/macros/${id}`)).body.codeVersion).toBe(1);
    // another measurement, and the address keeps it
    await page.getByLabel('Measurement', { exact: true }).selectOption({ index: 2 });
    await expect.poll(() => page.url()).toContain('row=');
    await page.keyboard.press('Escape');

    await editor(page).focus();
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByText('Saved as version 2.').waitFor();
    await page.getByRole('textbox', { name: /What changed from version 1 to/ }).waitFor();
    await looksRight(page, `macro-${size}`);
    await fitsWidth(page);

    // somebody else saves: both are compared, and nothing is lost
    await write(page, 'return { twice: json.x + json.x };\n');
    expect((await site.owner('PUT', `/api/v1/macros/${id}`, { body: { code: 'return { twice: 2 * json.x }; // theirs' } })).status).toBe(
      200,
    );
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await alert(page, /Yours is still here/);
    await page.getByRole('textbox', { name: 'What mine changes of theirs' }).getByText('theirs').waitFor();
    await looksRight(page, `macro-behind-${size}`);
    expect(await editor(page).textContent()).toContain('json.x + json.x');
    await page.getByRole('button', { name: 'Save mine all the same' }).click();
    await page.getByText('Saved as version 4.').waitFor();

    // no network: what was written stays
    await context.setOffline(true);
    await write(page, 'return {\n');
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await alert(page, /cannot be reached/);
    expect(await editor(page).textContent()).toContain('return {');
    await context.setOffline(false);
    // what would not start is saved, and the page says where it fails
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await page.getByText('It is saved, and would not start:').waitFor();

    // a version is written back
    await page.getByLabel('Compare', { exact: true }).selectOption('2');
    await page.getByRole('button', { name: 'Write version 2 above' }).click();
    await expect.poll(() => editor(page).textContent()).toContain('json.x * 2');
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await page.getByText('Saved as version 6.').waitFor();

    const protocol = await make('protocols', {
      name: `Phi2 ${size}`,
      family: 'multispeq',
      code: [{ n: 1 }],
      organizationId: site.cast.leafLab,
    });
    await page.reload();
    await page.getByLabel('Protocol', { exact: true }).selectOption(protocol);
    await page.getByRole('button', { name: 'Link it' }).click();
    await page.getByRole('link', { name: `Phi2 ${size}` }).waitFor();
    await page.getByRole('button', { name: `Unlink Phi2 ${size}` }).click();
    await page.getByText('None yet.').waitFor();

    // over the past
    await page.getByRole('link', { name: 'Run it over the experiment' }).click();
    await page.getByRole('heading', { name: /over the past$/ }).waitFor();
    await page.getByText('It has not been run over the past here.').waitFor();
    await page.getByLabel('every measurement').check();
    await page.getByRole('button', { name: 'Run over the past' }).click();
    await page.getByText('3 of 3 measurements, none failed').waitFor({ timeout: 60_000 });
    await page.getByText('ended').waitFor();
    await looksRight(page, `macro-past-${size}`);
    await page.getByRole('link', { name: 'Its table' }).click();
    await page.getByRole('grid').getByRole('gridcell').first().waitFor();
    const made = (await site.owner('GET', `/api/v1/experiments/${experimentId}/data?tableName=${id}&orderBy=timestamp`)).body;
    expect(made[0].data.rows.map(({ twice }: { twice: number }) => twice).sort()).toEqual([2, 4, 6]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('what was withheld is told to who manages, and allowed by running it', async () => {
    const { page, complaints, context } = await open(site.cast.owner, size, /404 \(Not Found\)/);
    const list = `${site.server.baseUrl}/experiments/${experimentId}/macros`;
    await page.goto(list);
    if (size === 'desk') {
      await page.getByText('Withheld', { exact: true }).waitFor();
      await looksRight(page, 'macros-of-experiment-desk');
      await page.getByRole('link', { name: /Kept for me/ }).click();
      await page.getByText('Not run on 1 measurement', { exact: true }).waitFor();
      await looksRight(page, 'macro-withheld-desk');
      await page.getByRole('button', { name: 'Run over the past' }).click();
      await page.getByText('1 of 1 measurements, none failed').waitFor({ timeout: 60_000 });
      await page.getByText('Not run on 1 measurement', { exact: true }).waitFor({ state: 'detached' });
      expect(await page.getByRole('button', { name: 'Stop running on new ones' }).count()).toBe(0);
      await page.getByLabel('every measurement', { exact: true }).check();
      await page.getByLabel('Also on measurements to come').check();
      await page.getByRole('button', { name: 'Run over the past' }).click();
      await page.getByText('It runs on every measurement to come.').waitFor();
      await looksRight(page, 'macro-on-new-desk');
      // the end of a run reads the tables anew, and with them whether the macro still runs
      await page.getByText('ended').nth(1).waitFor({ timeout: 60_000 });
      await page.reload();
      // it asks before it ends what goes on by itself
      await page.getByRole('button', { name: 'Stop running on new ones' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Stop running on new ones' }).click();
      // somebody else has stopped it meanwhile
      expect((await site.owner('DELETE', `/api/v1/experiments/${experimentId}/macros/${withheldMacro}/run`)).status).toBe(200);
      await page.getByRole('alertdialog').getByRole('button', { name: 'Stop running on new ones' }).click();
      await alert(page, /does not run on new measurements/);
    } else {
      await page.getByLabel('Macro to run here').selectOption({ label: 'Kept for me' });
      await page.getByRole('button', { name: 'Go on' }).click();
      await page.getByRole('heading', { name: 'Kept for me over the past' }).waitFor();
      await looksRight(page, 'macro-allowed-phone');
      await fitsWidth(page);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('whoever may not write has a copy to make and no control, and who loses access keeps what was written', async () => {
    const id = await make('macros', {
      name: `Shared ${size}`,
      language: 'python',
      code: "output['root'] = json['x'] ** 2\n",
      organizationId: site.cast.leafLab,
    });
    await grant(site.db, { id, type: 'macro' }, { user: site.cast.viewer.id }, 'viewer');
    await grant(site.db, { id, type: 'macro' }, { user: site.cast.teammate.id }, 'admin');
    const viewer = await open(site.cast.viewer, size);
    await viewer.page.goto(`${site.server.baseUrl}/library/macros/${id}`);
    await editor(viewer.page).waitFor();
    for (const name of ['Save', 'Delete', 'Make public', 'Link it', 'Write version 1 above'])
      expect(await viewer.page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
    await looksRight(viewer.page, `macro-read-${size}`);
    await viewer.page.getByRole('button', { name: 'Copy it' }).click();
    await viewer.page.getByRole('heading', { name: `Copy of Shared ${size}` }).waitFor();
    await viewer.page.getByRole('button', { name: 'Save', exact: true }).first().waitFor();
    expect(viewer.complaints).toEqual([]);
    await viewer.context.close();

    const { page, context } = await open(site.cast.teammate, size, /403 \(Forbidden/);
    await page.goto(`${site.server.baseUrl}/library/macros/${id}`);
    await write(page, "output['root'] = json['x'] ** 0.5\n");
    await page.getByText('Not saved yet.').waitFor();
    await site.db.run(sql('test')`delete from grants where resource_id = ${id} and user_id = ${site.cast.teammate.id}`);
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await alert(page, /Ask somebody who manages it/);
    expect(await editor(page).textContent()).toContain('0.5');
    await context.close();
  });

  test('a protocol is made, written as JSON, saved, compared, linked and deleted', async () => {
    const { page, complaints, context } = await open(site.cast.owner, size, /412 \(Precondition/);
    await page.goto(`${site.server.baseUrl}/library/protocols`);
    await page.getByRole('link', { name: 'Macros', exact: true }).click();
    await page
      .getByRole('link', { name: /^Kept for me/ })
      .first()
      .waitFor();
    await looksRight(page, `library-${size}`);
    await page.getByRole('link', { name: 'Protocols', exact: true }).click();
    await page.getByRole('button', { name: 'New protocol' }).click();
    await page.getByLabel('Name', { exact: true }).fill(`Light curve ${HOSTILE} ${size}`);
    await page.getByLabel('Instrument').selectOption('multispeq');
    await page.getByRole('button', { name: 'Make it' }).click();
    // the list has headings of such names too
    await page.waitForURL(/\/protocols\/[\da-f-]{36}$/);
    await page.getByRole('heading', { name: /^Light curve/ }).waitFor();
    const id = page.url().split('/').at(-1)!;
    await write(page, '[{\n  "pulses": [20.0, 50],\n  "label": phi2\n}]');
    await page.getByText('This is not JSON yet.').waitFor();
    await page.getByText(/^Line 3: /).waitFor();
    expect(await page.getByRole('button', { name: 'Save', exact: true }).first().isDisabled()).toBe(true);
    await looksRight(page, `protocol-wrong-${size}`);
    await page.getByRole('button', { name: 'Go to line 3' }).click();
    await write(page, '[{\n  "pulses": [20.0, 50],\n  "label": "phi2"\n}]');
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await page.getByText('Saved as version 2.').waitFor();
    // digits are kept as they were written
    expect((await site.owner('GET', `/api/v1/protocols/${id}`)).text).toContain('"code":[{"pulses":[20.0,50],"label":"phi2"}]');
    await page
      .getByRole('textbox', { name: /What changed from version 1/ })
      .getByText('20.0')
      .waitFor();
    await looksRight(page, `protocol-${size}`);
    await fitsWidth(page);

    await page.getByLabel('Macro', { exact: true }).selectOption(withheldMacro);
    await page.getByRole('button', { name: 'Link it' }).click();
    await page.getByRole('link', { name: 'Kept for me' }).waitFor();
    await page.getByLabel('What it is for').fill('Steps of light.');
    expect((await site.owner('PATCH', `/api/v1/protocols/${id}`, { body: { description: 'theirs' } })).status).toBe(200);
    await page.getByRole('button', { name: 'Save', exact: true }).last().click();
    await alert(page, /Somebody changed this while you edited it/);
    expect(await page.getByLabel('What it is for').inputValue()).toBe('Steps of light.');
    await page.getByRole('button', { name: 'Save mine over it' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    expect((await site.owner('GET', `/api/v1/protocols/${id}`)).body).toMatchObject({ description: 'Steps of light.' });
    await page.getByRole('button', { name: 'Make public' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Make public' }).click();
    await page.getByText('It is public now.').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).waitFor();
    await looksRight(page, `protocol-delete-${size}`);
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('It is deleted.').waitFor();
    expect((await site.owner('GET', `/api/v1/protocols/${id}`)).status).toBe(404);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

test('what failed in a run leads to its rows', async () => {
  const code = "if (json.x === 3) throw new Error('no third leaf'); return { once: json.x };";
  const id = await make('macros', { name: 'Picky', language: 'javascript', code, organizationId: site.cast.leafLab });
  const { page, complaints, context } = await open(site.cast.owner, 'desk');
  await page.goto(`${site.server.baseUrl}/experiments/${experimentId}/macros/${id}`);
  await page.getByLabel('every measurement').check();
  await page.getByRole('button', { name: 'Run over the past' }).click();
  await page.getByText('3 of 3 measurements, 1 failed').waitFor({ timeout: 60_000 });
  await page.getByRole('link', { name: 'Why rows failed' }).click();
  await page.getByText('Rows 1–1 of 1').waitFor();
  await page.getByRole('gridcell', { name: /no third leaf/ }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a macro that gives nothing is told so, and what it assigns to output is its result', async () => {
  const id = await make('macros', { name: 'Nothing', language: 'python', code: 'unused = 1\n', organizationId: site.cast.leafLab });
  const { page, complaints, context } = await open(site.cast.owner, 'desk');
  await page.goto(`${site.server.baseUrl}/library/macros/${id}?experiment=${experimentId}`);
  const run = page.getByRole('button', { name: 'Run', exact: true });
  await page.getByText('What the macro sees as json').waitFor();
  await run.click();
  await page.getByText('Nothing: put each result under a name into output').waitFor();
  await write(page, 'output = {"whole": json["x"] * 10}\n');
  await run.click();
  await page.getByLabel('Output', { exact: true }).getByText('whole').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
