/** One read of every kind, named: what goldens print, hostile strings ride on, and engines bind. */
import type { ReadParameters } from '../../src/lakehouse/ask/request.ts';

const filters = (...list: { column: string; operator: string; value?: unknown }[]) => ({ filters: JSON.stringify(list) });
const aggregation = (groupBy: unknown[], functions: unknown[]) => ({ aggregation: JSON.stringify({ groupBy, functions }) });

export const QUESTIONS: Readonly<Record<string, ReadParameters>> = {
  'first page of everything': {},
  'one page, ordered': { columns: 'id,dbl,txt', orderBy: 'dbl', orderDirection: 'DESC', page: 3, pageSize: 50 },
  'one page, ordered by text that many rows share': {
    orderBy: 'txt',
    pageSize: 50,
    ...filters({ column: 'dbl', operator: 'less_than', value: 1 }),
  },
  'contributor by name': {
    columns: 'contributor.name,int',
    orderBy: 'contributor.name',
    limit: 10,
    ...filters({ column: 'contributor.id', operator: 'equals', value: 'u1' }),
  },
  'contributor only shown': { columns: 'contributor,int', limit: 10 },
  'equals of every type': filters(
    { column: 'bool', operator: 'equals', value: true },
    { column: 'int', operator: 'equals', value: 1 },
    { column: 'big', operator: 'equals', value: '9007199254740993' },
    { column: 'dec', operator: 'equals', value: 1.25 },
    { column: 'dbl', operator: 'equals', value: 0.1 },
    { column: 'txt', operator: 'equals', value: 'a' },
    { column: 'day', operator: 'equals', value: '2024-03-31' },
    { column: 'at', operator: 'equals', value: '2024-03-31T01:00:00+01:00' },
    { column: 'clock', operator: 'equals', value: '2024-03-31T01:00:00' },
  ),
  'not equals keeps nulls': filters(
    { column: 'txt', operator: 'not_equals', value: 'a' },
    { column: 'int', operator: 'not_in', value: [1, 2] },
  ),
  ranges: filters(
    { column: 'int', operator: 'between', value: [1, 2.5] },
    { column: 'dbl', operator: 'greater_than', value: 1 },
    { column: 'at', operator: 'less_than_or_equal', value: '2024-03-31' },
    { column: 'dec', operator: 'less_than', value: '12.5' },
    { column: 'day', operator: 'greater_than_or_equal', value: '2024-01-01' },
  ),
  text: filters(
    { column: 'txt', operator: 'contains', value: '50%_' },
    { column: 'txt', operator: 'starts_with', value: 'a' },
    { column: 'txt', operator: 'in', value: ['a', 'b'] },
  ),
  'empty text': filters({ column: 'txt', operator: 'equals', value: '' }),
  'members of documents': {
    columns: 'id,json.phi2,json."a.b".c::double',
    orderBy: 'json.phi2',
    limit: 10,
    ...filters(
      { column: 'json.phi2', operator: 'greater_than', value: 0.5 },
      { column: 'json.ok', operator: 'equals', value: true },
      { column: 'json.name', operator: 'starts_with', value: 'a' },
      { column: 'json.count::double', operator: 'is_not_null' },
    ),
  },
  'groups by members of documents': aggregation(
    [{ column: 'json.name' }],
    [
      { column: 'json.phi2', function: 'avg' },
      { column: 'json.phi2', function: 'max' },
      { column: 'json.phi2::double', function: 'max' },
    ],
  ),
  missing: filters({ column: 'json', operator: 'is_null' }, { column: 'contributor', operator: 'is_not_null' }),
  'every aggregate': aggregation(
    [{ column: 'txt' }],
    [
      { column: '*', function: 'count' },
      ...['count', 'count_distinct', 'min', 'max', 'first', 'last'].map((name) => ({ column: 'at', function: name })),
      ...['sum', 'avg', 'std', 'var', 'sem', 'ci95', 'median', 'p05', 'p95'].map((name) => ({ column: 'int', function: name })),
      { column: 'dec', function: 'sum' },
      { column: 'dbl', function: 'corr', secondColumn: 'int' },
    ],
  ),
  'aggregate without groups': { ...aggregation([], [{ column: 'dbl', function: 'avg', alias: 'mean' }]), orderBy: 'mean' },
  'hour buckets in UTC': {
    ...aggregation([{ column: 'at', timeBucket: 'hour' }], [{ column: 'dbl', function: 'avg' }]),
    orderDirection: 'DESC',
    limit: 24,
  },
  'hour buckets in a zone': aggregation(
    [{ column: 'at', timeBucket: 'hour', timezone: 'Europe/Amsterdam' }],
    [{ column: '*', function: 'count' }],
  ),
  'day buckets in a zone': aggregation(
    [{ column: 'at', timeBucket: 'day', timezone: 'America/Havana' }],
    [{ column: '*', function: 'count' }],
  ),
  'buckets without a zone': aggregation(
    [
      { column: 'day', timeBucket: 'week' },
      { column: 'clock', timeBucket: 'quarter' },
    ],
    [{ column: '*', function: 'count' }],
  ),
  'running total per group': aggregation(
    [{ column: 'day', timeBucket: 'month' }, { column: 'txt' }],
    [
      { column: 'int', function: 'cumsum' },
      { column: '*', function: 'cumsum' },
    ],
  ),
  'running total of every row': {
    ...aggregation([], [{ column: 'dec', function: 'cumsum' }]),
    columns: 'id,dec',
    orderBy: 'at',
    orderDirection: 'DESC',
    limit: 5,
  },
  'groups only': aggregation([{ column: 'bool' }, { column: 'contributor.name' }], []),
};
