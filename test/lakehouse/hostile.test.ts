import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STRING } from '../../src/lakehouse/terms/catalog.ts';
import { compile } from '../../src/lakehouse/compile/compile.ts';
import type { Dialect } from '../../src/lakehouse/terms/dialect.ts';
import { makeDatabricks } from '../../src/lakehouse/compile/dialects/databricks.ts';
import { duckdb } from '../../src/lakehouse/compile/dialects/duckdb.ts';
import { planRead } from '../../src/lakehouse/plan/planner.ts';
import { readRequest } from '../../src/lakehouse/ask/request.ts';
import { EXPERIMENT, Lake, download, page, source, uploaded } from './support.ts';

const HOSTILE = JSON.parse(readFileSync(new URL('../../fixtures/hostile-strings.json', import.meta.url), 'utf8')) as string[];
/** Names that ingestion lets through: 1 to 255 characters, without NUL. */
const NAMES = HOSTILE.filter((text) => text.length <= 255 && !text.includes('\0') && !['id', 'experiment_id'].includes(text));

const quotedPath = (name: string) => `"${name.replaceAll('"', '""')}"`;
const identifiers: Record<Dialect['name'], RegExp> = { duckdb: /"(?:[^"]|"")*"/g, databricks: /`(?:[^`]|``)*`/g };

/** The text with every delimited identifier of these names replaced: what is left is the statement's shape. */
const shape = (sql: string, dialect: Dialect, name: string) =>
  sql.replaceAll(identifiers[dialect.name], (found) => (found === dialect.quote(name) ? '<name>' : found));

const LIVE = { tableId: 't', folder: 'tables/t', version: 3 };

describe.each([duckdb, makeDatabricks('s3://field-lake')])('$name', (dialect) => {
  const textFor = (value: string, alias: string) => {
    const filters = JSON.stringify([
      { column: 'txt', operator: 'equals', value },
      { column: 'txt', operator: 'contains', value },
      { column: 'txt', operator: 'starts_with', value },
      { column: 'txt', operator: 'not_in', value: [value, value] },
    ]);
    const aggregation = JSON.stringify({ groupBy: [{ column: 'txt' }], functions: [{ column: 'int', function: 'sum', alias }] });
    return compile(planRead(source(['f'], { live: LIVE }), readRequest({ filters, aggregation, orderBy: alias }), 100_000).rows, dialect)
      .sql;
  };

  test('the text is the same for every value and alias', () => {
    const expected = textFor('plain', 'plain');
    for (const value of HOSTILE) {
      // an alias holds no NUL and is no column's name
      const alias = value.replaceAll('\0', '_').slice(0, 255);
      expect(textFor(value, alias === 'txt' ? 'other' : alias)).toBe(expected);
    }
  });

  test('a column name changes nothing but its own identifier', () => {
    const textOf = (name: string) => {
      const from = source(['f'], { expanded: [uploaded(name, STRING)], live: LIVE });
      const filters = JSON.stringify([{ column: quotedPath(name), operator: 'contains', value: 'x' }]);
      return shape(
        compile(
          planRead(from, readRequest({ columns: JSON.stringify([quotedPath(name)]), orderBy: quotedPath(name), filters }), 100_000).rows,
          dialect,
        ).sql,
        dialect,
        name,
      );
    };
    const expected = textOf('plain');
    // c0 is our own alias too: the same text, so the shape is compared on the others
    for (const name of NAMES.filter((text) => text !== 'c0')) expect(textOf(name), JSON.stringify(name)).toBe(expected);
  });

  test('names of tables and files are bound, and a key is never seen', () => {
    const textOf = (name: string) => {
      const kept = { ...uploaded('kept', STRING), originalKey: name };
      const from = source([name, `${name}.parquet`], { expanded: [kept], table: { kind: 'upload', identifier: name }, live: LIVE });
      const { rows, count } = planRead(from, readRequest({ columns: 'id,kept', orderBy: 'kept' }), 100_000);
      return [compile(rows, dialect), compile(count, dialect)].map(({ sql }) => sql);
    };
    const expected = textOf('plain');
    for (const name of HOSTILE) expect(textOf(name), JSON.stringify(name)).toEqual(expected);
  });
});

describe('on a real engine', () => {
  let lake: Lake;
  beforeAll(async () => {
    lake = await Lake.open();
  });
  afterAll(() => lake.close());

  test('a value is found as itself, prints as itself, and survives every format of text', async () => {
    const literal = (text: string) => `'${text.replaceAll("'", "''").replaceAll('\0', `' || chr(0) || '`)}'`;
    const rows = HOSTILE.map((text, index) => `select '${String(index).padStart(32, '0')}' as id, ${literal(text)} as txt`).join(
      ' union all ',
    );
    const file = await lake.write(
      `select *, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at from (${rows})`,
    );
    for (const [index, value] of HOSTILE.entries()) {
      const filters = JSON.stringify([{ column: 'txt', operator: 'equals', value }]);
      const { data } = await page(lake.warehouse, source([file]), readRequest({ columns: 'id,txt', filters }));
      const same = HOSTILE.flatMap((other, at) => (other === value ? [{ id: String(at).padStart(32, '0'), txt: value }] : []));
      expect(data.rows, `${index}`).toEqual(same);
    }
    const csv = await download(lake.warehouse, source([file]), { columns: ['txt'] }, { format: 'csv', raw: true });
    expect(
      parseCsv(csv)
        .slice(1)
        .map((row) => row[0]),
    ).toEqual(HOSTILE);
    const lines = await download(lake.warehouse, source([file]), { columns: ['txt'] }, { format: 'ndjson' });
    const printed = lines.split('\n').filter((line) => line !== '');
    expect(printed.map((line) => (JSON.parse(line) as { txt: string }).txt)).toEqual(HOSTILE);
    // so many that the page is streamed
    const whole = await page(lake.warehouse, source([file]), readRequest({ columns: 'txt', limit: 50_000 }));
    expect(whole.data.rows.map(({ txt }) => txt)).toEqual(HOSTILE);
  });

  test('a column is found by its quoted name and is the key of its cell', async () => {
    for (const name of NAMES) {
      const file = await lake.write(
        `select '0' as id, 'v' as "${name.replaceAll('"', '""')}", '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at`,
      );
      const from = source([file], { expanded: [uploaded(name, STRING)] });
      const { data } = await page(lake.warehouse, from, readRequest({ columns: JSON.stringify([quotedPath(name)]) }));
      expect(Object.entries(data.rows[0] ?? {}), JSON.stringify(name)).toEqual([[name, 'v']]);
    }
  });
});

/** RFC 4180, read strictly. */
const parseCsv = (text: string): string[][] => {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\n\r]*))(,|\n|$)/y;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const found = cell.exec(text);
    if (!found) throw new Error(`Not CSV at ${at}: ${JSON.stringify(text.slice(at, at + 40))}`);
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] !== ',') {
      rows.push(row);
      row = [];
    }
  }
  return rows;
};
