import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const GIB = 1_073_741_824;

/** Files that are kept anywhere: objects, work, rows. */
const kept = () =>
  ['objects', 'work', 'lake'].flatMap((name) =>
    readdirSync(join(lake.folder, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name: file }) => join(parentPath, file)),
  );

const written = async (select: string): Promise<Buffer> => {
  const path = join(lake.folder, `made-${Math.random()}.parquet`);
  const engine = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await engine.connect();
  await connection.run(`copy (${select}) to '${path}' (format parquet, compression zstd)`);
  connection.closeSync();
  engine.closeSync();
  return readFileSync(path);
};

const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1_024;

async function stored(bytes: Buffer, rows: number): Promise<void> {
  const { upload } = await lake.ingest(await lake.makeTable(), 'parquet', [{ path: 'fine.parquet', bytes }]);
  expect(upload).toMatchObject({ status: 'completed', stored: rows });
}

/** The file is refused with this reason, leaves nothing, and costs no more memory than reading may. */
async function refused(bytes: Buffer, reason: string, says: RegExp): Promise<void> {
  const before = kept();
  const memory = resident();
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, resident() - memory)), 5);
  const { upload, report } = await lake
    .ingest(await lake.makeTable(), 'parquet', [{ path: 'bomb.parquet', bytes }])
    .finally(() => clearInterval(watch));
  expect(upload).toMatchObject({ status: 'failed', rowsIn: 0, errorMessage: expect.stringMatching(says) });
  expect(report?.files).toMatchObject([{ status: 'failed', reason }]);
  expect(kept()).toEqual(before);
  expect(peak).toBeLessThan(0.7 * GIB);
}

test('a kilobyte of text that a dictionary repeats into gigabytes is refused', async () => {
  await stored(await written(`select repeat('a', 1000000) as a from range(20)`), 20);
  const bomb = await written(`select repeat('a', 1000000) as a from range(1200)`);
  expect(bomb.byteLength).toBeLessThan(2_000);
  await refused(bomb, 'unpacks_too_large', /more than 1024 MiB/);
});

test('so are lists of it, which no reader can hold', async () => {
  await stored(await written(`select list_transform(range(100), x -> repeat('a', 20000)) as a from range(10)`), 10);
  const bomb = await written(`select list_transform(range(100), x -> repeat('a', 200000)) as a from range(60)`);
  expect(bomb.byteLength).toBeLessThan(2_000);
  await refused(bomb, 'unpacks_too_large', /memory/);
});

test('many short rows of lists are added up, though each few of them fit', async () => {
  await stored(await written(`select [repeat('a', 2000), repeat('a', 2000)] as a from range(1000)`), 1_000);
  const bomb = await written(`select [repeat('a', 2000), repeat('a', 2000)] as a from range(300000)`);
  expect(bomb.byteLength).toBeLessThan(200_000);
  await refused(bomb, 'unpacks_too_large', /more than 1024 MiB/);
});

interface Claims {
  /** Rows by the footer. */
  rows?: number;
  /** Unpacked bytes by the footer. */
  unpackedBytes?: number;
  /** Unpacked bytes by the header of the page. */
  pageBytes?: number;
  /** Values by the header of the page. */
  pageValues?: number;
  /** How often the footer names the same bytes as a row group. */
  groups?: number;
  /** How many bytes behind the page are said to hold pages too, each of which is a header that says nothing. */
  blanks?: number;
}

const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]);
const number = (value: number) => varint(value * 2);
const text = (value: string) => [...varint(value.length), ...Buffer.from(value)];
const [I32, I64, BINARY, LIST, STRUCT] = [5, 6, 8, 9, 12];
/** Fields of a struct by number, as (type, bytes). */
const struct = (fields: Readonly<Record<number, readonly [number, readonly number[]]>>): number[] => {
  let before = 0;
  const bytes = Object.entries(fields).flatMap(([id, [type, value]]) => {
    const head = ((Number(id) - before) << 4) | type;
    before = Number(id);
    return [head, ...value];
  });
  return [...bytes, 0];
};
const list = (type: number, elements: readonly (readonly number[])[]) => [
  ...(elements.length < 15 ? [(elements.length << 4) | type] : [0xf0 | type, ...varint(elements.length)]),
  ...elements.flat(),
];

/** A Parquet file of three whole numbers, byte for byte, that may say of itself what is not so. */
function handmade({ rows = 3, unpackedBytes, pageBytes, pageValues = 3, groups = 1, blanks = 0 }: Claims): Buffer {
  const values = Buffer.alloc(12);
  [7, 8, 9].forEach((value, at) => values.writeInt32LE(value, at * 4));
  const page = [
    ...struct({
      1: [I32, number(0)],
      2: [I32, number(pageBytes ?? values.length)],
      3: [I32, number(values.length)],
      5: [STRUCT, struct({ 1: [I32, number(pageValues)], 2: [I32, number(0)], 3: [I32, number(3)], 4: [I32, number(3)] })],
    }),
    ...values,
  ];
  const column = struct({
    1: [I32, number(1)],
    2: [LIST, list(I32, [number(0)])],
    3: [LIST, list(BINARY, [text('a')])],
    4: [I32, number(0)],
    5: [I64, number(rows)],
    6: [I64, number(unpackedBytes ?? page.length)],
    7: [I64, number(page.length + blanks)],
    9: [I64, number(4)],
  });
  const chunk = struct({ 2: [I64, number(4)], 3: [STRUCT, column] });
  const group = struct({ 1: [LIST, list(STRUCT, [chunk])], 2: [I64, number(page.length)], 3: [I64, number(rows)] });
  const footer = struct({
    1: [I32, number(1)],
    2: [
      LIST,
      list(STRUCT, [
        struct({ 4: [BINARY, text('root')], 5: [I32, number(1)] }),
        struct({ 1: [I32, number(1)], 3: [I32, number(0)], 4: [BINARY, text('a')] }),
      ]),
    ],
    3: [I64, number(rows * groups)],
    4: [
      LIST,
      list(
        STRUCT,
        Array.from({ length: groups }, () => group),
      ),
    ],
  });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.from('PAR1'), Buffer.from(page), Buffer.alloc(blanks), Buffer.from(footer), length, Buffer.from('PAR1')]);
}

test('a file that tells of gigabytes, in its footer or only in its pages, is refused before any page is unpacked', async () => {
  await stored(handmade({}), 3);
  await stored(handmade({ groups: 20 }), 60);
  await refused(handmade({ unpackedBytes: 20 * GIB }), 'unpacks_too_large', /more than 1024 MiB/);
  await refused(handmade({ pageBytes: 2 * GIB - 1 }), 'unpacks_too_large', /more than 1024 MiB/);
  await refused(handmade({ rows: 1_000_000_000 }), 'unpacks_too_large', /1,000,000,000 rows.* may have 5,000,000 rows/);
  await refused(handmade({ rows: 1_000_000_000, pageValues: 1_000_000_000 }), 'unpacks_too_large', /may have 5,000,000 rows/);
  // the same page again and again, a tenth of the limit each time
  await refused(handmade({ pageBytes: GIB / 10, groups: 20 }), 'unpacks_too_large', /more than 1024 MiB/);
});

test('a file that contradicts itself is unreadable, whatever it claims', async () => {
  await stored(handmade({}), 3);
  await refused(handmade({ rows: 4 }), 'unreadable', /damaged/);
  await refused(handmade({ pageValues: 0 }), 'unreadable', /damaged/);
  const good = handmade({});
  const long = Buffer.from(good);
  long.writeUInt32LE(0xffff_fff0, long.length - 8);
  await refused(long, 'unreadable', /damaged/);
  // a footer of nothing but list elements, each of which costs its reader hundreds of bytes
  const many = Buffer.concat([Buffer.from([0x49, 0xfc, ...varint(20_000_000)]), Buffer.alloc(20_000_000)]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(many.length);
  await refused(Buffer.concat([Buffer.from('PAR1'), many, length, Buffer.from('PAR1')]), 'unreadable', /damaged/);
});

/** A Parquet file without rows, of these columns: the name of each, and how many of the next ones are inside of it. */
function columnsAlone(columns: readonly (readonly [name: string, children: number])[], childrenId = 5): Buffer {
  const elements = columns.map(([name, children]) =>
    children === 0
      ? struct({ 1: [I32, number(1)], 3: [I32, number(1)], 4: [BINARY, text(name)] })
      : [...struct({ 3: [I32, number(0)], 4: [BINARY, text(name)] }).slice(0, -1), I32, ...number(childrenId), ...number(children), 0],
  );
  const footer = struct({ 1: [I32, number(1)], 2: [LIST, list(STRUCT, elements)], 3: [I64, number(0)], 4: [LIST, list(STRUCT, [])] });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.from('PAR1'), Buffer.from(footer), length, Buffer.from('PAR1')]);
}

test('columns nested more deeply than the engine can follow are refused, also where the file says it in an odd way', async () => {
  const nested = (levels: number, children = 1) => [
    ['root', 1] as const,
    ...Array.from({ length: levels }, () => ['a', children] as const),
  ];
  await stored(columnsAlone([...nested(199), ['x', 0]]), 0);
  await refused(columnsAlone([...nested(20_000), ['x', 0]]), 'unreadable', /damaged/);
  // the number of a field is cut to 16 bits
  await refused(columnsAlone([...nested(20_000), ['x', 0]], 65_536 + 5), 'unreadable', /damaged/);
});

test('a file of very many columns is refused before the engine describes them', async () => {
  const wide = (columns: number) => [['root', columns] as const, ...Array.from({ length: columns }, (_, at) => [`c${at}`, 0] as const)];
  await stored(columnsAlone(wide(2_000)), 0);
  await refused(columnsAlone(wide(200_000)), 'too_many_columns', /has 200000 columns; a table holds at most 2000/);
});

test('a file of pages without end, each of a byte and named again and again, is refused before all are looked at', async () => {
  await stored(handmade({ groups: 20 }), 60);
  await refused(handmade({ groups: 1_000, blanks: 1_000_000 }), 'unreadable', /damaged/);
});

test('a few kilobytes that are millions of rows are refused at once, whatever the rows hold', async () => {
  await stored(await written('select 1 as a from range(200000)'), 200_000);
  const bombs = [
    'select i % 10 as a from range(6000000) r(i)',
    `select ${Array.from({ length: 60 }, (_, at) => `1 as c${at}`).join(', ')} from range(1700000)`,
  ];
  for (const select of bombs) {
    const bomb = await written(select);
    expect(bomb.byteLength).toBeLessThan(300_000);
    const start = performance.now();
    await refused(bomb, 'unpacks_too_large', /rows with [\d,]+ cells; one of its size may have [\d,]+ rows and [\d,]+ cells/);
    expect(performance.now() - start).toBeLessThan(5_000);
  }
});
