import { afterAll, beforeAll, expect, test } from 'vitest';
import { signIn } from '../support/browser.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

test('no shared cache keeps an answer of the API, and none at all a secret', async () => {
  const owner = site.as(site.cast.owner);
  const policyOf = async (method: 'GET' | 'HEAD', path: string, person: typeof owner = owner) => {
    const { status, headers } = await person(method, path);
    return [status, headers.get('cache-control')];
  };
  const PRIVATE = 'private, no-cache';
  expect(await policyOf('GET', '/api/v1/experiments')).toEqual([200, PRIVATE]);
  expect(await policyOf('HEAD', '/api/v1/experiments')).toEqual([200, PRIVATE]);
  expect(await policyOf('GET', '/api/v1/users/me/audit')).toEqual([200, PRIVATE]);
  expect(await policyOf('GET', '/api/v1/experiments', site.as(null))).toEqual([401, PRIVATE]);
  expect(await policyOf('GET', '/api/v1/nothing')).toEqual([404, PRIVATE]);
  expect(await policyOf('GET', '/openapi.json')).toEqual([200, null]);
  const browser = await signIn(site, 'keeper@example.com');
  const key = await browser.call('POST', '/api/v1/auth/api-key/create', { name: 'ours' });
  expect([key.status, key.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const device = await owner('POST', '/api/v1/devices', { body: { serialNumber: 'C1', deviceType: 'multispeq' } });
  const group = await owner('POST', '/api/v1/device-groups', { body: { name: 'Kept' } });
  await owner('POST', `/api/v1/device-groups/${group.body.id}/devices`, { body: { deviceIds: [device.body.id] } });
  for (const path of [`devices/${device.body.id}`, `device-groups/${group.body.id}`])
    for (const change of ['credentials', 'credentials/rotate']) {
      const { headers, text } = await owner('POST', `/api/v1/${path}/${change}`, { body: {} });
      expect([path, change, headers.get('cache-control')]).toEqual([path, change, 'no-store']);
      expect(text).toMatch(/-----BEGIN PRIVATE KEY|holds a certificate/);
    }
  expect(await policyOf('GET', '/api/v1/iot/credentials')).toEqual([200, 'no-store']);
});
