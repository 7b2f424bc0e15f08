/** Pages of compacted tables: files follow each other in the table's own order, and ties lie over their borders. */
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIGINT, STRING } from '../../src/lakehouse/terms/catalog.ts';
import type { FileExtent } from '../../src/lakehouse/terms/extents.ts';
import { planRead } from '../../src/lakehouse/plan/planner.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import { readPage, readStream } from '../../src/lakehouse/read/read.ts';
import type { ReadRequest } from '../../src/lakehouse/ask/request.ts';
import type { RunOptions, Statement, Warehouse } from '../../src/lakehouse/terms/warehouse.ts';
import { leaf, thereAndBack } from './paging.ts';
import type { Row } from './paging.ts';
import { EXPERIMENT, Lake, source, uploaded } from './support.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);
console.log(`parts: FC_SEED=${seed}`);

const ROWS = 1_200;
/** Rows at which a file ends; some of them in the middle of the sixty rows that share a key. The last file has no keys. */
const BORDERS = [40, 60, 61, 180, 300, 333, 420, 540, 700, 900, 1_100, ROWS];

const table = `select md5(i::varchar) as id, '${EXPERIMENT}' as experiment_id,
    case when i < 1100 then timestamptz '2024-01-01 00:00:00+00' + interval (i // 60) hour end as uploaded_at,
    'u1' as contributor_id, i::bigint as n, hash(i) % 200 as spread, case when i % 37 = 0 then 'rare' else 'often' end as txt, 'wide ' || i as a, 'wider ' || i as b
  from range(${ROWS}) t(i)`;
const COLUMNS = [uploaded('n', BIGINT), uploaded('spread', BIGINT), uploaded('txt', STRING), uploaded('a', STRING), uploaded('b', STRING)];

let lake: Lake;
/** With what the manifest knows of the files, and without. */
let known: TableSource;
let unknown: TableSource;
beforeAll(async () => {
  lake = await Lake.open();
  const extents: FileExtent[] = [];
  for (const [at, border] of BORDERS.entries()) {
    const path = await lake.write(
      `select * exclude place from (select *, row_number() over (order by uploaded_at nulls last, id) as place from (${table}))
       where place > ${BORDERS[at - 1] ?? 0} and place <= ${border} order by place`,
    );
    const key = (of: string) => `strftime(${of}(make_timestamp(epoch_us(uploaded_at))), '%Y-%m-%dT%H:%M:%S.%fZ')`;
    const [facts] = await lake.warehouse.rows({
      sql: `select count(*)::integer as n, ${key('min')} as low, ${key('max')} as high, min(id) as first, max(id) as last,
        count(*) filter (where uploaded_at is null)::integer as nulls from read_parquet('${path}')`,
      values: [],
    });
    extents.push({
      path,
      rowCount: Number(facts?.n),
      minKey: facts?.low as string | null,
      maxKey: facts?.high as string | null,
      minId: facts?.first as string,
      maxId: facts?.last as string,
      nullKeys: Number(facts?.nulls),
    });
  }
  const files = extents.map(({ path }) => path).reverse();
  known = source(files, { expanded: COLUMNS, extents, rowCount: ROWS });
  unknown = source(files, { expanded: COLUMNS, rowCount: ROWS });
});
afterAll(() => lake.close());

const whole = async (request: ReadRequest): Promise<Row[]> => {
  const { body } = await readStream(lake.warehouse, unknown, request, { format: 'json' });
  return JSON.parse(await text(body)) as Row[];
};

const filesIn = (plan: unknown): string[] => {
  const found: string[] = [];
  JSON.stringify(plan, (key, value: unknown) => {
    if (key === 'files') found.push(...(value as string[]));
    return typeof value === 'bigint' ? String(value) : value;
  });
  return [...new Set(found)];
};

const isIn = fc.oneof(
  fc.record({ column: fc.constant('n'), operator: fc.constantFrom('greater_than', 'less_than'), value: fc.nat(ROWS) }),
  fc.record({ column: fc.constant('spread'), operator: fc.constant('less_than'), value: fc.nat(200) }),
  fc.record({ column: fc.constant('txt'), operator: fc.constant('equals'), value: fc.constantFrom('rare', 'often', 'never') }),
);

test('pages are those of the whole table, in both directions, filtered or not, there and back', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(isIn, { maxLength: 2 }),
      fc.constantFrom('ASC' as const, 'DESC' as const),
      fc.integer({ min: 30, max: 100 }),
      fc.nat(5),
      async (filters, orderDirection, pageSize, skipped) => {
        const request = {
          columns: ['id', 'n', 'txt', 'a', 'b', 'uploaded_at'],
          orderDirection,
          ...(filters.length === 0 ? {} : { filters }),
        } as ReadRequest;
        const all = await whole(request);
        const { there, back } = await thereAndBack(lake.warehouse, known, { ...request, pageSize });
        expect(there.flatMap((each) => each.rows)).toEqual(all);
        expect(back.map((each) => each.rows)).toEqual(there.slice(0, -1).map((each) => each.rows));
        expect(there[0]?.totals[0]).toBe(all.length);
        const numbered = await leaf(lake.warehouse, known, { ...request, page: skipped + 1, pageSize });
        expect(numbered.rows).toEqual(all.slice(skipped * pageSize, (skipped + 1) * pageSize));
      },
    ),
    { seed, numRuns: process.env.SOAK === undefined ? 12 : 400 },
  );
}, 600_000);

test.each([
  { orderDirection: 'ASC' as const, first: [0], sizes: [1, 7, 4] },
  { orderDirection: 'DESC' as const, first: [10], sizes: [1, 8, 3] },
])('a filtered page begins with the files that hold its end, $orderDirection, and reads none twice', ({ orderDirection, first, sizes }) => {
  const filters = [{ column: 'txt', operator: 'equals' as const, value: 'often' }];
  const { parts = [], rows } = planRead(known, { orderDirection, filters, pageSize: 20 }, 100_000, true);
  const files = parts.map(filesIn);
  const oldest = known.extents?.map(({ path }) => path) ?? [];
  expect(files.map((each) => each.length)).toEqual(sizes);
  expect(files[0]?.toSorted()).toEqual(first.map((at) => oldest[at]).toSorted());
  expect(files.flat().toSorted()).toEqual(oldest.toSorted());
  expect(filesIn(rows)).toHaveLength(BORDERS.length);
  expect(planRead(unknown, { orderDirection, filters, pageSize: 20 }, 100_000, true).parts).toBeUndefined();
  // the next number is a count of what matches before it, which one part does not know
  expect(planRead(known, { orderDirection, filters, page: 2, pageSize: 20 }, 100_000, true).parts).toBeUndefined();
});

test('the parts of a page share its deadline', async () => {
  const given: number[] = [];
  const { dialect, name } = lake.warehouse;
  const watched = {
    dialect,
    name,
    rows: async (statement: Statement, options: RunOptions) => {
      if (statement.sql.includes('"line"')) given.push(options.timeoutMs ?? NaN);
      return lake.warehouse.rows(statement, options);
    },
  } as unknown as Warehouse;
  const filters = [{ column: 'txt', operator: 'equals' as const, value: 'never' }];
  const { rows } = await readPage(watched, known, { filters, pageSize: 20 }, { timeoutMs: 60_000 });
  expect(await text(rows)).toBe('');
  expect(given).toHaveLength(3);
  expect(given[0]).toBeLessThanOrEqual(60_000);
  expect(given.toSorted((a, b) => b - a)).toEqual(given);
  expect(new Set(given).size).toBe(3);
});
