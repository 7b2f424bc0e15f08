import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RESOURCE_TYPES } from '../../src/authorization/roles.ts';
import { sql } from '../../src/database/sql.ts';
import { signIn } from '../support/browser.ts';
import { grant, makePerson } from '../support/cast.ts';
import { makeOrganization, makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let open: string;
beforeAll(async () => {
  site = await startTestServer();
  const { db } = site;
  open = await makeOrganization(db, {
    name: 'Open 100% Science',
    slug: 'open-science',
    visibility: 'public',
    members: { [site.cast.owner.id]: 'owner', [site.cast.admin.id]: 'admin', [site.cast.member.id]: 'member, weeder' },
  });
});
afterAll(() => site.stop());

const at = (id: string, rest = '') => `/api/v1/organizations/${id}${rest === '' ? '' : `/${rest}`}`;
const lab = () => site.cast.leafLab;

describe('the directory', () => {
  test('GET /api/v1/organizations lists public ones and one’s own, never a personal workspace', async () => {
    const strange = await site.as(site.cast.stranger)('GET', '/api/v1/organizations');
    expect(strange.body.organizations).toEqual([
      {
        id: open,
        name: 'Open 100% Science',
        slug: 'open-science',
        logo: null,
        type: null,
        description: null,
        location: null,
        memberCount: 3,
        resourceCount: 0,
        visibility: 'public',
        membershipStatus: 'none',
      },
    ]);
    expect(strange.headers.get('x-total-count')).toBe('1');
    const own = await site.as(site.cast.owner)('GET', '/api/v1/organizations');
    expect(own.body.organizations.map(({ id }: { id: string }) => id)).toEqual([lab(), open]);
    const search = (text: string) => site.as(site.cast.owner)('GET', '/api/v1/organizations', { query: { search: text } });
    expect((await search('LEAF')).body.organizations).toHaveLength(1);
    // a percent sign is a letter
    expect((await search('0% s')).body.organizations).toHaveLength(1);
    expect((await search('%')).body.organizations).toHaveLength(1);
    expect((await search('x'.repeat(201))).status).toBe(400);
    expect((await site.as(null)('GET', '/api/v1/organizations')).status).toBe(401);
    expect((await site.as(site.cast.owner)('GET', '/api/v1/organizations', { query: { serch: 'x' } })).status).toBe(400);
  });

  test('GET /api/v1/users/me/organizations lists one’s own, the personal workspace too', async () => {
    const answer = await site.as(site.cast.member)('GET', '/api/v1/users/me/organizations');
    expect(answer.body).toMatchObject([
      {
        id: lab(),
        name: 'Leaf Lab',
        slug: 'leaf-lab',
        role: 'member',
        isPersonal: false,
        visibility: 'private',
        memberCount: 3,
        resourceCount: 0,
      },
      { id: site.cast.member.workspaceId, slug: `personal-${site.cast.member.id}`, role: 'owner', isPersonal: true, memberCount: 1 },
      { id: open, role: 'member', visibility: 'public' },
    ]);
    expect((await site.as(null)('GET', '/api/v1/users/me/organizations')).status).toBe(401);
  });

  test('GET /api/v1/organizations/{id} is one answer for what is hidden and what is missing', async () => {
    const own = await site.as(site.cast.owner)('GET', at(lab()));
    expect(own.body).toEqual({
      id: lab(),
      name: 'Leaf Lab',
      slug: 'leaf-lab',
      logo: null,
      type: null,
      description: null,
      website: null,
      location: null,
      visibility: 'private',
      memberCount: 3,
      resourceCount: 0,
      createdAt: expect.stringMatching(/Z$/),
      role: 'owner',
      membershipStatus: 'member',
    });
    const again = await site.as(site.cast.owner)('GET', at(lab()), { headers: { 'if-none-match': own.headers.get('etag')! } });
    expect(again.status).toBe(304);
    expect((await site.as(site.cast.stranger)('GET', at(open))).body).toMatchObject({ role: null, membershipStatus: 'none' });
    const hidden = await site.as(site.cast.stranger)('GET', at(lab()));
    const missing = await site.as(site.cast.stranger)('GET', at(crypto.randomUUID()));
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect([hidden.body.code, missing.body.code]).toEqual(['ORGANIZATION_NOT_FOUND', 'ORGANIZATION_NOT_FOUND']);
    expect(hidden.body.detail).toBe(missing.body.detail);
    expect((await site.as(site.cast.owner)('GET', at(site.cast.owner.workspaceId))).status).toBe(404);
    expect((await site.as(site.cast.owner)('GET', at('nonsense'))).body.code).toBe('INVALID_ID');
    expect((await site.as(null)('GET', at(lab()))).status).toBe(401);
  });
});

test('GET /api/v1/organizations/{id}/resources shows what the caller can read, of every type', async () => {
  const { db } = site;
  const made = [];
  for (const type of RESOURCE_TYPES) made.push(await makeResource(db, type, { organizationId: open, createdBy: site.cast.owner.id }));
  await makeResource(db, 'experiment', { organizationId: open, createdBy: site.cast.owner.id, status: 'archived', visibility: 'public' });
  const all = await site.as(site.cast.member)('GET', at(open, 'resources'));
  expect(all.body.totals).toEqual({ experiment: 2, protocol: 1, macro: 1, workbook: 1, device: 1, device_group: 1 });
  expect(all.body.resources).toHaveLength(7);
  expect(all.body.resources[0]).toMatchObject({
    type: 'experiment',
    status: 'archived',
    visibility: 'public',
    name: 'A experiment',
    description: null,
    collaboratorCount: 3,
  });
  // of each type what its rows here have; the rest is absent, not null
  const members = all.body.resources.map(({ type, ...row }: Record<string, unknown>) => {
    const own = ['status', 'family', 'language', 'deviceType', 'memberCount'].filter((name) => name in row);
    return `${String(type)}: ${own.join(' ')}`;
  });
  expect(new Set(members)).toEqual(
    new Set(['experiment: status', 'protocol: ', 'macro: ', 'workbook: ', 'device: ', 'device_group: memberCount']),
  );
  await grant(db, made[2]!, { user: site.cast.stranger.id }, 'viewer');
  const some = await site.as(site.cast.stranger)('GET', at(open, 'resources'));
  expect(some.body.totals).toEqual({ experiment: 1, protocol: 0, macro: 1, workbook: 0, device: 0, device_group: 0 });
  expect(some.body.resources.map(({ type }: { type: string }) => type)).toEqual(['experiment', 'macro']);
  const second = await site.as(site.cast.stranger)('GET', at(open, 'resources'), { query: { page: 2, pageSize: 1 } });
  expect(second.body.resources).toMatchObject([{ type: 'macro' }]);
  expect((await site.as(site.cast.stranger)('GET', at(lab(), 'resources'))).status).toBe(404);
  const listed = await site.as(site.cast.stranger)('GET', '/api/v1/organizations');
  expect(listed.body.organizations[0].resourceCount).toBe(2);
});

test('GET /api/v1/organizations/{id}/members, teams and team-grants are for members', async () => {
  const { db } = site;
  const answer = await site.as(site.cast.member)('GET', at(open, 'members'));
  expect(answer.body.members).toHaveLength(3);
  expect(answer.body.members).toContainEqual({
    userId: site.cast.member.id,
    firstName: 'Member',
    lastName: 'Tester',
    email: 'member@example.com',
    avatarUrl: null,
    // as stored
    role: 'member, weeder',
    joinedAt: expect.stringMatching(/Z$/),
  });
  const team = crypto.randomUUID();
  await db.run(sql('t')`insert into teams (id, organization_id, name) values (${team}, ${open}, 'Soil')`);
  await db.run(
    sql(
      't',
    )`insert into team_members (id, team_id, organization_id, user_id) values (gen_random_uuid(), ${team}, ${open}, ${site.cast.member.id})`,
  );
  const protocol = await makeResource(db, 'protocol', { organizationId: open, createdBy: site.cast.owner.id, name: 'Moisture' });
  await grant(db, protocol, { team }, 'admin');
  expect((await site.as(site.cast.member)('GET', at(open, 'teams'))).body).toMatchObject([
    {
      id: team,
      name: 'Soil',
      organizationId: open,
      members: [{ userId: site.cast.member.id, firstName: 'Member', email: 'member@example.com' }],
    },
  ]);
  expect((await site.as(site.cast.member)('GET', at(open, 'team-grants'))).body).toEqual([
    { id: expect.any(String), teamId: team, resourceType: 'protocol', resourceId: protocol.id, resourceName: 'Moisture', role: 'admin' },
  ]);
  for (const list of ['members', 'teams', 'team-grants']) {
    expect((await site.as(site.cast.stranger)('GET', at(open, list))).body.code).toBe('MEMBERS_ONLY');
    expect((await site.as(site.cast.stranger)('GET', at(lab(), list))).status).toBe(404);
    expect((await site.as(null)('GET', at(open, list))).status).toBe(401);
  }
});

test('GET /api/v1/organizations/{id}/deletion-blockers counts the whole estate, for owners', async () => {
  const before = await site.as(site.cast.owner)('GET', at(lab(), 'deletion-blockers'));
  expect(before.body).toEqual({ blockers: [], total: 0 });
  const { db } = site;
  await makeResource(db, 'macro', { organizationId: lab(), createdBy: site.cast.owner.id });
  await makeResource(db, 'macro', { organizationId: lab(), createdBy: site.cast.owner.id });
  await makeResource(db, 'device', { organizationId: lab(), createdBy: site.cast.owner.id });
  const after = await site.as(site.cast.owner)('GET', at(lab(), 'deletion-blockers'));
  expect(after.body).toEqual({
    blockers: [
      { resourceType: 'device', count: 1 },
      { resourceType: 'macro', count: 2 },
    ],
    total: 3,
  });
  for (const person of [site.cast.admin, site.cast.member, site.cast.stranger])
    expect((await site.as(person)('GET', at(lab(), 'deletion-blockers'))).status).toBe(404);
});

describe('join requests of an organization', () => {
  test('are made, listed, approved, rejected and withdrawn', async () => {
    const { db } = site;
    const [one, two, three] = [await makePerson(db, 'one'), await makePerson(db, 'two'), await makePerson(db, 'three')];
    const made = await site.as(one)('POST', at(open, 'join-requests'), { body: { message: 'I weed well' } });
    expect(made).toMatchObject({
      status: 201,
      body: {
        organizationId: open,
        user: { id: one.id, firstName: 'One', lastName: 'Tester', email: 'one@example.com', avatarUrl: null },
        message: 'I weed well',
        status: 'pending',
        decidedBy: null,
        decidedAt: null,
      },
    });
    expect((await site.as(one)('POST', at(open, 'join-requests'), { body: { message: 'again' } })).body).toEqual(made.body);
    expect((await site.as(one)('GET', at(open))).body.membershipStatus).toBe('pending_request');
    await site.as(two)('POST', at(open, 'join-requests'));
    await site.as(three)('POST', at(open, 'join-requests'), { body: {} });
    const list = await site.as(site.cast.admin)('GET', at(open, 'join-requests'));
    expect(list.body.map(({ user }: { user: { id: string } }) => user.id)).toEqual([three.id, two.id, one.id]);
    const decide = (person: typeof one, requestId: string, decision: string) =>
      site.as(person)('PATCH', at(open, `join-requests/${requestId}`), { body: { decision } });
    for (const person of [site.cast.member, site.cast.stranger, one])
      expect((await decide(person, made.body.id, 'approve')).body.code).toBe('ADMINS_ONLY');
    expect((await decide(site.cast.owner, made.body.id, 'perhaps')).status).toBe(400);
    // who may not decide hears that first, whatever the decision would be
    expect((await decide(site.cast.member, made.body.id, 'perhaps')).body.code).toBe('ADMINS_ONLY');
    expect((await decide(site.cast.owner, crypto.randomUUID(), 'approve')).body.code).toBe('JOIN_REQUEST_NOT_FOUND');
    expect((await decide(site.cast.admin, made.body.id, 'approve')).body).toMatchObject({
      status: 'approved',
      decidedBy: site.cast.admin.id,
    });
    expect((await decide(site.cast.admin, made.body.id, 'reject')).body.code).toBe('JOIN_REQUEST_DECIDED');
    expect((await decide(site.cast.owner, list.body[1].id, 'reject')).body).toMatchObject({
      status: 'rejected',
      decidedBy: site.cast.owner.id,
    });
    expect((await site.as(one)('GET', at(open))).body).toMatchObject({ role: 'member', membershipStatus: 'member' });
    expect((await site.as(two)('GET', at(open))).body.membershipStatus).toBe('none');
    expect((await site.as(one)('POST', at(open, 'join-requests'))).body.code).toBe('ALREADY_MEMBER');
    expect(await site.as(three)('DELETE', at(open, 'join-requests/me'))).toMatchObject({ status: 200, body: null });
    expect((await site.as(three)('DELETE', at(open, 'join-requests/me'))).body.code).toBe('JOIN_REQUEST_NOT_FOUND');
    const after = await site.as(site.cast.owner)('GET', at(open, 'join-requests'));
    expect(after.body.map(({ status }: { status: string }) => status)).toEqual(['cancelled', 'rejected', 'approved']);
  });

  test('are refused where there is nothing to join, and to who may not decide', async () => {
    const call = site.as(site.cast.stranger);
    expect((await call('POST', at(lab(), 'join-requests'))).status).toBe(404);
    expect((await call('POST', at(crypto.randomUUID(), 'join-requests'))).status).toBe(404);
    expect((await call('POST', at(site.cast.owner.workspaceId, 'join-requests'))).status).toBe(404);
    expect((await call('POST', at(open, 'join-requests'), { body: { message: 'x'.repeat(251) } })).status).toBe(400);
    expect((await call('GET', at(open, 'join-requests'))).body.code).toBe('ADMINS_ONLY');
    expect((await site.as(site.cast.member)('GET', at(open, 'join-requests'))).body.code).toBe('ADMINS_ONLY');
    expect((await site.as(null)('POST', at(open, 'join-requests'))).status).toBe(401);
  });

  test('a full organization takes nobody, and the request stays', async () => {
    const { db } = site;
    const full = await makeOrganization(db, {
      name: 'Full',
      slug: 'full',
      visibility: 'public',
      members: { [site.cast.owner.id]: 'owner' },
    });
    await db.run(
      sql('t')`insert into users (id, email) select gen_random_uuid(), 'seat' || n || '@example.com' from generate_series(1, 99) n`,
    );
    await db.run(sql('t')`
      insert into organization_members (id, organization_id, user_id) select gen_random_uuid(), ${full}, id from users where email like 'seat%'`);
    const { body } = await site.as(site.cast.stranger)('POST', at(full, 'join-requests'));
    const approve = () => site.as(site.cast.owner)('PATCH', at(full, `join-requests/${body.id}`), { body: { decision: 'approve' } });
    expect(await approve()).toMatchObject({ status: 409, body: { code: 'ORGANIZATION_FULL' } });
    expect((await site.as(site.cast.owner)('GET', at(full, 'join-requests'))).body[0].status).toBe('pending');
    await db.run(sql('t')`delete from organization_members where user_id = (select id from users where email = 'seat1@example.com')`);
    expect((await approve()).status).toBe(200);
  });
});

test('GET /api/v1/organizations/{id}/audit tells owners and admins what happened', async () => {
  const answer = await site.as(site.cast.admin)('GET', at(open, 'audit'), { query: { pageSize: 2 } });
  expect(answer.body).toHaveLength(2);
  expect(answer.body[0]).toMatchObject({
    action: 'organization.join-cancelled',
    actorId: expect.any(String),
    requestId: expect.any(String),
    details: {},
  });
  expect(Number(answer.headers.get('x-total-count'))).toBeGreaterThan(5);
  expect((await site.as(site.cast.member)('GET', at(open, 'audit'))).body.code).toBe('ADMINS_ONLY');
  expect((await site.as(site.cast.stranger)('GET', at(lab(), 'audit'))).status).toBe(404);
  expect((await site.as(null)('GET', at(open, 'audit'))).status).toBe(401);
});

test('GET /api/v1/organizations/{id}/audit has what happened to resources of the organization, and counts to the end when asked', async () => {
  const owner = site.as(site.cast.owner);
  const id = await makeOrganization(site.db, { name: 'Counted', slug: 'counted', members: { [site.cast.owner.id]: 'owner' } });
  const { body: made } = await owner('POST', '/api/v1/experiments', { body: { name: 'Logged', organizationId: id } });
  const invitation = { resourceType: 'experiment', resourceId: made.id, email: 'logged@example.com' };
  const { body: invited } = await owner('POST', '/api/v1/invitations', { body: invitation });
  expect((await owner('DELETE', `/api/v1/invitations/${invited.id}`)).status).toBe(200);
  const { body: events } = await owner('GET', at(id, 'audit'));
  expect(events.map(({ action }: { action: string }) => action)).toEqual([
    'invitation.revoked',
    'invitation.created',
    'experiment.created',
  ]);
  await site.db.run(sql('test')`
    insert into audit_events (id, action, organization_id) select gen_random_uuid(), 'team.created', ${id} from generate_series(1, 10010)`);
  const counted = async (headers: Record<string, string>) => {
    const answer = await owner('GET', at(id, 'audit'), { query: { pageSize: 1 }, headers });
    return [answer.headers.get('x-total-count'), answer.headers.get('x-total-count-exact')];
  };
  expect(await counted({})).toEqual(['10000', 'false']);
  expect(await counted({ prefer: 'count=exact' })).toEqual(['10013', null]);
});

test('GET /api/v1/organizations/{id}/audit answers what fits every filter, and refuses what is none', async () => {
  const id = await makeOrganization(site.db, {
    name: 'Logged',
    slug: 'logged',
    members: { [site.cast.owner.id]: 'owner', [site.cast.admin.id]: 'admin' },
  });
  const [macro, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const { owner, admin } = site.cast;
  const log = [
    { at: '2026-05-01T10:00:00Z', actor: owner.id, action: 'macro.created', resource: macro },
    { at: '2026-05-02T10:00:00Z', actor: admin.id, action: 'macro.updated', resource: macro },
    { at: '2026-05-03T10:00:00Z', actor: admin.id, action: 'macro.updated', resource: other },
    { at: '2026-05-04T10:00:00Z', actor: null, action: 'webhook.disabled', resource: null },
  ];
  for (const { at: moment, actor, action, resource } of log)
    await site.db.run(sql('test')`
      insert into audit_events (id, at, actor_id, action, organization_id, resource_type, resource_id)
      values (gen_random_uuid(), ${moment}, ${actor}, ${action}, ${id}, 'macro', ${resource})`);
  // the same of another organization is never among them
  await site.db.run(sql('test')`
    insert into audit_events (id, at, actor_id, action, organization_id, resource_type, resource_id)
    values (gen_random_uuid(), '2026-05-02T10:00:00Z', ${admin.id}, 'macro.updated', ${open}, 'macro', ${macro})`);
  const ask = (query: Record<string, string | number>) => site.as(admin)('GET', at(id, 'audit'), { query });
  const days = async (query: Record<string, string | number>) => {
    const answer = await ask(query);
    expect(answer.status, answer.text).toBe(200);
    expect(Number(answer.headers.get('x-total-count'))).toBe(answer.body.length);
    return answer.body.map((event: { at: string }) => event.at.slice(8, 10));
  };
  expect(await days({})).toEqual(['04', '03', '02', '01']);
  expect(await days({ actorId: admin.id })).toEqual(['03', '02']);
  expect(await days({ action: 'macro.updated' })).toEqual(['03', '02']);
  expect(await days({ action: 'table.deleted' })).toEqual([]);
  expect(await days({ resourceId: macro })).toEqual(['02', '01']);
  expect(await days({ from: '2026-05-02T10:00:00Z' })).toEqual(['04', '03', '02']);
  expect(await days({ to: '2026-05-02T10:00:00Z' })).toEqual(['01']);
  const all = { actorId: admin.id, action: 'macro.updated', resourceId: macro, from: '2026-05-01T00:00:00Z', to: '2026-05-03T00:00:00Z' };
  expect(await days(all)).toEqual(['02']);
  const page = await ask({ action: 'macro.updated', page: 2, pageSize: 1 });
  expect(page.body).toMatchObject([{ at: '2026-05-02T10:00:00.000Z' }]);
  expect(page.headers.get('link')).toContain('action=macro.updated');
  for (const [query, place] of [
    [{ ...all, from: 'yesterday' }, '?from'],
    [{ ...all, to: '2026-02-30T00:00:00Z' }, '?to'],
    [{ ...all, to: '2026-06-30T23:59:60Z' }, '?to'],
    [{ ...all, action: 'macro.eaten' }, '?action'],
    [{ ...all, action: "macro.updated' or 'a' = 'a" }, '?action'],
    [{ ...all, actorId: 'somebody' }, '?actorId'],
    [{ ...all, resourceId: 'x' }, '?resourceId'],
  ] as const) {
    const refused = await ask(query);
    expect(refused, refused.text).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', errors: [{ path: place }] } });
  }
  expect((await ask({ ...all, to: all.from })).body.code).toBe('RANGE_INVALID');
});

test('an accepted invitation puts the person into its teams, and the log names each', async () => {
  const { db, cast } = site;
  const organizationId = await makeOrganization(db, { name: 'Team work', slug: 'team-work', members: { [cast.owner.id]: 'owner' } });
  const owner = await signIn(site, 'owner@example.com');
  const post = async (who: typeof owner, path: string, body: object) => {
    const answer = await who.call('POST', `/api/v1/auth/organization/${path}`, { organizationId, ...body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const teams = [];
  for (const name of ['Diggers', 'Weeders']) teams.push((await post(owner, 'create-team', { name })).id as string);
  const invited = await post(owner, 'invite-member', { email: 'teamster@example.com', role: 'member', teamId: teams });
  const teamster = await signIn(site, 'teamster@example.com');
  const { member } = await post(teamster, 'accept-invitation', { invitationId: invited.id });
  for (const teamId of teams) {
    const [place] = (await owner.call('GET', `/api/v1/auth/organization/list-team-members?teamId=${teamId}`)).body;
    expect(place).toMatchObject({ id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/), userId: member.userId });
  }
  const query = { action: 'team.member-added' };
  const log = (await site.as(cast.owner)('GET', at(organizationId, 'audit'), { query })).body as { details: { teamId: string } }[];
  expect(log).toMatchObject(teams.map(() => ({ actorId: member.userId, subjectId: member.userId })));
  expect(log.map(({ details }) => details.teamId).sort()).toEqual(teams.toSorted());
});

test('who is given a lower role takes back what they offered beyond it', async () => {
  const { db, cast } = site;
  const members = { [cast.owner.id]: 'owner', [cast.admin.id]: 'owner' };
  const organizationId = await makeOrganization(db, { name: 'Lowered', slug: 'lowered', members });
  const [owner, second] = [await signIn(site, 'owner@example.com'), await signIn(site, 'admin@example.com')];
  const post = (who: typeof owner, path: string, body: object) =>
    who.call('POST', `/api/v1/auth/organization/${path}`, { organizationId, ...body });
  const offer = async (who: typeof owner, role: string, name: string) =>
    (await post(who, 'invite-member', { email: `${name}@example.com`, role })).body.id as string;
  const offers = {
    first: await offer(second, 'owner', 'first-offer'),
    second: await offer(second, 'admin', 'second-offer'),
    third: await offer(second, 'member', 'third-offer'),
    others: await offer(owner, 'owner', 'others-offer'),
  };
  const pending = async () => {
    const listed = await owner.call('GET', `/api/v1/auth/organization/list-invitations?organizationId=${organizationId}`);
    const ids = (listed.body as { id: string; status: string }[]).filter(({ status }) => status === 'pending').map(({ id }) => id);
    return Object.entries(offers).flatMap(([name, id]) => (ids.includes(id) ? [name] : []));
  };
  const { body: listed } = await owner.call('GET', `/api/v1/auth/organization/list-members?organizationId=${organizationId}`);
  const { id: memberId } = listed.members.find(({ userId }: { userId: string }) => userId === cast.admin.id);
  expect(await pending()).toEqual(['first', 'second', 'third', 'others']);
  for (const [role, left] of [
    ['owner', ['first', 'second', 'third', 'others']],
    ['admin', ['second', 'third', 'others']],
    ['member', ['others']],
  ] as const) {
    expect((await post(owner, 'update-member-role', { memberId, role })).status).toBe(200);
    expect([role, await pending()]).toEqual([role, left]);
  }
  const invited = await signIn(site, 'first-offer@example.com');
  expect((await post(invited, 'accept-invitation', { invitationId: offers.first })).body.code).toBe('INVITATION_NOT_FOUND');
});
