/**
 * Uploaded files through the steps that the declared pipeline has for Databricks, each SELECT as it stands, on Spark; beside them what the service made of the same files on
 * DuckDB: the same rows, read through the API's own reads, the same columns and types, the same reports and quarantine.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asText, readStep, UPLOAD_ARRIVALS, UPLOAD_VIEWS } from '../../scripts/lakeflow.ts';
import { readBack } from '../../src/api/lake/read-back.service.ts';
import { sql } from '../../src/database/sql.ts';
import { landUploads } from '../../src/ingest/landing-uploads.ts';
import { functionStatements } from '../../src/ingest/pipeline.ts';
import { listUploadFiles } from '../../src/ingest/uploads.queries.ts';
import { fixedColumns } from '../../src/lakehouse/catalog.ts';
import { columnsAt, filesAt, findTable, findTableById } from '../../src/lakehouse/manifest.ts';
import type { TableSource } from '../../src/lakehouse/plan.ts';
import { readRequest } from '../../src/lakehouse/request.ts';
import { experimentScope } from '../../src/lakehouse/scope.ts';
import { typeText } from '../../src/lakehouse/types.ts';
import { DuckDbWarehouse } from '../../src/lakehouse/warehouses/duckdb.ts';
import { openLake, type Lake } from '../ingest/setup.ts';
import { page } from '../lakehouse/support.ts';
import { makePerson } from '../support/cast.ts';
import { cloneDatabase } from '../support/database.ts';
import { Spark } from '../support/spark.ts';
import { pageDifference } from './spark/compare.ts';
import { SparkWarehouse, createTables } from './spark/lake.ts';
import { uploadCases, type UploadCase } from './spark/upload-cases.ts';

const PIPELINES = join(import.meta.dirname, '..', '..', 'pipelines');
const soak = Number(process.env.SOAK ?? 0);
const GENERATED = soak > 0 ? 400 * soak : 40;
const TOGETHER = 16;
const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);
const EXPERIMENT = randomUUID();
const MACRO = randomUUID();

let lake: Lake;
let duckdb: DuckDbWarehouse;
let spark: Spark;
let landing: string;
const tables: { id: string; name: string }[] = [];

/** A file of every type that Parquet declares here. */
const parquetCase = async (): Promise<UploadCase> => {
  const write = async (name: string, select: string) => {
    const path = join(lake.folder, name);
    await lake.reader.run(`copy (${select}) to '${path}' (format parquet)`);
    return { path: name, bytes: readFileSync(path) };
  };
  const first = await write(
    'typed.parquet',
    `select i::int as a, i * 9007199254740993 as b, i + 0.5::double as c, (i / 4)::decimal(10,2) as d, 's' || i as id, i % 2 = 0 as flag, date '2024-02-28' + i::int as day,
    timestamptz '2024-01-01 00:00:00.123456+00' as at, timestamp '2024-01-01 00:00:00.5' + to_days(i::int) as clock, [i, null] as l, {'x': i} as st, null::double as nothing,
    i::tinyint as tiny, i::utinyint as byte, i::uinteger as wide, (i * 1000)::ubigint as wider, i::float as f, ('x' || i)::blob as bytes from range(3) t(i)`,
  );
  const second = await write(
    'wider.parquet',
    `select 1.5::double as a, 2::int as b, 3::int as c, 'x' as d, timestamp '2024-03-01 10:00:00' as day, 7 as flag`,
  );
  return {
    name: 'Parquet',
    uploads: [
      { kind: 'parquet', files: [first] },
      { kind: 'parquet', files: [second] },
    ],
  };
};

beforeAll(async () => {
  console.log(`uploads: FC_SEED=${seed}`);
  [lake, spark] = await Promise.all([openLake(), Spark.start()]);
  duckdb = await DuckDbWarehouse.open({ lakeFolder: join(lake.folder, 'lake'), temporaryFolder: join(lake.folder, 'tmp') });
  const cases = [...uploadCases(seed, GENERATED), await parquetCase()];
  for (const { name, uploads } of cases) {
    const table = await lake.makeTable(EXPERIMENT);
    tables.push({ id: table.id, name });
    for (const { kind, files } of uploads) await lake.ingest(table, kind, files);
  }
  landing = join(lake.folder, 'landing');
  mkdirSync(landing);
  const landed = await landUploads(lake.deps, landing);
  console.log(`uploads: ${cases.length} tables, ${landed.files} files, ${landed.records} records and ${landed.refused} refused`);
  // a second time there is nothing to do
  expect(await landUploads(lake.deps, landing)).toStrictEqual({ files: 0, thereAlready: landed.files, records: 0, refused: 0 });
  await createTables(spark, ['raw_data', 'device', 'macro', 'identity', 'registry', 'annotation', 'metadata_record']);
  await spark.rows('use gold');
  const measured = `'${EXPERIMENT}' as experiment_id, timestamp'2026-03-01 10:00:00Z' as processed_timestamp`;
  await spark.rows(`insert into raw_data by name select 'r' as id, ${measured}, parse_json('{"site":"a","~c3bc":"7"}') as questions_data`);
  await spark.rows(`insert into macro by name select m.id, ${measured}, '${MACRO}' as macro_id, parse_json(m.made) as macro_output from values
    ('1', '{"a":1,"b":0.5,"c":"x","d":[1],"f":true,"g":null,"h":3000000000,"i":1}'), ('2', '{"a":-2,"b":1,"c":2,"d":{"k":1},"f":false,"g":null,"h":1,"i":1e-7}') as m(id, made)`);
  for (const [folder, columns] of Object.entries(UPLOAD_ARRIVALS)) {
    await spark.rows(`create temporary view landed_${folder} (${asText(columns)}) using json options (path '${join(landing, folder)}')`);
    await spark.rows(`create temporary view bronze_${folder} as select * from landed_${folder}`);
  }
  for (const { name, file } of UPLOAD_VIEWS) {
    const { select } = readStep(readFileSync(join(PIPELINES, file), 'utf8'));
    await spark.rows(`create table gold.${name} using parquet as ${select}`);
  }
}, 900_000);
afterAll(async () => {
  await spark.stop();
  await duckdb.close();
  await lake.close();
}, 60_000);

const nameOf = (tableId: string) => tables.find(({ id }) => id === tableId)?.name ?? tableId;

test('every upload table has the same rows', async () => {
  const warehouse = new SparkWarehouse(spark);
  const differences: string[] = [];
  let rows = 0;
  const compare = async ({ id, name }: { id: string; name: string }) => {
    const table = await findTableById(lake.db, id);
    const version = table?.version ?? 0;
    const [columns, files] = await Promise.all([columnsAt(lake.db, id, version), filesAt(lake.db, id, version)]);
    const from: TableSource = {
      scope: experimentScope({ experimentId: EXPERIMENT, anonymised: false }),
      table: { kind: 'upload', identifier: id },
      columns: [...fixedColumns('upload'), ...columns],
      files: files.map(({ path }) => join(lake.folder, 'lake', path)),
      version: '1',
    };
    // people and annotations are joined in other tests
    const names = ['id', 'uploaded_at', ...columns.map((column) => column.name)];
    const request = readRequest({ orderBy: 'id', limit: 20_000, columns: names });
    const [ours, theirs] = await Promise.all([page(duckdb, from, request), page(warehouse, from, request)]);
    rows += ours.data.rows.length;
    expect(ours.data.rows.length, name).toBe(table?.rowCount);
    const found = pageDifference({ filters: [], orderBy: 'id' }, ours, theirs);
    if (found !== null) differences.push(`${name}: ${found}`);
  };
  for (let at = 0; at < tables.length; at += TOGETHER) await Promise.all(tables.slice(at, at + TOGETHER).map(compare));
  expect(differences, `FC_SEED=${seed}`).toStrictEqual([]);
  expect(rows).toBeGreaterThan(300);
  console.log(`uploads: ${rows} rows of ${tables.length} tables alike`);
}, 600_000);

test('every upload table has the same columns, of the same types', async () => {
  const told = await spark.rows(
    `select table_id, name, original_key, type, has_values, exact_double from table_columns where origin = 'uploaded' order by table_id, position`,
  );
  let columns = 0;
  for (const { id, name } of tables) {
    const table = await findTableById(lake.db, id);
    const ours = (await columnsAt(lake.db, id, table?.version ?? 0)).map((column) => [
      ...[id, column.name, column.originalKey ?? null, typeText(column.type), column.hasValues, column.exactDouble],
    ]);
    columns += ours.length;
    expect
      .soft(
        told.filter(([of]) => of === id),
        name,
      )
      .toStrictEqual(ours);
  }
  console.log(`uploads: ${columns} columns alike`);
}, 120_000);

test('every value is of the same class, and every time the same instant', async () => {
  const told = await spark.rows(
    `select form, v, class, whole_digits, part_digits, unix_micros(instant), timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', local_time) from silver_uploaded_cells
     where not contains(v, '\\u0000') order by 1, 2`,
  );
  const listed = join(lake.folder, 'cells.json');
  writeFileSync(listed, told.map(([form, v]) => JSON.stringify({ form, v })).join('\n'));
  for (const { sql: statement } of functionStatements(lake.pipelines)) await lake.reader.run(statement);
  const found = await lake.reader.runAndReadAll(`
    with cells as (select form, v, case when form in ('t', 'd') then text_class(v) else token_class(form || v) end as class
      from read_json('${listed}', format = 'newline_delimited', columns = {form: 'VARCHAR', v: 'VARCHAR'}))
    select form, class::varchar, whole_digits(v)::varchar, part_digits(v)::varchar, case when class = 64 then epoch_us(v::timestamptz)::varchar end,
      case when class = 128 then epoch_us(v::timestamp)::varchar end from cells`);
  // Spark reads the local part of an instant too, and times in JSON numbers are none
  const ours = found.getRows().map((cells) => cells.map((cell) => (cell === null ? null : String(cell))));
  const theirs = told.map(([form, , one, whole, part, instant, local]) => [
    form,
    one,
    whole,
    part,
    one === '64' ? instant : null,
    one === '128' ? local : null,
  ]);
  const differences = ours.flatMap((cells, at) => (cells.join('|') === theirs[at]?.join('|') ? [] : [[told[at]?.[1], cells, theirs[at]]]));
  expect(differences.slice(0, 10), `FC_SEED=${seed}`).toStrictEqual([]);
  expect(theirs.length).toBe(ours.length);
  console.log(`uploads: ${ours.length} values alike`);
}, 120_000);

test('every file has the same report', async () => {
  const theirs = await spark.rows(
    'select upload_id, path, status, stored, quarantined, already_there, reason, message, columns from ingest_reports order by upload_id, ordinal',
  );
  const uploads = await lake.db.rows<{ id: string; tableId: string }>(
    sql('test.uploads')`select id, table_id as "tableId" from uploads order by id::text`,
  );
  let files = 0;
  for (const { id, tableId } of uploads) {
    const found = theirs
      .filter(([upload]) => upload === id)
      .map((cells) => [...cells.slice(0, 8), JSON.parse(String(cells[8])) as unknown]);
    const ours = (await listUploadFiles(lake.db, id)).map((file) => [
      ...[
        id,
        file.path,
        file.status,
        String(file.stored),
        String(file.quarantined),
        String(file.alreadyThere),
        file.reason,
        file.message,
        file.columns,
      ],
    ]);
    files += ours.length;
    expect.soft(found, nameOf(tableId)).toStrictEqual(ours);
  }
  console.log(`uploads: ${files} reports alike`);
  expect(theirs.length).toBe(files);
}, 120_000);

test('the quarantine holds the same records', async () => {
  const names =
    'id, quarantined_at, experiment_id, upload_id, contributor_id, table_id, path, fieldlake_row, line, byte_offset, reason, original_text';
  const table = await findTable(lake.db, EXPERIMENT, 'quarantine');
  const files = await filesAt(lake.db, table?.id ?? '', table?.version ?? 0);
  const shown = names.split(', ').map((name) => (name === 'quarantined_at' ? 'epoch_us(quarantined_at)::varchar' : `${name}::varchar`));
  const paths = files.map(({ path }) => `'${join(lake.folder, 'lake', path)}'`).join(', ');
  const ours = await lake.reader.runAndReadAll(
    `select ${shown.join(', ')} from read_parquet([${paths}], union_by_name = true) order by id`,
  );
  const theirs = await spark.rows(`select ${names.replace('quarantined_at', 'unix_micros(quarantined_at)')} from quarantine order by id`);
  expect(theirs).toStrictEqual(ours.getRows());
  expect(theirs.length).toBeGreaterThan(15);
  console.log(`uploads: ${theirs.length} quarantined records alike`);
});

test('counts are those of the tables', async () => {
  const theirs = new Map(
    (await spark.rows('select identifier, kind, row_count from table_counts')).map(([id, ...rest]) => [String(id), rest]),
  );
  for (const { id, name } of tables)
    expect.soft(theirs.get(id), name).toStrictEqual(['upload', String((await findTableById(lake.db, id))?.rowCount)]);
  const refused = await findTable(lake.db, EXPERIMENT, 'quarantine');
  expect(theirs.get('quarantine')).toStrictEqual(['quarantine', String(refused?.rowCount)]);
});

/** A database that has the experiment and nothing else. */
const freshDatabase = async () => {
  const clone = await cloneDatabase();
  const person = await makePerson(clone.db, 'owner');
  await clone.db.run(sql('test.resource')`insert into resources (id, type, organization_id, visibility, name, created_by)
    values (${EXPERIMENT}, 'experiment', ${person.workspaceId}, 'private', 'Drought', ${person.id})`);
  await clone.db.run(sql('test.experiment')`insert into experiments (id, status) values (${EXPERIMENT}, 'active')`);
  return clone;
};

const catalogueOf = (db: Lake['db']) =>
  db.rows<Record<string, unknown>>(sql(
    'test.catalogue',
  )`select c.table_id::text, c.name, c.type, c.origin, c.original_key, c.has_values, c.exact_double,
      row_number() over (partition by c.table_id order by c.ordinal) as place
    from lake_columns c join lake_tables t on t.id = c.table_id where c.until_version is null and t.kind = 'upload' order by 1, place`);
const reportsOf = (db: Lake['db']) =>
  db.rows<Record<string, unknown>>(sql(
    'test.reports',
  )`select u.id::text, u.table_id::text, u.source_kind, u.status, u.rows_in, u.stored, u.quarantined, u.already_there, u.error_message,
      u.created_at::text, f.path, f.ordinal, f.status as file_status, f.rows_in as file_rows, f.stored as file_stored, f.quarantined as file_quarantined,
      f.already_there as file_already_there, f.reason, f.message, f.columns
    from uploads u join upload_files f on f.upload_id = u.id order by 1, f.ordinal`);

/** What the members of two VARIANTs make of the columns of their tables. */
const MEASURED = [
  ...['site', 'ü'].map((name) => ['raw_data', 'raw_data', 1, name, 'STRING', 'question', true]),
  ...Object.entries({ a: 'INT', b: 'DOUBLE', c: 'STRING', d: 'VARIANT', f: 'BOOLEAN', g: 'STRING', h: 'BIGINT', i: 'DOUBLE' }).map(
    ([name, type]) => ['macro', MACRO, 2, name, type, 'output', name !== 'g'],
  ),
];

test('the way back: a database that knew nothing has the same columns, counts and reports', async () => {
  const fresh = await freshDatabase();
  const { db } = fresh;
  try {
    const tools = { db, warehouse: new SparkWarehouse(spark), log: pino({ level: 'silent' }) };
    const [columns, files] = [(await catalogueOf(lake.db)).length, (await reportsOf(lake.db)).length];
    expect(await readBack(tools)).toStrictEqual({
      tables: tables.length + 3,
      failed: 0,
      columns: columns + MEASURED.length,
      reports: files,
    });
    expect(await catalogueOf(db)).toStrictEqual(await catalogueOf(lake.db));
    expect(await reportsOf(db)).toStrictEqual(await reportsOf(lake.db));
    const brought = await db.rows<Record<string, unknown>>(sql(
      'test.brought',
    )`select t.kind, t.identifier, t.shared_row_count as rows, c.name, c.type, c.origin, c.has_values as "hasValues"
      from lake_tables t join lake_columns c on c.table_id = t.id where t.kind in ('raw_data', 'macro') order by t.kind desc, c.ordinal`);
    expect(brought.map((row) => Object.values(row))).toStrictEqual(MEASURED);
    const counts = (of: Lake['db'], column: 'row_count' | 'shared_row_count') =>
      of.rows<Record<string, unknown>>(
        column === 'row_count'
          ? sql('test.counts')`select identifier, kind, name, row_count as rows from lake_tables order by 1`
          : sql(
              'test.counts',
            )`select identifier, kind, name, shared_row_count as rows from lake_tables where kind not in ('raw_data', 'macro') order by 1`,
      );
    expect(await counts(db, 'shared_row_count')).toStrictEqual(await counts(lake.db, 'row_count'));
    // and where it is all known already
    expect(await readBack(tools)).toStrictEqual({ tables: 0, failed: 0, columns: 0, reports: 0 });
    console.log(`uploads: ${columns} columns and ${files} reports read back from Spark`);
  } finally {
    await fresh.drop();
  }
}, 300_000);

test('a second delivery of every line changes nothing', async () => {
  const names = ['upload', 'quarantine', 'ingest_reports', 'table_columns', 'table_counts'];
  for (const folder of Object.keys(UPLOAD_ARRIVALS))
    await spark.rows(
      `create or replace temporary view bronze_${folder} as select * from landed_${folder} union all select * from landed_${folder}`,
    );
  const before = await spark.run(
    names.map((name) => ({ sql: `select count(*), bit_xor(xxhash64(to_json(struct(*)))) from gold.${name}`, values: [] })),
  );
  for (const { name, file } of UPLOAD_VIEWS) {
    const { select } = readStep(readFileSync(join(PIPELINES, file), 'utf8'));
    await spark.rows(`drop table gold.${name}`);
    await spark.rows(`create table gold.${name} using parquet as ${select}`);
  }
  expect(
    await spark.run(names.map((name) => ({ sql: `select count(*), bit_xor(xxhash64(to_json(struct(*)))) from gold.${name}`, values: [] }))),
  ).toStrictEqual(before);
  expect(readdirSync(landing).sort()).toStrictEqual(Object.keys(UPLOAD_ARRIVALS).sort());
}, 300_000);
