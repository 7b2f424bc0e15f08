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

const send = async (path: string, body: object) => {
  const made = await site.owner('POST', `/api/v1${path}`, { body });
  expect(made.status, made.text).toBeLessThan(300);
  return made.body as { id: string };
};
/** Sends from the page, as whoever is signed in there: accounts and organizations are managed by sessions. */
const sendFrom = (page: Page, path: string, body: object) =>
  page.evaluate(
    async ([where, what]) => {
      const answer = await fetch(`/api/v1${where}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: what });
      return { status: answer.status, body: (await answer.json()) as { id: string } };
    },
    [path, JSON.stringify(body)] as const,
  );
test('sessions and keys are ended, requests and invitations declined, links taken away', { timeout: 180_000 }, async () => {
  const [member, second, third] = [await site.visitAs('stranger'), await site.visitAs('stranger'), await site.visitAs('stranger')];
  const { page } = member;
  await page.goto(`${site.baseUrl}/account`);
  const sessions = page.getByRole('region', { name: 'Sessions' });
  await expect.poll(() => sessions.getByRole('listitem').count()).toBe(3);
  await sessions
    .getByRole('button', { name: /^End the session since/ })
    .first()
    .click();
  await page.getByText('The session is ended.').waitFor();
  await expect.poll(() => sessions.getByRole('listitem').count()).toBe(2);
  await sessions.getByRole('button', { name: 'End all other sessions' }).click();
  await page.getByText('All other sessions are ended.').waitFor();
  await expect.poll(() => sessions.getByRole('listitem').count()).toBe(1);
  for (const ended of [second, third]) {
    await ended.page.goto(`${site.baseUrl}/account`);
    await ended.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await ended.context.close();
  }

  const keys = page.getByRole('region', { name: 'API keys' });
  await keys.locator('#key-name').fill('Field key');
  await keys.locator('form').getByRole('button').click();
  const key = await page.locator('#new-key-value').textContent();
  const ask = async () => (await fetch(`${site.baseUrl}/api/v1/experiments`, { headers: { 'x-api-key': key! } })).status;
  expect(await ask()).toBe(200);
  await keys.getByRole('button', { name: 'Revoke key Field key' }).click();
  await page.getByText('The key is revoked.').waitFor();
  expect(await ask()).toBe(401);

  // an invitation to an organization
  const invited = await sendFrom(owner.page, '/auth/organization/invite-member', {
    email: 'stranger@leaf-lab.example',
    role: 'member',
    organizationId: site.sample.organizationId,
  });
  expect(invited.status).toBeLessThan(300);
  await page.goto(`${site.baseUrl}/account/invitations`);
  await page.getByRole('button', { name: 'Decline the invitation to Leaf Lab' }).click();
  await page.getByText('The invitation is declined.').waitFor();
  await page.locator('#invitations').waitFor({ state: 'detached' });

  // a request to take part in an experiment
  const { id } = await send('/experiments', { name: 'Open oats', visibility: 'public' });
  expect((await sendFrom(page, `/experiments/${id}/join-requests`, {})).status).toBeLessThan(300);
  await owner.page.goto(`${site.baseUrl}/experiments/${id}/sharing`);
  await owner.page.getByRole('button', { name: 'Decline Stranger Sample' }).click();
  await owner.page.getByText('The request is declined.').waitFor();
  expect((await site.owner('GET', `/api/v1/experiments/${id}/join-requests`)).body).toEqual([]);

  // a macro that a protocol names
  const protocol = await send('/protocols', { name: 'Linked', family: 'generic', code: [{}] });
  const macro = await send('/macros', { name: 'Reader', language: 'javascript', code: 'return {};' });
  await send(`/protocols/${protocol.id}/macros`, { macroIds: [macro.id] });
  await owner.page.goto(`${site.baseUrl}/library/protocols/${protocol.id}`);
  await owner.page.getByRole('button', { name: 'Unlink Reader' }).click();
  await owner.page.getByRole('button', { name: 'Unlink Reader' }).waitFor({ state: 'detached' });
  expect((await site.owner('GET', `/api/v1/protocols/${protocol.id}/macros`)).body).toEqual([]);
  expect([...member.complaints, ...owner.complaints]).toEqual([]);
  await member.context.close();
});

test('too many changes are refused by a sentence with its wait, and what was typed stays', { timeout: 180_000 }, async () => {
  const { id } = await send('/experiments', { name: 'Busy' });
  const macro = await send('/macros', { name: 'Busy macro', language: 'javascript', code: 'return {};' });
  const protocol = await send('/protocols', { name: 'Busy protocol', family: 'generic', code: [{}] });
  const workbook = await send('/workbooks', { name: 'Busy workbook' });
  const group = await send('/device-groups', { name: 'Busy group' });
  const device = await send('/devices', { serialNumber: 'BUSY-1', deviceType: 'multispeq', organizationId: site.sample.organizationId });
  const dashboard = await send(`/experiments/${id}/dashboards`, { name: 'Busy dashboard' });
  const columns = [{ id: 'a', name: 'plot', type: 'string' }];
  const described = { name: 'Busy plots', columns, rows: [], identifierColumnId: 'a', experimentQuestionId: 'plot' };
  const { metadataId } = (await send(`/experiments/${id}/metadata`, { metadata: described })) as unknown as { metadataId: string };
  const { page, complaints } = owner;
  const lab = `/organizations/${site.sample.organizationId}`;
  expect(
    (await sendFrom(page, '/auth/organization/create-team', { name: 'Busy team', organizationId: site.sample.organizationId })).status,
  ).toBe(200);
  // a proxy in front that asks for more patience than the client has
  await page.route('**/api/v1/**', (route) =>
    route.request().method() === 'GET' || /\/users\/metadata|has-permission/.test(route.request().url())
      ? route.continue()
      : route.fulfill({
          status: 429,
          headers: { 'retry-after': '90', 'content-type': 'application/problem+json' },
          body: JSON.stringify({ title: 'Too many requests', status: 429, detail: 'There were too many requests.', code: 'RATE_LIMITED' }),
        }),
  );
  const typed = 'stays as it is';
  const address = 'stays@field.example';
  /** Every form of one or a few fields that is seen at an address by itself; `also` is what else has to be filled in. */
  const forms: { path: string; field: string; text?: string; also?: Readonly<Record<string, string>> }[] = [
    { path: '/experiments/new', field: '#new-name' },
    { path: `/experiments/${id}/settings`, field: 'input[name=name]' },
    { path: `/experiments/${id}/dashboards`, field: '#dashboard-new' },
    { path: `/experiments/${id}/dashboards/${dashboard.id}?edit=true`, field: '#dashboard-name' },
    { path: `/experiments/${id}/metadata/${metadataId}?edit=true`, field: '#metadata-name' },
    { path: `/library/macros/${macro.id}`, field: '#about-name' },
    { path: `/library/protocols/${protocol.id}`, field: '#about-name' },
    { path: `/library/workbooks/${workbook.id}`, field: '#about-name' },
    { path: '/devices/new', field: '#new-serials', text: 'STAYS-1' },
    { path: `/devices/${device.id}`, field: 'input[name=name]' },
    { path: '/devices/groups', field: '#group-name' },
    { path: `/devices/groups/${group.id}`, field: '#group-name' },
    { path: '/organizations', field: '#organization-name', also: { '#organization-slug': 'stays' } },
    { path: lab, field: '#invite-address', text: address },
    { path: `${lab}/teams`, field: '#team-name' },
    { path: `${lab}/teams`, field: 'input[aria-label="New name of Busy team"]' },
    { path: `${lab}/webhooks`, field: '#webhook-description', also: { '#webhook-url': 'https://field.example/hook' } },
    { path: `${lab}/settings`, field: '#organization-location' },
    { path: '/account', field: '#first-name' },
    { path: '/account', field: '#key-name' },
  ];
  for (const { path, field, text = typed, also = {} } of forms) {
    await page.goto(`${site.baseUrl}${path}`);
    const form = page.locator('form').filter({ has: page.locator(field) });
    for (const [other, value] of Object.entries(also)) await form.locator(other).fill(value);
    await form.locator(field).fill(text);
    await form.locator('button[type=submit]').first().click();
    await page
      .getByText(/Try again in 90 seconds/)
      .first()
      .waitFor()
      .catch((error: unknown) => {
        throw new Error(`${path} ${field} says nothing of the wait`, { cause: error });
      });
    expect(await form.locator(field).inputValue(), `${path} ${field}`).toBe(text);
  }
  for (const path of [`/experiments/${id}/sharing`, `/library/macros/${macro.id}/sharing`, `/devices/groups/${group.id}/sharing`]) {
    await page.goto(`${site.baseUrl}${path}`);
    await page.getByLabel('Name or email address').fill('viewer@leaf-lab.example');
    await page.getByRole('button', { name: 'Share with Viewer Sample' }).click();
    await page
      .getByRole('alert')
      .getByText(/Try again in 90 seconds/)
      .waitFor();
    expect(await page.getByLabel('Name or email address').inputValue(), path).toBe('viewer@leaf-lab.example');
  }
  expect(complaints).toEqual([]);
});
