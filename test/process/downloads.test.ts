/** Downloads of a large table by many at once, from the built server: what they cost it in memory, and others in time. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReadsSite, type ReadsSite } from '../../bench/seed-reads.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

/** With SOAK every format alone as well, of 5,000,000 rows. */
const IS_SOAK = process.env['SOAK'] === '1';
const ROWS = Number(process.env['DOWNLOAD_ROWS'] ?? (IS_SOAK ? 5_000_000 : 500_000));
/** As many as an organization may have by default; the site lets one caller have them all. */
const AT_ONCE = 8;
const SETTLED_MS = 2_000;
const MIB = 1_048_576;
const MOST_BYTES = 512 * MIB;
const FIRST_BYTE_MS = 200;
const HEALTH_P99_MS = 50;
/** Milliseconds are bounds of a machine that runs nothing else; elsewhere they are printed. */
const IS_TIMED = process.env['TIMED'] === 'on';

const FORMATS = {
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
} as const;
const ACCEPTED = Object.values(FORMATS);

let database: TestDatabase;
let folder: string;
let site: ReadsSite;
/** Bytes that the server holds before anybody has asked for anything. */
let idle: number;
/** The test runner's own word for where a page is. */
const pagesAt = process.env['BASE_URL'];
beforeAll(async () => {
  delete process.env['BASE_URL'];
  database = await cloneDatabase();
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-downloads-'));
  site = await startReadsSite({ url: database.url, dataDir: folder, tables: { season: ROWS }, threads: 2, memoryMb: 512 });
  await sleep(SETTLED_MS);
  idle = memory('VmRSS');
}, 1_800_000);
afterAll(async () => {
  if (pagesAt !== undefined) process.env['BASE_URL'] = pagesAt;
  await site.stop();
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** The server, and what it has started. */
const processes = (pid = site.pid): number[] => [
  pid,
  ...readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean))
    .flatMap((child) => processes(Number(child))),
];

/** Bytes that are in memory now, or the most that ever were since the peak was forgotten. */
const memory = (kind: 'VmRSS' | 'VmHWM') =>
  processes()
    .map((pid) => Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024)
    .reduce((sum, each) => sum + each, 0);

/** The kernel's own word for it, see proc(5). */
const forgetPeak = () => processes().forEach((pid) => writeFileSync(`/proc/${pid}/clear_refs`, '5'));

interface Got {
  status: number;
  bytes: number;
  firstByteMs: number;
  isWhole: boolean;
}

const get = (agent: Agent, path: string, accept: string): Promise<Got> =>
  new Promise((resolve, reject) => {
    const begun = performance.now();
    const got: Got = { status: 0, bytes: 0, firstByteMs: 0, isWhole: false };
    const headers = { accept, 'x-api-key': site.apiKey };
    const asked = request({ agent, host: '127.0.0.1', port: site.port, path, headers }, (response) => {
      got.status = response.statusCode ?? 0;
      response.on('data', (chunk: Buffer) => {
        got.firstByteMs ||= performance.now() - begun;
        got.bytes += chunk.length;
      });
      response.on('close', () => resolve({ ...got, isWhole: response.complete }));
    });
    asked.on('error', reject).end();
  });

const p99 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

/** Downloads in these formats at once, and what they cost. */
async function measure(accepted: readonly string[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: accepted.length + 1 });
  forgetPeak();
  const health: number[] = [];
  let going = true;
  const watch = (async () => {
    while (going) {
      health.push((await get(agent, '/health/live', 'application/json')).firstByteMs);
      await sleep(10);
    }
  })();
  const path = `${site.path}?tableName=season`;
  const downloads = await Promise.all(accepted.map((accept) => get(agent, path, accept))).finally(() => (going = false));
  await watch;
  agent.destroy();
  return {
    downloads,
    above: memory('VmHWM') - idle,
    healthP99: p99(health),
    firstByte: Math.max(...downloads.map(({ firstByteMs }) => firstByteMs)),
  };
}

const eightOf = (accept: string) => Array.from({ length: AT_ONCE }, () => accept);

test.each([
  ...Object.entries(FORMATS).flatMap(([name, accept]) => (IS_SOAK ? [[name, eightOf(accept)] as const] : [])),
  ['every format', Array.from({ length: AT_ONCE }, (_, at) => ACCEPTED[at % ACCEPTED.length] ?? '')] as const,
])(
  `eight downloads of ${ROWS} rows at once: %s`,
  async (name, accepted) => {
    // a download alone says how many bytes one is, and leaves the process as warm as it gets
    const alone = new Map<string, number>();
    for (const accept of new Set(accepted)) {
      const { downloads, above, firstByte } = await measure([accept]);
      alone.set(accept, downloads[0]?.bytes ?? 0);
      expect(downloads).toMatchObject([{ status: 200, isWhole: true }]);
      process.stdout.write(`one ${accept}: ${Math.round(above / MIB)} MiB above idle, first byte ${Math.round(firstByte)} ms\n`);
    }
    const { downloads, above, healthP99, firstByte } = await measure(accepted);
    process.stdout.write(
      `${name}: ${Math.round(above / MIB)} MiB above idle, first byte ${Math.round(firstByte)} ms, health p99 ${Math.round(healthP99)} ms\n`,
    );
    for (const [at, download] of downloads.entries())
      expect(download).toMatchObject({ status: 200, isWhole: true, bytes: alone.get(accepted[at] ?? '') });
    expect(above).toBeLessThan(MOST_BYTES);
    if (!IS_TIMED) return;
    expect(firstByte).toBeLessThan(FIRST_BYTE_MS);
    expect(healthP99).toBeLessThan(HEALTH_P99_MS);
  },
  1_800_000,
);
