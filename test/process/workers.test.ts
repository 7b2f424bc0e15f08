/** Workers as processes of their own, beside a server that only serves. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { eventually } from '../support/crashes.ts';
import { compareLogs } from '../support/lake-log.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

const EXPERIMENTS = 4;
const ROUNDS = 40;
const MESSAGES = 10;

let site: TestServer;
let owner: Call;
const workers: ServerProcess[] = [];
beforeAll(async () => {
  site = await startTestServer({ WORKER: 'off' });
  owner = site.as(site.cast.owner);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill('SIGTERM')));
  await site.stop();
});

const startWorker = async () => {
  const settings = { DATABASE_URL: site.database.url, DATA_DIR: site.dataDir, BASE_URL: site.server.baseUrl };
  const worker = await spawnServer(settings, 'worker');
  workers.push(worker);
  return worker;
};
const makeExperiment = async (name: string): Promise<string> =>
  (await owner('POST', '/api/v1/experiments', { body: { name, organizationId: site.cast.leafLab } })).body.id;
const sendCsv = async (experimentId: string, name: string, csv: string) => {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: name })) form.append(field, value);
  form.append('files', new Blob([csv]), 'rows.csv');
  const made = await owner('POST', `/api/v1/experiments/${experimentId}/data/uploads`, { body: form });
  expect(made.status, made.text).toBe(201);
  return `/api/v1/experiments/${experimentId}/data/uploads/${String(made.body.uploadId)}`;
};
const messageAt = (experimentId: string, n: number) => ({
  experimentId,
  clientId: 'multispeq_1',
  body: Buffer.from(JSON.stringify({ timestamp: new Date(Date.UTC(2026, 4, 1, 0, 0, n)).toISOString(), device_id: 'd', sample: { n } })),
});
const waitingIn = async (experiments: readonly string[]): Promise<number> =>
  (await site.db.one<{ left: number }>(
    sql('test')`select count(*)::int as left from messages where status = 'pending' and experiment_id = any(${[...experiments]}::uuid[])`,
  ))!.left;
/** The messages of these experiments that still wait once none does, or when the time is over. */
const leftIn = (experiments: readonly string[], milliseconds: number) =>
  eventually(
    () => waitingIn(experiments),
    (left) => left === 0,
    milliseconds,
  );
const statusOf = async (upload: string): Promise<string> => (await owner('GET', upload)).body.status;

test('without a worker an upload waits, and the log says so; with one it is read', async () => {
  await expect.poll(() => site.server.output()).toContain('WORKER=off');
  const upload = await sendCsv(await makeExperiment('Waiting'), 'few', 'n\n1\n2\n');
  // twice as long as a worker that was not told of it needs to find it
  await sleep(1_000);
  expect(await statusOf(upload)).toBe('pending');
  const worker = await startWorker();
  expect(
    await eventually(
      () => statusOf(upload),
      (status) => status === 'completed',
      20_000,
    ),
  ).toBe('completed');
  expect((await fetch(`${worker.adminUrl}/health/ready`)).status).toBe(200);
  expect(worker.output()).toContain(`Letters (sign-in codes, invitations) go to ${site.dataDir}/outbox`);
  expect(site.server.output()).not.toContain('Letters');
  expect(await (await fetch(`${worker.adminUrl}/metrics`)).text()).toContain('lake_log_lag_seconds');
  expect((await fetch(`${worker.adminUrl}/api/v1/experiments`)).status).toBe(404);
});

/** An experiment whose messages are taken by a process that ends one of them now and then, and later does nothing. */
let held: string;
const HELD = 400;
let holder: pg.Client;
let ended = 0;
const endOldest = async () => {
  await holder.query(
    'delete from pending_messages where experiment_id = $1 and ordinal = (select min(ordinal) from pending_messages where experiment_id = $1)',
    [held],
  );
  ended += 1;
};
let heldSince: number;
let ending: NodeJS.Timeout;
test('messages are left to the process that has them, and those of another experiment stored', async () => {
  held = await makeExperiment('Held');
  const free = await makeExperiment('Free');
  holder = new pg.Client({ connectionString: site.database.url });
  await holder.connect();
  await holder.query("select pg_advisory_lock(hashtextextended('work messages of ' || $1, 0))", [held]);
  const messages = Array.from({ length: HELD }, (_, n) => messageAt(held, n));
  await storeMessages(site.db, [...messages, messageAt(free, 1)]);
  heldSince = Date.now();
  ending = setInterval(() => void endOldest(), 1_000);
  expect(await leftIn([free], 20_000)).toBe(0);
  expect(await waitingIn([held])).toBe(HELD - ended);
});

test('two workers share the work; one is killed midway, and nothing is lost or doubled', async () => {
  const [, ...experiments] = await Promise.all([
    startWorker(),
    ...Array.from({ length: EXPERIMENTS }, (_, at) => makeExperiment(`Shared ${at}`)),
  ]);
  const replacing: Promise<ServerProcess>[] = [];
  const uploads: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await storeMessages(
      site.db,
      experiments.flatMap((experimentId) => Array.from({ length: MESSAGES }, (_, at) => messageAt(experimentId, round * MESSAGES + at))),
    );
    if (round % 10 === 0)
      for (const [at, id] of experiments.entries()) uploads.push(await sendCsv(id, `table_${round}_${at}`, 'n\n1\n2\n3\n'));
    if (round === ROUNDS / 2) {
      await workers[0]!.kill('SIGKILL');
      replacing.push(startWorker());
    }
  }
  await Promise.all(replacing);
  expect(await leftIn(experiments, 60_000)).toBe(0);
  for (const upload of uploads)
    expect(
      await eventually(
        () => statusOf(upload),
        (status) => status === 'completed',
        60_000,
      ),
    ).toBe('completed');
  for (const id of experiments) {
    const aggregation = JSON.stringify({
      groupBy: [],
      functions: [
        { column: 'id', function: 'count', alias: 'rows' },
        { column: 'id', function: 'count_distinct', alias: 'ids' },
        { column: 'timestamp', function: 'count_distinct', alias: 'times' },
      ],
    });
    const read = await owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'raw_data', aggregation } });
    const all = ROUNDS * MESSAGES;
    expect(read.body[0]?.data.rows, read.text).toEqual([{ rows: all, ids: all, times: all }]);
  }
  for (const upload of uploads) {
    const { body } = await owner('GET', upload);
    const page = await owner('GET', upload.replace(/\/uploads\/.*/, ''), { query: { tableName: body.uploadTableId } });
    expect(page.body[0].totalRows).toBe(3);
  }
  expect(await compareLogs(site)).toBeGreaterThan(EXPERIMENTS);
});

test('an export that a worker writes is cancelled by the server', async () => {
  const id = await makeExperiment('Cancelled');
  const upload = await sendCsv(id, 'rows', `n\n${Array.from({ length: 300_000 }, (_, n) => n).join('\n')}\n`);
  expect(
    await eventually(
      () => statusOf(upload),
      (status) => status === 'completed',
      60_000,
    ),
  ).toBe('completed');
  const path = `/api/v1/experiments/${id}/data/exports`;
  const { uploadTableId } = (await owner('GET', upload)).body;
  const ask = async () => String((await owner('POST', path, { body: { tableName: uploadTableId, format: 'csv' } })).body.exportId);
  const state = async (exportId: string) => (await owner('GET', `${path}/${exportId}/status`)).body.status as string;
  const whole = await ask();
  expect(
    await eventually(
      () => state(whole),
      (status) => status === 'completed',
      30_000,
    ),
  ).toBe('completed');
  const cancelled = await ask();
  const answer = await owner('DELETE', `${path}/${cancelled}`);
  expect(answer.status, answer.text).toBeLessThan(300);
  expect(
    await eventually(
      () => state(cancelled),
      (status) => status !== 'running' && status !== 'pending',
      30_000,
    ),
  ).toBe('cancelled');
});

test('a process that has messages and goes on is left alone', async () => {
  // longer than one that does nothing is waited for, and a round of a worker more
  await sleep(Math.max(heldSince + 20_000 - Date.now(), 0));
  clearInterval(ending);
  await holder.query('select 1');
  expect(await waitingIn([held])).toBe(HELD - ended);
});

test('a process that has messages and does nothing is not waited for', async () => {
  expect(await leftIn([held], 40_000)).toBe(0);
  await holder.end();
});

test('a worker without a Postgres or an address of its own is refused in one sentence', async () => {
  const base = { DATABASE_URL: site.database.url, DATA_DIR: site.dataDir, BASE_URL: site.server.baseUrl };
  const refused = async (missing: keyof typeof base, sentence: string) => {
    const settings = Object.fromEntries(Object.entries(base).filter(([name]) => name !== missing));
    await expect(spawnServer(settings, 'worker')).rejects.toThrow(sentence);
  };
  await Promise.all([refused('DATABASE_URL', 'A worker needs DATABASE_URL'), refused('BASE_URL', 'A worker needs BASE_URL')]);
});
