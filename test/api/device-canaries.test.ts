import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeWorld, writeHistories, type World } from '../support/monitored-world.ts';
import type { OracleDevice } from '../support/monitoring-oracle.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let world: World;
/** What is only in the experiment that the viewer of its devices may not read. */
let canaries: Record<string, string>;

beforeAll(async () => {
  site = await startTestServer({ WORKER: 'off' });
  world = await makeWorld(site);
  const owner = site.as(site.cast.owner);
  const hidden = world.experiments[2]!;
  canaries = {
    experiment: hidden,
    name: 'Hidden-orchard',
    latitude: '41.87654321',
    longitude: '12.34567891',
    sample: 'canary-in-a-sample',
    protocol: randomUUID(),
    workbook: randomUUID(),
    run: randomUUID(),
    macro: randomUUID(),
  };
  await owner('PATCH', `/api/v1/experiments/${hidden}`, { body: { name: canaries['name'] } });
  for (const { id } of world.devices) {
    await owner('POST', `/api/v1/devices/${id}/credentials`, { body: {} });
    expect((await owner('POST', `/api/v1/devices/${id}/onboard`, { body: { experimentIds: [hidden] } })).status).toBe(200);
  }
  const at = Date.parse('2026-05-01T10:00:00Z') * 1_000;
  const histories = world.devices.map(({ id }, index): OracleDevice => ({
    id,
    events: [{ at, up: true, reason: null, session: 's' }],
    measurements: [
      {
        ...{ id: `m${index}`, at: at + index, experiment: hidden, version: '1.0', battery: 80 },
        ...{ protocol: canaries['protocol']!, workbook: canaries['workbook']!, run: canaries['run']!, macros: [canaries['macro']!] },
        gps: { latitude: Number(canaries['latitude']), longitude: Number(canaries['longitude']) },
        sample: JSON.stringify({ note: canaries['sample'] }),
      },
    ],
  }));
  await writeHistories(world, histories, 10);
});
afterAll(() => site.stop());

/** Every GET of devices, groups and the broker, with its parameters filled in; none is named here, so that a new one is searched too. */
function reads(deviceId: string): { path: string; query: Record<string, string> }[] {
  const known: Record<string, string> = { from: '2026-04-30T00:00:00Z', to: '2026-05-20T00:00:00Z', bucket: 'hour', family: 'ambyte' };
  return Object.entries(site.openapi.paths).flatMap(([path, operations]) => {
    if (!/^\/api\/v1\/(devices|device-groups|iot)(\/|$)/.test(path) || !('get' in operations)) return [];
    const id = path.includes('device-groups') ? world.groupId : deviceId;
    const { parameters = [] } = operations['get'] as { parameters?: { in: string; name: string; required?: boolean }[] };
    const needed = parameters.filter((one) => one.in === 'query' && one.required === true).map(({ name }) => [name, known[name] ?? '']);
    return [
      {
        path: path.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? id),
        query: Object.fromEntries(needed) as Record<string, string>,
      },
    ];
  });
}

test('who may read devices and not their experiment finds no id, name, place or sample of it in any answer; who may, does', async () => {
  const deviceId = world.devices[0]!.id;
  const found: Record<'owner' | 'viewer', string[]> = { owner: [], viewer: [] };
  let answered = 0;
  for (const [who, caller] of [
    ['owner', site.cast.owner],
    ['viewer', world.viewer],
  ] as const)
    for (const { path, query } of reads(deviceId)) {
      const { status, text } = await site.as(caller)('GET', path, { query });
      // no repository of firmware is configured here
      if (!path.includes('firmware/')) expect([who, path, status, text.slice(0, 200)]).toMatchObject([who, path, 200, expect.any(String)]);
      answered += 1;
      for (const [what, canary] of Object.entries(canaries)) if (text.includes(canary)) found[who].push(what);
    }
  expect(answered).toBeGreaterThan(20);
  expect(found.viewer).toEqual([]);
  // runs are only counted
  expect([...new Set(found.owner)].sort()).toEqual(
    Object.keys(canaries)
      .filter((what) => what !== 'run')
      .sort(),
  );
});

test('what the viewer may not do to such a device tells nothing of its experiments either', async () => {
  const deviceId = world.devices[0]!.id;
  const tried: [string, string, object][] = [
    ['POST', `devices/${deviceId}/onboard`, { experimentIds: [] }],
    ['POST', `devices/${deviceId}/onboard`, { experimentIds: [canaries['experiment']] }],
    ['POST', `devices/${deviceId}/credentials/rotate`, {}],
    ['DELETE', `devices/${deviceId}/credentials`, {}],
    ['POST', `device-groups/${world.groupId}/onboard`, { experimentIds: [] }],
    ['DELETE', `devices/${deviceId}`, {}],
  ];
  for (const [method, path, body] of tried) {
    const { status, text } = await site.as(world.viewer)(method, `/api/v1/${path}`, { body });
    expect([path, status]).toEqual([path, 403]);
    for (const [what, canary] of Object.entries(canaries)) if (what !== 'experiment') expect(text).not.toContain(canary);
  }
});
