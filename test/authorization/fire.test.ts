import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { breaches } from '../support/answerable.ts';
import { fire, makeScene } from '../support/fire.ts';
import { makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '1000' });
  await site.server.context.db.run(sql('t')`update organization_members set role = 'owner' where user_id = ${site.cast.teammate.id}`);
});
afterAll(() => site.stop());

test('the checker sees what it is for', async () => {
  const { db } = site.server.context;
  expect(await breaches(db)).toEqual([]);
  const husk = crypto.randomUUID();
  await db.run(sql('t')`insert into organizations (id, name, slug) values (${husk}, 'Husk', 'husk')`);
  await makeResource(db, 'macro', { organizationId: husk, createdBy: site.cast.owner.id });
  expect((await breaches(db)).map(({ rule }) => rule).sort()).toEqual([
    'a resource without anybody answerable',
    'an organization without an owner',
  ]);
  await db.run(sql('t')`delete from resources where organization_id = ${husk}`);
  await db.run(sql('t')`delete from organizations where id = ${husk}`);
});

test('whatever people do at once, everything stays answered for', { timeout: 120_000 }, async () => {
  const seed = Number(process.env['FC_SEED'] ?? Date.now() % 1_000_000);
  const { db } = site.server.context;
  const scene = await makeScene(site, 10);
  expect(await breaches(db)).toEqual([]);
  const statuses = await fire(db, scene, { seed, acts: 600, lanes: 8, baseUrls: [site.server.baseUrl] });
  expect({ seed, breaches: await breaches(db) }).toEqual({ seed, breaches: [] });
  // it did something: much was granted, much was refused, and nothing failed
  const count = (from: number, to: number) =>
    Object.entries(statuses).reduce((sum, [status, times]) => sum + (Number(status) >= from && Number(status) < to ? times : 0), 0);
  expect({ seed, statuses, failed: count(500, 600) + count(0, 1) }).toMatchObject({ failed: 0 });
  expect(count(200, 300)).toBeGreaterThan(50);
  expect(count(400, 500)).toBeGreaterThan(50);
});
