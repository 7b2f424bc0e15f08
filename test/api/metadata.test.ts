import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const experiment = async (): Promise<string> =>
  (await site.as(site.cast.owner)('POST', '/api/v1/experiments', { body: { name: 'Described', organizationId: site.cast.leafLab } })).body
    .id;
const plots = {
  name: 'Plots',
  columns: [
    { id: 'c1', name: 'plot', type: 'string' },
    { id: 'c2', name: 'treatment', type: 'string' },
    { id: 'c3', name: 'sown_on', type: 'date' },
  ],
  rows: [
    { _id: '1', c1: 'P1', c2: 'dry', sown_on: '2026-03-01' },
    { _id: '2', c1: 'P2', c2: 'wet', extra: [1] },
    { _id: '3', c1: 'P1', c2: 'late' },
    { _id: '4', c2: 'nobody' },
  ],
  identifierColumnId: 'c1',
  experimentQuestionId: 'plot_number',
};

describe('metadata records', () => {
  test('POST /api/v1/experiments/{id}/metadata adds one, with every field, and names identifiers that repeat', async () => {
    const id = await experiment();
    const answer = await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata: plots } });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      metadataId: expect.any(String),
      experimentId: id,
      metadata: plots,
      duplicateIdentifiers: ['P1'],
      createdBy: site.cast.owner.id,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
  });

  test('keys that hold escapes come back as they were sent, whatever keys came before', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    for (const key of ['\\', '\n', '"', '\\nab', '\nabc', 'a\\', 'a\t']) {
      const metadata = { ...plots, rows: [{ _id: '1', [key]: 'here' }] };
      const kept = await owner('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata } });
      expect(kept.body.metadata).toEqual(metadata);
      const [newest] = (await owner('GET', `/api/v1/experiments/${id}/metadata`)).body;
      expect(newest.metadata).toEqual(metadata);
    }
  });

  test('GET /api/v1/experiments/{id}/metadata lists them newest first', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    for (const name of ['first', 'second'])
      await owner('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata: { ...plots, name } } });
    const all = await site.as(site.cast.member)('GET', `/api/v1/experiments/${id}/metadata`);
    expect(all.body.map((record: { metadata: { name: string } }) => record.metadata.name)).toEqual(['second', 'first']);
    expect(all.headers.get('x-total-count')).toBe('2');
    expect((await owner('GET', `/api/v1/experiments/${id}/metadata`, { query: { page: 2, pageSize: 1 } })).body).toHaveLength(1);
    expect((await site.as(site.cast.stranger)('GET', `/api/v1/experiments/${id}/metadata`)).status).toBe(403);
  });

  test('GET /api/v1/experiments/{id}/metadata/{metadataId} reads one with the tag that a change sends', async () => {
    const [id, other] = [await experiment(), await experiment()];
    const owner = site.as(site.cast.owner);
    const made = await owner('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata: plots } });
    const path = `/api/v1/experiments/${id}/metadata/${made.body.metadataId}`;
    const read = await owner('GET', path);
    expect(read).toMatchObject({ status: 200, body: made.body });
    const headers = { 'if-match': read.headers.get('etag')! };
    expect((await owner('GET', path, { headers: { 'if-none-match': headers['if-match'] } })).status).toBe(304);
    expect((await site.as(site.cast.member)('GET', path)).body).toEqual(made.body);
    expect((await site.as(site.cast.stranger)('GET', path)).status).toBe(403);
    expect((await owner('PUT', path, { body: { metadata: { ...plots, name: 'Second' } }, headers })).status).toBe(200);
    expect((await owner('PUT', path, { body: { metadata: plots }, headers })).body.code).toBe('PRECONDITION_FAILED');
    expect((await owner('DELETE', path, { headers })).status).toBe(412);
    expect((await owner('GET', path)).body.metadata.name).toBe('Second');
    expect((await owner('GET', `/api/v1/experiments/${other}/metadata/${made.body.metadataId}`)).body.code).toBe('METADATA_NOT_FOUND');
    await owner('PATCH', `/api/v1/experiments/${id}`, { body: { anonymizeContributors: true } });
    const [toMember, toOwner] = await Promise.all([site.as(site.cast.member)('GET', path), owner('GET', path)]);
    expect(toOwner.body.createdBy).toBe(site.cast.owner.id);
    expect(toMember.body).toEqual({ ...toOwner.body, createdBy: expect.not.stringContaining(site.cast.owner.id) });
  });

  test('PUT /api/v1/experiments/{id}/metadata/{metadataId} replaces the table and keeps who made it', async () => {
    const [id, other] = [await experiment(), await experiment()];
    const owner = site.as(site.cast.owner);
    const made = (await owner('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata: plots } })).body;
    const path = `/api/v1/experiments/${id}/metadata/${made.metadataId}`;
    const changed = await site.as(site.cast.admin)('PUT', path, { body: { metadata: { ...plots, name: 'Renamed', rows: [] } } });
    expect(changed).toMatchObject({
      status: 200,
      body: { metadata: { name: 'Renamed', rows: [] }, createdBy: site.cast.owner.id, createdAt: made.createdAt, duplicateIdentifiers: [] },
    });
    expect(changed.body.updatedAt > made.updatedAt).toBe(true);
    expect((await owner('PUT', path, { body: {} })).body).toEqual(changed.body);
    const headers = { 'if-match': '"1-x"' };
    expect((await owner('PUT', path, { body: { metadata: plots }, headers })).status).toBe(412);
    expect((await owner('PUT', `/api/v1/experiments/${other}/metadata/${made.metadataId}`, { body: { metadata: plots } })).status).toBe(
      404,
    );
    expect((await owner('PUT', `/api/v1/experiments/${id}/metadata/${crypto.randomUUID()}`, { body: { metadata: plots } })).body.code).toBe(
      'METADATA_NOT_FOUND',
    );
    await grant(site.db, { id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
    expect((await site.as(site.cast.viewer)('PUT', path, { body: { metadata: plots } })).status).toBe(403);
  });

  test('DELETE /api/v1/experiments/{id}/metadata/{metadataId} removes it once', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const made = (await owner('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata: plots } })).body;
    const path = `/api/v1/experiments/${id}/metadata/${made.metadataId}`;
    await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
    expect((await owner('DELETE', path)).body.code).toBe('EXPERIMENT_ARCHIVED');
    expect((await owner('PUT', path, { body: { metadata: plots } })).status).toBe(409);
    expect((await owner('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata: plots } })).status).toBe(409);
    await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'active' } });
    expect(await owner('DELETE', path)).toMatchObject({ status: 200, body: null });
    expect((await owner('DELETE', path)).status).toBe(404);
  });

  test('refuses tables that break a rule, naming the place', async () => {
    const id = await experiment();
    const send = async (change: object) => {
      const answer = await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/metadata`, {
        body: { metadata: { ...plots, ...change } },
      });
      return answer.status === 400 ? answer.body.errors.map((problem: { path: string }) => problem.path) : answer.status;
    };
    const named = (name: string) => ({ columns: [plots.columns[0], { id: 'x', name, type: 'string' }] });
    expect(await send({ name: '' })).toBe(201);
    expect(await send({ experimentQuestionId: 'column:device_id' })).toBe(201);
    expect(await send({ name: 'x'.repeat(121) })).toHaveLength(1);
    expect(await send({ columns: [] })).toHaveLength(1);
    expect(await send(named('Plot'))).toEqual(['/metadata/columns/1/name']);
    expect(await send(named('Device_ID'))).toEqual(['/metadata/columns/1/name']);
    expect(await send(named('has space'))).toHaveLength(1);
    expect(await send({ columns: [plots.columns[0], { id: 'c1', name: 'other', type: 'number' }] })).toEqual(['/metadata/columns/1/id']);
    expect(await send({ identifierColumnId: 'c9' })).toEqual(['/metadata/identifierColumnId']);
    expect(await send({ experimentQuestionId: 'column:timestamp' })).toEqual(['/metadata/experimentQuestionId']);
    expect(await send({ rows: [{ c1: 'no id' }] })).toHaveLength(1);
    expect(await send({ rows: [{ _id: '1', c1: 'x'.repeat(5_000_000) }] })).toEqual(['/metadata']);
  });

  test('refuses more cells than the engine can hold, and keeps columns called as members that every object has', async () => {
    const id = await experiment();
    const path = `/api/v1/experiments/${id}/metadata`;
    const send = (columns: readonly string[], rows: readonly object[]) =>
      site.as(site.cast.owner)('POST', path, {
        body: {
          metadata: { ...plots, columns: columns.map((name) => ({ id: name, name, type: 'string' })), rows, identifierColumnId: 'plot' },
        },
      });
    const wide = ['plot', ...Array.from({ length: 499 }, (_, at) => `c${at}`)];
    const long = Array.from({ length: 10_100 }, (_, at) => ({ _id: '1', plot: String(at) }));
    expect(await send(wide, long)).toMatchObject({ status: 409, body: { code: 'METADATA_FULL' } });
    expect(await send(wide, long.slice(0, 100))).toMatchObject({ status: 201 });
    expect(await send(['plot', 'constructor'], [{ _id: '1', plot: 'P' }])).toMatchObject({ status: 201 });
  });

  test('take a long text of digits for what it is', async () => {
    const id = await experiment();
    const columns = [plots.columns[0], { id: 'n', name: 'height', type: 'number' }];
    const rows = [{ _id: '1', c1: 'P1', n: `${'1'.repeat(1_000_000)}x` }];
    const body = { metadata: { ...plots, columns, rows } };
    expect(await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/metadata`, { body })).toMatchObject({ status: 201 });
  });

  test('of an older shape do not make the list fail', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    await owner('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata: plots } });
    await site.db.run(sql('test')`
      insert into metadata_records (id, experiment_id, metadata, size, created_by)
      values (gen_random_uuid(), ${id}, '{"name":"old","columns":[{"id":"a","name":"a","type":"string"}],"rows":[],"identifierColumnId":"zz","experimentQuestionId":"q"}', 2, ${site.cast.owner.id})`);
    const all = await owner('GET', `/api/v1/experiments/${id}/metadata`);
    expect(all).toMatchObject({ status: 200 });
    expect(all.body).toHaveLength(2);
  });
});
