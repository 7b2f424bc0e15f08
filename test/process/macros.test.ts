import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { eventually, getJson, seeded, seedOf } from '../support/crashes.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const KILLS = Number(process.env['KILLS'] ?? 2);
const MESSAGES = Number(process.env['MESSAGES'] ?? 300);
const BURST = 5;

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let owner: Person;
let experimentId: string;

const post = async (path: string, body: object) => {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { id: string };
};

const start = async () => {
  server = await spawnServer({ ...site.environment, MACRO_LANGUAGES: 'javascript' });
};

beforeAll(async () => {
  site = await sharedSite();
  await start();
  owner = await makePerson(site.database.db, 'owner');
  experimentId = (await post('/api/v1/experiments', { name: 'Crashes' })).id;
}, 120_000);
afterAll(async () => {
  await server.kill('SIGTERM');
  await site.remove();
}, 60_000);

test(
  `kill -9 at ${KILLS} moments while macros run on what arrives and run again: nothing lost, doubled or half-visible`,
  async () => {
    const random = seeded(seedOf('macros'));
    const macroId = (
      await post('/api/v1/macros', { name: 'numbers', language: 'javascript', code: 'return { n: json.n, twice: json.n * 2 };' })
    ).id;
    const rows = MESSAGES * BURST;
    const { db } = site.database;
    const messages = Array.from({ length: MESSAGES }, (_, at) => ({
      timestamp: new Date(Date.UTC(2026, 4, 1, 0, 0, at)).toISOString(),
      sample: Array.from({ length: BURST }, (_each, part) => ({ n: at * BURST + part })),
      macros: [{ id: macroId }],
    }));
    for (let at = 0; at < messages.length; at += 50)
      await storeMessages(
        db,
        messages.slice(at, at + 50).map((each) => ({ experimentId, clientId: 'multispeq_1', body: Buffer.from(JSON.stringify(each)) })),
      );
    const path = `/api/v1/experiments/${experimentId}/data/macros/${macroId}/reprocess`;
    const asked = (await post(path, {})).id;
    expect(asked).toBeTruthy();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(random() * 1_500);
      await server.kill('SIGKILL');
      await start();
      if (kill % 2 === 1) await post(path, {});
    }
    const left = async () =>
      (
        await db.one<{ left: number }>(sql(
          'test',
        )`select (select count(*) from messages where status = 'pending') + (select count(*) from macro_work)
          + (select count(*) from macro_reprocesses where status <> 'completed') as left`)
      )?.left;
    expect(await eventually(left, (count) => count === 0, 120_000)).toBe(0);
    const aggregation = JSON.stringify({
      functions: [
        { column: 'n', function: 'count' },
        { column: 'n', function: 'count_distinct' },
        { column: 'id', function: 'count_distinct' },
        { column: 'twice', function: 'sum' },
        { column: 'macro_error', function: 'count' },
      ],
    });
    const page = await getJson(
      server,
      owner,
      `/api/v1/experiments/${experimentId}/data?tableName=${macroId}&aggregation=${encodeURIComponent(aggregation)}`,
    );
    expect(page[0].data.rows).toEqual([
      { n_count: rows, n_count_distinct: rows, id_count_distinct: rows, twice_sum: rows * (rows - 1), macro_error_count: 0 },
    ]);
    for (const each of (await getJson(server, owner, path)) as { doneRows: number; totalRows: number; failedRows: number }[])
      expect(each).toMatchObject({ doneRows: each.totalRows, failedRows: 0 });
  },
  120_000 + KILLS * 20_000,
);
