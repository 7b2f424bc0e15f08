import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { startArguments, startEnvironment } from '../scripts/as-started.ts';
import { createUser } from '../src/api/account/account.service.ts';
import { createApiKey } from '../src/api/credentials/credentials.service.ts';
import { openDatabase } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { sql } from '../src/database/sql.ts';

const ROOT = join(import.meta.dirname, '..');
const ROWS_PER_UPLOADED_FILE = 500_000;

/** One row every ten seconds: 12 columns, some of them with nulls, text that a spreadsheet would run, and ties. */
const SELECT = `select
    (1 + i % 480)::integer as plot,
    ['control', 'drought', 'heat', 'shade'][1 + (i // 480) % 4] as treatment,
    'S-' || lpad((1 + hash(i, 1) % 2000)::varchar, 5, '0') as sensor,
    timestamptz '2024-01-01 00:00:00+00' + to_seconds(10 * i) as measured_at,
    case when hash(i, 2) % 20 > 0 then round(20 + (hash(i, 3) % 400000) / 10000, 4) end as spad,
    (hash(i, 4) % 1000000) / 1000000 as phi2,
    round(10 + (hash(i, 5) % 30000) / 1000, 3) as temperature,
    round((hash(i, 6) % 10000) / 100, 2) as humidity,
    (hash(i, 7) % 2500)::integer as par,
    (hash(i, 8) % 4000000000)::bigint as pulses,
    hash(i, 9) % 50 > 0 as valid,
    case hash(i, 10) % 40 when 0 then '=SUM(A1:A9)' when 1 then 'leaf torn, "again"' when 2 then null else 'row ' || i // 1000 || ' seen by team ' || hash(i, 11) % 7 end as note
  from range({from}, {to}) t(i)`;

export interface ReadsSite {
  port: number;
  apiKey: string;
  /** Path of the tables' rows, with the table in the query. */
  path: string;
  baseUrl: string;
  adminUrl: string;
  /** Process id of the server. */
  pid: number;
  /** Absolute paths of a table's files. */
  filesOf(table: string): string[];
  /** Sizes of a table's files, in bytes. */
  bytesOf(table: string): number[];
  stop(): Promise<void>;
}

interface SiteOptions {
  url: string;
  dataDir: string;
  /** Names of the tables, and their rows. */
  tables: Readonly<Record<string, number>>;
  threads: number;
  memoryMb: number;
  /** Whether the server that is measured runs jobs too. */
  works?: boolean;
  /** Of memory for answers that are kept; without it each is read anew. */
  keptMb?: number;
  /** More settings of both servers. */
  settings?: Readonly<Record<string, string>>;
  /** Folder of the server that is measured, where it is not that of the one that took the upload in. */
  servingDir?: string;
}

/** Starts the built server, or with `worker` a worker, on free ports, as a process of its own, with the flags of `npm start`. */
export async function serve(
  environment: Record<string, string>,
  more: readonly string[] = [],
): Promise<{ child: ChildProcess; baseUrl: string; adminUrl: string }> {
  const child = spawn(process.execPath, [...startArguments, ...more], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...startEnvironment,
      PORT: '0',
      BROKER_PORT: '0',
      SAMPLE_DATA: 'off',
      MACRO_LANGUAGES: 'none',
      // processes on one Postgres share it, whichever folders they have
      SECRET: 'be'.repeat(32),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const [, baseUrl, adminUrl] = /(?: is ready at|A worker of) (\S+) .*operators: (http:\/\/[^/]+)/.exec(text) ?? [];
      if (baseUrl !== undefined && adminUrl !== undefined) resolve({ child, baseUrl, adminUrl });
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${String(code)}: ${text}`)));
  });
}

export const stop = async (child: ChildProcess) => {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
};

/** A new experiment of somebody's organization; its id. */
export async function makeExperiment(baseUrl: string, apiKey: string, asked: { name: string; organizationId: string }): Promise<string> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/api/v1/experiments`, { method: 'POST', headers, body: JSON.stringify(asked) });
  return ((await response.json()) as { id: string }).id;
}

/** Parquet files as somebody would upload them, written by an engine of their own. */
async function writeUploads(folder: string, rows: number): Promise<string[]> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  await connection.run(`set timezone = 'UTC'`);
  const paths: string[] = [];
  for (let from = 0; from < rows; from += ROWS_PER_UPLOADED_FILE) {
    const path = join(folder, `rows-${String(paths.length).padStart(3, '0')}.parquet`);
    const select = SELECT.replace('{from}', String(from)).replace('{to}', String(Math.min(rows, from + ROWS_PER_UPLOADED_FILE)));
    await connection.run(`copy (${select}) to '${path}' (format parquet, compression zstd)`);
    paths.push(path);
  }
  connection.closeSync();
  instance.closeSync();
  return paths;
}

/**
 * A started server with upload tables of so many rows and twelve columns, brought in as Parquet through the upload. The server that serves
 * the reads is another process than the one that took the upload in, so that its peak memory is that of reading.
 */
export async function startReadsSite({
  url,
  dataDir,
  tables,
  threads,
  memoryMb,
  works = false,
  keptMb = 0,
  settings = {},
  servingDir = dataDir,
}: SiteOptions): Promise<ReadsSite> {
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  const person = await createUser(db, { email: 'bench@example.org', firstName: 'Bench', lastName: 'Reader', verified: true });
  const { key: apiKey } = await createApiKey(db, { userId: person.id, name: 'bench', rateLimit: 1_000_000 });
  await db.close();
  const environment = {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    DUCKDB_THREADS: String(threads),
    DUCKDB_MEMORY_MB: String(memoryMb),
    RESULT_CACHE_MB: String(keptMb),
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const taking = await serve(environment);
  const headers = { 'x-api-key': apiKey };
  const ask = async (method: string, path: string, body?: FormData) => {
    const response = await fetch(`${taking.baseUrl}${path}`, { method, headers, ...(body && { body }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return (await response.json()) as any;
  };
  const experiment = `/api/v1/experiments/${await makeExperiment(taking.baseUrl, apiKey, { name: 'Bench', organizationId: person.organizationId })}`;
  for (const [targetName, rows] of Object.entries(tables)) {
    const folder = mkdtempSync(join(dataDir, 'to-upload-'));
    const form = new FormData();
    for (const [field, value] of Object.entries({ sourceKind: 'parquet', targetKind: 'new', targetName })) form.append(field, value);
    for (const [index, path] of (await writeUploads(folder, rows)).entries())
      form.append('files', await openAsBlob(path), `rows-${index}.parquet`);
    const { uploadId } = await ask('POST', `${experiment}/data/uploads`, form);
    rmSync(folder, { recursive: true });
    for (;;) {
      const { status, rowCount, errorMessage } = await ask('GET', `${experiment}/data/uploads/${String(uploadId)}`);
      if (status === 'completed') {
        if (rowCount !== rows) throw new Error(`the upload stored ${String(rowCount)} rows`);
        break;
      }
      if (status === 'failed' || status === 'partial') throw new Error(`the upload ended ${String(status)}: ${String(errorMessage)}`);
      await sleep(200);
    }
  }
  await stop(taking.child);
  const reader = openDatabase({ url, role: APPLICATION_ROLE, max: 1 });
  const found = await reader.rows<{ path: string; name: string; byteCount: number }>(sql(
    'bench.files',
  )`select f.path, t.name, f.byte_count as "byteCount" from lake_files f join lake_tables t on t.id = f.table_id
    where t.kind = 'upload' and f.to_version is null order by f.min_key, f.path`);
  await reader.close();
  const serving = await serve({ ...environment, DATA_DIR: servingDir, WORKER: works ? 'on' : 'off', CALLER_STATEMENTS: '8' });
  return {
    port: Number(new URL(serving.baseUrl).port),
    apiKey,
    path: `${experiment}/data`,
    baseUrl: serving.baseUrl,
    adminUrl: serving.adminUrl,
    pid: serving.child.pid ?? 0,
    bytesOf: (table) => found.filter(({ name }) => name === table).map(({ byteCount }) => byteCount),
    filesOf: (table) => found.filter(({ name }) => name === table).map(({ path }) => join(dataDir, 'lake', path)),
    stop: () => stop(serving.child),
  };
}
