import fc from 'fast-check';
import { expect, test } from 'vitest';
import { orderFiles, pickPageFiles, orderParts, type FileExtent } from '../../src/lakehouse/terms/extents.ts';

interface Row {
  key: string | null;
  id: string;
}

const seed = Number(process.env['FC_SEED'] ?? Date.now() % 1_000_000_000);

const keyOf = (n: number) => `2026-01-01T00:00:0${n}.000000Z`;
const least = (values: readonly string[]) =>
  values.reduce<string | null>((low, value) => (low === null || value < low ? value : low), null);
const most = (values: readonly string[]) =>
  values.reduce<string | null>((high, value) => (high === null || value > high ? value : high), null);

const extentOf = (path: string, rows: readonly Row[], isKnown: boolean): FileExtent => {
  const keys = rows.flatMap(({ key }) => key ?? []);
  const ids = rows.map(({ id }) => id);
  return {
    path,
    rowCount: rows.length,
    minKey: least(keys),
    maxKey: most(keys),
    minId: isKnown ? least(ids) : null,
    maxId: isKnown ? most(ids) : null,
    nullKeys: isKnown ? rows.length - keys.length : null,
  };
};

const inOrder = (rows: readonly Row[], descending: boolean) =>
  [...rows].sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null) || (a.id < b.id ? -1 : 1);
    const keys = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
    return (descending ? -keys : keys) || (a.id < b.id ? -1 : 1);
  });

const row = fc.record({ key: fc.option(fc.integer({ min: 0, max: 5 }).map(keyOf), { freq: 5 }), isSorted: fc.boolean() });

test(`the files of a page hold that page, in both directions (FC_SEED=${seed})`, () => {
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 }),
      fc.record({
        offset: fc.nat(70),
        limit: fc.nat(20),
        descending: fc.boolean(),
        lie: fc.constantFrom('none', 'some'),
        compact: fc.boolean(),
      }),
      (made, sizes, { offset, limit, descending, lie, compact }) => {
        let rows: Row[] = made.map(({ key }, index) => ({ key, id: String(index).padStart(4, '0') }));
        if (compact) rows = inOrder(rows, false);
        const files = new Map<string, Row[]>();
        const extents: FileExtent[] = [];
        for (let from = 0, at = 0; from < rows.length; at += 1) {
          const some = rows.slice(from, from + sizes[at % sizes.length]!);
          files.set(`f${at}`, some);
          extents.push(extentOf(`f${at}`, some, lie === 'none' || at % 3 > 0));
          from += some.length;
        }
        const lined = orderFiles(extents);
        if (lined) expect(lined.flatMap((path) => inOrder(files.get(path)!, false))).toEqual(inOrder(rows, false));
        const parts = orderParts(extents, descending);
        expect(parts.flat().toSorted()).toEqual([...files.keys()].toSorted());
        const rowsOf = (paths: readonly string[]) =>
          inOrder(
            paths.flatMap((path) => files.get(path)!),
            descending,
          );
        expect(parts.flatMap(rowsOf)).toEqual(inOrder(rows, descending));
        expect(orderParts(extents, descending, true).toReversed().flatMap(rowsOf)).toEqual(inOrder(rows, descending));
        const page = pickPageFiles(extents, { descending, offset, limit });
        const read = inOrder(
          page.files.flatMap((path) => files.get(path)!),
          descending,
        );
        expect(read.slice(page.offset, page.offset + limit)).toEqual(inOrder(rows, descending).slice(offset, offset + limit));
      },
    ),
    { seed, numRuns: 5_000 },
  );
});

test('a page of a table of disjoint files opens one or two of them, wherever it is', () => {
  const id = (n: number) => String(n).padStart(8, '0');
  // fifty files of one upload: all rows have the same key, and their ids follow each other
  const tied = Array.from({ length: 50 }, (_, at) =>
    extentOf(
      `f${at}`,
      [{ key: keyOf(1), id: id(at * 100) }, ...Array.from({ length: 99 }, (_none, n) => ({ key: keyOf(1), id: id(at * 100 + n + 1) }))],
      true,
    ),
  );
  expect(pickPageFiles(tied, { descending: false, offset: 0, limit: 100 })).toEqual({ files: ['f0'], offset: 0 });
  expect(pickPageFiles(tied, { descending: true, offset: 0, limit: 100 })).toEqual({ files: ['f0'], offset: 0 });
  expect(pickPageFiles(tied, { descending: false, offset: 4_950, limit: 100 })).toEqual({ files: ['f49'], offset: 50 });
  expect(pickPageFiles(tied, { descending: false, offset: 2_450, limit: 100 })).toEqual({ files: ['f24', 'f25'], offset: 50 });
  expect(orderFiles([...tied].reverse())).toEqual(tied.map(({ path }) => path));
  expect(orderFiles([...tied, tied[7]!])).toBeNull();
  expect(orderParts(tied, false).map((part) => part.length)).toEqual([1, 8, 41]);
  expect(orderParts(tied, false, true)[0]).toEqual(['f49']);
  expect(orderParts([...tied, { ...tied[7]!, minId: null }], false)).toHaveLength(1);
  const timed = Array.from({ length: 6 }, (_, at) => extentOf(`f${at}`, [{ key: keyOf(at), id: id(60 - at) }], true));
  expect(pickPageFiles(timed, { descending: true, offset: 1, limit: 1 })).toEqual({ files: ['f4'], offset: 0 });
});
