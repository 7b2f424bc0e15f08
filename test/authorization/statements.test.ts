import { afterAll, beforeAll, expect, test } from 'vitest';
import { grant, makePerson } from '../support/cast.ts';
import { makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ WORKER: 'off' });
});
afterAll(() => site.stop());

/** Statements of a call, the admission included; constants, whatever there is to answer. */
const STATEMENTS: Readonly<Record<string, number>> = {
  'GET /api/v1/{type}/{id}/collaborators': 2,
  'GET /api/v1/{type}/{id}/grantee-teams': 2,
  'GET /api/v1/{type}/{id}/grantee-users': 2,
  'GET /api/v1/grantee-organizations': 2,
  'GET /api/v1/organizations': 3,
  'GET /api/v1/organizations/{organization}': 2,
  'GET /api/v1/organizations/{organization}/resources': 4,
  'GET /api/v1/organizations/{organization}/members': 3,
  'GET /api/v1/organizations/{organization}/teams': 3,
  'GET /api/v1/organizations/{organization}/team-grants': 3,
  'GET /api/v1/organizations/{organization}/join-requests': 3,
  'GET /api/v1/organizations/{organization}/deletion-blockers': 3,
  'GET /api/v1/users/me/organizations': 2,
  'GET /api/v1/users/search': 2,
  'GET /api/v1/users/{user}': 2,
  'GET /api/v1/users/{user}/deletion-blockers': 3,
};

const counted = async () => {
  const metric = await site.server.context.metrics.registry.getSingleMetric('postgres_statement_duration_seconds')!.get();
  const values = metric.values as { metricName?: string; value: number }[];
  return values.filter(({ metricName }) => metricName?.endsWith('_count') === true).reduce((sum, { value }) => sum + value, 0);
};

test('a list costs the same number of statements however long it is', async () => {
  const { db } = site.server.context;
  const ask = async () => {
    const seen: Record<string, number> = {};
    for (const name of Object.keys(STATEMENTS)) {
      const path = name
        .split(' ')[1]!
        .replace('{type}/{id}', `macro/${macro.id}`)
        .replace('{organization}', site.cast.leafLab)
        .replace('{user}', site.cast.owner.id);
      const before = await counted();
      expect((await site.as(site.cast.owner)('GET', path)).status).toBe(200);
      seen[name] = (await counted()) - before;
    }
    return seen;
  };
  // the first call of a minute also writes when the key was last used
  await site.as(site.cast.owner)('GET', '/api/v1/organizations');
  const macro = await makeResource(db, 'macro', { organizationId: site.cast.leafLab, createdBy: site.cast.owner.id });
  expect(await ask()).toEqual(STATEMENTS);
  for (let index = 0; index < 20; index += 1) {
    const person = await makePerson(db, `many${index}`);
    await grant(db, macro, { user: person.id }, 'viewer');
    await makeResource(db, 'protocol', { organizationId: site.cast.leafLab, createdBy: site.cast.owner.id });
  }
  expect(await ask()).toEqual(STATEMENTS);
});
