/** Plans which rows of a relation are answered, and the cheapest way to them. */
import { Builder, listColumnNames } from './builder.ts';
import { DEFAULT_SORT } from '../terms/catalog.ts';
import { pickFewValued, addDerived } from './derived.ts';
import { pickFilesBeside, orderFiles, pickPageFiles, orderParts, type FileExtent } from '../terms/extents.ts';
import type { Expr, Plan, Sort } from '../terms/plan.ts';
import type { TableSource } from '../terms/source.ts';
import type { ReadRequest, Seek } from '../ask/request.ts';
import { inferExprType } from '../terms/types.ts';

/** The rows that are answered: a page, or the first `limit` (null: all). With `peek` one more row is read, so that a cut is seen. */
export type Window =
  { kind: 'page'; page: number; pageSize: number; peek: boolean; seek?: Seek } | { kind: 'limit'; limit: number | null; peek: boolean };

/** Makes the window of a request. `cap` is the most rows that an answer may hold, or null for streams. A `keyed` page says whether another follows. */
export const makeWindow = (request: ReadRequest, cap: number | null, keyed = false): Window => {
  const { seek, page = 1, pageSize = 100 } = request;
  if (seek) return { kind: 'page', page: 1, pageSize, peek: true, seek };
  if (request.page !== undefined || request.pageSize !== undefined) return { kind: 'page', page, pageSize, peek: keyed };
  const peek = cap !== null;
  if (request.limit !== undefined) return { kind: 'limit', limit: request.limit, peek };
  return cap === null || request.aggregation ? { kind: 'limit', limit: cap, peek } : { kind: 'page', page, pageSize, peek: keyed };
};

const MAX_OFFSET = 1e15;

/** Says which rows are read: those of the window and, where it peeks, one more. */
const cutOf = (window: Window): { limit: number | null; offset: number } =>
  window.kind === 'page'
    ? { limit: window.pageSize + (window.peek ? 1 : 0), offset: Math.min(MAX_OFFSET, (window.page - 1) * window.pageSize) }
    : { limit: window.limit === null ? null : window.limit + (window.peek ? 1 : 0), offset: 0 };

export const planSort = (from: Plan, by: readonly Sort[], window: Window): Plan => ({ kind: 'sort', from, by, ...cutOf(window) });

/** A plain read: which rows, in which order, and which expressions of them are shown. */
export interface Asked {
  where: Expr | null;
  /** The order of the read. */
  forward: readonly Sort[];
  /** The order in which the page is read: the reverse where it looks back. */
  by: readonly Sort[];
  printed: readonly Expr[];
  window: Window;
  /** The condition for rows beyond the place where the page begins, if it begins at one. */
  beyond?: Expr | null;
}

const isOwnOrder = ({ table }: TableSource, [first, second, ...more]: readonly Sort[]): boolean =>
  first?.expr.kind === 'column' &&
  first.expr.name === DEFAULT_SORT[table.kind] &&
  second?.expr.kind === 'column' &&
  second.expr.name === 'id' &&
  !second.descending &&
  more.length === 0;

/** The files as the manifest knows them, each with the number of its rows that are read. Null where the manifest does not know how many rows a filter keeps. */
const readExtents = ({ extents }: TableSource, where: Expr | null): readonly FileExtent[] | null => {
  if (!extents || where === null) return extents ?? null;
  const kept = extents.flatMap((extent) => (extent.kept === undefined ? [] : { ...extent, rowCount: extent.kept }));
  return kept.length === extents.length ? kept : null;
};

/** Picks the files that can hold the window. This needs the table's own order, and a manifest that knows what the files hold. */
const nearFiles = ({ source }: Builder, { where, forward, window }: Asked): { files: string[]; offset: number } | null => {
  const { limit, offset } = cutOf(window);
  const extents = readExtents(source, where);
  if (limit === null || !extents) return null;
  if (!isOwnOrder(source, forward)) return null;
  const descending = forward[0]?.descending === true;
  const seek = window.kind === 'page' ? window.seek : undefined;
  if (!seek) return pickPageFiles(extents, { descending, offset, limit });
  const place = placeOf(seek);
  return place && { files: pickFilesBeside(extents, { descending, back: seek.back, ...place, limit }), offset: 0 };
};

/** Reads the key and the id of the row at a place, as extents have them. Null where the place has no id. */
const placeOf = ({ keys: [key = null, id] }: Seek): { key: string | null; id: string } | null =>
  typeof id === 'string' ? { key: key === null ? null : microseconds(key), id } : null;

/**
 * Splits the table into parts that follow each other in the order of the page. They are read one by one until the page is full, which is soon unless the filter
 * keeps very little. Null where the page is not of this kind, or rows of all files are mixed.
 */
export const splitByParts = (builder: Builder, { where, forward, window }: Asked): Builder[] | null => {
  const { files, extents, ...source } = builder.source;
  if (window.kind !== 'page' || where === null || !extents || cutOf(window).offset > 0) return null;
  // the files of the page are known, so no parts are needed
  if (readExtents(builder.source, where)) return null;
  if (!isOwnOrder(builder.source, forward)) return null;
  const descending = forward[0]?.descending === true;
  const { seek } = window;
  const place = seek && placeOf(seek);
  const ahead = new Set(place ? pickFilesBeside(extents, { descending, back: seek.back, ...place, limit: Infinity }) : files);
  const unread = extents.filter(({ path }) => ahead.has(path));
  const parts = orderParts(unread, descending, seek?.back);
  if (parts.length < 2) return null;
  return parts.map((paths) => {
    const held = new Set(paths);
    // the newest first, as in the whole table
    return new Builder({ ...source, files: files.filter((path) => held.has(path)), extents: extents.filter(({ path }) => held.has(path)) });
  });
};

/** Writes a time as the manifest does, with six decimal places. */
const microseconds = (time: string) => time.replace(/\.(\d{3})Z$/, '.$1000Z');

/**
 * Lists the files so that nothing is left to sort, for a stream of every row in the table's own ascending order. The engine keeps the order of files and rows,
 * but a join loses it. So this holds only when nothing is joined except the few people, devices and annotations that are joined in order. A search in a list of
 * values counts as a join too, because the engine may make one of it.
 */
const sortedFiles = (builder: Builder, { where, by, printed, window }: Asked): string[] | null => {
  const { source } = builder;
  const isWhole = cutOf(window).limit === null && by[0]?.descending === false && isOwnOrder(source, by);
  const used = [...printed, ...(where ? [where] : [])];
  if (!isWhole || !source.extents || looksInLists(where) || builder.derives(used, pickFewValued(source))) return null;
  return orderFiles(source.extents);
};

const looksInLists = (where: Expr | null): boolean =>
  where !== null && (where.kind === 'every' ? where.of.some(looksInLists) : where.kind === 'in' && where.values.length > 1);

const MOST_LATE = 1_000;

/**
 * Whether the rows of one page are likely to lie side by side. Their ids are then found on narrow columns first, and only their own row groups are opened
 * again. Rows with the same key are sorted by row id, so neighbours by id are neighbours in the files. Rows picked by a measured value lie everywhere: nearly
 * every row group is opened for them anyway, and once is cheaper than twice.
 */
const isLate = (builder: Builder, { by, printed, where, window }: Asked): boolean => {
  const { limit } = cutOf(window);
  const [first] = by;
  if (!first || limit === null || limit > MOST_LATE) return false;
  const early = [...by.map(({ expr }) => expr), ...(where ? [where] : [])];
  if (builder.derives(early)) return false;
  const narrow = listColumnNames(early);
  const ofOwnTime = first.expr.kind === 'column' && first.expr.name === 'uploaded_at';
  const { kind } = inferExprType(first.expr);
  return (
    (ofOwnTime || kind === 'string' || kind === 'boolean' || kind === 'int' || kind === 'date') &&
    [...listColumnNames(printed)].filter((name) => !narrow.has(name)).length > 2
  );
};

/** The extents of those files of a table that are read. */
const extentsOf = ({ files, extents = [] }: TableSource): FileExtent[] => {
  const held = new Set(files);
  return extents.filter(({ path }) => held.has(path));
};

/** Whether rows of these files that are neighbours by the table's own key are neighbours in the files too. */
const lieSideBySide = ({ source }: Builder, files: readonly string[]): boolean => {
  const known = extentsOf({ ...source, files });
  return known.length > 0 && known.every(({ minId, nullKeys }) => minId !== null && nullKeys === 0);
};

/** Plans the rows whose keys come first. Where one file alone holds the page, its rows are in order, so these rows are at one of its ends. */
const keysFirst = (builder: Builder, where: Expr | null, { expr, descending }: Sort, most: number): Plan => {
  const { files, extents } = builder.source;
  const [path, ...others] = files;
  const extent = extents?.find((each) => each.path === path);
  if (where !== null || others.length > 0 || !extent) return builder.from(where, [expr]).from;
  const { rowCount } = extent;
  return builder.at(descending ? { from: Math.max(0, rowCount - most), to: rowCount } : { from: 0, to: most }, [expr]);
};

/**
 * Plans the rows that share a key with a row of the page. The keys are found first, so that other columns are read only around the page. The rows include ties
 * beyond the page, and rows before an offset; the sort cuts both off.
 */
const aroundPage = (near: Builder, { where, by, printed }: Pick<Asked, 'where' | 'by' | 'printed'>, most: number) => {
  const [first] = by;
  const keys = by.map((sort) => sort.expr);
  const { from: left, pending } = near.from(where, keys, printed);
  if (first?.expr.kind !== 'column') return { from: left, pending };
  const right: Plan = { kind: 'sort', from: keysFirst(near, where, first, most), by: [first], limit: most, offset: 0 };
  return { from: { kind: 'among', left, right, key: first.expr.name } satisfies Plan, pending };
};

/** Whether a filter picks the rows of a page in the table's own order, by columns that the table's own files hold. */
const isPicked = (builder: Builder, { where, forward, window }: Asked): boolean =>
  where !== null && cutOf(window).limit !== null && isOwnOrder(builder.source, forward) && !builder.derives([where]);

const both = (left: Expr | null, right: Expr | null): Expr | null =>
  left && right ? { kind: 'every', of: [left, right] } : (left ?? right);

/**
 * Makes the first rows by the table's own key be read from the files that hold them first: once a page is full, the engine skips files whose keys lie beyond
 * it. `files` begins with the newest.
 */
const fromItsEnd = (builder: Builder, { by, window }: Asked): Builder => {
  const [first] = by;
  const isOldest = first?.expr.kind === 'column' && first.expr.name === DEFAULT_SORT[builder.source.table.kind] && !first.descending;
  return isOldest && cutOf(window).limit !== null ? builder.over(builder.source.files.toReversed()) : builder;
};

/** Plans the rows of a window of one table, in order, with every column that is shown. */
export const planWindow = (given: Builder, asked: Asked): Plan => {
  const builder = fromItsEnd(given, asked);
  const { by, printed, window, beyond = null } = asked;
  const where = both(asked.where, beyond);
  const order = by.map((sort) => sort.expr);
  const cut = cutOf(window);
  const lined = sortedFiles(builder, asked);
  if (lined) return builder.over(lined).from(where, printed, [], true).from;
  const near = nearFiles(builder, asked);
  if (near === null && isLate(builder, { ...asked, where })) {
    const ids: Plan = { kind: 'sort', from: builder.from(where, order).from, by, ...cut };
    const { from, pending } = builder.from(null, order, printed);
    const rows: Plan = { kind: 'among', left: from, right: ids, key: 'id' };
    return { kind: 'sort', from: addDerived(rows, builder.source, pending), by, limit: null, offset: 0 };
  }
  // a short page gets its derived columns after the cut; a whole table gets them before its one sort
  const isWhole = cut.limit === null;
  const offset = near?.offset ?? cut.offset;
  const over = near ? builder.over(near.files) : builder;
  const most = offset + (cut.limit ?? 0);
  const isAround =
    most <= MOST_LATE && lieSideBySide(builder, over.source.files) && (near !== null || isPicked(builder, { ...asked, where }));
  const { from, pending } = isAround
    ? aroundPage(over, { where, by, printed }, most)
    : over.from(where, isWhole ? [...order, ...printed] : order, printed);
  const rows: Plan = { kind: 'sort', from, by, limit: cut.limit, offset };
  return pending.size === 0 ? rows : { kind: 'sort', from: addDerived(rows, builder.source, pending), by, limit: null, offset: 0 };
};
