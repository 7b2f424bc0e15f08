/** Filters that say between which values a column must lie, over files whose ranges are known: the same answers as without, from fewer files. */
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import {
  BIGINT,
  DATE,
  DOUBLE,
  INT,
  STRING,
  TIMESTAMP,
  TIMESTAMP_NTZ,
  makeDecimal,
  type Column,
} from '../../src/lakehouse/terms/catalog.ts';
import { compactTable } from '../../src/lakehouse/tables/maintenance.ts';
import { commit } from '../../src/lakehouse/tables/manifest.ts';
import { findTableById, listFiles } from '../../src/lakehouse/tables/manifest.queries.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import { countDownload, readPage, readStream } from '../../src/lakehouse/read/read.ts';
import type { ReadRequest } from '../../src/lakehouse/ask/request.ts';
import { Versions } from '../../src/lakehouse/tables/versions.ts';
import type { Statement, StreamFormat, Warehouse } from '../../src/lakehouse/terms/warehouse.ts';
import { DuckDbWarehouse } from '../../src/lakehouse/engines/duckdb/warehouse.ts';
import { openLake, type Lake } from '../ingest/setup.ts';
import { EXPERIMENT, source, uploaded } from './support.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);
console.log(`kept ranges: FC_SEED=${seed}`);

const COLUMNS: Column[] = [
  uploaded('whole', INT),
  uploaded('big', BIGINT),
  uploaded('dbl', DOUBLE),
  uploaded('nans', DOUBLE),
  uploaded('dec', makeDecimal(12, 3)),
  uploaded('day', DATE),
  uploaded('at', TIMESTAMP),
  uploaded('clock', TIMESTAMP_NTZ),
  uploaded('txt', STRING),
  uploaded('none', DOUBLE),
];
const FILES = 8;
const ROWS_PER_FILE = 50;
const ROWS = FILES * ROWS_PER_FILE;
/** Most columns rise with `i`, so that each file holds a part of them; some files have nulls, one only nulls, and one numbers that no double holds. */
const SELECT = `select md5(i::varchar) as id, '${EXPERIMENT}' as experiment_id, 'upload' as upload_id, null::varchar as contributor_id,
    timestamptz '2024-01-01 00:00:00+00' + interval (i) minute as uploaded_at,
    case when i between 100 and 149 or i % 40 = 7 then null else i - 200 end::integer as whole,
    case when i < 50 then 9007199254740993 - i % 2 when i < 100 then -9007199254740993 else i * 1000000007 end::bigint as big,
    case when i < 50 then '-inf'::double when i > 350 then 'inf'::double when i % 100 = 50 then -0.0::double else (i - 200) / 8 end as dbl,
    case when i % 70 = 3 then 'nan'::double when i % 9 = 0 then null else i end as nans,
    ((i - 200) / 4)::decimal(12, 3) as dec, date '1969-12-25' + (i // 20)::integer as day,
    timestamptz '1969-12-31 23:59:00.5+00' + interval (i) second + interval (i % 3) microsecond as at,
    timestamp '2024-03-31 02:30:00.000001' + interval (i) hour as clock, 't' || i // 10 as txt, null::double as none
  from range(${ROWS}) t(i)`;

let lake: Lake;
let warehouse: DuckDbWarehouse;
let tableId: string;
beforeAll(async () => {
  lake = await openLake();
  warehouse = await DuckDbWarehouse.open({ lakeFolder: join(lake.folder, 'lake'), temporaryFolder: join(lake.folder, 'tmp') });
  tableId = await makeTable();
});
afterAll(async () => {
  await warehouse.close();
  await lake.close();
});

async function makeTable(): Promise<string> {
  const { id } = await lake.makeTable(EXPERIMENT);
  const columns = COLUMNS.map((column) => ({ ...column, hasValues: true, exactDouble: true }));
  for (let file = 0; file < FILES; file += 1) {
    const part = `select * from (${SELECT}) where uploaded_at >= timestamptz '2024-01-01 00:00:00+00' + interval (${file * ROWS_PER_FILE}) minute
      and uploaded_at < timestamptz '2024-01-01 00:00:00+00' + interval (${(file + 1) * ROWS_PER_FILE}) minute`;
    const { files } = await lake.staging.stage({
      tableId: id,
      experimentId: EXPERIMENT,
      select: { sql: part, values: [] },
      sortColumn: 'uploaded_at',
    });
    await lake.db.transaction((tx) => commit(tx, { tableId: id, cause: 'ingest', files, ...(file === 0 ? { columns } : {}) }));
  }
  return id;
}

/** What a read of the table stands on, with the ranges of its files and without, and what was known of the last one's files. */
async function sources(of: string): Promise<{ ranged: TableSource; plain: TableSource; known: number[] }> {
  const { version } = (await findTableById(lake.db, of))!;
  const extents = (await listFiles(lake.db, of, version)).map((file) => ({ ...file, path: join(lake.folder, 'lake', file.path) }));
  const files = extents.map(({ path }) => path).reverse();
  const versions = new Versions({ db: lake.db, lakeFolder: join(lake.folder, 'lake') });
  const known: number[] = [];
  const ranged = source(files, {
    expanded: COLUMNS,
    extents,
    rowCount: ROWS,
    keptRows: async (kept) => {
      const rows = await versions.keptRows(of, version, kept);
      known.splice(0, known.length, ...rows.values());
      return rows;
    },
  });
  return { ranged, plain: source(files, { expanded: COLUMNS, rowCount: ROWS }), known };
}

async function answer(of: TableSource, request: ReadRequest, through: Warehouse = warehouse) {
  const page = await readPage(through, of, request);
  return { rows: await text(page.rows), counts: page.counts(), edges: page.edges };
}

/** A warehouse that says which files were opened. */
function watched(): { through: Warehouse; opened: Set<string> } {
  const opened = new Set<string>();
  const note = (statement: Statement) => {
    for (const { value } of statement.values) if (Array.isArray(value)) for (const path of value) opened.add(String(path));
    return statement;
  };
  const through = Object.create(warehouse, {
    rows: { value: (statement: Statement, options: object) => warehouse.rows(note(statement), options) },
    stream: {
      value: (statement: Statement, format: StreamFormat, options: object) => warehouse.stream(note(statement), format, options),
    },
  }) as Warehouse;
  return { through, opened };
}

const padded = (number: number, length = 2) => String(number).padStart(length, '0');
const second = fc.integer({ min: -30, max: 430 });
/** Values of a column, most of them within it, on and beside those that it has. */
const VALUES: Record<string, fc.Arbitrary<string | number>> = {
  whole: fc.oneof(fc.integer({ min: -205, max: 205 }), fc.constantFrom('0.5', 1e12, '-3000000000')),
  big: fc.oneof(
    fc.integer({ min: 99, max: 401 }).map((i) => String(BigInt(i) * 1000000007n)),
    fc.constantFrom('9007199254740993', '9007199254740992', '-9007199254740993', 9007199254740991, 0),
  ),
  dbl: fc.oneof(
    fc.integer({ min: -205, max: 205 }).map((i) => i / 8),
    fc.constantFrom(0, -0, 5e-324, 1e308, -1e308),
  ),
  nans: fc.integer({ min: -2, max: 402 }),
  dec: fc.integer({ min: -205, max: 205 }).map((i) => String(i / 4)),
  day: fc.integer({ min: 0, max: 24 }).map((i) => new Date(Date.UTC(1969, 11, 24 + i)).toISOString().slice(0, 10)),
  at: fc.tuple(second, fc.constantFrom(499_999, 500_000, 500_001, 500_002)).map(([i, micros]) => {
    return `${new Date(Date.UTC(1969, 11, 31, 23, 59, i)).toISOString().slice(0, 19)}.${padded(micros, 6)}Z`;
  }),
  clock: fc.tuple(second, fc.constantFrom(0, 1, 2)).map(([i, micros]) => {
    return `${new Date(Date.UTC(2024, 2, 31, 2 + i, 30)).toISOString().slice(0, 19)}.${padded(micros, 6)}`;
  }),
  uploaded_at: second.map((i) => new Date(Date.UTC(2024, 0, 1, 0, i)).toISOString()),
  none: fc.constantFrom(1, 0, -1e300),
};

type Condition = NonNullable<ReadRequest['filters']>[number];
const condition: fc.Arbitrary<Condition> = fc.constantFrom(...Object.keys(VALUES)).chain((column) => {
  const value = VALUES[column]!;
  return fc.oneof(
    fc
      .tuple(
        fc.constantFrom('equals', 'not_equals', 'less_than', 'less_than_or_equal', 'greater_than', 'greater_than_or_equal' as const),
        value,
      )
      .map(([operator, one]) => ({ column, operator, value: one })),
    fc
      .tuple(fc.constantFrom('between', 'in', 'not_in' as const), value, value)
      .map(([operator, one, other]) => ({ column, operator, value: [one, other] })),
    fc.constantFrom('is_null', 'is_not_null' as const).map((operator) => ({ column, operator })),
  );
});
const texts: fc.Arbitrary<Condition> = fc
  .integer({ min: 0, max: 40 })
  .map((i) => ({ column: 'txt', operator: 'starts_with', value: `t${i}` }));
const filters = fc.oneof(
  { weight: 3, arbitrary: condition.map((one) => [one]) },
  { weight: 3, arbitrary: fc.tuple(condition, condition).map((both) => [...both]) },
  { weight: 1, arbitrary: fc.tuple(condition, texts).map((both) => [...both]) },
);
const asked = fc.record({
  filters,
  orderDirection: fc.constantFrom('ASC' as const, 'DESC' as const),
  orderBy: fc.constantFrom('uploaded_at', 'whole', undefined),
  page: fc.constantFrom(undefined, 1, 2),
  pageSize: fc.constantFrom(7, 100),
});

test('pages, counts, aggregates and streams are those of a read that knows no ranges, whatever the filter', async () => {
  const { ranged, plain, known } = await sources(tableId);
  let leftOut = 0;
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(asked, async (request) => {
      expect(await answer(ranged, request)).toEqual(await answer(plain, request));
      leftOut += known.filter((rows) => rows === 0).length;
      whole += known.filter((rows) => rows > 0).length;
      const where = { filters: request.filters };
      const aggregated: ReadRequest = {
        ...where,
        aggregation: { groupBy: [{ column: 'txt' }], functions: [{ column: 'uploaded_at', function: 'count' }] },
      };
      expect(await answer(ranged, aggregated)).toEqual(await answer(plain, aggregated));
      const limited: ReadRequest = { ...where, limit: 5 };
      expect(await answer(ranged, limited)).toEqual(await answer(plain, limited));
      expect(await countDownload(warehouse, ranged, where)).toBe(await countDownload(warehouse, plain, where));
      const stream = async (of: TableSource) => text((await readStream(warehouse, of, where, { format: 'csv' })).body);
      expect(await stream(ranged)).toBe(await stream(plain));
    }),
    { seed, numRuns: 40 },
  );
  // the test is of something
  expect(leftOut).toBeGreaterThan(20);
  expect(whole).toBeGreaterThan(5);
});

test.each<[string, Condition, number, number]>([
  ['times', { column: 'at', operator: 'between', value: ['1970-01-01T00:00:10Z', '1970-01-01T00:00:20Z'] }, 1, 10],
  ['local times', { column: 'clock', operator: 'less_than', value: '2024-04-01T00:00:00' }, 1, 22],
  ['days', { column: 'day', operator: 'equals', value: '1970-01-02' }, 1, 20],
  ['whole numbers', { column: 'whole', operator: 'greater_than', value: 150 }, 1, 48],
  // in two others a zero stands among greater ones
  ['numbers', { column: 'dbl', operator: 'between', value: [0.5, 1] }, 3, 5],
  ['nothing', { column: 'none', operator: 'less_than', value: 1 }, 0, 0],
])('of a filter by %s only the files that hold them are opened', async (_, filter, files, rows) => {
  const { ranged } = await sources(tableId);
  const page = watched();
  expect((await answer(ranged, { filters: [filter] }, page.through)).counts.totalRows).toBe(rows);
  expect(page.opened.size).toBe(files);
  const grouped = watched();
  const aggregation = { groupBy: [], functions: [{ column: 'id', function: 'count' as const }] };
  expect((await answer(ranged, { filters: [filter], aggregation }, grouped.through)).rows).toContain(`:${rows}`);
  expect(grouped.opened.size).toBe(files);
});

test('files that a range holds whole are counted without being opened, and those with NaN or numbers beyond a double are read', async () => {
  const { ranged, known } = await sources(tableId);
  await answer(ranged, { filters: [{ column: 'whole', operator: 'greater_than_or_equal', value: -150 }] });
  // without their nulls; one file has nothing else
  expect([...known].sort()).toEqual([0, 0, 48, 49, 49, 49, 49, 49].sort());
  await answer(ranged, { filters: [{ column: 'nans', operator: 'less_than', value: 1_000 }] });
  expect(known).toEqual([50, 50].map(() => expect.any(Number)));
  await answer(ranged, { filters: [{ column: 'big', operator: 'greater_than', value: 1 }] });
  expect(known).toEqual(Array.from({ length: FILES - 2 }, () => ROWS_PER_FILE));
});

test('ranges are of a column as the file holds it, are written anew by compaction, and go with their files', async () => {
  const { version } = (await findTableById(lake.db, tableId))!;
  const ranges = (storedAs: 'int32' | 'int64' | 'double') => ({
    values: null,
    ranges: { ranges: [{ column: 'whole', storedAs, from: 1_000, to: Infinity }], isWhole: true },
  });
  const versions = new Versions({ db: lake.db, lakeFolder: lake.folder });
  expect((await versions.keptRows(tableId, version, ranges('int32'))).size).toBe(FILES);
  expect((await versions.keptRows(tableId, version, ranges('int64'))).size).toBe(0);
  const id = await makeTable();
  const later: ReadRequest = { filters: [{ column: 'day', operator: 'greater_than', value: '1970-01-10' }] };
  const before = await answer((await sources(id)).plain, later);
  expect(before.counts.totalRows).toBeGreaterThan(0);
  expect(await compactTable(lake.deps, id, { sortColumn: 'uploaded_at' })).toEqual({ before: FILES, after: 1 });
  expect(await answer((await sources(id)).ranged, later)).toEqual(before);
  const none = watched();
  const beyond: ReadRequest = { filters: [{ column: 'day', operator: 'greater_than', value: '1980-01-01' }] };
  expect((await answer((await sources(id)).ranged, beyond, none.through)).counts.totalRows).toBe(0);
  expect(none.opened.size).toBe(0);
  const left = async () => (await lake.db.one<{ n: number }>(sql('test')`select count(*) as n from lake_file_ranges`))!.n;
  expect(await left()).toBeGreaterThan(0);
  await lake.db.run(sql('test')`delete from lake_files`);
  expect(await left()).toBe(0);
});
