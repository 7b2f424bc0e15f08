import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from '../support/cast.ts';
import { eventually, getJson, numberedCsv, sendCsv } from '../support/crashes.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let owner: Person;
beforeAll(async () => {
  site = await sharedSite();
  server = await spawnServer(site.environment);
  owner = await makePerson(site.database.db, 'owner');
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await site.remove();
});

/** Whether the library of the engine is in the memory of the server. */
const holdsEngine = () => readFileSync(`/proc/${server.child.pid}/maps`, 'utf8').includes('libduckdb');

test('an engine is opened by what needs one, a file that came or a read, and by nothing else', async () => {
  const headers = { 'x-api-key': owner.apiKey, 'content-type': 'application/json' };
  const made = await fetch(`${server.baseUrl}/api/v1/experiments`, { method: 'POST', headers, body: JSON.stringify({ name: 'At rest' }) });
  const { id } = (await made.json()) as { id: string };
  const experiment = `/api/v1/experiments/${id}`;
  expect(await getJson(server, owner, `${experiment}/tables`)).toEqual(expect.arrayContaining([expect.objectContaining({ totalRows: 0 })]));
  expect((await fetch(`${server.adminUrl}/health/ready`)).status).toBe(200);
  expect(await (await fetch(`${server.adminUrl}/metrics`)).text()).toContain('postgres_pool_waiting');
  expect(holdsEngine()).toBe(false);

  const target = { experimentId: id, fields: { targetKind: 'new', targetName: 'first' } };
  const sent = await sendCsv(server, owner, target, 'first.csv', numberedCsv(1, 20));
  expect(sent?.code).toBe(201);
  const [{ data }] = await eventually(
    () => getJson(server, owner, `${experiment}/data?tableName=${sent?.uploadTableId ?? ''}`),
    (answer: any) => answer[0]?.data?.rows?.length === 20,
    60_000,
  );
  expect(data.rows).toHaveLength(20);
  expect(holdsEngine()).toBe(true);
});
