import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomBytes } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';
import { writeXlsx } from 'hucre/xlsx';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const NAMESPACE = 'http://schemas.openxmlformats.org';

interface Packed {
  size: number;
  checksum: number;
  packed: Buffer;
}

function pack(content: string | Buffer): Packed {
  const bytes = Buffer.from(content as string);
  return { size: bytes.length, checksum: crc32(bytes), packed: deflateRawSync(bytes) };
}

/** A ZIP archive of these parts, which say of themselves what `claimed` says they unpack to. */
function zip(
  parts: Readonly<Record<string, string | Buffer | Packed>>,
  claimed: (bytes: number, name: string) => number = (bytes) => bytes,
): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(parts)) {
    const { size, checksum, packed } = typeof content === 'string' || Buffer.isBuffer(content) ? pack(content) : content;
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(checksum, 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(claimed(size, name), 18);
    head.writeUInt16LE(name.length, 22);
    files.push(Buffer.from('PK\x03\x04'), head, Buffer.from(name), packed);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), head, tail, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(parts).length, 4);
  end.writeUInt16LE(Object.keys(parts).length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, listed, Buffer.from('PK\x05\x06'), end]);
}

const workbook = (rows: string, shared = '') => ({
  '[Content_Types].xml': `<Types xmlns="${NAMESPACE}/package/2006/content-types"/>`,
  '_rels/.rels': `<Relationships><Relationship Id="rId1" Type="${NAMESPACE}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns:r="r"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="rId1" Type="${NAMESPACE}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${NAMESPACE}/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
  'xl/sharedStrings.xml': `<sst>${shared}</sst>`,
  'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
});
const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;

async function send(bytes: Buffer, reading = {}) {
  const table = await lake.makeTable();
  const { upload, report } = await lake.ingest(table, 'xlsx', [{ path: 'rows.xlsx', bytes }], { reading });
  return { table, upload, file: report!.files[0]! };
}

test('a workbook is typed as a delimited file is, by the cells of its first sheet or of a named one', async () => {
  const rows = [
    ['plot', 'Leaf\narea', 'day', 'seen', 'from', 'ok', 'code', 'note', null],
    [
      1,
      '0,5',
      new Date('2026-05-01'),
      new Date('2026-05-01T14:05:07.500Z'),
      new Date('1899-12-31T06:30:00Z'),
      true,
      '007',
      'a "q"; b',
      null,
    ],
    [null, null, null, null, null, null, null, null, null],
    [2, '1,25', new Date('2026-05-02'), new Date('2026-05-02'), null, false, '008', '#N/A', null],
    [3, 'NA', new Date('2026-05-03'), null, null, null, '009'],
  ];
  const bytes = Buffer.from(
    await writeXlsx({
      sheets: [
        { name: 'Data', rows },
        { name: 'Other', rows: [['a'], [1]] },
      ],
    }),
  );
  const { table, upload, file } = await send(bytes);
  expect(upload).toMatchObject({ status: 'completed', rowsIn: 3, stored: 3, quarantined: 0 });
  expect(await lake.types(table.id)).toMatchObject({
    plot: 'INT',
    'Leaf area': 'DOUBLE',
    day: 'DATE',
    seen: 'TIMESTAMP_NTZ',
    from: 'STRING',
    ok: 'BOOLEAN',
    code: 'STRING',
    note: 'STRING',
  });
  const stored = (await lake.rows(table.id)).sort((a, b) => Number(a['plot']) - Number(b['plot']));
  expect(stored.map((row) => [row['plot'], row['Leaf area'], row['from'], row['code'], row['note'], row['ok']])).toEqual([
    [1, 0.5, '06:30:00', '007', 'a "q"; b', true],
    [2, 1.25, null, '008', null, false],
    [3, null, null, '009', null, null],
  ]);
  expect(file.columns.map(({ name }) => name)).toEqual(['plot', 'Leaf area', 'day', 'seen', 'from', 'ok', 'code', 'note']);
  const other = await send(bytes, { sheet: 'Other' });
  expect(await lake.types(other.table.id)).toEqual({ a: 'INT' });
  const none = await send(bytes, { sheet: 'Dta' });
  expect(none.file).toMatchObject({
    status: 'failed',
    reason: 'no_such_sheet',
    message: "The file has no sheet 'Dta'; it has 'Data', 'Other'.",
  });
});

test('rows with more cells than the header are set aside, and counted', async () => {
  const { upload } = await send(
    Buffer.from(
      await writeXlsx({
        sheets: [
          {
            name: 'Data',
            rows: [
              ['a', 'b'],
              [1, 2],
              [1, 2, 'a remark'],
              [3, null],
            ],
          },
        ],
      }),
    ),
  );
  expect(upload).toMatchObject({ status: 'partial', rowsIn: 3, stored: 2, quarantined: 1 });
});

test('what is no workbook, a bomb or damaged is refused in words, and the next one is read', async () => {
  const row = (n: number) => `<row>${text('a')}${text(String(n))}</row>`;
  const good = workbook(row(1) + row(2));
  expect((await send(zip(good))).upload).toMatchObject({ status: 'completed', rowsIn: 1 });

  // a little more than the bytes that cells may share
  const bomb = Buffer.alloc(130 * 1_048_576, 'a');
  const shared = pack(Buffer.concat([Buffer.from('<sst><si><t>'), bomb, Buffer.from('</t></si></sst>')]));
  const outcome = async (bytes: Buffer) => {
    const { file } = await send(bytes);
    return [file.status, file.reason];
  };
  expect(await outcome(zip({ ...good, 'xl/sharedStrings.xml': shared }))).toEqual(['failed', 'unpacks_too_large']);
  const lying = (bytes: number, name: string) => (name === 'xl/sharedStrings.xml' ? 1_000 : bytes);
  expect(await outcome(zip({ ...good, 'xl/sharedStrings.xml': shared }, lying))).toEqual(['failed', 'unreadable']);
  const silent = (bytes: number, name: string) => (name === 'xl/sharedStrings.xml' ? 0 : bytes);
  expect(await outcome(zip({ ...good, 'xl/sharedStrings.xml': shared }, silent))).toEqual(['failed', 'unpacks_too_large']);
  const padding = { 'xl/media/image1.png': randomBytes(4 * 1_048_576) };
  expect(await outcome(zip({ ...good, ...padding, 'xl/sharedStrings.xml': shared }))).toEqual(['failed', 'unpacks_too_large']);
  // many small texts take more memory than their bytes
  const many = `<sst>${'<si/>'.repeat(24_000_000)}</sst>`;
  expect(await outcome(zip({ ...good, ...padding, 'xl/sharedStrings.xml': many }))).toEqual(['failed', 'unpacks_too_large']);
  expect(await outcome(Buffer.from('a,b\n1,2\n'))).toEqual(['failed', 'wrong_type']);
  expect(await outcome(Buffer.from('PK'))).toEqual(['failed', 'wrong_type']);
  expect(await outcome(Buffer.from('d0cf11e0a1b11ae1', 'hex'))).toEqual(['failed', 'wrong_type']);
  expect(await outcome(zip({ 'a.txt': 'a' }))).toEqual(['failed', 'wrong_type']);
  expect(await outcome(zip(workbook('')))).toEqual(['failed', 'empty_file']);
  expect(await outcome(zip(good).subarray(0, -30))).toEqual(['failed', 'wrong_type']);
  const flipped = zip(workbook(Array.from({ length: 1_000 }, (_, n) => row(n)).join('')));
  const at = flipped.indexOf('xl/worksheets/sheet1.xml') + 2_000;
  flipped[at] = flipped[at]! ^ 1;
  expect(await outcome(flipped)).toEqual(['failed', 'unreadable']);

  expect((await send(zip(good))).upload).toMatchObject({ status: 'completed', rowsIn: 1 });
});

const styled = (rows: string, formats: readonly string[], before = '') => {
  const parts = workbook(rows);
  const listed = formats.map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code}"/>`).join('');
  const cells = formats.map((_, at) => `<xf numFmtId="${164 + at}" applyNumberFormat="1"/>`).join('');
  return zip({
    ...parts,
    'xl/worksheets/sheet1.xml': before + parts['xl/worksheets/sheet1.xml'],
    'xl/styles.xml': `<styleSheet><numFmts>${listed}</numFmts><cellXfs><xf numFmtId="0"/>${cells}<xf numFmtId="46"/></cellXfs></styleSheet>`,
    'xl/_rels/workbook.xml.rels': parts['xl/_rels/workbook.xml.rels'].replace(
      '</Relationships>',
      `<Relationship Id="rId3" Type="${NAMESPACE}/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`,
    ),
  });
};
const number = (value: number | string, style = 0) => `<c s="${style}"><v>${value}</v></c>`;

test('elapsed time and codes with leading zeros are text, as their cells show them', async () => {
  const formats = ['[h]:mm', '[mm]:ss', '000', '&quot;P&quot;000', '00-000', 'yyyy-mm-dd', '0.00', '[h]:mm:ss.000'];
  const header = ['long', 'short', 'plot', 'code', 'parts', 'day', 'v', 'exact', 'built'];
  const rows = [
    header.map(text).join(''),
    [number(1.5208333333333333, 1), number('6.25E-2', 2), number(7, 3), number(7, 4), number(7, 5), number(45000, 6), number(7, 7)].join(
      '',
    ) +
      number(60.00001, 8) +
      number(2.5, 9),
    [number(0.041678, 1), number(0, 2), number(120, 3), number(12345, 4), number(123456, 5), number(45001, 6), number(0.5, 7)].join('') +
      number(-0.5, 8) +
      number(0.5, 9),
    [number('', 1), number('', 2), number(7.5, 3)].join(''),
  ];
  const { table, file } = await send(styled(rows.map((cells) => `<row>${cells}</row>`).join(''), formats));
  expect(file).toMatchObject({ status: 'completed', stored: 3 });
  const [first, second, third] = await lake.rows(table.id);
  expect(first).toEqual({
    ...{ long: '36:30', short: '90:00', plot: '007', code: 'P007', parts: '00-007', day: '2023-03-15', v: 7, exact: '1440:00:00.864' },
    built: '60:00',
  });
  expect(second).toMatchObject({
    long: '1:00:00.979',
    short: '0:00',
    plot: '120',
    code: 'P12345',
    parts: '123-456',
    exact: '-12:00',
    built: '12:00',
  });
  expect(third).toMatchObject({ long: null, plot: '7.5' });
});

test('a header of blanks and a number format of opening brackets are read in time that grows as their length does', async () => {
  const rows = `<row>${text(`a${' '.repeat(1_000_000)}b`)}</row><row>${number(1, 1)}</row>`;
  expect((await send(styled(rows, ['['.repeat(1_000_000)]))).file).toMatchObject({ status: 'completed', stored: 1 });
});

test('a sheet that begins with megabytes of no tag is refused', async () => {
  const rows = `<row>${text('a')}</row><row>${number(1, 1)}</row>`;
  const after = (blanks: number) => styled(rows, ['000'], ' '.repeat(blanks));
  expect((await send(after(1_000))).file).toMatchObject({ status: 'completed', stored: 1 });
  expect((await send(after(2_000_000))).file).toMatchObject({ status: 'failed', reason: 'unreadable' });
});

const sheetOf = (header: string[], ...rows: (string | number)[][]) =>
  zip(
    workbook(
      [header, ...rows]
        .map((cells) => `<row>${cells.map((cell) => (typeof cell === 'number' ? number(cell) : text(cell))).join('')}</row>`)
        .join(''),
    ),
  );

test('cells that are numbers keep their value beside texts with decimal commas', async () => {
  const rows: [number | string, number, string, number][] = [
    [1.234, 1.234, '1,5', 1e-7],
    ['31,2', 1000.125, '2,5', 1.5e-7],
    [-0.125, 2.345, '1.234', 1e21],
    [1234, 10.125, '1.234,5', -3],
    ['-999,0', 9007199254740991, '7', -2e-9],
  ];
  const bytes = sheetOf(['mixed', 'numbers', 'texts', 'small'], ...rows);
  const told = await send(bytes, { decimal: ',', missing: ['-999'] });
  expect(told.file).toMatchObject({ status: 'completed', stored: 5 });
  const report = [...told.file.columns].map(({ name, type, oddValues }) => [name, type, oddValues]);
  expect(report).toEqual(['mixed', 'numbers', 'texts', 'small'].map((name) => [name, 'DOUBLE', 0]));
  const stored = await lake.rows(told.table.id);
  expect(stored.map(({ mixed }) => mixed)).toEqual([1.234, 31.2, -0.125, 1234, null]);
  expect(stored.map(({ numbers }) => numbers)).toEqual(rows.map(([, value]) => value));
  expect(stored.map(({ texts }) => texts)).toEqual([1.5, 2.5, 1234, 1234.5, 7]);
  expect(stored.map(({ small }) => small)).toEqual(rows.map(([, , , value]) => value));
});

test('they do where no decimal mark is told, and in a table that a file with commas made', async () => {
  const mixed = [['1,5'], ['2,5'], [1.234], ['3,25']];
  const untold = await send(sheetOf(['v'], ...mixed));
  expect(await lake.types(untold.table.id)).toEqual({ v: 'STRING' });
  expect(untold.file.columns[0]).toMatchObject({ note: expect.stringContaining('Send the file with decimal') });
  const late = await send(sheetOf(['v'], ...Array.from({ length: 2_100 }, (_, n) => [n < 2_050 ? `${n},5` : 1.234])));
  expect(await lake.types(late.table.id)).toEqual({ v: 'STRING' });

  const table = await lake.makeTable();
  await lake.ingest(table, 'csv', [{ path: 'a.csv', bytes: 'n;v\n1;1,234\n2;2,5\n' }], { reading: { decimal: ',' } });
  const files = [{ path: 'told.xlsx', bytes: sheetOf(['n', 'v'], [3, 1.234], [4, 0.987], [5, '12,345']) }];
  await lake.ingest(table, 'xlsx', files, { reading: { decimal: ',' } });
  await lake.ingest(table, 'xlsx', [{ path: 'untold.xlsx', bytes: sheetOf(['n', 'v'], [6, 1.234], [7, '1,5'], [8, 0.987]) }]);
  const rows = (await lake.rows(table.id)).sort((a, b) => Number(a['n']) - Number(b['n']));
  expect(rows.map(({ v }) => v)).toEqual([1.234, 2.5, 1.234, 0.987, 12.345, 1.234, null, 0.987]);
  expect(rows[6]).toMatchObject({ v__text: '1,5' });
});

test('a title above the header, and a sheet that is empty, are said to be so', async () => {
  const sheet = (...rows: string[]) => zip(workbook(rows.map((row) => `<row>${row}</row>`).join('')));
  const titled = await send(sheet(text('Trial 2026'), '', text('plot') + number(2026), number(1) + number(2)));
  expect(titled.file).toMatchObject({
    ...{ status: 'failed', reason: 'bad_header' },
    message:
      'Row 1 has one cell, and row 3 has 2: the header seems to be in row 3. Send the file with headerRow 3, or remove what stands above it.',
  });
  const later = await send(sheet(text('note'), text('a'), text('b') + text('c; d')));
  expect(later.file).toMatchObject({ status: 'partial', stored: 1, quarantined: 1, reason: 'too_many_fields' });
  expect((await send(sheet(text('plot') + text('v'), number(1) + number(2)))).file).toMatchObject({ status: 'completed', message: null });
  expect((await send(sheet(text('plot') + text('v')))).file).toMatchObject({ status: 'completed', message: 'The file has no records.' });
  expect((await send(sheet(''), { sheet: 'Data' })).file.message).toBe("The sheet 'Data' is empty: it has no header row.");
  expect((await send(sheet(''), { sheet: 'Other' })).file.message).toBe("The file has no sheet 'Other'; it has 'Data'.");
});

test('the report of a workbook names the sheets that were not read, and a cover before them is refused', async () => {
  const behind = async (cover: string[][], reading = {}) =>
    send(
      Buffer.from(
        await writeXlsx({
          sheets: [
            { name: 'Cover', rows: cover },
            { name: 'Plots', rows: [['a'], [1]] },
            { name: 'Notes', rows: [['b'], [1]] },
          ],
        }),
      ),
      reading,
    );
  const others = "To read another sheet, name it: 'Plots', 'Notes'.";
  const titled = await behind([['Trial 2026'], ['made', 'by', 'us']]);
  expect(titled.file).toMatchObject({ reason: 'bad_header', message: expect.stringMatching(new RegExp(`${others}$`)) });
  expect((await behind([])).file).toMatchObject({
    reason: 'empty_file',
    message: `The first sheet is empty: it has no header row. ${others}`,
  });
  expect((await behind([['plot'], ['A1']])).file).toMatchObject({
    status: 'completed',
    message: `Only the first sheet was read. ${others}`,
  });
  expect((await behind([], { sheet: 'Plots' })).file).toMatchObject({ status: 'completed', message: null });
});
