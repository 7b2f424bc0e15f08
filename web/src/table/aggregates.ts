/** What the API computes over a group. */
export const FUNCTIONS = [
  'avg',
  'count',
  'sum',
  'min',
  'max',
  'median',
  'std',
  'var',
  'sem',
  'ci95',
  'p05',
  'p95',
  'first',
  'last',
  'cumsum',
  'count_distinct',
] as const;

export const BUCKETS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
