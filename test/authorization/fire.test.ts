import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { breaches } from '../support/answerable.ts';
import { countFired, fire, makeScene } from '../support/fire.ts';
import { seedOf } from '../support/crashes.ts';
import { makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '1000' });
  await site.db.run(sql('t')`update organization_members set role = 'owner' where user_id = ${site.cast.teammate.id}`);
});
afterAll(() => site.stop());

test('the checker sees what it is for', async () => {
  const { db } = site;
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

test('whatever people do at once, everything stays answered for', async () => {
  const seed = seedOf('fire');
  const { db } = site;
  const scene = await makeScene(db, 10);
  expect(await breaches(db)).toEqual([]);
  const fired = await fire(scene, { seed, acts: 500, lanes: 8, upUrls: () => [site.server.baseUrl] });
  expect({ seed, breaches: await breaches(db) }).toEqual({ seed, breaches: [] });
  // it did something: much was granted, much was refused, and nothing failed
  expect({ seed, fired, failed: countFired(fired, 500, 600) + fired.cutOff }).toMatchObject({ failed: 0 });
  expect(countFired(fired, 200, 300)).toBeGreaterThan(50);
  expect(countFired(fired, 400, 500)).toBeGreaterThan(50);
});
