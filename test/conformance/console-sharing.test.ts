import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdBack, launchChromium, looksRight, openVisitor } from '../support/chromium.ts';
import { startConsoleSite, type ConsoleSite } from '../support/console-site.ts';
import { lettersTo } from '../support/outbox.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

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

const at = (path: string) => `${site.server.baseUrl}${path}`;
const experimentIn = (page: Page) => /experiments\/([\w-]{36})/.exec(page.url())![1]!;
const call = async (method: string, path: string, body?: object) => {
  const answer = await site.owner(method, `/api/v1${path}`, body === undefined ? {} : { body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body as unknown as Record<string, string>;
};
/** A person of the sample in the list of who has access. */
const rowOf = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Who has access' }).getByRole('listitem').filter({ hasText: name });
/** Sends from the page, as whoever is signed in there: accounts are managed by sessions, not by keys. */
const send = (page: Page, path: string, body: object) =>
  page.evaluate(
    async ([where, what]) => {
      const answer = await fetch(`/api/v1${where}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: what });
      return (await answer.json()) as { id: string };
    },
    [path, JSON.stringify(body)] as const,
  );
const EXPECTED = /404 \(Not Found\) \S+\/join-requests\/me$|409 \(Conflict\)|412 \(Precond|403 \(Forb|ERR_/;

test('makes an experiment, shares it and takes it back', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'owner@leaf-lab.example');
  await page.getByRole('link', { name: 'New experiment' }).click();
  await page.getByLabel('Name', { exact: true }).fill(HOSTILE);
  await page.getByLabel('What it is about').fill('Barley, three fields.');
  await page.getByLabel('Belongs to').selectOption(site.organizationId);
  await looksRight(page, 'experiment-new-desk');
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Make the experiment' }).click();
  await page
    .getByRole('alert')
    .getByText(/cannot be reached/)
    .waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(HOSTILE);
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Make the experiment' }).click();
  await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
  const id = experimentIn(page);

  // a change of somebody else is not overwritten, and what was typed stays
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByLabel('Name', { exact: true }).fill('Barley 2026');
  await call('PATCH', `/experiments/${id}`, { description: 'theirs' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('alert')
    .getByText(/Somebody changed this while you edited it/)
    .waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Barley 2026');
  await page.getByRole('button', { name: 'Drop mine and show theirs' }).click();
  await expect.poll(() => page.locator('#experiment-description').inputValue()).toBe('theirs');
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(HOSTILE);
  expect(await call('GET', `/experiments/${id}`)).toMatchObject({ name: HOSTILE, description: 'theirs' });
  await page.getByLabel('Name', { exact: true }).fill('Barley 2026');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Barley 2026' }).waitFor();
  await looksRight(page, 'experiment-settings-desk');

  // a person by keyboard alone; the list says why each has access
  await page.getByRole('link', { name: 'Sharing', exact: true }).click();
  await rowOf(page, 'Owner Sample')
    .getByText(/Owner of Leaf Lab, to which it belongs: may do everything/)
    .waitFor();
  await page.getByLabel('Name or email address').focus();
  await page.keyboard.type('stranger');
  await page.getByRole('button', { name: 'Share with Stranger Sample' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await rowOf(page, 'Stranger Sample')
    .getByText(/By a grant of .*: may read and contribute/)
    .waitFor();
  await page.getByLabel('Role of Stranger Sample').selectOption('admin');
  await rowOf(page, 'Stranger Sample')
    .getByText(/may do everything/)
    .waitFor();

  // a team, and an organization
  const { id: team } = await send(page, '/auth/organization/create-team', {
    name: `Field ${HOSTILE}`,
    organizationId: site.organizationId,
  });
  expect(team).toBeTruthy();
  await page.reload();
  await page.getByLabel('With', { exact: true }).selectOption('team');
  await page.getByRole('button', { name: `Share with Field ${HOSTILE}` }).click();
  await rowOf(page, `Field ${HOSTILE}`)
    .getByText(/A team of 0 people, by a grant/)
    .waitFor();
  const { id: partners } = await send(page, '/auth/organization/create', { name: 'Barley Partners', slug: 'barley-partners' });
  await page.reload();
  await page.getByLabel('With', { exact: true }).selectOption('organization');
  await page.getByRole('button', { name: 'Share with Barley Partners' }).click();
  await rowOf(page, 'Barley Partners')
    .getByText(/Every member of this organization/)
    .waitFor();

  // somebody who is not here yet
  await page.getByLabel('With', { exact: true }).selectOption('user');
  // an address that reads like somebody's name is not theirs
  await page.getByLabel('Name or email address').fill('member.sample@field.example');
  await page.getByRole('button', { name: 'Invite member.sample@field.example' }).waitFor();
  expect(await page.getByRole('button', { name: /^Share with/ }).count()).toBe(0);
  const address = 'new.person@field.example';
  await page.getByLabel('Name or email address').fill(address);
  await page.getByRole('button', { name: `Invite ${address}` }).click();
  await page.getByText(`${address} is invited.`).waitFor();
  await page.getByRole('region', { name: 'Invitations' }).getByText(address).waitFor();
  await expect.poll(() => lettersTo({ dataDir: site.dataDir }, address).length).toBe(1);
  await looksRight(page, 'sharing-desk');
  const guest = await openVisitor(browser, 'phone', EXPECTED);
  await site.signIn(guest.page, address);
  await guest.page.getByRole('link', { name: 'Barley 2026' }).waitFor();
  await guest.context.close();
  // the letter about a thing of the library leads to it
  const { id: macro } = await call('POST', '/macros', { name: 'Greenness', language: 'javascript', code: 'return { spad: 1 };' });
  await call('POST', '/invitations', { resourceType: 'macro', resourceId: macro, email: 'partner@field.example', tier: 'viewer' });
  const addressIn = (letter = '') => /https?:\S+\/platform\/\S*macros\/[\da-f-]{36}/.exec(letter.replace(/=\r?\n/g, ''))?.[0];
  await expect.poll(() => addressIn(lettersTo({ dataDir: site.dataDir }, 'partner@field.example')[0])).toBeTruthy();
  const partner = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(partner.page, 'partner@field.example');
  await partner.page.goto(addressIn(lettersTo({ dataDir: site.dataDir }, 'partner@field.example')[0])!);
  await partner.page.getByRole('heading', { level: 1, name: 'Greenness' }).waitFor();
  await partner.context.close();
  await page.getByLabel('Name or email address').fill('other@field.example');
  await page.getByRole('button', { name: 'Invite other@field.example' }).click();
  await page.getByRole('button', { name: 'Take back the invitation of other@field.example' }).click();
  await page.getByText('The invitation is taken back.').waitFor();

  // archived meanwhile: the refusal is a sentence, and then there are no controls
  await call('PATCH', `/experiments/${id}`, { status: 'archived' });
  await page.getByLabel('Role of Stranger Sample').selectOption('viewer');
  await rowOf(page, 'Stranger Sample').getByRole('alert').waitFor();
  await page.reload();
  await rowOf(page, 'Stranger Sample').waitFor();
  expect(await page.getByRole('main').getByRole('combobox').count()).toBe(0);
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Open it again' }).click();
  await page.getByText(/It is open: people and devices/).waitFor();
  await page.getByRole('button', { name: 'Archive it' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Archive it' }).click();
  await page.getByText('The experiment is archived.').waitFor();
  await page.getByRole('button', { name: 'Open it again' }).click();

  // taken away, opened to all, moved, deleted
  await page.getByRole('link', { name: 'Sharing', exact: true }).click();
  await page.getByRole('button', { name: 'Take away the access of Stranger Sample' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Take away' }).click();
  await page.getByText('The grant is taken away.').waitFor();
  expect(await rowOf(page, 'Stranger Sample').count()).toBe(0);
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByLabel('To the organization').selectOption(partners);
  await page.getByRole('button', { name: 'Move it' }).click();
  await page.getByRole('alertdialog', { name: 'Move it to Barley Partners?' }).getByRole('button', { name: 'Move it' }).click();
  await page.getByText('The experiment is moved.').waitFor();
  await page.locator('.page-head').getByText('Barley Partners').waitFor();
  await page.getByRole('button', { name: 'Make it public' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Make it public' }).waitFor();
  await looksRight(page, 'experiment-public-desk');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Make it public' }).click();
  await page.getByText(/It is public: everybody/).waitFor();

  // who reads it since it is public asks to take part, and is let in
  const stranger = await openVisitor(browser, 'phone', EXPECTED);
  await site.signIn(stranger.page, 'stranger@leaf-lab.example');
  await stranger.page.goto(at(`/experiments/${id}/sharing`));
  await stranger.page.getByLabel('A word to them, if you like').fill('I counted the ears.');
  await looksRight(stranger.page, 'sharing-ask-phone');
  await stranger.page.getByRole('button', { name: 'Ask to take part' }).click();
  await stranger.page.getByRole('button', { name: 'Take the request back' }).click();
  await stranger.page.getByText('The request is taken back.').waitFor();
  await stranger.page.getByRole('button', { name: 'Ask to take part' }).click();
  await stranger.page.getByText('You asked to take part. Whoever manages it decides.').waitFor();
  await page.getByRole('link', { name: 'Sharing', exact: true }).click();
  await page.getByRole('button', { name: 'Let in Stranger Sample' }).click();
  await rowOf(page, 'Stranger Sample')
    .getByText(/may read and contribute/)
    .waitFor();
  await stranger.page.reload();
  await stranger.page.getByRole('button', { name: 'Give up my access' }).click();
  await stranger.page.getByRole('alertdialog').getByRole('button', { name: 'Give up my access' }).click();
  await stranger.page.getByText('You gave up your access.').waitFor();
  expect(stranger.complaints).toEqual([]);
  await stranger.context.close();

  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Delete the experiment' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the experiment' }).click();
  await page.getByText(/The experiment is deleted/).waitFor();
  expect(await page.getByRole('link', { name: 'Barley 2026' }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a viewer sees who has access and no control, and who loses the right is told so', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'phone', EXPECTED);
  await site.signIn(page, 'viewer@leaf-lab.example');
  await page.goto(at(`/experiments/${site.experimentId}/sharing`));
  await page.getByText('By a grant of your own you may read and contribute.').waitFor();
  await page.getByRole('region', { name: 'People' }).getByText('Owner Sample').waitFor();
  const names = await page.getByRole('main').getByRole('button').allTextContents();
  expect(names).toEqual(['Give up my access']);
  expect(await page.getByRole('main').getByRole('combobox').count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Settings', exact: true }).count()).toBe(0);
  await looksRight(page, 'sharing-viewer-phone');

  const { user } = await page.evaluate(async () => (await (await fetch('/api/v1/auth/get-session')).json()) as { user: { id: string } });
  const grant = (role: string) =>
    call('POST', `/experiment/${site.experimentId}/collaborators`, { granteeType: 'user', granteeId: user.id, role });
  await page.goto(at(`/experiments/${site.experimentId}`));
  await page.getByRole('region', { name: 'People' }).getByText('Owner Sample').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await grant('admin');
  await page.goto(at(`/experiments/${site.experimentId}/sharing`));
  await page.getByLabel('Name or email address').fill('teammate');
  await page.getByRole('button', { name: 'Share with Teammate Sample' }).waitFor();
  await grant('viewer');
  await page.getByRole('button', { name: 'Share with Teammate Sample' }).click();
  await page
    .getByRole('alert')
    .getByText(/Ask somebody who manages it/)
    .waitFor();
  expect(await page.getByLabel('Name or email address').inputValue()).toBe('teammate');
  expect(complaints).toEqual([]);
  await context.close();
});

test('finds what one made, what one takes part in, and what is public', async () => {
  const { id } = await call('POST', '/experiments', { name: `Open barley ${HOSTILE}`, visibility: 'public' });
  const { page, complaints, context } = await openVisitor(browser, 'phone', EXPECTED);
  await site.signIn(page, 'newcomer@field.example');
  const choice = (name: string) => page.getByRole('navigation', { name: 'Which experiments' }).getByRole('link', { name, exact: true });
  await page.getByRole('heading', { name: 'No experiment yet' }).waitFor();
  await choice('Public').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: `Open barley ${HOSTILE}` }).waitFor();
  expect(page.url()).toContain('scope=public');
  await looksRight(page, 'home-public-phone');
  // whoever reads only what is public is not shown a part that would be refused
  await page.getByRole('link', { name: `Open barley ${HOSTILE}` }).click();
  await page.getByText('No flow of questions and measurements yet.').waitFor();
  await page.getByRole('link', { name: 'Raw Data' }).or(page.getByText('Raw Data')).waitFor();
  expect(await page.getByRole('heading', { name: 'Devices' }).count()).toBe(0);
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.goBack();
  await page.reload();
  await page.getByRole('link', { name: `Open barley ${HOSTILE}` }).waitFor();
  await choice('Made by you').click();
  await page.getByRole('heading', { name: 'You have made no experiment yet' }).waitFor();
  await page.evaluate(async () => {
    const body = JSON.stringify({ name: 'Mine alone' });
    await fetch('/api/v1/experiments', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  });
  await page.reload();
  await page.getByRole('link', { name: 'Mine alone' }).waitFor();
  expect(await page.locator('.experiment-row').count()).toBe(1);
  await choice('Everything you may read').click();
  await page.getByRole('link', { name: `Open barley ${HOSTILE}` }).waitFor();
  expect(await page.locator('.experiment-row').allTextContents()).toEqual(
    expect.arrayContaining([expect.stringContaining('Mine alone'), expect.stringContaining('Open barley')]),
  );
  await call('DELETE', `/experiments/${id}`);
  expect(complaints).toEqual([]);
  await context.close();
});

const KINDS = [
  { path: 'library/macros', route: 'macros', resourceType: 'macro', body: { language: 'javascript', code: 'return {};' } },
  { path: 'library/protocols', route: 'protocols', resourceType: 'protocol', body: { family: 'generic', code: [{}] } },
  { path: 'library/workbooks', route: 'workbooks', resourceType: 'workbook', body: {} },
  { path: 'devices/groups', route: 'device-groups', resourceType: 'device_group', body: {} },
];
test('shares macros, protocols, workbooks and groups of devices', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'owner@leaf-lab.example');
  const viewer = await openVisitor(browser, 'phone', EXPECTED);
  await site.signIn(viewer.page, 'viewer@leaf-lab.example');
  for (const { path, route, resourceType, body } of KINDS) {
    const name = `Shared ${resourceType} ${HOSTILE}`;
    const { id } = await call('POST', `/${route}`, { name, ...body });
    await page.goto(at(`/${path}/${id}`));
    await page.getByRole('link', { name: 'Sharing' }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByLabel('Name or email address').fill('viewer@leaf-lab.example');
    await page.getByRole('button', { name: 'Share with Viewer Sample' }).click();
    await rowOf(page, 'Viewer Sample')
      .getByText(/By a grant of .*: may read\./)
      .waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'Invitations' }).count()).toBe(resourceType === 'device_group' ? 0 : 1);
    await looksRight(page, `sharing-${resourceType}-desk`);

    // who may read it sees no control; who is made an admin sees them, and is told when that ends meanwhile
    await viewer.page.goto(at(`/${path}/${id}/sharing`));
    await viewer.page.getByText('By a grant of your own you may read.').waitFor();
    expect(await viewer.page.getByRole('main').getByRole('button').allTextContents()).toEqual(['Give up my access']);
    await looksRight(viewer.page, `sharing-${resourceType}-phone`);
    await page.getByLabel('Role of Viewer Sample').selectOption('admin');
    await rowOf(page, 'Viewer Sample')
      .getByText(/may do everything/)
      .waitFor();
    await viewer.page.reload();
    await viewer.page.getByLabel('Name or email address').fill('teammate');
    await viewer.page.getByRole('button', { name: 'Share with Teammate Sample' }).waitFor();
    await page.getByLabel('Role of Viewer Sample').selectOption('viewer');
    await rowOf(page, 'Viewer Sample')
      .getByText(/may read/)
      .waitFor();
    await viewer.page.getByRole('button', { name: 'Share with Teammate Sample' }).click();
    await viewer.page
      .getByRole('alert')
      .getByText(/Ask somebody who manages it/)
      .waitFor();
    expect(await viewer.page.getByLabel('Name or email address').inputValue()).toBe('teammate');
    await viewer.page.reload();
    await viewer.page.getByRole('button', { name: 'Give up my access' }).click();
    await viewer.page.getByRole('alertdialog').getByRole('button', { name: 'Give up my access' }).click();
    await viewer.page.getByText('You gave up your access.').waitFor();
    await page.reload();
    await rowOf(page, 'Owner Sample').waitFor();
    expect(await rowOf(page, 'Viewer Sample').count()).toBe(0);
    if (resourceType === 'device_group') continue;

    // made public, which the list of who has access says, and deleted
    await page.getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Make public' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Make public' }).click();
    await page.getByText('It is public now.').waitFor();
    await page.getByRole('link', { name: 'Sharing' }).click();
    await page.getByText('It is public: may read.').waitFor();
    await page.getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('It is deleted.').first().waitFor();
  }
  expect([...complaints, ...viewer.complaints]).toEqual([]);
  await viewer.context.close();
  await context.close();
});

test('shares a device', async () => {
  const { id } = await call('POST', '/devices', { serialNumber: 'S-1', deviceType: 'generic' });
  const { page, complaints, context } = await openVisitor(browser, 'desk');
  await site.signIn(page, 'owner@leaf-lab.example');
  await page.goto(at(`/devices/${id}`));
  await page.getByRole('link', { name: 'Sharing' }).click();
  await page.getByLabel('Name or email address').fill('viewer@leaf-lab.example');
  // what is written while somebody is added stays
  await rowOf(page, 'Owner Sample').waitFor();
  const letGo = await holdBack(page, /\/collaborators$/);
  await page.getByRole('button', { name: 'Share with Viewer Sample' }).click();
  await page.getByLabel('Name or email address').fill('teammate');
  letGo();
  await page.getByText('It is shared with Viewer Sample.').waitFor();
  await page.getByRole('button', { name: 'Share with Teammate Sample' }).waitFor();
  expect(await page.getByLabel('Name or email address').inputValue()).toBe('teammate');
  await rowOf(page, 'Viewer Sample')
    .getByText(/By a grant of .*: may read\./)
    .waitFor();
  await looksRight(page, 'sharing-device-desk');
  expect(complaints).toEqual([]);
  await context.close();
});
