import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../support/random.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

/** More than the first records by which a file is typed. */
const EARLY = 2_100;

const INT = (row: number) => String(row);
const kinds: Record<string, (row: number) => string> = {
  int: INT,
  long: (row) => String(3_000_000_000 + row),
  double: (row) => `${row}.25`,
  mixed: (row) => (row % 2 === 0 ? String(row) : `${row}.5`),
  date: (row) => `2024-01-${String(1 + (row % 28)).padStart(2, '0')}`,
  instant: (row) => `2024-01-01T00:00:${String(row % 60).padStart(2, '0')}.5Z`,
  local: (row) => `2024-01-01 00:${String(row % 60).padStart(2, '0')}`,
  truth: (row) => (row % 3 === 0 ? 'no' : 'Yes'),
  european: (row) => `${1 + (row % 28)}.1.2024`,
  american: (row) => `1/${1 + (row % 28)}/2024 9:0${row % 10} PM`,
  unclear: (row) => `1/${1 + (row % 12)}/2024`,
  text: (row) => `leaf ${row}`,
  absent: () => '',
};
const LATE = [
  ...[
    '7',
    '-0',
    '007',
    '7.50',
    '1e3',
    '1.0e-7',
    '12.6',
    '3000000000',
    '9007199254740993',
    '0.1000000000000000055',
    '123456789012345678901',
  ],
  ...['n/a', '""', '', '2024-02-30', '2024-02-29', '2024-02-29T01:02:03Z', '2024-02-29T01:02:03+02:00', '2024-02-29 01:02', 'inf', 'true'],
  ...['NA', ' 7 ', '.5', '"0,5"', 'yes', '31.12.2024', '12/31/2024', '31/12/2024', '12/31/2024 10:00', '5 May 2024'],
];

const file = (columns: readonly string[], rows: readonly string[][]) => [columns.join(','), ...rows.map((row) => row.join(','))].join('\n');
const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();

const names = Object.keys(kinds);
const begin = Math.floor(seededRandom()() * names.length);
/** How many kinds of column each late value comes into: every one in a long run, else one, each kind in its turn. */
const KINDS_EACH = process.env['SOAK'] === undefined ? 1 : names.length;
const pairs = LATE.flatMap((late, turn) =>
  Array.from({ length: KINDS_EACH }, (_, index) => ({ late, kind: names[(begin + turn * KINDS_EACH + index) % names.length]! })),
);
/** Columns of a file: each is read for itself. */
const PAIRS_EACH = 10;

const early = Array.from({ length: EARLY }, (_, row) => String(row));

test('a value that comes late says as much of its column as one that comes first', async () => {
  for (let at = 0; at < pairs.length; at += PAIRS_EACH) {
    const drawn = pairs.slice(at, at + PAIRS_EACH);
    const columns = ['place', ...drawn.map(({ kind }, index) => `${kind}_${index}`)];
    const before = early.map((place, row) => [place, ...drawn.map(({ kind }) => kinds[kind]!(row))]);
    const after = [String(EARLY), ...drawn.map(({ late }) => late)];
    const read = async (rows: readonly string[][]) => {
      const table = await lake.makeTable();
      const { report } = await lake.ingest(table, 'csv', [{ path: 'a.csv', bytes: file(columns, rows) }]);
      return {
        stored: report!.files[0]!.stored,
        types: await lake.types(table.id),
        odd: report!.files[0]!.columns.map(({ oddValues }) => oddValues),
        rows: sorted(await lake.rows(table.id)),
      };
    };
    const [first, last] = [await read([after, ...before]), await read([...before, after])];
    expect(last, drawn.map(({ late, kind }) => `${late} in ${kind}`).join()).toEqual(first);
    expect(last.stored).toBe(EARLY + 1);
  }
});

test('one odd value behind many leaves each other value in its column', async () => {
  const table = await lake.makeTable();
  await lake.ingest(table, 'csv', [{ path: 'first.csv', bytes: 'par\n1\n2\n' }]);
  const { report } = await lake.ingest(table, 'csv', [
    { path: 'late.csv', bytes: file(['par'], [...early.map((place) => [place]), ['low'], ['5']]) },
  ]);
  expect(report!.files[0]).toMatchObject({ stored: EARLY + 2, columns: [{ name: 'par', type: 'INT', oddValues: 1 }] });
  const rows = (await lake.rows(table.id)) as { par: number | null; par__text: string | null }[];
  expect(rows.filter(({ par }) => par === null)).toEqual([{ par: null, par__text: 'low' }]);
  expect(rows.filter(({ par }) => par === 5)).toHaveLength(2);
});
