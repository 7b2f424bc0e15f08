import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compile } from '../../src/lakehouse/compile/compile.ts';
import type { Dialect } from '../../src/lakehouse/terms/dialect.ts';
import { makeDatabricks } from '../../src/lakehouse/compile/dialects/databricks.ts';
import { duckdb } from '../../src/lakehouse/compile/dialects/duckdb.ts';
import type { Output, Plan } from '../../src/lakehouse/terms/plan.ts';
import { planDistinct, planRead } from '../../src/lakehouse/plan/planner.ts';
import { readRequest } from '../../src/lakehouse/ask/request.ts';
import { printType } from '../../src/lakehouse/terms/types.ts';
import type { Statement } from '../../src/lakehouse/terms/warehouse.ts';
import { QUESTIONS } from './questions.ts';
import { EXPERIMENT, Lake, source } from './support.ts';

let lake: Lake;
let file: string;
beforeAll(async () => {
  lake = await Lake.open();
  file = await lake.write(`
    select ''::varchar as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, '' as upload_id, 'u1' as contributor_id,
      true as bool, 1::integer as int, 1::bigint as big, 1::decimal(12, 3) as dec, i::double as dbl, '' as txt, date '2024-01-01' as day,
      timestamptz '2024-01-01 00:00:00+00' as at, timestamp '2024-01-01 00:00:00' as clock, '{}' as json from range(3) t(i)`);
});
afterAll(() => lake.close());

/** Plans as they are sent: the file list is the fixture's for the engine and a plain name in the golden. */
const plans = (files: readonly string[], anonymised = false): Record<string, Plan> => {
  const live = (folder: string) => ({ live: { tableId: folder, folder: `tables/${folder}`, version: 7 } });
  const from = source(files, { anonymised, ...live('rows'), identity: { files, ...live('people') } });
  const json = (rows: Plan, outputs: readonly Output[]): Plan => ({ kind: 'print', from: rows, format: 'json', outputs, guard: false });
  const made: Record<string, Plan> = {};
  for (const [name, parameters] of Object.entries(QUESTIONS)) {
    const { rows, columns, count } = planRead(from, readRequest(parameters), 100_000);
    const outputs = columns.map(({ as, name: called, type }): Output => ({ as, name: called, expr: { kind: 'column', name: as, type } }));
    made[name] = json(rows, outputs);
    if (name === 'text') made[`${name}, counted`] = count;
    if (name === 'first page of everything') made[`${name}, as CSV`] = { kind: 'print', from: rows, format: 'csv', outputs, guard: true };
  }
  const annotated = planRead(
    { ...from, annotations: { files, ...live('annotations') } },
    readRequest({ columns: 'id,annotations', limit: 10 }),
    100_000,
  );
  made['annotations of rows'] = json(
    annotated.rows,
    annotated.columns.map(({ as, name, type }): Output => ({ as, name, expr: { kind: 'column', name: as, type } })),
  );
  const flagged = planRead(
    { ...from, annotations: { files, ...live('annotations') } },
    readRequest({
      columns: 'id,txt',
      filters: JSON.stringify([
        { column: 'annotations', operator: 'has_flag', value: ['outlier', 'needs_review'] },
        { column: 'annotations', operator: 'has_no_flag', value: 'outlier' },
      ]),
    }),
    100_000,
  );
  made['rows by their flags'] = json(
    flagged.rows,
    flagged.columns.map(({ as, name, type }): Output => ({ as, name, expr: { kind: 'column', name: as, type } })),
  );
  const at = { position: 50, total: 120 };
  for (const [name, request] of Object.entries({
    'page after a row': { columns: ['id', 'txt'], seek: { keys: ['2024-01-01T00:00:00.000Z', 'r1'], back: false, ...at } },
    'page before a row, ordered by a number': {
      columns: ['id'],
      orderBy: 'dbl',
      orderDirection: 'DESC' as const,
      filters: [{ column: 'txt', operator: 'equals' as const, value: 'a' }],
      seek: { keys: ['NaN', '2024-01-01T00:00:00.000Z', 'r1'], back: true, ...at },
    },
    'page after a row without a value': { columns: ['id'], orderBy: 'int', seek: { keys: [null, null, 'r1'], back: false, ...at } },
  })) {
    const { rows, columns, keys } = planRead(from, request, 100_000, true);
    const outputs = columns.map(({ as, name: called, type }): Output => ({ as, name: called, expr: { kind: 'column', name: as, type } }));
    made[name] = { kind: 'print', from: rows, format: 'json', outputs, guard: false, keys: keys ?? [] };
  }
  const everything = planRead(from, readRequest({}), null);
  made['first page of everything, with types'] = {
    kind: 'print',
    from: everything.rows,
    format: 'typed',
    outputs: everything.columns.map(({ as, name, type }): Output => ({ as, name, expr: { kind: 'column', name: as, type } })),
    guard: false,
  };
  made['distinct text'] = planDistinct(from, 'txt', 200).rows;
  return made;
};

const written = ({ sql, values }: Statement): string =>
  `${sql}\n\n${values.map(({ value, type }) => `-- ${printType(type)}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`).join('\n')}\n`;

const DIALECTS: readonly Dialect[] = [duckdb, makeDatabricks('s3://field-lake')];
const golden = (name: string, dialect: Dialect) =>
  join(import.meta.dirname, 'goldens', `${name.replaceAll(/[^a-z]+/gi, '-').toLowerCase()}.${dialect.name}.sql`);

describe.each(DIALECTS)('$name', (dialect) => {
  test.each(Object.entries(plans(['rows.parquet'])))('%s', async (name, plan) => {
    await expect(written(compile(plan, dialect))).toMatchFileSnapshot(golden(name, dialect));
  });

  test('an anonymised experiment reads pseudonyms, before any expression of the caller', async () => {
    const plan = plans(['rows.parquet'], true)['contributor by name'];
    const { sql } = compile(plan!, dialect);
    await expect(written(compile(plan!, dialect))).toMatchFileSnapshot(golden('contributor by name, anonymised', dialect));
    expect(sql).not.toContain(dialect.quote('avatar') + ')');
  });
});

test('DuckDB binds every golden', async () => {
  for (const [name, plan] of Object.entries({ ...plans([file]), ...plans([]) })) {
    const { sql, values } = compile(plan, duckdb);
    await expect(lake.warehouse.rows({ sql: `explain ${sql}`, values }), name).resolves.toHaveLength(1);
  }
});

test('only needed columns are read, and filters reach the files', async () => {
  const { sql, values } = compile(planRead(source([file]), readRequest(QUESTIONS['one page, ordered'] ?? {}), 100_000).rows, duckdb);
  const [row] = await lake.warehouse.rows({ sql: `explain ${sql}`, values });
  const text = String(row?.explain_value);
  expect(text).toContain('READ_PARQUET');
  expect(text).toContain('dbl');
  for (const unused of ['json', 'contributor_id', 'clock', 'upload_id']) expect(text).not.toContain(unused);
  const filtered = compile(
    planRead(source([file]), readRequest({ filters: JSON.stringify([{ column: 'dbl', operator: 'in', value: [1, 7] }]) }), 100_000).count,
    duckdb,
  );
  const [pushed] = await lake.warehouse.rows({ sql: `explain ${filtered.sql}`, values: filtered.values });
  expect(String(pushed?.explain_value)).toMatch(/Filters:[\s\S]*dbl/);
});
