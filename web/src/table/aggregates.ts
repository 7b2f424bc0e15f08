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
  'corr',
] as const;

/** Functions that need one column only, and can be offered with it. */
export const OF_ONE_COLUMN = FUNCTIONS.filter((name) => name !== 'corr');

export const BUCKETS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

/** Columns that rows are grouped by, and what is computed of each group, at most. */
export const MOST_GROUPS = 20;
export const MOST_COMPUTED = 100;
