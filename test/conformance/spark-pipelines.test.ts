/** The gold steps of `pipelines/` on DuckDB and, as the Lakeflow pipeline declares them, on Spark: the same rows, read back through the API's own reads. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onDatabricks, TABLES, readStep } from '../../scripts/lakeflow.ts';
import { fill, loadPipelines } from '../../src/ingest/pipeline.ts';
import { DOUBLE, STRING, fixedColumns } from '../../src/lakehouse/catalog.ts';
import type { Column } from '../../src/lakehouse/catalog.ts';
import { databricks } from '../../src/lakehouse/dialects/databricks.ts';
import type { TableSource } from '../../src/lakehouse/plan.ts';
import { readRequest } from '../../src/lakehouse/request.ts';
import { random } from '../lakehouse/oracle/data.ts';
import { EXPERIMENT, Lake, page, source } from '../lakehouse/support.ts';
import { Spark } from '../support/spark.ts';
import { pageDifference } from './spark/compare.ts';
import { HOSTILE } from './spark/harsh.ts';
import { SparkWarehouse, createTables } from './spark/lake.ts';

const PIPELINES = join(import.meta.dirname, '..', '..', 'pipelines');
const MACRO = '01990000-0000-7000-8000-0000000000cc';
const COUNT = 2_000;
const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);

type Cells = Readonly<Record<string, string | null>>;

let lake: Lake;
let spark: Spark;
/** Parquet files of text cells, as both engines are given them. */
let arrived: Readonly<Record<string, string>>;

const quoted = (text: string | null) => (text === null ? 'null' : `'${text.replaceAll("'", "''")}'`);
const write = (rows: readonly Cells[]): Promise<string> => {
  const names = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => `(${names.map((name) => `cast(${quoted(row[name] ?? null)} as varchar)`).join(', ')})`);
  return lake.write(`select * from (values ${values.join(', ')}) as v(${names.join(', ')})`);
};

const zones = async (): Promise<string[]> => {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const listed = (await connection.runAndReadAll('select distinct name from pg_timezone_names() order by name')).getRows();
  connection.closeSync();
  instance.closeSync();
  const rows = await spark.rows(
    `select z, try_cast(concat('2000-07-01 00:00:00 ', z) as timestamp) is not null from values ${listed.map(([name]) => `(${quoted(String(name))})`).join(', ')} as v(z)`,
  );
  // newer lists than the JVM's, offsets that look like names, and a placeholder
  return rows.filter(([zone, usable]) => usable === true && !/^GMT[+-]/.test(String(zone))).map(([zone]) => String(zone));
};

/** Measurements of every zone, and of what is none; hostile text in every cell that is text; the edges of days and years. */
const makeArrivals = (known: readonly string[]): { measurements: Cells[]; outputs: Cells[] } => {
  const r = random(seed);
  const some = <T>(make: () => T) => (r.chance(0.15) ? null : make());
  const hostile = () => r.pick(HOSTILE);
  const time = () =>
    new Date(
      r.pick([Date.parse('2024-03-31T01:00Z'), Date.parse('2024-10-27T01:00Z'), 0, Date.parse('2023-12-31T23:59Z')]) + r.int(7_200_000),
    ).toISOString();
  const cells = Array.from({ length: COUNT }, (_, at) => ({
    fieldlake_row: `${at}-${r.int(1e9)}`,
    experiment_id: EXPERIMENT,
    measured_at: time(),
    device_id: `device-${r.int(9)}`,
    device_name: some(hostile),
    timezone:
      at < known.length ? (known[at] ?? null) : r.pick([null, 'Nowhere/Never', 'europe/amsterdam', '+02:00', 'UTC+2', '', 'Z', hostile()]),
    latitude: some(() => String((r.int(1_800_001) - 900_000) / 10_000)),
    longitude: some(() => r.pick(['-0.0', '1e-7', '179.99999999', String(r.next() * 180)])),
    workbook_run_id: some(hostile),
    contributor_id: some(() => `u${r.int(4)}`),
    client_id: some(() => `client-${r.int(4)}`),
    processed_at: new Date(Date.parse('2024-11-01T00:00Z') + at).toISOString().replace('Z', '123Z'),
    workbook_version_id: null,
    macro_context: null,
  }));
  const answers = ['site', 'remark'];
  const measurements = cells.map((cell, at) => {
    const [c1, c2] = [some(hostile), some(() => 'dry')];
    return {
      ...cell,
      macros: some(() =>
        JSON.stringify([
          { id: MACRO, name: hostile(), filename: 'a.py' },
          ...(r.chance(0.2) ? [{ id: null, name: null, filename: null }] : []),
        ]),
      ),
      protocol_id: some(hostile),
      data: some(() => r.pick(['{"a":[1,2.5,{"b":null}],"é":"\\u0001"}', '[]', '"text"', '-1.5e3', 'true'])),
      device_row: `row-${cell.device_id}`,
      device_firmware: '1.0',
      device_version: some(() => `v${at}`),
      device_battery: some(() => String(r.int(1000) / 10)),
      stored_version: null,
      c1,
      c2,
      answers: JSON.stringify({ [answers[0] ?? '']: c1, [answers[1] ?? '']: c2 }),
    };
  });
  const outputs = cells.map((cell) => {
    const [c1, c2] = [some(() => String(r.next())), some(hostile)];
    return {
      ...cell,
      raw_id: cell.fieldlake_row,
      macro_id: MACRO,
      macro_name: some(hostile),
      macro_filename: 'a.py',
      macro_version: '1',
      macro_error: r.chance(0.1) ? hostile() : null,
      c1,
      c2,
      outputs: JSON.stringify({ phi2: c1 === null ? null : Number(c1), note: c2 }),
    };
  });
  return { measurements, outputs };
};

beforeAll(async () => {
  console.log(`pipelines: FC_SEED=${seed}, ${COUNT} records a table`);
  [lake, spark] = await Promise.all([Lake.open(), Spark.start()]);
  await createTables(spark);
  const known = await zones();
  console.log(`pipelines: ${known.length} time zones that both engines know`);
  expect(known.length).toBeGreaterThan(550);
  const { measurements, outputs } = makeArrivals(known);
  arrived = { bronze_measurements: await write(measurements), bronze_macro_outputs: await write(outputs) };
  for (const [name, file] of Object.entries(arrived))
    await spark.rows(`create temporary view ${name} as select * from parquet.\`${file}\``);
}, 600_000);
afterAll(async () => {
  await spark.stop();
  await lake.close();
}, 60_000);

/** What DuckDB makes of the records, as a file of the lake. */
const stepOnDuckDb = async (select: string, records: string): Promise<string> => {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const path = join(lake.folder, `gold-${Date.now()}-${Math.random()}.parquet`);
  await connection.run(`set timezone = 'UTC'`);
  await connection.run('create table time_zones as select distinct name from pg_timezone_names()');
  for (const [name, value] of [
    ['experiment_id', EXPERIMENT],
    ['macro_id', MACRO],
  ] as const)
    await connection.run(`set variable ${name} = '${value}'`);
  await connection.run(`create temp view bronze_records as select * from read_parquet('${records}')`);
  await connection.run(`copy (${select}) to '${path}' (format parquet)`);
  connection.closeSync();
  instance.closeSync();
  return path;
};

const column = (name: string, type: Column['type'], origin: Column['origin']): Column => ({ name, type, origin, nullable: true });
const KINDS = {
  raw_data: {
    step: 'measurementRows',
    slots: { questions: ', c1 as site, c2 as remark' },
    expanded: [column('site', STRING, 'question'), column('remark', STRING, 'question')],
  },
  macro: {
    step: 'macroRows',
    slots: { values: ', cast(c1 as double) as phi2, c2 as note' },
    expanded: [column('phi2', DOUBLE, 'output'), column('note', STRING, 'output')],
  },
  device: { step: 'deviceRows', slots: { known: 'select null::varchar as id where false', measurements: '1' }, expanded: [] },
} as const;

test.each(Object.entries(KINDS))(
  '%s: the same rows of the same records',
  async (kind, { step, slots, expanded }) => {
    const table = TABLES.find(({ name }) => name === kind);
    if (!table) throw new Error(kind);
    const pipelines = await loadPipelines(PIPELINES);
    const records = arrived[kind === 'macro' ? 'bronze_macro_outputs' : 'bronze_measurements'] ?? '';
    const file = await stepOnDuckDb(fill(pipelines[step], slots).sql, records);
    const body = onDatabricks(readStep(readFileSync(join(PIPELINES, table.file), 'utf8')).select, table.source);
    const [described] = await spark.run([{ sql: body, values: [] }], 'explain');
    if (!described || 'error' in described) throw new Error(described?.error);
    const [stored] = await spark.run([{ sql: `select * from gold.${kind}`, values: [] }], 'explain');
    const columns = (result: typeof stored) => (result && 'rows' in result ? result.rows.map(([name]) => String(name)).sort() : []);
    expect(columns(described)).toStrictEqual(columns(stored));
    const names = columns(described);
    const list = names.map((name) => databricks.quote(name)).join(', ');
    await spark.rows(`insert into gold.${kind} (${list}) select ${list} from (${body})`);
    const from: TableSource = source([file], {
      table: { kind: kind as keyof typeof KINDS, identifier: kind === 'macro' ? MACRO : kind },
      columns: [...fixedColumns(kind as keyof typeof KINDS), ...expanded],
    });
    const request = readRequest({ orderBy: 'id', limit: COUNT });
    const [ours, theirs] = await Promise.all([page(lake.warehouse, from, request), page(new SparkWarehouse(spark), from, request)]);
    expect(ours.data.rows.length).toBe(kind === 'device' ? 9 : COUNT);
    expect(pageDifference({ filters: [], orderBy: 'id' }, ours, theirs)).toBeNull();
    console.log(`pipelines: ${kind}, ${ours.data.rows.length} rows alike`);
  },
  300_000,
);

test('a record that is none of the lake’s makes no row on Spark, and stops no other', async () => {
  const table = TABLES[0];
  if (!table) throw new Error('no table');
  const select = readStep(readFileSync(join(PIPELINES, table.file), 'utf8')).select;
  const poison = `(select * except (measured_at, data, latitude, macros), 'yesterday' as measured_at, '{' as data, 'north' as latitude, '[' as macros from ${table.source} limit 1)`;
  const whole = await spark.rows(`select count(*) from (${onDatabricks(select, table.source)})`);
  const [row] = await spark.rows(
    `select \`timestamp\` is null, data is null, latitude is null, macros is null from (${onDatabricks(select, poison)})`,
  );
  expect(row).toStrictEqual([true, true, true, true]);
  expect(whole).toStrictEqual([[String(COUNT)]]);
}, 120_000);
