/** Datasette over a SQLite file with an index on each column that is asked by, opened as one that nobody changes; its limits of time and rows are raised. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { findFreePort } from '../../test/support/free-port.ts';
import { askedBy, json, readCsv, send, type Call } from './calls.ts';
import { PROGRAMS } from './install.ts';
import type { Data, Peer } from './peer.ts';
import { readVersion, start } from './programs.ts';
import { distinctLimit, hourFacts, leastSpad, pageFacts, sensorFacts } from './questions.ts';

/** SQLite has no times and no booleans: ISO 8601, whose text sorts by time, and 0 or 1. */
const ROWS = `select id, strftime(uploaded_at, '%Y-%m-%dT%H:%M:%S.%gZ'), plot, treatment, sensor, strftime(measured_at, '%Y-%m-%dT%H:%M:%SZ'), spad, phi2, temperature,
  humidity, par, pulses, valid::integer, note`;
const TABLE = `create table bench (id text primary key, uploaded_at text, plot integer, treatment text, sensor text, measured_at text, spad real, phi2 real, temperature real,
  humidity real, par integer, pulses integer, valid integer, note text)`;
const SETTINGS = { sql_time_limit_ms: 60_000, max_returned_rows: 100_000, max_csv_mb: 0, default_page_size: 100, suggest_facets: 0 };

async function load(path: string, parquet: string): Promise<void> {
  const database = new DatabaseSync(path);
  database.exec(`pragma journal_mode = off; pragma synchronous = off; ${TABLE}; begin`);
  const insert = database.prepare(`insert into bench values (${Array.from({ length: 14 }, () => '?').join(', ')})`);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`set timezone = 'UTC'`);
  const result = await connection.stream(`${ROWS} from read_parquet('${parquet}')`);
  for await (const rows of result.yieldRows()) for (const row of rows) insert.run(...(row as (string | number | bigint | null)[]));
  connection.closeSync();
  instance.closeSync();
  const indexes = ['sensor', 'measured_at', 'treatment, measured_at'].map(
    (columns, at) => `create index bench_${at} on bench (${columns});`,
  );
  database.exec(`commit; ${indexes.join(' ')} analyze`);
  database.close();
}

type Rows = { rows: unknown[][] };

export async function startDatasette(data: Data): Promise<Peer> {
  const program = PROGRAMS.datasette();
  const port = await findFreePort();
  const folder = join(data.folder, 'datasette');
  mkdirSync(folder);
  await load(join(folder, 'bench.db'), data.parquet);
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['--setting', name, String(value)]);
  const ask = (sql: string): Call => ({ port, path: `/bench.json?${new URLSearchParams({ sql }).toString()}` });
  const running = await start(program, ['serve', '-i', join(folder, 'bench.db'), '-h', '127.0.0.1', '-p', String(port), ...settings], () =>
    send({ port, path: '/-/versions.json' }, () => undefined),
  );
  const column = (body: Buffer, at: number) => json<Rows>(body).rows.map((row) => row[at]);
  const distinct = (round: number) => [
    ask(`select distinct sensor from bench where sensor <> '' order by sensor limit ${distinctLimit(round)}`),
  ];
  const readDistinct = (body: Buffer) => sensorFacts(column(body, 0).map(String));
  const drought = (round: number) => `from bench where treatment = 'drought' and spad > ${leastSpad(round)}`;
  const readPage = (at: number) => (rows: Buffer, count: Buffer) => pageFacts(column(count, 0)[0], column(rows, at));
  return {
    version: readVersion(program, ['--version']),
    roots: [running.pid],
    stop: running.stop,
    asked: {
      hourly: askedBy(
        () => [ask('select substr(measured_at, 1, 13) as hour, avg(spad), count(*) from bench group by hour order by hour')],
        (body) => hourFacts(column(body, 1), column(body, 2)),
      ),
      distinct: askedBy(distinct, readDistinct),
      'distinct again': askedBy(() => distinct(0), readDistinct),
      'page of 100': askedBy(
        (round) => [ask(`select * ${drought(round)} order by measured_at desc limit 100`), ask(`select count(*) ${drought(round)}`)],
        readPage(6),
      ),
      'page of 20': askedBy(
        (round) => [ask(`select * from bench order by measured_at desc limit 20 offset ${20 * round}`), ask('select count(*) from bench')],
        readPage(10),
      ),
      CSV: askedBy(() => [{ port, path: '/bench/bench.csv?_stream=on&_size=max' }], readCsv(folder)),
    },
  };
}
