import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { signIn } from '../support/browser.ts';
import { grant, makePerson } from '../support/cast.ts';
import { lettersTo, nextLetter } from '../support/outbox.ts';
import { makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const make = (type: 'experiment' | 'macro' | 'protocol' | 'workbook' | 'device', more: object = {}) =>
  makeResource(site.db, type, { organizationId: site.cast.leafLab, createdBy: site.cast.owner.id, ...more });
const invite = (body: object, person = site.cast.owner) => site.as(person)('POST', '/api/v1/invitations', { body });

describe.each(['experiment', 'macro', 'protocol', 'workbook', 'device'] as const)('an invitation to a %s', (resourceType) => {
  test('is sent, listed, claimed at sign-in by the proven address, and revoked', async () => {
    const resource = await make(resourceType);
    const email = `new-${resourceType}@example.com`;
    const made = await invite({ resourceType, resourceId: resource.id, email: `New-${resourceType}@Example.com`, tier: 'admin' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        resourceType,
        resourceId: resource.id,
        email,
        tier: 'admin',
        status: 'pending',
        invitedBy: site.cast.owner.id,
        invitedByName: 'Owner Tester',
        resourceName: `A ${resourceType}`,
      },
    });
    const letter = await nextLetter(site, email, 0);
    expect(letter).toContain(`Subject: Added to ${resourceType} on the fieldlake Platform`);
    expect(letter.replace(/=\r?\n/g, '')).toContain('within 30 days');
    await invite({ resourceType, resourceId: (await make(resourceType)).id, email: `viewer-${resourceType}@example.com` });
    const viewed = (await nextLetter(site, `viewer-${resourceType}@example.com`, 0)).replace(/=\r?\n/g, '');
    expect(viewed).toContain(resourceType === 'experiment' ? 'a contributor who can view and add data' : 'a viewer who can see it');
    const page = {
      experiment: 'experiments',
      macro: 'library/macros',
      protocol: 'library/protocols',
      workbook: 'library/workbooks',
      device: 'devices',
    };
    expect(letter.replace(/=\r?\n/g, '')).toContain(`${site.server.baseUrl}/platform/${page[resourceType]}/${resource.id}`);
    expect((await invite({ resourceType, resourceId: resource.id, email, tier: 'viewer' })).body).toEqual(made.body);
    const list = (person = site.cast.owner) =>
      site.as(person)('GET', '/api/v1/invitations', { query: { resourceType, resourceId: resource.id } });
    expect((await list()).body).toEqual([made.body]);
    expect((await list(site.cast.member)).status).toBe(403);
    expect((await list(site.cast.stranger)).status).toBe(403);
    const browser = await signIn(site, email);
    // without a profile yet: the inviter knows the address, and nobody else is told it
    const collaborators = `/api/v1/${resourceType}/${resource.id}/collaborators`;
    const granted = (entries: { kind: string; grantee: object }[]) => entries.find(({ kind }) => kind === 'grant')?.grantee;
    const theirs = await browser.call('GET', collaborators);
    expect(theirs.status).toBe(200);
    expect(granted(theirs.body)).toMatchObject({ displayName: 'Unknown User', email: null });
    const seen = async () => granted((await site.as(site.cast.owner)('GET', collaborators)).body);
    expect(await seen()).toMatchObject({ displayName: email, email });
    await browser.call('POST', '/api/v1/users/profile', { firstName: 'Nora', lastName: 'New' });
    expect(await seen()).toMatchObject({ displayName: 'Nora New', email });
    expect((await list()).body).toEqual([]);
    expect((await invite({ resourceType, resourceId: resource.id, email })).body.code).toBe('ALREADY_GRANTED');

    const other = await invite({ resourceType, resourceId: resource.id, email: 'never@example.com' });
    const remove = (person = site.cast.owner) => site.as(person)('DELETE', `/api/v1/invitations/${other.body.id}`);
    expect((await remove(site.cast.stranger)).status).toBe(403);
    expect(await remove()).toMatchObject({ status: 200, body: null });
    expect((await remove()).body.code).toBe('INVITATION_ENDED');
    expect((await invite({ resourceType, resourceId: resource.id, email: 'x@example.com' }, site.cast.member)).body.code).toBe(
      'ACTION_DENIED',
    );
    expect((await invite({ resourceType, resourceId: crypto.randomUUID(), email: 'x@example.com' })).status).toBe(404);
  });
});

test('what may not be given any more is not claimed, and a role that is held is not lowered', async () => {
  const { db } = site;
  const [kept, archived, lost] = [await make('experiment'), await make('experiment'), await make('experiment')];
  const inviter = await makePerson(db, 'inviter');
  await grant(db, lost, { user: inviter.id }, 'admin');
  for (const resource of [kept, archived])
    await invite({ resourceType: 'experiment', resourceId: resource.id, email: 'paula@example.com' });
  await invite({ resourceType: 'experiment', resourceId: lost.id, email: 'paula@example.com', tier: 'admin' }, inviter);
  const paula = await makePerson(db, 'paula');
  await grant(db, kept, { user: paula.id }, 'admin');
  await db.run(sql('t')`update experiments set status = 'archived' where id = ${archived.id}`);
  await db.run(sql('t')`delete from grants where user_id = ${inviter.id}`);
  await nextLetter(site, 'paula@example.com', 2);
  const browser = await signIn(site, 'paula@example.com');
  const rows = await db.rows<{ id: string; status: string }>(
    sql('t')`select resource_id as id, status from invitations where email = 'paula@example.com'`,
  );
  expect(Object.fromEntries(rows.map(({ id, status }) => [id, status]))).toEqual({
    [kept.id]: 'accepted',
    [archived.id]: 'revoked',
    [lost.id]: 'revoked',
  });
  expect((await browser.call('GET', `/api/v1/experiment/${kept.id}/collaborators`)).status).toBe(200);
  expect((await browser.call('GET', `/api/v1/experiments/${lost.id}`)).status).toBe(403);
  const expired = await make('macro');
  const { body } = await invite({ resourceType: 'macro', resourceId: expired.id, email: 'late@example.com' });
  await nextLetter(site, 'late@example.com', 0);
  await db.run(sql('t')`update invitations set expires_at = now() - interval '1 second' where id = ${body.id}`);
  const late = await signIn(site, 'late@example.com');
  expect((await late.call('GET', `/api/v1/macro/${expired.id}/collaborators`)).status).toBe(403);
});

test('who has an account already is let in at once', async () => {
  const known = await signIn(site, 'known@example.com');
  const resource = await make('experiment');
  const read = async () => (await known.call('GET', `/api/v1/experiments/${resource.id}`)).status;
  expect(await read()).toBe(403);
  const asked = { resourceType: 'experiment', resourceId: resource.id, email: 'Known@example.com' };
  const once = { body: asked, headers: { 'idempotency-key': 'let-known-in' } };
  const made = await site.as(site.cast.owner)('POST', '/api/v1/invitations', once);
  expect(made).toMatchObject({ status: 201, body: { status: 'accepted', email: 'known@example.com' } });
  expect((await site.as(site.cast.owner)('POST', '/api/v1/invitations', once)).body).toEqual(made.body);
  expect(await read()).toBe(200);
  const letter = await nextLetter(site, 'known@example.com', 1);
  expect(letter).toContain('Subject: Added to experiment');
  expect(letter).not.toContain('30 days');
  expect((await invite(asked)).body.code).toBe('ALREADY_GRANTED');
});

test('blanks around an address do not hide whose it is', async () => {
  await signIn(site, 'blank@example.com');
  const resource = await make('experiment');
  const asked = (email: string) => ({ resourceType: 'experiment', resourceId: resource.id, email });
  expect(await invite(asked('\tblank@example.com\u00a0'))).toMatchObject({
    status: 201,
    body: { email: 'blank@example.com', status: 'accepted' },
  });
  for (const blanks of ['', ' ', '\t', '\n', '\u00a0']) {
    const email = `${blanks}Blank@example.com${blanks}`;
    expect((await invite({ ...asked(email), tier: 'admin' })).body.code, JSON.stringify(email)).toBe('ALREADY_GRANTED');
    expect((await invite({ resourceType: 'platform', email })).body.code, JSON.stringify(email)).toBe('ACCOUNT_EXISTS');
  }
});

test('an invitation to the service may be sent by anybody, within a daily budget, and ends at the first sign-in', async () => {
  const { db } = site;
  const call = site.as(site.cast.stranger);
  const made = await call('POST', '/api/v1/invitations', { body: { resourceType: 'platform', email: 'friend@example.com' } });
  expect(made).toMatchObject({ status: 201, body: { resourceType: 'platform', resourceId: null, status: 'pending' } });
  expect(made.body).not.toHaveProperty('resourceName');
  expect(await nextLetter(site, 'friend@example.com', 0)).toContain('Subject: You are invited to fieldlake');
  const list = () => call('GET', '/api/v1/invitations', { query: { resourceType: 'platform', resourceId: crypto.randomUUID() } });
  expect((await list()).body).toEqual([made.body]);
  expect((await site.as(site.cast.owner)('DELETE', `/api/v1/invitations/${made.body.id}`)).body.code).toBe('INVITATION_UNKNOWN');
  await signIn(site, 'friend@example.com');
  expect((await list()).body).toEqual([]);
  expect((await call('POST', '/api/v1/invitations', { body: { resourceType: 'platform', email: 'friend@example.com' } })).body.code).toBe(
    'ACCOUNT_EXISTS',
  );
  await db.run(sql('t')`
    insert into invitations (id, resource_type, email, invited_by, expires_at)
    select gen_random_uuid(), 'platform', 'b' || n || '@example.com', ${site.cast.stranger.id}, now() + interval '1 day' from generate_series(1, 19) n`);
  expect(await call('POST', '/api/v1/invitations', { body: { resourceType: 'platform', email: 'one-more@example.com' } })).toMatchObject({
    status: 429,
    body: { code: 'INVITATION_BUDGET_SPENT' },
  });
});

test('refuses what does not fit', async () => {
  const resource = await make('experiment');
  expect((await invite({ resourceType: 'experiment', email: 'x@example.com' })).status).toBe(400);
  expect((await invite({ resourceType: 'device_group', resourceId: resource.id, email: 'x@example.com' })).status).toBe(400);
  // nobody could sign in by these, and a letter to the second and the third would reach somebody else
  for (const email of ['nonsense', 'a,b@example.com', '<b@example.com>', `${'a'.repeat(65)}@example.com`, 'a@b..com'])
    for (const to of [{ resourceType: 'experiment', resourceId: resource.id }, { resourceType: 'platform' }])
      expect([email, (await invite({ ...to, email })).body.code]).toEqual([email, 'INVALID_EMAIL']);
  expect((await invite({ resourceType: 'experiment', resourceId: resource.id, email: 'x@example.com', tier: 'owner' })).status).toBe(400);
  expect((await invite({ resourceType: 'experiment', resourceId: 'x', email: 'x@example.com' })).status).toBe(400);
  const archived = await make('experiment', { status: 'archived' });
  expect((await invite({ resourceType: 'experiment', resourceId: archived.id, email: 'x@example.com' })).body.code).toBe(
    'EXPERIMENT_ARCHIVED',
  );
  expect((await site.as(null)('POST', '/api/v1/invitations', { body: {} })).status).toBe(401);
  expect((await site.as(site.cast.owner)('GET', '/api/v1/invitations', { query: { resourceType: 'experiment' } })).status).toBe(400);
  expect((await site.as(site.cast.owner)('DELETE', `/api/v1/invitations/${crypto.randomUUID()}`)).status).toBe(404);
});

describe('taking part in an experiment', () => {
  test('join requests are made, seen, approved, rejected and withdrawn', async () => {
    const { db } = site;
    const { id } = await make('experiment', { visibility: 'public', name: 'Open plots' });
    const path = `/api/v1/experiments/${id}/join-requests`;
    const [uma, vic, wes] = [await makePerson(db, 'uma'), await makePerson(db, 'vic'), await makePerson(db, 'wes')];
    expect((await site.as(uma)('GET', `${path}/me`)).body.code).toBe('JOIN_REQUEST_NOT_FOUND');
    const made = await site.as(uma)('POST', path, { body: { message: 'I count well' } });
    expect(made).toMatchObject({
      status: 201,
      body: { experimentId: id, user: { id: uma.id, email: 'uma@example.com' }, message: 'I count well', status: 'pending' },
    });
    expect(await nextLetter(site, 'owner@example.com', 0)).toContain('Subject: New request to join Open plots on fieldlake');
    expect((await site.as(uma)('POST', path)).body).toEqual(made.body);
    expect((await site.as(uma)('GET', `${path}/me`)).body).toEqual(made.body);
    const [second, third] = [(await site.as(vic)('POST', path)).body, (await site.as(wes)('POST', path)).body];
    const list = await site.as(site.cast.admin)('GET', path);
    expect(list.body.map(({ user }: { user: { id: string } }) => user.id)).toEqual([wes.id, vic.id, uma.id]);
    for (const person of [site.cast.member, uma, site.cast.stranger]) {
      expect((await site.as(person)('GET', path)).status).toBe(403);
      expect((await site.as(person)('POST', `${path}/${made.body.id}/approve`)).status).toBe(403);
      expect((await site.as(person)('POST', `${path}/${made.body.id}/reject`)).status).toBe(403);
    }
    const decide = (request: { id: string }, verb: string) => site.as(site.cast.admin)('POST', `${path}/${request.id}/${verb}`);
    expect((await decide(made.body, 'approve')).body).toMatchObject({ status: 'approved', decidedBy: site.cast.admin.id });
    const welcome = (await nextLetter(site, 'uma@example.com', 0)).replaceAll(/=\r?\n/g, '');
    expect(welcome).toContain('a contributor who can view and add data');
    expect(welcome).toContain('because you asked to take part');
    expect(welcome).not.toContain('30 days');
    expect((await decide(made.body, 'reject')).body.code).toMatch(/JOIN_REQUEST_DECIDED/);
    expect((await decide(second, 'reject')).body).toMatchObject({ status: 'rejected' });
    expect(await nextLetter(site, 'vic@example.com', 0)).toContain('Update on your request to join Open plots');
    expect((await decide({ id: crypto.randomUUID() }, 'approve')).status).toBe(404);
    expect((await site.as(uma)('POST', path)).body.code).toBe('ALREADY_CONTRIBUTOR');
    expect((await site.as(vic)('DELETE', `${path}/${third.id}`)).body.code).toBe('NOT_YOUR_REQUEST');
    // who came in on another way meanwhile is not decided about, and the request ends
    await grant(db, { type: 'experiment', id }, { user: wes.id }, 'viewer');
    expect(await decide(third, 'approve')).toMatchObject({ status: 409, body: { code: 'REQUESTER_CAME_IN' } });
    expect((await site.as(wes)('DELETE', `${path}/${third.id}`)).body.code).toBe('JOIN_REQUEST_DECIDED');
    const fourth = (await site.as(vic)('POST', path)).body;
    expect(await site.as(vic)('DELETE', `${path}/${fourth.id}`)).toMatchObject({ status: 200, body: null });
    expect(lettersTo(site, 'wes@example.com')).toEqual([]);
  });

  test('is asked for where an experiment is public and alive', async () => {
    const call = site.as(site.cast.stranger);
    const ask = (id: string) => call('POST', `/api/v1/experiments/${id}/join-requests`);
    expect((await ask((await make('experiment')).id)).status).toBe(403);
    expect((await ask(crypto.randomUUID())).status).toBe(404);
    expect((await ask('nonsense')).body.code).toBe('INVALID_ID');
    const archived = await make('experiment', { visibility: 'public', status: 'archived' });
    expect((await ask(archived.id)).body.code).toBe('EXPERIMENT_ARCHIVED');
    const open = await make('experiment', { visibility: 'public' });
    expect((await call('POST', `/api/v1/experiments/${open.id}/join-requests`, { body: { message: 'x'.repeat(251) } })).status).toBe(400);
    const pending = await ask(open.id);
    await site.db.run(sql('t')`update experiments set status = 'archived' where id = ${open.id}`);
    expect(
      (await site.as(site.cast.owner)('POST', `/api/v1/experiments/${open.id}/join-requests/${pending.body.id}/approve`)).body.code,
    ).toBe('EXPERIMENT_ARCHIVED');
    expect((await call('DELETE', `/api/v1/experiments/${open.id}/join-requests/${pending.body.id}`)).status).toBe(200);
    expect((await site.as(null)('POST', `/api/v1/experiments/${open.id}/join-requests`)).status).toBe(401);
  });

  test('GET /api/v1/experiments/{id}/contributors names people, or their pseudonyms', async () => {
    const { db } = site;
    const one = await make('experiment');
    await grant(db, one, { user: site.cast.viewer.id }, 'viewer');
    const contributors = async (id: string, person = site.cast.member) => site.as(person)('GET', `/api/v1/experiments/${id}/contributors`);
    expect((await contributors(one.id)).body).toEqual({
      contributors: [
        { userId: site.cast.owner.id, firstName: 'Owner', lastName: 'Tester', avatarUrl: null },
        { userId: site.cast.viewer.id, firstName: 'Viewer', lastName: 'Tester', avatarUrl: null },
      ],
      collaboratorCount: 4,
    });
    const two = await make('experiment');
    for (const { id } of [one, two]) await db.run(sql('t')`update experiments set anonymize_contributors = true where id = ${id}`);
    const [first, second] = [(await contributors(one.id, site.cast.owner)).body, (await contributors(two.id)).body];
    for (const { userId, firstName } of [...first.contributors, ...second.contributors]) {
      expect(userId).toMatch(/^Contributor-[0-9A-F]{16}$/);
      expect(firstName).toBe(userId);
    }
    // the same person has another name in another experiment
    expect(first.contributors.map(({ userId }: { userId: string }) => userId)).not.toContain(second.contributors[0].userId);
    expect((await contributors(one.id, site.cast.stranger)).status).toBe(403);
    expect((await site.as(null)('GET', `/api/v1/experiments/${one.id}/contributors`)).status).toBe(401);
  });
});
