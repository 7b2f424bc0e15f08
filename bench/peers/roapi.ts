/** ROAPI: SQL of DataFusion by HTTP over the Parquet file, which it holds in memory as it does unless told otherwise. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../test/support/free-port.ts';
import { askedBy, json, readArrow, readCsv, type Call } from './calls.ts';
import { PROGRAMS } from './install.ts';
import type { Data, Peer } from './peer.ts';
import { readVersion, start } from './programs.ts';
import { distinctLimit, hourFacts, leastSpad, pageFacts, sensorFacts } from './questions.ts';

type Row = Record<string, unknown>;

export async function startRoapi(data: Data): Promise<Peer> {
  const program = PROGRAMS.roapi();
  const [port, postgres, flight] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const folder = join(data.folder, 'roapi');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'roapi.yml'),
    [
      'addr:',
      ...Object.entries({ http: port, postgres, flight_sql: flight }).map(([name, at]) => `  ${name}: 127.0.0.1:${at}`),
      `tables: [{ name: bench, uri: '${data.parquet}', option: { format: parquet } }]`,
    ].join('\n'),
  );
  const ask = (sql: string, accept = 'application/json'): Call => ({
    port,
    path: '/api/sql',
    method: 'POST',
    headers: { accept },
    body: sql,
  });
  const running = await start(program, ['-c', join(folder, 'roapi.yml')], () =>
    askedBy(
      () => [ask('select 1')],
      () => ({ rows: 1, sum: 1 }),
    ).time(0),
  );
  const distinct = (round: number) => [
    ask(`select distinct sensor from bench where sensor <> '' order by sensor limit ${distinctLimit(round)}`),
  ];
  const readDistinct = (body: Buffer) => sensorFacts(json<Row[]>(body).map(({ sensor }) => String(sensor)));
  const drought = (round: number) => `from bench where treatment = 'drought' and spad > ${leastSpad(round)}`;
  const readPage = (column: string) => (rows: Buffer, count: Buffer) =>
    pageFacts(
      json<Row[]>(count)[0]?.['n'],
      json<Row[]>(rows).map((row) => row[column]),
    );
  return {
    version: readVersion(program, ['--version']),
    roots: [running.pid],
    stop: running.stop,
    asked: {
      hourly: askedBy(
        () => [ask(`select date_trunc('hour', measured_at) as hour, avg(spad) as mean, count(*) as n from bench group by 1 order by 1`)],
        (body) =>
          hourFacts(
            json<Row[]>(body).map(({ mean }) => mean),
            json<Row[]>(body).map(({ n }) => n),
          ),
      ),
      distinct: askedBy(distinct, readDistinct),
      'distinct again': askedBy(() => distinct(0), readDistinct),
      'page of 100': askedBy(
        (round) => [ask(`select * ${drought(round)} order by measured_at desc limit 100`), ask(`select count(*) as n ${drought(round)}`)],
        readPage('spad'),
      ),
      'page of 20': askedBy(
        (round) => [
          ask(`select * from bench order by measured_at desc limit 20 offset ${20 * round}`),
          ask('select count(*) as n from bench'),
        ],
        readPage('par'),
      ),
      CSV: askedBy(() => [ask('select * from bench', 'application/csv')], readCsv(folder)),
      Arrow: askedBy(() => [ask('select * from bench', 'application/vnd.apache.arrow.stream')], readArrow),
    },
  };
}
