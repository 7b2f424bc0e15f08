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
  (await site.as(site.cast.owner)('POST', '/api/v1/experiments', { body: { name: 'Shown', organizationId: site.cast.leafLab } })).body.id;
const at = (row: number) => ({ col: 0, row, colSpan: 6, rowSpan: 4 });
const widget = (type: string, config: object, row = 0) => ({ id: crypto.randomUUID(), layout: at(row), type, config });
const chart = {
  name: 'Chart',
  chartFamily: 'basic',
  chartType: 'line',
  dataConfig: { tableName: 'raw_data', dataSources: [{ tableName: 'raw_data', columnName: 'timestamp', role: 'x' }] },
};
const shows = { showTitle: true, showDescription: true };

describe('dashboards', () => {
  test('POST /api/v1/experiments/{id}/dashboards adds one with every kind of widget, and fills in what is usual', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const visualizationId = (await owner('POST', `/api/v1/experiments/${id}/visualizations`, { body: chart })).body.id;
    const widgets = [
      widget('visualization', { visualizationId, title: 'Top' }),
      widget('richText', { html: '<p onclick="steal()">Hi<script>alert(1)</script> <a href="javascript:x">there</a></p>' }, 4),
      widget(
        'table',
        { tableName: 'raw_data', columns: ['timestamp'], pageSize: 50, filters: [{ column: 'a', operator: 'equals', value: 1 }] },
        8,
      ),
      widget('filter', { tableName: 'raw_data', column: 'device_id', operator: 'in', defaultValue: ['a', 'b'] }, 12),
      widget('table', {}, 16),
    ];
    const answer = await owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: ' Board ', widgets, layout: { gap: 0 } } });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      experimentId: id,
      name: ' Board ',
      description: null,
      layout: { columns: 12, rowHeight: 80, gap: 0 },
      widgets: [
        { ...widgets[0], config: { visualizationId, title: 'Top', showTitle: true, showDescription: false } },
        { ...widgets[1], config: { html: '<p>Hi <a>there</a></p>' } },
        { ...widgets[2], config: { ...widgets[2]?.config, ...shows } },
        { ...widgets[3], config: { ...widgets[3]?.config, ...shows } },
        { ...widgets[4], config: { pageSize: 25, ...shows } },
      ],
      createdBy: site.cast.owner.id,
      createdByName: 'Owner Tester',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
  });

  test('GET /api/v1/experiments/{id}/dashboards pages, newest first', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const path = `/api/v1/experiments/${id}/dashboards`;
    for (const name of ['one', 'two', 'three']) await owner('POST', path, { body: { name } });
    const names = async (query: Record<string, string | number>) =>
      (await site.as(site.cast.member)('GET', path, { query })).body.map(({ name }: { name: string }) => name);
    expect(await names({})).toEqual(['three', 'two', 'one']);
    expect(await names({ limit: 1, offset: 1 })).toEqual(['two']);
    expect(await names({ limit: 0 })).toEqual([]);
    expect((await owner('GET', path, { query: { limit: 101 } })).status).toBe(400);
    expect((await owner('GET', path)).headers.get('x-total-count')).toBe('3');
    expect((await site.as(site.cast.stranger)('GET', path)).status).toBe(403);
  });

  test('GET /api/v1/experiments/{id}/dashboards/{dashboardId} is 404 from another experiment', async () => {
    const [id, other] = [await experiment(), await experiment()];
    const owner = site.as(site.cast.owner);
    const made = (await owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'Board', description: 'd' } })).body;
    expect(await site.as(site.cast.member)('GET', `/api/v1/experiments/${id}/dashboards/${made.id}`)).toMatchObject({
      status: 200,
      body: made,
    });
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        await owner(method, `/api/v1/experiments/${other}/dashboards/${made.id}`, method === 'PATCH' ? { body: { name: 'x' } } : {}),
      ).toMatchObject({
        status: 404,
        body: { code: 'DASHBOARD_NOT_FOUND' },
      });
  });

  test('PATCH /api/v1/experiments/{id}/dashboards/{dashboardId}: of two who arrange widgets at once, one wins', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const widgets = [widget('richText', { html: 'a' }), widget('table', {}, 4), widget('filter', {}, 8)];
    const made = await owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'Board', widgets, layout: { columns: 6 } } });
    const path = `/api/v1/experiments/${id}/dashboards/${made.body.id}`;
    const headers = { 'if-match': made.headers.get('etag') ?? '' };
    const both = await Promise.all([
      owner('PATCH', path, { body: { widgets: made.body.widgets.toReversed() }, headers }),
      site.as(site.cast.admin)('PATCH', path, { body: { widgets: made.body.widgets.slice(1) }, headers }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
    const winner = both.find(({ status }) => status === 200);
    expect((await owner('GET', path)).body.widgets).toEqual(winner?.body.widgets);
    expect((await owner('PATCH', path, { body: { layout: { gap: 4 } } })).body.layout).toEqual({ columns: 12, rowHeight: 80, gap: 4 });
    expect((await owner('PATCH', path, { body: {} })).body.name).toBe('Board');
    await grant(site.db, { id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
    expect((await site.as(site.cast.viewer)('PATCH', path, { body: { name: 'No' } })).status).toBe(403);
    await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
    expect((await owner('PATCH', path, { body: { name: 'No' } })).body.code).toBe('EXPERIMENT_ARCHIVED');
    expect((await owner('DELETE', path)).status).toBe(409);
    expect((await owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'No' } })).status).toBe(409);
  });

  test('DELETE /api/v1/experiments/{id}/dashboards/{dashboardId} removes it once', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const made = (await owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'Board' } })).body;
    const path = `/api/v1/experiments/${id}/dashboards/${made.id}`;
    expect((await owner('DELETE', path, { headers: { 'if-match': '"7-x"' } })).status).toBe(412);
    expect(await owner('DELETE', path)).toMatchObject({ status: 200, body: null });
    expect((await owner('DELETE', path)).status).toBe(404);
  });

  test('refuses widgets that break a rule, and charts of another experiment', async () => {
    const [id, other] = [await experiment(), await experiment()];
    const owner = site.as(site.cast.owner);
    const send = async (body: object) => {
      const answer = await owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'Board', ...body } });
      return answer.status === 400 ? answer.body.errors[0].path : answer.status;
    };
    const foreign = (await owner('POST', `/api/v1/experiments/${other}/visualizations`, { body: chart })).body.id;
    const twice = widget('table', {});
    expect(await send({ widgets: [widget('visualization', { visualizationId: foreign })] })).toBe('/widgets/0/config/visualizationId');
    expect(await send({ widgets: [widget('visualization', { visualizationId: crypto.randomUUID() })] })).toBe(201);
    expect(await send({ widgets: [twice, twice] })).toBe('/widgets/1/id');
    expect(await send({ widgets: [widget('table', { pageSize: 30 })] })).toBe('/widgets/0/config/pageSize');
    expect(await send({ widgets: [widget('filter', { operator: 'like' })] })).toBe('/widgets/0/config/operator');
    expect(await send({ widgets: [widget('clock', {})] })).toMatch(/type$/);
    expect(await send({ widgets: [{ ...twice, id: 'x' }] })).toBe('/widgets/0/id');
    expect(await send({ widgets: [{ ...twice, layout: { ...at(0), colSpan: 25 } }] })).toMatch(/colSpan$/);
    expect(await send({ layout: { columns: 0 } })).toBe('/layout/columns');
    expect(await send({ layout: { rowHeight: 20.5 } })).toBe('/layout/rowHeight');
    expect(await send({ name: '' })).toBe('/name');
  });

  test('refuses texts that take long to clean, and more than a list can hold of many dashboards', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const send = async (...texts: string[]) => {
      const widgets = texts.map((html, row) => widget('richText', { html }, row));
      const answer = await owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'Board', widgets } });
      return answer.status === 400 ? answer.body.errors : answer.status;
    };
    const wordy = [{ path: '/widgets', message: expect.stringMatching(/^has \d+ characters as JSON; at most 1000000 are kept$/) }];
    expect(await send('<b>'.repeat(10_000), '<b>'.repeat(10_001))).toEqual([
      { path: '/widgets', message: 'hold 20001 tags in their texts; at most 20000 are cleaned' },
    ]);
    expect(await send('<p>a</p>'.repeat(10_000))).toBe(201);
    expect(await send(...Array<string>(5).fill('a'.repeat(200_000)))).toEqual(wordy);
    // each is `&amp;` once it is cleaned
    expect(await send('&'.repeat(40_001))).toEqual([
      { path: '/widgets/0/config/html', message: 'has 200005 characters once it is cleaned' },
    ]);
    expect(await send(...Array<string>(5).fill('&'.repeat(40_000)))).toEqual(wordy);
    expect(await send(...Array<string>(4).fill('&'.repeat(40_000)))).toBe(201);
  });

  test('a widget of an older shape does not make the list fail, and leaves the others as they are', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    await owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'Board' } });
    const good = { ...widget('table', { pageSize: 25, ...shows }), config: { pageSize: 25, ...shows } };
    const older = [null, 3, { ...good, type: 'clock' }, { ...good, layout: null }, { ...good, config: 'x' }, { type: 'table' }];
    const store = (name: string, layout: unknown, widgets: unknown) =>
      site.db.run(sql('test')`
        insert into dashboards (id, experiment_id, name, layout, widgets, created_by)
        values (gen_random_uuid(), ${id}, ${name}, ${JSON.stringify(layout)}, ${JSON.stringify(widgets)}, ${site.cast.owner.id})`);
    for (const [position, one] of older.entries()) await store(`old ${position}`, null, [one, good]);
    await store('no list', [], { a: 1 });
    const headers = { 'x-api-key': site.cast.owner.apiKey };
    const answer = await fetch(`${site.server.baseUrl}/api/v1/experiments/${id}/dashboards`, { headers });
    expect(answer.status).toBe(200);
    const all = (await answer.json()) as { name: string; layout: object; widgets: { id: string }[] }[];
    expect(all.map(({ name }) => name)).toEqual(['no list', ...older.map((_, position) => `old ${position}`).toReversed(), 'Board']);
    for (const { layout, widgets } of all.slice(1, -1)) {
      expect(layout).toEqual({ columns: 12, rowHeight: 80, gap: 16 });
      expect(widgets).toContainEqual(good);
    }
    expect(all[0]?.widgets).toEqual([]);
  });
});
