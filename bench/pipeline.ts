/** Messages on their way to tables: throughput and memory against a statement by hand, reads after a month of small files, and how soon an outage is made up for. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { createUser } from '../src/api/account/account.service.ts';
import { createApiKey } from '../src/api/credentials/credentials.service.ts';
import { compactTables } from '../src/api/data/compaction.service.ts';
import { openDatabase, type Database } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { sql } from '../src/database/sql.ts';
import { drainMessages } from '../src/ingest/messages/drain.ts';
import { storeMessages, type ReadMessage } from '../src/ingest/messages/store.ts';
import { loadPipelines } from '../src/ingest/pipeline.ts';
import { readPayload } from '../src/ingest/messages/decode/payload.ts';
import { compactTable } from '../src/lakehouse/tables/maintenance.ts';
import type { StagingArea } from '../src/lakehouse/tables/staging.ts';
import { openDuckdbWriter } from '../src/lakehouse/engines/duckdb/write.ts';
import { against, pairs, type Measured } from './pairs.ts';
import { fetchAll, syncFile } from './reads.ts';
import { seedSeason } from './seed-raw.ts';
import { makeExperiment, serve, stop } from './seed-reads.ts';

const ROOT = join(import.meta.dirname, '..');
/** Rows of an experiment in the middle of its season. */
const HELD = 500_000;
/** Until nothing is left to do of what made the messages. */
const REST_MS = 1_000;
/** Arrivals of the month: one batch an hour. */
const MONTH = { batches: 720, rowsOfBatch: 500 };
const OUTAGE_MS = Number(process.env['OUTAGE_MS'] ?? 15_000);
const PER_SECOND = 200;
const TICK_MS = 100;

export const messageAt = (n: number, started = Date.UTC(2026, 4, 1), of = 'm'): string =>
  JSON.stringify({
    id: `${of}-${n}`,
    timestamp: new Date(started + n * 1_000).toISOString(),
    timezone: 'Europe/Amsterdam',
    device_id: `multispeq-${n % 40}`,
    device_name: `Leaf ${n % 40}`,
    protocol_id: 'leaf',
    latitude: 51 + (n % 1_000) / 1_000,
    longitude: 5 + (n % 777) / 1_000,
    sample: {
      spad: (n * 7_919) % 600,
      phi2: ((n * 104_729) % 1_000_000) / 1_000_000,
      trace: Array.from({ length: 24 }, (_, at) => (n * at) % 997),
    },
  });

export async function store(db: Database, experimentId: string, texts: readonly string[]): Promise<void> {
  for (let at = 0; at < texts.length; at += 500)
    await storeMessages(
      db,
      texts.slice(at, at + 500).map((text) => ({ experimentId, clientId: 'multispeq_1', body: Buffer.from(text) })),
    );
}

const resident = (pid: number | 'self') => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

/**
 * Rows a second of messages that wait in the inbox, everything that the service does with them included, against what an expert writes for the same rows. The expert's
 * statements begin, as ours do, where the messages are durable already (a file of them), and end where their files are. `held`: rows that the experiment has already,
 * none of which may come a second time; if it has some, ours has those of every pair before as well.
 */
async function throughput(db: Database, staging: StagingArea, dataDir: string, held: number): Promise<Measured[]> {
  const rows = Number(process.env['ROWS'] ?? 50_000);
  const folder = join(dataDir, `yardstick-${held}`);
  mkdirSync(folder);
  const file = join(folder, 'messages.ndjson');
  const pipelines = await loadPipelines(join(ROOT, 'pipelines'));
  const engine = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '400MB' });
  const connection = await engine.connect();
  await connection.run(`set timezone = 'UTC'`);
  let peak = 0;
  const experimentId = randomUUID();
  let batches = 0;
  /** Messages that have not come before. */
  const more = (count: number) => {
    batches += 1;
    return Array.from({ length: count }, (_, n) => messageAt(n, Date.UTC(2026, 4, 1 + batches), `m-${batches}`));
  };
  const ours = async () => {
    const into = held === 0 ? randomUUID() : experimentId;
    await store(db, into, more(rows));
    await sleep(REST_MS);
    const watch = setInterval(() => (peak = Math.max(peak, resident('self'))), 50);
    const start = performance.now();
    let stored = 0;
    await drainMessages({ db, staging, pipelines }, into, {
      read: async (pending) => {
        const read: ReadMessage[] = [];
        for (const [at, message] of pending.entries()) {
          if (at % 250 === 249) await setImmediate();
          read.push({ id: message.id, arrival: message, decoded: readPayload(message.body ?? Buffer.alloc(0)) });
        }
        return read;
      },
      onReports: (reports) => {
        for (const report of reports) stored += report.stored;
      },
    });
    clearInterval(watch);
    if (stored !== rows) throw new Error(`${stored} of ${rows} messages were stored`);
    return rows / ((performance.now() - start) / 1_000);
  };
  const made = Object.fromEntries(['there', 'out', 'devices', 'outcomes'].map((name) => [name, join(folder, `${name}.parquet`)]));
  const source = randomUUID();
  const statements = readFileSync(join(import.meta.dirname, 'yardsticks', 'messages.sql'), 'utf8')
    .replace(/{{(\w+)}}/g, (_, name: string) => ({ ...made, file, source, client: 'multispeq_1' })[name] ?? '')
    .split(/;\n/)
    .filter((text) => text.trim() !== '');
  for (let at = 0; at < held; at += rows) await ours();
  await connection.run(
    `copy (select left(sha256('${source}' || 'm-0-' || n), 20) || '000000000000' as id from range(${held}) t(n)) to '${made['there'] ?? ''}' (format parquet, compression zstd, row_group_size 100352)`,
  );
  peak = 0;
  const yardstick = async () => {
    writeFileSync(file, more(rows).join('\n'));
    await sleep(REST_MS);
    const start = performance.now();
    for (const text of statements) await connection.run(text);
    for (const name of ['out', 'devices', 'outcomes']) syncFile(made[name] ?? '');
    return rows / ((performance.now() - start) / 1_000);
  };
  await yardstick();
  const measured = await pairs(`${rows} messages into ${held} rows against an expert's statement, macros off, rows/s`, ours, yardstick);
  connection.closeSync();
  engine.closeSync();
  return [measured, against(`messages into ${held} rows, peak resident memory, MB`, peak, 1_024)];
}

interface Site {
  db: Database;
  staging: StagingArea;
  baseUrl: string;
  apiKey: string;
  makeExperiment: (name: string) => Promise<string>;
}

/** A month of hourly batches, compacted as the service does it by the minute, against the same rows written at once. */
async function month({ db, staging, baseUrl, apiKey, makeExperiment }: Site, onMeasured: (line: Measured) => void): Promise<void> {
  const rows = MONTH.batches * MONTH.rowsOfBatch;
  const season = { db, staging, rows, inOrder: true };
  const [grown, fresh] = [await makeExperiment('A month'), await makeExperiment('At once')];
  await seedSeason({ ...season, batch: MONTH.rowsOfBatch, onBatch: () => compactTables({ db, staging }) }, grown);
  const whole = await seedSeason({ ...season, batch: rows }, fresh);
  await compactTable({ db, staging }, whole, { sortColumn: 'timestamp' });
  const files = await db.rows<{ experiment: string; files: number }>(sql(
    'bench.files',
  )`select t.experiment_id as experiment, count(*) as files
    from lake_files f join lake_tables t on t.id = f.table_id
    where f.to_version is null and t.experiment_id in (${grown}, ${fresh}) group by 1`);
  process.stdout.write(
    `files after a month: ${files.map(({ experiment, files: n }) => `${n} ${experiment === grown ? 'grown' : 'fresh'}`).join(', ')}\n`,
  );
  const agent = new Agent({ keepAlive: true });
  const site = { port: Number(new URL(baseUrl).port), apiKey };
  const aggregation = JSON.stringify({
    groupBy: [{ column: 'timestamp', timeBucket: 'hour' }],
    functions: [{ column: 'latitude', function: 'avg' }],
  });
  const questions: readonly { name: string; query: Record<string, string> }[] = [
    { name: 'hourly aggregate', query: { aggregation } },
    { name: 'newest page', query: { orderBy: 'timestamp', orderDirection: 'DESC', pageSize: '100' } },
  ];
  for (const { name, query } of questions) {
    const ask = (experimentId: string) => async () => {
      const path = `/api/v1/experiments/${experimentId}/data?${new URLSearchParams({ tableName: 'raw_data', ...query }).toString()}`;
      const { milliseconds, status } = await fetchAll(site, agent, path);
      if (status !== 200) throw new Error(`${name} was answered ${status}`);
      return milliseconds;
    };
    await ask(grown)();
    await ask(fresh)();
    onMeasured(await pairs(`${name} after a month of small files against freshly compacted, ms`, ask(grown), ask(fresh)));
  }
  agent.destroy();
}

const waiting = async (db: Database) =>
  (await db.one<{ waiting: number }>(sql('bench.waiting')`select count(*)::integer as waiting from pending_messages`))?.waiting ?? 0;

/** Messages keep coming while nobody works; then somebody does. */
async function outage(site: Site, start: () => Promise<{ stop(): Promise<void>; pid: number }>): Promise<Measured[]> {
  const { db, makeExperiment } = site;
  const experimentId = await makeExperiment('An outage');
  let feeding = true;
  let sent = 0;
  const began = Date.now();
  const feed = (async () => {
    while (feeding) {
      const due = Math.floor(((Date.now() - began) / 1_000) * PER_SECOND);
      await store(
        db,
        experimentId,
        Array.from({ length: due - sent }, (_, at) => messageAt(sent + at)),
      );
      sent = due;
      await sleep(TICK_MS);
    }
  })();
  await sleep(OUTAGE_MS);
  const worker = await start();
  const grew = (Date.now() - began) / 1_000;
  const most = await waiting(db);
  const back = Date.now();
  // caught up: what waits is what came within a second
  while ((await waiting(db)) > PER_SECOND && Date.now() - back < OUTAGE_MS * 4) await sleep(TICK_MS);
  const shrank = (Date.now() - back) / 1_000;
  const memory = resident(worker.pid);
  feeding = false;
  await feed;
  await worker.stop();
  process.stdout.write(`${most} messages waited after ${grew.toFixed(1)} s at ${PER_SECOND} a second\n`);
  return [
    against('lag after an outage while messages keep coming: seconds until it is gone against seconds that it grew', shrank, grew),
    against('worker after an outage, resident memory, MB', memory, 1_024),
  ];
}

/** Bounds: throughput at least 0.5, memory at most 1, reads after a month at most 1.2, lag below 1. `ROWS` makes the throughput's 50,000 messages fewer. */
export async function benchPipeline(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 4 });
  const person = await createUser(db, { email: 'bench@example.org', firstName: 'Bench', lastName: 'Keeper', verified: true });
  const { key: apiKey } = await createApiKey(db, { userId: person.id, name: 'bench', rateLimit: 1_000_000 });
  const staging = await openDuckdbWriter({ lakeFolder: join(dataDir, 'lake'), workFolder: join(dataDir, 'seeding'), threads: 2 });
  const settings = {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    DUCKDB_THREADS: '2',
    DUCKDB_MEMORY_MB: '256',
    RESULT_CACHE_MB: '0',
    LOG_LEVEL: 'warn',
  };
  const { child, baseUrl } = await serve({ ...settings, WORKER: 'off' });
  try {
    const experiment = (name: string) => makeExperiment(baseUrl, apiKey, { name, organizationId: person.organizationId });
    const site = { db, staging, baseUrl, apiKey, makeExperiment: experiment };
    for (const held of [0, HELD]) for (const line of await throughput(db, staging, dataDir, held)) onMeasured(line);
    await month(site, onMeasured);
    const start = async () => {
      const { child: worker } = await serve(settings);
      return { stop: () => stop(worker), pid: worker.pid ?? 0 };
    };
    for (const line of await outage(site, start)) onMeasured(line);
  } finally {
    await stop(child);
    await staging.close();
    await db.close();
  }
}
