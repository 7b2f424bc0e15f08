/** What compaction is worth: pages of raw_data over time-disjoint files of about 100,000 rows, against the same rows in files that were written as they came. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { createUser } from '../src/api/account/account.service.ts';
import { createApiKey } from '../src/api/credentials/credentials.service.ts';
import { openDatabase, type Database } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { fill, functionStatements, loadPipelines, variable } from '../src/ingest/pipeline.ts';
import { compactTable } from '../src/lakehouse/maintenance.ts';
import { commit, createTable, filesAt } from '../src/lakehouse/manifest.ts';
import { findTableById } from '../src/lakehouse/manifest.queries.ts';
import type { StagingArea } from '../src/lakehouse/staging.ts';
import { openDuckdbWriter } from '../src/lakehouse/warehouses/duckdb-write.ts';
import { pairs, type Measured } from './pairs.ts';
import { fetchAll } from './reads.ts';
import { serve, stop } from './seed-reads.ts';

const ROOT = join(import.meta.dirname, '..');
const ROWS_PER_BATCH = 100_352;
/** Prime, and larger than any count of rows: its multiples visit every row once, in no order. */
const STRIDE = 1_000_000_007;

/** Measurements as a batch of messages brings them: the `{from}`th to the `{to}`th that came, of a season in which one was made every ten seconds. */
const BATCH = `create or replace temp view bronze_records as select
    md5(i::varchar) as fieldlake_row,
    strftime(timestamptz '2024-01-01 00:00:00+00' + to_seconds(10 * i), '%Y-%m-%dT%H:%M:%S.%fZ') as measured_at,
    'multispeq-' || hash(i, 1) % 40 as device_id, 'plot team ' || hash(i, 2) % 100 as device_name, 'Europe/Amsterdam' as timezone,
    (51 + hash(i, 3) % 10000 / 10000)::varchar as latitude, (5 + hash(i, 4) % 10000 / 10000)::varchar as longitude,
    null::varchar as workbook_run_id, null::varchar as contributor_id, 'multispeq_' || hash(i, 1) % 40 as client_id,
    '2025-09-01T00:00:00.000Z' as processed_at, null::varchar as macros, 'leaf' as protocol_id,
    '{"spad":' || hash(i, 5) % 600 / 10 || ',"phi2":' || hash(i, 6) % 1000000 / 1000000 || ',"par":' || hash(i, 7) % 2500 || '}' as data,
    null::varchar as workbook_version_id, null::varchar as macro_context
  from (select (j::hugeint * ${STRIDE} % {rows})::bigint as i from range({from}, {to}) t(j))`;

interface Seeding {
  db: Database;
  staging: StagingArea;
  rows: number;
}

/** Commits the rows to raw_data in the order in which they came, batch by batch, each file over the whole season. Answers the table's id. */
async function seedUnsorted({ db, staging, rows }: Seeding, experimentId: string): Promise<string> {
  const pipelines = await loadPipelines(join(ROOT, 'pipelines'));
  const tableId = randomUUID();
  await createTable(db, { experimentId, kind: 'raw_data', identifier: 'raw_data', id: tableId });
  const session = await staging.session();
  await session.prepare([...functionStatements(pipelines), variable('experiment_id', experimentId)]);
  for (let from = 0; from < rows; from += ROWS_PER_BATCH) {
    const batch = BATCH.replace('{from}', String(from))
      .replace('{to}', String(Math.min(rows, from + ROWS_PER_BATCH)))
      .replace('{rows}', String(rows));
    await session.prepare([{ sql: batch, values: [] }]);
    const select = fill(pipelines.measurementRows, { questions: '' });
    // said to be in order already, so that they are written as they come
    const staged = await session.stage({ tableId, experimentId, select, sortColumn: 'timestamp', sorted: true });
    await db.transaction((tx) => commit(tx, { tableId, cause: 'ingest', files: staged.files }));
  }
  session.close();
  return tableId;
}

const liveFiles = async ({ db }: Seeding, tableId: string) => filesAt(db, tableId, (await findTableById(db, tableId))?.version ?? 0);

/** Files that begin before the one ahead of them ends. */
const overlapping = (files: readonly { minKey: string | null; maxKey: string | null }[]) =>
  files.filter(({ minKey }, at) => at > 0 && (minKey ?? '') < (files[at - 1]?.maxKey ?? '')).length;

const aggregation = JSON.stringify({
  groupBy: [{ column: 'timestamp', timeBucket: 'hour' }],
  functions: [
    { column: 'latitude', function: 'avg' },
    { column: '*', function: 'count' },
  ],
});
const filters = JSON.stringify([{ column: 'device_name', operator: 'equals', value: 'plot team 7' }]);
const PAGES = ['ASC', 'DESC'].flatMap((orderDirection): { name: string; query: Record<string, string> }[] => [
  { name: `first page, ${orderDirection}`, query: { orderBy: 'timestamp', orderDirection, pageSize: '100' } },
  { name: `first page, ${orderDirection}, 1 row in 100`, query: { orderBy: 'timestamp', orderDirection, pageSize: '100', filters } },
]);

/** Pages of compacted files against unsorted ones, as ratios of milliseconds (at most 0.2), and the hourly aggregate against a statement by hand (at most 1.25 and 5 ms). `ROWS` makes it smaller than 5 million. */
export async function benchFiles(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const rows = Number(process.env['ROWS'] ?? 5_000_000);
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  const person = await createUser(db, { email: 'bench@example.org', firstName: 'Bench', lastName: 'Reader', verified: true });
  const { key: apiKey } = await createApiKey(db, { userId: person.id, name: 'bench', rateLimit: 1_000_000 });
  // without kept answers: each is read anew
  const settings = { DUCKDB_THREADS: '2', DUCKDB_MEMORY_MB: '256', RESULT_CACHE_MB: '0', WORKER: 'off', LOG_LEVEL: 'warn' };
  const { child, baseUrl, adminUrl } = await serve({ DATABASE_URL: url, DATA_DIR: dataDir, ...settings });
  const staging = await openDuckdbWriter({ lakeFolder: join(dataDir, 'lake'), workFolder: join(dataDir, 'seeding'), threads: 2 });
  const engine = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '256MB' });
  const agent = new Agent({ keepAlive: true });
  try {
    const makeExperiment = async (name: string) => {
      const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
      const body = JSON.stringify({ name, organizationId: person.organizationId });
      const response = await fetch(`${baseUrl}/api/v1/experiments`, { method: 'POST', headers, body });
      return ((await response.json()) as { id: string }).id;
    };
    const [unsorted, compacted] = [await makeExperiment('Unsorted'), await makeExperiment('Compacted')];
    const seeding = { db, staging, rows };
    const asItCame = await liveFiles(seeding, await seedUnsorted(seeding, unsorted));
    const tableId = await seedUnsorted(seeding, compacted);
    const start = performance.now();
    await compactTable({ db, staging }, tableId, { sortColumn: 'timestamp' });
    const files = await liveFiles(seeding, tableId);
    process.stdout.write(
      `${rows} rows: ${asItCame.length} files as they came, ${overlapping(asItCame)} of them overlapping; ` +
        `compacted in ${((performance.now() - start) / 1_000).toFixed(1)} s to ${files.length}, ${overlapping(files)} of them overlapping\n`,
    );
    const site = {
      port: Number(new URL(baseUrl).port),
      apiKey,
      adminUrl,
      pid: child.pid ?? 0,
      path: '',
      files: [],
      stop: () => stop(child),
    };
    const asked = (experimentId: string, query: Record<string, string>) => async () => {
      const path = `/api/v1/experiments/${experimentId}/data?${new URLSearchParams({ tableName: 'raw_data', ...query }).toString()}`;
      const { milliseconds, status } = await fetchAll(site, agent, path);
      if (status !== 200) throw new Error(`a page was answered ${status}`);
      return milliseconds;
    };
    for (const { name, query } of PAGES) {
      const [ours, theirs] = [asked(compacted, query), asked(unsorted, query)];
      await ours();
      await theirs();
      onMeasured(await pairs(`${name}: compacted against unsorted files, ms`, ours, theirs));
    }
    const connection = await engine.connect();
    await connection.run(`set timezone = 'UTC'`);
    const hourly = readFileSync(join(import.meta.dirname, 'yardsticks', 'hourly-raw.sql'), 'utf8')
      .replaceAll('$files', `[${files.map(({ path }) => `'${join(dataDir, 'lake', path)}'`).join(', ')}]`)
      .replaceAll('$experiment', `'${compacted}'`);
    const byHand = async () => {
      const began = performance.now();
      await connection.runAndReadAll(hourly);
      return performance.now() - began;
    };
    const ours = asked(compacted, { aggregation });
    await ours();
    await byHand();
    onMeasured(await pairs('hourly aggregate of raw_data against a statement by hand, ms', ours, byHand));
    connection.closeSync();
  } finally {
    agent.destroy();
    engine.closeSync();
    await stop(child);
    await staging.close();
    await db.close();
  }
}
