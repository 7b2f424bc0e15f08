/** An export of many rows to CSV: its time against the engine's own COPY of the same rows, the server's memory, and how often it says how far it is. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { against, pairs, type Measured } from './pairs.ts';
import { peakDuring, SHOWN, syncFile, took, yardstick } from './reads.ts';
import { startReadsSite, type ReadsSite } from './seed-reads.ts';

const [THREADS, MEMORY_MB] = [2, 256];
const LOOK_MS = 50;

interface Status {
  status: string;
  rowCount: number | null;
  progress: { percent: number; rows: number };
}

const client = (site: ReadsSite) => async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${site.baseUrl}${site.path}/exports${path}`, {
    method,
    headers: { 'x-api-key': site.apiKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return (await response.json()) as { exportId: string } & Status;
};

/** `ROWS` makes the table smaller than 10 million rows. */
export async function benchExports(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const rows = Number(process.env['ROWS'] ?? 10_000_000);
  const site = await startReadsSite({ url, dataDir, tables: { bench: rows }, threads: THREADS, memoryMb: MEMORY_MB, works: true });
  const ask = client(site);
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(THREADS),
    memory_limit: `${MEMORY_MB}MB`,
    temp_directory: join(dataDir, 'yardstick-spill'),
  });
  const begin = async () => (await ask('POST', '', { tableName: 'bench', format: 'csv', columns: SHOWN })).exportId;
  let [peakMb, longest] = [0, 0];
  /** Milliseconds from the request to the file. */
  const exported = async (): Promise<number> => {
    const start = performance.now();
    const exportId = await begin();
    let [percent, since] = [-1, start];
    for (;;) {
      const { status, rowCount, progress } = await ask('GET', `/${exportId}/status`);
      const now = performance.now();
      if (progress.percent !== percent || status === 'completed') {
        if (percent >= 0) longest = Math.max(longest, now - since);
        [percent, since] = [progress.percent, now];
      }
      if (status === 'completed') {
        if (rowCount !== rows) throw new Error(`${String(rowCount)} of ${rows} rows were exported`);
        await ask('DELETE', `/${exportId}`);
        return now - start;
      }
      if (status !== 'queued' && status !== 'running') throw new Error(`the export is ${status}`);
      await sleep(LOOK_MS);
    }
  };
  try {
    const connection = await instance.connect();
    await connection.run(`set timezone = 'UTC'`);
    const file = join(dataDir, 'export.csv');
    const copy = [yardstick('csv', site).replace('/dev/null', file)];
    const measured = async () => {
      const { value, peakMb: peak } = await peakDuring(site.pid, exported);
      peakMb = Math.max(peakMb, peak);
      return value;
    };
    const times = Math.min(3, Number(process.env['PAIRS'] ?? 3));
    const byHand = async () => {
      const milliseconds = await took(connection, copy);
      // what it has not written to the disk yet would be written on the time of the export, which ends when its own file is there
      syncFile(file);
      return milliseconds;
    };
    onMeasured(await pairs(`CSV export of ${rows} rows against COPY, ms`, measured, byHand, times));
    onMeasured(against(`CSV export of ${rows} rows, peak memory of the server, MB`, peakMb, 512));
    onMeasured(against(`CSV export of ${rows} rows, longest without a change of its progress, ms`, longest, 2_000));
    connection.closeSync();
  } finally {
    instance.closeSync();
    await site.stop();
  }
}
