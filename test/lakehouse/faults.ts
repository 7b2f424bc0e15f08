/** Mistakes that a planner or a dialect could make, seeded into the statement on its way to the engine. */
import type { Readable } from 'node:stream';
import type { RunOptions, Staged, Statement, StreamFormat, Warehouse } from '../../src/lakehouse/warehouse.ts';
import { ZONES } from './oracle/data.ts';

export type Patch = (statement: Statement) => Statement;

const text =
  (from: string | RegExp, to: string): Patch =>
  ({ sql, values }) => ({ sql: typeof from === 'string' ? sql.replaceAll(from, () => to) : sql.replace(from, to), values });

/** Changes the number bound after a keyword. */
const number =
  (keyword: string, change: (value: bigint) => bigint): Patch =>
  ({ sql, values }) => {
    const at = sql.indexOf(`${keyword} ?`);
    if (at < 0) return { sql, values };
    const index = sql.slice(0, at).split('?').length - 1;
    return { sql, values: values.map((bound, place) => (place === index ? { ...bound, value: change(bound.value as bigint) } : bound)) };
  };

const less = (value: bigint) => (value > 0n ? value - 1n : value);

export const FAULTS: Readonly<Record<string, Patch>> = {
  'differs loses nulls': text('is distinct from', '<>'),
  'not in loses nulls': text(/\("[^"]+" is null or ("[^"]+" not in)/g, '($1'),
  'nulls first': text(' nulls last', ' nulls first'),
  'nulls first when descending': text('desc nulls last', 'desc nulls first'),
  'wildcards in contains': text(/contains\(("[^"]+"), (cast\(\? as varchar\))\)/g, `($1 like '%' || $2 || '%')`),
  'wildcards in starts_with': text(/starts_with\(("[^"]+"), (cast\(\? as varchar\))\)/g, `($1 like $2 || '%')`),
  'contains without case': text(/contains\(("[^"]+"), (cast\(\? as varchar\))\)/g, 'contains(lower($1), lower($2))'),
  'starts_with anywhere': text('starts_with(', 'contains('),
  'one row too few': number('limit', less),
  'a page too late by one': number('offset', (value) => value + 1n),
  'a page too early by one': number('offset', less),
  'at least is more than': text(/(where|\()("[^"]+") >= cast/g, '$1$2 > cast'),
  'at most is less than': text(/("[^"]+") <= cast/g, '$1 < cast'),
  'less is at most': text(/("[^"]+") < cast/g, '$1 <= cast'),
  'NaN is not the greatest': text(/("dbl") > cast/g, 'isfinite($1) and $1 > cast'),
  'times to the second': text(/(<=|>=|=|<|>) cast\(\? as timestamptz\)/g, `$1 date_trunc('second', cast(? as timestamptz))`),
  'text ordered without case': text(/order by "txt" (asc|desc)/g, 'order by lower("txt") $1'),
  'no row id in the order': text(/, "id" asc nulls last/g, ''),
  'row id descending': text(/, "id" asc nulls last(?=\n)/g, ', "id" desc nulls last'),
  'population deviation': text('stddev_samp', 'stddev_pop'),
  'population variance': text('var_samp', 'var_pop'),
  'discrete percentiles': text('quantile_cont', 'quantile_disc'),
  'the wrong percentile': text('0.95)', '0.9)'),
  'whole averages': text(/avg\("(int|big)"\)/g, 'floor(avg("$1"))'),
  'distinct forgotten': text('count(distinct ', 'count('),
  'nulls counted': text(/count\("[a-z]+"\)/g, 'count(*)'),
  'sums through doubles': text(/sum\("big"\)/g, 'sum(cast("big" as double))'),
  'first in the wrong order': text(/(first\([^)]*?"uploaded_at") asc/g, '$1 desc'),
  'first may be null': text(/ filter \(where "[a-z]+" is not null\)/g, ''),
  'covariance for correlation': text(/ corr\(/g, ' covar_samp('),
  'running totals across groups': text(/over \(partition by [^()]*? order by/g, 'over (order by'),
  'running totals backwards': text(/(over \((?:partition by [^()]*? )?order by "[a-z0-9]+") asc/g, '$1 desc'),
  'zone forgotten': ({ sql, values }) => ({
    sql,
    values: values.map((bound) => ((ZONES as readonly unknown[]).includes(bound.value) ? { ...bound, value: 'UTC' } : bound)),
  }),
  'repeated hours folded': text(
    /make_timestamptz\(epoch_us\(make_timestamp\(epoch_us\("at"\)\) - \(timezone\(\?, "at"\) - date_trunc\('(hour)', timezone\(\?, "at"\)\)\)\)\)/g,
    `timezone(?, date_trunc('$1', timezone(?, "at")))`,
  ),
  'a repeated midnight begins the day late': text(' - interval 1 hour', ' - interval 0 hour'),
  'weeks from Sunday': text(/date_trunc\('week', ("day")\)/g, `(date_trunc('week', $1 + 1) - interval 1 day)`),
  'quarters are months': text(`date_trunc('quarter'`, `date_trunc('month'`),
  'big integers as numbers': text('between -9007199254740992 and 9007199254740992', 'between -9007199254740999999 and 9007199254740999999'),
  '2^53 as text': text('between -9007199254740992 and 9007199254740992', 'between -9007199254740991 and 9007199254740991'),
  'microseconds cut': text('.%f', '.%g'),
  'other experiments shown': text('where "experiment_id" = cast(? as varchar)', 'where cast(? as varchar) is not null'),
  'names instead of pseudonyms': text('"pseudonym" as "pseudonym"', '"name" as "pseudonym"'),
  'rows without a contributor lost': text('left join', 'join'),
  'a count that stops': text(/^select count\(\*\) as "c0"/g, 'select least(count(*), 7) as "c0"'),
};

/** A warehouse whose statements are patched on the way. */
export class FaultyWarehouse implements Warehouse {
  readonly name = 'duckdb';
  readonly #inner: Warehouse;
  readonly #patch: Patch;

  constructor(inner: Warehouse, patch: Patch) {
    this.#inner = inner;
    this.#patch = patch;
  }

  get dialect() {
    return this.#inner.dialect;
  }
  get running() {
    return this.#inner.running;
  }
  rows(statement: Statement, options?: RunOptions): Promise<Record<string, unknown>[]> {
    return this.#inner.rows(this.#patch(statement), options);
  }
  stream(statement: Statement, format: StreamFormat, options?: RunOptions): Promise<Readable> {
    return this.#inner.stream(this.#patch(statement), format, options);
  }
  stage(): Promise<Staged> {
    throw new Error('Reads only.');
  }
  async close(): Promise<void> {
    await this.#inner.close();
  }
}
