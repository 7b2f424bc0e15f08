import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  const { db } = site;
  const owner = site.as(site.cast.owner);
  const stranger = site.as(site.cast.stranger);
  const make = async (body: object = {}) =>
    (await owner('POST', '/api/v1/experiments', { body: { name: 'Embargoed', ...body } })).body.id as string;
  const [chosen, never, later] = [await make(), await make(), await make({ embargoUntil: new Date(Date.now() + 9e8) })];
  await db.run(sql('test')`update resources set public_from = now() + interval '3 seconds' where id = ${chosen}`);
  const reads = ['', '/access', '/tables', '/data?tableName=device', '/locations', '/metadata', '/dashboards', '/visualizations'];
  const statuses = async () =>
    Promise.all(reads.map(async (path) => (await stranger('GET', `/api/v1/experiments/${chosen}${path}`)).status));
  const listed = async () => (await stranger('GET', '/api/v1/experiments')).body.map(({ id }: { id: string }) => id) as string[];
  expect(await statuses()).toEqual(reads.map(() => 403));
  expect(await listed()).toEqual([]);
  const { opens } = (await db.one<{ opens: Date }>(sql('test')`select public_from as opens from resources where id = ${chosen}`))!;
  await setTimeout(Math.max(0, opens.getTime() - Date.now() + 50));
  expect(await statuses()).toEqual(reads.map(() => 200));
  expect(await listed()).toEqual([chosen]);
  expect(await stranger('GET', `/api/v1/experiments/${chosen}`)).toMatchObject({ status: 200, body: { visibility: 'public' } });
  const stored = (id: string) => db.one<{ visibility: string }>(sql('test')`select visibility from resources where id = ${id}`);
  expect(await stored(chosen)).toEqual({ visibility: 'private' });
  for (let night = 0; night < 2; night += 1) await embargoJob(await site.context()).run({}, new AbortController().signal);
  expect(await stored(chosen)).toEqual({ visibility: 'public' });
  expect(await stored(never)).toEqual({ visibility: 'private' });
  expect(await stored(later)).toEqual({ visibility: 'private' });
  const events = await db.rows<{ actorId: string | null; details: object }>(
    sql('test')`select actor_id as "actorId", details from audit_events where resource_id = ${chosen} and action = 'experiment.published'`,
  );
  expect(events).toEqual([{ actorId: null, details: { by: 'embargo' } }]);
});

test('only a person’s decision and an embargo’s end write that something is public', () => {
  const root = join(import.meta.dirname, '..', '..');
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const writes = /update\s+resources\b[^;`]*\bset\b[^;`]*\bvisibility\s*=/;
  const writing = files.filter((name) => writes.test(readFileSync(join(root, 'src', name), 'utf8')));
  expect(writing.sort()).toEqual(['api/experiments/embargo.queries.ts', 'api/resources/resources.queries.ts']);
  const views = readdirSync(join(root, 'sql'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sql'));
  expect(views.filter((name) => /set\s+visibility\s*=|new\.visibility\s*:=/i.test(readFileSync(join(root, 'sql', name), 'utf8')))).toEqual(
    [],
  );
});
