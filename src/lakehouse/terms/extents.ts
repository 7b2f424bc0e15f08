/** Picks the files of a table that can hold a page of its rows in the default order: the sort key, nulls last, then the row id. */

/** What the manifest knows of one file: between which keys and ids its rows lie. */
export interface FileExtent {
  path: string;
  rowCount: number;
  byteCount?: number;
  /** ISO 8601, UTC, microseconds; null when every key is null. */
  minKey: string | null;
  maxKey: string | null;
  /** Least id of all rows in the file; null when the rows are not known to lie in the default order. */
  minId: string | null;
  maxId: string | null;
  /** The number of rows without a key; null when unknown. */
  nullKeys: number | null;
  /** The number of rows that a filter keeps, where that is known. */
  kept?: number;
}

export interface PageAsked {
  descending: boolean;
  offset: number;
  limit: number;
}

/** A place in the order. The tiers are: before everything, a key, no key, after everything. */
type Place = readonly [tier: 0 | 1 | 2 | 3, key: string, id: string];

interface Span {
  extent: FileExtent;
  from: Place;
  to: Place;
}

const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const comparing =
  (descending: boolean) =>
  (a: Place, b: Place): number =>
    a[0] - b[0] || (descending ? text(b[1], a[1]) : text(a[1], b[1])) || text(a[2], b[2]);

// keys have the same order as texts only while their years have four digits
const isPlain = (key: string | null) => key === null || /^\d{4}-/.test(key);

const spanOf = (extent: FileExtent, descending: boolean): Span => {
  const { minKey, maxKey, minId, maxId, nullKeys } = extent;
  if (minId === null || maxId === null || nullKeys === null || !isPlain(minKey) || !isPlain(maxKey))
    return { extent, from: [0, '', ''], to: [3, '', ''] };
  const [first, last] = descending ? [maxKey, minKey] : [minKey, maxKey];
  return {
    extent,
    from: first === null ? [2, '', minId] : [1, first, minId],
    to: last === null || nullKeys > 0 ? [2, '', maxId] : [1, last, maxId],
  };
};

/** Orders files so that their rows, one file after the other, are in the table's own ascending order. Null when two files overlap, or an extent is unknown. */
export const orderFiles = (extents: readonly FileExtent[]): string[] | null => {
  const compare = comparing(false);
  const spans = extents.map((extent) => spanOf(extent, false)).sort((a, b) => compare(a.from, b.from));
  if (spans.some(({ from }) => from[0] === 0)) return null;
  const areApart = spans.every((span, index) => compare(spans[index - 1]?.to ?? [0, '', ''], span.from) < 0);
  return areApart ? spans.map(({ extent }) => extent.path) : null;
};

/** How many times as many files the next part of a table has. */
const GROWTH = 8;

/**
 * Splits the files into parts: every row of a part comes before every row of the next in the default order. The first part is as small as can be, and each
 * further one several times as large, so that few are needed even for rare rows. Answers one part where rows of all files are mixed, or nothing is known.
 */
export const orderParts = (extents: readonly FileExtent[], descending: boolean, back = false): string[][] => {
  const compare = comparing(descending);
  const apart: Span[][] = [];
  let end: Place | undefined;
  for (const span of extents.map((extent) => spanOf(extent, descending)).sort((a, b) => compare(a.from, b.from))) {
    if (end === undefined || compare(end, span.from) < 0) apart.push([]);
    apart.at(-1)?.push(span);
    if (end === undefined || compare(end, span.to) < 0) end = span.to;
  }
  if (back) apart.reverse();
  const parts: string[][] = [];
  let most = 1;
  for (const spans of apart) {
    const paths = spans.map(({ extent }) => extent.path);
    const last = parts.at(-1);
    if (last && last.length + paths.length <= most) last.push(...paths);
    else {
      if (last) most *= GROWTH;
      parts.push(paths);
    }
  }
  return parts;
};

/**
 * Picks the files that can hold a row of the page. Answers the offset that is left when whole files before the page are not opened. Every row lies in one of
 * the files, so none is missed.
 */
export const pickPageFiles = (
  extents: readonly FileExtent[],
  { descending, offset, limit }: PageAsked,
): { files: string[]; offset: number } => {
  const compare = comparing(descending);
  const spans = extents.map((extent) => spanOf(extent, descending)).sort((a, b) => compare(a.to, b.to));
  // so many rows lie at or before the end of this file that the page ends there at the latest
  let rows = 0;
  const full = spans.find(({ extent }) => (rows += extent.rowCount) >= offset + limit);
  const kept = (full ? spans.filter(({ from }) => compare(from, full.to) <= 0) : spans).sort((a, b) => compare(a.from, b.from));

  let skipped = { files: 0, rows: 0 };
  let before = 0;
  let end: Place | undefined;
  for (const [index, { extent, from, to }] of kept.entries()) {
    if (before > offset) break;
    if (end && compare(end, from) < 0) skipped = { files: index, rows: before };
    before += extent.rowCount;
    if (!end || compare(end, to) < 0) end = to;
  }
  return { files: kept.slice(skipped.files).map(({ extent }) => extent.path), offset: offset - skipped.rows };
};

/** A page that begins after a row, or ends before it. */
export interface PageBeside {
  descending: boolean;
  back: boolean;
  /** The row's key, as extents have it, and its id. */
  key: string | null;
  id: string;
  limit: number;
}

/** Picks the files that can hold a row of such a page. */
export const pickFilesBeside = (extents: readonly FileExtent[], { descending, back, key, id, limit }: PageBeside): string[] => {
  const compare = comparing(descending);
  const place: Place = key === null ? [2, '', id] : [1, key, id];
  const spans = extents.map((extent) => spanOf(extent, descending));
  // the page lies ahead of the place: after it, or before it when looking back
  const near = ({ from, to }: Span) => (back ? to : from);
  const far = ({ from, to }: Span) => (back ? from : to);
  const ahead = (a: Place, b: Place) => (back ? compare(b, a) : compare(a, b));
  const beyond = spans.filter((span) => ahead(far(span), place) > 0).sort((a, b) => ahead(far(a), far(b)));
  let rows = 0;
  // so many rows lie wholly between the place and the end of this file that the page is full there
  const full = beyond.find((span) => ahead(near(span), place) > 0 && (rows += span.extent.rowCount) >= limit);
  const kept = full ? beyond.filter((span) => ahead(near(span), far(full)) <= 0) : beyond;
  return kept.sort((a, b) => compare(a.from, b.from)).map(({ extent }) => extent.path);
};
