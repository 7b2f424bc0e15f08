import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { signIn } from '../support/browser.ts';
import { eventually } from '../support/crashes.ts';
import { lettersTo } from '../support/outbox.ts';
import { makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** Letters that one person has sent to one address in a day. */
const MOST = 10;

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const make = (more: object = {}) =>
  makeResource(site.db, 'experiment', { organizationId: site.cast.leafLab, createdBy: site.cast.owner.id, ...more });

/** Letters about this to an address, once every one that is owed has been sent or left out. */
async function sentAbout(subject: string, address: string): Promise<number> {
  const open = sql('t')`select count(*) as count from pgboss.job where name = 'notices.send' and state in ('created', 'retry', 'active')`;
  expect(
    await eventually(
      () => site.db.count(open),
      (count) => count === 0,
      30_000,
    ),
  ).toBe(0);
  return lettersTo(site, address).filter((letter) => letter.includes(subject)).length;
}

test('who invites an address to a resource and takes it back, again and again, has few letters sent', async () => {
  const resource = await make();
  const asked = { resourceType: 'experiment', resourceId: resource.id, email: 'bothered@example.com' };
  const invite = (person = site.cast.owner) => site.as(person)('POST', '/api/v1/invitations', { body: asked });
  for (let time = 0; time <= MOST; time += 1) {
    const { status, body } = await invite();
    expect(status).toBe(201);
    const sent = Math.min(time + 1, MOST);
    expect(await sentAbout('Subject: Added to experiment', asked.email)).toBe(sent);
    expect((await site.as(site.cast.owner)('DELETE', `/api/v1/invitations/${body.id}`)).status).toBe(200);
  }
  expect((await invite(site.cast.admin)).status).toBe(201);
  expect(await sentAbout('Subject: Added to experiment', asked.email)).toBe(MOST + 1);
});

test('an invitation to an organization is not sent again and again', async () => {
  const browser = await signIn(site, 'owner@example.com');
  const asked = { organizationId: site.cast.leafLab, email: 'resent@example.com', role: 'member' };
  for (let time = 0; time <= MOST; time += 1)
    expect((await browser.call('POST', '/api/v1/auth/organization/invite-member', { ...asked, resend: true })).status).toBe(200);
  expect(await sentAbout('Leaf Lab', asked.email)).toBe(MOST);
});

test('who asks to join and takes it back, again and again, has few letters sent', async () => {
  const { id } = await make({ visibility: 'public', name: 'Asked plots' });
  const path = `/api/v1/experiments/${id}/join-requests`;
  const stranger = site.as(site.cast.stranger);
  for (let time = 0; time <= MOST; time += 1) {
    const { status, body } = await stranger('POST', path);
    expect(status).toBe(201);
    expect(await sentAbout('join Asked plots', 'owner@example.com')).toBe(Math.min(time + 1, MOST));
    expect((await stranger('DELETE', `${path}/${body.id}`)).status).toBe(200);
  }
  await site.as(site.cast.viewer)('POST', path);
  expect(await sentAbout('join Asked plots', 'owner@example.com')).toBe(MOST + 1);
});

test('a code goes before letters that wait', async () => {
  const asked = { projectIdOld: '1', projectUrlOld: 'https://old.example/1' };
  expect((await site.as(site.cast.viewer)('POST', '/api/v1/transfer-requests', { body: asked })).status).toBe(201);
  await signIn(site, 'hurried@example.com');
  const waits = sql('t')`select priority from pgboss.job where name = 'mail.send' order by created_on desc limit 2`;
  expect(await site.db.rows(waits)).toEqual([{ priority: 0 }, { priority: -1 }]);
});
