import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from '../support/cast.ts';
import { eventually, getJson, momentsOf, seeded, seedOf } from '../support/crashes.ts';
import { compareLogs } from '../support/lake-log.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const KILLS = Number(process.env['KILLS'] ?? 2);
/** Of a file; with KILLS=200 all files together hold 100,000. */
const ROWS = Number(process.env['CRASH_ROWS'] ?? Math.min(2_000, Math.floor(50_000 / KILLS)));
/** How often work has to catch up before the next kill: each time, or ten times of many. */
const CALM_EVERY = Math.max(1, Math.floor(KILLS / 10));
const BACK_AT_WORK_MS = 30_000;

let site: Awaited<ReturnType<typeof sharedSite>>;
let servers: [ServerProcess, ServerProcess];
let owner: Person;
let experimentId: string;

const post = async (server: ServerProcess, path: string, body: object) => {
  const headers = { 'x-api-key': owner.apiKey, 'content-type': 'application/json' };
  return (await (await fetch(`${server.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as any;
};

beforeAll(async () => {
  site = await sharedSite();
  servers = await Promise.all([spawnServer(site.environment), spawnServer(site.environment)]);
  owner = await makePerson(site.database.db, 'owner');
  experimentId = (await post(servers[0], '/api/v1/experiments', { name: 'Messages' })).id;
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill('SIGTERM')));
  await site.remove();
});

/** Sends one object of measurements, the last with an annotation; false when the server died on the way. */
async function send(server: ServerProcess, file: number): Promise<boolean> {
  try {
    const { uploadUrl, headers } = await post(server, '/api/v1/iot/upload-url', { experimentId });
    const lines = Array.from({ length: ROWS }, (_, row) =>
      JSON.stringify({
        timestamp: new Date(Date.UTC(2026, 4, 1) + row * 1_000).toISOString(),
        device_id: `file-${file}`,
        id: `${file}-${row}`,
        sample: { row },
        ...(row === ROWS - 1 ? { annotations: [{ type: 'comment', content: { text: 'the last' } }] } : {}),
      }),
    );
    return (await fetch(uploadUrl, { method: 'PUT', headers, body: lines.join('\n') })).ok;
  } catch {
    return false;
  }
}

interface PerFile {
  device_id: string;
  id_count: number;
  id_count_distinct: number;
}

async function perFile(server: ServerProcess): Promise<PerFile[]> {
  const functions = ['count', 'count_distinct'].map((name) => ({ column: 'id', function: name }));
  const aggregation = encodeURIComponent(JSON.stringify({ groupBy: [{ column: 'device_id' }], functions }));
  const page = await getJson(
    server,
    owner,
    `/api/v1/experiments/${experimentId}/data?tableName=raw_data&aggregation=${aggregation}&limit=1000`,
  );
  return page[0].data.rows as PerFile[];
}

test(
  `kill -9 of either of two servers at ${KILLS} moments of receiving and storing messages: nothing lost, doubled or half-visible, and work goes on`,
  async () => {
    const moments = momentsOf(KILLS, seeded(seedOf('messages')));
    const accepted = new Set<string>();
    const halfVisible: PerFile[] = [];
    const whole = ({ id_count: count, id_count_distinct: distinct }: PerFile) => count === ROWS && distinct === ROWS;
    const slow: number[] = [];
    let file = 0;
    for (const [kill, moment] of moments.entries()) {
      const victim = kill % 2;
      const sends = servers.map(async (server) => {
        const mine = (file += 1);
        if (await send(server, mine)) accepted.add(`file-${mine}`);
      });
      await sleep(moment * 1_500);
      await servers[victim]!.kill('SIGKILL');
      halfVisible.push(...(await perFile(servers[1 - victim]!).catch(() => [])).filter((each) => !whole(each)));
      await Promise.all(sends);
      servers[victim] = await spawnServer(site.environment);
      if ((kill + 1) % CALM_EVERY !== 0 && kill + 1 < KILLS) continue;
      // what was acknowledged is there 30 s after the process is back, whoever was at it
      const back = Date.now();
      const stored = await eventually(
        () => perFile(servers[victim]!).catch(() => []),
        (rows) => [...accepted].every((name) => rows.some((row) => row.device_id === name)),
        BACK_AT_WORK_MS,
      );
      if ([...accepted].some((name) => !stored.some((row) => row.device_id === name))) slow.push(Date.now() - back);
    }
    expect(accepted.size).toBeGreaterThan(0);
    expect(slow).toEqual([]);
    expect(halfVisible).toEqual([]);
    const rows = await perFile(servers[0]);
    expect(rows.filter((row) => !whole(row))).toEqual([]);
    const annotated = await getJson(
      servers[0],
      owner,
      `/api/v1/experiments/${experimentId}/data?tableName=raw_data&columns=device_id,annotations&orderBy=timestamp&orderDirection=DESC&limit=${rows.length}`,
    );
    const comments = (annotated[0].data.rows as { annotations: unknown[] }[]).map(({ annotations }) => annotations.length);
    expect(comments).toEqual(rows.map(() => 1));
    expect(await compareLogs({ db: site.database.db, dataDir: site.folder })).toBeGreaterThan(0);
  },
  300_000 + KILLS * 60_000,
);
