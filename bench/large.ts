/** Reads of a table that is ten times as large: against statements by hand, against the tenth of it, and beside what a pandas script takes. */
import { execFileSync } from 'node:child_process';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { pythonWith } from '../test/support/python.ts';
import { pairs, warm, type Measured } from './pairs.ts';
import { askedAndByHand, asking, QUESTIONS, SHOWN, type Question } from './reads.ts';
import { startReadsSite } from './seed-reads.ts';

const [THREADS, MEMORY_MB] = [2, 256];
const TIMES = Number(process.env['PAIRS'] ?? 21);

const oneDay = JSON.stringify([{ column: 'measured_at', operator: 'between', value: ['2024-03-05T00:00:00Z', '2024-03-06T00:00:00Z'] }]);
const aggregation = JSON.stringify({
  groupBy: [{ column: 'measured_at', timeBucket: 'hour' }],
  functions: [{ column: 'spad', function: 'avg' }],
});
/** The same rows answer in the large table and in the small one, which holds its first tenth. */
const OF_ONE_DAY: readonly Omit<Question, 'yardsticks'>[] = [
  { name: 'page of one day', query: { columns: SHOWN, filters: oneDay, orderBy: 'measured_at', pageSize: '100' } },
  { name: 'hourly aggregate of one day', query: { filters: oneDay, aggregation } },
];

/** `ROWS` makes the large table smaller than 50 million rows. */
export async function benchLarge(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const rows = Number(process.env['ROWS'] ?? 50_000_000);
  const site = await startReadsSite({ url, dataDir, tables: { bench: rows, tenth: rows / 10 }, threads: THREADS, memoryMb: MEMORY_MB });
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(THREADS),
    memory_limit: `${MEMORY_MB}MB`,
    temp_directory: join(dataDir, 'yardstick-spill'),
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  try {
    const connection = await instance.connect();
    await connection.run(`set timezone = 'UTC'`);
    for (const question of OF_ONE_DAY) {
      const [large, small] = [asking({ site, agent }, question), asking({ site, agent }, question, 'tenth')];
      await warm(large, small);
      onMeasured(await pairs(`${question.name}: of ${rows} rows against ${rows / 10}, ms`, large, small));
    }
    for (const question of QUESTIONS) onMeasured(await askedAndByHand({ site, agent, connection }, question, rows));
    connection.closeSync();
    const python = join(pythonWith('pyarrow', 'pandas'), 'python');
    const script = join(import.meta.dirname, 'yardsticks', 'hourly.py');
    const pandas = () => Promise.resolve(Number(execFileSync(python, [script, ...site.filesOf('bench')], { encoding: 'utf8' })));
    const [hourly] = QUESTIONS;
    if (!hourly) throw new Error('there is no question');
    onMeasured(
      await pairs(
        `${hourly.name} over ${rows} rows against a pandas script, ms`,
        asking({ site, agent }, hourly),
        pandas,
        Math.min(3, TIMES),
      ),
    );
  } finally {
    agent.destroy();
    instance.closeSync();
    await site.stop();
  }
}
