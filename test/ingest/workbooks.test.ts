import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeXlsx, writeXlsxStream } from 'hucre/xlsx';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

type Book = Parameters<typeof writeXlsx>[0];

async function send(book: Book, reading = {}) {
  const table = await lake.makeTable();
  const bytes = Buffer.from(await writeXlsx(book));
  const { report } = await lake.ingest(table, 'xlsx', [{ path: 'rows.xlsx', bytes }], { reading });
  return { rows: await lake.rows(table.id), file: report!.files[0]! };
}

test.each(['1900', '1904'] as const)('a cell with a time and no day is that time, where days are counted from %s', async (dateSystem) => {
  const first = dateSystem === '1900' ? '1899-12-31' : '1904-01-01';
  const times = [new Date(`${first}T08:30:00Z`), new Date(`${first}T17:05:30Z`)];
  const { rows } = await send({
    dateSystem,
    sheets: [{ name: 'Data', rows: [['day', 'from'], ...times.map((time) => [new Date('2026-05-01'), time])] }],
  });
  expect(rows).toEqual([
    { day: '2026-05-01', from: '08:30:00' },
    { day: '2026-05-01', from: '17:05:30' },
  ]);
});

const behind = (hidden: boolean): Book => ({
  sheets: [
    { name: 'Lists', hidden, rows: [['choice'], ['shade']] },
    { name: 'A & B', rows: [['plot'], [7]] },
    { name: 'Notes', rows: [['text'], ['none']] },
  ],
});

test('a hidden sheet is passed over unless it is named', async () => {
  expect((await send(behind(false))).rows).toEqual([{ choice: 'shade' }]);
  expect((await send(behind(true))).rows).toEqual([{ plot: 7 }]);
  expect((await send(behind(true), { sheet: 'Lists' })).rows).toEqual([{ choice: 'shade' }]);
});

test('of formulas that were not computed the report says so, column by column', async () => {
  const cell = (formula: string, formulaResult?: number) => ({ formula, formulaResult });
  const { rows, file } = await send({
    sheets: [
      {
        ...{ name: 'Data', rows: [['plot', 'double', 'sum'], [1], [2]] },
        cells: new Map([
          ['1,1', cell('A2*2')],
          ['2,1', cell('A3*2')],
          ['2,2', cell('A2+A3', 3)],
        ]),
      },
    ],
  });
  expect(rows).toEqual([
    { plot: 1, double: null, sum: null },
    { plot: 2, double: null, sum: 3 },
  ]);
  const what = (many: string) =>
    `${many} that the program which wrote the file may not have computed. Open the file in a spreadsheet program, save it, and send it anew.`;
  expect(file.columns.map(({ note }) => note)).toEqual([
    undefined,
    what('2 of its cells are formulas'),
    what('1 of its cells is a formula'),
  ]);
});

test('of merged cells, which hold nothing, the report says so', async () => {
  const rows = [
    ['plot', 'v', 'note'],
    ['a', 1, 'x'],
    [null, 2, null],
    [null, 3, 'y'],
    ['b', 4, null],
  ];
  const send2 = (merges?: { startRow: number; startCol: number; endRow: number; endCol: number }[]) =>
    send({ sheets: [{ name: 'Data', rows, ...(merges ? { merges } : {}) }] });
  const notesOf = ({ file }: Awaited<ReturnType<typeof send>>) => file.columns.map(({ note }) => note);
  expect(notesOf(await send2())).toEqual([undefined, undefined, undefined]);
  const merged = await send2([
    { startRow: 1, startCol: 0, endRow: 3, endCol: 0 },
    { startRow: 3, startCol: 1, endRow: 4, endCol: 2 },
    { startRow: 0, startCol: 1, endRow: 0, endCol: 2 },
  ]);
  const say = (many: string) =>
    `${many} merged with another, which alone holds their value. Undo that, fill in the value, and send the file anew.`;
  expect(merged.rows.map(({ plot }) => plot)).toEqual(['a', null, null, 'b']);
  expect(notesOf(merged)).toEqual([say('2 of its cells are'), say('1 of its cells is'), say('2 of its cells are')]);
});

test('an archive with a directory for more than 4 GiB is read, and one whose directory is damaged is refused', async () => {
  const stream = writeXlsxStream([[1], [2.5]], { name: 'Data', columns: [{ header: 'n' }], zip64: true });
  const bytes = Buffer.from(await new Response(stream as ReadableStream).arrayBuffer());
  expect(bytes.readUInt32LE(bytes.length - 6)).toBe(0xffff_ffff);
  const read = async (file: Buffer) => {
    const table = await lake.makeTable();
    const { report } = await lake.ingest(table, 'xlsx', [{ path: 'rows.xlsx', bytes: file }], { reading: {} });
    return { rows: await lake.rows(table.id), reason: report!.files[0]!.reason };
  };
  expect(await read(bytes)).toEqual({ rows: [{ n: 1 }, { n: 2.5 }], reason: null });
  const part = bytes.indexOf('PK\u0001\u0002', 0, 'latin1');
  const places = [
    ['the second end is elsewhere', bytes.length - 34],
    ['the directory is elsewhere', bytes.length - 50],
    ['there are more parts', bytes.length - 66],
    ['a part is longer', bytes.indexOf(Buffer.from([1, 0, 24, 0]), part) + 4],
    ['a part is elsewhere', bytes.indexOf(Buffer.from([1, 0, 24, 0]), part) + 20],
  ] as const;
  for (const [what, place] of places) {
    const damaged = Buffer.from(bytes);
    damaged.writeBigUInt64LE(2n ** 63n + 7n, place);
    expect((await read(damaged)).reason, what).toMatch(/^(wrong_type|unreadable|unpacks_too_large)$/);
  }
});
