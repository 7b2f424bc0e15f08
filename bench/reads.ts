import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { against, pairs, quantile, warm, type Measured } from './pairs.ts';
import { startReadsSite, type ReadsSite } from './seed-reads.ts';

const THREADS = 2;
const MEMORY_MB = 256;
export const SHOWN = 'id,uploaded_at,plot,treatment,sensor,measured_at,spad,phi2,temperature,humidity,par,pulses,valid,note';

const filters = JSON.stringify([
  { column: 'treatment', operator: 'equals', value: 'drought' },
  { column: 'spad', operator: 'greater_than', value: 45 },
]);
const aggregation = JSON.stringify({
  groupBy: [{ column: 'measured_at', timeBucket: 'hour' }],
  functions: [
    { column: 'spad', function: 'avg' },
    { column: '*', function: 'count' },
  ],
});

export interface Question {
  name: string;
  /** Route below the table's data. */
  route?: string;
  query: Record<string, string>;
  /** Files of `yardsticks/`, run one after the other. */
  yardsticks: string[];
}

export const QUESTIONS: readonly Question[] = [
  { name: 'hourly aggregate', query: { aggregation }, yardsticks: ['hourly'] },
  {
    name: 'page of 100 and count, filtered, newest first',
    query: { columns: SHOWN, filters, orderBy: 'measured_at', orderDirection: 'DESC', pageSize: '100' },
    yardsticks: ['page', 'page-count'],
  },
  {
    name: 'page of 100 and count, filtered, default order',
    query: { columns: SHOWN, filters, pageSize: '100' },
    yardsticks: ['tied-page', 'page-count'],
  },
  { name: 'distinct', route: '/distinct', query: { column: 'sensor', limit: '1000' }, yardsticks: ['distinct'] },
];

interface Answered {
  milliseconds: number;
  bytes: number;
  status: number;
}

/** Asks and reads to the last byte, without keeping any. */
export function fetchAll(
  site: Pick<ReadsSite, 'port' | 'apiKey'>,
  agent: Agent,
  path: string,
  accept = 'application/json',
): Promise<Answered> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { agent, port: site.port, host: '127.0.0.1', path, headers: { 'x-api-key': site.apiKey, accept } },
      (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
        response.once('end', () => resolve({ milliseconds: performance.now() - start, bytes, status: response.statusCode ?? 0 }));
        response.once('error', reject);
      },
    );
    outgoing.once('error', reject);
    outgoing.end();
  });
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** The hand-written statement over the files of a table, in an engine with the same threads and memory. */
export const yardstick = (name: string, site: ReadsSite, table = 'bench'): string =>
  readFileSync(join(import.meta.dirname, 'yardsticks', `${name}.sql`), 'utf8')
    .replaceAll('$files', `[${site.filesOf(table).map(literal).join(', ')}]`)
    .replaceAll('$experiment', literal(/experiments\/([^/]+)/.exec(site.path)?.[1] ?? ''));

/** Writes out what the machine still keeps of a file. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

export async function took(connection: DuckDBConnection, statements: readonly string[]): Promise<number> {
  const start = performance.now();
  for (const statement of statements) await connection.runAndReadAll(statement);
  return performance.now() - start;
}

const statusOf = (pid: number, field: 'VmHWM' | 'VmRSS'): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024;

/** Peak resident memory of the server in MB while `work` runs, counted from where it stood. */
export async function peakDuring<T>(pid: number, work: () => Promise<T>): Promise<{ value: T; peakMb: number }> {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const value = await work();
  return { value, peakMb: statusOf(pid, 'VmHWM') };
}

/** Asks a small route every 20 ms until told to stop; the longest and the 99th percentile in milliseconds. */
function watch(site: ReadsSite): { stop(): Promise<{ p99: number; most: number }> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const seen: number[] = [];
  let isOn = true;
  const asking = (async () => {
    while (isOn) {
      seen.push((await fetchAll(site, agent, '/health/live')).milliseconds);
      await sleep(20);
    }
  })();
  return {
    stop: async () => {
      isOn = false;
      await asking;
      agent.destroy();
      return { p99: quantile(seen, 0.99), most: Math.max(...seen) };
    },
  };
}

/** Seconds that the server's event loop was late, as it counts itself. */
async function loopLag(site: ReadsSite): Promise<number> {
  const text = await (await fetch(`${site.adminUrl}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_p99_seconds\S* (\S+)/m.exec(text)?.[1]);
}

export interface Compared {
  site: ReadsSite;
  agent: Agent;
  connection: DuckDBConnection;
}

/** A way to ask for rows of a table, that answers how many milliseconds it took. */
export const asking =
  ({ site, agent }: Pick<Compared, 'site' | 'agent'>, { name, route = '', query }: Omit<Question, 'yardsticks'>, tableName = 'bench') =>
  async (): Promise<number> => {
    const path = `${site.path}${route}?${new URLSearchParams({ tableName, ...query }).toString()}`;
    const { milliseconds, status } = await fetchAll(site, agent, path);
    if (status !== 200) throw new Error(`${name} was answered ${status}`);
    return milliseconds;
  };

/** A question asked of the server, and by its statements that were written by hand. */
export async function askedAndByHand(compared: Compared, question: Question, rows: number): Promise<Measured> {
  const { site, connection } = compared;
  const statements = question.yardsticks.map((file) => yardstick(file, site));
  const [ours, byHand] = [asking(compared, question), () => took(connection, statements)];
  await warm(ours, byHand);
  return pairs(`${question.name} over ${rows} rows, ms`, ours, byHand);
}

/** Reads of a 12-column upload table against statements that were written by hand. `ROWS` makes it smaller than 5 million. */
export async function benchReads(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const rows = Number(process.env['ROWS'] ?? 5_000_000);
  const site = await startReadsSite({ url, dataDir, tables: { bench: rows }, threads: THREADS, memoryMb: MEMORY_MB });
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(THREADS),
    memory_limit: `${MEMORY_MB}MB`,
    temp_directory: join(dataDir, 'yardstick-spill'),
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  try {
    const connection = await instance.connect();
    await connection.run(`set timezone = 'UTC'`);
    for (const question of QUESTIONS) onMeasured(await askedAndByHand({ site, agent, connection }, question, rows));

    const csv = `${site.path}?${new URLSearchParams({ tableName: 'bench', columns: SHOWN }).toString()}`;
    const copies = [yardstick('csv', site)];
    let peakMb = 0;
    const stream = async () => {
      const { value, peakMb: peak } = await peakDuring(site.pid, () => fetchAll(site, agent, csv, 'text/csv'));
      if (value.status !== 200) throw new Error(`the stream was answered ${value.status}`);
      peakMb = Math.max(peakMb, peak);
      return value.milliseconds;
    };
    onMeasured(
      await pairs(
        'CSV of every row against COPY, ms',
        stream,
        () => took(connection, copies),
        Math.min(5, Number(process.env['PAIRS'] ?? 5)),
      ),
    );
    onMeasured(against('CSV of every row, peak memory of the server, MB', peakMb, 512));

    await loopLag(site);
    const watching = watch(site);
    const five = await peakDuring(site.pid, () => Promise.all(Array.from({ length: 5 }, () => fetchAll(site, agent, csv, 'text/csv'))));
    const { p99, most } = await watching.stop();
    if (new Set(five.value.map(({ bytes, status }) => `${status} ${bytes}`)).size !== 1)
      throw new Error('five streams gave different answers');
    onMeasured(against('five CSV streams at once, peak memory of the server, MB', five.peakMb, 512));
    onMeasured(against('five CSV streams at once, p99 of a health check, ms', p99, 250));
    onMeasured(against('five CSV streams at once, slowest health check, ms', most, 1_000));
    onMeasured(against('five CSV streams at once, p99 of event-loop delay, ms', (await loopLag(site)) * 1_000, 50));
    connection.closeSync();
  } finally {
    agent.destroy();
    instance.closeSync();
    await site.stop();
  }
}
