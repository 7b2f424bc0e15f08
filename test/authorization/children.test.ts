/**
 * The four rules of rules.test.ts for what belongs to a resource or an organization and has an address of its own: gone when deleted, not reached
 * through another parent, not reached by a stranger, gone with its parent.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { signIn, type Browser } from '../support/browser.ts';
import { makeOrganization } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const owner = () => site.as(site.cast.owner);
const make = async (collection: string, body: object): Promise<string> => {
  const made = await owner()('POST', `/api/v1/${collection}`, { body });
  expect([collection, made.status, made.text]).toEqual([collection, 201, expect.anything()]);
  return String(made.body.id);
};
let serial = 0;
const experiment = () => make('experiments', { name: `Parent ${(serial += 1)}` });
const device = () => make('devices', { serialNumber: `C-${(serial += 1)}`, deviceType: 'ambyte' });

const isRefusal = (status: number) => status >= 400 && status < 500;

type Asked = readonly [method: string, path: string, body?: object];

/** A parent's child: how to ask for it under a parent, with the deletion last, and how to see whether it is there. */
interface Child {
  parent: string;
  other: string;
  child: string;
  asks: (parent: string, child: string) => readonly Asked[];
  /** What a stranger is told: that they may not, or, of a private organization, that there is no such thing. */
  refusal: 403 | 404;
}

async function withTable() {
  const parent = await experiment();
  await uploadTable(owner(), parent, 'spad', 'plot,spad\n1,41.5\n');
  const data = await owner()('GET', `/api/v1/experiments/${parent}/data`, { query: { tableName: 'spad' } });
  return { parent, row: String(data.body[0].data.rows[0].id) };
}

const CHILDREN: Record<string, () => Promise<Child>> = {
  exports: async () => {
    const { parent } = await withTable();
    const base = (of: string) => `/api/v1/experiments/${of}/data/exports`;
    const made = await owner()('POST', base(parent), { body: { tableName: 'spad', format: 'csv' } });
    expect(made.status).toBe(201);
    const child = String(made.body.exportId);
    await expect.poll(async () => (await owner()('GET', `${base(parent)}/${child}/status`)).body.status as string).toBe('completed');
    return {
      parent,
      other: await experiment(),
      child,
      asks: (of, id) => [
        ['GET', `${base(of)}/${id}/status`],
        ['GET', `${base(of)}/${id}`],
        ['DELETE', `${base(of)}/${id}`],
      ],
      refusal: 403,
    };
  },
  annotations: async () => {
    const { parent, row } = await withTable();
    const base = (of: string) => `/api/v1/experiments/${of}/data/annotations`;
    const annotation = { type: 'comment', content: { type: 'comment', text: 'moved' } };
    const made = await owner()('POST', base(parent), { body: { tableName: 'spad', rowId: row, annotation } });
    expect(made.status).toBe(201);
    const data = await owner()('GET', `/api/v1/experiments/${parent}/data`, { query: { tableName: 'spad' } });
    return {
      parent,
      other: await experiment(),
      child: String(data.body[0].data.rows[0].annotations[0].id),
      asks: (of, id) => [
        ['PATCH', `${base(of)}/${id}`, { content: { type: 'comment', text: 'again' } }],
        ['DELETE', `${base(of)}/${id}`],
      ],
      refusal: 403,
    };
  },
  tables: async () => {
    const parent = await experiment();
    return {
      parent,
      other: await experiment(),
      child: await uploadTable(owner(), parent, 'spad', 'plot,spad\n1,41.5\n'),
      asks: (of, id) => [['DELETE', `/api/v1/experiments/${of}/data/tables/${id}`]],
      refusal: 403,
    };
  },
  webhooks: async () => {
    const members = { [site.cast.owner.id]: 'owner' };
    const parent = await makeOrganization(site.db, { name: 'A', slug: `a-${(serial += 1)}`, members });
    const other = await makeOrganization(site.db, { name: 'B', slug: `b-${(serial += 1)}`, members });
    const base = (of: string) => `/api/v1/organizations/${of}/webhooks`;
    const made = await owner()('POST', base(parent), { body: { url: 'https://example.org/hook', kinds: ['experiment.created'] } });
    expect(made.status).toBe(201);
    return {
      parent,
      other,
      child: String(made.body.id),
      asks: (of, id) => [
        ['GET', `${base(of)}/${id}`],
        ['PATCH', `${base(of)}/${id}`, { enabled: false }],
        ['GET', `${base(of)}/${id}/deliveries`],
        ['POST', `${base(of)}/${id}/rotate-secret`, {}],
        ['DELETE', `${base(of)}/${id}`],
      ],
      refusal: 404,
    };
  },
};

const call = ([method, path, body]: Asked, as = owner()) => as(method, path, body === undefined ? {} : { body });

test.each(Object.keys(CHILDREN))('%s: hierarchy, user namespace, use after free', async (name) => {
  const { parent, other, child, asks, refusal } = await CHILDREN[name]!();
  for (const ask of asks(other, child)) expect([ask, (await call(ask)).status]).toEqual([ask, 404]);
  for (const ask of asks(parent, child)) expect([ask, (await call(ask, site.as(site.cast.stranger))).status]).toEqual([ask, refusal]);
  for (const ask of asks(parent, child)) {
    const { status } = await call(ask);
    expect([ask, status]).toEqual([ask, expect.toSatisfy((code: number) => code >= 200 && code < 300)]);
  }
  for (const ask of asks(parent, child)) expect([ask, (await call(ask)).status]).toEqual([ask, 404]);
});

test.each(['exports', 'annotations', 'tables'])('%s go with their experiment', async (name) => {
  const { parent, child, asks } = await CHILDREN[name]!();
  expect((await call(['DELETE', `/api/v1/experiments/${parent}`])).status).toBe(200);
  for (const ask of asks(parent, child)) expect([ask, (await call(ask)).status]).toEqual([ask, 404]);
});

test('locations of an experiment are its own, and go with it', async () => {
  const [mine, other] = [await experiment(), await experiment()];
  const at = (id: string) => `/api/v1/experiments/${id}/locations`;
  const place = { locations: [{ name: 'Field', latitude: 52, longitude: 5 }] };
  expect((await owner()('PUT', at(mine), { body: place })).status).toBe(200);
  expect((await owner()('GET', at(other))).body).toEqual([]);
  for (const method of ['GET', 'PUT', 'POST'])
    expect([method, (await site.as(site.cast.stranger)(method, at(mine), method === 'GET' ? {} : { body: place })).status]).toEqual([
      method,
      403,
    ]);
  expect((await owner()('GET', at(mine))).body).toHaveLength(1);
  expect((await call(['DELETE', `/api/v1/experiments/${mine}`])).status).toBe(200);
  expect((await owner()('GET', at(mine))).status).toBe(404);
  expect(await site.db.rows(sql('t')`select id from locations where experiment_id = ${mine}`)).toEqual([]);
});

test('an invitation ends once, for who may end it, and goes with its resource', async () => {
  const [mine, doomed] = [await experiment(), await experiment()];
  const invite = async (resourceId: string, email: string) =>
    String((await owner()('POST', '/api/v1/invitations', { body: { resourceType: 'experiment', resourceId, email } })).body.id);
  const id = await invite(mine, 'soon@example.com');
  const end = (invitation: string, as = owner()) => as('DELETE', `/api/v1/invitations/${invitation}`);
  expect((await end(id, site.as(site.cast.stranger))).status).toBe(403);
  expect((await end(id)).status).toBe(200);
  expect((await end(id)).status).toBe(409);
  const orphan = await invite(doomed, 'late@example.com');
  await call(['DELETE', `/api/v1/experiments/${doomed}`]);
  expect((await end(orphan)).status).toBeGreaterThanOrEqual(400);
  const browser = await signIn(site, 'late@example.com');
  expect((await browser.call('GET', `/api/v1/experiments/${doomed}`)).status).toBe(404);
  expect((await browser.call('GET', '/api/v1/experiments')).body).toEqual([]);
});

test('certificates of a device end with it, and are not made through another', async () => {
  const [mine, other] = [await device(), await device()];
  const at = (id: string, rest = '') => `/api/v1/devices/${id}/credentials${rest}`;
  const issued = await owner()('POST', at(mine), { body: {} });
  expect(issued.status).toBeLessThan(300);
  for (const [method, rest] of [
    ['POST', ''],
    ['POST', '/rotate'],
    ['DELETE', ''],
  ] as const)
    expect([method, rest, (await site.as(site.cast.stranger)(method, at(mine, rest), { body: {} })).status]).toEqual([method, rest, 403]);
  const certificates = async (id: string) => (await owner()('GET', `/api/v1/devices/${id}`)).body as Record<string, unknown>;
  const before = await certificates(mine);
  await owner()('DELETE', at(other));
  expect(await certificates(mine)).toEqual(before);
  expect((await call(['DELETE', `/api/v1/devices/${mine}`])).status).toBe(200);
  for (const [method, rest] of [
    ['POST', ''],
    ['POST', '/rotate'],
    ['DELETE', ''],
  ] as const)
    expect([method, rest, (await owner()(method, at(mine, rest), { body: {} })).status]).toEqual([method, rest, 404]);
});

test('a team is reached through its own organization only, and its grants go with it', async () => {
  const address = 'team.owner@example.com';
  const browser: Browser = await signIn(site, address);
  const post = (path: string, body: object, as = browser) => as.call('POST', `/api/v1/auth/organization/${path}`, body);
  const [a, b] = [
    (await post('create', { name: 'A', slug: `ta-${(serial += 1)}` })).body as { id: string },
    (await post('create', { name: 'B', slug: `tb-${(serial += 1)}` })).body as { id: string },
  ];
  const made = await post('create-team', { name: 'Soil', organizationId: a.id });
  expect(made.status).toBe(200);
  const team = String(made.body.id);
  const { user } = (await browser.call('GET', '/api/v1/auth/get-session')).body as { user: { id: string } };
  const asks = (organizationId: string) =>
    [
      ['update-team', { teamId: team, data: { name: 'Taken', organizationId } }],
      ['add-team-member', { organizationId, teamId: team, userId: user.id }],
      ['remove-team', { organizationId, teamId: team }],
    ] as const;
  for (const [path, body] of asks(b.id)) expect([path, (await post(path, body)).status]).toEqual([path, expect.toSatisfy(isRefusal)]);
  const stranger = await signIn(site, 'team.stranger@example.com');
  for (const [path, body] of asks(a.id))
    expect([path, (await post(path, body, stranger)).status]).toEqual([path, expect.toSatisfy(isRefusal)]);
  expect(await site.db.rows(sql('t')`select name from teams where id = ${team}`)).toEqual([{ name: 'Soil' }]);
  const shared = await browser.call('POST', '/api/v1/experiments', { name: 'Shared', organizationId: a.id });
  const grant = { granteeType: 'team', granteeId: team, role: 'viewer' };
  expect((await browser.call('POST', `/api/v1/experiment/${String(shared.body.id)}/collaborators`, grant)).status).toBeLessThan(300);
  const grants = () => site.db.rows(sql('t')`select role from grants where team_id = ${team}`);
  expect(await grants()).toEqual([{ role: 'viewer' }]);
  for (const [path, body] of asks(a.id)) expect([path, (await post(path, body)).status]).toEqual([path, 200]);
  for (const [path, body] of asks(a.id)) expect([path, (await post(path, body)).status]).toEqual([path, expect.toSatisfy(isRefusal)]);
  expect(await grants()).toEqual([]);
});
