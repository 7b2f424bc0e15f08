/**
 * Messages from their bytes on: what the service stored of them on DuckDB, and what the declared pipeline makes on Spark of what `land-messages` wrote. The same rows, read through the
 * API's own reads, however often a record is delivered.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asText, MESSAGE_ARRIVALS, readStep, rowsOf, TABLES } from '../../scripts/lakeflow.ts';
import { landMeasurements } from '../../src/ingest/landing-measurements.ts';
import { landOutputs } from '../../src/ingest/landing-outputs.ts';
import { storeMacroRows } from '../../src/ingest/macro-tables.ts';
import { findNaming, readMeasured } from '../../src/ingest/measured.ts';
import { ingestMessages, listPending, storeMessages } from '../../src/ingest/messages.ts';
import { listHandled } from '../../src/ingest/messages.queries.ts';
import { replayMessages } from '../../src/ingest/replay-messages.ts';
import { readPayload } from '../../src/iot/payload.ts';
import { fixedColumns } from '../../src/lakehouse/catalog.ts';
import { columnsAt, filesAt, findTable } from '../../src/lakehouse/manifest.ts';
import type { TableSource } from '../../src/lakehouse/plan.ts';
import { readRequest } from '../../src/lakehouse/request.ts';
import { experimentScope } from '../../src/lakehouse/scope.ts';
import { DuckDbWarehouse } from '../../src/lakehouse/warehouses/duckdb.ts';
import { AWKWARD, MACROS, payloads } from '../ingest/payloads.ts';
import { openLake, type Lake } from '../ingest/setup.ts';
import { page } from '../lakehouse/support.ts';
import { seeded } from '../support/crashes.ts';
import { Spark } from '../support/spark.ts';
import { pageDifference } from './spark/compare.ts';
import { SparkWarehouse, createTables } from './spark/lake.ts';

const PIPELINES = join(import.meta.dirname, '..', '..', 'pipelines');
const MESSAGES = 1_000 * Number(process.env.SOAK ?? 1);
const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);
const EXPERIMENT = randomUUID();

let lake: Lake;
let duckdb: DuckDbWarehouse;
let spark: Spark;
let landing: string;

const read = (message: { body: Buffer | null }) => readPayload(message.body ?? Buffer.alloc(0));

async function send(bodies: readonly Buffer[]): Promise<void> {
  const arrivals = bodies.map((body, n) => ({ experimentId: EXPERIMENT, clientId: `multispeq_${n % 3}`, body }));
  await storeMessages(lake.db, arrivals);
  for (;;) {
    const pending = await listPending(lake.db, EXPERIMENT, { messages: 250, bytes: 50_000_000 });
    if (pending.length === 0) return;
    await ingestMessages(
      lake.deps,
      EXPERIMENT,
      pending.map((message) => ({ id: message.id, arrival: message, decoded: read(message) })),
    );
  }
}

const tableOf = async (identifier: string) => (await findTable(lake.db, EXPERIMENT, identifier))!;

async function land(): Promise<{ measurements: number; outputs: number }> {
  const measurements = await landMeasurements(
    { db: lake.db, read: (message) => Promise.resolve(read(message)) },
    await tableOf('raw_data'),
    landing,
  );
  expect(measurements.missing).toBe(0);
  let outputs = 0;
  for (const macroId of MACROS) outputs += (await landOutputs(lake.deps, await tableOf(macroId), landing)).rows;
  return { measurements: measurements.rows, outputs };
}

/** Runs a macro on the measurements that name it, as far as its outcome goes. */
async function runMacro(macroId: string): Promise<number> {
  const naming = { experimentId: EXPERIMENT, macroId, includeDelivered: true };
  let made = 0;
  for (const ids of (await findNaming(lake.deps, naming, 50)).slice(0, 2)) {
    const rows = (await readMeasured(lake.deps, EXPERIMENT, ids)).map((row, at) => ({
      ...{ ...row, rawId: row.id, index: 0, version: 'v2', processedAt: new Date(Date.now() + 60_000).toISOString() },
      result: { macroId, name: 'm', filename: 'm.py', output: { phi2: at / 7, again: at % 2 === 0 ? 'yes' : at }, error: null },
    }));
    await storeMacroRows(lake.deps, { experimentId: EXPERIMENT, macroId, rawIds: ids.ids, rows }, () => Promise.resolve());
    made += rows.length;
  }
  return made;
}

beforeAll(async () => {
  console.log(`messages: FC_SEED=${seed}`);
  [lake, spark] = await Promise.all([openLake(), Spark.start()]);
  duckdb = await DuckDbWarehouse.open({ lakeFolder: join(lake.folder, 'lake'), temporaryFolder: join(lake.folder, 'tmp') });
  landing = join(lake.folder, 'landing');
  const all = [AWKWARD, ...payloads(seeded(seed), MESSAGES)];
  const half = Math.ceil(all.length / 2);
  await send(all.slice(0, half));
  const first = await land();
  await send(all.slice(half));
  // a replay and a second run of a macro, of what is landed already
  const handled = await listHandled(lake.db, EXPERIMENT, { from: '2020-01-01', to: '2100-01-01', after: -1, limit: 100 });
  const replayed = await replayMessages(
    lake.deps,
    EXPERIMENT,
    handled.map((message) => ({ id: message.id, arrival: message, decoded: read(message) })),
  );
  const run = await runMacro(MACROS[0] ?? '');
  const second = await land();
  expect(await land()).toStrictEqual({ measurements: 0, outputs: 0 });
  console.log(
    `messages: landed ${first.measurements} and ${second.measurements} measurements (${replayed} made anew), ${first.outputs} and ${second.outputs} outputs (${run} of a second run)`,
  );
  expect(Math.min(replayed, run, first.outputs, second.outputs)).toBeGreaterThan(0);
  await createTables(spark, ['raw_data', 'device', 'macro', 'identity', 'registry', 'annotation', 'metadata_record']);
  await spark.rows('use gold');
  for (const [folder, columns] of Object.entries(MESSAGE_ARRIVALS)) {
    await spark.rows(`create temporary view landed_${folder} (${asText(columns)}) using json options (path '${join(landing, folder)}')`);
    // every record comes twice
    await spark.rows(`create temporary view bronze_${folder} as select * from landed_${folder} union all select * from landed_${folder}`);
  }
  for (const table of TABLES) {
    const rows = rowsOf(table, readStep(readFileSync(join(PIPELINES, table.file), 'utf8'))).replace(/STREAM\((\w+)\)/, '$1');
    // of a key the row that is last by what the flow is in order by
    const order = ['processed_timestamp', ...(table.version === undefined ? [] : [table.version])].map((name) => `${name} desc`).join(', ');
    const columns = (await spark.rows(`describe gold.${table.name}`)).map(([name]) => `\`${String(name)}\``).join(', ');
    await spark.rows(`insert into gold.${table.name} (${columns}) select ${columns} from (
      select *, row_number() over (partition by id order by ${order}) as nth from (${rows})) where nth = 1`);
  }
}, 900_000);
afterAll(async () => {
  await spark.stop();
  await duckdb.close();
  await lake.close();
}, 60_000);

test.each(['raw_data', 'device', ...MACROS.map((_, at) => `macro ${at}`)])(
  '%s: the same rows of the same bytes',
  async (called) => {
    const identifier = called.startsWith('macro') ? (MACROS[Number(called.slice(6))] ?? '') : called;
    const table = await tableOf(identifier);
    const kind = table.kind as 'raw_data' | 'device' | 'macro';
    const [columns, files] = await Promise.all([columnsAt(lake.db, table.id, table.version), filesAt(lake.db, table.id, table.version)]);
    const from: TableSource = {
      scope: experimentScope({ experimentId: EXPERIMENT, anonymised: false }),
      table: { kind, identifier },
      columns: [...fixedColumns(kind), ...columns],
      files: files.map(({ path }) => join(lake.folder, 'lake', path)),
      version: '1',
    };
    // people, devices' names and annotations are joined in other tests
    const joined = new Set(['contributor', 'device', 'annotations']);
    const names = from.columns.filter(({ name, hidden }) => hidden !== true && !joined.has(name)).map(({ name }) => name);
    const request = readRequest({ orderBy: 'id', limit: 20_000, columns: names });
    const [ours, theirs] = await Promise.all([page(duckdb, from, request), page(new SparkWarehouse(spark), from, request)]);
    expect(ours.data.rows.length).toBe(table.rowCount);
    expect(pageDifference({ filters: [], orderBy: 'id' }, ours, theirs), `FC_SEED=${seed}`).toBeNull();
    console.log(`messages: ${called}, ${ours.data.rows.length} rows of ${names.length} columns alike`);
  },
  300_000,
);

test('the pipeline counts what is stored', async () => {
  const [row] = await spark.rows(
    'select count(*), sum(total_measurements) from (select id, 0 as total_measurements from raw_data union all select id, total_measurements from device)',
  );
  const [raw, device] = await Promise.all([tableOf('raw_data'), tableOf('device')]);
  expect(row).toStrictEqual([String(raw.rowCount + device.rowCount), String(raw.rowCount)]);
});
