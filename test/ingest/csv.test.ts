import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { ingestUpload } from '../../src/ingest/uploads/ingest.ts';
import type { ReadingOptions } from '../../src/ingest/typing/readings.ts';
import { parseStrict, writeField } from './rfc4180.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000);

const one = async (bytes: string | Buffer, kind = 'csv', reading: ReadingOptions = {}) => {
  const table = await lake.makeTable();
  const result = await lake.ingest(table, kind, [{ path: `a.${kind}`, bytes }], { reading });
  return { table, ...result, rows: await lake.rows(table.id), file: result.report!.files[0]! };
};

test('every column takes the type that all its values have', async () => {
  const { table, rows, upload } = await one(
    'plot,code,v,big,day,at,local,note\n' +
      '1,007,12.50,9007199254740993,2024-01-02,2024-01-02T03:04:05Z,2024-01-02 03:04,"a ""q""\nb"\n' +
      '2,+12,-0.5,1,2024-02-29,2024-01-02T03:04:05.123456+02:00,2024-01-02T03:04:05.5,\n3,,,,,,,""\n',
  );
  expect(upload).toMatchObject({ status: 'completed', rowsIn: 3, stored: 3 });
  expect(await lake.types(table.id)).toEqual({
    plot: 'INT',
    code: 'STRING',
    v: 'DOUBLE',
    big: 'BIGINT',
    day: 'DATE',
    at: 'TIMESTAMP',
    local: 'TIMESTAMP_NTZ',
    note: 'STRING',
  });
  expect(rows).toEqual([
    {
      plot: 1,
      code: '007',
      v: 12.5,
      big: '9007199254740993',
      day: '2024-01-02',
      at: '2024-01-02 03:04:05+00',
      local: '2024-01-02 03:04:00',
      note: 'a "q"\nb',
    },
    {
      plot: 2,
      code: '+12',
      v: -0.5,
      big: '1',
      day: '2024-02-29',
      at: '2024-01-02 01:04:05.123456+00',
      local: '2024-01-02 03:04:05.5',
      note: null,
    },
    { plot: 3, code: null, v: null, big: null, day: null, at: null, local: null, note: '' },
  ]);
});

describe('what stays text because a type would lose it', () => {
  const cases: [string, string[], string][] = [
    ['leading zeros', ['007', '1'], 'STRING'],
    ['a plus sign', ['+5', '6'], 'STRING'],
    ['a minus with letters', ['-12a', '-12'], 'STRING'],
    ['hexadecimal', ['0x10', '1'], 'STRING'],
    ['underscores', ['1_000', '1'], 'STRING'],
    ['infinity', ['inf', '1'], 'STRING'],
    ['an overflow', ['1e400', '1'], 'STRING'],
    ['an underflow', ['1e-400', '1'], 'STRING'],
    ['39 digits', ['1'.repeat(39), '1'], 'STRING'],
    ['a day that is not', ['2024-02-30', '2024-02-28'], 'STRING'],
    ['a local time of another kind', ['02/03/2024', '2024-01-01'], 'STRING'],
    ['infinite dates', ['infinity', '2024-01-01'], 'STRING'],
    ['nanoseconds', ['2024-01-01T00:00:00.123456789Z', '2024-01-01T00:00:00Z'], 'STRING'],
    ['hour 24', ['2024-01-01T24:00:00Z'], 'STRING'],
    ['times with and without offset', ['2024-01-01T00:00:00', '2024-01-01T00:00:00Z'], 'STRING'],
    ['20 digits after the point', ['0.12345678901234567891', '1.5'], 'DECIMAL(38,20)'],
    ['beyond 64 bits', ['12345678901234567890', '-1'], 'DECIMAL(38,0)'],
    ['large whole beside fractions', ['9007199254740993', '0.5'], 'DECIMAL(38,1)'],
    ['17 digits that a double keeps', ['0.30000000000000004', '1'], 'DOUBLE'],
    ['exponents', ['1E5', '-2.50e-3', '0e0'], 'DOUBLE'],
    ['32 bits', ['2147483647', '-2147483648'], 'INT'],
    ['33 bits', ['2147483648', '0'], 'BIGINT'],
    ['64 bits', ['9223372036854775807', '-9223372036854775808'], 'BIGINT'],
  ];
  // only a file without decimals is typed by the pass that stores its rows
  const isDecimal = ([, , type]: (typeof cases)[number]) => type.startsWith('DECIMAL');
  test.each([
    ['without decimals', cases.filter((each) => !isDecimal(each))],
    ['of decimals', cases.filter(isDecimal)],
  ])('in the columns of a file %s', async (_, columns) => {
    const longest = Math.max(...columns.map(([, values]) => values.length));
    const lines = Array.from({ length: longest }, (_none, row) => [...columns.map(([, values]) => values[row] ?? ''), 'x'].join());
    const { table, rows } = await one(`${columns.map((_none, at) => `v${at}`).join()},w\n${lines.join('\n')}\n`);
    const types = await lake.types(table.id);
    expect(types).toEqual({ ...Object.fromEntries(columns.map(([, , type], at) => [`v${at}`, type])), w: 'STRING' });
    columns.forEach(([name, values, type], at) => {
      const read = rows.map((row) => row[`v${at}`]);
      const padded = [...values, ...Array<null>(longest - values.length).fill(null)];
      if (type === 'STRING') expect(read, name).toEqual(padded);
      else
        expect(
          read.map((value) => value !== null && Number(value)),
          name,
        ).toEqual(padded.map((value) => value !== null && Number(value)));
    });
  });
});

describe('files as people and machines send them', () => {
  test.each([
    ['CRLF', 'a,"b\r\nc"\r\n1,"x\ry"\r\n2,\r\n'],
    ['lone CR', 'a,"b\r\nc"\r1,"x\ry"\r2,\r'],
    ['no last line break', 'a,"b\r\nc"\n1,"x\ry"\n2,'],
    ['byte order mark', '\ufeffa,"b\r\nc"\n1,"x\ry"\n2,\n'],
    ['blank lines', '\n\na,"b\r\nc"\n\n1,"x\ry"\n\n\n2,\n\n'],
  ])('%s', async (_, bytes) => {
    const { rows, upload } = await one(bytes);
    expect(upload).toMatchObject({ status: 'completed', rowsIn: 2, stored: 2 });
    expect(rows).toEqual([
      { a: 1, 'b\r\nc': 'x\ry' },
      { a: 2, 'b\r\nc': null },
    ]);
  });

  test('semicolons and tabs are found when the header has no comma', async () => {
    expect((await one('a;b\n1,5;x\n')).rows).toEqual([{ a: 1.5, b: 'x' }]);
    expect((await one('a\tb\n1;5\tx,y\n')).rows).toEqual([{ a: '1;5', b: 'x,y' }]);
    expect((await one('a,b\t"c"\n"x\ty"\t""\n', 'tsv')).rows).toEqual([{ 'a,b': 'x\ty', c: '' }]);
  });

  test('quotes inside unquoted text, white space before quotes and NUL are text', async () => {
    expect((await one('a,b\n5" pipe, "x"\nn\0l,a"b"c\n')).rows).toEqual([
      { a: '5" pipe', b: ' "x"' },
      { a: 'n\0l', b: 'a"b"c' },
    ]);
  });

  test('in a file of one column an empty line is a null and "" the empty string', async () => {
    expect((await one('a\nx\n\n""\n')).rows).toEqual([{ a: 'x' }, { a: null }, { a: '' }]);
  });

  test('a header alone is a valid file without rows', async () => {
    const { upload, table } = await one('a,b\n');
    expect(upload).toMatchObject({ status: 'completed', rowsIn: 0 });
    expect(await lake.types(table.id)).toEqual({ a: 'STRING', b: 'STRING' });
  });

  test('names: base columns, repeats in any case, blanks, reserved endings, long and odd ones', async () => {
    const long = 'x'.repeat(300);
    const { rows, table } = await one(
      `id,Temp,temp,,temp__text,"a.b`.concat('`c",', `${long},shutdown_time (s), padded ,fieldlake_row\n1,2,3,4,5,6,7,8,9,10\n`),
    );
    expect(Object.keys(await lake.types(table.id))).toEqual([
      'data_id',
      'Temp',
      'temp_2',
      'column_4',
      'data_temp__text_1',
      'a.b`c',
      'x'.repeat(255),
      'shutdown_time (s)',
      'padded',
      'data_fieldlake_row',
    ]);
    expect(Object.values(rows[0]!)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

describe('what cannot be stored is explained', () => {
  test.each([
    ['too_few_fields', 'a,b\n1,2\n3\n4,5\n', '3'],
    ['too_many_fields', 'a,b\n1,2\n3,4,5\n4,5\n', '3,4,5'],
    ['broken_quotes', 'a,b\n1,2\n3,"x"y\n4,5\n', '3,"x"y'],
    ['unclosed_quote', 'a,b\n1,2\n3,"x\n4,5\n', '3,"x'],
    ['invalid_utf8', Buffer.from('a,b\n1,2\n3,caf\xe9\n4,5\n', 'latin1'), '3,caf\ufffd'],
  ])('%s', async (reason, bytes, text) => {
    const { rows, upload, file, table } = await one(bytes);
    expect(rows).toEqual([
      { a: 1, b: 2 },
      { a: 4, b: 5 },
    ]);
    expect(upload).toMatchObject({ status: 'partial', rowsIn: 3, stored: 2, quarantined: 1 });
    expect(file).toMatchObject({ status: 'partial', reason });
    expect(await lake.quarantined(table.experimentId)).toMatchObject([
      { reason, original_text: text, line: '3', path: 'a.csv', table_id: table.id },
    ]);
  });

  test.each([
    ['empty_file', ''],
    ['wrong_type', Buffer.from([0x50, 0x4b, 3, 4, 0, 0])],
    ['utf16', Buffer.from('a,b\n1,2\n3,4\n5,6\n', 'utf16le')],
    ['too_many_columns', `${Array.from({ length: 2_001 }, (_, index) => `c${index}`).join(',')}\n`],
    ['bad_header', 'a,"b"c\n1,2\n'],
  ])('%s refuses the file and leaves no bytes', async (reason, bytes) => {
    const { id, upload, file } = await one(bytes);
    expect(upload).toMatchObject({ status: 'failed', rowsIn: 0 });
    expect(file).toMatchObject({ status: 'failed', reason });
    for await (const { key } of lake.store.list(`uploads/${id}/`)) expect.unreachable(key);
  });
});

describe('a file in another encoding', () => {
  const latin = (text: string) => Buffer.from(text, 'latin1');
  const wide = (text: string) => Buffer.from(text, 'utf16le');
  test.each<[string, ReadingOptions['encoding'], Buffer, string, string]>([
    ['that is told', 'windows-1252', latin('Größe;n\nfünf \x80;1\n'), 'Größe', 'fünf €'],
    ['of Central Europe', 'windows-1250', latin('Gr\xf6\xdfe;n\n\x8aumava;1\n'), 'Größe', 'Šumava'],
    ['in Cyrillic', 'windows-1251', latin('\xcf;n\n\xe6;1\n'), 'П', 'ж'],
    ['of an older Mac', 'macintosh', latin('Gr\x9a\xa7e;n\n\x8e;1\n'), 'Größe', 'é'],
    ['in Chinese', 'gb18030', latin('\xd6\xd0;n\n\xce\xc4;1\n'), '中', '文'],
    ['in Japanese', 'shift_jis', latin('\x93\xfa;n\n\x96\x7b;1\n'), '日', '本'],
    ['in Korean', 'euc-kr', latin('\xc7\xd1;n\n\xb1\xdb;1\n'), '한', '글'],
    ['that is wide', 'utf-16le', wide('Größe;n\n日本😀;1\n'), 'Größe', '日本😀'],
    ['that is wide the other way', 'utf-16be', wide('Größe;n\n日本😀;1\n').swap16(), 'Größe', '日本😀'],
    ['whose mark says so', undefined, wide('\ufeffGröße;n\n日本;1\n'), 'Größe', '日本'],
    ['whose mark says so the other way', undefined, wide('\ufeffGröße;n\n日本;1\n').swap16(), 'Größe', '日本'],
    ['whose mark says more than what is told', 'windows-1252', Buffer.from('\ufeffGröße;n\n日本;1\n'), 'Größe', '日本'],
  ])('%s', async (_what, encoding, bytes, name, value) => {
    const { rows, upload } = await one(bytes, 'csv', { encoding });
    expect(upload).toMatchObject({ status: 'completed', stored: 1, quarantined: 0 });
    expect(rows).toEqual([{ [name]: value, n: 1 }]);
  });

  test('says so where it is not told', async () => {
    const { upload, file } = await one(latin('plot,place\n1,Ulm\n2,Köln\n3,Bonn\n'));
    expect(upload).toMatchObject({ status: 'partial', stored: 2, quarantined: 1 });
    expect(file.message).toBe(
      'Not stored: 1 × invalid utf8. Save the file as UTF-8, or send a csv or tsv file with its encoding, such as windows-1252. Where other records are stored, take the upload back first: they would come twice.',
    );
  });

  test('is not read another time under its name where rows of it stand, and its report says what to do', async () => {
    const bytes = latin('plot,place\n1,Ulm\n2,Köln\n3,Bonn\n');
    const { table } = await one(bytes);
    const sent = (path: string, encoding: 'windows-1252' | 'utf-8' = 'windows-1252') =>
      lake.ingest(table, 'csv', [{ path, bytes }], { reading: { encoding } });
    const same = await sent('a.csv', 'utf-8');
    expect(same.upload).toMatchObject({ status: 'completed', stored: 0, alreadyThere: 3 });
    expect(same.report!.files[0]!.message).toBe(
      'This file is in the table already, and 1 of its records are set aside. To have it read in another way, take that upload back first, or send it into another table.',
    );
    const again = await sent('a.csv');
    expect(again.upload).toMatchObject({ status: 'failed', stored: 0, alreadyThere: 3 });
    const [file] = again.report!.files;
    expect(file).toMatchObject({ reason: 'read_otherwise', columns: [] });
    expect(file!.message).toMatch(
      /^2 rows of this file are in the table already, as it was read without reading fields\. .* no row comes twice/,
    );
    expect(await lake.rows(table.id)).toHaveLength(2);
    expect((await sent('b.csv')).upload).toMatchObject({ stored: 3, quarantined: 0 });
  });

  test('is read in another way where no row of it stands, once', async () => {
    const bytes = latin('plot,place\n2,Köln\n3,Würzburg\n');
    const { table, upload } = await one(bytes);
    expect(upload).toMatchObject({ status: 'failed', stored: 0, quarantined: 2 });
    const sent = (reading: ReadingOptions) => lake.ingest(table, 'csv', [{ path: 'a.csv', bytes }], { reading });
    const both = await Promise.all([sent({ encoding: 'windows-1252' }), sent({ encoding: 'windows-1250' })]);
    expect(both.map((each) => each.upload['stored']).sort()).toEqual([0, 2]);
    const loser = both.find((each) => each.upload['stored'] === 0)!;
    expect(loser.report!.files[0]).toMatchObject({ status: 'failed', reason: 'read_otherwise', alreadyThere: 2 });
    const first = await sent({});
    expect(first.upload).toMatchObject({ status: 'completed', stored: 0, alreadyThere: 2 });
    expect((await lake.rows(table.id)).map(({ place }) => place)).toEqual(['Köln', 'Würzburg']);
    // the first upload, whose records are set aside still, stores none of them besides
    const { id } = both.find((each) => each.upload['stored'] === 2)!;
    await lake.db.run(sql('test.replay')`update upload_files set replay_requested_at = now() where upload_id <> ${id} and quarantined > 0
      and upload_id in (select id from uploads where table_id = ${table.id})`);
    const [waiting] = await lake.db.rows<{ id: string }>(sql('test.reopen')`update uploads set status = 'running', completed_at = null
      where table_id = ${table.id} and quarantined > 0 returning id`);
    const replayed = await ingestUpload(lake.deps, waiting!.id);
    expect(replayed!.files[0]).toMatchObject({ stored: 0, quarantined: 2 });
    expect(replayed!.files[0]!.message).toContain('read in another way since then');
    expect(await lake.rows(table.id)).toHaveLength(2);
  });

  test('read with another decimal mark than before says so', async () => {
    const table = await lake.makeTable();
    const sent = (reading: ReadingOptions) => lake.ingest(table, 'csv', [{ path: 'a.csv', bytes: 'v;w\n1.000;x\n2.500;y\n' }], { reading });
    expect((await sent({ decimal: ',', types: { v: 'double', w: 'string' } })).upload).toMatchObject({ stored: 2 });
    expect((await sent({ types: { w: 'string', v: 'double' }, decimal: ',' })).upload).toMatchObject({
      status: 'completed',
      alreadyThere: 2,
    });
    const { report } = await sent({});
    expect(report!.files[0]!.message).toContain('read with decimal ,, types [["v","double"],["w","string"]]');
  });

  test('whose header is in it says so, and so does a byte that is no character of it', async () => {
    const header = await one(latin('Größe,n\n1,2\n'));
    expect(header.file).toMatchObject({ status: 'failed', reason: 'wrong_encoding' });
    expect(header.file.message).toContain('windows-1252');
    const odd = await one(latin('a,b\n1,\xd6\xd0\n2,\xff\n'), 'csv', { encoding: 'gb18030' });
    expect(odd.rows).toEqual([{ a: 1, b: '中' }]);
    expect(odd.file).toMatchObject({ status: 'partial', reason: 'invalid_characters' });
  });

  // with a name that is longer by one byte, every piece is cut in the other half of a character
  test.each(['n', 'nn'])('keeps characters that are cut between two pieces of the file, and its lines (below %s)', async (name) => {
    const lines = 2_100;
    const long = '\x93\xfa\x96\x7b'.repeat(1_000);
    const bytes = Buffer.concat([
      latin(`${name};v\n\x93\xfa;1\n`),
      ...Array.from({ length: lines }, () => latin(`${long};x\n`)),
      latin('a;b;c\n'),
    ]);
    expect(bytes.length).toBeGreaterThan(8_400_000);
    const { table, upload } = await one(bytes, 'csv', { encoding: 'shift_jis' });
    expect(upload).toMatchObject({ stored: lines + 1, quarantined: 1 });
    expect(await lake.quarantined(table.experimentId)).toMatchObject([{ reason: 'too_many_fields', line: String(lines + 3) }]);
    const values = new Set((await lake.rows(table.id)).map((row) => row[name]));
    expect(values).toEqual(new Set(['日', '日本'.repeat(1_000)]));
  });
});

test(`any strict file comes back (seed ${seed})`, async () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' ', '\t', 'é', '😀', '0', '-', '.', '\\', "'", '#', '\0'),
    maxLength: 6,
  });
  const cell = fc.option(text, { freq: 4 });
  await fc.assert(
    fc.asyncProperty(
      fc
        .integer({ min: 2, max: 4 })
        .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 12 })),
      fc.constantFrom('\n', '\r\n'),
      async (rows, eol) => {
        const header = rows[0]!.map((_, index) => `k${index}`);
        const body = [...rows, header.map(() => 'x')];
        const types = Object.fromEntries(header.map((name) => [name, 'string' as const]));
        const bytes = [header, ...body].map((row) => row.map((value) => writeField(value)).join(',')).join(eol) + eol;
        expect(parseStrict(bytes).slice(1)).toEqual(body);
        const result = await one(bytes, 'csv', { missing: [], types });
        expect(result.rows.map((row) => Object.values(row))).toEqual(body);
      },
    ),
    { numRuns: process.env.SOAK === undefined ? 5 : 50, seed },
  );
});

test.each([
  ['alone', 'Trial 2026\n\nplot,2025,2026\n1,2,3\n', 'Line 1 has one field, and line 3 has 3'],
  ['with the empty fields of a spreadsheet', 'Trial 2026,,\nplot,2025,2026\n1,2,3\n', 'Line 1 has one field, and line 2 has 3'],
])('a title above what may be no header, %s, is said to be one', async (_how, bytes, begin) => {
  const { file, rows } = await one(bytes);
  expect(file).toMatchObject({ status: 'failed', reason: 'bad_header' });
  expect(file.message).toContain(`${begin}: the header seems to be in line`);
  expect(rows).toEqual([]);
  expect((await one(bytes.replace(/^Trial.*\n+/, ''))).rows).toEqual([{ plot: 1, 2025: 2, 2026: 3 }]);
});

test('fields between bars are told apart, and rows with more fields than the header are said to have them', async () => {
  expect((await one('plot|v\n1|2,5\n')).rows).toEqual([{ plot: 1, v: 2.5 }]);
  expect((await one('a,b\n1,2\n1,2,3\n')).file.message).toBe('Not stored: 1 × too many fields (more than the header has).');
  // write.table of R, as it writes unless told otherwise
  const { file, rows } = await one('"plot"\t"v"\n"1"\t"a"\t0.1\n"2"\t"b"\t0.2\n', 'tsv');
  expect([file.status, rows]).toEqual(['failed', []]);
  expect(file.message).toMatch(
    /^Not stored: 2 × too many fields \(more than the header has\)\. No record fits the header\. .*row\.names = FALSE/,
  );
});
