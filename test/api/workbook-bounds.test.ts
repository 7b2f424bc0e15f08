import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

test('the metadata of a workbook, which lists hold, has 100,000 characters at most', async () => {
  const owner = site.as(site.cast.owner);
  // {"note":"…"} is eleven characters besides the text
  const metadataOf = (characters: number) => ({ note: 'x'.repeat(characters - 11) });
  const made = await owner('POST', '/api/v1/workbooks', { body: { name: 'Walk', metadata: metadataOf(100_000) } });
  expect(made.status).toBe(201);
  const problem = { path: '/metadata', message: 'has 100001 characters as JSON; at most 100000 are kept' };
  const refused = await owner('POST', '/api/v1/workbooks', { body: { name: 'Walk', metadata: metadataOf(100_001) } });
  expect([refused.status, refused.body]).toMatchObject([400, { code: 'INVALID_INPUT', errors: [problem] }]);
  const path = `/api/v1/workbooks/${(made.body as { id: string }).id}`;
  const patched = await owner('PATCH', path, { body: { metadata: metadataOf(100_001) } });
  expect([patched.status, patched.body]).toMatchObject([400, { code: 'INVALID_INPUT', errors: [problem] }]);
  expect((await owner('PATCH', path, { body: { metadata: metadataOf(99_999) } })).status).toBe(200);
});
