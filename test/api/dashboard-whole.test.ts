import { afterAll, beforeAll, expect, test } from 'vitest';
import { printSampleCsv } from '../../src/operator/sample/measurements.ts';
import { startTestServer, type Answer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
let id: string;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Shown', organizationId: site.cast.leafLab } })).body.id;
  await uploadTable(owner, id, 'leaves', printSampleCsv());
});
afterAll(() => site.stop());

const made = ({ status, body, text }: Answer) => {
  expect(status, text).toBe(201);
  return body;
};
const chart = async (chartType: string, x: string, timeBucket?: string) =>
  made(
    await owner('POST', `/api/v1/experiments/${id}/visualizations`, {
      body: {
        name: `SPAD by ${x}`,
        chartFamily: 'basic',
        chartType,
        dataConfig: {
          tableName: 'leaves',
          dataSources: [
            { tableName: 'leaves', columnName: x, role: 'x' },
            { tableName: 'leaves', columnName: 'spad', role: 'y', aggregate: 'avg' },
            { tableName: 'leaves', columnName: 'treatment', role: 'color' },
          ],
          aggregation: { groupBy: [{ column: x, ...(timeBucket === undefined ? {} : { timeBucket }) }], functions: [] },
        },
      },
    }),
  ).id as string;

const imageOf = async (visualizationId: string, format: string) => {
  const answer = await fetch(`${site.server.baseUrl}/api/v1/experiments/${id}/visualizations/${visualizationId}/image?format=${format}`, {
    headers: { 'x-api-key': site.cast.member.apiKey },
  });
  expect(answer.status).toBe(200);
  return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
};

test('a dashboard of a line, bars, a table and a filter is made, its data and images fetched, and arranged by two at once', async () => {
  const [line, bars] = [await chart('line', 'measured_at', 'day'), await chart('bar', 'genotype')];
  const at = (row: number) => ({ col: 0, row, colSpan: 12, rowSpan: 4 });
  const widgets = [
    { id: crypto.randomUUID(), type: 'filter', layout: at(0), config: { tableName: 'leaves', column: 'treatment', operator: 'equals' } },
    { id: crypto.randomUUID(), type: 'visualization', layout: at(4), config: { visualizationId: line } },
    { id: crypto.randomUUID(), type: 'visualization', layout: at(8), config: { visualizationId: bars } },
    { id: crypto.randomUUID(), type: 'table', layout: at(12), config: { tableName: 'leaves', columns: ['plot', 'spad'], pageSize: 10 } },
  ];
  const posted = await owner('POST', `/api/v1/experiments/${id}/dashboards`, { body: { name: 'Season', widgets } });
  const dashboard = made(posted);
  expect(dashboard.widgets).toMatchObject(widgets);

  // the charts: two treatments, a mean for each of forty days and for each of three genotypes
  for (const [visualizationId, points] of [
    [line, 40],
    [bars, 3],
  ] as const) {
    const data = await site.as(site.cast.member)('GET', `/api/v1/experiments/${id}/visualizations/${visualizationId}/data`);
    expect(data.status, data.text).toBe(200);
    const series: { color: string; points: { x: unknown[]; y: number[] } }[] = data.body.series;
    expect(series.map(({ color }) => color).sort()).toEqual(['control', 'drought']);
    for (const { points: given } of series) {
      expect(given.x).toHaveLength(points);
      expect(given.y.every((mean) => mean > 30 && mean < 50)).toBe(true);
    }
    const svg = await imageOf(visualizationId, 'svg');
    expect(svg.type).toMatch(/^image\/svg\+xml/);
    for (const text of ['control', 'drought', 'spad']) expect(svg.bytes.toString('utf8')).toContain(text);
    const png = await imageOf(visualizationId, 'png');
    expect(png.type).toBe('image/png');
    expect(png.bytes.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
    expect(png.bytes.length).toBeGreaterThan(5_000);
  }

  // the table widget's rows, by what the filter widget offers and what was chosen there
  const { tableName, column } = widgets[0]!.config as { tableName: string; column: string };
  const read = (path: string, query: Record<string, string | number>) =>
    site.as(site.cast.member)('GET', `/api/v1/experiments/${id}/data${path}`, { query: { tableName, ...query } });
  expect((await read('/distinct', { column })).body.values).toEqual(['control', 'drought']);
  const filters = JSON.stringify([{ column, operator: 'equals', value: 'drought' }]);
  const [page] = (await read('', { columns: 'plot,spad', page: 1, pageSize: 10, filters })).body;
  expect(page).toMatchObject({ totalRows: 240, data: { totalRows: 10 } });
  expect(page.data.rows.every(({ plot }: { plot: number }) => plot % 2 === 0)).toBe(true);

  // two people arrange the widgets of the same version at the same time
  const path = `/api/v1/experiments/${id}/dashboards/${dashboard.id}`;
  const headers = { 'if-match': posted.headers.get('etag') ?? '' };
  const orders = [dashboard.widgets.toReversed(), [...dashboard.widgets.slice(1), dashboard.widgets[0]]];
  const both = await Promise.all([
    owner('PATCH', path, { body: { widgets: orders[0] }, headers }),
    site.as(site.cast.admin)('PATCH', path, { body: { widgets: orders[1] }, headers }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  const [winner, loser] = both[0].status === 200 ? [0, 1] : [1, 0];
  expect(both[loser]!.body.code).toBe('PRECONDITION_FAILED');
  const now = await owner('GET', path);
  expect(now.body.widgets).toEqual(orders[winner]);
  // who lost reads again, and then wins
  const again = await (loser === 0 ? owner : site.as(site.cast.admin))('PATCH', path, {
    body: { widgets: orders[loser] },
    headers: { 'if-match': now.headers.get('etag') ?? '' },
  });
  expect(again).toMatchObject({ status: 200, body: { widgets: orders[loser] } });
});
