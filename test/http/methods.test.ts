import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRaw } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** What is served besides the operations of the document. */
const OTHERS: Record<string, string[]> = {
  '/openapi.json': ['GET'],
  '/': ['GET'],
  '/docs': ['GET'],
  '/docs/api': ['GET'],
  '/docs/page.js': ['GET'],
  '/docs/swagger-ui.css': ['GET'],
  '/platform/account/invitations': ['GET'],
  '/objects/some/key': ['PUT'],
};

/** A page that is not trusted: no write succeeds. */
const FOREIGN = { origin: 'https://foreign.example' };

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

test('every path says in Allow what it answers, to OPTIONS and beside every 405', async () => {
  const documented = Object.entries(site.openapi.paths).map(([path, item]) => {
    const filled = path.replaceAll('{resourceType}', 'experiment').replace(/\{\w+\}/g, '00000000-0000-7000-8000-000000000000');
    return [filled, Object.keys(item).map((method) => method.toUpperCase())] as const;
  });
  expect(documented.length).toBeGreaterThan(190);
  for (const [path, methods] of [...documented, ...Object.entries(OTHERS)]) {
    const answered = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])];
    const allow = [...answered, 'OPTIONS'].sort().join(', ');
    const options = await fetch(site.server.baseUrl + path, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow'), await options.text()], `OPTIONS ${path}`).toEqual([204, allow, '']);
    for (const method of METHODS) {
      const { status, headers } = await fetch(site.server.baseUrl + path, { method, redirect: 'manual', headers: FOREIGN });
      if (answered.includes(method))
        expect([404, 405, 500].includes(status) && headers.has('allow'), `${method} ${path}: ${status}`).toBe(false);
      else expect([status, headers.get('allow')], `${method} ${path}`).toEqual([405, allow]);
    }
  }
});

test('a path of nobody is 404 to every method, and OPTIONS * names them all', async () => {
  for (const method of [...METHODS, 'OPTIONS'])
    for (const path of ['/nothing', '/api/v1/nothing', '//api/v1/experiments', '/api/v1//experiments', '/api/v1/users/search/more'])
      expect((await fetch(site.server.baseUrl + path, { method })).status, `${method} ${path}`).toBe(404);
  const { answers } = await sendRaw(site.server.baseUrl, 'OPTIONS * HTTP/1.1\r\nHost: fieldlake.test\r\n\r\n');
  expect(answers[0]).toMatchObject({ status: 204, headers: { allow: 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT' } });
});

test('a path takes its ids in capitals too, and an answer names them as they are stored', async () => {
  const owner = site.as(site.cast.owner);
  const body = { name: 'Capitals', organizationId: site.cast.leafLab };
  const { id } = (await owner('POST', '/api/v1/protocols', { body: { ...body, code: [{}], family: 'multispeq' } })).body;
  const moved = { body: { targetOrganizationId: site.cast.owner.workspaceId } };
  expect((await owner('POST', `/api/v1/protocol/${id.toUpperCase()}/transfer`, moved)).body).toMatchObject({ resourceId: id });
  const shown = await owner('PATCH', `/api/v1/protocols/${id.toUpperCase()}/visibility`, { body: { visibility: 'public' } });
  expect(shown.body).toEqual({ id, visibility: 'public' });
});
