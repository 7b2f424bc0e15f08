/** Plans a read from a request and one version of a table. This file, or what it calls, throws every refusal of a read, as a 400 that names the column. */
import { Builder } from './builder.ts';
import { planDistances } from './distances.ts';
import { BIGINT, STRING, type ColumnType } from '../terms/catalog.ts';
import { groupKeys, planKey, buildMeasures, type Measure } from '../ask/aggregates.ts';
import { anonymise } from './identity.ts';
import { findKeptRanges } from '../terms/kept-ranges.ts';
import { findKeptValues, findTextOrder } from '../terms/kept-values.ts';
import { suggestNames } from '../terms/near.ts';
import { isComparable, requireComparable } from '../ask/operands.ts';
import type { Beyond, Expr, Output, Plan, Sort } from '../terms/plan.ts';
import type { Kept, TableSource } from '../terms/source.ts';
import { buildPredicate } from '../ask/predicates.ts';
import type { ReadRequest } from '../ask/request.ts';
import { refuseParameter, shortenName } from '../terms/refusal.ts';
import { makeColumn, makeOutput, makeValue } from './make.ts';
import { makeNamer } from './scan-columns.ts';
import { buildSeek, reverseSort } from './seek.ts';
import type { Resolved } from '../ask/members.ts';
import { inferExprType, printType } from '../terms/types.ts';
import { splitByParts, planSort, makeWindow, planWindow, type Asked, type Window } from './window.ts';

export interface ReadPlan {
  /** The rows that are answered, in order. Their columns are those of `columns`. */
  rows: Plan;
  /** The same for parts of the table that follow each other in the order of the rows, where the first few parts are likely to fill the page. */
  parts?: readonly Plan[];
  /** Counts the rows that match: one row with one BIGINT `c0`. */
  count: Plan;
  /** True when nothing was filtered or grouped: the manifest's own count is then the answer. */
  countsEveryRow: boolean;
  /** The values and ranges that the filter keeps, where the manifest may know how many rows have them. */
  kept?: Kept | null;
  columns: readonly { as: string; name: string; type: ColumnType }[];
  /** The values that order the rows, where they were asked for: columns of `rows` that the answer leaves out. */
  keys?: readonly Output[];
  /** Set where each of `rows` has its place and the total number beside it. The row beyond the window is read for this. */
  beyond?: Beyond;
  window: Window;
}

const counted = (from: Plan): Plan => ({
  kind: 'group',
  from,
  keys: [],
  measures: [{ as: 'c0', name: 'count', expr: { kind: 'aggregate', how: 'count', of: null, type: BIGINT } }],
});

const number = (outputs: readonly { name: string; expr: Expr }[]): Output[] =>
  outputs.map(({ name, expr }, index) => ({ as: `c${index}`, name, expr }));
/** Makes the expression that reads an output of the relation below. */
const referTo = ({ as, expr }: Output) => ({ kind: 'column', name: as, type: inferExprType(expr) }) as const;
const columnsOf = (outputs: readonly Output[]) => outputs.map(({ as, name, expr }) => ({ as, name, type: inferExprType(expr) }));

const refuseRepeats = (outputs: readonly { name: string }[], where: string) => {
  const seen = new Map<string, string>();
  for (const { name } of outputs) {
    const before = seen.get(name.toLowerCase());
    if (before !== undefined)
      throw refuseParameter(where, `The answer would have two columns named '${shortenName(before)}'; give one of them another alias.`);
    seen.set(name.toLowerCase(), name);
  }
};

const sortOf = (builder: Builder, request: ReadRequest): Sort[] => {
  const descending = request.orderDirection === 'DESC';
  const rest = builder.defaultOrder();
  if (request.orderBy === undefined) return rest.map((sort, index) => (index === 0 ? { ...sort, descending } : sort));
  const { name, type, expr } = builder.resolve(request.orderBy, 'orderBy');
  requireComparable(type, 'orderBy', `Cannot order by '${shortenName(name)}', whose`);
  const same = (sort: Sort) => expr.kind === 'column' && sort.expr.kind === 'column' && sort.expr.name === expr.name;
  return [{ expr, descending }, ...rest.filter((sort) => !same(sort))];
};

const chosen = (builder: Builder, request: ReadRequest): Resolved[] => {
  if (!request.columns || request.columns.length === 0) return builder.visible();
  const picked = request.columns.map((asked, index) => builder.resolve(asked, `columns/${index}`));
  return picked.filter((one, index) => picked.findIndex((other) => other.name === one.name) === index);
};

const keptOfRows = (where: Expr | null, { columns }: TableSource): Kept | null => {
  const [values, ranges] = [findKeptValues(where, columns), findKeptRanges(where, columns)];
  return values || ranges ? { values, ranges } : null;
};

/** Finds the values and ranges that the filter of a read keeps, where the manifest may know how many rows have them. Throws the 400s of filters. */
export const findKept = (source: TableSource, { filters = [] }: ReadRequest): Kept | null =>
  keptOfRows(buildPredicate(filters, new Builder(source).resolve), source);

/** Keeps a share of the rows, spread evenly over the table: digests of ids begin with all digits equally often. */
const keepShare = (where: Expr | null, id: Expr, share: number): Expr => {
  const end = Math.floor(share * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
  const digest: Expr = { kind: 'digest', of: id, type: STRING };
  const picked: Expr = { kind: 'compare', how: 'less', left: digest, right: makeValue(end) };
  return where ? { kind: 'every', of: [where, picked] } : picked;
};

const planRows = (builder: Builder, request: ReadRequest, window: Window): ReadPlan => {
  const where = buildPredicate(request.filters ?? [], builder.resolve);
  const outputs = number(chosen(builder, request));
  const forward = sortOf(builder, request);
  const seek = window.kind === 'page' ? window.seek : undefined;
  const by = seek?.back ? reverseSort(forward) : forward;
  const keys = window.kind === 'page' && window.peek ? by.map(({ expr }, index) => makeOutput(`k${index}`, expr)) : [];
  const printed = [...outputs, ...keys].map((output) => output.expr);
  const picked = request.share === undefined ? where : keepShare(where, builder.rowId(), request.share);
  const asked: Asked = { where: picked, forward, by, printed, window, beyond: seek ? buildSeek(by, seek.keys) : null };
  const rowsOf = (part: Builder) =>
    anonymise({ kind: 'project', from: planWindow(part, asked), outputs: [...outputs, ...keys], keep: false });
  const parts = splitByParts(builder, asked);
  return {
    rows: rowsOf(builder),
    ...(parts ? { parts: parts.map(rowsOf) } : {}),
    ...(keys.length === 0 ? {} : { keys: keys.map((key) => ({ ...key, expr: referTo(key) })) }),
    count: anonymise(counted(builder.from(where, []).from)),
    countsEveryRow: !where,
    kept: keptOfRows(where, builder.source),
    columns: columnsOf(outputs),
    window,
  };
};

/** Plans `cumsum` without groups and without other functions: every row, with its running total beside it. */
const planRunning = (builder: Builder, request: ReadRequest, functions: readonly Measure[], window: Window): ReadPlan => {
  const where = buildPredicate(request.filters ?? [], builder.resolve);
  const by = sortOf(builder, request);
  const picked = chosen(builder, request);
  const nameUnused = makeNamer(builder.source.columns);
  const totals = functions.map(({ name, expr }, index): Output => {
    const of = expr.kind === 'aggregate' ? expr.of : null;
    return {
      as: nameUnused(`running${index}`),
      name,
      expr: { kind: 'running', of, partition: [], order: by, type: inferExprType(expr) },
    };
  });
  refuseRepeats([...picked, ...totals], 'aggregation/functions');
  const used = [...picked.map((one) => one.expr), ...by.map((sort) => sort.expr), ...totals.map((total) => total.expr)];
  const outputs = number([...picked, ...totals.map((total) => ({ name: total.name, expr: referTo(total) }))]);
  const summed: Plan = { kind: 'project', from: builder.from(where, used).from, outputs: totals, keep: true };
  const rows: Plan = { kind: 'project', from: planSort(summed, by, window), outputs, keep: false };
  return {
    rows: anonymise(rows),
    count: anonymise(counted(builder.from(where, []).from)),
    countsEveryRow: !where,
    columns: columnsOf(outputs),
    window,
  };
};

const aggregateOrder = (request: ReadRequest, outputs: readonly Output[], keys: readonly Output[]): Sort[] => {
  const descending = request.orderDirection === 'DESC';
  if (request.orderBy === undefined) return keys.map((key, index) => ({ expr: referTo(key), descending: descending && index === 0 }));
  const asked = outputs.find((output) => output.name === request.orderBy);
  if (!asked) {
    const names = outputs.map((output) => output.name);
    throw refuseParameter(
      'orderBy',
      `An aggregated read is ordered by one of its own columns, and '${shortenName(request.orderBy)}' is none.${suggestNames(request.orderBy, names)}`,
    );
  }
  if (!isComparable(inferExprType(asked.expr)))
    throw refuseParameter(
      'orderBy',
      `Cannot order by '${shortenName(asked.name)}', whose type is ${printType(inferExprType(asked.expr))}.`,
    );
  return [
    { expr: referTo(asked), descending },
    ...keys.filter((key) => key !== asked).map((key) => ({ expr: referTo(key), descending: false })),
  ];
};

/** The rows of a table from which on a second pass, to count groups that do not fit into an answer, takes longer than to number all groups. */
const MANY = 10_000_000;

const beyondLast = ({ source }: Builder, window: Window): Beyond | null =>
  window.kind === 'limit' && window.peek && window.limit !== null && (source.rowCount ?? 0) >= MANY
    ? { place: 'place', limit: window.limit, total: 'total' }
    : null;

const withNumbers = (from: Plan, by: readonly Sort[], { place, total }: Beyond): Plan => {
  const counting = { kind: 'running', of: null, partition: [], type: BIGINT } as const;
  const outputs = [makeOutput(place, { ...counting, order: by }), makeOutput(total, { ...counting, order: [], whole: true })];
  return { kind: 'project', from, outputs, keep: true };
};

const planGroups = (builder: Builder, request: ReadRequest, functions: readonly Measure[], window: Window): ReadPlan => {
  const where = buildPredicate(request.filters ?? [], builder.resolve);
  const keys = groupKeys(request.aggregation?.groupBy ?? [], builder.resolve);
  const values = functions.map(({ name, expr }, index): Output => ({ as: `c${keys.length + index}`, name, expr }));
  const outputs = [...keys, ...values];
  refuseRepeats(outputs, 'aggregation');
  const used = outputs.map((output) => output.expr);
  const { from } = builder.from(where, used);
  const groups = planDistances(from, keys, values, makeNamer(builder.source.columns));
  const [first, ...others] = keys.map(referTo);
  const finished = outputs.map((output, index): Output => {
    const running = functions[index - keys.length]?.running === true;
    const order = first ? [{ expr: first, descending: false }] : [];
    const expr: Expr = running
      ? { kind: 'running', of: referTo(output), partition: others, order, type: inferExprType(output.expr) }
      : planKey(output, referTo(output));
    return { ...output, expr };
  });
  const whole: Plan = finished.some(({ expr }) => expr.kind !== 'column')
    ? { kind: 'project', from: groups, outputs: finished, keep: false }
    : groups;
  const by = aggregateOrder(request, finished, finished.slice(0, keys.length));
  const last = beyondLast(builder, window);
  const all = last ? withNumbers(whole, by, last) : whole;
  return {
    rows: anonymise(planSort(all, by, window)),
    count: anonymise(counted({ kind: 'group', from, keys, measures: values })),
    countsEveryRow: false,
    columns: columnsOf(finished),
    window,
    ...(last ? { beyond: last } : {}),
  };
};

/**
 * Plans a read. `cap` is the most rows an answer may hold (100,000 for JSON), or null for streams. Every 400 of a read comes from here: unknown columns with
 * near matches, operators and functions that a type does not have, values of the wrong type. `keyed` pages of plain rows carry the values that order them, and
 * one more row.
 */
export const planRead = (source: TableSource, request: ReadRequest, cap: number | null, keyed = false): ReadPlan => {
  const builder = new Builder(source);
  const window = makeWindow(request, cap, keyed && !request.aggregation);
  if (!request.aggregation) return planRows(builder, request, window);
  if (request.seek) throw refuseParameter('cursor', 'An aggregated read is paged by number; leave the cursor out.');
  const functions = buildMeasures(request.aggregation.functions, builder.resolve, builder.defaultOrder());
  const running = functions.some((measure) => measure.running);
  if (request.aggregation.groupBy.length > 0 || !running) return planGroups(builder, request, functions, window);
  if (functions.every((measure) => measure.running)) return planRunning(builder, request, functions, window);
  throw refuseParameter(
    'aggregation/functions',
    "'cumsum' without groupBy keeps every row and cannot stand beside functions that need one row; add a groupBy.",
  );
};

/** Plans the distinct values of one column, ascending, without nulls and empty text. Reads one more than `limit`, so that a cut is seen. */
export const planDistinct = (source: TableSource, asked: string, limit: number) => {
  const builder = new Builder(source);
  const { name, type, expr, column } = builder.resolve(asked, 'column');
  requireComparable(type, 'column', `'${shortenName(name)}' has no distinct values: its`);
  // text greater than the empty one is neither null nor empty, and the engine can skip files by this comparison
  const present: Expr =
    type.kind === 'string'
      ? { kind: 'compare', how: 'greater', left: expr, right: makeValue('', type) }
      : { kind: 'missing', of: expr, negated: true };
  const { from } = builder.from(present, [expr]);
  const groups: Plan = { kind: 'group', from, keys: [{ as: 'c0', name, expr }], measures: [] };
  const order = expr.kind === 'column' && !column.derived ? findTextOrder(type) : null;
  return {
    /** The values as the manifest is asked for them; null where it never knows. */
    noted: order && { column: name, type: printType(type), order, limit: limit + 1 },
    /** The values in `c0`. */
    rows: anonymise({
      kind: 'sort',
      from: groups,
      by: [{ expr: makeColumn('c0', type), descending: false }],
      limit: limit + 1,
      offset: 0,
    }),
    type,
  };
};
