import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const owner = () => site.as(site.cast.owner);
const create = async (name: string, body: object = {}) =>
  (
    await owner()('POST', '/api/v1/macros', {
      body: { name, code: 'output.a = 1', language: 'javascript', organizationId: site.cast.leafLab, ...body },
    })
  ).body;

describe('POST /api/v1/macros', () => {
  test('creates a private macro with every field; its filename comes from its id', async () => {
    const answer = await owner()('POST', '/api/v1/macros', {
      body: { name: 'FvFm', language: 'python', code: 'b3V0cHV0WydhJ10gPSAx', organizationId: site.cast.leafLab },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      name: 'FvFm',
      filename: `macro_${createHash('sha256').update(answer.body.id).digest('hex').slice(0, 12)}`,
      description: null,
      language: 'python',
      code: 'b3V0cHV0WydhJ10gPSAx',
      codeVersion: 1,
      sortOrder: null,
      createdBy: site.cast.owner.id,
      createdByName: 'Owner Tester',
      forkedFrom: null,
      organizationId: site.cast.leafLab,
      organizationName: 'Leaf Lab',
      visibility: 'private',
    });
  });

  test('refuses empty code, unknown languages and NUL', async () => {
    const post = (change: object) => owner()('POST', '/api/v1/macros', { body: { name: 'x', code: '1', language: 'r', ...change } });
    expect((await post({})).status).toBe(201);
    expect((await post({ code: '' })).status).toBe(400);
    expect((await post({ language: 'julia' })).status).toBe(400);
    expect(await post({ code: 'a\u0000b' })).toMatchObject({ status: 400, body: { code: 'TEXT_HOLDS_NUL' } });
  });
});

describe('one macro', () => {
  test('GET /api/v1/macros/{id} and PUT /api/v1/macros/{id}: a partial change, a new code version, the same filename', async () => {
    const made = await create('Put');
    const path = `/api/v1/macros/${made.id}`;
    const read = await owner()('GET', path);
    expect(read.body.capabilities.canManage).toBe(true);
    const etag = read.headers.get('etag') ?? '';
    const changed = await owner()('PUT', path, { body: { code: '', language: 'r' }, headers: { 'if-match': etag } });
    expect(changed).toMatchObject({ status: 200, body: { name: 'Put', code: '', language: 'r', codeVersion: 2, filename: made.filename } });
    expect((await owner()('PUT', path, { body: { name: 'x' }, headers: { 'if-match': etag } })).status).toBe(412);
    expect((await owner()('PUT', path, { body: {} })).body).toMatchObject({ codeVersion: 2 });
    expect((await site.as(site.cast.member)('PUT', path, { body: { name: 'x' } })).status).toBe(403);
    expect((await site.as(site.cast.member)('GET', path)).status).toBe(200);
  });

  test('DELETE /api/v1/macros/{id} and PATCH /api/v1/macros/{id}/visibility', async () => {
    const { id } = await create('Ends');
    expect((await owner()('PATCH', `/api/v1/macros/${id}/visibility`, { body: { visibility: 'public' } })).body).toEqual({
      id,
      visibility: 'public',
    });
    expect((await owner()('DELETE', `/api/v1/macros/${id}`)).body).toBeNull();
    expect((await owner()('GET', `/api/v1/macros/${id}`)).status).toBe(404);
  });
});

describe('versions of the code', () => {
  test('each change of code or language keeps what was before, newest first, for whoever may read', async () => {
    const { id } = await create('Versions');
    const path = `/api/v1/macros/${id}`;
    await owner()('PUT', path, { body: { code: 'output.a = 2' } });
    await owner()('PUT', path, { body: { name: 'Still two' } });
    await owner()('PUT', path, { body: { language: 'python' } });
    const listed = await site.as(site.cast.member)('GET', `${path}/versions`);
    expect(listed.status).toBe(200);
    expect(listed.headers.get('x-total-count')).toBe('3');
    expect(listed.body.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1]);
    expect(listed.body[0]).toEqual({
      version: 3,
      createdBy: site.cast.owner.id,
      createdByName: 'Owner Tester',
      createdAt: expect.any(String),
    });
    expect((await owner()('GET', `${path}/versions?page=2&pageSize=2`)).body).toHaveLength(1);
    const kept = async (version: number) => (await owner()('GET', `${path}/versions/${version}`)).body;
    expect(await kept(1)).toMatchObject({ version: 1, code: 'output.a = 1', language: 'javascript' });
    expect(await kept(2)).toMatchObject({ version: 2, code: 'output.a = 2', language: 'javascript' });
    expect(await kept(3)).toMatchObject({ version: 3, code: 'output.a = 2', language: 'python' });
    expect(await owner()('GET', `${path}/versions/4`)).toMatchObject({ status: 404, body: { code: 'CODE_VERSION_NOT_FOUND' } });
    for (const bad of ['0', '1.5', 'x', '2147483648']) expect((await owner()('GET', `${path}/versions/${bad}`)).status).toBe(400);
    for (const place of ['versions', 'versions/1']) expect((await site.as(site.cast.stranger)('GET', `${path}/${place}`)).status).toBe(403);
  });
});

describe('GET /api/v1/macros', () => {
  test('a page far behind the last is empty', async () => {
    for (const path of ['macros', 'protocols', 'workbooks'])
      for (const page of [1, 21_474_837, 2_147_483_647])
        expect(await owner()('GET', `/api/v1/${path}?page=${page}`), path).toMatchObject({
          status: 200,
          body: page === 1 ? expect.any(Array) : [],
        });
  });

  test('filters by language and finds by language, maker and name', async () => {
    const viewer = site.as(site.cast.viewer);
    for (const language of ['python', 'r', 'javascript'])
      await viewer('POST', '/api/v1/macros', { body: { name: `Fit ${language}`, code: '1', language } });
    const names = async (query: Record<string, string>) =>
      (await viewer('GET', '/api/v1/macros', { query: { scope: 'related', ...query } })).body.map(({ name }: { name: string }) => name);
    expect(await names({})).toEqual(['Fit javascript', 'Fit python', 'Fit r']);
    expect(await names({ language: 'r' })).toEqual(['Fit r']);
    expect(await names({ search: 'fit', language: 'python' })).toEqual(['Fit python']);
    expect(await names({ search: 'Viewer Tester' })).toHaveLength(3);
    expect((await viewer('GET', '/api/v1/macros', { query: { language: 'julia' } })).status).toBe(400);
  });
});
