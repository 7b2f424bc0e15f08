/** Filters that say the values of a column, over files whose values are noted: the same pages and counts as without notes, from fewer files. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, listFixedColumns, type Column } from '../../src/lakehouse/terms/catalog.ts';
import { countDownload, readDistinct, readPage } from '../../src/lakehouse/read/read.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import type { ReadRequest } from '../../src/lakehouse/ask/request.ts';
import { commit, eraseTables } from '../../src/lakehouse/tables/manifest.ts';
import { compactTable, listTablesToNote } from '../../src/lakehouse/tables/maintenance.ts';
import { findTableById, listCountedRows, listFiles } from '../../src/lakehouse/tables/manifest.queries.ts';
import { noteValues } from '../../src/lakehouse/tables/value-notes.ts';
import { Versions } from '../../src/lakehouse/tables/versions.ts';
import type { Statement, Warehouse } from '../../src/lakehouse/terms/warehouse.ts';
import { DuckDbWarehouse } from '../../src/lakehouse/engines/duckdb/warehouse.ts';
import { openLake, type Lake } from '../ingest/setup.ts';
import { EXPERIMENT, source, uploaded } from './support.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);
console.log(`kept rows: FC_SEED=${seed}`);

const TEXTS = [
  '',
  ' ',
  'a',
  'A',
  'a ',
  '__proto__',
  'constructor',
  'null',
  '0',
  `it's "quoted"`,
  '\\',
  '{"a":1}',
  'a,b',
  'ä',
  '🌱',
  '\u{fffd}',
  '%',
];
const DOUBLES = [0, 1, -1, 0.1, 1e21, 1.5e-7, 100, 123456789.125];
const COLUMNS: Column[] = [
  uploaded('txt', STRING),
  uploaded('whole', INT),
  uploaded('big', BIGINT),
  uploaded('dbl', DOUBLE),
  uploaded('flag', BOOLEAN),
  uploaded('day', DATE),
  uploaded('none', STRING),
  uploaded('wide', STRING),
  uploaded('n', BIGINT),
];
const ROWS = 900;
const FILES = 9;
const literal = (of: string) => `'${of.replaceAll("'", "''")}'`;
/** Values come in runs, so that some files have some of them only, and a few only one. */
const SELECT = `select md5(i::varchar) as id, '${EXPERIMENT}' as experiment_id, 'upload' as upload_id, null::varchar as contributor_id,
    timestamptz '2024-01-01 00:00:00+00' + interval (i // 7) minute as uploaded_at,
    case when i % 11 = 0 then null else [${TEXTS.map(literal).join(', ')}][1 + (i // 60 + hash(i) % 3)::integer % ${TEXTS.length}] end as txt,
    case when i < 200 then null else (i // 150)::integer end as whole,
    case when i % 5 = 0 then 9007199254740993 when i % 7 = 0 then null else -(i // 100) end as big,
    case i % 13 when 0 then null when 1 then 'nan'::double when 2 then '-inf'::double when 3 then case when i < 100 then -0.0::double else 0.0::double end
      else [${DOUBLES.map((each) => `${each}::double`).join(', ')}][1 + i % ${DOUBLES.length}] end as dbl,
    case when i % 3 = 0 then null else i // 300 = 1 end as flag,
    date '2024-02-27' + (i // 200)::integer as day, null::varchar as none, 'wide ' || i as wide, i::bigint as n
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

/** A table of these rows in files that follow each other, none of them noted. */
async function makeTable(experimentId: string = EXPERIMENT): Promise<string> {
  const { id } = await lake.makeTable(experimentId);
  const states = COLUMNS.map((column) => ({ ...column, hasValues: true, exactDouble: true }));
  for (let file = 0; file < FILES; file += 1) {
    const part = `select * exclude place from (select *, row_number() over (order by uploaded_at, id) as place from (${SELECT}))
      where place > ${(file * ROWS) / FILES} and place <= ${((file + 1) * ROWS) / FILES}`;
    const { files } = await lake.staging.stage({ tableId: id, experimentId, select: { sql: part, values: [] }, sortColumn: 'uploaded_at' });
    await lake.db.transaction((tx) => commit(tx, { tableId: id, cause: 'ingest', files, ...(file === 0 ? { columns: states } : {}) }));
  }
  return id;
}

/** What a read of the table stands on, with the notes that there are and without any. */
async function sources(of: string): Promise<{ noted: TableSource; plain: TableSource; known: string[] }> {
  const { version } = (await findTableById(lake.db, of))!;
  const extents = (await listFiles(lake.db, of, version)).map((file) => ({ ...file, path: join(lake.folder, 'lake', file.path) }));
  const files = extents.map(({ path }) => path).reverse();
  const known: string[] = [];
  const noted = source(files, {
    expanded: COLUMNS,
    extents,
    rowCount: ROWS,
    keptRows: async (kept) => {
      const rows = await new Versions({ db: lake.db, lakeFolder: join(lake.folder, 'lake') }).keptRows(of, version, kept);
      known.splice(0, known.length, ...rows.keys());
      return rows;
    },
    notedTexts: (asked) => new Versions({ db: lake.db, lakeFolder: join(lake.folder, 'lake') }).notedTexts(of, version, asked),
  });
  return { noted, plain: source(files, { expanded: COLUMNS, rowCount: ROWS }), known };
}

async function answer(of: TableSource, request: ReadRequest, through: Warehouse = warehouse) {
  const page = await readPage(through, of, request);
  return { rows: await text(page.rows), counts: page.counts(), edges: page.edges };
}

/** A warehouse that says which files were opened. */
function watched(): { through: Warehouse; opened: Set<string> } {
  const opened = new Set<string>();
  const through = Object.create(warehouse, {
    rows: {
      value: (statement: Statement, options: object) => {
        for (const { value } of statement.values) if (Array.isArray(value)) for (const path of value) opened.add(String(path));
        return warehouse.rows(statement, options);
      },
    },
  }) as Warehouse;
  return { through, opened };
}

const filter = fc.oneof(
  fc.record({ column: fc.constant('txt'), value: fc.oneof(fc.constantFrom(...TEXTS.slice(1)), fc.string({ minLength: 1 })) }),
  fc.record({ column: fc.constant('whole'), value: fc.oneof(fc.integer({ min: -1, max: 7 }), fc.constantFrom('3', '3.0', 2.5, 1e12)) }),
  fc.record({ column: fc.constant('big'), value: fc.constantFrom(0, -1, -3, '9007199254740993', '9007199254740992', -8) }),
  fc.record({ column: fc.constant('dbl'), value: fc.constantFrom(...DOUBLES, -0, '1e2', 7) }),
  fc.record({ column: fc.constant('flag'), value: fc.constantFrom(true, false, 'true') }),
  fc.record({ column: fc.constant('day'), value: fc.constantFrom('2024-02-27', '2024-02-29', '2024-03-01', '1999-01-01') }),
  fc.record({ column: fc.constantFrom('none', 'wide'), value: fc.constantFrom('wide 8', 'x') }),
);
const filters = fc.oneof(
  fc.tuple(filter, fc.constantFrom('equals' as const, 'not_equals' as const)).map(([one, operator]) => ({ ...one, operator })),
  fc.tuple(filter, filter, fc.constantFrom('in' as const, 'not_in' as const)).map(([one, other, operator]) => ({
    column: one.column,
    operator,
    value: one.column === other.column ? [one.value, other.value] : [one.value],
  })),
  fc
    .tuple(fc.constantFrom('txt', 'whole', 'dbl', 'none', 'wide', 'flag'), fc.constantFrom('is_null' as const, 'is_not_null' as const))
    .map(([column, operator]) => ({ column, operator })),
);
const request = fc.record({
  filters: fc.oneof(
    filters.map((one) => [one]),
    fc.tuple(filters, filters).map((both) => [...both]),
  ),
  orderDirection: fc.constantFrom('ASC' as const, 'DESC' as const),
  orderBy: fc.constantFrom('uploaded_at', undefined, 'n'),
  page: fc.constantFrom(undefined, 1, 2, 5),
  pageSize: fc.constantFrom(3, 20, 100),
});

test.each(['no', 'some', 'every'])(
  'pages, places and counts are those of a read without notes, whatever the filter (%s file noted)',
  async (which) => {
    if (which === 'some')
      await lake.db.run(sql('test')`update lake_files set values_noted = true
        where id in (select id from lake_files where table_id = ${tableId} order by id limit 4)`);
    if (which === 'every') await lake.db.run(sql('test')`update lake_files set values_noted = false where table_id = ${tableId}`);
    if (which === 'every') await lake.db.run(sql('test')`delete from lake_file_values`);
    if (which !== 'no') expect(await noteValues(lake.deps, tableId)).toBeGreaterThan(0);
    const { noted, plain } = await sources(tableId);
    await fc.assert(
      fc.asyncProperty(request, async (asked) => {
        const [ours, theirs] = [await answer(noted, asked), await answer(plain, asked)];
        expect(ours.counts).toEqual(theirs.counts);
        expect(ours).toEqual(theirs);
        expect(await countDownload(warehouse, noted, { filters: asked.filters })).toBe(theirs.counts.totalRows);
        for (const seek of [ours.edges?.next, ours.edges?.previous])
          if (seek) {
            const beside = { ...asked, page: undefined, seek } as ReadRequest;
            expect(await answer(noted, beside)).toEqual(await answer(plain, beside));
          }
      }),
      { seed, numRuns: process.env.SOAK === undefined ? 12 : 120 },
    );
  },
);

test('distinct values are those of a read without notes, from no file where the notes of all tell them', async () => {
  const { noted, plain } = await sources(tableId);
  const compareAll = async (known: readonly string[]) => {
    for (const { name } of [...COLUMNS, { name: 'id' }])
      for (const limit of [0, 1, 3, 1_000]) {
        const { through, opened } = watched();
        const found = await readDistinct(through, noted, name, limit);
        expect(found, `${name} ${limit}`).toEqual(await readDistinct(warehouse, plain, name, limit));
        expect(opened.size === 0, `${name} ${limit}`).toBe(known.includes(name));
      }
  };
  await noteValues(lake.deps, tableId);
  await compareAll(['txt', 'whole', 'big', 'flag', 'none', 'wide', 'n']);
  expect((await readDistinct(warehouse, noted, 'big', 1_000)).values).toContain('9007199254740993');
  // one file without notes is enough for the engine to be asked
  await lake.db.run(sql('test')`delete from lake_file_values
    where file_id = (select id from lake_files where table_id = ${tableId} order by id limit 1)`);
  await compareAll([]);
  await lake.db.run(sql('test')`delete from lake_file_values`);
  await lake.db.run(sql('test')`update lake_files set values_noted = false where table_id = ${tableId}`);
});

test('a page of noted files opens the files that hold it, and none where nothing matches', async () => {
  await noteValues(lake.deps, tableId);
  const { noted, known } = await sources(tableId);
  const present = (page: number): ReadRequest => ({ filters: [{ column: 'whole', operator: 'is_not_null' }], pageSize: 20, page });
  const first = watched();
  const { counts } = await answer(noted, present(1), first.through);
  expect(known).toHaveLength(FILES);
  expect(counts).toMatchObject({ rows: 20, totalRows: 700 });
  // rows of one key lie over a border, and of ids only the least and the greatest of a file are known
  expect(first.opened.size).toBeLessThanOrEqual(3);
  const deep = watched();
  expect((await answer(noted, present(30), deep.through)).counts.rows).toBe(20);
  expect(deep.opened.size).toBeLessThanOrEqual(3);
  expect([...deep.opened].filter((path) => first.opened.has(path))).toEqual([]);
  const asked = (value: string): ReadRequest => ({ filters: [{ column: 'day', operator: 'equals', value }] });
  const none = watched();
  expect((await answer(noted, asked('1999-01-01'), none.through)).counts).toMatchObject({ rows: 0, totalRows: 0 });
  expect(none.opened.size).toBe(0);
  // what the notes do not hold is looked for in the files
  const wide = watched();
  const unnoted: ReadRequest = { filters: [{ column: 'wide', operator: 'contains', value: '77' }] };
  expect((await answer(noted, unnoted, wide.through)).counts.totalRows).toBe(18);
  expect(wide.opened.size).toBe(FILES);
});

test('notes are of a column as it was: one that has widened since is read from the files', async () => {
  await noteValues(lake.deps, tableId);
  const { version } = (await findTableById(lake.db, tableId))!;
  const kept = { column: 'whole', texts: ['3'], nulls: false, negated: false };
  expect(await listCountedRows(lake.db, { tableId, version }, { ...kept, type: 'INT' })).toHaveLength(FILES);
  expect(await listCountedRows(lake.db, { tableId, version }, { ...kept, type: 'DOUBLE' })).toEqual([]);
});

test('compaction notes what it writes, larger files are noted as they are, and notes go with their files', async () => {
  const id = await makeTable();
  const notes = async () =>
    (await lake.db.one<{ n: number }>(
      sql(
        'test',
      )`select count(*) as n from lake_file_values v join lake_files f on f.id = v.file_id where f.table_id = ${id} and f.to_version is null`,
    ))!.n;
  expect(await notes()).toBe(0);
  expect(await listTablesToNote(lake.db, { limit: 100 })).toEqual([]);
  const before = await sources(id);
  const asked: ReadRequest = { filters: [{ column: 'flag', operator: 'equals', value: true }], columns: ['n', 'txt', 'big', 'day'] };
  const plain = await answer(before.plain, asked);
  expect(await compactTable(lake.deps, id, { sortColumn: 'uploaded_at' })).toEqual({ before: FILES, after: 1 });
  // wide and n have many values, but fewer than are too many; dbl has a zero with a sign
  const kept = COLUMNS.length - 1;
  expect(await notes()).toBe(kept);
  const { noted, known } = await sources(id);
  expect(await answer(noted, asked)).toEqual(plain);
  expect(known).toHaveLength(1);
  expect(await noteValues(lake.deps, id)).toBe(0);
  const left = async () => (await lake.db.one<{ n: number }>(sql('test')`select count(*) as n from lake_file_values`))!.n;
  expect(await left()).toBeGreaterThanOrEqual(kept);
  await eraseTables(lake.deps, EXPERIMENT);
  expect(await left()).toBe(0);
});

test('of a file that holds a row of another experiment nothing is noted', async () => {
  const other = await makeTable(randomUUID());
  expect(await noteValues(lake.deps, other)).toBe(FILES);
  const { noted, plain, known } = await sources(other);
  const asked: ReadRequest = { filters: [{ column: 'flag', operator: 'equals', value: true }] };
  expect(await answer(noted, asked)).toEqual(await answer(plain, asked));
  expect(known).toEqual([]);
});

test('columns with many or long values and texts that cannot be kept have no notes; large files get theirs without being written anew', async () => {
  const experimentId = EXPERIMENT;
  const { id } = await lake.makeTable(experimentId);
  const columns = [uploaded('few', STRING), uploaded('many', STRING), uploaded('long', STRING), uploaded('zero', STRING)];
  const select = `select md5(i::varchar) as id, '${EXPERIMENT}' as experiment_id, 'upload' as upload_id, null::varchar as contributor_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
    'v' || i % 900 as few, 'v' || i % 4500 as many, repeat('x', 300) || i % 3 as long, case when i % 2 = 0 then 'a' || chr(0) else 'b' end as zero
    from range(60000) t(i)`;
  const { files } = await lake.staging.stage({ tableId: id, experimentId, select: { sql: select, values: [] }, sortColumn: 'uploaded_at' });
  const states = columns.map((column) => ({ ...column, hasValues: true, exactDouble: true }));
  await lake.db.transaction((tx) => commit(tx, { tableId: id, cause: 'ingest', files, columns: states }));
  expect(await listTablesToNote(lake.db, { limit: 100 })).toEqual([id]);
  expect(await noteValues(lake.deps, id)).toBe(files.length);
  expect(await listTablesToNote(lake.db, { limit: 100 })).toEqual([]);
  const names = await lake.db.rows<{ name: string }>(
    sql('test')`select distinct v.name from lake_file_values v join lake_files f on f.id = v.file_id where f.table_id = ${id} order by 1`,
  );
  const shown = listFixedColumns('upload').filter(
    ({ hidden, derived, name }) => !hidden && !derived && name !== 'id' && name !== 'uploaded_at',
  );
  expect(names.map(({ name }) => name)).toEqual(['few', ...shown.map(({ name }) => name)].sort());
  const { version } = (await findTableById(lake.db, id))!;
  const kept = { column: 'few', type: 'STRING', texts: ['v7', 'v8', 'w'], nulls: true, negated: false };
  const rows = await listCountedRows(lake.db, { tableId: id, version }, kept);
  expect(rows.reduce((sum, { rows: count }) => sum + count, 0)).toBe(67 + 67);
  const others = await listCountedRows(lake.db, { tableId: id, version }, { ...kept, negated: true });
  expect(others.reduce((sum, { rows: count }) => sum + count, 0)).toBe(60_000 - 134);
});
