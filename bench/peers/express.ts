/** Bare express and pg over a Postgres of its own, the same that is embedded in ours, with an index for each question. */
import { createReadStream, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { startEmbeddedPostgres } from '../../src/database/embedded.ts';
import { stop } from '../seed-reads.ts';
import { readUsage } from '../usage.ts';
import { askedBy, askedOften, json, type Call } from './calls.ts';
import type { Data, Peer } from './peer.ts';
import { orStop } from './programs.ts';
import { distinctLimit, hourFacts, leastSpad, pageFacts, sensorFacts } from './questions.ts';

const TABLE = `create table bench (id text primary key, uploaded_at timestamptz, plot integer, treatment text, sensor text, measured_at timestamptz, spad double precision,
  phi2 double precision, temperature double precision, humidity double precision, par integer, pulses bigint, valid boolean, note text)`;

type Row = Record<string, unknown>;

/** The process that all processes of a Postgres are below. */
export async function findPostmaster(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const parent = readUsage(String(rows[0]?.pid))?.parent;
  if (parent === undefined) throw new Error('there is no Postgres to measure');
  return parent;
}

async function load(client: pg.Client, { csv, document }: Data): Promise<void> {
  await client.query(TABLE);
  await pipeline(createReadStream(csv), client.query(copyFrom('copy bench from stdin (format csv, header true)')));
  for (const columns of ['sensor', 'measured_at', 'treatment, measured_at']) await client.query(`create index on bench (${columns})`);
  await client.query('create table documents (id uuid primary key, document json not null)');
  await client.query('insert into documents values ($1, $2)', [document.id, JSON.stringify(document)]);
  await client.query('vacuum analyze');
}

const packageVersion = (name: string) =>
  (JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
    .version;

export async function startExpress(data: Data): Promise<Peer> {
  const folder = join(data.folder, 'express');
  mkdirSync(folder);
  const postgres = await startEmbeddedPostgres({ dataDir: folder });
  const { version, postmaster } = await orStop(
    () => postgres.stop(),
    async () => {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      await load(client, data);
      const { rows } = await client.query<{ server_version: string }>('show server_version');
      const found = { version: rows[0]?.server_version ?? 'unknown', postmaster: await findPostmaster(client) };
      await client.end();
      return found;
    },
  );
  const child = spawn(process.execPath, [join(import.meta.dirname, 'express-app.ts'), postgres.url], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const first = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const port = Number(/port (\d+)/.exec(String(first.value))?.[1]);
  const get = (path: string): Call => ({ port, path });
  const rowsOf = (body: Buffer) => json<Row[]>(body);
  const readPage = (column: string) => (body: Buffer) => {
    const { rows, total } = json<{ rows: Row[]; total: number }>(body);
    return pageFacts(
      total,
      rows.map((row) => row[column]),
    );
  };
  const distinct = (round: number) => [get(`/distinct?limit=${distinctLimit(round)}`)];
  const readDistinct = (body: Buffer) => sensorFacts(rowsOf(body).map(({ sensor }) => String(sensor)));
  return {
    version: `${packageVersion('express')}, ${packageVersion('pg')}, Postgres ${version}`,
    roots: [child.pid ?? 0, postmaster],
    stop: async () => {
      await stop(child);
      await postgres.stop();
    },
    asked: {
      hourly: askedBy(
        () => [get('/hourly')],
        (body) =>
          hourFacts(
            rowsOf(body).map(({ mean }) => mean),
            rowsOf(body).map(({ n }) => n),
          ),
      ),
      distinct: askedBy(distinct, readDistinct),
      'distinct again': askedBy(() => distinct(0), readDistinct),
      'page of 100': askedBy((round) => [get(`/drought?least=${leastSpad(round)}`)], readPage('spad')),
      'page of 20': askedBy((round) => [get(`/newest?offset=${20 * round}`)], readPage('par')),
      record: askedOften(get(`/documents/${data.document.id}`)),
    },
  };
}
