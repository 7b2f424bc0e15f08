/** Prints Databricks SQL over the lake's own Delta tables, each read at one version. */
import { STRING, VARIANT, makeDecimal, type ColumnType } from '../../terms/catalog.ts';
import { errors } from '../../../errors.ts';
import {
  FOUR_DIGIT_YEARS,
  SCIENTIFIC,
  bound,
  joinFragments,
  q,
  raw,
  type AggregateParts,
  type Dialect,
  type Fragment,
} from '../../terms/dialect.ts';
import { quoteWithBackticks } from '../../terms/quoting.ts';
import { isCalendar } from '../../terms/plan.ts';
import { printType } from '../../terms/types.ts';
import { makeJsonPrinter } from '../json.ts';
import { buildHalfInterval, buildStandardError } from '../student.ts';

/** Gives the type that tables hold: documents are JSON text in them, as in their files. */
const stored = (type: ColumnType): ColumnType => {
  if (type.kind === 'variant') return STRING;
  if (type.kind === 'array') return { kind: 'array', element: stored(type.element) };
  if (type.kind !== 'struct') return type;
  return { kind: 'struct', fields: type.fields.map(({ name, type: inner }) => ({ name, type: stored(inner) })) };
};

const cast = (type: ColumnType): string => printType(stored(type));
const as = (of: Fragment, type: ColumnType) => q`cast(${of} as ${raw(cast(type))})`;

/** Prints the UTC clock reading of an instant, whatever the session's zone. */
const utc = (of: Fragment) => q`timestampadd(MICROSECOND, unix_micros(${of}), timestamp_ntz'1970-01-01 00:00:00')`;
/** Prints the microseconds between the epoch and a local time, as if both were UTC. */
const microsOf = (reading: Fragment) => q`timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', ${reading})`;
/** Prints the instant of a UTC clock reading. The difference to the epoch is counted between local times, which have no zone. */
const instant = (reading: Fragment) => q`timestamp_micros(${microsOf(reading)})`;

/** Prints a year as ISO 8601 has those of more than four digits, or before the year 0. */
const farYear = (of: Fragment) => q`format_string('%+07d', year(${of}))`;

const clock = (reading: Fragment, suffix: string) => {
  const micros = microsOf(reading);
  const written = (digits: string, year = 'yyyy') =>
    q`date_format(${reading}, ${raw(`"${year}-MM-dd'T'HH:mm:ss.${digits}${suffix === '' ? '' : `'${suffix}'`}"`)})`;
  const far = q`concat(${farYear(reading)}, ${written('SSSSSS', '')})`;
  const near = q`case when ${micros} % 1000 = 0 then ${written('SSS')} else ${written('SSSSSS')} end`;
  return q`case when ${micros} not between ${raw(FOUR_DIGIT_YEARS)} then ${far} else ${near} end`;
};

const INFINITE = "cast('Infinity' as DOUBLE)";
/** Tests for finite numbers: NaN is greater than infinity on this engine. */
const finite = (of: Fragment) => q`abs(${of}) < ${raw(INFINITE)}`;
/** Prints null instead of NaN and infinity: NaN would otherwise be ordered before the numbers. */
const settled = (of: Fragment) => q`case when ${finite(of)} then ${of} end`;

const bare = (of: Fragment, type: ColumnType): Fragment => {
  switch (type.kind) {
    case 'double':
      // adding zero turns -0 into 0
      return q`case when ${finite(of)} then cast(${of} + 0 as STRING) end`;
    case 'timestamp':
      return clock(utc(of), 'Z');
    case 'timestamp_ntz':
      return clock(of, '');
    case 'date':
      return q`case when year(${of}) not between 0 and 9999 then concat(${farYear(of)}, date_format(${of}, '-MM-dd')) else date_format(${of}, 'yyyy-MM-dd') end`;
    case 'boolean':
    case 'int':
    case 'bigint':
    case 'decimal':
      return q`cast(${of} as STRING)`;
    case 'string':
      return of;
    case 'variant':
      return q`case when try_parse_json(${of}) is not null then ${of} else ${text(of)} end`;
    case 'struct':
    case 'array':
      return json(of, type);
  }
};

/** Prints a text as JSON. `to_json` takes no bare text, so an array of one is printed and its brackets are dropped. */
const text = (of: Fragment) => {
  const one = q`to_json(array(${of}))`;
  return q`case when ${of} is not null then substring(${one}, 2, length(${one}) - 2) end`;
};

const json = makeJsonPrinter({
  quote: quoteWithBackticks,
  bare,
  quoted: (of) => q`concat('"', ${of}, '"')`,
  text,
  document: (of) => bare(of, VARIANT),
  list: (of, element, printed) => q`concat('[', array_join(transform(${of}, ${element} -> ${printed}), ','), ']')`,
});

const bucket: Dialect['bucket'] = (of, type, unit, zone) => {
  const named = raw(`'${unit.toUpperCase()}'`);
  // trunc knows no unit below a week; a date is its own day, hour and minute
  if (type.kind === 'date') return unit === 'hour' || unit === 'minute' || unit === 'day' ? of : q`cast(trunc(${of}, ${named}) as DATE)`;
  if (type.kind === 'timestamp_ntz') return q`date_trunc(${named}, ${of})`;
  if (zone === null) return instant(q`date_trunc(${named}, ${utc(of)})`);
  const zoned = bound(zone, STRING);
  const local = q`convert_timezone('UTC', ${zoned}, ${utc(of)})`;
  if (isCalendar(unit)) return q`date_trunc(${named}, ${local})`;
  const past = q`timestampdiff(MICROSECOND, date_trunc(${named}, ${local}), ${local})`;
  return q`timestamp_micros(unix_micros(${of}) - ${past})`;
};

/**
 * Ranks rows for an aggregate, which cannot order its input on this engine: the greatest or least struct of the order's terms picks the row. A flag before each
 * term ranks nulls last.
 */
const rank = (order: AggregateParts['order'], descending: boolean) =>
  q`struct(${joinFragments(order.map(({ expr }) => q`${expr} is ${raw(descending ? 'not null' : 'null')}, ${expr}`))})`;

const edge = ({ of, order }: AggregateParts) => {
  const descending = order[0]?.descending === true;
  return q`${raw(descending ? 'max_by' : 'min_by')}(${of}, ${rank(order, descending)}) filter (where ${of} is not null)`;
};

const AGGREGATES: Record<AggregateParts['how'], (parts: AggregateParts) => Fragment> = {
  // widens whole numbers first, because a sum of BIGINT overflows on this engine
  sum: ({ of, ofType, type }) => (ofType.kind === 'double' ? q`sum(${of})` : q`cast(sum(${as(of, type)}) as ${raw(cast(type))})`),
  // sums as decimals, because a sum of doubles would lose digits of whole numbers and decimals; an empty group divides by null
  avg: ({ of, ofType }) => {
    if (ofType.kind === 'double') return q`avg(${of})`;
    const total = q`sum(${as(of, makeDecimal(38, ofType.kind === 'decimal' ? ofType.scale : 0))})`;
    return q`cast(${total} as DOUBLE) / nullif(count(${of}), 0)`;
  },
  count: ({ of }) => q`count(${of})`,
  min: ({ of }) => q`min(${of})`,
  max: ({ of }) => q`max(${of})`,
  count_distinct: ({ of }) => q`count(distinct ${of})`,
  std: ({ of }) => settled(q`stddev_samp(cast(${of} as DOUBLE))`),
  var: ({ of }) => settled(q`var_samp(cast(${of} as DOUBLE))`),
  sem: ({ of }) => buildStandardError(q`(${settled(q`stddev_samp(cast(${of} as DOUBLE))`)})`, q`count(${of})`),
  ci95: ({ of }) => buildHalfInterval(q`(${settled(q`stddev_samp(cast(${of} as DOUBLE))`)})`, q`count(${of})`),
  quantile: ({ of, fraction }) => q`percentile(cast(${of} as DOUBLE), ${raw(String(fraction))})`,
  first: edge,
  collect: ({ of, order }) => {
    const ranked = q`struct(${rank(order, false)} as k, ${of} as v)`;
    return q`transform(array_sort(collect_list(${ranked})), e -> e.v)`;
  },
  // the engine's own corr divides by zero where a side does not vary, and fails
  corr: ({ of, second }) => {
    const [x, y] = [q`cast(${of} as DOUBLE)`, q`cast(${second ?? of} as DOUBLE)`];
    const [spread, other] = [q`stddev_samp(${x}) filter (where ${y} is not null)`, q`stddev_samp(${y}) filter (where ${x} is not null)`];
    const usable = (each: Fragment) => q`${each} > 0 and ${each} < ${raw(INFINITE)}`;
    // divides by one after the other: the product of two large spreads would be infinite
    const value = q`${settled(q`covar_samp(${x}, ${y})`)} / ${spread} / ${other}`;
    // the least and greatest of values leave out null on this engine
    return q`case when ${usable(spread)} and ${usable(other)} and ${value} is not null then greatest(-1, least(1, ${value})) end`;
  },
};

/** Prints a number, which the engine writes as `e`, as JSON does: 1.23456789E7 is 12345678.9, and 1.0E-7 is 1e-7. */
const PLAINLY = (() => {
  const fixed = (scale: number) => `regexp_replace(cast(cast(e as DECIMAL(38,${scale})) as STRING), '([.][0-9]*[1-9]|[.]0)0+$', '$1')`;
  return [
    `case when not regexp_like(e, '${SCIENTIFIC}') then e`,
    `when regexp_like(e, 'E([7-9]|1[0-9]|20)$') then ${fixed(17)}`,
    `when regexp_like(e, 'E-[4-6]$') then ${fixed(30)}`,
    `else replace(replace(e, '.0E', 'e'), 'E', 'e') end`,
  ].join(' ');
})();

const guarded = (of: Fragment) => q`case when ascii(${of}) in (61, 43, 45, 64, 9, 13) then concat('\\'', ${of}) else ${of} end`;

/** Makes the dialect for a lake that Databricks finds under this URL, such as `s3://bucket`. */
export const makeDatabricks = (root: string): Dialect => ({
  name: 'databricks',
  quote: quoteWithBackticks,
  cast,
  value: (value, type) => as(bound(value, type), type),
  rows: (_columns, { live }) => {
    if (!live) throw errors.internal().with({ cause: new Error('Rows without a live table.') });
    return raw(`delta.${quoteWithBackticks(`${root}/${live.folder}`)} version as of ${live.version}`);
  },
  member: (of, keys) => q`get_json_object(${of}, ${bound(`$${keys.map((key) => `['${key}']`).join('')}`, STRING)})`,
  memberText: (of) => q`element_at(transform(array(${of}), e -> ${raw(PLAINLY)}), 1)`,
  parsed: (of, type, pattern) => {
    const made = q`try_cast(case when regexp_like(${of}, ${pattern}) then ${of} end as ${raw(cast(type))})`;
    return type.kind === 'double' ? settled(made) : made;
  },
  // rows of a Delta table have no order
  lined: null,
  struct: (fields) => q`named_struct(${joinFragments(fields.map(({ name, value }) => q`${bound(name, STRING)}, ${value}`))})`,
  emptyList: (type) => raw(`cast(array() as ${cast(type)})`),
  equals: (left, right) => q`${left} = ${right}`,
  differs: (left, right) => q`not (${left} <=> ${right})`,
  startsWith: (of, text) => q`startswith(${of}, ${text})`,
  holds: (of, condition) => q`exists(${of}, e -> ${condition(raw('e'))})`,
  bucket,
  // no key is known that this engine groups by faster than by the bucket itself
  coarse: () => null,
  // this engine reads a repeated local hour as its first instant, and moves a skipped one forward
  instant: (local, zone) => instant(q`convert_timezone(${bound(zone, STRING)}, 'UTC', ${local})`),
  aggregate: (parts) => AGGREGATES[parts.how](parts),
  addend: (of, type) => (type.kind === 'double' ? of : as(of, type)),
  json,
  text: (of, type) => (type.kind === 'double' ? q`cast(${of} as STRING)` : bare(of, type)),
  cell: (of, type, guard) => (type.kind === 'string' && guard ? guarded(of) : bare(of, type)),
  // times are whole numbers, since the driver would cut them to milliseconds; decimals are text, since it would make doubles of them; nested values are JSON
  // text
  typed: (of, type) => {
    switch (type.kind) {
      case 'timestamp':
        return q`unix_micros(${of})`;
      case 'timestamp_ntz':
        return microsOf(of);
      case 'date':
        return q`unix_date(${of})`;
      case 'decimal':
      case 'variant':
      case 'struct':
      case 'array':
        return bare(of, type);
      case 'boolean':
      case 'int':
      case 'bigint':
      case 'double':
      case 'string':
        return as(of, type);
    }
  },
});
