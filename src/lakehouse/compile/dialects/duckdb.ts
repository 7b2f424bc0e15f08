/** Prints SQL of DuckDB over Parquet files. Times are TIMESTAMPTZ; nothing here depends on the session's time zone. */
import { BIGINT, type ColumnType } from '../../terms/catalog.ts';
import {
  FOUR_DIGIT_YEARS,
  SCIENTIFIC,
  bound,
  joinFragments,
  printOrder,
  q,
  raw,
  type AggregateParts,
  type Dialect,
  type Fragment,
} from '../../terms/dialect.ts';
import { printPhysicalType } from '../../terms/physical-types.ts';
import { quoteName } from '../../terms/quoting.ts';
import { isCalendar, type Bucket, type ScanColumn } from '../../terms/plan.ts';
import { makeJsonPrinter } from '../json.ts';
import { buildHalfInterval, buildStandardError } from '../student.ts';

const cast = (type: ColumnType): string => printPhysicalType(type, 'varchar');
const as = (of: Fragment, type: ColumnType) => q`cast(${of} as ${raw(cast(type))})`;

/** Prints the UTC clock reading of an instant. `at time zone` would depend on the session's zone. */
const utc = (of: Fragment) => q`make_timestamp(epoch_us(${of}))`;
const instant = (utcReading: Fragment) => q`make_timestamptz(epoch_us(${utcReading}))`;

/** Prints ISO 8601 with milliseconds, or with microseconds where there are any. The engine reads it again. */
const clock = (of: Fragment, reading: Fragment, suffix: string) => {
  const written = (digits: string) => q`strftime(${reading}, ${raw(`'%Y-%m-%dT%H:%M:%S.${digits}${suffix}'`)})`;
  return q`case when epoch_us(${of}) % 1000 = 0 then ${written('%g')} else ${written('%f')} end`;
};
const day = (of: Fragment) => q`strftime(${of}, '%Y-%m-%d')`;

/** Prints a year as ISO 8601 has those of more than four digits, or before the year 0, and what follows it. */
const far = (of: Fragment, rest: string) => q`printf('%+07d', year(${of})) || strftime(${of}, ${raw(`'${rest}'`)})`;
const farClock = (of: Fragment, reading: Fragment, suffix: string) =>
  q`case when epoch_us(${of}) not between ${raw(FOUR_DIGIT_YEARS)} then ${far(reading, `-%m-%dT%H:%M:%S.%f${suffix}`)} else ${clock(of, reading, suffix)} end`;
const farDay = (of: Fragment) =>
  q`case when ${of} not between date '0000-01-01' and date '9999-12-31' then ${far(of, '-%m-%d')} else ${day(of)} end`;

/** Prints the text of a value without quotes, for JSON and CSV alike; null where the value is null or not finite. */
const bare = (of: Fragment, type: ColumnType): Fragment => {
  switch (type.kind) {
    case 'double':
      // adding zero turns -0 into 0
      return q`case when isfinite(${of}) then cast(${of} + 0 as varchar) end`;
    case 'timestamp':
      return farClock(of, utc(of), 'Z');
    case 'timestamp_ntz':
      return farClock(of, of, '');
    case 'date':
      return farDay(of);
    case 'decimal': {
      const printed = q`cast(${of} as varchar)`;
      // without a digit before the point the engine prints none
      return type.scale === type.precision ? q`regexp_replace(${printed}, '^-?', '\\00')` : printed;
    }
    case 'boolean':
    case 'int':
    case 'bigint':
      return q`cast(${of} as varchar)`;
    case 'string':
      return of;
    case 'variant':
      // the engine's own JSON would round numbers of more than 17 digits
      return q`case when json_valid(${of}) then ${of} else cast(to_json(${of}) as varchar) end`;
    case 'struct':
    case 'array':
      return json(of, type);
  }
};

const json = makeJsonPrinter({
  quote: quoteName,
  bare,
  quoted: (of) => q`'"' || ${of} || '"'`,
  text: (of) => q`cast(to_json(${of}) as varchar)`,
  // a line holds one row; few documents have line breaks, and `translate` takes five times as long as the rest
  document: (of) =>
    q`case when not json_valid(${of}) then cast(to_json(${of}) as varchar) when contains(${of}, chr(10)) or contains(${of}, chr(13)) then translate(${of}, chr(10) || chr(13), '  ') else ${of} end`,
  // `array_to_string` would take twice the time: it is a macro that first asks for the length of the list as text
  list: (of, element, text) =>
    q`case when ${of} is not null then concat('[', list_aggregate(list_transform(${of}, lambda ${element}: ${text}), 'string_agg', ','), ']') end`,
});

const bucket: Dialect['bucket'] = (of, type, unit, zone) => {
  const named = raw(`'${unit}'`);
  if (type.kind === 'date') return isCalendar(unit) ? q`cast(date_trunc(${named}, ${of}) as date)` : of;
  if (type.kind === 'timestamp_ntz') return q`date_trunc(${named}, ${of})`;
  if (zone === null) return instant(q`date_trunc(${named}, ${utc(of)})`);
  const local = q`timezone(${bound(zone, { kind: 'string' })}, ${of})`;
  return isCalendar(unit) ? q`date_trunc(${named}, ${local})` : instant(q`${utc(of)} - (${local} - date_trunc(${named}, ${local}))`);
};

const MICROSECONDS: Partial<Record<Bucket, string>> = { minute: '60000000', hour: '3600000000' };

/** Groups by whole hours or minutes since 1970. They are rounded down also before 1970, where the engine's own division rounds up. */
const coarse: Dialect['coarse'] = (of, type, unit, zone) => {
  const width = MICROSECONDS[unit];
  if (type.kind !== 'timestamp' || zone !== null || width === undefined) return null;
  const since = q`epoch_us(${of})`;
  const key = q`(case when ${since} < 0 then ${since} - ${raw(width)} + 1 else ${since} end // ${raw(width)})`;
  return { key, value: q`make_timestamptz(${key} * ${raw(width)})` };
};

/**
 * Prints the first instant of a local time. Where a zone repeats an hour at midnight, the engine answers the second of the two, so the hour before is tried.
 */
const firstInstant: Dialect['instant'] = (local, zone) => {
  const zoned = bound(zone, { kind: 'string' });
  const start = q`timezone(${zoned}, ${local})`;
  const before = q`${start} - interval 1 hour`;
  return q`case when timezone(${zoned}, ${before}) = ${local} then ${before} else ${start} end`;
};

/** Tests for numbers that DuckDB accepts in statistics. It refuses NaN, infinities and squares that overflow; Spark answers NaN. */
const tame = (of: Fragment) => q`(isfinite(${of}) and abs(${of}) < 1e150)`;

/** Prints a value so that the engine reads the same value of the text. */
const exact = (of: Fragment, type: ColumnType): Fragment => {
  if (type.kind === 'double') return q`cast(${of} as varchar)`;
  if (type.kind === 'timestamp') return clock(of, utc(of), 'Z');
  if (type.kind === 'timestamp_ntz') return clock(of, of, '');
  return type.kind === 'date' ? day(of) : bare(of, type);
};

const inOrder = (order: AggregateParts['order']) => joinFragments(order.map(({ expr, descending }) => printOrder(expr, descending)));

const AGGREGATES: Record<AggregateParts['how'], (parts: AggregateParts) => Fragment> = {
  sum: ({ of, type }) => q`cast(sum(${of}) as ${raw(cast(type))})`,
  avg: ({ of }) => q`avg(${of})`,
  count: ({ of }) => q`count(${of})`,
  min: ({ of }) => q`min(${of})`,
  max: ({ of }) => q`max(${of})`,
  count_distinct: ({ of }) => q`count(distinct ${of})`,
  std: ({ of }) => spread('stddev_samp', of),
  var: ({ of }) => spread('var_samp', of),
  sem: ({ of }) => buildStandardError(q`(${spread('stddev_samp', of)})`, q`count(${of})`),
  ci95: ({ of }) => buildHalfInterval(q`(${spread('stddev_samp', of)})`, q`count(${of})`),
  quantile: ({ of, fraction }) => q`quantile_cont(cast(${of} as double), ${raw(String(fraction))})`,
  first: ({ of, order }) => q`first(${of} order by ${inOrder(order)}) filter (where ${of} is not null)`,
  collect: ({ of, order }) => q`list(${of} order by ${inOrder(order)})`,
  corr: ({ of, second }) => {
    const [x, y] = [q`cast(${of} as double)`, q`cast(${second ?? of} as double)`];
    const wild = q`count(*) filter (where not ${tame(x)} and ${y} is not null or not ${tame(y)} and ${x} is not null)`;
    const value = q`corr(${x}, ${y}) filter (where ${tame(x)} and ${tame(y)})`;
    // the engine answers 1.0000000000000002 of some that lie on a line
    return q`case when ${wild} = 0 and not isnan(${value}) then greatest(-1, least(1, ${value})) end`;
  },
};

const spread = (name: 'stddev_samp' | 'var_samp', of: Fragment): Fragment => {
  const x = q`cast(${of} as double)`;
  return q`case when count(*) filter (where not ${tame(x)}) = 0 then ${raw(name)}(${x}) filter (where ${tame(x)}) end`;
};

/** The type of the schema that the reader of files gets: its columns by name. */
const SCHEMA = raw('map(varchar, struct(name varchar, type varchar, default_value varchar))');

/**
 * Puts a `'` in front of text that begins with = + - @ tab or CR, which spreadsheet programs would run as a formula. It does not use `in (…)`: the engine makes
 * a join of that, and above a join only one thread prints rows in order.
 */
const guarded = (of: Fragment) => q`case when list_contains([61, 43, 45, 64, 9, 13], ascii(${of})) then concat('''', ${of}) else ${of} end`;

export const duckdb: Dialect = {
  name: 'duckdb',
  quote: quoteName,
  cast,
  value: (value, type) => as(bound(value, type), type),
  rows: (columns, { files }, places) => {
    // the engine reads the first column when a statement needs none, so that must be a column that is read anyway and is the same in every row
    const isolating = columns.filter(({ name }) => name === 'experiment_id');
    const all = [...isolating, ...columns.filter(({ name }) => name !== 'experiment_id')];
    // The types are given, so that the engine need not open every file before it reads the first. A column that a file lacks is null there.
    const member = ({ name, type }: ScanColumn) =>
      `${JSON.stringify(name)}:${JSON.stringify({ name, type: cast(type), default_value: null })}`;
    const schema = bound(`{${all.map(member).join(',')}}`, { kind: 'string' });
    const list = bound(files, { kind: 'array', element: { kind: 'string' } });
    const read = q`read_parquet(${list}, schema = cast(cast(${schema} as json) as ${SCHEMA}))`;
    // a column with this name hides the numbers of rows
    if (!places || columns.some(({ name }) => name.toLowerCase() === 'file_row_number')) return read;
    const [from, to] = [bound(BigInt(places.from), BIGINT), bound(BigInt(places.to), BIGINT)];
    return q`(select * from ${read} where file_row_number >= ${from} and file_row_number < ${to})`;
  },
  member: (of, keys) => {
    const path = bound(`$${keys.map((key) => `."${key}"`).join('')}`, { kind: 'string' });
    return q`json_extract_string(case when json_valid(${of}) then ${of} end, ${path})`;
  },
  memberText: (of) =>
    q`case when regexp_matches(${of}, ${raw(`'${SCIENTIFIC}'`)}) then cast(to_json(cast(${of} as double)) as varchar) else ${of} end`,
  parsed: (of, type, pattern) => {
    const made = q`try_cast(case when regexp_matches(${of}, ${pattern}) then ${of} end as ${raw(cast(type))})`;
    return type.kind === 'double' ? q`case when isfinite(${made}) then ${made} end` : made;
  },
  // one thread computes a window without an order, row by row
  lined: raw('row_number() over () > 0'),
  struct: (fields) => q`struct_pack(${joinFragments(fields.map(({ name, value }) => q`${raw(quoteName(name))} := ${value}`))})`,
  emptyList: (type) => raw(`cast([] as ${cast(type)})`),
  // -0 equals 0, but not to the filters that Parquet files carry; the engine asks those for a single value, and not for a range or a list
  equals: (left, right, type) => (type.kind === 'double' ? q`${left} between ${right} and ${right}` : q`${left} = ${right}`),
  differs: (left, right) => q`${left} is distinct from ${right}`,
  startsWith: (of, text) => q`starts_with(${of}, ${text})`,
  holds: (of, condition) => q`len(list_filter(${of}, lambda e: ${condition(raw('e'))})) > 0`,
  bucket,
  coarse,
  instant: firstInstant,
  aggregate: (parts) => AGGREGATES[parts.how](parts),
  addend: (of) => of,
  json,
  text: exact,
  cell: (of, type, guard) => (type.kind === 'string' && guard ? guarded(of) : bare(of, type)),
  // where the engine has another type, such as for a sum, the value is cast to the column's type
  typed: (of, type) => as(type.kind === 'variant' ? bare(of, type) : of, type),
};
