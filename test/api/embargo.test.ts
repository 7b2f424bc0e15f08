import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embargoJob } from '../../src/api/experiments/embargo.job.ts';
import { sql } from '../../src/database/sql.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

test('an embargo opens reads at its second, and the nightly job makes that permanent, once', async () => {
  const { db } = site.server.context;
  const owner = site.as(site.cast.owner);
  const stranger = site.as(site.cast.stranger);
  const make = async (body: object = {}) =>
    (await owner('POST', '/api/v1/experiments', { body: { name: 'Embargoed', ...body } })).body.id as string;
  const [chosen, never, later] = [await make(), await make(), await make({ embargoUntil: new Date(Date.now() + 9e8) })];
  await db.run(sql('test')`update resources set public_from = now() + interval '1.5 seconds' where id = ${chosen}`);
  expect((await stranger('GET', `/api/v1/experiments/${chosen}`)).status).toBe(403);
  await setTimeout(1_600);
  expect(await stranger('GET', `/api/v1/experiments/${chosen}`)).toMatchObject({ status: 200, body: { visibility: 'public' } });
  const stored = (id: string) => db.one<{ visibility: string }>(sql('test')`select visibility from resources where id = ${id}`);
  expect(await stored(chosen)).toEqual({ visibility: 'private' });
  for (let night = 0; night < 2; night += 1) await embargoJob(site.server.context).run({}, new AbortController().signal);
  expect(await stored(chosen)).toEqual({ visibility: 'public' });
  expect(await stored(never)).toEqual({ visibility: 'private' });
  expect(await stored(later)).toEqual({ visibility: 'private' });
  const events = await db.rows<{ actorId: string | null; details: object }>(
    sql('test')`select actor_id as "actorId", details from audit_events where resource_id = ${chosen} and action = 'experiment.published'`,
  );
  expect(events).toEqual([{ actorId: null, details: { by: 'embargo' } }]);
});
