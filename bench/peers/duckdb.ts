/** DuckDB in a program's own process, over a table of its own in a file of its own: no HTTP, and no text but that of the CSV file. */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stop } from '../seed-reads.ts';
import { readCsvFile } from './calls.ts';
import type { Asked, Data, Peer } from './peer.ts';
import { orStop } from './programs.ts';
import { distinctLimit, hourFacts, leastSpad, pageFacts, sensorFacts, type Facts } from './questions.ts';

interface Answer {
  milliseconds: number;
  answers: unknown[][][];
}

export async function startDuckDb(data: Data): Promise<Peer> {
  const folder = join(data.folder, 'duckdb');
  mkdirSync(folder);
  const args = [join(import.meta.dirname, 'duckdb-process.ts'), join(folder, 'bench.duckdb'), String(availableParallelism())];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { done, value } = await lines.next();
    if (done === true) throw new Error('DuckDB ended');
    return value;
  };
  const run = async (statements: readonly string[]): Promise<Answer> => {
    child.stdin.write(`${JSON.stringify(statements)}\n`);
    return JSON.parse(await next()) as Answer;
  };
  const version = await orStop(
    () => stop(child),
    async () => {
      await next();
      await run([`create table bench as select * from read_parquet('${data.parquet}')`, 'checkpoint']);
      return String((await run(['select version()'])).answers[0]?.[0]?.[0]);
    },
  );
  const asked = (statements: (round: number) => readonly string[], read: (...answers: unknown[][][]) => Facts): Asked => ({
    time: async (round) => (await run(statements(round))).milliseconds,
    facts: async () => read(...(await run(statements(0))).answers),
  });
  const column = (rows: unknown[][], at: number) => rows.map((row) => row[at]);
  const distinct = (round: number) => [
    `select distinct sensor from bench where sensor <> '' order by sensor limit ${distinctLimit(round)}`,
  ];
  const readDistinct = (rows: unknown[][]) => sensorFacts(column(rows, 0).map(String));
  const drought = (round: number) => `from bench where treatment = 'drought' and spad > ${leastSpad(round)}`;
  const readPage = (at: number) => (rows: unknown[][], count: unknown[][]) => pageFacts(count[0]?.[0], column(rows, at));
  const copy = (path: string) => `copy bench to '${path}' (format csv, header true, use_tmp_file false)`;
  const written = join(folder, 'bench.csv');
  return {
    version: version.replace(/^v/, ''),
    roots: [child.pid ?? 0],
    stop: () => stop(child),
    asked: {
      hourly: asked(
        () => [`select date_trunc('hour', measured_at) as hour, avg(spad), count(*) from bench group by hour order by hour`],
        (rows) => hourFacts(column(rows, 1), column(rows, 2)),
      ),
      distinct: asked(distinct, readDistinct),
      'distinct again': asked(() => distinct(0), readDistinct),
      'page of 100': asked(
        (round) => [`select * ${drought(round)} order by measured_at desc limit 100`, `select count(*) ${drought(round)}`],
        readPage(6),
      ),
      'page of 20': asked(
        (round) => [`select * from bench order by measured_at desc limit 20 offset ${20 * round}`, 'select count(*) from bench'],
        readPage(10),
      ),
      CSV: {
        time: async () => (await run([copy('/dev/null')])).milliseconds,
        facts: async () => {
          await run([copy(written)]);
          return readCsvFile(written);
        },
      },
      ingestion: asked(
        () => [
          `create or replace table ingested as select * from read_csv('${data.ingested.csv}')`,
          'select count(*), sum(par) from ingested',
        ],
        (_, [row]) => ({ rows: Number(row?.[0]), sum: Number(row?.[1]) }),
      ),
    },
  };
}
