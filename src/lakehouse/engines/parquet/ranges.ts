/** Reads from a Parquet file's footer between which values its columns lie, and where its rows begin and end. */
import { printInstant } from '../../terms/instant.ts';
import type { ColumnRange, StoredAs } from '../../terms/warehouse.ts';
import { findBytes, findField, findNumber, listStructs, type ThriftStruct } from './thrift-compact.ts';

// numbers of fields in the format's own definition
const FILE = { schema: 2, groups: 4 };
const ELEMENT = { name: 4, children: 5, converted: 6 };
const GROUP = { columns: 1, rows: 3 };
const COLUMN = { facts: 3 };
const FACTS = { type: 1, path: 3, statistics: 12 };
const STATISTICS = { nulls: 3, high: 5, low: 6, highIsExact: 7, lowIsExact: 8 };
const DECIMAL = 5;
const TIMESTAMP_MICROS = 10;

/** The physical types of the format whose values a number here can hold, with how such a value is read. */
const STORED: ReadonlyMap<number | undefined, { as: StoredAs; read: (bytes: Buffer) => number }> = new Map([
  [1, { as: 'int32', read: (bytes: Buffer) => bytes.readInt32LE() }],
  [2, { as: 'int64', read: (bytes: Buffer) => Number(bytes.readBigInt64LE()) }],
  [5, { as: 'double', read: (bytes: Buffer) => bytes.readDoubleLE() }],
]);

const isExact = (value: number, as: StoredAs) => (as === 'double' ? !Number.isNaN(value) : Number.isSafeInteger(value));

/** Lists the columns whose stored numbers are the values themselves: not a list's, not a struct's, and without a scale. */
const plainNames = (footer: ThriftStruct): ReadonlySet<string> =>
  new Set(
    listStructs(footer, FILE.schema).flatMap((element) => {
      const isPlain = !findField(element, ELEMENT.children) && findNumber(element, ELEMENT.converted) !== DECIMAL;
      return isPlain ? (findBytes(element, ELEMENT.name)?.toString() ?? []) : [];
    }),
  );

/** Reads what the footer says of one column of a row group, under its name. Null without statistics, and for what lies in a list or a struct. */
const namedFacts = (column: ThriftStruct): { name: string; facts: ThriftStruct; statistics: ThriftStruct } | null => {
  const facts = findField(column, COLUMN.facts)?.value;
  if (!Array.isArray(facts)) return null;
  const path = findField(facts, FACTS.path)?.value;
  const [name, ...deeper] = typeof path === 'object' && 'items' in path ? path.items : [];
  const statistics = findField(facts, FACTS.statistics)?.value;
  return Buffer.isBuffer(name) && deeper.length === 0 && Array.isArray(statistics) ? { name: name.toString(), facts, statistics } : null;
};

/** Reads the range of one column of a row group; null where the footer does not say it. */
const rangeIn = (column: ThriftStruct, rows: number): ColumnRange | null => {
  const { name, facts, statistics } = namedFacts(column) ?? {};
  const stored = facts && STORED.get(findNumber(facts, FACTS.type));
  const nulls = statistics && findNumber(statistics, STATISTICS.nulls);
  if (name === undefined || !stored || !statistics || nulls === undefined) return null;
  const range = { name, storedAs: stored.as, nulls };
  if (nulls === rows) return { ...range, low: null, high: null };
  const [least, greatest] = [findBytes(statistics, STATISTICS.low), findBytes(statistics, STATISTICS.high)];
  if (!least || !greatest) return null;
  const [low, high] = [stored.read(least), stored.read(greatest)];
  return isExact(low, stored.as) && isExact(high, stored.as) ? { ...range, low, high } : null;
};

const least = (one: number | null, other: number | null) => (one === null || other === null ? (one ?? other) : Math.min(one, other));
const greatest = (one: number | null, other: number | null) => (one === null || other === null ? (one ?? other) : Math.max(one, other));

const leastText = (one: string, other: string) => (one < other ? one : other);
const greatestText = (one: string, other: string) => (one > other ? one : other);

/** The ranges of columns over some row groups of a file. A column is left out when one of the groups says nothing about it. */
export const listRanges = (footer: ThriftStruct, groups: readonly ThriftStruct[]): ColumnRange[] => {
  const plain = plainNames(footer);
  const found = new Map<string, { range: ColumnRange; groups: number }>();
  for (const group of groups) {
    const rows = findNumber(group, GROUP.rows);
    for (const column of listStructs(group, GROUP.columns)) {
      const range = rows === undefined ? null : rangeIn(column, rows);
      if (!range || !plain.has(range.name)) continue;
      const before = found.get(range.name);
      found.set(range.name, {
        groups: (before?.groups ?? 0) + 1,
        range: before
          ? {
              ...range,
              low: least(before.range.low, range.low),
              high: greatest(before.range.high, range.high),
              nulls: before.range.nulls + range.nulls,
            }
          : range,
      });
    }
  }
  return [...found.values()].flatMap((column) => (column.groups === groups.length ? column.range : []));
};

/** Counts the rows of these row groups that have no value, by column. A group counts only where its footer says how many. */
export const countNulls = (groups: readonly ThriftStruct[]): Map<string, number> => {
  const found = new Map<string, number>();
  for (const group of groups)
    for (const column of listStructs(group, GROUP.columns)) {
      const { name, statistics } = namedFacts(column) ?? {};
      const nulls = statistics && findNumber(statistics, STATISTICS.nulls);
      if (name !== undefined && nulls !== undefined) found.set(name, (found.get(name) ?? 0) + nulls);
    }
  return found;
};

/** The least and greatest sort key of a file's rows, and the least and greatest of their ids. */
export interface FileEdges {
  rows: number;
  /** ISO 8601 in UTC, with microseconds; null when no row has a key. */
  low: string | null;
  high: string | null;
  nulls: number;
  firstId: string;
  lastId: string;
}

const [EARLIEST, LATEST] = [BigInt(Date.UTC(1000, 0, 1)) * 1_000n, BigInt(Date.UTC(10_000, 0, 1)) * 1_000n];
const hasFourDigits = (time: bigint) => time >= EARLIEST && time < LATEST;

const exactly = (statistics: ThriftStruct, value: number, isExact: number): Buffer | undefined =>
  findField(statistics, isExact)?.value === true ? findBytes(statistics, value) : undefined;

/**
 * Finds the edges of some row groups of a file that is sorted by time. Undefined when the footer does not say them exactly, or a year does not have four
 * digits.
 */
export function findEdges(footer: ThriftStruct, groups: readonly ThriftStruct[], sortColumn: string): FileEdges | undefined {
  const isTime = listStructs(footer, FILE.schema).some(
    (element) => findBytes(element, ELEMENT.name)?.toString() === sortColumn && findNumber(element, ELEMENT.converted) === TIMESTAMP_MICROS,
  );
  if (!isTime) return undefined;
  const [keys, ids]: [bigint[], string[]] = [[], []];
  let [rows, nulls] = [0, 0];
  for (const group of groups) {
    const columns = listStructs(group, GROUP.columns).flatMap((column) => namedFacts(column) ?? []);
    const [key, id] = [sortColumn, 'id'].map((name) => columns.find((column) => column.name === name)?.statistics);
    const count = findNumber(group, GROUP.rows);
    const without = key && findNumber(key, STATISTICS.nulls);
    if (!key || !id || count === undefined || without === undefined) return undefined;
    rows += count;
    nulls += without;
    const edges = [key, id].map((each) => [
      exactly(each, STATISTICS.low, STATISTICS.lowIsExact),
      exactly(each, STATISTICS.high, STATISTICS.highIsExact),
    ]);
    const [[low, high] = [], [first, last] = []] = edges;
    if (!first || !last || (without < count && (!low || !high))) return undefined;
    ids.push(first.toString(), last.toString());
    if (low && high && without < count) keys.push(low.readBigInt64LE(), high.readBigInt64LE());
  }
  const known = { rows, nulls, firstId: ids.reduce(leastText), lastId: ids.reduce(greatestText) };
  if (keys.length === 0) return { ...known, low: null, high: null };
  const low = keys.reduce((one, other) => (one < other ? one : other));
  const high = keys.reduce((one, other) => (one > other ? one : other));
  return hasFourDigits(low) && hasFourDigits(high) ? { ...known, low: printInstant(low), high: printInstant(high) } : undefined;
}
