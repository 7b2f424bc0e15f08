import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listMissingRoles, ROLES } from '../../src/api/visualizations/roles.ts';
import { CHART_TYPES, type SourceRole } from '../../src/api/visualizations/visualizations.model.ts';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const experiment = async (): Promise<string> =>
  (await site.as(site.cast.owner)('POST', '/api/v1/experiments', { body: { name: 'Charted', organizationId: site.cast.leafLab } })).body.id;
const source = (role: string, columnName: string, more: object = {}) => ({ tableName: 'raw_data', columnName, role, ...more });
const line = {
  name: 'Yield',
  chartFamily: 'basic',
  chartType: 'line',
  dataConfig: { tableName: 'raw_data', dataSources: [source('x', 'timestamp'), source('y', 'phi2')] },
};

describe('visualizations', () => {
  test('POST /api/v1/experiments/{id}/visualizations adds one, with every field', async () => {
    const id = await experiment();
    const dataConfig = {
      tableName: 'raw_data',
      dataSources: [
        source('x', 'timestamp'),
        source('y', 'phi2', { seriesName: 'Phi 2', alias: 'p', traceType: 'line', axis: 'primary', aggregate: 'avg', errorColumn: 'sd' }),
      ],
      filters: [
        { column: 'phi2', operator: 'between', value: [0, 1] },
        { column: 'device_id', operator: 'is_not_null' },
      ],
      aggregation: {
        groupBy: [{ column: 'timestamp', timeBucket: 'day', timezone: 'Europe/Amsterdam' }],
        functions: [{ column: 'phi2', function: 'avg', alias: 'phi2_avg_s1' }],
      },
    };
    const body = { ...line, description: 'By day', config: { color: { deep: ['#fff'] } }, dataConfig };
    const answer = await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/visualizations`, { body });
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.body).toEqual({
      ...body,
      id: expect.any(String),
      experimentId: id,
      createdBy: site.cast.owner.id,
      createdByName: 'Owner Tester',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    const least = await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/visualizations`, { body: line });
    expect(least.body).toMatchObject({ config: {}, description: null });
  });

  test('GET /api/v1/experiments/{id}/visualizations filters by family and pages', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const path = `/api/v1/experiments/${id}/visualizations`;
    for (const name of ['one', 'two', 'three']) await owner('POST', path, { body: { ...line, name } });
    await owner('POST', path, {
      body: {
        ...line,
        name: 'Heat',
        chartFamily: 'scientific',
        chartType: 'heatmap',
        dataConfig: { tableName: '', dataSources: [source('x', '')] },
      },
    });
    const names = async (query: Record<string, string | number>) =>
      (await owner('GET', path, { query })).body.map(({ name }: { name: string }) => name);
    expect(await names({})).toEqual(['Heat', 'three', 'two', 'one']);
    expect(await names({ chartFamily: 'basic', limit: 2, offset: 1 })).toEqual(['two', 'one']);
    expect(await names({ chartFamily: '3d' })).toEqual([]);
    expect(await names({ limit: 0 })).toEqual([]);
    expect((await owner('GET', path, { query: { limit: 1 } })).headers.get('link')).toContain('rel="next"');
    expect((await owner('GET', path, { query: { limit: 1, chartFamily: 'basic' } })).headers.get('x-total-count')).toBe('3');
    for (const query of [{ limit: 101 }, { limit: -1 }, { offset: -1 }, { chartFamily: 'odd' }, { charttype: 'line' }] as Record<
      string,
      string | number
    >[])
      expect((await owner('GET', path, { query })).status).toBe(400);
    expect((await site.as(site.cast.stranger)('GET', path)).status).toBe(403);
  });

  test('GET /api/v1/experiments/{id}/visualizations/{visualizationId} is 404 from another experiment', async () => {
    const [id, other] = [await experiment(), await experiment()];
    const owner = site.as(site.cast.owner);
    const made = (await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body: line })).body;
    const found = await site.as(site.cast.member)('GET', `/api/v1/experiments/${id}/visualizations/${made.id}`);
    expect(found).toMatchObject({ status: 200, body: made });
    const headers = { 'if-none-match': found.headers.get('etag') ?? '' };
    expect((await site.as(site.cast.member)('GET', `/api/v1/experiments/${id}/visualizations/${made.id}`, { headers })).status).toBe(304);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        await owner(method, `/api/v1/experiments/${other}/visualizations/${made.id}`, method === 'PATCH' ? { body: line } : {}),
      ).toMatchObject({
        status: 404,
        body: { code: 'VISUALIZATION_NOT_FOUND' },
      });
    expect((await owner('GET', `/api/v1/experiments/${id}/visualizations/nonsense`)).status).toBe(400);
  });

  test('PATCH /api/v1/experiments/{id}/visualizations/{visualizationId} changes what is given, once per version', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const made = await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body: line });
    const path = `/api/v1/experiments/${id}/visualizations/${made.body.id}`;
    const headers = { 'if-match': made.headers.get('etag') ?? '' };
    expect((await owner('PATCH', path, { body: { name: 'New', description: 'said' }, headers })).body).toMatchObject({
      name: 'New',
      description: 'said',
      dataConfig: line.dataConfig,
    });
    expect((await owner('PATCH', path, { body: { name: 'Lost' }, headers })).status).toBe(412);
    expect((await owner('PATCH', path, { body: {} })).body.name).toBe('New');
    expect((await owner('PATCH', path, { body: { description: null } })).body.description).toBeNull();
    expect((await owner('PATCH', path, { body: { chartType: 'pie' } })).body.errors[0].path).toBe('/dataConfig/dataSources/0/role');
    await grant(site.db, { id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
    expect((await site.as(site.cast.viewer)('PATCH', path, { body: { name: 'No' } })).status).toBe(403);
    await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
    expect((await owner('PATCH', path, { body: { name: 'No' } })).body.code).toBe('EXPERIMENT_ARCHIVED');
    expect((await owner('DELETE', path)).status).toBe(409);
    expect((await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body: line })).status).toBe(409);
  });

  test('DELETE /api/v1/experiments/{id}/visualizations/{visualizationId} removes it once', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const made = (await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body: line })).body;
    const path = `/api/v1/experiments/${id}/visualizations/${made.id}`;
    expect((await owner('DELETE', path, { headers: { 'if-match': '"9-x"' } })).status).toBe(412);
    expect(await owner('DELETE', path)).toMatchObject({ status: 200, body: null });
    expect((await owner('DELETE', path)).status).toBe(404);
  });

  test('refuses what it does not know, and keeps drafts', async () => {
    const id = await experiment();
    const send = async (body: object) => {
      const answer = await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/visualizations`, { body: { ...line, ...body } });
      return answer.status === 400 ? answer.body.errors[0] : answer.status;
    };
    const config = (dataConfig: object) => send({ dataConfig: { ...line.dataConfig, ...dataConfig } });
    expect(await send({ name: '  ' })).toMatchObject({ path: '/name' });
    expect(await send({ chartType: 'donut' })).toMatchObject({ path: '/chartType' });
    expect(await send({ config: { big: 'x'.repeat(100_000) } })).toMatchObject({ path: '/config' });
    const among = (values: number) => config({ filters: [{ column: 'a', operator: 'in', value: Array(values).fill('x'.repeat(97)) }] });
    expect(await among(990)).toBe(201);
    expect(await among(1_000)).toMatchObject({ path: '/dataConfig', message: 'has more than 100,000 characters as JSON' });
    expect(await config({ dataSource: [] })).toMatchObject({ message: expect.stringContaining("'dataSources'") });
    expect(await config({ dataSources: [] })).toMatchObject({ path: '/dataConfig/dataSources' });
    expect(await config({ dataSources: [source('x', 't', { agregate: 'sum' })] })).toMatchObject({
      message: expect.stringContaining("'aggregate'"),
    });
    expect(await config({ dataSources: [source('x', 't', { aggregate: 'mode' })] })).toMatchObject({
      path: '/dataConfig/dataSources/0/aggregate',
    });
    expect(await config({ filters: [{ column: 'a', operator: 'like', value: 1 }] })).toMatchObject({
      path: '/dataConfig/filters/0/operator',
    });
    expect(await config({ filters: [{ column: 'a', operator: 'equals', values: 1 }] })).toMatchObject({
      message: expect.stringContaining("'value'"),
    });
    expect(await config({ dataSources: [source('x', 'a'), source('x', 'b')] })).toMatchObject({
      path: '/dataConfig/dataSources/1/role',
    });
    expect(await config({ dataSources: [source('labels', 'a')] })).toMatchObject({ path: '/dataConfig/dataSources/0/role' });
    expect(await config({ dataSources: [{ ...source('x', 'a'), tableName: 'device' }] })).toMatchObject({
      path: '/dataConfig/dataSources/0/tableName',
    });
    expect(await config({ dataSources: [source('labels', '')] })).toBe(201);
    expect(await config({ dataSources: [source('x', 'timestamp')] })).toBe(201);
  });

  test('the role table covers every chart type, and says what is missing', () => {
    for (const type of CHART_TYPES) {
      const roles = Object.keys(ROLES[type]) as SourceRole[];
      expect(roles.length).toBeGreaterThan(0);
      const all = { tableName: 't', dataSources: roles.map((role) => ({ tableName: 't', columnName: 'c', role })) };
      expect(listMissingRoles(type, all)).toEqual([]);
      const required = roles.filter((role) => ROLES[type][role]?.required === true);
      expect(listMissingRoles(type, { tableName: 't', dataSources: [] })).toEqual(required);
    }
  });

  test('rows of an older shape do not make the list fail', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body: line });
    await site.db.run(sql('test')`
      insert into visualizations (id, experiment_id, name, chart_family, chart_type, config, data_config, created_by)
      values (gen_random_uuid(), ${id}, 'old', 'basic', 'line', 'null', '[]', ${site.cast.owner.id})`);
    const all = await owner('GET', `/api/v1/experiments/${id}/visualizations`);
    expect(all.body).toMatchObject([{ name: 'old', config: {}, dataConfig: { tableName: '', dataSources: [] } }, { name: 'Yield' }]);
  });
});
