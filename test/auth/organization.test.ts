import { randomUUID } from 'node:crypto';
import { createAuthClient } from 'better-auth/client';
import { organizationClient } from 'better-auth/client/plugins';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaveOrganization } from '../../src/api/organizations/members.service.ts';
import type { Caller } from '../../src/auth/caller.ts';
import { openDatabase } from '../../src/database/database.ts';
import { APPLICATION_ROLE } from '../../src/database/migrate.ts';
import { sql } from '../../src/database/sql.ts';
import type { Browser } from '../support/browser.ts';
import { signIn } from '../support/browser.ts';
import { grant, makePerson, type Person } from '../support/cast.ts';
import { makeOrganization, makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const clientOf = (browser: Browser) =>
  createAuthClient({
    baseURL: `${site.server.baseUrl}/api/v1/auth`,
    fetchOptions: { customFetchImpl: browser.fetch },
    plugins: [organizationClient({ teams: { enabled: true } })],
  });
const asPerson = async (name: string) => {
  const person = await makePerson(site.db, name);
  const browser = await signIn(site, `${name}@example.com`);
  return { person, browser, client: clientOf(browser) };
};
type Somebody = Awaited<ReturnType<typeof asPerson>>;
const must = <T>(answer: { data: T; error: unknown }): NonNullable<T> => {
  expect(answer.error).toBeNull();
  return answer.data as NonNullable<T>;
};

test('a creation that is repeated with its Idempotency-Key is answered as the first was, its status too', async () => {
  const { browser } = await asPerson('repeating');
  const make = () =>
    browser.call('POST', '/api/v1/auth/organization/create', { name: 'Once', slug: 'made-once' }, { 'idempotency-key': 'once' });
  const first = await make();
  expect(first.status).toBe(200);
  const second = await make();
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect([second.status, second.body]).toEqual([200, first.body]);
});

test('whoever leaves an organization while the database is busy is told so, not that they are no member', async () => {
  const person = await makePerson(site.db, 'leaving');
  const id = await makeOrganization(site.db, {
    name: 'Busy',
    slug: 'busy-lab',
    members: { [site.cast.owner.id]: 'owner', [person.id]: 'member' },
  });
  const hasty = openDatabase({ url: site.database.url, role: APPLICATION_ROLE, statementTimeoutMs: 200 });
  const context = { ...(await site.context()), db: hasty };
  const caller: Caller = {
    userId: person.id,
    via: { kind: 'key', keyId: randomUUID() },
    requestId: 'leaving',
    organizationId: null,
    created: async (_tx, answer) => answer,
  };
  try {
    await site.db.transaction(async (tx) => {
      await tx.run(sql('test')`select from organizations where id = ${id} for update`);
      await expect(leaveOrganization(context, caller, id)).rejects.toMatchObject({ code: 'DATABASE_TIMEOUT' });
    });
    expect(await leaveOrganization(context, caller, id)).toMatchObject({ userId: person.id });
    await expect(leaveOrganization(context, caller, id)).rejects.toMatchObject({ code: 'MEMBER_NOT_FOUND' });
  } finally {
    await hasty.close();
  }
});

test('metadata of an organization has at most 10,000 characters', async () => {
  const { organization } = (await asPerson('wordy')).client;
  const wordy = (length: number) => ({ said: 'x'.repeat(length - 11) });
  const { id: organizationId } = must(await organization.create({ name: 'Wordy', slug: 'wordy', metadata: wordy(10_000) }));
  expect((await organization.create({ name: 'Wordier', slug: 'wordier', metadata: wordy(10_001) })).error).toMatchObject({ status: 400 });
  expect(must(await organization.update({ organizationId, data: { metadata: wordy(9_999) } }))).toMatchObject({ name: 'Wordy' });
  expect((await organization.update({ organizationId, data: { metadata: wordy(10_001) } })).error).toMatchObject({ status: 400 });
  const kept = must(await organization.list()).find(({ id }) => id === organizationId);
  expect(JSON.stringify(kept?.metadata)).toContain('x'.repeat(9_988));
});

test('the unmodified better-auth organization client runs a full life', async () => {
  const [ada, bob, eve] = [await asPerson('ada'), await asPerson('bob'), await asPerson('eve')];
  const { organization: mine } = ada.client;
  expect(must(await mine.checkSlug({ slug: 'root-lab' }))).toEqual({ status: true });
  const lab = must(await mine.create({ name: 'Root Lab', slug: 'root-lab', metadata: { site: 'north' } }));
  expect(lab).toMatchObject({
    name: 'Root Lab',
    slug: 'root-lab',
    metadata: { site: 'north' },
    members: [{ userId: ada.person.id, role: 'owner' }],
  });
  const organizationId = lab.id;
  expect((await mine.checkSlug({ slug: 'root-lab' })).error).toMatchObject({ status: 409, code: 'ORGANIZATION_SLUG_ALREADY_TAKEN' });
  expect((await mine.create({ name: 'Other', slug: 'root-lab' })).error).toMatchObject({ code: 'ORGANIZATION_ALREADY_EXISTS' });
  expect(must(await mine.update({ organizationId, data: { name: 'Roots' } }))).toMatchObject({ name: 'Roots', slug: 'root-lab' });

  const team = must(await mine.createTeam({ name: 'Diggers', organizationId }));
  const invitation = must(await mine.inviteMember({ email: 'Bob@Example.com', role: 'member', organizationId, teamId: team.id }));
  expect(invitation).toMatchObject({
    email: 'bob@example.com',
    role: 'member',
    status: 'pending',
    teamId: team.id,
    inviterId: ada.person.id,
  });
  expect((await mine.inviteMember({ email: 'bob@example.com', role: 'member', organizationId })).error).toMatchObject({
    code: 'USER_IS_ALREADY_INVITED_TO_THIS_ORGANIZATION',
  });
  expect(must(await mine.inviteMember({ email: 'bob@example.com', role: 'admin', organizationId, resend: true }))).toMatchObject({
    id: invitation.id,
    role: 'member',
  });
  const theirs = bob.client.organization;
  expect(must(await theirs.listUserInvitations())).toMatchObject([{ id: invitation.id, organizationName: 'Roots' }]);
  expect(must(await theirs.getInvitation({ query: { id: invitation.id } }))).toMatchObject({
    organizationName: 'Roots',
    organizationSlug: 'root-lab',
    inviterEmail: 'ada@example.com',
  });
  expect((await eve.client.organization.acceptInvitation({ invitationId: invitation.id })).error).toMatchObject({
    status: 403,
    code: 'YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION',
  });
  expect(must(await theirs.acceptInvitation({ invitationId: invitation.id }))).toMatchObject({
    invitation: { status: 'accepted' },
    member: { userId: bob.person.id, role: 'member' },
  });
  expect((await theirs.acceptInvitation({ invitationId: invitation.id })).error).toMatchObject({ code: 'INVITATION_NOT_FOUND' });

  const full = must(await mine.getFullOrganization({ query: { organizationSlug: 'root-lab' } }));
  expect(full.members).toMatchObject([
    { userId: ada.person.id, user: { name: 'Ada Tester', email: 'ada@example.com' } },
    { userId: bob.person.id },
  ]);
  expect(full.invitations).toHaveLength(1);
  const seen = must(await theirs.getFullOrganization({ query: { organizationId } }));
  expect('invitations' in seen).toBe(false);
  const hidden = await eve.client.organization.getFullOrganization({ query: { organizationId } });
  const missing = await eve.client.organization.getFullOrganization({ query: { organizationId: crypto.randomUUID() } });
  const named = await eve.client.organization.getFullOrganization({ query: { organizationSlug: 'no-such' } });
  for (const answer of [hidden, missing, named])
    expect(answer.error).toMatchObject({ status: 403, code: 'YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION', message: hidden.error?.message });

  const member = full.members[1]!;
  expect(must(await mine.listMembers({ query: { organizationId, sortBy: 'createdAt', limit: 1, offset: 1 } }))).toMatchObject({
    total: 2,
    members: [{ id: member.id }],
  });
  expect(must(await mine.listTeams({ query: { organizationId } }))).toMatchObject([{ id: team.id, name: 'Diggers' }]);
  expect(must(await theirs.listUserTeams())).toMatchObject([{ id: team.id }]);
  expect(must(await theirs.listTeamMembers({ query: { teamId: team.id } }))).toMatchObject([{ userId: bob.person.id }]);
  expect((await eve.client.organization.listTeamMembers({ query: { teamId: team.id } })).error).toMatchObject({
    code: 'USER_IS_NOT_A_MEMBER_OF_THE_TEAM',
  });
  expect(must(await mine.updateTeam({ teamId: team.id, data: { name: 'Root diggers', organizationId } }))).toMatchObject({
    name: 'Root diggers',
  });
  must(await mine.removeTeamMember({ teamId: team.id, userId: bob.person.id, organizationId }));
  expect(must(await mine.addTeamMember({ teamId: team.id, userId: bob.person.id, organizationId }))).toMatchObject({
    userId: bob.person.id,
  });

  expect(must(await mine.updateMemberRole({ memberId: member.id, role: 'admin', organizationId }))).toMatchObject({ role: 'admin' });
  expect(must(await theirs.hasPermission({ organizationId, permissions: { member: ['create'] } }))).toEqual({ error: null, success: true });
  expect(must(await theirs.hasPermission({ organizationId, permissions: { organization: ['update'] } }))).toEqual({
    error: null,
    success: false,
  });
  expect((await theirs.update({ organizationId, data: { name: 'Mine' } })).error).toMatchObject({
    status: 403,
    code: 'YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_ORGANIZATION',
  });
  expect((await mine.leave({ organizationId })).error).toMatchObject({ code: 'YOU_CANNOT_LEAVE_THE_ORGANIZATION_AS_THE_ONLY_OWNER' });
  expect(must(await theirs.leave({ organizationId }))).toMatchObject({ userId: bob.person.id });
  expect((await theirs.listTeams({ query: { organizationId } })).error).toMatchObject({ status: 403 });

  const second = must(await mine.inviteMember({ email: 'eve@example.com', role: 'member', organizationId }));
  expect(must(await eve.client.organization.rejectInvitation({ invitationId: second.id }))).toMatchObject({
    invitation: { status: 'rejected' },
    member: null,
  });
  const third = must(await mine.inviteMember({ email: 'eve@example.com', role: 'member', organizationId }));
  expect(must(await mine.cancelInvitation({ invitationId: third.id }))).toMatchObject({ status: 'canceled' });
  expect((await mine.cancelInvitation({ invitationId: second.id })).error).toMatchObject({ code: 'INVITATION_NOT_FOUND' });
  expect(must(await mine.listInvitations({ query: { organizationId } })).map(({ status }) => status)).toEqual([
    'canceled',
    'rejected',
    'accepted',
  ]);

  const macro = await makeResource(site.db, 'macro', { organizationId, createdBy: ada.person.id });
  const refused = await mine.delete({ organizationId });
  expect(refused.error).toMatchObject({
    status: 409,
    code: 'ORGANIZATION_OWNS_RESOURCES',
    detail: 'The organization still owns 1 macro; move or delete that first.',
    total: 1,
    blockers: [{ resourceType: 'macro', count: 1 }],
  });
  await site.as(ada.person)('POST', `/api/v1/macro/${macro.id}/transfer`, { body: { targetOrganizationId: ada.person.workspaceId } });
  await grant(site.db, macro, { organization: organizationId }, 'viewer');
  expect(must(await mine.removeTeam({ teamId: team.id, organizationId }))).toHaveProperty('message');
  expect(must(await mine.delete({ organizationId }))).toMatchObject({ id: organizationId, metadata: '{"site":"north"}' });
  expect(must(await mine.list()).map(({ slug }) => slug)).toEqual([`personal-${ada.person.id}`]);
  const left = await site.db.one<{ count: number }>(sql('t')`select count(*) as count from grants where resource_id = ${macro.id}`);
  expect(left?.count).toBe(0);
});

describe('who may manage', () => {
  let owner: Somebody, admin: Somebody, member: Somebody, stranger: Somebody, extra: Person;
  let organizationId: string;
  beforeAll(async () => {
    [owner, admin, member, stranger] = [await asPerson('olga'), await asPerson('adam'), await asPerson('mia'), await asPerson('sten')];
    extra = await makePerson(site.db, 'extra');
    organizationId = await makeOrganization(site.db, {
      name: 'Managed',
      slug: 'managed',
      members: { [owner.person.id]: 'owner', [admin.person.id]: 'admin', [member.person.id]: 'member' },
    });
  });
  const post = (who: Somebody, verb: string, body: object) => who.browser.call('POST', `/api/v1/auth/organization/${verb}`, body);
  const memberId = async (of: Somebody) =>
    (await post(owner, 'has-permission', { organizationId, permissions: {} })) &&
    (await owner.browser.call('GET', `/api/v1/auth/organization/list-members?organizationId=${organizationId}`)).body.members.find(
      ({ userId }: { userId: string }) => userId === of.person.id,
    ).id;

  test('an API key manages nothing, and neither does nobody', async () => {
    for (const path of ['create', 'update', 'delete', 'add-member', 'invite-member', 'leave', 'create-team']) {
      const byKey = await site.as(owner.person)('POST', `/api/v1/auth/organization/${path}`, { body: { organizationId } });
      expect(byKey).toMatchObject({ status: 401, body: { code: 'API_KEY_NOT_ACCEPTED' } });
      expect((await site.as(null)('POST', `/api/v1/auth/organization/${path}`, { body: {} })).status).toBe(401);
    }
    expect((await site.as(owner.person)('GET', '/api/v1/auth/organization/list')).status).toBe(401);
    // by a session, of an organization that is not named
    expect(await owner.browser.call('GET', '/api/v1/auth/organization/get-full-organization')).toMatchObject({ status: 200, body: null });
  });

  test('POST /api/v1/auth/organization/add-member: owners any role, admins up to admin, members nobody', async () => {
    const add = (who: Somebody, role: unknown, userId = extra.id) => post(who, 'add-member', { organizationId, userId, role });
    expect((await add(member, 'member')).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_INVITE_USERS_TO_THIS_ORGANIZATION');
    expect((await add(stranger, 'member')).body.code).toBe('USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION');
    expect((await add(admin, 'owner')).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_INVITE_USER_WITH_THIS_ROLE');
    for (const role of [' admin', 'admin ', 'admin,member', 'Admin', 'weeder', ['admin', 'member']])
      expect((await add(owner, role)).body.code).toBe('ROLE_NOT_FOUND');
    expect((await add(owner, 'member', crypto.randomUUID())).body.code).toBe('USER_NOT_FOUND');
    expect(await add(admin, 'admin')).toMatchObject({ status: 200, body: { userId: extra.id, role: 'admin' } });
    expect((await add(owner, 'member')).body.code).toBe('USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION');
    expect((await post(owner, 'add-member', { userId: extra.id, role: 'member' })).body.code).toBe('NO_ACTIVE_ORGANIZATION');
    expect(
      (await post(owner, 'add-member', { organizationId: owner.person.workspaceId, userId: extra.id, role: 'member' })).body.code,
    ).toBe('PERSONAL_WORKSPACE');
  });

  test('POST /api/v1/auth/organization/update-member-role: only an owner touches owners, and one always stays', async () => {
    const change = async (who: Somebody, of: Somebody, role: unknown) =>
      post(who, 'update-member-role', { organizationId, memberId: await memberId(of), role });
    expect((await change(member, admin, 'member')).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_MEMBER');
    expect((await change(admin, owner, 'member')).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_MEMBER');
    expect((await change(admin, member, 'owner')).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_MEMBER');
    expect((await change(owner, member, ' member')).body.code).toBe('ROLE_NOT_FOUND');
    expect((await change(owner, owner, 'admin')).body.code).toBe('YOU_CANNOT_LEAVE_THE_ORGANIZATION_WITHOUT_AN_OWNER');
    expect((await change(owner, admin, 'owner')).body).toMatchObject({ role: 'owner' });
    expect((await change(owner, owner, 'admin')).body).toMatchObject({ role: 'admin' });
    expect((await change(admin, owner, 'owner')).body).toMatchObject({ role: 'owner' });
    expect((await change(owner, admin, 'admin')).body).toMatchObject({ role: 'admin' });
    expect((await post(owner, 'update-member-role', { organizationId, memberId: crypto.randomUUID(), role: 'admin' })).body.code).toBe(
      'MEMBER_NOT_FOUND',
    );
  });

  test('POST /api/v1/auth/organization/remove-member ends memberships, teams and open invitations of the person', async () => {
    const remove = (who: Somebody, memberIdOrEmail: string) => post(who, 'remove-member', { organizationId, memberIdOrEmail });
    expect((await remove(member, await memberId(admin))).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_MEMBER');
    expect((await remove(admin, await memberId(owner))).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_MEMBER');
    expect((await remove(owner, await memberId(owner))).body.code).toBe('YOU_CANNOT_LEAVE_THE_ORGANIZATION_AS_THE_ONLY_OWNER');
    expect((await remove(owner, 'nobody@example.com')).body.code).toBe('MEMBER_NOT_FOUND');
    const team = (await post(owner, 'create-team', { organizationId, name: 'T' })).body.id;
    await post(owner, 'add-team-member', { organizationId, teamId: team, userId: extra.id });
    expect((await remove(admin, 'EXTRA@example.com')).body.member).toMatchObject({ userId: extra.id });
    const inTeam = await site.db.rows(sql('t')`select from team_members where user_id = ${extra.id}`);
    expect(inTeam).toEqual([]);
  });

  test('slugs, personal workspaces and teams keep their rules', async () => {
    const create = (slug: string) => post(owner, 'create', { name: 'X', slug });
    for (const slug of ['Upper', 'two--hyphens', '-a', 'a-', 'a b', 'ü', 'x'.repeat(256)])
      expect((await create(slug)).body.code).toBe('SLUG_INVALID');
    expect((await create('personal-x')).body.code).toBe('SLUG_RESERVED');
    expect((await create('personal')).status).toBe(200);
    expect((await post(owner, 'create', { name: '', slug: 'fine' })).body.code).toBe('VALIDATION_ERROR');
    expect((await post(owner, 'create', { name: 'X', slug: 'fine', type: 'club' })).body.code).toBe('VALIDATION_ERROR');
    expect((await post(owner, 'update', { organizationId, data: { slug: 'personal' } })).body.code).toBe('ORGANIZATION_SLUG_ALREADY_TAKEN');
    expect((await post(owner, 'update', { organizationId, data: { visibility: 'public' } })).body.visibility).toBe('public');
    expect((await post(owner, 'update', { organizationId, data: { visibility: 'private' } })).body.visibility).toBe('private');
    expect((await post(stranger, 'update', { organizationId, data: { name: 'x' } })).body.code).toBe(
      'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    );
    const own = owner.person.workspaceId;
    expect((await post(owner, 'update', { organizationId: own, data: { name: 'x' } })).body.code).toBe('PERSONAL_WORKSPACE');
    expect((await post(owner, 'delete', { organizationId: own })).body.code).toBe('PERSONAL_WORKSPACE');
    expect((await post(owner, 'leave', { organizationId: own })).body.code).toBe('PERSONAL_WORKSPACE');
    expect((await post(owner, 'create-team', { organizationId: own, name: 'x' })).body.code).toBe('PERSONAL_WORKSPACE');
    expect((await post(owner, 'invite-member', { organizationId: own, email: 'x@example.com', role: 'member' })).body.code).toBe(
      'PERSONAL_WORKSPACE',
    );
    expect((await post(stranger, 'leave', { organizationId: own })).body.code).toBe('MEMBER_NOT_FOUND');
    expect((await post(admin, 'delete', { organizationId })).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_ORGANIZATION');
    expect((await post(member, 'create-team', { organizationId, name: 'x' })).body.code).toBe(
      'YOU_ARE_NOT_ALLOWED_TO_CREATE_TEAMS_IN_THIS_ORGANIZATION',
    );
    expect((await post(owner, 'create-team', { organizationId, name: ' ' })).status).toBe(400);
    const team = (await post(owner, 'create-team', { organizationId, name: 'Seeds' })).body.id;
    expect((await post(member, 'remove-team', { organizationId, teamId: team })).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_TEAM');
    expect((await post(owner, 'add-team-member', { organizationId, teamId: team, userId: stranger.person.id })).body.code).toBe(
      'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    );
    expect(
      (await post(owner, 'add-team-member', { organizationId, teamId: site.cast.fieldTeam, userId: member.person.id })).body.code,
    ).toBe('TEAM_NOT_FOUND');
    expect((await post(owner, 'remove-team-member', { organizationId, teamId: team, userId: member.person.id })).body.code).toBe(
      'USER_IS_NOT_A_MEMBER_OF_THE_TEAM',
    );
  });

  test('invitations: roles, addresses, caps, and a promotion of who is in already', async () => {
    const inviting = (who: Somebody, body: object) =>
      post(who, 'invite-member', { organizationId, email: 'new@example.com', role: 'member', ...body });
    expect((await inviting(member, {})).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_INVITE_USERS_TO_THIS_ORGANIZATION');
    expect((await inviting(admin, { role: 'owner' })).body.code).toBe('YOU_ARE_NOT_ALLOWED_TO_INVITE_USER_WITH_THIS_ROLE');
    expect((await inviting(owner, { role: 'member ' })).body.code).toBe('ROLE_NOT_FOUND');
    for (const email of ['nonsense', 'a,b@example.com', `${'a'.repeat(65)}@example.com`])
      expect((await inviting(owner, { email })).body.code).toBe('INVALID_EMAIL');
    expect((await inviting(owner, { email: 'mia@example.com' })).body.code).toBe('USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION');
    expect((await inviting(owner, { teamId: 'nonsense' })).body.code).toBe('TEAM_NOT_FOUND');
    expect((await inviting(owner, { teamId: site.cast.fieldTeam })).body.code).toBe('TEAM_NOT_FOUND');
    // invited as an admin, then made a member on another way: accepting raises the role
    const { body: offer } = await inviting(owner, { email: 'sten@example.com', role: 'admin' });
    await post(owner, 'add-member', { organizationId, userId: stranger.person.id, role: 'member' });
    expect((await post(stranger, 'accept-invitation', { invitationId: offer.id })).body.member.role).toBe('admin');
    const { db } = site;
    await db.run(sql('t')`
      insert into organization_invitations (id, organization_id, email, role, inviter_id, expires_at)
      select gen_random_uuid(), ${organizationId}, 'p' || n || '@example.com', 'member', ${owner.person.id}, now() + interval '1 hour' from generate_series(1, 100) n`);
    expect((await inviting(owner, {})).body.code).toBe('INVITATION_LIMIT_REACHED');
    await db.run(sql('t')`update organization_invitations set expires_at = now() - interval '1 hour' where email like 'p%'`);
    expect((await inviting(owner, {})).status).toBe(200);
    // an expired invitation cannot be accepted
    await db.run(sql('t')`update organization_invitations set email = 'olga2@example.com' where email = 'p1@example.com'`);
    const late = await asPerson('olga2');
    const [{ id }] = (await db.rows<{ id: string }>(
      sql('t')`select id from organization_invitations where email = 'olga2@example.com'`,
    )) as [{ id: string }];
    expect((await post(late, 'accept-invitation', { invitationId: id })).body.code).toBe('INVITATION_NOT_FOUND');
    expect((await post(late, 'reject-invitation', { invitationId: id })).status).toBe(200);
  });
});
