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
test('sessions and keys are ended, requests and invitations declined, links taken away', async () => {
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
  // nothing is done before it is asked
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  expect(await ask()).toBe(200);
  await keys.getByRole('button', { name: 'Revoke key Field key' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
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
