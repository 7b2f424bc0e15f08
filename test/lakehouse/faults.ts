/** Mistakes that a planner or a dialect could make, seeded into the statement on its way to the engine. */
import type { Readable } from 'node:stream';
import type {
  NamedType,
  RunOptions,
  Staged,
  Statement,
  StreamFormat,
  TypedFormat,
  TypedOptions,
  Warehouse,
} from '../../src/lakehouse/terms/warehouse.ts';
import { ZONES } from './oracle/data.ts';

export type Patch = (statement: Statement) => Statement;

export const patchText =
  (from: string | RegExp, to: string): Patch =>
  ({ sql, values }) => ({ sql: typeof from === 'string' ? sql.replaceAll(from, () => to) : sql.replace(from, to), values });

/** Changes the number bound after a keyword. */
export const changeBound =
  (keyword: string, change: (value: bigint) => bigint): Patch =>
  ({ sql, values }) => {
    const at = sql.indexOf(`${keyword} ?`);
    if (at < 0) return { sql, values };
    const index = sql.slice(0, at).split('?').length - 1;
    return { sql, values: values.map((bound, place) => (place === index ? { ...bound, value: change(bound.value as bigint) } : bound)) };
  };

const less = (value: bigint) => (value > 0n ? value - 1n : value);

/** Changes text among the values. */
export const changeText =
  (from: string, to: string): Patch =>
  ({ sql, values }) => ({ sql, values: values.map((bound) => (bound.value === from ? { ...bound, value: to } : bound)) });

export const FAULTS: Readonly<Record<string, Patch>> = {
  'differs loses nulls': patchText('is distinct from', '<>'),
  'not in loses nulls': patchText(/\("[^"]+" is null or ("[^"]+" not in)/g, '($1'),
  'nulls first': patchText(' nulls last', ' nulls first'),
  'nulls first when descending': patchText('desc nulls last', 'desc nulls first'),
  'wildcards in contains': patchText(/contains\(("[^"]+"), (cast\(\? as varchar\))\)/g, `($1 like '%' || $2 || '%')`),
  'wildcards in starts_with': patchText(/starts_with\(("[^"]+"), (cast\(\? as varchar\))\)/g, `($1 like $2 || '%')`),
  'contains without case': patchText(/contains\(("[^"]+"), (cast\(\? as varchar\))\)/g, 'contains(lower($1), lower($2))'),
  'starts_with anywhere': patchText('starts_with(', 'contains('),
  'one row too few': changeBound('limit', less),
  'a page too late by one': changeBound('offset', (value) => value + 1n),
  'a page too early by one': changeBound('offset', less),
  'at least is more than': patchText(/(where|\()("[^"]+") >= cast/g, '$1$2 > cast'),
  'at most is less than': patchText(/("[^"]+") <= cast/g, '$1 < cast'),
  'less is at most': patchText(/("[^"]+") < cast/g, '$1 <= cast'),
  'NaN is not the greatest': patchText(/("dbl") > cast/g, 'isfinite($1) and $1 > cast'),
  'times to the second': patchText(/(<=|>=|=|<|>) cast\(\? as timestamptz\)/g, `$1 date_trunc('second', cast(? as timestamptz))`),
  'text ordered without case': patchText(/order by "txt" (asc|desc)/g, 'order by lower("txt") $1'),
  'no row id in the order': patchText(/, "id" asc nulls last/g, ''),
  'row id descending': patchText(/, "id" asc nulls last(?=\n)/g, ', "id" desc nulls last'),
  'population deviation': patchText('stddev_samp', 'stddev_pop'),
  'population variance': patchText('var_samp', 'var_pop'),
  'discrete percentiles': patchText('quantile_cont', 'quantile_disc'),
  'the wrong percentile': patchText('0.95)', '0.9)'),
  'whole averages': patchText(/avg\("(int|big)"\)/g, 'floor(avg("$1"))'),
  'distinct forgotten': patchText('count(distinct ', 'count('),
  'nulls counted': patchText(/count\("[a-z]+"\)/g, 'count(*)'),
  'sums through doubles': patchText(/sum\("big"\)/g, 'sum(cast("big" as double))'),
  'first in the wrong order': patchText(/(first\([^)]*?"uploaded_at") asc/g, '$1 desc'),
  'first may be null': patchText(/ filter \(where "[a-z]+" is not null\)/g, ''),
  'covariance for correlation': patchText(/ corr\(/g, ' covar_samp('),
  'running totals across groups': patchText(/over \(partition by [^()]*? order by/g, 'over (order by'),
  'running totals backwards': patchText(/(over \((?:partition by [^()]*? )?order by "[a-z0-9]+") asc/g, '$1 desc'),
  'zone forgotten': ({ sql, values }) => ({
    sql,
    values: values.map((bound) => ((ZONES as readonly unknown[]).includes(bound.value) ? { ...bound, value: 'UTC' } : bound)),
  }),
  'repeated hours folded': patchText(
    /make_timestamptz\(epoch_us\(make_timestamp\(epoch_us\("at"\)\) - \(timezone\(\?, "at"\) - date_trunc\('(hour)', timezone\(\?, "at"\)\)\)\)\)/g,
    `timezone(?, date_trunc('$1', timezone(?, "at")))`,
  ),
  'a repeated midnight begins the day late': patchText(' - interval 1 hour', ' - interval 0 hour'),
  'weeks from Sunday': patchText(/date_trunc\('week', ("day")\)/g, `(date_trunc('week', $1 + 1) - interval 1 day)`),
  'quarters are months': patchText(`date_trunc('quarter'`, `date_trunc('month'`),
  'big integers as numbers': patchText(
    'between -9007199254740992 and 9007199254740992',
    'between -9007199254740999999 and 9007199254740999999',
  ),
  '2^53 as text': patchText('between -9007199254740992 and 9007199254740992', 'between -9007199254740991 and 9007199254740991'),
  'minus zero': patchText(' + 0 as varchar)', ' as varchar)'),
  'microseconds cut': patchText('.%f', '.%g'),
  'other experiments shown': patchText('where "experiment_id" = cast(? as varchar)', 'where cast(? as varchar) is not null'),
  'names instead of pseudonyms': patchText('"pseudonym" as "pseudonym"', '"name" as "pseudonym"'),
  'rows without a contributor lost': patchText('left join', 'join'),
  'a key with a dot is two keys': changeText('$."t.x"', '$."t"."x"'),
  'members of any key': changeText('$."deep"."b"', '$."deep".*'),
  'text is a truth value': changeText('^(true|false)$', '^(true|false|-?[0-9]+)$'),
  'a count that stops': patchText(/^select count\(\*\) as "c0"/g, 'select least(count(*), 7) as "c0"'),
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
  typed(statement: Statement, format: TypedFormat, columns: readonly NamedType[], options?: TypedOptions): Promise<Readable> {
    return this.#inner.typed(this.#patch(statement), format, columns, options);
  }
  stage(): Promise<Staged> {
    throw new Error('Reads only.');
  }
  async close(): Promise<void> {
    await this.#inner.close();
  }
}
