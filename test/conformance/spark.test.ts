/**
 * The Databricks dialect on a real Spark (pyspark from PyPI, on Java 17), beside DuckDB on the same rows: every golden is bound, and generated
 * requests get one answer. Not part of `npm test`: it needs Python, Java and a package index.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { listFixedColumns } from '../../src/lakehouse/terms/catalog.ts';
import { compile } from '../../src/lakehouse/compile/compile.ts';
import { makeDatabricks } from '../../src/lakehouse/compile/dialects/databricks.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import { planRead } from '../../src/lakehouse/plan/planner.ts';
import { readDistinct } from '../../src/lakehouse/read/read.ts';
import { MAX_LIMIT } from '../../src/lakehouse/ask/request.ts';
import { parseType } from '../../src/lakehouse/terms/types.ts';
import type { Statement, Warehouse } from '../../src/lakehouse/terms/warehouse.ts';
import type { BoundValue } from '../../src/lakehouse/terms/dialect.ts';
import { parseStrict } from '../ingest/rfc4180.ts';
import { FAULTS as ORACLE_FAULTS } from '../lakehouse/faults.ts';
import type { Patch } from '../lakehouse/faults.ts';
import { KINDS, ZONES, random } from '../lakehouse/oracle/data.ts';
import type { Asked } from '../lakehouse/oracle/evaluate.ts';
import { Lake, TYPED_COLUMNS, download, page } from '../lakehouse/support.ts';
import { Spark } from '../support/spark.ts';
import { layBench, sent } from './spark/bench.ts';
import type { Bench } from './spark/bench.ts';
import { csvDifference, pageDifference } from './spark/compare.ts';
import { FAULTS } from './spark/faults.ts';
import { makeHarshRequest } from './spark/harsh.ts';
import { SparkWarehouse, layLive } from './spark/lake.ts';

const soak = Number(process.env.SOAK ?? 0);
const requests = soak > 0 ? 5_000 * soak : 500;
const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);

let lake: Lake;
let spark: Spark;
let bench: Bench;
beforeAll(async () => {
  console.log(`spark: FC_SEED=${seed}, ${requests} requests`);
  [lake, spark] = await Promise.all([Lake.open(), Spark.start()]);
  bench = await layBench(lake, seed, 300);
}, 600_000);
afterAll(async () => {
  await spark.stop();
  await lake.close();
});

const GOLDEN_LAKE = 's3://field-lake';
const GOLDEN_TABLES = [
  ['rows', 'upload', TYPED_COLUMNS],
  ['people', 'identity', []],
  ['annotations', 'annotation', []],
] as const;
const GOLDENS = join(import.meta.dirname, '..', 'lakehouse', 'goldens');

/** A golden file as the statement that it shows. */
const golden = (name: string): Statement => {
  const [sql = '', values = ''] = readFileSync(join(GOLDENS, name), 'utf8').split('\n\n');
  const value = (line: string): BoundValue => {
    const [, type = '', text = ''] = /^-- ([A-Z_]+(?:\([0-9,]+\))?): (.*)$/.exec(line) ?? [];
    const { kind } = parseType(type);
    const read =
      kind === 'bigint'
        ? BigInt
        : kind === 'int' || kind === 'double'
          ? Number
          : kind === 'boolean'
            ? (one: string) => one === 'true'
            : String;
    return { type: parseType(type), value: read(text) };
  };
  return { sql, values: values.split('\n').filter(Boolean).map(value) };
};

test('Spark binds every golden', async () => {
  const names = readdirSync(GOLDENS).filter((name) => name.endsWith('.databricks.sql'));
  // the lake of the goldens is a bucket that nobody has here
  const here = (name: string, folder: string) => (sql: string) =>
    sql.replaceAll(`delta.\`${GOLDEN_LAKE}/tables/${name}\` version as of 7`, folder);
  const folders = ['rows', 'people', 'annotations'].map((name) => here(name, `delta.\`${lake.folder}/golden-${name}\` version as of 0`));
  const statements = names.map(golden).map(({ sql, values }) => ({ sql: folders.reduce((text, place) => place(text), sql), values }));
  for (const [folder, kind, columns] of GOLDEN_TABLES)
    layLive(lake.folder, { folder: `golden-${folder}`, kind, files: [], columns: [...listFixedColumns(kind), ...columns] });
  const results = await spark.run(statements, 'explain');
  for (const [index, name] of names.entries()) expect(results[index], name).not.toHaveProperty('error');
  expect(names.length).toBeGreaterThanOrEqual(23);
  const [unknown] = await spark.run(
    [{ sql: `select strftime(\`id\`) from delta.\`${lake.folder}/golden-rows\` version as of 0`, values: [] }],
    'explain',
  );
  expect(unknown).toMatchObject({ error: expect.stringContaining('UNRESOLVED_ROUTINE') as string });
});

/** Every so many requests are asked as CSV too. */
const DOWNLOADED = 6;

/** Both engines' answers to one request: their difference in words, null, or 'refused' where no engine is asked. */
const difference = async (warehouse: Warehouse, from: TableSource, asked: Asked, csv: 'guarded' | 'raw' | null): Promise<string | null> => {
  try {
    sent(asked);
    planRead(from, sent(asked), MAX_LIMIT);
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return 'refused';
    throw error;
  }
  const request = sent(asked);
  const [ours, theirs] = await Promise.all([page(lake.warehouse, from, request), page(warehouse, from, request)]);
  const found = pageDifference(asked, ours, theirs);
  if (found !== null || csv === null) return found;
  const options = { format: 'csv', raw: csv === 'raw' } as const;
  const texts = await Promise.all([download(lake.warehouse, from, request, options), download(warehouse, from, request, options)]);
  const [left = [], right = []] = texts.map((text) => parseStrict(text));
  return csvDifference(asked, ours.data.columns, left, right);
};

const SOURCES = ['named', 'older', 'named', 'anonymised'] as const;
const sourceOf = (index: number) => bench.sources[SOURCES[index % SOURCES.length]!];
/** Requests that are on their way at once: half of them in each of two jobs, of which one is planned while the other runs. */
const TOGETHER = 16;

test(
  'Spark and DuckDB give one answer',
  async () => {
    const warehouse = new SparkWarehouse(spark, lake.folder);
    const r = random(seed);
    const counts = { answered: 0, refused: 0, downloaded: 0 };
    const differences: string[] = [];
    for (let start = 0; start < requests && differences.length < 10; start += TOGETHER) {
      const asked = Array.from({ length: Math.min(TOGETHER, requests - start) }, (_, at) => makeHarshRequest(start + at, bench.rows, r));
      const found = await Promise.all(
        asked.map((one, at) => {
          const place = start + at;
          const csv = one.aggregation || place % DOWNLOADED > 0 ? null : place % (2 * DOWNLOADED) === 0 ? 'guarded' : 'raw';
          if (csv) counts.downloaded += 1;
          return difference(warehouse, sourceOf(start + at), one, csv).catch(String);
        }),
      );
      for (const [at, difference] of found.entries()) {
        if (difference === null) counts.answered += 1;
        else if (difference === 'refused') counts.refused += 1;
        else differences.push(`request ${start + at}: ${difference}\n${JSON.stringify(asked[at])}`);
      }
    }
    expect(differences, `FC_SEED=${seed}`).toEqual([]);
    console.log(`spark: ${counts.answered} answers alike, 0 different, ${counts.downloaded} of them as CSV too; ${counts.refused} refused`);
    expect(counts.refused).toBeLessThan(requests / 20);
  },
  300_000 + requests * 3_000,
);

test('distinct values', async () => {
  const warehouse = new SparkWarehouse(spark, lake.folder);
  const columns = [...KINDS, 'wide', 'fine', 'note', 'id', 'uploaded_at', 'contributor.id', 'contributor.name', 'contributor.avatar'];
  for (const from of Object.values(bench.sources)) {
    // as text: of zero and minus zero, which are one value, an engine shows either
    const ask = async (one: Warehouse) =>
      (await Promise.all(columns.flatMap((column) => [3, 1000].map((limit) => readDistinct(one, from, column, limit))))).map((found) =>
        JSON.stringify(found),
      );
    expect(await ask(warehouse)).toStrictEqual(await ask(lake.warehouse));
  }
});

test('a share of the rows, which are the same ones', async () => {
  const warehouse = new SparkWarehouse(spark, lake.folder);
  for (const from of Object.values(bench.sources)) {
    const idsOf = async (one: Warehouse, share: number) =>
      (await page(one, from, { columns: ['id'], limit: 1_000, share })).data.rows.map(({ id }) => id);
    const some = await idsOf(lake.warehouse, 0.3);
    expect(await idsOf(warehouse, 0.3)).toEqual(some);
    expect([some.length > 0, some.length < (await idsOf(lake.warehouse, 0.9)).length]).toEqual([true, true]);
  }
});

test('every fault of the oracle is seeded here', () => {
  expect(Object.keys(FAULTS)).toEqual(expect.arrayContaining(Object.keys(ORACLE_FAULTS)));
});

interface Candidate {
  index: number;
  asked: Asked;
  statements: readonly Statement[];
}
const COUNT = [{ column: '*', function: 'count', alias: 'n' }] as const;
/** What random requests ask of few rows, or of none that shows the difference, in few words: those are quick to plan. */
const ALWAYS: readonly Asked[] = [
  ...ZONES.flatMap((timezone) =>
    ['hour', 'day'].map((timeBucket) => ({
      filters: [],
      aggregation: { groupBy: [{ column: 'at', timeBucket, timezone }], functions: [...COUNT] },
    })),
  ),
  ...['a', 'A', '_', '%'].flatMap((value) =>
    ['contains', 'starts_with'].map((operator) => ({
      filters: [{ column: 'txt', operator, value }],
      aggregation: { groupBy: [{ column: 'txt' }], functions: [...COUNT] },
    })),
  ),
  {
    filters: [],
    aggregation: {
      groupBy: [{ column: 'bool' }],
      functions: [
        { column: 'int', function: 'avg' },
        { column: 'big', function: 'sum' },
      ],
    },
  },
  {
    filters: [],
    aggregation: { groupBy: [{ column: 'int' }, { column: 'at', timeBucket: 'month' }], functions: [{ column: 'big', function: 'avg' }] },
  },
  { filters: [], aggregation: { groupBy: [{ column: 'int' }], functions: [...COUNT] }, limit: 3 },
  { filters: [], columns: ['big', 'at'], page: 2, pageSize: 7 },
  // minus zero among them
  { filters: [{ column: 'dbl', operator: 'equals', value: 0 }], columns: ['dbl'] },
];

let candidates: readonly Candidate[] = [];
/** Requests with the statements that a page of theirs may take. */
const prepared = (): readonly Candidate[] => {
  if (candidates.length > 0) return candidates;
  const r = random(seed);
  const generated = Array.from({ length: 9_000 }, (_, index) => makeHarshRequest(index, bench.rows, r));
  candidates = [...ALWAYS, ...generated]
    .map((asked, index) => ({ index, asked }))
    .flatMap(({ index, asked }) => {
      try {
        const plan = planRead(sourceOf(index), sent(asked), MAX_LIMIT);
        const outputs = plan.columns.map(({ as, name, type }) => ({ as, name, expr: { kind: 'column', name: as, type } as const }));
        const rows = compile({ kind: 'print', from: plan.rows, format: 'json', outputs, guard: false }, makeDatabricks(lake.folder));
        return [
          { index, asked, statements: plan.window.kind === 'page' ? [rows, compile(plan.count, makeDatabricks(lake.folder))] : [rows] },
        ];
      } catch {
        return [];
      }
    });
  return candidates;
};

const touches = (patch: Patch, statement: Statement) => {
  const patched = patch(statement);
  return patched.sql !== statement.sql || patched.values.some((bound, index) => bound.value !== statement.values[index]?.value);
};

const lengthOf = ({ statements }: Candidate) => statements.reduce((total, { sql }) => total + sql.length, 0);

/** All of them with SOAK, else every third. */
const seeded = Object.entries(FAULTS).filter((_, at) => soak > 0 || at % 3 === 0);
test.each(seeded)('%s: caught', async (name, patch) => {
  const warehouse = new SparkWarehouse(spark, lake.folder, patch);
  const touched = prepared().filter(({ statements }) => statements.some((statement) => touches(patch, statement)));
  // of the first hundred the shortest first: those are quick to plan
  const tried = [...touched.slice(0, 100).sort((a, b) => lengthOf(a) - lengthOf(b)), ...touched.slice(100)];
  for (let start = 0, size = 3; start < tried.length; start += size, size = 8) {
    const found = await Promise.all(
      tried.slice(start, start + size).map(({ index, asked }) => difference(warehouse, sourceOf(index), asked, null).catch(String)),
    );
    // a fault that no engine would bind is none
    expect(found.filter((difference) => difference !== null && /PARSE_SYNTAX_ERROR|UNRESOLVED|DATATYPE_MISMATCH/.test(difference))).toEqual(
      [],
    );
    if (found.some((difference) => difference !== null)) return;
  }
  expect.unreachable(`${name} went unnoticed by ${touched.length} requests that it touched`);
});
