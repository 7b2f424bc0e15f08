/** Between which values the columns of a Parquet file lie, as its footer says. */
import type { ColumnRange, StoredAs } from '../warehouse.ts';
import { field, structsOf, type ThriftStruct } from './thrift-compact.ts';

// numbers of fields in the format's own definition
const FILE = { schema: 2, groups: 4 };
const ELEMENT = { name: 4, children: 5, converted: 6 };
const GROUP = { columns: 1, rows: 3 };
const COLUMN = { facts: 3 };
const FACTS = { type: 1, path: 3, statistics: 12 };
const STATISTICS = { nulls: 3, high: 5, low: 6 };
const DECIMAL = 5n;

/** A physical type of the format, and how a value of it is read; null where a number here cannot hold it. */
const STORED: ReadonlyMap<ThriftStruct[number]['value'] | undefined, { as: StoredAs; read: (bytes: Buffer) => number }> = new Map([
  [1n, { as: 'int32', read: (bytes: Buffer) => bytes.readInt32LE() }],
  [2n, { as: 'int64', read: (bytes: Buffer) => Number(bytes.readBigInt64LE()) }],
  [5n, { as: 'double', read: (bytes: Buffer) => bytes.readDoubleLE() }],
]);

const isExact = (value: number, as: StoredAs) => (as === 'double' ? !Number.isNaN(value) : Number.isSafeInteger(value));

/** The only columns whose numbers are what they are: no list's, no struct's, and none with a scale. */
const plainNames = (footer: ThriftStruct): ReadonlySet<string> =>
  new Set(
    structsOf(footer, FILE.schema).flatMap((element) => {
      const name = field(element, ELEMENT.name)?.value;
      const isPlain = !field(element, ELEMENT.children) && field(element, ELEMENT.converted)?.value !== DECIMAL;
      return isPlain && Buffer.isBuffer(name) ? name.toString() : [];
    }),
  );

/** Of one column of a row group; null where the footer does not say. */
const rangeIn = (facts: ThriftStruct, rows: bigint): ColumnRange | null => {
  const path = field(facts, FACTS.path)?.value;
  const [name, ...deeper] = typeof path === 'object' && 'items' in path ? path.items : [];
  const stored = STORED.get(field(facts, FACTS.type)?.value);
  const statistics = field(facts, FACTS.statistics)?.value;
  if (!stored || !Buffer.isBuffer(name) || deeper.length > 0 || !Array.isArray(statistics)) return null;
  const nulls = field(statistics, STATISTICS.nulls)?.value;
  if (typeof nulls !== 'bigint') return null;
  const range = { name: name.toString(), storedAs: stored.as, nulls: Number(nulls) };
  if (nulls === rows) return { ...range, low: null, high: null };
  const [least, greatest] = [field(statistics, STATISTICS.low)?.value, field(statistics, STATISTICS.high)?.value];
  if (!Buffer.isBuffer(least) || !Buffer.isBuffer(greatest)) return null;
  const [low, high] = [stored.read(least), stored.read(greatest)];
  return isExact(low, stored.as) && isExact(high, stored.as) ? { ...range, low, high } : null;
};

const least = (one: number | null, other: number | null) => (one === null || other === null ? (one ?? other) : Math.min(one, other));
const greatest = (one: number | null, other: number | null) => (one === null || other === null ? (one ?? other) : Math.max(one, other));

/** The ranges of the columns over some row groups of a file; of a column that one of them says nothing of, nothing is said. */
export const rangesOf = (footer: ThriftStruct, groups: readonly ThriftStruct[]): ColumnRange[] => {
  const plain = plainNames(footer);
  const found = new Map<string, { range: ColumnRange; groups: number }>();
  for (const group of groups) {
    const rows = field(group, GROUP.rows)?.value;
    for (const column of structsOf(group, GROUP.columns)) {
      const facts = field(column, COLUMN.facts)?.value;
      const range = Array.isArray(facts) && typeof rows === 'bigint' ? rangeIn(facts, rows) : null;
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
