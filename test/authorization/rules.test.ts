/**
 * The four rules that RESTler checks of any REST service (Atlidakis, Godefroid, Polishchuk: "Checking Security Properties of Cloud Service REST APIs"),
 * asked of every resource type: use after free, resource leak, hierarchy, user namespace.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RESOURCE_TYPES, type ResourceType } from '../../src/authorization/roles.ts';
import { sql } from '../../src/database/sql.ts';
import type { Person } from '../support/cast.ts';
import { guardsOf, servedRows } from '../support/operations.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

let serial = 0;

interface Type {
  collection: string;
  parameter: string;
  body: () => Record<string, unknown>;
  /** What such a body may not say. */
  wrong: readonly object[];
}

const TYPES: Record<ResourceType, Type> = {
  experiment: {
    collection: '/api/v1/experiments',
    parameter: 'id',
    body: () => ({ name: 'E' }),
    wrong: [{ name: '' }, { visibility: 'secret' }, { locations: [{ name: 'Nowhere', latitude: 91, longitude: 0 }] }],
  },
  protocol: {
    collection: '/api/v1/protocols',
    parameter: 'id',
    body: () => ({ name: 'P', code: [{ a: 1 }], family: 'multispeq' }),
    wrong: [{ name: ' ' }, { family: 'none' }, { code: null }, { forkedFrom: crypto.randomUUID() }],
  },
  macro: {
    collection: '/api/v1/macros',
    parameter: 'id',
    body: () => ({ name: 'M', code: 'output.a = 1', language: 'javascript' }),
    wrong: [{ name: ' ' }, { language: 'cobol' }, { forkedFrom: crypto.randomUUID() }],
  },
  workbook: {
    collection: '/api/v1/workbooks',
    parameter: 'id',
    body: () => ({ name: 'W' }),
    wrong: [{ name: ' ' }, { cells: [{ id: 'a', type: 'nonsense' }] }, { forkedFrom: crypto.randomUUID() }],
  },
  device: {
    collection: '/api/v1/devices',
    parameter: 'deviceId',
    body: () => ({ serialNumber: `R-${(serial += 1)}`, deviceType: 'ambyte' }),
    wrong: [{ serialNumber: 'not ok' }, { deviceType: 'toaster' }],
  },
  device_group: {
    collection: '/api/v1/device-groups',
    parameter: 'groupId',
    body: () => ({ name: 'G' }),
    wrong: [{ name: '' }, { name: 'x'.repeat(256) }],
  },
};

async function make(type: ResourceType, person: Person = site.cast.owner, more: object = {}): Promise<string> {
  const made = await site.as(person)('POST', TYPES[type].collection, { body: { ...TYPES[type].body(), ...more } });
  expect([type, made.status, made.text]).toEqual([type, 201, expect.anything()]);
  return String(made.body.id);
}

/** Every operation that is guarded by the resource in its path, with that id in it. */
const operationsOn = (type: ResourceType, id: string) =>
  servedRows(site.openapi)
    .filter((row) => guardsOf(row).some((guard) => guard.type === type))
    .map(({ method, path }) => ({
      method,
      path: path.replace('{resourceType}', type).replace(/\{(\w+)\}/g, (_, name: string) => {
        const own = path.includes('{resourceType}') ? 'id' : TYPES[type].parameter;
        return name === own ? id : crypto.randomUUID();
      }),
    }));

const listed = async (type: ResourceType, person: Person): Promise<string[]> =>
  ((await site.as(person)('GET', TYPES[type].collection)).body as { id: string }[]).map(({ id }) => id);

const foundBySearch = async (person: Person, id: string): Promise<boolean> =>
  (await site.as(person)('GET', '/api/v1/search', { query: { q: 'E' } })).text.includes(id);

/** Rows of every table that holds what people make, counted. What an earlier test deleted is erased by a job, which may end now. */
async function census(): Promise<Record<string, number>> {
  const tables = await site.db.rows<{ name: string; rows: string }>(sql('t')`
    select table_name as name,
      (xpath('//c/text()', query_to_xml(format('select count(*) as c from %I %s', table_name,
        case table_name when 'audit_events' then 'where action <> ''experiment.erased''' end), false, true, '')))[1]::text as rows
    from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name not in ('budgets', 'idempotency_keys', 'brokers', 'device_presence', 'presence_events', 'erasures', 'pgmigrations')`);
  return Object.fromEntries(tables.map(({ name, rows }) => [name, Number(rows)]));
}

describe.each(RESOURCE_TYPES)('%s', (type) => {
  test('use after free: nothing answers for what was deleted', async () => {
    const { collection } = TYPES[type];
    const id = await make(type);
    const owner = site.as(site.cast.owner);
    expect((await owner('GET', `${collection}/${id}`)).status).toBe(200);
    expect(await listed(type, site.cast.owner)).toContain(id);
    expect((await owner('DELETE', `${collection}/${id}`)).status).toBe(200);
    const operations = operationsOn(type, id);
    expect(operations.length).toBeGreaterThan(8);
    for (const { method, path } of operations) {
      const answer = await owner(method, path, method === 'GET' ? {} : { body: {} });
      expect([method, path, answer.status]).toEqual([method, path, 404]);
    }
    expect(await listed(type, site.cast.owner)).not.toContain(id);
    expect(await foundBySearch(site.cast.owner, id)).toBe(false);
    const named = await owner('POST', '/api/v1/collaborators/transfer-admin', {
      body: { transfers: [{ resourceType: type, resourceId: id, targetUserId: site.cast.admin.id }] },
    });
    expect(named.body.results).toMatchObject([{ success: false }]);
  });

  test('resource leak: a creation that is refused leaves nothing behind, a repeated one nothing twice', async () => {
    const { collection, body, wrong } = TYPES[type];
    const owner = site.as(site.cast.owner);
    const [before, had] = [await census(), await listed(type, site.cast.owner)];
    const refusals = [
      ...wrong.map((change) => ({ ...body(), ...change })),
      { ...body(), organizationId: crypto.randomUUID() },
      // of others: refused after all else was found good
      { ...body(), organizationId: site.cast.stranger.workspaceId },
    ];
    for (const refused of refusals) {
      const answer = await owner('POST', collection, { body: refused, headers: { 'idempotency-key': crypto.randomUUID() } });
      expect([refused, answer.status]).toEqual([refused, expect.toSatisfy((status: number) => status >= 400 && status < 500)]);
    }
    expect((await site.as(null)('POST', collection, { body: body() })).status).toBe(401);
    expect(await census()).toEqual(before);
    expect(await listed(type, site.cast.owner)).toEqual(had);
    // the same call, cut off and sent again, makes one
    const [headers, same] = [{ 'idempotency-key': crypto.randomUUID() }, body()];
    const answers = [];
    for (let times = 0; times < 3; times += 1) answers.push((await owner('POST', collection, { body: same, headers })).body.id);
    expect(new Set(answers).size).toBe(1);
    expect(await listed(type, site.cast.owner)).toHaveLength(had.length + 1);
    // and what was made and deleted leaves nothing to share
    const id = await make(type);
    await owner('POST', `/api/v1/${type}/${id}/collaborators`, {
      body: { granteeType: 'user', granteeId: site.cast.viewer.id, role: 'viewer' },
    });
    await owner('DELETE', `${collection}/${id}`);
    const left = await site.db.rows(sql('t')`
      select 'grants' as kind from grants where resource_id = ${id} union all select 'resources' from resources where id = ${id}`);
    expect(left).toEqual([]);
  });

  test('hierarchy: what belongs to one is not reached through another', async () => {
    const [mine, other] = [await make(type), await make(type)];
    const owner = site.as(site.cast.owner);
    const share = { granteeType: 'user', granteeId: site.cast.viewer.id, role: 'viewer' };
    const held = (await owner('POST', `/api/v1/${type}/${mine}/collaborators`, { body: share })).body as Record<string, unknown>[];
    const grantId = String(held.find(({ kind, role }) => kind === 'grant' && role === 'viewer')?.['id']);
    const at = (id: string) => `/api/v1/${type}/${id}/collaborators/${grantId}`;
    const state = async () => (await owner('GET', `/api/v1/${type}/${mine}/collaborators`)).body as unknown;
    const before = await state();
    for (const [method, body] of [
      ['PATCH', { role: 'admin' }],
      ['DELETE', undefined],
    ] as const)
      expect([method, (await owner(method, at(other), { body })).status]).toEqual([method, 404]);
    // nor through the same id of another type
    const another: ResourceType = type === 'macro' ? 'protocol' : 'macro';
    expect((await owner('DELETE', `/api/v1/${another}/${mine}/collaborators/${grantId}`)).status).toBe(404);
    expect((await owner('GET', `${TYPES[another].collection}/${mine}`)).status).toBe(404);
    expect(await state()).toEqual(before);
    expect((await owner('PATCH', at(mine), { body: { role: 'admin' } })).status).toBe(200);
    expect((await owner('DELETE', at(mine))).status).toBe(200);
  });

  test('user namespace: what one person made is not reached, listed or found by another', async () => {
    const { collection } = TYPES[type];
    const id = await make(type);
    const stranger = site.as(site.cast.stranger);
    const print = () =>
      site.db.rows(sql('t')`
        select r.*, (select count(*) from grants g where g.resource_id = r.id) as grants from resources r where r.id = ${id}`);
    const before = await print();
    for (const { method, path } of operationsOn(type, id)) {
      const answer = await stranger(method, path, method === 'GET' ? {} : { body: {} });
      expect([method, path, answer.status]).toEqual([method, path, 403]);
    }
    expect(await listed(type, site.cast.stranger)).not.toContain(id);
    expect(await foundBySearch(site.cast.stranger, id)).toBe(false);
    const handed = await stranger('POST', '/api/v1/collaborators/transfer-admin', {
      body: { transfers: [{ resourceType: type, resourceId: id, targetUserId: site.cast.stranger.id }] },
    });
    expect(handed.body.results).toMatchObject([{ success: false }]);
    expect((await stranger('DELETE', `/api/v1/${type}/${id}/collaborators/me`)).status).toBeGreaterThanOrEqual(400);
    expect(await print()).toEqual(before);
    expect((await site.as(site.cast.owner)('GET', `${collection}/${id}`)).status).toBe(200);
  });
});

const plots = (name: string) => ({
  name,
  columns: [{ id: 'c1', name: 'plot', type: 'string' }],
  rows: [],
  identifierColumnId: 'c1',
  experimentQuestionId: 'plot_number',
});

/** What belongs to an experiment and has an address of its own. */
const CHILDREN = [
  {
    name: 'dashboards',
    id: 'id',
    body: { name: 'Board' },
    change: ['PATCH', { name: 'Moved' }],
    isRead: true,
  },
  {
    name: 'visualizations',
    id: 'id',
    body: {
      name: 'Chart',
      chartFamily: 'basic',
      chartType: 'line',
      dataConfig: { tableName: 'raw_data', dataSources: [{ tableName: 'raw_data', columnName: 'timestamp', role: 'x' }] },
    },
    change: ['PATCH', { name: 'Moved' }],
    isRead: true,
  },
  {
    name: 'metadata',
    id: 'metadataId',
    body: { metadata: plots('Plots') },
    change: ['PUT', { metadata: plots('Moved') }],
    isRead: false,
  },
] as const;

test.each(CHILDREN)('$name of an experiment: use after free, hierarchy and user namespace', async ({ name, id, body, change, isRead }) => {
  const [mine, other] = [await make('experiment'), await make('experiment')];
  const owner = site.as(site.cast.owner);
  const list = (experiment: string) => `/api/v1/experiments/${experiment}/${name}`;
  const made = await owner('POST', list(mine), { body });
  expect(made.status).toBe(201);
  const child = String(made.body[id]);
  const calls = [...(isRead ? [['GET', undefined] as const] : []), change, ['DELETE', undefined] as const];
  const before = (await owner('GET', list(mine))).body as unknown;
  for (const [method, sent] of calls) {
    expect([method, (await owner(method, `${list(other)}/${child}`, { body: sent })).status]).toEqual([method, 404]);
    expect([method, (await site.as(site.cast.stranger)(method, `${list(mine)}/${child}`, { body: sent })).status]).toEqual([method, 403]);
  }
  expect((await owner('GET', list(mine))).body).toEqual(before);
  expect((await owner('GET', list(other))).text).not.toContain(child);
  for (const [method, sent] of calls)
    expect([method, (await owner(method, `${list(mine)}/${child}`, { body: sent })).status]).toEqual([method, 200]);
  for (const [method, sent] of calls)
    expect([method, (await owner(method, `${list(mine)}/${child}`, { body: sent })).status]).toEqual([method, 404]);
  expect((await owner('GET', list(mine))).text).not.toContain(child);
  // a child goes with its parent
  const last = String((await owner('POST', list(mine), { body })).body[id]);
  await owner('DELETE', `/api/v1/experiments/${mine}`);
  for (const [method, sent] of calls)
    expect([method, (await owner(method, `${list(mine)}/${last}`, { body: sent })).status]).toEqual([method, 404]);
});

test('teams and join requests of an organization: hierarchy and user namespace', async () => {
  const { db } = site;
  const { owner, stranger, admin } = site.cast;
  await db.run(sql('t')`update organizations set visibility = 'public' where id = ${site.cast.leafLab}`);
  const asked = await site.as(stranger)('POST', `/api/v1/organizations/${site.cast.leafLab}/join-requests`, { body: {} });
  expect(asked.status).toBe(201);
  const decide = (person: Person, organizationId: string) =>
    site.as(person)('PATCH', `/api/v1/organizations/${organizationId}/join-requests/${String(asked.body.id)}`, {
      body: { decision: 'approve' },
    });
  // through an organization that the decider owns, and by one who decides nothing here
  expect((await decide(admin, admin.workspaceId)).status).toBe(404);
  expect((await decide(stranger, site.cast.leafLab)).status).toBe(403);
  expect(await db.rows(sql('t')`select status from organization_join_requests where id = ${String(asked.body.id)}`)).toEqual([
    { status: 'pending' },
  ]);
  expect((await decide(owner, site.cast.leafLab)).status).toBe(200);
  // decided is decided
  expect((await decide(owner, site.cast.leafLab)).status).toBe(409);
});
