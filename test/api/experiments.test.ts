import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const create = async (name: string, body: object = {}) =>
  (await site.as(site.cast.owner)('POST', '/api/v1/experiments', { body: { name, organizationId: site.cast.leafLab, ...body } })).body;

describe('POST /api/v1/experiments', () => {
  test('creates a private experiment in the chosen organization, with every field', async () => {
    const answer = await site.as(site.cast.owner)('POST', '/api/v1/experiments', {
      body: {
        name: '  Maize drought  ',
        description: 'Plots 1 to 12',
        organizationId: site.cast.leafLab,
        members: [{ userId: site.cast.viewer.id }],
        locations: [{ name: 'Field 4', latitude: 52.09, longitude: 5.12, country: 'Netherlands' }],
      },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      name: 'Maize drought',
      description: 'Plots 1 to 12',
      status: 'active',
      visibility: 'private',
      embargoUntil: null,
      anonymizeContributors: false,
      workbookId: null,
      workbookVersionId: null,
      organizationId: site.cast.leafLab,
      organizationName: 'Leaf Lab',
      createdBy: site.cast.owner.id,
      ownerFirstName: 'Owner',
      ownerLastName: 'Tester',
      // the owner, the admins, the members, and the viewer's grant
      membersCount: 4,
      locations: [{ name: 'Field 4', latitude: 52.09, longitude: 5.12, country: 'Netherlands' }],
    });
    expect(answer.body.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await site.as(site.cast.viewer)('GET', `/api/v1/experiments/${answer.body.id}`)).status).toBe(200);
  });

  test('a plain member who creates becomes answerable; an outsider may not create there', async () => {
    const made = await site.as(site.cast.member)('POST', '/api/v1/experiments', {
      body: { name: 'By a member', organizationId: site.cast.leafLab },
    });
    expect(made.status).toBe(201);
    const access = await site.as(site.cast.member)('GET', `/api/v1/experiments/${made.body.id}/access`);
    expect(access.body).toMatchObject({
      hasAccess: true,
      isAdmin: true,
      capabilities: { canManage: true, canLeave: true, canTransfer: false },
    });
    const refused = await site.as(site.cast.stranger)('POST', '/api/v1/experiments', {
      body: { name: 'x', organizationId: site.cast.leafLab },
    });
    expect(refused).toMatchObject({ status: 403, body: { code: 'NOT_A_MEMBER' } });
    const own = await site.as(site.cast.stranger)('POST', '/api/v1/experiments', { body: { name: 'x' } });
    expect(own).toMatchObject({ status: 201, body: { organizationId: site.cast.stranger.workspaceId, organizationName: null } });
  });

  test('refuses what is not valid, naming the place', async () => {
    const call = site.as(site.cast.owner);
    expect(await call('POST', '/api/v1/experiments', { body: { name: '' } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/name' }] },
    });
    expect((await call('POST', '/api/v1/experiments', { body: { name: '   ' } })).status).toBe(400);
    expect((await call('POST', '/api/v1/experiments', { body: { name: 'x'.repeat(256) } })).status).toBe(400);
    expect((await call('POST', '/api/v1/experiments', { body: { name: 'nul \u0000' } })).status).toBe(400);
    expect((await call('POST', '/api/v1/experiments', { body: '{', headers: { 'content-type': 'application/json' } })).body.code).toBe(
      'MALFORMED_JSON',
    );
    expect((await call('POST', '/api/v1/experiments', { body: 'name=x', headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect(await call('POST', '/api/v1/experiments', { body: { name: 'x', members: [{ userId: crypto.randomUUID() }] } })).toMatchObject({
      status: 400,
      body: { code: 'MEMBER_UNKNOWN' },
    });
    expect(
      await call('POST', '/api/v1/experiments', { body: { name: 'x', visibility: 'public', embargoUntil: new Date(Date.now() + 9e8) } }),
    ).toMatchObject({ status: 400, body: { code: 'EMBARGO_OF_PUBLIC' } });
    expect(await call('POST', '/api/v1/experiments', { body: { name: 'x', embargoUntil: new Date() } })).toMatchObject({
      status: 400,
      body: { code: 'EMBARGO_OUT_OF_RANGE' },
    });
  });

  test('an Idempotency-Key replays the first answer, refuses another body, and is per caller', async () => {
    const call = site.as(site.cast.owner);
    const headers = { 'idempotency-key': 'once' };
    const first = await call('POST', '/api/v1/experiments', { body: { name: 'Once' }, headers });
    const second = await call('POST', '/api/v1/experiments', { body: { name: 'Once' }, headers });
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect((await call('POST', '/api/v1/experiments', { body: { name: 'Twice' }, headers })).status).toBe(422);
    const other = await site.as(site.cast.member)('POST', '/api/v1/experiments', { body: { name: 'Once' }, headers });
    expect(other.body.id).not.toBe(first.body.id);
    const failed = await call('POST', '/api/v1/experiments', { body: { name: '' }, headers: { 'idempotency-key': 'failing' } });
    expect(failed.status).toBe(400);
    const parallel = await Promise.all(
      Array.from({ length: 10 }, () =>
        call('POST', '/api/v1/experiments', { body: { name: 'Race' }, headers: { 'idempotency-key': 'race' } }),
      ),
    );
    expect(new Set(parallel.filter(({ status }) => status === 201).map(({ body }) => body.id)).size).toBe(1);
    expect(parallel.every(({ status }) => status === 201 || status === 409)).toBe(true);
  });
});

test('a call whose answer nobody reads gives its key back once it is decided', async () => {
  const { id } = await create('Unread');
  const path = `/api/v1/experiments/${id}/data/macros/${crypto.randomUUID()}/reprocess`;
  const key = `x-api-key: ${site.cast.owner.apiKey}`;
  const { hostname, port, host } = new URL(site.server.baseUrl);
  const held = async () => (await site.db.rows(sql('test')`select from idempotency_keys where key = 'unread'`)).length;
  const socket = connect(Number(port), hostname);
  try {
    await site.db.transaction(async (tx) => {
      // the call waits for the experiment, and then ends without having made anything
      await tx.run(sql('test')`select from experiments where id = ${id} for update`);
      // its answer comes behind one that never ends
      socket.write(`GET /api/v1/experiments/${id}/changes HTTP/1.1\r\nhost: ${host}\r\n${key}\r\n\r\n`);
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n${key}\r\nidempotency-key: unread\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
      );
      await expect.poll(held, { timeout: 10_000 }).toBe(1);
    });
    await expect.poll(held, { timeout: 10_000 }).toBe(0);
    expect(socket.destroyed).toBe(false);
    const again = await site.as(site.cast.owner)('POST', path, { body: {}, headers: { 'idempotency-key': 'unread' } });
    expect(again).toMatchObject({ status: 404, body: { code: 'MACRO_NOT_USABLE' } });
  } finally {
    socket.destroy();
  }
});

describe('GET /api/v1/experiments', () => {
  test('lists what the caller may read, in pages, with counts and links', async () => {
    const people = site.cast;
    for (let index = 0; index < 5; index += 1)
      await site.as(people.viewer)('POST', '/api/v1/experiments', { body: { name: `Listed ${index}` } });
    const open = await site.as(people.owner)('POST', '/api/v1/experiments', { body: { name: 'Listed in public', visibility: 'public' } });
    const call = site.as(people.viewer);
    const related = await call('GET', '/api/v1/experiments', { query: { scope: 'related', search: 'Listed', pageSize: 2, page: 2 } });
    expect(related.body).toHaveLength(2);
    expect(related.headers.get('x-total-count')).toBe('5');
    expect(related.headers.get('link')).toContain('rel="next"');
    const all = await call('GET', '/api/v1/experiments', { query: { search: 'Listed' } });
    expect(all.body.map((row: { id: string }) => row.id)).toContain(open.body.id);
    expect(all.body).toHaveLength(6);
    expect((await call('GET', '/api/v1/experiments', { query: { filter: 'member', search: 'Listed' } })).body).toHaveLength(5);
    expect((await site.as(people.stranger)('GET', '/api/v1/experiments', { query: { search: 'Listed' } })).body).toHaveLength(1);
  });

  test('a page far behind the last one is empty, and the count stays', async () => {
    const call = site.as(site.cast.owner);
    const ask = (page: number) => call('GET', '/api/v1/experiments', { query: { scope: 'all', page } });
    const [first, far] = [await ask(1), await ask(2_147_483_647)];
    expect(first.body.length).toBeGreaterThan(0);
    expect([far.status, far.body, far.headers.get('x-total-count')]).toEqual([200, [], first.headers.get('x-total-count')]);
    expect((await ask(2_147_483_648)).status).toBe(400);
  });

  test('narrows the list to what one made, and to what is public or private', async () => {
    const people = site.cast;
    const byOwner = (body: object) => site.as(people.owner)('POST', '/api/v1/experiments', { body });
    const make = async (answer: ReturnType<typeof byOwner>) => (await answer).body.id as string;
    const own = await make(site.as(people.viewer)('POST', '/api/v1/experiments', { body: { name: 'Narrow own' } }));
    const ownOpen = await make(
      site.as(people.viewer)('POST', '/api/v1/experiments', { body: { name: 'Narrow own open', visibility: 'public' } }),
    );
    const shared = await make(byOwner({ name: 'Narrow shared', members: [{ userId: people.viewer.id }] }));
    const sharedOpen = await make(byOwner({ name: 'Narrow shared open', visibility: 'public', members: [{ userId: people.viewer.id }] }));
    const open = await make(byOwner({ name: 'Narrow open', visibility: 'public' }));
    const freed = await make(byOwner({ name: 'Narrow freed', organizationId: people.leafLab }));
    await site.db.run(sql('test.free')`update resources set public_from = now() - interval '1 day' where id = ${freed}`);
    await make(byOwner({ name: 'Narrow hidden' }));
    const made = [own, ownOpen, shared, sharedOpen, open, freed];
    const asked = async (query: object) => {
      const answer = await site.as(people.viewer)('GET', '/api/v1/experiments', { query: { pageSize: 100, ...query } });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers.get('x-total-count')).toBe(String(answer.body.length));
      return answer.body.map(({ id }: { id: string }) => id).filter((id: string) => made.includes(id));
    };
    const cases: [object, string[]][] = [
      [{}, made],
      [{ createdBy: 'me' }, [own, ownOpen]],
      [{ createdBy: 'me', visibility: 'public' }, [ownOpen]],
      [{ createdBy: 'me', visibility: 'private' }, [own]],
      [{ visibility: 'public' }, [ownOpen, sharedOpen, open, freed]],
      [{ visibility: 'public', scope: 'related' }, [ownOpen, sharedOpen]],
      [{ visibility: 'private' }, [own, shared]],
      [{ scope: 'related' }, [own, ownOpen, shared, sharedOpen]],
    ];
    for (const [query, expected] of cases)
      for (const search of [{}, { search: 'Narrow' }])
        expect(await asked({ ...query, ...search }), JSON.stringify({ ...query, ...search })).toHaveLength(expected.length);
    for (const [query, expected] of cases) expect((await asked(query)).sort(), JSON.stringify(query)).toEqual([...expected].sort());
    // last changed first, and page by page
    expect(await asked({ visibility: 'public' })).toEqual([freed, open, sharedOpen, ownOpen]);
    const second = await site.as(people.viewer)('GET', '/api/v1/experiments', { query: { createdBy: 'me', pageSize: 1, page: 2 } });
    expect(second.body.map(({ id }: { id: string }) => id)).toEqual([own]);
    expect(second.headers.get('link')).toContain('createdBy=me');
    const wrong: Record<string, string>[] = [{ createdBy: 'you' }, { visibility: 'hidden' }];
    for (const query of wrong) expect((await site.as(people.viewer)('GET', '/api/v1/experiments', { query })).status).toBe(400);
  });

  test('shows archived experiments only when asked, and refuses parameters that it does not know', async () => {
    const archived = await create('Put away', { status: 'archived' });
    const ids = async (query: Record<string, string>) =>
      (await site.as(site.cast.owner)('GET', '/api/v1/experiments', { query })).body.map((row: { id: string }) => row.id);
    expect(await ids({})).not.toContain(archived.id);
    expect(await ids({ status: 'archived' })).toContain(archived.id);
    const typo = await site.as(site.cast.owner)('GET', '/api/v1/experiments', { query: { pagesize: 2 } });
    expect(typo).toMatchObject({
      status: 400,
      body: { errors: [{ path: '?pagesize', message: expect.stringMatching(/^There is no such parameter\. Did you mean 'pageSize'/) }] },
    });
    expect((await site.as(site.cast.owner)('GET', '/api/v1/experiments', { query: { pageSize: 101 } })).status).toBe(400);
  });
});

describe('one experiment', () => {
  test('GET /api/v1/experiments/{id} has an entity tag, and 304 for who has it', async () => {
    const { id } = await create('Tagged');
    const call = site.as(site.cast.owner);
    const first = await call('GET', `/api/v1/experiments/${id}`);
    const etag = first.headers.get('etag') ?? '';
    expect((await call('GET', `/api/v1/experiments/${id}`, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const changed = await call('PATCH', `/api/v1/experiments/${id}`, { body: { description: 'new' }, headers: { 'if-match': etag } });
    expect(changed).toMatchObject({ status: 200, body: { description: 'new', name: 'Tagged' } });
    expect(
      (await call('PATCH', `/api/v1/experiments/${id}`, { body: { description: 'lost' }, headers: { 'if-match': etag } })).status,
    ).toBe(412);
    expect((await call('GET', `/api/v1/experiments/${id}`, { headers: { 'if-none-match': etag } })).status).toBe(200);
  });

  test('PATCH /api/v1/experiments/{id}: an empty body changes nothing; an archived experiment takes only a status', async () => {
    const { id } = await create('Patched', { locations: [{ name: 'a', latitude: 1, longitude: 2 }] });
    const call = site.as(site.cast.owner);
    expect(await call('PATCH', `/api/v1/experiments/${id}`, { body: {} })).toMatchObject({ status: 200, body: { name: 'Patched' } });
    expect((await call('PATCH', `/api/v1/experiments/${id}`, { body: { locations: [] } })).body.locations).toEqual([]);
    expect((await call('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } })).body.status).toBe('archived');
    expect(await call('PATCH', `/api/v1/experiments/${id}`, { body: { name: 'No' } })).toMatchObject({
      status: 409,
      body: { code: 'EXPERIMENT_ARCHIVED' },
    });
    expect((await call('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'active' } })).body.status).toBe('active');
    expect((await call('PATCH', `/api/v1/experiments/${id}`, { body: { name: 'Yes' } })).body.name).toBe('Yes');
  });

  test('GET /api/v1/experiments/{id}/access says what the caller may do', async () => {
    const { id } = await create('Looked at');
    await grant(site.db, { id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
    await grant(site.db, { id, type: 'experiment' }, { team: site.cast.fieldTeam }, 'admin');
    const of = async (person: 'owner' | 'viewer' | 'teammate' | 'member') =>
      (await site.as(site.cast[person])('GET', `/api/v1/experiments/${id}/access`)).body;
    expect((await of('owner')).capabilities).toEqual({
      canContribute: true,
      canUpdate: true,
      canManage: true,
      canShare: true,
      canLeave: false,
      canTransfer: true,
    });
    expect((await of('viewer')).capabilities).toEqual({
      canContribute: true,
      canUpdate: false,
      canManage: false,
      canShare: false,
      canLeave: true,
      canTransfer: false,
    });
    expect((await of('teammate')).capabilities).toEqual({
      canContribute: true,
      canUpdate: true,
      canManage: true,
      canShare: true,
      canLeave: false,
      canTransfer: false,
    });
    expect(await of('member')).toMatchObject({ isAdmin: false, experiment: { name: 'Looked at' } });
  });

  test('PATCH /api/v1/experiments/{id}/visibility goes one way', async () => {
    const { id } = await create('Published');
    const call = site.as(site.cast.owner);
    expect((await site.as(site.cast.stranger)('GET', `/api/v1/experiments/${id}`)).status).toBe(403);
    expect((await call('PATCH', `/api/v1/experiments/${id}/visibility`, { body: { visibility: 'public' } })).body).toEqual({
      id,
      visibility: 'public',
    });
    expect((await site.as(site.cast.stranger)('GET', `/api/v1/experiments/${id}`)).status).toBe(200);
    expect(await call('PATCH', `/api/v1/experiments/${id}/visibility`, { body: { visibility: 'private' } })).toMatchObject({
      status: 409,
      body: { code: 'VISIBILITY_NOT_MONOTONIC' },
    });
  });

  test('DELETE /api/v1/experiments/{id} answers null, and nothing shows it again', async () => {
    const { id } = await create('Gone');
    const call = site.as(site.cast.owner);
    expect((await site.as(site.cast.member)('DELETE', `/api/v1/experiments/${id}`)).status).toBe(403);
    const answer = await call('DELETE', `/api/v1/experiments/${id}`);
    expect(answer).toMatchObject({ status: 200, body: null });
    expect((await call('GET', `/api/v1/experiments/${id}`)).status).toBe(404);
  });

  test('refusals come in order: 401, malformed id, missing, denied, bad body', async () => {
    const { id } = await create('Guarded');
    const bad = { body: { visibility: 'purple' } };
    expect((await site.as(null)('PATCH', '/api/v1/experiments/nonsense/visibility', bad)).status).toBe(401);
    expect((await site.as('flk_nonsense')('PATCH', '/api/v1/experiments/nonsense/visibility', bad)).status).toBe(403);
    expect((await site.as(site.cast.stranger)('PATCH', '/api/v1/experiments/nonsense/visibility', bad)).body.code).toBe('INVALID_ID');
    expect((await site.as(site.cast.stranger)('PATCH', `/api/v1/experiments/${crypto.randomUUID()}/visibility`, bad)).status).toBe(404);
    expect((await site.as(site.cast.stranger)('PATCH', `/api/v1/experiments/${id}/visibility`, bad)).body.code).toBe('ACTION_DENIED');
    expect((await site.as(site.cast.owner)('PATCH', `/api/v1/experiments/${id}/visibility`, bad)).body.code).toBe('INVALID_INPUT');
  });
});
