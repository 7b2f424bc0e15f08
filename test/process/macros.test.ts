import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { eventually, getJson, momentsOf, seeded, seedOf } from '../support/crashes.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const KILLS = Number(process.env['KILLS'] ?? 2);
/** 10,000 make 100,000 rows. */
const MESSAGES = Number(process.env['MESSAGES'] ?? 300);
const BURST = 10;
/** Each with jobs of its own, so that both servers are at work when one is killed. */
const EXPERIMENTS = 4;
const BACK_AT_WORK_MS = 30_000;
/** How often work has to catch up before the next kill. */
const CALM_EVERY = Math.max(1, Math.floor(KILLS / 10));

let site: Awaited<ReturnType<typeof sharedSite>>;
let servers: [ServerProcess, ServerProcess];
let owner: Person;
let experiments: string[];

const post = async (server: ServerProcess, path: string, body: object) => {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { id: string };
};

const start = () => spawnServer({ ...site.environment, MACRO_LANGUAGES: 'javascript' });

beforeAll(async () => {
  site = await sharedSite();
  servers = await Promise.all([start(), start()]);
  owner = await makePerson(site.database.db, 'owner');
  const made = Array.from({ length: EXPERIMENTS }, () => post(servers[0], '/api/v1/experiments', { name: 'Crashes' }));
  experiments = (await Promise.all(made)).map(({ id }) => id);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill('SIGTERM')));
  await site.remove();
});

test(
  `kill -9 of either of two servers at ${KILLS} moments while ${MESSAGES * BURST} rows arrive and macros run on them, and run again: nothing lost, doubled or half-visible`,
  async () => {
    const moments = momentsOf(KILLS, seeded(seedOf('macros')));
    const { id: macroId } = await post(servers[0], '/api/v1/macros', {
      name: 'numbers',
      language: 'javascript',
      code: 'return { n: json.n, twice: json.n * 2 };',
    });
    const { db } = site.database;
    const message = (at: number) => ({
      timestamp: new Date(Date.UTC(2026, 4, 1, 0, 0, at)).toISOString(),
      sample: Array.from({ length: BURST }, (_each, part) => ({ n: at * BURST + part })),
      macros: [{ id: macroId }],
    });
    let sent = 0;
    const send = async (until: number) => {
      while (sent < until) {
        const some = Array.from({ length: Math.min(50, until - sent) }, (_, at) => message(sent + at));
        // one after the other to each experiment
        const experimentId = experiments[Math.floor(sent / 50) % EXPERIMENTS] ?? '';
        await storeMessages(
          db,
          some.map((each) => ({ experimentId, userId: owner.id, body: Buffer.from(JSON.stringify(each)) })),
        );
        sent += some.length;
      }
    };
    const reprocess = (experimentId: string) => `/api/v1/experiments/${experimentId}/data/macros/${macroId}/reprocess`;
    const left = async () =>
      (
        await db.one<{ left: number }>(sql(
          'test',
        )`select (select count(*) from messages where status = 'pending') + (select count(*) from macro_work)
          + (select count(*) from macro_reprocesses where status <> 'completed') as left`)
      )?.left;
    const slow: number[] = [];
    for (const [kill, moment] of moments.entries()) {
      const victim = kill % 2;
      // something of each kind is at work: what has just come, and what is asked for again
      await send(Math.ceil((MESSAGES * (kill + 1)) / KILLS));
      if (kill % 4 === 1) await post(servers[0], reprocess(experiments[kill % EXPERIMENTS] ?? ''), {});
      await sleep(moment * 1_500);
      await servers[victim]?.kill('SIGKILL');
      servers[victim] = await start();
      if ((kill + 1) % CALM_EVERY !== 0 && kill + 1 < KILLS) continue;
      const back = Date.now();
      if ((await eventually(left, (count) => count === 0, BACK_AT_WORK_MS * 4)) !== 0 || Date.now() - back > BACK_AT_WORK_MS)
        slow.push(Date.now() - back);
    }
    expect(await left()).toBe(0);
    expect(slow).toEqual([]);
    const rows = MESSAGES * BURST;
    const aggregation = JSON.stringify({
      functions: [
        { column: 'n', function: 'count' },
        { column: 'n', function: 'min' },
        { column: 'n', function: 'max' },
        { column: 'n', function: 'count_distinct' },
        { column: 'id', function: 'count_distinct' },
        { column: 'twice', function: 'sum' },
        { column: 'macro_error', function: 'count' },
      ],
    });
    const total = { rows: 0, twice: 0, min: Infinity, max: -1 };
    for (const experimentId of experiments) {
      const path = `/api/v1/experiments/${experimentId}/data?tableName=${macroId}&aggregation=${encodeURIComponent(aggregation)}`;
      const row = (await getJson(servers[0], owner, path))[0].data.rows[0] as Record<string, number>;
      const own = row['n_count'];
      expect(row).toMatchObject({ n_count_distinct: own, id_count_distinct: own, macro_error_count: 0 });
      total.rows += own ?? 0;
      total.twice += row['twice_sum'] ?? 0;
      total.min = Math.min(total.min, row['n_min'] ?? Infinity);
      total.max = Math.max(total.max, row['n_max'] ?? -1);
      for (const each of (await getJson(servers[0], owner, reprocess(experimentId))) as {
        doneRows: number;
        totalRows: number;
        failedRows: number;
      }[])
        expect(each).toMatchObject({ doneRows: each.totalRows, failedRows: 0 });
    }
    // distinct in each, as many as there are, and with their sum: each number from 0 on is there once
    expect(total).toEqual({ rows, twice: rows * (rows - 1), min: 0, max: rows - 1 });
  },
  300_000 + KILLS * 20_000,
);
