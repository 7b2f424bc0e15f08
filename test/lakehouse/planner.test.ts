import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { planDistinct, planRead } from '../../src/lakehouse/plan/planner.ts';
import { MAX_LIMIT, readRequest } from '../../src/lakehouse/ask/request.ts';
import type { ReadParameters } from '../../src/lakehouse/ask/request.ts';
import { parsePath } from '../../src/lakehouse/ask/resolve.ts';
import { STRING, listFixedColumns } from '../../src/lakehouse/terms/catalog.ts';
import { parseType, printType } from '../../src/lakehouse/terms/types.ts';
import { findNearNames } from '../../src/lakehouse/terms/near.ts';
import { source, TYPED_COLUMNS, uploaded } from './support.ts';

const plan = (parameters: ReadParameters) => planRead(source([]), readRequest(parameters), MAX_LIMIT);
const filters = (...list: unknown[]): ReadParameters => ({ filters: JSON.stringify(list) });
const aggregation = (functions: unknown[], groupBy: unknown[] = []): ReadParameters => ({
  aggregation: JSON.stringify({ groupBy, functions }),
});

const refused = (parameters: ReadParameters): ApiError => {
  try {
    plan(parameters);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
};
const said = (error: ApiError) =>
  `${error.message} ${(error.details.problems ?? []).map((problem) => `${problem.path}: ${problem.message}`).join(' ')}`;

type Case = [string, ReadParameters, ReadParameters, string];
const CASES: readonly Case[] = [
  ['unknown column', { columns: 'int' }, { columns: 'imt' }, "'int'"],
  ['a hidden column', { columns: 'id' }, { columns: 'experiment_id' }, "no column 'experiment_id'"],
  ['unknown order', { orderBy: 'txt' }, { orderBy: 'tx' }, "'txt'"],
  ['unknown field', { columns: 'contributor.name' }, { columns: 'contributor.nam' }, "'name'"],
  ['a field of a number', { columns: 'int' }, { columns: 'int.x' }, 'INT'],
  ['order by a struct', { orderBy: 'contributor.name' }, { orderBy: 'contributor' }, 'name a field'],
  ['direction', { orderBy: 'int', orderDirection: 'desc' }, { orderBy: 'int', orderDirection: 'down' }, 'ASC or DESC'],
  [
    'text against a number',
    filters({ column: 'int', operator: 'equals', value: 1 }),
    filters({ column: 'int', operator: 'equals', value: 'one' }),
    "column 'int': the value must be a number",
  ],
  [
    'a number against text',
    filters({ column: 'txt', operator: 'equals', value: '1' }),
    filters({ column: 'txt', operator: 'equals', value: 1 }),
    'must be text',
  ],
  [
    'no date',
    filters({ column: 'day', operator: 'equals', value: '2024-02-29' }),
    filters({ column: 'day', operator: 'equals', value: '2023-02-29' }),
    'a date such as',
  ],
  [
    'a zone against a local time',
    filters({ column: 'clock', operator: 'equals', value: '2024-01-01T00:00:00' }),
    filters({ column: 'clock', operator: 'equals', value: '2024-01-01T00:00:00Z' }),
    'without offset',
  ],
  [
    'an empty value',
    filters({ column: 'txt', operator: 'contains', value: 'a' }),
    filters({ column: 'txt', operator: 'contains', value: '' }),
    'empty',
  ],
  [
    'an empty list',
    filters({ column: 'txt', operator: 'in', value: ['a'] }),
    filters({ column: 'txt', operator: 'in', value: [] }),
    'empty',
  ],
  [
    'one bound',
    filters({ column: 'int', operator: 'between', value: [1, 2] }),
    filters({ column: 'int', operator: 'between', value: [1] }),
    'exactly two',
  ],
  [
    'contains on a number',
    filters({ column: 'txt', operator: 'contains', value: '1' }),
    filters({ column: 'int', operator: 'contains', value: '1' }),
    'text columns only',
  ],
  [
    'order of truths',
    filters({ column: 'bool', operator: 'equals', value: true }),
    filters({ column: 'bool', operator: 'greater_than', value: true }),
    'no order',
  ],
  [
    'compared JSON',
    filters({ column: 'json', operator: 'is_null' }),
    filters({ column: 'json', operator: 'equals', value: 'a' }),
    'is_null',
  ],
  [
    'a value for is_null',
    filters({ column: 'int', operator: 'is_null' }),
    filters({ column: 'int', operator: 'is_null', value: 1 }),
    'takes no value',
  ],
  [
    'unknown operator',
    filters({ column: 'int', operator: 'in', value: [1] }),
    filters({ column: 'int', operator: 'inn', value: [1] }),
    'Must be one of',
  ],
  [
    'unknown key',
    filters({ column: 'int', operator: 'equals', value: 1 }),
    filters({ colum: 'int', column: 'int', operator: 'equals', value: 1 }),
    "'column'",
  ],
  ['broken JSON', { filters: '[]' }, { filters: '[' }, 'not valid JSON'],
  [
    'too many filters',
    filters(...Array.from({ length: 100 }, () => ({ column: 'int', operator: 'is_null' }))),
    filters(...Array.from({ length: 101 }, () => ({ column: 'int', operator: 'is_null' }))),
    '?filters',
  ],
  [
    'too many values',
    filters({ column: 'int', operator: 'in', value: Array(1000).fill(1) }),
    filters({ column: 'int', operator: 'in', value: Array(1001).fill(1) }),
    '1000',
  ],
  ['deep JSON', { filters: '[]' }, { filters: '['.repeat(200) + ']'.repeat(200) }, '?filters'],
  ['long text', { filters: `[]${' '.repeat(1000)}` }, { filters: `[]${' '.repeat(300_000)}` }, 'longer'],
  ['sum of text', aggregation([{ column: 'int', function: 'sum' }]), aggregation([{ column: 'txt', function: 'sum' }]), 'numeric'],
  ['sum of *', aggregation([{ column: '*', function: 'count' }]), aggregation([{ column: '*', function: 'sum' }]), 'only be counted'],
  [
    'corr of one',
    aggregation([{ column: 'int', function: 'corr', secondColumn: 'dbl' }]),
    aggregation([{ column: 'int', function: 'corr' }]),
    'secondColumn',
  ],
  [
    'second column elsewhere',
    aggregation([{ column: 'int', function: 'sum' }]),
    aggregation([{ column: 'int', function: 'sum', secondColumn: 'dbl' }]),
    'corr only',
  ],
  [
    'two outputs of one name',
    aggregation([{ column: 'int', function: 'sum' }]),
    aggregation([
      { column: 'int', function: 'sum' },
      { column: 'dbl', function: 'sum', alias: 'int_sum' },
    ]),
    'alias',
  ],
  [
    'an alias with NUL',
    aggregation([{ column: 'int', function: 'sum', alias: 'a' }]),
    aggregation([{ column: 'int', function: 'sum', alias: 'a\0' }]),
    'NUL',
  ],
  [
    'buckets of text',
    aggregation([], [{ column: 'at', timeBucket: 'day' }]),
    aggregation([], [{ column: 'txt', timeBucket: 'day' }]),
    'date or time',
  ],
  [
    'unknown zone',
    aggregation([], [{ column: 'at', timeBucket: 'day', timezone: 'Europe/Amsterdam' }]),
    aggregation([], [{ column: 'at', timeBucket: 'day', timezone: 'Europe/Atlantis' }]),
    'IANA',
  ],
  [
    'an offset as zone',
    aggregation([], [{ column: 'at', timeBucket: 'day', timezone: 'UTC' }]),
    aggregation([], [{ column: 'at', timeBucket: 'day', timezone: '+01:00' }]),
    'IANA',
  ],
  ['group by JSON', aggregation([], [{ column: 'txt' }]), aggregation([], [{ column: 'json' }]), 'Cannot group'],
  [
    'order by what is not in the answer',
    { ...aggregation([{ column: 'int', function: 'sum' }]), orderBy: 'int_sum' },
    { ...aggregation([{ column: 'int', function: 'sum' }]), orderBy: 'int' },
    "'int_sum'",
  ],
  [
    'cumsum beside a sum',
    aggregation([{ column: 'int', function: 'cumsum' }]),
    aggregation([
      { column: 'int', function: 'cumsum' },
      { column: 'int', function: 'sum' },
    ]),
    'groupBy',
  ],
  [
    'names where objects stand',
    aggregation([{ column: 'int', function: 'sum' }], [{ column: 'txt' }]),
    { aggregation: '{"groupBy":["txt"],"functions":[{"column":"int","function":"sum"}]}' },
    '?aggregation/groupBy/0: Must be an object, such as {"column": "plot"}.',
  ],
  [
    'a function as text',
    aggregation([{ column: 'int', function: 'sum' }]),
    { aggregation: '{"functions":["sum(int)"]}' },
    '?aggregation/functions/0: Must be an object, such as {"column": "spad", "function": "avg"}.',
  ],
  [
    'a list of functions as an object',
    aggregation([{ column: 'int', function: 'sum' }]),
    { aggregation: '{"functions":{"int":"sum"}}' },
    '?aggregation/functions: Must be an array.',
  ],
  [
    'text as an aggregation',
    aggregation([{ column: 'int', function: 'sum' }]),
    { aggregation: '"sum(int)"' },
    '?aggregation: Must be an object, such as {"groupBy"',
  ],
  [
    'a filter without a column',
    filters({ column: 'int', operator: 'equals', value: 1 }),
    { filters: '[{"operator":"equals","value":1}]' },
    '?filters/0/column: Is missing.',
  ],
  [
    'a filter as text',
    filters({ column: 'int', operator: 'equals', value: 1 }),
    { filters: '["int = 1"]' },
    '?filters/0: Must be an object, such as {"column": "plot", "operator": "equals", "value": 7}.',
  ],
  [
    'a number as a column',
    filters({ column: 'int', operator: 'equals', value: 1 }),
    { filters: '[{"column":1,"operator":"equals","value":1}]' },
    '?filters/0/column: Must be text.',
  ],
  ['page 0', { page: 1 }, { page: 0 }, '?page'],
  ['limit', { limit: 100_000 }, { limit: 100_001 }, '?limit'],
];

describe('a refusal names the place, and the same request without the fault goes through', () => {
  test.each(CASES)('%s', (_name, good, bad, expected) => {
    expect(() => plan(good)).not.toThrow();
    const error = refused(bad);
    expect(error.status).toBe(400);
    expect(said(error)).toContain(expected);
    expect(said(error).length).toBeLessThan(4000);
    expect(error.details.problems?.length).toBeLessThanOrEqual(20);
  });
});

test('how much an answer holds follows the window that was asked', () => {
  expect(plan({}).window).toEqual({ kind: 'page', page: 1, pageSize: 100, peek: false });
  expect(plan({ page: 2, limit: 5 }).window).toEqual({ kind: 'page', page: 2, pageSize: 100, peek: false });
  expect(plan({ limit: 5 }).window).toEqual({ kind: 'limit', limit: 5, peek: true });
  expect(plan({ ...aggregation([{ column: '*', function: 'count' }]) }).window).toEqual({ kind: 'limit', limit: MAX_LIMIT, peek: true });
  expect(planRead(source([]), {}, null).window).toEqual({ kind: 'limit', limit: null, peek: false });
});

test('columns are separated by commas outside quotes', () => {
  const from = source([], {
    expanded: [uploaded('a.b', STRING), uploaded('a,b', STRING), uploaded('say "x"', STRING), uploaded('plain', STRING)],
  });
  const names = (columns: string) => planRead(from, readRequest({ columns }), null).columns.map((column) => column.name);
  expect(names('plain, contributor.name')).toEqual(['plain', 'contributor.name']);
  expect(names('"a.b",`a,b`')).toEqual(['a.b', 'a,b']);
  expect(names('a.b')).toEqual(['a.b']);
  expect(names('["say \\"x\\"", "\\"a,b\\""]')).toEqual(['say "x"', 'a,b']);
  expect(names('plain,plain')).toEqual(['plain']);
  expect(parsePath('a."b.c".d')).toEqual(['a', 'b.c', 'd']);
  expect(parsePath('a.')).toBeNull();
});

test('a name that looks like a field of a struct that has none of it is a column', () => {
  const from = source([], { expanded: [uploaded('contributor.age', STRING), uploaded('contributor.name', STRING)] });
  const read = (columns: string) => planRead(from, readRequest({ columns }), null).columns;
  expect(read('contributor.age')).toMatchObject([{ name: 'contributor.age' }]);
  expect(() => read('contributor.weight')).toThrow();
  expect(JSON.stringify(planRead(from, readRequest({ columns: 'contributor.name' }), null).rows)).toContain('"kind":"field"');
  expect(JSON.stringify(planRead(from, readRequest({ columns: '"contributor.name"' }), null).rows)).not.toContain('"kind":"field"');
});

test('numbers that a double cannot hold keep their digits', () => {
  const from = planRead(
    source([]),
    readRequest({ filters: '[{"column":"big","operator":"equals","value":9007199254740993}]' }),
    null,
  ).count;
  expect(JSON.stringify(from, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))).toContain('9007199254740993n');
});

test('type text is read back as it was written', () => {
  for (const { type } of [...listFixedColumns('raw_data'), ...TYPED_COLUMNS]) expect(parseType(printType(type))).toEqual(type);
  expect(printType(parseType('struct<`a b`:int,c:array<decimal(10, 2)>>'))).toBe('STRUCT<`a b`: INT, c: ARRAY<DECIMAL(10,2)>>');
  expect(() => parseType('NOTHING')).toThrow('Not a column type');
});

test('near matches are few and near', () => {
  expect(findNearNames('temprature', ['temperature', 'time', 'id'])).toEqual(['temperature']);
  expect(findNearNames('TXT', ['txt', 'text'])).toEqual(['txt', 'text']);
  expect(findNearNames('x'.repeat(100_000), ['x'])).toEqual([]);
});

test('distinct values are of a comparable column', () => {
  expect(planDistinct(source([]), 'txt', 10).type).toEqual(STRING);
  expect(() => planDistinct(source([]), 'contributor', 10)).toThrow('name a field');
});

test('the first rows by the table’s own time are asked of its files from that end', () => {
  const made = source(['newest', 'between', 'oldest']);
  const read = (parameters: ReadParameters) => {
    const { rows } = planRead(made, readRequest(parameters), MAX_LIMIT);
    return /"files":(\[[^\]]*\])/.exec(JSON.stringify(rows))?.[1];
  };
  const own = made.table.kind === 'raw_data' ? 'timestamp' : 'uploaded_at';
  expect(read({ orderBy: own, orderDirection: 'DESC' })).toBe('["newest","between","oldest"]');
  expect(read({ orderBy: own, ...filters({ column: 'int', operator: 'equals', value: 1 }) })).toBe('["oldest","between","newest"]');
  expect(read({ orderBy: 'int' })).toBe('["newest","between","oldest"]');
});
