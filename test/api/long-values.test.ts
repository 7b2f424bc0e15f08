import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

test('a chart of texts of 40 MB is refused, and one of some of its rows is drawn', async () => {
  const owner = site.as(site.cast.owner);
  const id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Texts', organizationId: site.cast.leafLab } })).body.id;
  const csv = ['n,note', ...Array.from({ length: 40 }, (_, row) => `${row},${String.fromCodePoint(97 + (row % 26)).repeat(1_000_000)}`)];
  const tableName = await uploadTable(owner, id, 'notes', csv.join('\n'));
  const source = (role: string, columnName: string) => ({ tableName, columnName, role });
  const draw = (most: number) => {
    const filters = [{ column: 'n', operator: 'less_than', value: most }];
    const chart = { chartType: 'line', dataConfig: { tableName, dataSources: [source('x', 'n'), source('y', 'note')], filters } };
    return owner('GET', `/api/v1/experiments/${id}/chart?chart=${encodeURIComponent(JSON.stringify(chart))}`);
  };
  expect(await draw(2)).toMatchObject({ status: 200 });
  expect(await draw(40)).toMatchObject({ status: 400, body: { code: 'QUERY_REFUSED', detail: expect.stringContaining('32 MiB') } });
});
