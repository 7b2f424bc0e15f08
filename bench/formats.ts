import { Agent } from 'node:http';
import { pairs, type Measured } from './pairs.ts';
import { fetchAll, SHOWN } from './reads.ts';
import { startReadsSite } from './seed-reads.ts';

const [THREADS, MEMORY_MB] = [2, 256];

/** Streams of every row in one format against another, and answers that are kept against the first. `ROWS` makes the table smaller than 5 million. */
export async function benchFormats(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const rows = Number(process.env['ROWS'] ?? 5_000_000);
  const site = await startReadsSite({ url, dataDir, tables: { bench: rows }, threads: THREADS, memoryMb: MEMORY_MB, keptMb: 64 });
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  const asked = (query: Record<string, string>) => `${site.path}?${new URLSearchParams({ tableName: 'bench', ...query }).toString()}`;
  const took = async (path: string, accept?: string) => {
    const { milliseconds, status } = await fetchAll(site, agent, path, accept);
    if (status !== 200) throw new Error(`${path} was answered ${status}`);
    return milliseconds;
  };
  try {
    const times = Math.min(5, Number(process.env['PAIRS'] ?? 5));
    const path = asked({ columns: SHOWN });
    const streamed = (accept: string) => () => took(path, accept);
    const [arrow, lines] = [streamed('application/vnd.apache.arrow.stream'), streamed('application/x-ndjson')];
    onMeasured(await pairs(`Arrow of ${rows} rows against NDJSON, ms`, arrow, lines, times));
    onMeasured(await pairs(`Parquet of ${rows} rows against NDJSON, ms`, streamed('application/vnd.apache.parquet'), lines, times));
    // another limit is another question, of the same work
    let limit = 90_000;
    const functions = [{ column: 'spad', function: 'avg' }];
    const aggregation = JSON.stringify({ groupBy: [{ column: 'measured_at', timeBucket: 'day' }], functions });
    const chart = () => asked({ aggregation, limit: String(limit) });
    const first = async () => {
      limit += 1;
      return took(chart());
    };
    await first();
    onMeasured(
      await pairs(`a chart's series over ${rows} rows that was read before, against the first time, ms`, () => took(chart()), first),
    );
  } finally {
    agent.destroy();
    await site.stop();
  }
}
