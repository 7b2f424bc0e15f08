import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

test.each([
  ['experiments', 'PATCH', {}],
  ['macros', 'PUT', { language: 'python', code: '1' }],
  ['protocols', 'PATCH', { code: [{}], family: 'multispeq' }],
  ['workbooks', 'PATCH', {}],
])('of %s who read an older version publishes nothing', async (kind, method, more) => {
  const owner = site.as(site.cast.owner);
  const made = await owner('POST', `/api/v1/${kind}`, { body: { name: 'Draft', ...more } });
  const path = `/api/v1/${kind}/${String(made.body.id)}`;
  const etag = async () => (await owner('GET', path)).headers.get('etag')!;
  const publish = (tag: string) => owner('PATCH', `${path}/visibility`, { body: { visibility: 'public' }, headers: { 'if-match': tag } });
  const read = await etag();
  expect((await owner(method, path, { body: { name: 'What nobody read' } })).status).toBe(200);
  expect(await publish(read)).toMatchObject({ status: 412, body: { code: 'PRECONDITION_FAILED' } });
  expect((await owner('GET', path)).body.visibility).toBe('private');
  expect((await publish(await etag())).status).toBe(200);
  expect((await owner('GET', path)).body.visibility).toBe('public');
});
