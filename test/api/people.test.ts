import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiKey } from '../../src/api/credentials/credentials.service.ts';
import { sql } from '../../src/database/sql.ts';
import { signIn } from '../support/browser.ts';
import { grant, makePerson } from '../support/cast.ts';
import { makeOrganization, makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { countWaiting } from '../support/waiting.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

describe('finding people', () => {
  test('GET /api/v1/users/search finds by name, and by the whole of an address', async () => {
    const search = (query: string, more: object = {}) =>
      site.as(site.cast.owner)('GET', '/api/v1/users/search', { query: { query, ...more } });
    expect((await search('admin test')).body[0]).toEqual({
      userId: site.cast.admin.id,
      firstName: 'Admin',
      lastName: 'Tester',
      bio: null,
      activated: true,
      email: 'admin@example.com',
      avatarUrl: null,
    });
    expect((await search('Strager')).body[0]).toMatchObject({ userId: site.cast.stranger.id, email: null });
    expect((await search('stranger@example.com')).body).toMatchObject([{ userId: site.cast.stranger.id, email: 'stranger@example.com' }]);
    // a part of an address finds colleagues only
    expect((await search('stranger@exam')).body).toEqual([]);
    expect((await search('member@exam')).body).toMatchObject([{ userId: site.cast.member.id }]);
    expect((await search('tester', { limit: 2, offset: 1 })).body).toHaveLength(2);
    expect((await search('tester', { limit: 101 })).status).toBe(400);
    const colleagues = await site.as(site.cast.owner)('GET', '/api/v1/users/search');
    expect(colleagues.body.map(({ firstName }: { firstName: string }) => firstName)).toEqual(['Admin', 'Member', 'Owner']);
    expect((await site.as(null)('GET', '/api/v1/users/search')).status).toBe(401);
  });

  test('GET /api/v1/users/{id} shows the address to oneself and to who shares something', async () => {
    const get = (person: typeof site.cast.owner | null, id: string) => site.as(person)('GET', `/api/v1/users/${id}`);
    expect((await get(site.cast.viewer, site.cast.viewer.id)).body).toEqual({
      id: site.cast.viewer.id,
      name: 'Viewer Tester',
      email: 'viewer@example.com',
      emailVerified: true,
      image: null,
      createdAt: expect.stringMatching(/Z$/),
      registered: true,
    });
    expect((await get(site.cast.owner, site.cast.viewer.id)).body.email).toBeNull();
    const shared = await makeResource(site.db, 'workbook', {
      organizationId: site.cast.leafLab,
      createdBy: site.cast.owner.id,
    });
    await grant(site.db, shared, { user: site.cast.viewer.id }, 'viewer');
    expect((await get(site.cast.owner, site.cast.viewer.id)).body.email).toBe('viewer@example.com');
    expect((await get(site.cast.viewer, site.cast.owner.id)).body.email).toBe('owner@example.com');
    expect((await get(site.cast.stranger, site.cast.owner.id)).body.email).toBeNull();
    expect((await get(site.cast.owner, crypto.randomUUID())).body.code).toBe('USER_NOT_FOUND');
    expect((await get(site.cast.owner, 'nonsense')).body.code).toBe('INVALID_ID');
    expect((await get(null, site.cast.owner.id)).status).toBe(401);
  });

  test('POST /api/v1/users/metadata names everybody whose id is given', async () => {
    const answer = await site.as(site.cast.stranger)('POST', '/api/v1/users/metadata', {
      body: { userIds: [site.cast.owner.id.toUpperCase(), 'nonsense', crypto.randomUUID(), site.cast.owner.id] },
    });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      users: [{ userId: site.cast.owner.id, firstName: 'Owner', lastName: 'Tester', avatarUrl: null }],
      success: true,
    });
    expect((await site.as(site.cast.owner)('POST', '/api/v1/users/metadata', { body: { userIds: [] } })).status).toBe(400);
    expect((await site.as(null)('POST', '/api/v1/users/metadata', { body: { userIds: ['x'] } })).status).toBe(401);
  });
});

describe('profiles', () => {
  test('POST /api/v1/users/profile writes what is given, names the workspace once, and can hide the person', async () => {
    const { db } = site;
    const rosa = await makePerson(db, 'rosa');
    const call = site.as(rosa);
    await db.run(sql('t')`delete from profiles where user_id = ${rosa.id}`);
    expect((await call('GET', `/api/v1/users/${rosa.id}/profile`)).body.code).toBe('USER_NOT_FOUND');
    const first = { body: { firstName: ' Rosa ', lastName: 'Field', bio: 'Roots' }, headers: { 'idempotency-key': 'rosa' } };
    const made = await call('POST', '/api/v1/users/profile', first);
    expect(made).toMatchObject({ status: 201, text: '{}' });
    expect(await call('POST', '/api/v1/users/profile', first)).toMatchObject({ status: 201, text: '{}' });
    expect((await call('GET', '/api/v1/users/me/organizations')).body[0].name).toBe("Rosa Field's workspace");
    const again = { firstName: 'Rosalind', lastName: 'Field', avatarUrl: 'https://example.com/r.png' };
    expect((await call('POST', '/api/v1/users/profile', { body: again })).status).toBe(201);
    expect((await call('GET', '/api/v1/users/me/organizations')).body[0].name).toBe("Rosa Field's workspace");
    const seen = await site.as(site.cast.stranger)('GET', `/api/v1/users/${rosa.id}/profile`);
    for (const path of [`/api/v1/users/${rosa.id}`, `/api/v1/users/${rosa.id}/profile`]) {
      const read = await call('GET', path);
      const known = async () => (await call('GET', path, { headers: { 'if-none-match': read.headers.get('etag')! } })).status;
      expect([path, read.status, await known()]).toEqual([path, 200, 304]);
    }
    expect(seen.body).toEqual({ ...again, bio: 'Roots', activated: true });
    const browser = await signIn(site, 'rosa@example.com');
    expect((await browser.call('GET', '/api/v1/users/me/organizations')).status).toBe(200);
    await call('POST', '/api/v1/users/profile', { body: { ...again, activated: false } });
    expect((await browser.call('GET', '/api/v1/users/me/organizations')).status).toBe(401);
    const hidden = await site.as(site.cast.stranger)('GET', `/api/v1/users/${rosa.id}/profile`);
    expect(hidden.body).toEqual({ firstName: 'Unknown', lastName: 'User', bio: null, activated: false, avatarUrl: null });
    expect((await site.as(site.cast.stranger)('GET', '/api/v1/users/search', { query: { query: 'rosalind' } })).body).toEqual([]);
    expect((await site.as(site.cast.stranger)('GET', `/api/v1/users/${rosa.id}`)).body).toMatchObject({
      name: 'Unknown User',
      email: null,
    });
  });

  test('refuses what does not fit', async () => {
    const write = (body: object) => site.as(site.cast.stranger)('POST', '/api/v1/users/profile', { body });
    expect((await write({ firstName: 'Stranger', lastName: 'T' })).status).toBe(201);
    for (const body of [
      { firstName: 'Stranger', lastName: '' },
      { firstName: 'Stranger', lastName: ' ' },
      { firstName: 'S', lastName: 'Tester' },
      { firstName: '   ', lastName: 'Tester' },
      { firstName: 'x'.repeat(101), lastName: 'Tester' },
      { firstName: 'Stranger' },
      { firstName: 'Stranger', lastName: 'Tester', avatarUrl: 'javascript:alert(1)' },
      { firstName: 'Stranger', lastName: 'Tester', avatarUrl: `https://${'x'.repeat(500)}` },
    ])
      expect((await write(body)).status).toBe(400);
    expect((await site.as(null)('POST', '/api/v1/users/profile', { body: {} })).status).toBe(401);
    expect((await site.as(site.cast.owner)('GET', `/api/v1/users/${crypto.randomUUID()}/profile`)).status).toBe(404);
  });
});

describe('closing an account', () => {
  test('is refused with its blockers and candidates while something would be left alone, and changes nothing', async () => {
    const { db } = site;
    const [lena, kim] = [await makePerson(db, 'lena'), await makePerson(db, 'kim')];
    const own = await makeResource(db, 'experiment', { organizationId: lena.workspaceId, createdBy: lena.id, name: 'Mine' });
    await grant(db, own, { user: kim.id }, 'viewer');
    const lab = await makeOrganization(db, { name: 'Lena Lab', slug: 'lena-lab', members: { [lena.id]: 'owner', [kim.id]: 'admin' } });
    const elsewhere = await makeResource(db, 'macro', { organizationId: site.cast.leafLab, createdBy: lena.id });
    await grant(db, elsewhere, { user: lena.id }, 'admin');
    const call = site.as(lena);
    const blockers = {
      resources: [
        {
          resourceType: 'experiment',
          id: own.id,
          name: 'Mine',
          status: 'active',
          candidates: [{ userId: kim.id, firstName: 'Kim', lastName: 'Tester', avatarUrl: null }],
        },
      ],
      organizations: [{ id: lab, name: 'Lena Lab', slug: 'lena-lab' }],
    };
    expect((await call('GET', `/api/v1/users/${lena.id}/deletion-blockers`)).body).toEqual(blockers);
    for (const query of [{}, { deleteOwned: 'true' }] as Record<string, string>[])
      expect(await call('DELETE', `/api/v1/users/${lena.id}`, { query })).toMatchObject({
        status: 409,
        body: { code: 'ACCOUNT_BLOCKED', ...blockers },
      });
    expect((await call('GET', `/api/v1/macro/${elsewhere.id}/collaborators`)).status).toBe(200);
    expect((await call('GET', `/api/v1/experiments/${own.id}`)).status).toBe(200);
    // nobody closes another's account, nor learns what blocks it
    for (const [method, path] of [
      ['DELETE', ''],
      ['GET', '/deletion-blockers'],
    ] as const) {
      expect((await site.as(kim)(method, `/api/v1/users/${lena.id}${path}`)).body.code).toBe('NOT_YOUR_ACCOUNT');
      expect((await site.as(kim)(method, `/api/v1/users/${crypto.randomUUID()}${path}`)).body.code).toBe('NOT_YOUR_ACCOUNT');
      expect((await site.as(null)(method, `/api/v1/users/${lena.id}${path}`)).status).toBe(401);
    }
    // handing both over opens the way
    await call('POST', '/api/v1/collaborators/transfer-admin', {
      body: { transfers: [{ resourceType: 'experiment', resourceId: own.id, targetUserId: kim.id }] },
    });
    await db.run(sql('t')`update organization_members set role = 'owner' where organization_id = ${lab} and user_id = ${kim.id}`);
    expect((await call('GET', `/api/v1/users/${lena.id}/deletion-blockers`)).body).toEqual({ resources: [], organizations: [] });
    expect(await call('DELETE', `/api/v1/users/${lena.id}`)).toMatchObject({ status: 200, body: null });
    expect((await call('GET', '/api/v1/experiments')).status).toBe(401);
    expect((await site.as(kim)('GET', `/api/v1/experiments/${own.id}`)).body).toMatchObject({
      createdBy: lena.id,
      ownerFirstName: 'Deleted',
      ownerLastName: 'User',
    });
  });

  test('erases the person everywhere; with deleteOwned, what only they could reach goes too', async () => {
    const { db } = site;
    const nora = await makePerson(db, 'nora-secret');
    const address = 'nora-secret@example.com';
    const browser = await signIn(site, address);
    const call = site.as(nora);
    const own = (await call('POST', '/api/v1/experiments', { body: { name: 'Only mine' } })).body.id;
    const macro = await makeResource(db, 'macro', { organizationId: nora.workspaceId, createdBy: nora.id });
    const theirs = await makeResource(db, 'experiment', { organizationId: site.cast.leafLab, createdBy: site.cast.owner.id });
    // an answer that is kept for a repeated call shows the address
    await site.as(site.cast.owner)('POST', `/api/v1/experiment/${theirs.id}/collaborators`, {
      body: { granteeType: 'user', granteeId: nora.id, role: 'admin' },
      headers: { 'idempotency-key': 'share-with-nora' },
    });
    const open = await makeOrganization(db, {
      name: 'Open',
      slug: 'open-to-nora',
      visibility: 'public',
      members: { [site.cast.owner.id]: 'owner' },
    });
    await call('POST', `/api/v1/organizations/${open}/join-requests`, { body: { message: `I am ${address}` } });
    await db.run(sql('t')`insert into organization_invitations (id, organization_id, email, role, inviter_id, expires_at)
      values (gen_random_uuid(), ${open}, ${address}, 'member', ${site.cast.owner.id}, now() + interval '1 day')`);
    await db.run(sql('t')`insert into invitations (id, resource_type, resource_id, email, invited_by, expires_at)
      values (gen_random_uuid(), 'experiment', ${theirs.id}, ${address}, ${site.cast.owner.id}, now() + interval '1 day')`);
    const holds = () =>
      db.rows<{ table: string }>(sql('t')`
        select c.table_name as "table" from information_schema.tables c
        where c.table_schema in ('public', 'pgboss') and c.table_type = 'BASE TABLE'
          and query_to_xml(format('select 1 from %I.%I t where position(''nora-secret'' in t::text) > 0 limit 1', c.table_schema, c.table_name), false, true, '')::text like '%row%'`);
    expect((await holds()).map(({ table }) => table)).toEqual(
      expect.arrayContaining(['users', 'organization_invitations', 'invitations', 'idempotency_keys', 'organization_join_requests']),
    );
    expect((await call('DELETE', `/api/v1/users/${nora.id}`)).body.code).toBe('ACCOUNT_BLOCKED');
    expect((await call('DELETE', `/api/v1/users/${nora.id}`, { query: { deleteOwned: 'true' } })).status).toBe(200);
    expect((await holds()).map(({ table }) => table)).toEqual([]);
    expect((await browser.call('GET', '/api/v1/experiments')).status).toBe(401);
    expect((await call('GET', '/api/v1/experiments')).status).toBe(401);
    expect(await db.rows(sql('t')`select id from resources where id = any (${[own, macro.id]}::uuid[])`)).toEqual([]);
    expect(await db.rows(sql('t')`select id from erasures where experiment_id = ${own}`)).toHaveLength(1);
    expect(await db.rows(sql('t')`select id from grants where user_id = ${nora.id}`)).toEqual([]);
    expect((await site.as(site.cast.owner)('POST', '/api/v1/users/metadata', { body: { userIds: [nora.id] } })).body.users).toEqual([
      { userId: nora.id, firstName: 'Deleted', lastName: 'User', avatarUrl: null },
    ]);
    expect((await site.as(site.cast.owner)('GET', `/api/v1/users/${nora.id}/profile`)).body).toMatchObject({
      firstName: 'Deleted',
      activated: false,
    });
    expect((await site.as(site.cast.owner)('GET', `/api/v1/organizations/${open}/join-requests`)).body).toMatchObject([
      { status: 'cancelled', message: null, user: { firstName: 'Deleted', email: null } },
    ]);
    // the address is free again
    expect((await makePerson(db, 'nora-secret')).id).not.toBe(nora.id);
  });

  test('waits for a version that If-Match names', async () => {
    const iris = await makePerson(site.db, 'iris');
    const call = site.as(iris);
    const path = `/api/v1/users/${iris.id}`;
    const seen = (await call('GET', path)).headers.get('etag')!;
    await call('POST', '/api/v1/users/profile', { body: { firstName: 'Iris', lastName: 'Changed' } });
    expect(await call('DELETE', path, { headers: { 'if-match': seen } })).toMatchObject({
      status: 412,
      body: { code: 'PRECONDITION_FAILED' },
    });
    const now = (await call('GET', path)).headers.get('etag')!;
    expect((await call('DELETE', path, { headers: { 'if-match': now } })).status).toBe(200);
  });

  test('leaves nobody behind in the count of collaborators', async () => {
    const [owner, heir] = [await makePerson(site.db, 'counted'), await makePerson(site.db, 'heir')];
    const shared = await makeResource(site.db, 'experiment', { organizationId: owner.workspaceId, createdBy: owner.id });
    await grant(site.db, shared, { user: heir.id }, 'admin');
    const counts = async () => [
      (await site.as(heir)('GET', `/api/v1/experiments/${shared.id}`)).body.membersCount,
      (await site.as(heir)('GET', `/api/v1/experiment/${shared.id}/collaborators`)).body.length,
    ];
    expect(await counts()).toEqual([2, 2]);
    expect((await site.as(owner)('DELETE', `/api/v1/users/${owner.id}`)).status).toBe(200);
    expect(await counts()).toEqual([1, 1]);
  });

  test('takes no more measurements from the person, whatever they were given before to send with', async () => {
    const [owner, heir] = [await makePerson(site.db, 'sending'), await makePerson(site.db, 'receiving')];
    const shared = await makeResource(site.db, 'experiment', { organizationId: owner.workspaceId, createdBy: owner.id });
    await grant(site.db, shared, { user: heir.id }, 'admin');
    const urlFor = async () =>
      (await site.as(owner)('POST', '/api/v1/iot/upload-url', { body: { experimentId: shared.id } })).body.uploadUrl as string;
    const [before, after] = [await urlFor(), await urlFor()];
    const put = async (url: string, minute: number) =>
      (await fetch(url, { method: 'PUT', body: JSON.stringify({ timestamp: `2026-05-01T10:0${minute}:00Z`, sample: { a: 1 } }) })).status;
    const became = () => site.db.rows(sql('t')`select status, reasons from messages where experiment_id = ${shared.id} order by ordinal`);
    expect(await put(before, 1)).toBe(200);
    const stored = { status: 'stored', reasons: {} };
    await expect.poll(became, { timeout: 20_000 }).toEqual([stored]);
    expect((await site.as(owner)('DELETE', `/api/v1/users/${owner.id}`)).status).toBe(200);
    expect(await put(after, 2)).toBe(200);
    await expect.poll(became, { timeout: 20_000 }).toEqual([stored, { status: 'quarantined', reasons: { 'experiment-denied': 1 } }]);
  });

  test('two who alone answer for something do not both leave it at the same moment', async () => {
    const [owner, helper] = [await makePerson(site.db, 'leaving'), await makePerson(site.db, 'helping')];
    const shared = await makeResource(site.db, 'workbook', { organizationId: owner.workspaceId, createdBy: owner.id });
    await grant(site.db, shared, { user: helper.id }, 'admin');
    const people = [owner, helper];
    const late = await Promise.all(people.map(({ id }) => createApiKey(site.db, { userId: id, name: 'late', rateLimit: 10 })));
    const ids = late.map(({ id }) => id);
    let closings: Promise<{ status: number; body: any }[]> | undefined;
    // what both of them delete after they have been checked is held until both are there
    await site.db.transaction(async (tx) => {
      await tx.run(sql('t')`select from api_keys where id = any (${ids}::uuid[]) for update`);
      closings = Promise.all(people.map((person) => site.as(person)('DELETE', `/api/v1/users/${person.id}`)));
      await expect.poll(() => countWaiting(site.db)).toBe(2);
    });
    const [closed, refused] = (await closings!).toSorted((one, other) => one.status - other.status);
    expect([closed!.status, refused!.status]).toEqual([200, 409]);
    expect(refused!.body).toMatchObject({ code: 'ACCOUNT_BLOCKED', resources: [{ id: shared.id }] });
  });

  test('a device that goes with the account takes its certificates along; one that was registered anew keeps its own', async () => {
    const context = await site.context();
    const [gus, ida] = [await makePerson(context.db, 'gus'), await makePerson(context.db, 'ida')];
    const register = async (person: typeof gus, serialNumber: string) => {
      const made = await site.as(person)('POST', '/api/v1/devices', { body: { serialNumber, deviceType: 'multispeq' } });
      expect(made.status).toBe(201);
      return made.body as { id: string; thingName: string };
    };
    const issue = async (person: typeof gus, id: string) =>
      (await site.as(person)('POST', `/api/v1/devices/${id}/credentials`)).body.certificateId as string;
    const certificates = async (thing: string) =>
      (await context.iot.registry.listCertificates(thing)).map(({ certificateId, status }) => [certificateId, status]);
    const [one, two, kept] = [await register(gus, 'GUS-1'), await register(gus, 'GUS-2'), await register(ida, 'IDA-1')];
    const [first, second, theirs] = [await issue(gus, one.id), await issue(gus, two.id), await issue(ida, kept.id)];
    expect(await certificates(one.thingName)).toEqual([[first, 'active']]);
    expect((await site.as(gus)('DELETE', `/api/v1/users/${gus.id}`)).body.code).toBe('ACCOUNT_BLOCKED');
    expect(await certificates(two.thingName)).toEqual([[second, 'active']]);
    expect((await site.as(gus)('DELETE', `/api/v1/users/${gus.id}`, { query: { deleteOwned: 'true' } })).status).toBe(200);
    // somebody is quick to take the serial over, and gets nothing of what was
    const anew = await register(ida, 'GUS-2');
    const fresh = await issue(ida, anew.id);
    await expect.poll(() => certificates(one.thingName)).toEqual([]);
    await expect.poll(() => certificates(two.thingName)).toEqual([[fresh, 'active']]);
    const waiting = () => context.db.rows(sql('t')`select 1 as one from pgboss.job where name = 'devices.disown' and state <> 'completed'`);
    await expect.poll(waiting).toEqual([]);
    const things = await context.db.rows(sql('t')`select thing_name from registry_things where thing_name = ${one.thingName}`);
    expect(things).toEqual([]);
    expect(await certificates(two.thingName)).toEqual([[fresh, 'active']]);
    expect(await certificates(kept.thingName)).toEqual([[theirs, 'active']]);
  });
});
