/** InfluxDB over the same rows as points, with sensor and treatment as tags; the write-ahead log is synced at each write, as it is unless told otherwise. */
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';
import { findFreePort } from '../../test/support/free-port.ts';
import { askedBy, fetchJson, json, send, type Call } from './calls.ts';
import { PROGRAMS } from './install.ts';
import type { Data, Peer } from './peer.ts';
import { orStop, readVersion, start } from './programs.ts';
import { distinctLimit, FIRST_HOUR, hourFacts, leastSpad, pageFacts, sensorFacts, sum } from './questions.ts';

/** Points of one request, as InfluxData advises. */
const BATCH = 5_000;

/** Rows as lines of InfluxDB's protocol; rows that are brought in have no id yet. */
const printLines = (
  hasId: boolean,
) => `select 'bench,sensor=' || sensor || ',treatment=' || treatment || ' ${hasId ? `id="' || id || '",` : ''}plot=' || plot || 'i' || case when spad is null then '' else ',spad=' || spad end
  || ',phi2=' || phi2 || ',temperature=' || temperature || ',humidity=' || humidity || ',par=' || par || 'i,pulses=' || pulses || 'i,valid=' || valid
  || case when note is null then '' else ',note="' || replace(note, '"', '\\"') || '"' end || ' ' || epoch(measured_at)::bigint as line`;

interface Series {
  columns: string[];
  values: unknown[][];
}

interface Answer {
  results: { series?: Series[]; error?: string }[];
}

const column = (answer: Answer, at: number, name: string): unknown[] => {
  const [series] = answer.results[at]?.series ?? [];
  if (!series) throw new Error(`InfluxDB answered ${JSON.stringify(answer).slice(0, 300)}`);
  return series.values.map((row) => row[series.columns.indexOf(name)]);
};

async function writeLines(parquet: string, path: string, hasId: boolean): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(
    `copy (${printLines(hasId)} from read_parquet('${parquet}')) to '${path}' (format csv, header false, quote '', escape '', delimiter '\u0001')`,
  );
  connection.closeSync();
  instance.closeSync();
}

async function* batchesOf(path: string): AsyncGenerator<string> {
  let lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    lines.push(line);
    if (lines.length < BATCH) continue;
    yield lines.join('\n');
    lines = [];
  }
  if (lines.length > 0) yield lines.join('\n');
}

const CONFIGURATION = (folder: string, http: number, rpc: number) => `
reporting-disabled = true
bind-address = "127.0.0.1:${rpc}"
[meta]
  dir = "${folder}/meta"
[data]
  dir = "${folder}/data"
  wal-dir = "${folder}/wal"
  query-log-enabled = false
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:${http}"
  log-enabled = false
`;

export async function startInfluxDb(data: Data): Promise<Peer> {
  const program = PROGRAMS.influxdb();
  const [port, rpc] = [await findFreePort(), await findFreePort()];
  const folder = join(data.folder, 'influxdb');
  mkdirSync(folder);
  writeFileSync(join(folder, 'influxdb.conf'), CONFIGURATION(folder, port, rpc));
  const running = await start(program, ['run', '-config', join(folder, 'influxdb.conf')], () =>
    send({ port, path: '/ping' }, () => undefined),
  );
  const ask = (q: string, db = 'bench'): Call => ({ port, path: `/query?${new URLSearchParams({ db, q, epoch: 's' }).toString()}` });
  const change = (q: string) => fetchJson({ ...ask(q), method: 'POST' });
  const write = (body: string, db = 'bench') => send({ port, path: `/write?db=${db}&precision=s`, method: 'POST', body }, () => undefined);
  const ingested: string[] = [];
  await orStop(running.stop, async () => {
    await change('create database bench');
    const lines = join(folder, 'lines');
    await writeLines(data.parquet, lines, true);
    for await (const batch of batchesOf(lines)) await write(batch);
    await writeLines(data.ingested.parquet, lines, false);
    for await (const batch of batchesOf(lines)) ingested.push(batch);
  });
  let databases = 0;
  const ingest = async () => {
    databases += 1;
    const db = `ingested_${databases}`;
    await change(`create database ${db}`);
    const begin = performance.now();
    for (const batch of ingested) await write(batch, db);
    const answer = await fetchJson<Answer>(ask('select count(par), sum(par) from bench', db));
    const milliseconds = performance.now() - begin;
    await change(`drop database ${db}`);
    return { milliseconds, facts: { rows: sum(column(answer, 0, 'count')), sum: sum(column(answer, 0, 'sum')) } };
  };
  const distinct = (round: number) => [ask(`show tag values from bench with key = sensor limit ${distinctLimit(round)}`)];
  const readDistinct = (body: Buffer) => sensorFacts(column(json<Answer>(body), 0, 'value').map(String));
  const drought = (round: number) => `from bench where treatment = 'drought' and spad > ${leastSpad(round)}`;
  const readPage = (reading: string) => (body: Buffer) =>
    pageFacts(column(json<Answer>(body), 1, 'count')[0], column(json<Answer>(body), 0, reading));
  return {
    version: readVersion(program, ['version']),
    roots: [running.pid],
    stop: running.stop,
    asked: {
      hourly: askedBy(
        () => [ask(`select mean(spad), count(par) from bench where time >= '${FIRST_HOUR}' group by time(1h) fill(none)`)],
        (body) => hourFacts(column(json<Answer>(body), 0, 'mean'), column(json<Answer>(body), 0, 'count')),
      ),
      distinct: askedBy(distinct, readDistinct),
      'distinct again': askedBy(() => distinct(0), readDistinct),
      'page of 100': askedBy(
        (round) => [ask(`select * ${drought(round)} order by time desc limit 100; select count(par) ${drought(round)}`)],
        readPage('spad'),
      ),
      'page of 20': askedBy(
        (round) => [ask(`select * from bench order by time desc limit 20 offset ${20 * round}; select count(par) from bench`)],
        readPage('par'),
      ),
      ingestion: { time: async () => (await ingest()).milliseconds, facts: async () => (await ingest()).facts },
    },
  };
}
