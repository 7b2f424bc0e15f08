/** fieldlake as `npm start` starts it, with the settings that it has unless told otherwise, asked by HTTP with an API key. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { connectAsync } from 'mqtt';
import pg from 'pg';
import { provision } from '../../scripts/devices/service.ts';
import { SHOWN } from '../reads.ts';
import { startReadsSite, type ReadsSite } from '../seed-reads.ts';
import { askedBy, askedOften, fetchBody, fetchJson, json, readArrow, readCsv, type Call } from './calls.ts';
import { publish, waitForCount } from './devices.ts';
import { findPostmaster } from './express.ts';
import type { Asked, Data, Peer } from './peer.ts';
import { orStop } from './programs.ts';
import { AT_ONCE, distinctLimit, hourFacts, INGESTED, leastSpad, MESSAGES, pageFacts, sensorFacts } from './questions.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const LOOK_MS = 20;

interface Ours {
  site: ReadsSite;
  get: (path: string, accept?: string) => Call;
  /** Path of the experiment. */
  experiment: string;
  folder: string;
}

interface Read {
  data: { rows: Record<string, unknown>[] };
  totalRows: number;
}

const readOf = (body: Buffer): Read => {
  const [page] = json<Read[]>(body);
  if (!page) throw new Error('the read was answered without a page');
  return page;
};

const rowsOf = (body: Buffer) => readOf(body).data.rows;

const dataPath = ({ site }: Ours, query: Readonly<Record<string, string>>, tableName = 'bench') =>
  `${site.path}?${new URLSearchParams({ tableName, ...query }).toString()}`;

/** The files that the others load: what a reader of ours sees, in its order. */
async function writeData({ site, folder, get, experiment }: Ours): Promise<Data> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const path = (name: string) => join(folder, name);
  await connection.run(`set timezone = 'UTC'`);
  const files = site.filesOf('bench').map((file) => `'${file}'`);
  await connection.run(
    `copy (select ${SHOWN} from read_parquet([${files.join(', ')}]) order by uploaded_at, id) to '${path('bench.parquet')}' (format parquet)`,
  );
  await connection.run(`copy (from read_parquet('${path('bench.parquet')}')) to '${path('bench.csv')}' (format csv, header true)`);
  const some = `from read_parquet('${path('bench.parquet')}') order by measured_at limit ${INGESTED}`;
  await connection.run(`copy (${some}) to '${path('some.parquet')}' (format parquet)`);
  // a time as instruments write it, and the columns that an upload has
  const columns = `* exclude (id, uploaded_at) replace (strftime(measured_at, '%Y-%m-%dT%H:%M:%SZ') as measured_at)`;
  await connection.run(
    `copy (select ${columns} from read_parquet('${path('some.parquet')}')) to '${path('some.csv')}' (format csv, header true)`,
  );
  connection.closeSync();
  instance.closeSync();
  return {
    folder,
    parquet: path('bench.parquet'),
    csv: path('bench.csv'),
    ingested: { csv: path('some.csv'), parquet: path('some.parquet') },
    document: await fetchJson<{ id: string }>(get(experiment)),
  };
}

/** A CSV file that is uploaded into a table of its own each time, until its rows are counted. */
function ingest(ours: Ours, { ingested }: Data): Asked {
  const headers = { 'x-api-key': ours.site.apiKey };
  const file = new Blob([readFileSync(ingested.csv)]);
  let tables = 0;
  const upload = async () => {
    tables += 1;
    const form = new FormData();
    const fields = { sourceKind: 'csv', targetKind: 'new', targetName: `ingested_${tables}` };
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    form.append('files', file, 'some.csv');
    const begin = performance.now();
    const response = await fetch(`${ours.site.baseUrl}${ours.site.path}/uploads`, { method: 'POST', headers, body: form });
    if (!response.ok) throw new Error(`the upload was answered ${response.status}: ${await response.text()}`);
    const { uploadId } = (await response.json()) as { uploadId: string };
    for (;;) {
      const { status, errorMessage } = await fetchJson<{ status: string; errorMessage: string | null }>(
        ours.get(`${ours.site.path}/uploads/${uploadId}`),
      );
      if (status === 'completed') break;
      if (status === 'failed' || status === 'partial') throw new Error(`the upload ended ${status}: ${String(errorMessage)}`);
      await sleep(LOOK_MS);
    }
    const aggregation = JSON.stringify({
      functions: [
        { column: '*', function: 'count', alias: 'n' },
        { column: 'par', function: 'sum', alias: 'par' },
      ],
    });
    const [row] = rowsOf(await fetchBody(ours.get(dataPath(ours, { aggregation }, `ingested_${tables}`))));
    return { milliseconds: performance.now() - begin, facts: { rows: Number(row?.['n']), sum: Number(row?.['par']) } };
  };
  return { time: async () => (await upload()).milliseconds, facts: async () => (await upload()).facts };
}

/** Messages of devices, which are waited for as rows before the next question, so that their work is nobody else's. */
async function connectDevices(ours: Ours): Promise<{ messages: Asked; stop: () => Promise<void> }> {
  const { baseUrl, apiKey } = ours.site;
  const ca = readFileSync(join(ours.folder, '..', 'iot', 'ca.pem'), 'utf8');
  const serials = Array.from({ length: AT_ONCE }, (_, n) => `peer-${n}`);
  const service = { baseUrl, apiKey, experimentId: ours.experiment.split('/').at(-1) ?? '' };
  const devices = await Promise.all(
    (await provision(service, 'multispeq', serials)).map(
      async ({ credentials: { privateKey: key, certificatePem: cert }, config: { endpoint, thingName, experiments } }) => ({
        client: await connectAsync(`mqtts://${endpoint}`, { clientId: thingName, key, cert, ca }),
        topic: `${experiments[0]?.topicPrefix ?? ''}/2.0/sensor-1`,
      }),
    ),
  );
  const count = async () => readOf(await fetchBody(ours.get(dataPath(ours, { pageSize: '1' }, 'raw_data')))).totalRows;
  let batches = 0;
  const send = async () => {
    batches += 1;
    const milliseconds = await publish(devices, batches);
    const there = await waitForCount(count, batches * MESSAGES);
    return { milliseconds, there: there - (batches - 1) * MESSAGES };
  };
  return {
    messages: { time: async () => (await send()).milliseconds, facts: async () => ({ rows: MESSAGES, sum: (await send()).there }) },
    stop: async () => {
      await Promise.all(devices.map(({ client }) => client.endAsync(true)));
    },
  };
}

/** What others load, and ours as one who is asked. */
async function open(site: ReadsSite, url: string, dataDir: string): Promise<{ peer: Peer; data: Data }> {
  const get = (path: string, accept = 'application/json'): Call => ({
    port: site.port,
    path,
    headers: { 'x-api-key': site.apiKey, accept },
  });
  const folder = join(dataDir, 'peers');
  mkdirSync(folder);
  const ours: Ours = { site, get, folder, experiment: site.path.replace(/\/data$/, '') };
  const ask = (query: Readonly<Record<string, string>>, accept?: string) => get(dataPath(ours, query), accept);
  const data = await writeData(ours);
  const { messages, stop } = await connectDevices(ours);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const postmaster = await findPostmaster(client);
  await client.end();
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const functions = [
    { column: 'spad', function: 'avg', alias: 'mean' },
    { column: '*', function: 'count', alias: 'n' },
  ];
  // a limit that no answer reaches makes another question of the same work
  const hourly = (round: number) => [
    ask({
      aggregation: JSON.stringify({ groupBy: [{ column: 'measured_at', timeBucket: 'hour' }], functions }),
      limit: String(90_000 + round),
    }),
  ];
  const distinct = (round: number) => [
    get(
      `${site.path}/distinct?${new URLSearchParams({ tableName: 'bench', column: 'sensor', limit: String(distinctLimit(round)) }).toString()}`,
    ),
  ];
  const readDistinct = (body: Buffer) => sensorFacts(json<{ values: string[] }>(body).values);
  const newest = { columns: SHOWN, orderBy: 'measured_at', orderDirection: 'DESC' };
  const drought = (round: number) =>
    JSON.stringify([
      { column: 'treatment', operator: 'equals', value: 'drought' },
      { column: 'spad', operator: 'greater_than', value: leastSpad(round) },
    ]);
  const readPage = (column: string) => (body: Buffer) =>
    pageFacts(
      readOf(body).totalRows,
      rowsOf(body).map((row) => row[column]),
    );
  const peer: Peer = {
    version: `${version}, Node ${process.versions.node}`,
    roots: [site.pid, postmaster],
    stop: async () => {
      await stop();
      await site.stop();
    },
    asked: {
      hourly: askedBy(hourly, (body) =>
        hourFacts(
          rowsOf(body).map(({ mean }) => mean),
          rowsOf(body).map(({ n }) => n),
        ),
      ),
      distinct: askedBy(distinct, readDistinct),
      'distinct again': askedBy(() => distinct(0), readDistinct),
      'page of 100': askedBy((round) => [ask({ ...newest, filters: drought(round), pageSize: '100' })], readPage('spad')),
      'page of 20': askedBy((round) => [ask({ ...newest, page: String(round + 1), pageSize: '20' })], readPage('par')),
      CSV: askedBy(() => [ask({ columns: SHOWN }, 'text/csv')], readCsv(folder)),
      Arrow: askedBy(() => [ask({ columns: SHOWN }, 'application/vnd.apache.arrow.stream')], readArrow),
      record: askedOften(get(ours.experiment)),
      messages,
      ingestion: ingest(ours, data),
    },
  };
  return { peer, data };
}

export async function startFieldlake(url: string, dataDir: string, rows: number): Promise<{ peer: Peer; data: Data }> {
  // what is empty is as if it were not set: the size of the engine and of what is kept is the service's own choice
  const settings = { DUCKDB_MEMORY_MB: '', DUCKDB_THREADS: '', RESULT_CACHE_MB: '', BROKER: 'on' };
  const site = await startReadsSite({ url, dataDir, tables: { bench: rows }, threads: 2, memoryMb: 512, works: true, settings });
  return orStop(
    () => site.stop(),
    () => open(site, url, dataDir),
  );
}
