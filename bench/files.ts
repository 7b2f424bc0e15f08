/** What compaction is worth: pages of raw_data over time-disjoint files of about 100,000 rows, against the same rows in files that were written as they came. */
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { createUser } from '../src/api/account/account.service.ts';
import { createApiKey } from '../src/api/credentials/credentials.service.ts';
import { openDatabase, type Database } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { compactTable } from '../src/lakehouse/tables/maintenance.ts';
import { listFilesAt } from '../src/lakehouse/tables/manifest.ts';
import { findTableById } from '../src/lakehouse/tables/manifest.queries.ts';
import { openDuckdbWriter } from '../src/lakehouse/engines/duckdb/write.ts';
import { pairs, warm, type Measured } from './pairs.ts';
import { fetchAll } from './reads.ts';
import { seedSeason } from './seed-raw.ts';
import { makeExperiment, serve, stop } from './seed-reads.ts';

const ROWS_PER_BATCH = 100_352;

const liveFiles = async (db: Database, tableId: string) => listFilesAt(db, tableId, (await findTableById(db, tableId))?.version ?? 0);

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
  const { child, baseUrl } = await serve({ DATABASE_URL: url, DATA_DIR: dataDir, ...settings });
  const staging = await openDuckdbWriter({ lakeFolder: join(dataDir, 'lake'), workFolder: join(dataDir, 'seeding'), threads: 2 });
  const engine = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '256MB' });
  const agent = new Agent({ keepAlive: true });
  try {
    const experiment = (name: string) => makeExperiment(baseUrl, apiKey, { name, organizationId: person.organizationId });
    const [unsorted, compacted] = [await experiment('Unsorted'), await experiment('Compacted')];
    const season = { db, staging, rows, batch: ROWS_PER_BATCH, inOrder: false };
    const asItCame = await liveFiles(db, await seedSeason(season, unsorted));
    const tableId = await seedSeason(season, compacted);
    const start = performance.now();
    await compactTable({ db, staging }, tableId, { sortColumn: 'timestamp' });
    const files = await liveFiles(db, tableId);
    process.stdout.write(
      `${rows} rows: ${asItCame.length} files as they came, ${overlapping(asItCame)} of them overlapping; ` +
        `compacted in ${((performance.now() - start) / 1_000).toFixed(1)} s to ${files.length}, ${overlapping(files)} of them overlapping\n`,
    );
    const site = { port: Number(new URL(baseUrl).port), apiKey };
    const asked = (experimentId: string, query: Record<string, string>) => async () => {
      const path = `/api/v1/experiments/${experimentId}/data?${new URLSearchParams({ tableName: 'raw_data', ...query }).toString()}`;
      const { milliseconds, status } = await fetchAll(site, agent, path);
      if (status !== 200) throw new Error(`a page was answered ${status}`);
      return milliseconds;
    };
    for (const { name, query } of PAGES) {
      const [ours, theirs] = [asked(compacted, query), asked(unsorted, query)];
      await warm(ours, theirs);
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
    await warm(ours, byHand);
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
