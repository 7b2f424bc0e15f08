import { afterAll, beforeAll, expect, test } from 'vitest';
import { RESOURCE_TYPES } from '../../src/authorization/roles.ts';
import { proveCase } from '../support/cases.ts';
import { accessCases } from '../support/operations.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ WORKER: 'off' });
});
afterAll(() => site.stop());

test('every case of every type is answered alike by SQL and over HTTP', async () => {
  let compared = 0;
  for (const each of accessCases) compared += await proveCase(site, each, each.types ?? RESOURCE_TYPES);
  console.info(`${accessCases.length} cases, ${compared} answers compared`);
  expect(compared).toBeGreaterThan(accessCases.length * 40);
});
