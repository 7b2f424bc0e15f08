import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

const plants = Array.from({ length: 1_000 }, () => randomUUID());

let site: TestServer;
let path: string;
const owner: Call = (...asked) => site.as(site.cast.owner)(...asked);
beforeAll(async () => {
  site = await startTestServer();
  const made = await owner('POST', '/api/v1/experiments', { body: { name: 'Plants', organizationId: site.cast.leafLab } });
  path = `/api/v1/experiments/${String(made.body.id)}/data`;
  await uploadTable(owner, String(made.body.id), 'plants', ['plant,n', ...plants.map((plant, index) => `${plant},${index}`)].join('\n'));
});
afterAll(() => site.stop());

const among = (values: readonly string[]) => [{ column: 'plant', operator: 'in', value: values }];
const ask = (values: readonly string[], query: Record<string, string> = {}) =>
  owner('GET', path, {
    query: { tableName: 'plants', columns: 'n', orderBy: 'n', pageSize: '100', filters: JSON.stringify(among(values)), ...query },
  });

test('a filter of 1,000 UUIDs fits into an address, and its pages are walked by number', async () => {
  const first = await ask(plants);
  expect(first.status, first.text.slice(0, 400)).toBe(200);
  expect([first.status, first.body[0].totalRows, first.body[0].data.rows.length], first.text.slice(0, 300)).toEqual([200, 1_000, 100]);
  expect(first.headers.get('link')).toBeNull();
  expect((await ask(plants, { page: '10' })).body[0].data.rows).toHaveLength(100);
  expect((await ask(plants.slice(0, 50), { pageSize: '20' })).headers.get('link')).toContain('rel="next"');
});

test('a longer address is refused with a sentence that says what to do, and an export takes the same filter', async () => {
  const long = plants.map((plant) => `${plant} ${'x'.repeat(60)}`);
  const refused = await ask(long);
  expect([refused.status, refused.body.code]).toEqual([431, 'HEADERS_TOO_LARGE']);
  expect(refused.body.detail).toContain('in the body of an export');
  const made = await owner('POST', `${path}/exports`, { body: { tableName: 'plants', format: 'csv', filters: among(long) } });
  expect(made.status, made.text).toBe(201);
});
