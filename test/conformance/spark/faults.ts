/** The mistakes of `test/lakehouse/faults.ts` as the Databricks dialect could make them, and some that only it could make. */
import { changeBound, changeText, patchText } from '../../lakehouse/faults.ts';
import type { Patch } from '../../lakehouse/faults.ts';
import { ZONES } from '../../lakehouse/oracle/data.ts';

const less = (value: bigint) => (value > 0n ? value - 1n : value);
const EPOCH = "timestamp_ntz'1970-01-01 00:00:00'";
/** What clocks in the zone show at `at`. */
const LOCAL = `convert_timezone('UTC', ?, timestampadd(MICROSECOND, unix_micros(\`at\`), ${EPOCH}))`;

export const FAULTS: Readonly<Record<string, Patch>> = {
  'differs loses nulls': patchText(' <=> ', ' = '),
  'not in loses nulls': patchText(/\(`[^`]+` is null or (`[^`]+` not in)/g, '($1'),
  'nulls first': patchText(' nulls last', ' nulls first'),
  'nulls first when descending': patchText('desc nulls last', 'desc nulls first'),
  'wildcards in contains': patchText(/contains\((`[^`]+`), (cast\(\? as STRING\))\)/g, `($1 like concat('%', $2, '%'))`),
  'wildcards in starts_with': patchText(/startswith\((`[^`]+`), (cast\(\? as STRING\))\)/g, `($1 like concat($2, '%'))`),
  'contains without case': patchText(/contains\((`[^`]+`), (cast\(\? as STRING\))\)/g, 'contains(lower($1), lower($2))'),
  'starts_with anywhere': patchText('startswith(', 'contains('),
  'one row too few': changeBound('limit', less),
  'a page too late by one': changeBound('offset', (value) => value + 1n),
  'a page too early by one': changeBound('offset', less),
  'at least is more than': patchText(/(where|\()(`[^`]+`) >= cast/g, '$1$2 > cast'),
  'at most is less than': patchText(/(`[^`]+`) <= cast/g, '$1 < cast'),
  'less is at most': patchText(/(`[^`]+`) < cast/g, '$1 <= cast'),
  'NaN is not the greatest': patchText(/(`dbl`) > cast/g, `not isnan($1) and $1 > cast`),
  'times to the second': patchText(/(<=|>=|=|<|>) cast\(\? as TIMESTAMP\)/g, `$1 date_trunc('SECOND', cast(? as TIMESTAMP))`),
  'text ordered without case': patchText(/order by (`txt`|`note`) (asc|desc)/g, 'order by lower($1) $2'),
  'no row id in the order': patchText(/, `id` asc nulls last/g, ''),
  'row id descending': patchText(/, `id` asc nulls last(?=\n)/g, ', `id` desc nulls last'),
  'population deviation': patchText('stddev_samp', 'stddev_pop'),
  'population variance': patchText('var_samp', 'var_pop'),
  'discrete percentiles': patchText(
    /percentile\((cast\(`[^`]+` as DOUBLE\)), ([0-9.]+)\)/g,
    'percentile_disc($2) within group (order by $1)',
  ),
  'the wrong percentile': patchText(', 0.95)', ', 0.9)'),
  'whole averages': patchText(
    /(cast\(sum\(cast\(`(?:int|big)` as DECIMAL\(38,0\)\)\) as DOUBLE\) \/ nullif\(count\(`(?:int|big)`\), 0\))/g,
    'floor($1)',
  ),
  'distinct forgotten': patchText('count(distinct ', 'count('),
  'nulls counted': patchText(/count\(`[a-z]+`\)/g, 'count(*)'),
  'sums through doubles': patchText('sum(cast(`big` as DECIMAL(38,0)))', 'sum(cast(`big` as DOUBLE))'),
  'first in the wrong order': patchText('min_by(', 'max_by('),
  'first may be null': patchText(/ filter \(where `[a-z]+` is not null\)/g, ''),
  'covariance for correlation': patchText(/ \/ stddev_samp\([^/]*? is not null\) \/ stddev_samp\([^/]*? is not null\)/g, ''),
  'running totals across groups': patchText(/over \(partition by [^()]*? order by/g, 'over (order by'),
  'running totals backwards': patchText(/(over \((?:partition by [^()]*? )?order by `[a-z0-9]+`) asc/g, '$1 desc'),
  'zone forgotten': ({ sql, values }) => ({
    sql,
    values: values.map((bound) => ((ZONES as readonly unknown[]).includes(bound.value) ? { ...bound, value: 'UTC' } : bound)),
  }),
  'repeated hours folded': patchText(
    `timestamp_micros(unix_micros(\`at\`) - timestampdiff(MICROSECOND, date_trunc('HOUR', ${LOCAL}), ${LOCAL}))`,
    `timestamp_micros(timestampdiff(MICROSECOND, ${EPOCH}, convert_timezone(?, 'UTC', date_trunc('HOUR', ${LOCAL}))))`,
  ),
  'a repeated midnight begins the day late': patchText(
    /convert_timezone\(\?, 'UTC', (`c\d+`)\)/g,
    `timestampadd(HOUR, -1, convert_timezone(?, 'UTC', timestampadd(HOUR, 1, $1)))`,
  ),
  'weeks from Sunday': patchText("trunc(`day`, 'WEEK')", "date_sub(trunc(date_add(`day`, 1), 'WEEK'), 1)"),
  'quarters are months': patchText(`'QUARTER'`, `'MONTH'`),
  'big integers as numbers': patchText(
    'between -9007199254740992 and 9007199254740992',
    'between -9007199254740999999 and 9007199254740999999',
  ),
  '2^53 as text': patchText('between -9007199254740992 and 9007199254740992', 'between -9007199254740991 and 9007199254740991'),
  'minus zero': patchText(' + 0 as STRING)', ' as STRING)'),
  'microseconds cut': patchText('ss.SSSSSS', 'ss.SSS'),
  'other experiments shown': patchText('where `experiment_id` = cast(? as STRING)', 'where cast(? as STRING) is not null'),
  'names instead of pseudonyms': patchText('`pseudonym` as `pseudonym`', '`name` as `pseudonym`'),
  'rows without a contributor lost': patchText('left join', 'join'),
  'a key with a dot is two keys': changeText("$['t.x']", "$['t']['x']"),
  'members of any key': changeText("$['deep']['b']", "$['deep'][*]"),
  'text is a truth value': changeText('^(true|false)$', '^(true|false|-?[0-9]+)$'),
  'large numbers as the engine writes them': patchText('case when not regexp_like(e,', 'case when true or not regexp_like(e,'),
  'a count that stops': patchText(/^select count\(\*\) as `c0`/g, 'select least(count(*), 7) as `c0`'),
  'another version shown': patchText(/(\/rows` version as of) 2/g, '$1 1'),
  'documents as text': patchText(/try_parse_json\(([^)]*)\) is not null/g, '$1 is null'),
  'averages through doubles': patchText(/cast\(sum\(cast\((`big`) as DECIMAL\(38,0\)\)\) as DOUBLE\)/g, 'sum(cast($1 as DOUBLE))'),
};
