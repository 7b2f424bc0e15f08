import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';
import { runSimulator } from '../support/simulator.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let owner: Person;
let experimentId: string;

beforeAll(async () => {
  site = await sharedSite();
  server = await spawnServer(site.environment);
  owner = await makePerson(site.database.db, 'owner');
  const response = await fetch(`${server.baseUrl}/api/v1/experiments`, {
    method: 'POST',
    headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Simulated field' }),
  });
  experimentId = ((await response.json()) as { id: string }).id;
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await site.remove();
});

const address = () => ({ dataDir: site.folder, baseUrl: server.baseUrl, apiKey: owner.apiKey, experimentId });

test('npm run device -- simulate: what was acknowledged, dropped connections or not, is in the table once', async () => {
  const quick = ['--count', '4', '--rate', '4', '--minutes', '0.05', '--drop-every', '1', '--upload-every', '1.5'];
  const { code, report, said } = await runSimulator(address(), ...quick);
  expect(code, said + JSON.stringify(report).slice(0, 900)).toBe(0);
  expect(report).toMatchObject({ devices: 4, missing: [], repeated: [] });
  expect(report!.acknowledged).toBe(report!.published);
  expect(report!.inTable).toBe(report!.expected);
  // bursts are several rows
  expect(report!.expected).toBeGreaterThan(report!.acknowledged);
  expect(report!.objects).toBeGreaterThan(0);
  expect(report!.connections).toBeGreaterThan(4);

  const aggregation = JSON.stringify({ groupBy: [], functions: [{ column: '*', function: 'count' }] });
  const query = new URLSearchParams({ tableName: 'raw_data', aggregation }).toString();
  const answer = await fetch(`${server.baseUrl}/api/v1/experiments/${experimentId}/data?${query}`, {
    headers: { 'x-api-key': owner.apiKey },
  });
  expect(Object.values(((await answer.json()) as any)[0].data.rows[0])).toEqual([report!.expected]);
});

test('npm run device says what it does not understand, and what it cannot reach', async () => {
  const nobody = createServer();
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', () => resolve()));
  const { port } = nobody.address() as { port: number };
  await new Promise((resolve) => nobody.close(resolve));
  const [bad, away, denied] = await Promise.all([
    runSimulator(address(), '--count', 'many'),
    runSimulator({ ...address(), baseUrl: `http://127.0.0.1:${port}` }),
    runSimulator({ ...address(), apiKey: 'flk_wrong' }),
  ]);
  expect(bad.code).toBe(1);
  expect(bad.said).toMatch(/--count is a number from 1 to 2000\n[^]*usage:/);
  expect(away).toMatchObject({ code: 1, report: undefined });
  expect(denied.said).toContain('answered 403');
});
