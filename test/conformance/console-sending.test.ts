/** What sends something keeps the focus while it is on its way, and sends it once. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

const make = async (path: string, body: object): Promise<string> => {
  const made = await site.owner('POST', `/api/v1${path}`, { body });
  expect(made.status, made.text).toBeLessThan(300);
  return (made.body as { id: string }).id;
};

interface Held {
  /** How many were sent since. */
  count: number;
  release: () => void;
}
/** Answers a function that keeps all changes from the service until `release` is called. */
async function standBetween(page: Page): Promise<() => Held> {
  let waiting = Promise.resolve();
  let held: Held = { count: 0, release: () => undefined };
  await page.route('**/api/v1/**', async (route) => {
    if (route.request().method() === 'GET' || /has-permission|users\/metadata/.test(route.request().url())) return route.continue();
    held.count += 1;
    await waiting;
    return route.continue();
  });
  return () => {
    let release: () => void = () => undefined;
    waiting = new Promise((resolve) => (release = resolve));
    return (held = { count: 0, release });
  };
}

const FOCUSED = '(({ textContent, ariaLabel }) => ariaLabel ?? textContent)(document.activeElement)';

interface Sending {
  path: string;
  /** What the button says, and is the name of. */
  button: string;
  fill?: Readonly<Record<string, string>>;
  /** A button that opens the dialog in which it stands. */
  opener?: string;
  /** What it says once it was answered, if not the same. */
  then?: string;
  /** Once it was answered it is gone, or what was made has the focus. */
  isGone?: boolean;
  /** What is seen then. */
  done: string | RegExp;
}

test('a button that was pressed keeps the focus while it sends, and a second press sends nothing', async () => {
  const { page, complaints } = owner;
  const id = await make('/experiments', { name: 'Sending' });
  const dashboard = await make(`/experiments/${id}/dashboards`, { name: 'Board' });
  const macro = await make('/macros', { name: 'Sent', language: 'javascript', code: 'return {};' });
  const group = await make('/device-groups', { name: 'Sent group' });
  const sources = ['x', 'y'].map((role, at) => ({ role, columnName: ['spad', 'leaf_temperature'][at] }));
  const chart = `/experiments/${site.sample.experimentId}/tables/${site.sample.uploadTableId}/chart?type=scatter&sources=${encodeURIComponent(JSON.stringify(sources))}`;
  const cases: Sending[] = [
    { path: '/account', button: 'Make a key', fill: { '#key-name': 'Sent once' }, isGone: true, done: 'Sent once' },
    { path: '/account', button: 'End all other sessions', done: 'All other sessions are ended.' },
    { path: `/experiments/${id}/settings`, button: 'Save', fill: { 'input[name=name]': 'Sent name' }, done: 'The experiment is changed.' },
    {
      path: `/experiments/${id}/dashboards`,
      button: 'Make a dashboard',
      fill: { '#dashboard-new': 'Sent board' },
      isGone: true,
      done: 'Sent board',
    },
    // there is nothing more to save then, and the focus is still there
    {
      path: `/experiments/${id}/dashboards/${dashboard}?edit=true`,
      button: 'Save',
      fill: { '#dashboard-name': 'Sent' },
      done: 'The dashboard is saved.',
    },
    { path: `/library/macros/${macro}`, button: 'Save', fill: { '#about-name': 'Sent macro' }, done: 'Saved.' },
    { path: chart, button: 'Save chart', fill: { '#chart-name': 'Sent chart' }, then: 'Save changes', done: 'The chart is saved.' },
    {
      path: `/devices/groups/${group}`,
      opener: 'Delete the group',
      button: 'Delete the group',
      isGone: true,
      done: 'The group is deleted.',
    },
  ];
  const holdBack = await standBetween(page);
  for (const { path, button, fill = {}, opener, then = button, isGone = false, done } of cases) {
    await page.goto(`${site.baseUrl}${path}`);
    for (const [field, text] of Object.entries(fill)) await page.locator(field).fill(text);
    if (opener !== undefined) await page.getByRole('button', { name: opener }).click();
    const form = Object.keys(fill)[0];
    const within =
      opener !== undefined
        ? page.getByRole('alertdialog')
        : form === undefined
          ? page
          : page.locator('form').filter({ has: page.locator(form) });
    const pressed = within.getByRole('button', { name: button, exact: true });
    const held = holdBack();
    await pressed.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => pressed.getAttribute('aria-disabled'), { message: `${path} ${button}` }).toBe('true');
    await expect.poll(() => held.count).toBe(1);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    expect(await page.evaluate(FOCUSED), `${path} ${button}`).toBe(button);
    // Enter in a field presses the button of its form
    if (form !== undefined) {
      await page.locator(form).press('Enter');
      await pressed.focus();
    }
    held.release();
    await page.getByText(done).first().waitFor();
    expect(held.count, `${path} ${button}`).toBe(1);
    if (!isGone) {
      await expect.poll(() => page.evaluate(FOCUSED), { message: `${path} ${button} once answered` }).toBe(then);
    }
  }
  expect(complaints).toEqual([]);
});

test('what somebody else stored while one writes is not written over, and what one stored oneself is no other', async () => {
  const { page, context, complaints } = await site.copyOf(owner, 'desk');
  for (const isChanged of [false, true]) {
    const id = await make('/experiments', { name: 'Before' });
    await page.goto(`${site.baseUrl}/experiments/${id}/settings`);
    const name = page.locator('#experiment-name');
    await name.fill('Mine');
    if (isChanged) expect((await site.owner('PATCH', `/api/v1/experiments/${id}`, { body: { name: 'Theirs' } })).status).toBe(200);
    // reads the experiment as it is now
    await page.getByRole('button', { name: 'Make it public' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Make it public' }).click();
    await page.getByText('The experiment is public.').first().waitFor();
    await page.locator('form').filter({ has: name }).getByRole('button', { name: 'Save' }).click();
    await page.getByText(isChanged ? /Somebody changed this while you edited it/ : 'The experiment is changed.').waitFor();
    expect((await site.owner('GET', `/api/v1/experiments/${id}`)).body).toMatchObject({ name: isChanged ? 'Theirs' : 'Mine' });
    expect(await name.inputValue()).toBe('Mine');
  }
  expect(complaints).toEqual([]);
  await context.close();
});

test('a role that was chosen keeps the focus while it is sent', async () => {
  const { page, context, complaints } = await site.copyOf(owner, 'desk');
  const id = await make('/experiments', { name: 'Roles' });
  await (await site.visitAs('viewer')).context.close();
  await page.goto(`${site.baseUrl}/experiments/${id}/sharing`);
  await page.getByLabel('Name or email address').fill('viewer@leaf-lab.example');
  await page.getByRole('button', { name: 'Share with Viewer Sample' }).click();
  const role = page.getByLabel('Role of Viewer Sample');
  await role.waitFor();
  const holdBack = await standBetween(page);
  const held = holdBack();
  await role.focus();
  // the first opens the list
  for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  await expect.poll(() => role.getAttribute('aria-disabled')).toBe('true');
  const chosen = await role.inputValue();
  await page.keyboard.press('ArrowDown');
  expect(await page.evaluate(FOCUSED)).toBe('Role of Viewer Sample');
  expect(await role.inputValue()).toBe(chosen);
  held.release();
  await page.getByText('The role is changed.').waitFor();
  expect(held.count).toBe(1);
  expect(await page.evaluate(FOCUSED)).toBe('Role of Viewer Sample');
  expect(complaints).toEqual([]);
  await context.close();
});
