import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RESOURCE_TYPES, TRANSFERABLE, type ResourceType } from '../../src/authorization/roles.ts';
import { sql } from '../../src/database/sql.ts';
import { grant, makePerson, type Person } from '../support/cast.ts';
import { makeOrganization, makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let husk: string;
let gone: Person;
let labTeam: string;
beforeAll(async () => {
  site = await startTestServer();
  const { db } = site;
  gone = await makePerson(db, 'gone');
  husk = await makeOrganization(db, { name: 'Husk', slug: 'husk', members: { [site.cast.member.id]: 'member' } });
  labTeam = crypto.randomUUID();
  await db.run(sql('t')`insert into teams (id, organization_id, name) values (${labTeam}, ${site.cast.leafLab}, 'Growth chamber')`);
  await db.run(
    sql(
      't',
    )`insert into team_members (id, team_id, organization_id, user_id) values (gen_random_uuid(), ${labTeam}, ${site.cast.leafLab}, ${site.cast.member.id})`,
  );
});
afterAll(() => site.stop());

const make = (type: ResourceType, more: object = {}) =>
  makeResource(site.db, type, { organizationId: site.cast.leafLab, createdBy: site.cast.owner.id, ...more });
const inHusk = (more: object = {}) => make('experiment', { organizationId: husk, ...more });
const at = ({ type, id }: { type: string; id: string }, rest: string) => `/api/v1/${type}/${id}/${rest}`;
const actions = async (id: string) =>
  (await site.db.rows<{ action: string }>(sql('t')`select action from audit_events where resource_id = ${id} order by at, id`)).map(
    ({ action }) => action,
  );

describe.each(RESOURCE_TYPES)('sharing of a %s', (type) => {
  test('GET /api/v1/{resourceType}/{id}/collaborators shows the four kinds, and an owner’s own grant as inert', async () => {
    const resource = await make(type);
    const { db } = site;
    await grant(db, resource, { user: site.cast.owner.id }, 'admin');
    await grant(db, resource, { user: site.cast.viewer.id }, 'viewer');
    await grant(db, resource, { user: site.cast.member.id }, 'admin');
    await grant(db, resource, { team: labTeam }, 'viewer');
    const answer = await site.as(site.cast.admin)('GET', at(resource, 'collaborators'));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-total-count')).toBe('5');
    const [owner, admins, ...grants] = answer.body;
    expect(owner).toEqual({
      kind: 'owner',
      granteeType: 'user',
      granteeId: site.cast.owner.id,
      organizationName: 'Leaf Lab',
      grantee: { type: 'user', displayName: 'Owner Tester', email: 'owner@example.com', avatarUrl: null, memberCount: null },
      inertGrant: { id: expect.any(String), role: 'admin' },
    });
    // the only plain member holds a grant, so there is no row for members
    expect(admins).toEqual({ kind: 'orgAdmins', organizationId: site.cast.leafLab, organizationName: 'Leaf Lab', adminCount: 1 });
    expect(grants).toMatchObject([
      {
        kind: 'grant',
        granteeType: 'team',
        granteeId: labTeam,
        role: 'viewer',
        isOutsideCollaborator: false,
        grantee: { displayName: 'Growth chamber', memberCount: 1 },
      },
      {
        kind: 'grant',
        granteeId: site.cast.member.id,
        role: 'admin',
        isOutsideCollaborator: false,
        owningOrganization: { id: site.cast.leafLab, role: 'member' },
      },
      {
        kind: 'grant',
        granteeId: site.cast.viewer.id,
        role: 'viewer',
        isOutsideCollaborator: true,
        owningOrganization: null,
        resourceType: type,
        resourceId: resource.id,
      },
    ]);
    const count = await db.one<{ count: number }>(
      sql('t')`select collaborators as count from collaborator_counts where resource_id = ${resource.id}`,
    );
    expect(count?.count).toBe(5);
    const paged = await site.as(site.cast.admin)('GET', at(resource, 'collaborators'), { query: { page: 2, pageSize: 2 } });
    expect(paged.body).toEqual(answer.body.slice(2, 4));
    expect((await site.as(site.cast.viewer)('GET', at(resource, 'collaborators'))).status).toBe(403);
    expect((await site.as(site.cast.stranger)('GET', at(resource, 'collaborators'))).status).toBe(403);
    expect((await site.as(null)('GET', at(resource, 'collaborators'))).status).toBe(401);
    expect((await site.as(site.cast.owner)('GET', at({ type, id: 'nonsense' }, 'collaborators'))).body.code).toBe('INVALID_ID');
    expect((await site.as(site.cast.owner)('GET', at({ type, id: crypto.randomUUID() }, 'collaborators'))).status).toBe(404);
  });

  test('POST, PATCH and DELETE of a collaborator: what is given can be used, changed and taken away, and each is an event', async () => {
    const resource = await make(type);
    const [call, theirs] = [site.as(site.cast.owner), site.as(site.cast.stranger)];
    expect((await theirs('GET', at(resource, 'collaborators'))).status).toBe(403);
    const body = { granteeType: 'user', granteeId: site.cast.stranger.id };
    const shared = await call('POST', at(resource, 'collaborators'), { body });
    expect(shared).toMatchObject({
      status: 201,
      body: [{ kind: 'owner' }, { kind: 'orgAdmins' }, { kind: 'orgMembers' }, { role: 'viewer' }],
    });
    const grantId = shared.body[3].id as string;
    expect((await theirs('GET', at(resource, 'collaborators'))).status).toBe(403);
    const raised = await call('PATCH', at(resource, `collaborators/${grantId}`), { body: { role: 'owner' } });
    expect(raised.body[3]).toMatchObject({ id: grantId, role: 'owner' });
    expect((await theirs('GET', at(resource, 'collaborators'))).status).toBe(200);
    // naming the grantee again changes the role of the grant that is there
    expect((await call('POST', at(resource, 'collaborators'), { body: { ...body, role: 'admin' } })).body[3]).toMatchObject({
      id: grantId,
      role: 'admin',
    });
    expect((await call('PATCH', at(resource, `collaborators/${grantId}`), { body: { role: 'member' } })).status).toBe(400);
    expect((await call('PATCH', at(resource, `collaborators/${crypto.randomUUID()}`), { body: { role: 'viewer' } })).body.code).toBe(
      'GRANT_NOT_FOUND',
    );
    const other = await make(type);
    expect((await call('PATCH', at(other, `collaborators/${grantId}`), { body: { role: 'viewer' } })).body.code).toBe('GRANT_NOT_FOUND');
    expect((await call('DELETE', at(other, `collaborators/${grantId}`))).body.code).toBe('GRANT_NOT_FOUND');
    expect(await call('DELETE', at(resource, `collaborators/${grantId}`))).toMatchObject({ status: 200, body: null });
    expect((await theirs('GET', at(resource, 'collaborators'))).status).toBe(403);
    expect((await call('DELETE', at(resource, `collaborators/${grantId}`))).status).toBe(404);
    expect(await actions(resource.id)).toEqual(['grant.created', 'grant.updated', 'grant.updated', 'grant.deleted']);
  });

  test('DELETE /api/v1/{resourceType}/{id}/collaborators/me gives up one’s own grant, and is 404 for all who hold none', async () => {
    const resource = await make(type);
    await grant(site.db, resource, { user: site.cast.viewer.id }, 'viewer');
    expect(await site.as(site.cast.viewer)('DELETE', at(resource, 'collaborators/me'))).toMatchObject({ status: 200, body: null });
    for (const person of [site.cast.viewer, site.cast.owner, site.cast.stranger])
      expect((await site.as(person)('DELETE', at(resource, 'collaborators/me'))).body.code).toBe('GRANT_NOT_FOUND');
    expect((await site.as(site.cast.viewer)('DELETE', at({ type, id: crypto.randomUUID() }, 'collaborators/me'))).body.code).toBe(
      'GRANT_NOT_FOUND',
    );
    expect((await site.as(site.cast.viewer)('DELETE', at({ type: 'parcel', id: resource.id }, 'collaborators/me'))).body.code).toBe(
      'UNKNOWN_RESOURCE_TYPE',
    );
    expect((await site.as(null)('DELETE', at(resource, 'collaborators/me'))).status).toBe(401);
  });

  test('POST /api/v1/{resourceType}/{id}/transfer moves what can be moved', async () => {
    const resource = await make(type);
    const { db } = site;
    await grant(db, resource, { team: labTeam }, 'admin');
    await grant(db, resource, { user: site.cast.viewer.id }, 'viewer');
    const away = { body: { targetOrganizationId: site.cast.admin.workspaceId } };
    if (!TRANSFERABLE[type]) {
      // whoever asks, and whether or not there is such a one
      for (const person of [site.cast.admin, site.cast.viewer, site.cast.stranger])
        for (const asked of [resource, { ...resource, id: randomUUID() }])
          expect(await site.as(person)('POST', at(asked, 'transfer'), away)).toMatchObject({
            status: 400,
            body: { code: 'NOT_TRANSFERABLE' },
          });
      return;
    }
    expect((await site.as(site.cast.viewer)('POST', at(resource, 'transfer'), away)).body.code).toBe('ACTION_DENIED');
    const moved = await site.as(site.cast.admin)('POST', at(resource, 'transfer'), away);
    expect(moved).toMatchObject({
      status: 200,
      body: { resourceType: type, resourceId: resource.id, organizationId: site.cast.admin.workspaceId },
    });
    const left = await site.as(site.cast.admin)('GET', at(resource, 'collaborators'));
    expect(left.body).toMatchObject([
      { kind: 'owner', granteeId: site.cast.admin.id },
      { kind: 'grant', granteeId: site.cast.viewer.id },
    ]);
    expect((await site.as(site.cast.owner)('GET', at(resource, 'collaborators'))).status).toBe(403);
    expect((await site.as(site.cast.admin)('POST', at(resource, 'transfer'), away)).body.code).toBe('ALREADY_THERE');
  });

  test('GET /api/v1/{resourceType}/{id}/grantee-teams and grantee-users', async () => {
    const resource = await make(type);
    await grant(site.db, resource, { user: site.cast.viewer.id }, 'viewer');
    const teams = await site.as(site.cast.owner)('GET', at(resource, 'grantee-teams'));
    expect(teams.body).toEqual([{ id: labTeam, name: 'Growth chamber', organizationId: site.cast.leafLab, memberCount: 1 }]);
    expect((await site.as(site.cast.stranger)('GET', at(resource, 'grantee-teams'))).status).toBe(403);
    const users = (query: string) => site.as(site.cast.owner)('GET', at(resource, 'grantee-users'), { query: { query, limit: 5 } });
    expect((await users('viewer')).body[0]).toEqual({
      userId: site.cast.viewer.id,
      firstName: 'Viewer',
      lastName: 'Tester',
      email: 'viewer@example.com',
      avatarUrl: null,
      organizationRole: null,
      existingGrantRole: 'viewer',
    });
    expect((await users('Member')).body[0]).toMatchObject({
      userId: site.cast.member.id,
      organizationRole: 'member',
      existingGrantRole: null,
    });
    // an address is shown to who knows all of it, or knows the person
    expect((await users('strang')).body[0]).toMatchObject({ userId: site.cast.stranger.id, email: null });
    expect((await users('Stranger@example.com')).body[0]).toMatchObject({ userId: site.cast.stranger.id, email: 'stranger@example.com' });
    // whose name is like an address is not who has it, and a part of an address finds only people that one knows
    expect((await users('stranger@elsewhere.example')).body).toEqual([]);
    const byPart = (await users('@example.com')).body.map(({ userId }: { userId: string }) => userId);
    expect(byPart).toContain(site.cast.member.id);
    expect(byPart).not.toContain(site.cast.stranger.id);
    const colleagues = (await users('')).body.map(({ userId }: { userId: string }) => userId);
    expect(colleagues).toContain(site.cast.member.id);
    expect(colleagues).not.toContain(site.cast.stranger.id);
    expect((await site.as(site.cast.viewer)('GET', at(resource, 'grantee-users'))).status).toBe(403);
    expect((await site.as(site.cast.owner)('GET', at(resource, 'grantee-users'), { query: { limit: 51 } })).status).toBe(400);
  });
});

test('only who may be named can be named', async () => {
  const resource = await make('experiment');
  const { db } = site;
  const call = site.as(site.cast.owner);
  const share = (granteeType: string, granteeId: string) =>
    call('POST', at(resource, 'collaborators'), { body: { granteeType, granteeId } });
  expect((await share('team', labTeam)).status).toBe(201);
  expect((await share('organization', site.cast.leafLab)).status).toBe(201);
  const idle = await makePerson(db, 'idle');
  expect((await share('user', idle.id)).status).toBe(201);
  await db.run(sql('t')`update profiles set activated = false where user_id = ${idle.id}`);
  const other = await make('experiment');
  const refused = { status: 400, body: { code: 'GRANTEE_NOT_FOUND' } };
  expect(await call('POST', at(other, 'collaborators'), { body: { granteeType: 'user', granteeId: idle.id } })).toMatchObject(refused);
  expect(await share('user', crypto.randomUUID())).toMatchObject(refused);
  expect(await share('team', site.cast.fieldTeam)).toMatchObject({ ...refused, text: expect.stringContaining('move it there first') }); // of another organization
  expect(await share('organization', husk)).toMatchObject(refused); // not the sharer's
  expect(await share('organization', site.cast.owner.workspaceId)).toMatchObject(refused); // a personal workspace
  expect((await share('group', labTeam)).status).toBe(400);
  expect((await share('user', 'nonsense')).status).toBe(400);
});

test('an archived experiment takes no change of its grants, but can be left, transferred and handed over', async () => {
  const resource = await make('experiment', { status: 'archived' });
  const { db } = site;
  await grant(db, resource, { user: site.cast.viewer.id }, 'viewer');
  const call = site.as(site.cast.owner);
  const [, , , { id: grantId }] = (await call('GET', at(resource, 'collaborators'))).body;
  const body = { granteeType: 'user', granteeId: site.cast.stranger.id };
  const archived = { status: 409, body: { code: 'EXPERIMENT_ARCHIVED' } };
  expect(await call('POST', at(resource, 'collaborators'), { body })).toMatchObject(archived);
  expect(await call('PATCH', at(resource, `collaborators/${grantId}`), { body: { role: 'admin' } })).toMatchObject(archived);
  expect(await call('DELETE', at(resource, `collaborators/${grantId}`))).toMatchObject(archived);
  expect((await site.as(site.cast.viewer)('DELETE', at(resource, 'collaborators/me'))).status).toBe(200);
  const moved = await call('POST', at(resource, 'transfer'), { body: { targetOrganizationId: site.cast.owner.workspaceId } });
  expect(moved.status).toBe(200);
  const handed = await call('POST', '/api/v1/collaborators/transfer-admin', {
    body: { transfers: [{ resourceType: 'experiment', resourceId: resource.id, targetUserId: site.cast.viewer.id }] },
  });
  expect(handed.body.results).toMatchObject([{ success: true }]);
});

test('the last person who answers for a resource cannot be lowered or removed', async () => {
  const { db } = site;
  const resource = await inHusk();
  await grant(db, resource, { user: site.cast.stranger.id }, 'admin');
  const call = site.as(site.cast.stranger);
  const list = (await call('GET', at(resource, 'collaborators'))).body;
  expect(list.map(({ kind }: { kind: string }) => kind)).toEqual(['orgMembers', 'grant']);
  const own = list[1].id as string;
  const last = { status: 409, body: { code: 'LAST_ADMIN' } };
  expect(await call('PATCH', at(resource, `collaborators/${own}`), { body: { role: 'viewer' } })).toMatchObject(last);
  expect(
    await call('POST', at(resource, 'collaborators'), { body: { granteeType: 'user', granteeId: site.cast.stranger.id, role: 'viewer' } }),
  ).toMatchObject(last);
  expect(await call('DELETE', at(resource, `collaborators/${own}`))).toMatchObject(last);
  expect(await call('DELETE', at(resource, 'collaborators/me'))).toMatchObject(last);
  // a team does not answer for anything, a person does
  await db.run(
    sql(
      't',
    )`insert into grants (id, resource_id, resource_type, team_id, role) values (gen_random_uuid(), ${resource.id}, 'experiment', ${labTeam}, 'admin')`,
  );
  expect(await call('DELETE', at(resource, 'collaborators/me'))).toMatchObject(last);
  await call('POST', at(resource, 'collaborators'), { body: { granteeType: 'user', granteeId: site.cast.viewer.id, role: 'admin' } });
  await db.run(sql('t')`update profiles set activated = false where user_id = ${site.cast.viewer.id}`);
  expect(await call('DELETE', at(resource, 'collaborators/me'))).toMatchObject(last);
  await db.run(sql('t')`update profiles set activated = true where user_id = ${site.cast.viewer.id}`);
  expect((await call('DELETE', at(resource, 'collaborators/me'))).status).toBe(200);
});

test('transfer-admin hands over only what keeps the caller from leaving', async () => {
  const { db } = site;
  const own = await make('protocol', { organizationId: site.cast.stranger.workspaceId, createdBy: site.cast.stranger.id });
  const lab = await make('macro');
  const call = site.as(site.cast.stranger);
  const item = (resource: { type: string; id: string }, targetUserId: string) => ({
    resourceType: resource.type,
    resourceId: resource.id,
    targetUserId,
  });
  await grant(db, lab, { user: site.cast.stranger.id }, 'admin');
  const answer = await call('POST', '/api/v1/collaborators/transfer-admin', {
    body: {
      transfers: [
        item(own, crypto.randomUUID()),
        item(lab, site.cast.viewer.id),
        item(own, site.cast.viewer.id),
        item(own, site.cast.viewer.id),
        item({ type: 'device', id: crypto.randomUUID() }, site.cast.viewer.id),
        item(await make('device'), site.cast.viewer.id),
      ],
    },
  });
  expect(answer.status).toBe(200);
  expect(answer.body.results.map(({ success }: { success: boolean }) => success)).toEqual([false, false, true, true, false, false]);
  // what is missing and what is denied read the same
  expect(answer.body.results[4].error).toBe(answer.body.results[5].error);
  expect((await site.as(site.cast.viewer)('GET', at(own, 'collaborators'))).status).toBe(200);
  expect((await call('POST', '/api/v1/collaborators/transfer-admin', { body: { transfers: [] } })).status).toBe(400);
  expect((await site.as(null)('POST', '/api/v1/collaborators/transfer-admin', { body: { transfers: [] } })).status).toBe(401);
});

test('a resource leaves an organization by its owners and admins, or when they are all gone', async () => {
  const { db } = site;
  const lab = await make('workbook');
  await grant(db, lab, { user: site.cast.stranger.id }, 'admin');
  const home = { body: { targetOrganizationId: site.cast.stranger.workspaceId } };
  expect((await site.as(site.cast.stranger)('POST', at(lab, 'transfer'), home)).body.code).toBe('TRANSFER_DENIED');
  expect((await site.as(site.cast.owner)('POST', at(lab, 'transfer'), home)).body.code).toBe('NOT_A_MEMBER');
  const orphan = await inHusk();
  await grant(db, orphan, { user: site.cast.stranger.id }, 'admin');
  expect((await site.as(site.cast.stranger)('POST', at(orphan, 'transfer'), home)).status).toBe(200);
  // a member of the target who is no admin there gets a grant, so that somebody answers
  const brought = await make('macro', { organizationId: site.cast.member.workspaceId, createdBy: site.cast.member.id });
  expect(
    (await site.as(site.cast.member)('POST', at(brought, 'transfer'), { body: { targetOrganizationId: site.cast.leafLab } })).status,
  ).toBe(200);
  expect((await site.as(site.cast.member)('GET', at(brought, 'collaborators'))).status).toBe(200);
  expect((await site.as(site.cast.owner)('POST', at(lab, 'transfer'), { body: { targetOrganizationId: 'nonsense' } })).status).toBe(400);
});

test('GET /api/v1/grantee-organizations lists one’s own', async () => {
  const answer = await site.as(site.cast.owner)('GET', '/api/v1/grantee-organizations', { query: { query: 'LEAF' } });
  expect(answer.body).toEqual([{ id: site.cast.leafLab, name: 'Leaf Lab', slug: 'leaf-lab' }]);
  expect((await site.as(gone)('GET', '/api/v1/grantee-organizations')).body).toEqual([]);
  expect((await site.as(site.cast.owner)('GET', '/api/v1/grantee-organizations', { query: { limit: 0 } })).status).toBe(400);
  expect((await site.as(null)('GET', '/api/v1/grantee-organizations')).status).toBe(401);
});

test('an unknown resource type is 400, after 401', async () => {
  const id = crypto.randomUUID();
  expect((await site.as(site.cast.owner)('GET', `/api/v1/experiments/${id}/collaborators`)).body.code).toBe('UNKNOWN_RESOURCE_TYPE');
  expect((await site.as(null)('GET', `/api/v1/parcel/${id}/collaborators`)).status).toBe(401);
});
