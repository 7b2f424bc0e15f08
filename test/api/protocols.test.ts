import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const owner = () => site.as(site.cast.owner);
const create = async (name: string, body: object = {}) =>
  (
    await owner()('POST', '/api/v1/protocols', {
      body: { name, code: [{ a: 1 }], family: 'multispeq', organizationId: site.cast.leafLab, ...body },
    })
  ).body;
const macro = async (name: string, body: object = {}) =>
  (
    await owner()('POST', '/api/v1/macros', {
      body: { name, code: 'output.a = 1', language: 'javascript', organizationId: site.cast.leafLab, ...body },
    })
  ).body;
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

describe('POST /api/v1/protocols', () => {
  test('creates a private protocol with every field', async () => {
    const answer = await owner()('POST', '/api/v1/protocols', {
      body: { name: '  Phi2  ', description: 'Light', code: [{ pulses: [20] }], family: 'multispeq', organizationId: site.cast.leafLab },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      name: 'Phi2',
      description: 'Light',
      code: [{ pulses: [20] }],
      codeVersion: 1,
      family: 'multispeq',
      sortOrder: null,
      createdBy: site.cast.owner.id,
      createdByName: 'Owner Tester',
      forkedFrom: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      organizationId: site.cast.leafLab,
      organizationName: 'Leaf Lab',
      visibility: 'private',
    });
  });

  test('refuses null code, unknown families, blank names, foreign organizations and forks of what cannot be read', async () => {
    const body = { name: 'x', code: 1, family: 'generic' };
    const post = (change: object) => owner()('POST', '/api/v1/protocols', { body: { ...body, ...change } });
    expect((await post({})).status).toBe(201);
    expect(await post({ code: null })).toMatchObject({ status: 400, body: { errors: [{ path: '/code' }] } });
    expect((await post({ code: undefined })).status).toBe(400);
    expect((await post({ family: 'mobile' })).status).toBe(400);
    expect((await post({ name: '   ' })).status).toBe(400);
    expect((await post({ organizationId: site.cast.stranger.workspaceId })).body.code).toBe('NOT_A_MEMBER');
    const hidden = (await site.as(site.cast.stranger)('POST', '/api/v1/protocols', { body })).body;
    expect((await post({ forkedFrom: hidden.id })).status).toBe(403);
    expect((await post({ forkedFrom: UNKNOWN })).status).toBe(404);
    expect((await post({ forkedFrom: 'nonsense' })).status).toBe(400);
    expect((await site.as(null)('POST', '/api/v1/protocols', { body })).status).toBe(401);
  });

  test('a fork remembers its source until that is deleted, and names are free', async () => {
    const source = await create('Source');
    const fork = await create('Source', { forkedFrom: source.id });
    expect(fork.forkedFrom).toBe(source.id);
    await owner()('DELETE', `/api/v1/protocols/${source.id}`);
    expect((await owner()('GET', `/api/v1/protocols/${fork.id}`)).body.forkedFrom).toBeNull();
  });

  test('code comes back as it was sent: digits, key order and every kind of value', async () => {
    const kept = [
      '1.0',
      '-0.0',
      '12345678901234567890',
      '1e400',
      '0.10',
      '{"b":1.50,"a":[1,2.00]}',
      '"text"',
      'false',
      '0',
      '""',
      '[]',
      '"\\u0000"',
    ];
    // as text: JavaScript reads 1e400 as infinity
    const exchange = async (path: string, init: RequestInit = {}) => {
      const headers = { 'content-type': 'application/json', 'x-api-key': site.cast.owner.apiKey };
      const answer = await fetch(`${site.server.baseUrl}/api/v1/protocols${path}`, { ...init, headers });
      return { status: answer.status, text: await answer.text() };
    };
    for (const code of kept) {
      const answer = await exchange('', { method: 'POST', body: `{"name":"exact","family":"generic","code":${code}}` });
      expect(answer.status).toBe(201);
      expect(`${answer.text},`).toContain(`"code":${code}}`);
      const [, id = ''] = /"id":"([^"]+)"/.exec(answer.text) ?? [];
      expect((await exchange(`/${id}`)).text).toContain(`"code":${code},`);
    }
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const refused = await owner()('POST', '/api/v1/protocols', {
      body: `{"name":"deep","family":"generic","code":${deep}}`,
      headers: { 'content-type': 'application/json' },
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
  });

  test('any JSON value survives', async () => {
    const seed = Number(process.env['FC_SEED'] ?? Date.now());
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (code) => {
        fc.pre(code !== null);
        const { id } = await create('any', { code });
        const read = await owner()('GET', `/api/v1/protocols/${id}`);
        expect(JSON.stringify(read.body.code)).toBe(JSON.stringify(code));
      }),
      { seed, numRuns: 30 },
    );
  });
});

describe('versions of the code', () => {
  test('each change of code or family keeps what was before, to the digit, for whoever may read', async () => {
    const body = '{"name":"Versions","family":"generic","code":{"b":1.50,"a":[2.00]}}';
    const { id } = (await owner()('POST', '/api/v1/protocols', { body, headers: { 'content-type': 'application/json' } })).body;
    const path = `/api/v1/protocols/${id}`;
    await owner()('PATCH', path, { body: { code: [3] } });
    await owner()('PATCH', path, { body: { description: 'no version' } });
    await owner()('PATCH', path, { body: { family: 'minipar' } });
    const listed = await owner()('GET', `${path}/versions`);
    expect(listed.headers.get('x-total-count')).toBe('3');
    expect(listed.body.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1]);
    expect((await owner()('GET', `${path}/versions/1`)).text).toContain('"code":{"b":1.50,"a":[2.00]}');
    expect((await owner()('GET', `${path}/versions/2`)).body).toMatchObject({
      code: [3],
      family: 'generic',
      createdByName: 'Owner Tester',
    });
    expect((await owner()('GET', `${path}/versions/3`)).body).toMatchObject({ code: [3], family: 'minipar' });
    expect(await owner()('GET', `${path}/versions/4`)).toMatchObject({ status: 404, body: { code: 'CODE_VERSION_NOT_FOUND' } });
    for (const place of ['versions', 'versions/1']) expect((await site.as(site.cast.stranger)('GET', `${path}/${place}`)).status).toBe(403);
  });
});

describe('one protocol', () => {
  test('GET /api/v1/protocols/{id} says what the caller may do, with an entity tag', async () => {
    const { id } = await create('Read');
    const read = await owner()('GET', `/api/v1/protocols/${id}`);
    expect(read.body.capabilities).toEqual({
      canContribute: true,
      canUpdate: true,
      canManage: true,
      canShare: true,
      canLeave: false,
      canTransfer: true,
    });
    const again = await owner()('GET', `/api/v1/protocols/${id}`, { headers: { 'if-none-match': read.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
    expect((await site.as(site.cast.member)('GET', `/api/v1/protocols/${id}`)).body.capabilities).toMatchObject({
      canContribute: false,
      canUpdate: false,
    });
    expect((await site.as(site.cast.stranger)('GET', `/api/v1/protocols/${id}`)).status).toBe(403);
    expect((await owner()('GET', `/api/v1/protocols/${UNKNOWN}`)).status).toBe(404);
    expect((await owner()('GET', '/api/v1/protocols/nonsense')).status).toBe(400);
  });

  test('PATCH /api/v1/protocols/{id} keeps versions of the code, and refuses a stale tag', async () => {
    const { id } = await create('Patched');
    const etag = (await owner()('GET', `/api/v1/protocols/${id}`)).headers.get('etag') ?? '';
    const path = `/api/v1/protocols/${id}`;
    expect(await owner()('PATCH', path, { body: {} })).toMatchObject({ status: 200, body: { name: 'Patched', codeVersion: 1 } });
    const renamed = await owner()('PATCH', path, { body: { name: ' Better ', description: null }, headers: { 'if-match': etag } });
    expect(renamed).toMatchObject({ status: 200, body: { name: 'Better', description: null, codeVersion: 1 } });
    expect((await owner()('PATCH', path, { body: { name: 'Lost' }, headers: { 'if-match': etag } })).status).toBe(412);
    expect((await owner()('PATCH', path, { body: { code: 'x', family: 'ambit' } })).body).toMatchObject({
      code: 'x',
      family: 'ambit',
      codeVersion: 2,
    });
    expect((await owner()('PATCH', path, { body: { code: null } })).status).toBe(400);
    expect((await site.as(site.cast.member)('PATCH', path, { body: { name: 'No' } })).status).toBe(403);
    const kept = await site.db.rows<{ version: number; code: string }>(
      sql('test')`select version, code from code_versions where resource_id = ${id} order by version`,
    );
    expect(kept).toEqual([
      { version: 1, code: '[{"a":1}]' },
      { version: 2, code: '"x"' },
    ]);
  });

  test('DELETE /api/v1/protocols/{id} answers null', async () => {
    const { id } = await create('Gone');
    expect((await site.as(site.cast.member)('DELETE', `/api/v1/protocols/${id}`)).status).toBe(403);
    expect(await owner()('DELETE', `/api/v1/protocols/${id}`)).toMatchObject({ status: 200, body: null });
    expect((await owner()('GET', `/api/v1/protocols/${id}`)).status).toBe(404);
  });

  test('PATCH /api/v1/protocols/{id}/visibility goes one way', async () => {
    const { id } = await create('Open');
    const path = `/api/v1/protocols/${id}/visibility`;
    expect((await owner()('PATCH', path, { body: { visibility: 'public' } })).body).toEqual({ id, visibility: 'public' });
    expect((await site.as(site.cast.stranger)('GET', `/api/v1/protocols/${id}`)).status).toBe(200);
    expect((await owner()('PATCH', path, { body: { visibility: 'public' } })).status).toBe(200);
    expect((await owner()('PATCH', path, { body: { visibility: 'private' } })).body.code).toBe('VISIBILITY_NOT_MONOTONIC');
  });
});

describe('GET /api/v1/protocols', () => {
  test('lists by name what the caller may read, in pages, and finds by words, prefixes, families and misspelt names', async () => {
    const viewer = site.as(site.cast.viewer);
    for (const name of ['Zebra drought', 'apple drought', 'Mango drought'])
      await viewer('POST', '/api/v1/protocols', { body: { name, code: 1, family: 'minipar' } });
    const shared = await create('Shared drought');
    await grant(site.db, { id: shared.id, type: 'protocol' }, { user: site.cast.viewer.id }, 'viewer');
    const open = await create('Open drought', { visibility: 'public' });
    await create('Hidden drought');
    const names = async (query: Record<string, string | number>) =>
      (await viewer('GET', '/api/v1/protocols', { query })).body.map(({ name }: { name: string }) => name);
    expect(await names({ scope: 'related' })).toEqual(['apple drought', 'Mango drought', 'Shared drought', 'Zebra drought']);
    expect(await names({ filter: 'my' })).toHaveLength(4);
    expect(await names({})).toContain(open.name);
    expect(await names({ scope: 'related', pageSize: 2, page: 2 })).toEqual(['Shared drought', 'Zebra drought']);
    const counted = await viewer('GET', '/api/v1/protocols', { query: { scope: 'related', pageSize: 2 } });
    expect(counted.headers.get('x-total-count')).toBe('4');
    expect(counted.headers.get('link')).toContain('rel="next"');
    expect((await names({ search: 'drou' })).sort()).toEqual([
      'Mango drought',
      'Open drought',
      'Shared drought',
      'Zebra drought',
      'apple drought',
    ]);
    expect(await names({ search: 'drought zeb' })).toEqual(['Zebra drought']);
    expect(await names({ search: 'manggo' })).toEqual(['Mango drought']);
    expect(await names({ search: 'minipar', scope: 'related' })).toHaveLength(3);
    expect(await names({ search: 'ebra dr' })).toEqual(['Zebra drought']);
    expect(await names({ search: '100%_\\ & | ! :*' })).toEqual([]);
    expect((await viewer('GET', '/api/v1/protocols', { query: { pageSize: 101 } })).status).toBe(400);
    expect((await viewer('GET', '/api/v1/protocols', { query: { famly: 'x' } })).status).toBe(400);
  });
});

describe('links', () => {
  test('GET, POST and DELETE /api/v1/protocols/{id}/macros and their macro side are one table', async () => {
    const protocol = await create('Linked protocol');
    const first = await macro('B macro');
    const second = await macro('A macro');
    const made = await owner()('POST', `/api/v1/protocols/${protocol.id}/macros`, { body: { macroIds: [first.id, second.id, first.id] } });
    expect(made.status).toBe(201);
    expect(made.body).toEqual([
      {
        protocolId: protocol.id,
        macro: { id: second.id, name: 'A macro', filename: second.filename, language: 'javascript', createdBy: site.cast.owner.id },
        addedAt: expect.any(String),
      },
      expect.objectContaining({ macro: expect.objectContaining({ id: first.id }) }),
    ]);
    expect((await owner()('POST', `/api/v1/protocols/${protocol.id}/macros`, { body: { macroIds: [first.id] } })).body).toHaveLength(1);
    expect((await owner()('GET', `/api/v1/macros/${first.id}/protocols`)).body).toEqual([
      {
        macroId: first.id,
        protocol: { id: protocol.id, name: 'Linked protocol', family: 'multispeq', createdBy: site.cast.owner.id },
        addedAt: expect.any(String),
      },
    ]);
    expect(await owner()('DELETE', `/api/v1/macros/${first.id}/protocols/${protocol.id}`)).toMatchObject({ status: 200, body: null });
    expect((await owner()('DELETE', `/api/v1/protocols/${protocol.id}/macros/${first.id}`)).status).toBe(200);
    expect((await owner()('GET', `/api/v1/protocols/${protocol.id}/macros`)).body).toHaveLength(1);
    expect((await owner()('POST', `/api/v1/macros/${first.id}/protocols`, { body: { protocolIds: [protocol.id] } })).status).toBe(201);
  });

  test('a link shows only what the reader may read, and nothing is written when one cannot be linked', async () => {
    const protocol = await create('Half open', { visibility: 'public' });
    const hidden = await macro('Hidden macro');
    const open = await macro('Open macro', { visibility: 'public' });
    await owner()('POST', `/api/v1/protocols/${protocol.id}/macros`, { body: { macroIds: [hidden.id, open.id] } });
    const seen = (await site.as(site.cast.stranger)('GET', `/api/v1/protocols/${protocol.id}/macros`)).body;
    expect(seen.map((link: { macro: { id: string } }) => link.macro.id)).toEqual([open.id]);
    const own = (await site.as(site.cast.stranger)('POST', '/api/v1/protocols', { body: { name: 'own', code: 1, family: 'generic' } }))
      .body;
    const post = (macroIds: string[]) => site.as(site.cast.stranger)('POST', `/api/v1/protocols/${own.id}/macros`, { body: { macroIds } });
    expect((await post([open.id, hidden.id])).status).toBe(403);
    expect((await post([open.id, UNKNOWN])).status).toBe(404);
    expect((await post(['nonsense'])).status).toBe(400);
    expect((await post([])).status).toBe(400);
    expect((await site.as(site.cast.stranger)('GET', `/api/v1/protocols/${own.id}/macros`)).body).toEqual([]);
    expect((await post([open.id])).status).toBe(201);
    expect(
      (await site.as(site.cast.stranger)('POST', `/api/v1/protocols/${protocol.id}/macros`, { body: { macroIds: [open.id] } })).status,
    ).toBe(403);
  });
});
