import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from '../support/cast.ts';
import { eventually, getJson, momentsOf, numberedCsv, seeded, seedOf, sendCsv } from '../support/crashes.ts';
import { compareLogs } from '../support/lake-log.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const KILLS = Number(process.env['KILLS'] ?? 3);
const ROWS = 4_000;

let site: Awaited<ReturnType<typeof sharedSite>>;
let servers: [ServerProcess, ServerProcess];
let owner: Person;
let experimentId: string;

beforeAll(async () => {
  site = await sharedSite();
  servers = await Promise.all([spawnServer(site.environment), spawnServer(site.environment)]);
  owner = await makePerson(site.database.db, 'owner');
  const response = await fetch(`${servers[0].baseUrl}/api/v1/experiments`, {
    method: 'POST',
    headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Crashes' }),
  });
  experimentId = ((await response.json()) as { id: string }).id;
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill('SIGTERM')));
  await site.remove();
});

interface Upload {
  uploadId: string;
  status: string;
  rowCount: number;
  alreadyThere: number;
  errorMessage: string | null;
}

test(
  `kill -9 of either of two servers at ${KILLS} moments of upload and ingestion: nothing lost, doubled or half-visible`,
  async () => {
    const moments = momentsOf(KILLS, seeded(seedOf('crash')));
    const first = await sendCsv(
      servers[0],
      owner,
      { experimentId, fields: { targetKind: 'new', targetName: 'numbers' } },
      'file-0.csv',
      numberedCsv(0, ROWS),
    );
    expect(first?.code).toBe(201);
    const tableId = first!.uploadTableId;
    const target = { experimentId, fields: { targetKind: 'existing', uploadTableId: tableId } };
    const accepted = new Set([0]);
    const halfVisible: string[] = [];
    let file = 0;

    const perFile = async (server: ServerProcess) => {
      const aggregation = JSON.stringify({
        groupBy: [{ column: 'file' }],
        functions: [
          { column: 'row', function: 'count' },
          { column: 'row', function: 'count_distinct' },
        ],
      });
      const page = await getJson(
        server,
        owner,
        `/api/v1/experiments/${experimentId}/data?tableName=${tableId}&aggregation=${encodeURIComponent(aggregation)}`,
      );
      return (page[0].data.rows as { file: number; row_count: number; row_count_distinct: number }[]).map((row) => ({ ...row }));
    };
    const look = async (server: ServerProcess) => {
      for (const row of await perFile(server).catch(() => []))
        if (row.row_count !== ROWS || row.row_count_distinct !== ROWS) halfVisible.push(JSON.stringify(row));
    };

    await eventually(
      () => perFile(servers[0]).catch(() => []),
      (rows) => rows.length === 1,
      30_000,
    );
    for (const [kill, moment] of moments.entries()) {
      const victim = kill % 2;
      const sends = [0, 1].map(async (at) => {
        file += 1;
        const mine = file;
        const answer = await sendCsv(servers[at]!, owner, target, `file-${mine}.csv`, numberedCsv(mine, ROWS));
        if (answer?.code === 201) accepted.add(mine);
      });
      await sleep(moment * 900);
      await servers[victim]!.kill('SIGKILL');
      await look(servers[1 - victim]!);
      await Promise.all(sends);
      servers[victim] = await spawnServer(site.environment);
    }

    const uploads = await eventually(
      async () => (await getJson(servers[0], owner, `/api/v1/experiments/${experimentId}/data/uploads`)).uploads as Upload[],
      (all) => all.every(({ status }) => !['pending', 'running'].includes(status)),
      60_000,
    );
    expect(uploads.filter(({ status }) => ['pending', 'running'].includes(status))).toEqual([]);
    for (const { status, errorMessage } of uploads) if (status === 'failed') expect(errorMessage).toBeTruthy();
    const rows = await perFile(servers[1]);
    expect(rows.every(({ row_count: count, row_count_distinct: distinct }) => count === ROWS && distinct === ROWS)).toBe(true);
    const stored = new Set(rows.map((row) => row.file));
    expect([...accepted].filter((each) => !stored.has(each))).toEqual([]);
    expect(halfVisible).toEqual([]);

    // the bytes of what did not arrive are gone
    const kept = uploads.filter(({ status }) => status !== 'failed').map(({ uploadId }) => uploadId);
    const folders = readdirSync(join(site.folder, 'objects', 'uploads')).filter(
      (name) => readdirSync(join(site.folder, 'objects', 'uploads', name)).length > 0,
    );
    expect(folders.filter((name) => !kept.includes(name))).toEqual([]);
    expect(await compareLogs({ db: site.database.db, dataDir: site.folder })).toBeGreaterThan(0);
  },
  300_000 + KILLS * 15_000,
);
