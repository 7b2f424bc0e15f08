/** Plans grouping and aggregate functions: what each accepts, what type it gives, and what the answer calls it. */
import { BIGINT, DOUBLE, makeDecimal, type ColumnType } from '../terms/catalog.ts';
import { readAsNumber, type Resolved } from './members.ts';
import { isComparable, isNumeric, requireComparable } from './operands.ts';
import { isCalendar, type Expr, type Output, type Sort } from '../terms/plan.ts';
import type { FunctionCall, FunctionName, GroupKey } from './request.ts';
import { refuseParameter, shortenName } from '../terms/refusal.ts';
import type { Resolve } from './resolve.ts';
import { printType } from '../terms/types.ts';

/**
 * The type of a sum, which is exact where the column is. INT gives BIGINT, which four thousand million rows do not fill. BIGINT gives DECIMAL(38,0). Decimals
 * keep their scale.
 */
const sumType = (type: ColumnType): ColumnType =>
  type.kind === 'double' ? DOUBLE : type.kind === 'int' ? BIGINT : makeDecimal(38, type.kind === 'decimal' ? type.scale : 0);

interface Call {
  call: FunctionCall;
  where: string;
  /** Null for `*`. */
  of: Resolved | null;
  second: Resolved | null;
  /** The default sort and the row id, ascending. */
  order: readonly Sort[];
}

const say = ({ call, where }: Call, sentence: string) =>
  refuseParameter(where, `Function '${call.function}' of '${shortenName(call.column)}': ${sentence}`);

const some = (asked: Call): Resolved => {
  if (!asked.of) throw say(asked, "'*' can only be counted: use it with count or cumsum.");
  return asked.of;
};
const numeric = (asked: Call, given = some(asked)): Resolved => {
  const resolved = readAsNumber(given);
  if (!isNumeric(resolved.type))
    throw say(asked, `column '${shortenName(resolved.name)}' is ${printType(resolved.type)}; a numeric column is needed.`);
  return resolved;
};
const comparable = (asked: Call): Resolved => {
  const resolved = some(asked);
  if (!isComparable(resolved.type)) throw say(asked, `values of type ${printType(resolved.type)} have no order.`);
  return resolved;
};

const plain =
  (how: 'avg' | 'std' | 'var' | 'sem' | 'ci95') =>
  (asked: Call): Expr => ({ kind: 'aggregate', how, of: numeric(asked).expr, type: DOUBLE });
const extreme =
  (how: 'min' | 'max') =>
  (asked: Call): Expr => {
    const { expr, type } = comparable(asked);
    return { kind: 'aggregate', how, of: expr, type };
  };
const quantile =
  (fraction: number) =>
  (asked: Call): Expr => ({ kind: 'aggregate', how: 'quantile', fraction, of: numeric(asked).expr, type: DOUBLE });
const edge =
  (descending: boolean) =>
  (asked: Call): Expr => {
    const { expr, type } = some(asked);
    return { kind: 'aggregate', how: 'first', of: expr, order: asked.order.map((sort) => ({ expr: sort.expr, descending })), type };
  };
const count = ({ of }: Call): Expr => ({ kind: 'aggregate', how: 'count', of: of?.expr ?? null, type: BIGINT });
const sum = (asked: Call): Expr => {
  const { expr, type } = numeric(asked);
  return { kind: 'aggregate', how: 'sum', of: expr, type: sumType(type) };
};

/** Makes what each function computes for a group. For `cumsum` this is the sum (or count) that the running total adds up. */
const FUNCTIONS: Record<FunctionName, (asked: Call) => Expr> = {
  sum,
  cumsum: (asked) => (asked.of ? sum(asked) : count(asked)),
  avg: plain('avg'),
  std: plain('std'),
  var: plain('var'),
  sem: plain('sem'),
  ci95: plain('ci95'),
  count,
  count_distinct: (asked) => ({ kind: 'aggregate', how: 'count_distinct', of: comparable(asked).expr, type: BIGINT }),
  min: extreme('min'),
  max: extreme('max'),
  median: quantile(0.5),
  p05: quantile(0.05),
  p95: quantile(0.95),
  first: edge(false),
  last: edge(true),
  corr: (asked) => {
    if (!asked.second) throw say(asked, "needs a 'secondColumn'.");
    return { kind: 'aggregate', how: 'corr', of: numeric(asked).expr, second: numeric(asked, asked.second).expr, type: DOUBLE };
  },
};

const defaultName = ({ call, of, second }: Call): string => {
  if (call.function === 'corr') return `${of?.name ?? ''}_corr_${second?.name ?? ''}`;
  return of ? `${of.name}_${call.function}` : `count_${call.function}`;
};

/** The output of one function. It has no name inside the statement until the planner numbers it. */
export interface Measure {
  name: string;
  expr: Expr;
  running: boolean;
}

export const buildMeasures = (calls: readonly FunctionCall[], resolve: Resolve, order: readonly Sort[]): Measure[] =>
  calls.map((call, index) => {
    const at = `aggregation/functions/${index}`;
    const of = call.column === '*' ? null : resolve(call.column, `${at}/column`);
    if (call.secondColumn !== undefined && call.function !== 'corr')
      throw refuseParameter(`${at}/secondColumn`, `'secondColumn' is for corr only, not for '${call.function}'.`);
    const second = call.secondColumn === undefined ? null : resolve(call.secondColumn, `${at}/secondColumn`);
    const asked: Call = { call, where: at, of, second, order };
    return { name: call.alias ?? defaultName(asked), expr: FUNCTIONS[call.function](asked), running: call.function === 'cumsum' };
  });

const isTimeZone = (name: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

/** Makes the expression that a group's key has in the answer. A local calendar day is answered as the instant at which it began. */
export const planKey = (key: Output, reference: Expr): Expr =>
  key.expr.kind === 'bucket' && key.expr.zone !== null && isCalendar(key.expr.unit)
    ? { kind: 'instant', of: reference, zone: key.expr.zone }
    : reference;

/** Makes the group keys, named as the answer names them. A bucketed DATE stays a date and a local time stays local; only instants take a zone. */
export const groupKeys = (asked: readonly GroupKey[], resolve: Resolve): Output[] =>
  asked.map((key, index) => {
    const at = `aggregation/groupBy/${index}`;
    const resolved = resolve(key.column, `${at}/column`);
    const { type } = resolved;
    const as = `c${index}`;
    requireComparable(type, `${at}/column`, `Cannot group by '${shortenName(resolved.name)}', whose`);
    if (key.timezone !== undefined && !isTimeZone(key.timezone))
      throw refuseParameter(`${at}/timezone`, `'${shortenName(key.timezone)}' is not an IANA time zone such as Europe/Amsterdam.`);
    if (key.timeBucket === undefined) {
      if (key.timezone !== undefined) throw refuseParameter(`${at}/timezone`, "'timezone' needs a 'timeBucket'.");
      return { as, name: resolved.name, expr: resolved.expr };
    }
    if (type.kind !== 'timestamp' && type.kind !== 'timestamp_ntz' && type.kind !== 'date') {
      throw refuseParameter(
        `${at}/column`,
        `'timeBucket' needs a date or time column; '${shortenName(resolved.name)}' is ${printType(type)}.`,
      );
    }
    const zone = type.kind === 'timestamp' && key.timezone !== undefined && key.timezone !== 'UTC' ? key.timezone : null;
    return { as, name: `${resolved.name}_${key.timeBucket}`, expr: { kind: 'bucket', of: resolved.expr, unit: key.timeBucket, zone } };
  });
