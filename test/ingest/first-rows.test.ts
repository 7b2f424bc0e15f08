import fc from 'fast-check';
import { writeXlsx } from 'hucre/xlsx';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listUploadFiles } from '../../src/ingest/uploads/uploads.queries.ts';
import type { ReadingOptions } from '../../src/ingest/typing/readings.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000);

async function send(bytes: string | Buffer, reading: ReadingOptions = {}, kind = 'csv') {
  const table = await lake.makeTable();
  const { report, id } = await lake.ingest(table, kind, [{ path: `a.${kind}`, bytes }], { reading });
  const file = report!.files[0]!;
  return {
    id,
    file,
    types: file.columns.map(({ type }) => type),
    units: file.columns.map(({ unit }) => unit),
    rows: await lake.rows(table.id),
  };
}

describe('the delimiter', () => {
  const rows = ['1;2,5', '2;3,0', '3;3,5'].join('\n');
  test.each([
    ['words with commas in the header', `plot;height, cm\n${rows}`, null],
    ['a comma in the title', `A. Smith, Leeds\nplot;height\n${rows}`, '“A. Smith, Leeds”'],
    ['a comma in the title, which is padded', `Trial, Leeds;\n;\nplot;height\n;cm\n${rows}`, '“Trial, Leeds”'],
    ['commas in the header, where tabs part fields', `plot\theight, cm\n${rows}`.replaceAll(';', '\t'), null],
    ['semicolons in remarks below commas', 'plot,height (cm)\n1,2.5;low\n2,3.0;low\n3,3.5;low', null],
  ])('is what parts the rows: %s', async (_what, bytes, above) => {
    const { file, rows: read } = await send(`${bytes}\n`);
    expect(file).toMatchObject({
      status: 'completed',
      stored: 3,
      message: above === null ? null : (expect.stringContaining(above) as string),
    });
    const [plot, height] = Object.values(read[2]!);
    expect([plot, height]).toEqual([3, bytes.includes('low') ? '3.5;low' : 3.5]);
  });

  test('is looked for from the row on that is told to be the header', async () => {
    const { rows: read } = await send(`a,b\nc,d\nplot;height, cm\n${rows}\n`, { headerRow: 3 });
    expect(Object.values(read[0]!)).toEqual([1, 2.5]);
  });
});

const sheet = async (rows: (string | number | null)[][]) => Buffer.from(await writeXlsx({ sheets: [{ name: 'Data', rows }] }));
const NOTE = 'The row below the header has units, which stand beside the columns here. It is no record.';

describe('a row of units below the header', () => {
  test.each([
    ['of words', 'plot,height,day\n,cm,dd/mm/yyyy\n1,2.5,2026-05-01\n2,3,2026-05-02\n', [undefined, 'cm', 'dd/mm/yyyy']],
    ['in brackets', 'plot,height,day\n,[mm],(d)\n1,2.5,2026-05-01\n2,NA,2026-05-02\n3,3,\n', [undefined, '[mm]', '(d)']],
    ['with signs', 'plot,A,day\n-,µmol m-2 s-1,"°C"\n1,2.5,2026-05-01\n2,3,2026-05-02\n', ['-', 'µmol m-2 s-1', '°C']],
    ['between semicolons', '\ufeffplot;A;day\r\n;%;\r\n1;2,5;01.05.2026\r\n2;3;13.05.2026\r\n', [undefined, '%', undefined]],
    ['with an odd value below', 'plot,A,day\nno.,cm,\n1,2.5,2026-05-01\n2,3.5,2026-05-01\n3,tall,2026-05-01\n', ['no.', 'cm', undefined]],
  ])('%s is no record, and the columns are typed by what is below', async (_how, bytes, units) => {
    const { file, ...found } = await send(bytes);
    expect(found.types).toEqual(['INT', 'DOUBLE', 'DATE']);
    expect(found.units).toEqual(units);
    expect(file).toMatchObject({ status: 'completed', message: NOTE, stored: bytes.split(/\r?\n/).length - 3 });
    expect(found.rows[0]).toMatchObject({ plot: 1, [Object.keys(found.rows[0]!)[1]!]: 2.5 });
  });

  test.each([
    ['words in a column of words', 'name,height\nAnna,tall\nBob,12\nCem,13\n'],
    ['a word that comes again', 'dose\ncontrol\n5\ncontrol\n10\n20\n30\n40\n'],
    ['a word among other words', 'plot,dose\n,none\n1,low\n2,5\n3,high\n4,mid\n'],
    ['a number beside a word', 'plot,height\n1,tall\n2,12\n3,13\n'],
    ['marks for missing values alone', 'plot,height\nNA,-\n2,12\n3,13\n'],
    ['all of the records', 'name,site\na,b\n'],
  ])('is none where it is data: %s', async (_what, bytes) => {
    const { file, units } = await send(bytes);
    expect(file).toMatchObject({ message: null, stored: bytes.trimEnd().split('\n').length - 1 });
    expect(units.every((unit) => unit === undefined)).toBe(true);
  });

  const NOTE_OF_TWO = 'The two rows below the header have units, which stand beside the columns here. They are no records.';
  const toa5 = '"day","no","T"\n"TS","RN","Deg C"\n"","","Avg"\n"2026-05-01",0,12.25\n"2026-05-02",1,"NA"\n"2026-05-03",2,12\n';
  test('may be two, as of a logger that says how it sums up', async () => {
    const { file, units, rows, types } = await send(toa5);
    expect([file.message, units, types]).toEqual([NOTE_OF_TWO, ['TS', 'RN', 'Deg C, Avg'], ['DATE', 'INT', 'DOUBLE']]);
    expect(rows.map(({ no, T }) => [no, T])).toEqual([
      [0, 12.25],
      [1, null],
      [2, 12],
    ]);
    expect((await send(toa5, { unitsRow: true })).units).toEqual(units);
    expect((await send(toa5, { unitsRow: false })).rows).toHaveLength(5);
    const book = await sheet([
      ['day', 'A'],
      ['d', 'cm'],
      ['', 'Max'],
      ['2026-05-01', 1],
      ['2026-05-02', 2],
    ]);
    expect((await send(book, {}, 'xlsx')).units).toEqual(['d', 'cm, Max']);
  });

  test.each([
    ['a record without its number', 'plot,A\n,cm\nP1,dead\nP2,2\nP3,3\n'],
    ['a word that comes again', 'A,B\ncm,kg\nlow,low\n1,2\nlow,3\n4,5\n'],
  ])('is one alone where the second is %s', async (_what, bytes) => {
    const { file } = await send(bytes);
    expect([file.message, file.stored]).toEqual([NOTE, bytes.trimEnd().split('\n').length - 2]);
  });

  test('is what the upload says', async () => {
    const bytes = 'plot,height\n,cm\n1,12\n2,13\n3,14\n';
    expect((await send(bytes)).rows).toHaveLength(3);
    const asData = await send(bytes, { unitsRow: false });
    expect([asData.file.message, asData.rows.length, asData.rows[0]]).toEqual([null, 4, { plot: null, height: null, height__text: 'cm' }]);
    const words = 'plot,site\nno.,name\n1,Leeds\n2,York\n';
    expect((await send(words)).rows).toHaveLength(3);
    const told = await send(words, { unitsRow: true });
    expect([told.file.message, told.units, told.rows.length]).toEqual([NOTE, ['no.', 'name'], 2]);
  });

  test('of a workbook is one too', async () => {
    const { file, units, rows } = await send(
      await sheet([
        ['plot', 'A'],
        [null, 'µmol'],
        [1, 2.5],
        [2, 3.5],
      ]),
      {},
      'xlsx',
    );
    expect([file.status, file.message, units]).toEqual(['completed', NOTE, [undefined, 'µmol']]);
    expect(rows).toEqual([
      { plot: 1, A: 2.5 },
      { plot: 2, A: 3.5 },
    ]);
  });

  test('is counted as a line, and passed over by a replay', async () => {
    const { file, id, rows } = await send('plot,A\n,cm\n1,2\n3\n4,5\n');
    expect([file.status, file.stored, file.quarantined]).toEqual(['partial', 2, 1]);
    expect(rows).toHaveLength(2);
    const { sql } = await import('../../src/database/sql.ts');
    const { ingestUpload } = await import('../../src/ingest/uploads/ingest.ts');
    await lake.db.run(sql('test')`update upload_files set replay_requested_at = now() where upload_id = ${id}`);
    await lake.db.run(sql('test')`update uploads set status = 'running', completed_at = null where id = ${id}`);
    expect((await ingestUpload(lake.deps, id))?.files[0]).toMatchObject({ stored: 2, quarantined: 1, message: file.message });
  });

  const number = fc.oneof(fc.integer({ min: -999, max: 999 }).map(String), fc.constantFrom('1.5', '-0.25', '1e3', '', 'NA'));
  const column = fc.constantFrom<fc.Arbitrary<string>>(
    number,
    fc.constantFrom('2026-05-01', '2026-05-02', '2024-02-29', ''),
    fc.constantFrom('2026-05-01T10:00:00', '2026-05-01 10:05'),
    fc.constantFrom('red', 'blue', '', '"two\nlines"'),
    fc.constantFrom('yes', 'no'),
  );
  const unit = fc.constantFrom('cm', '°C', 'µmol m-2 s-1', '(g)', '[mm]', '');
  const table = fc.array(column, { minLength: 1, maxLength: 4 }).chain((columns) =>
    fc.record({
      kinds: fc.constant(columns),
      units: fc.tuple(...columns.map(() => unit)),
      rows: fc.array(fc.tuple(...columns), { minLength: 3, maxLength: 30 }),
    }),
  );

  test('leaves what is below it as it is in the file without it', async () => {
    await fc.assert(
      fc.asyncProperty(table, async ({ units, rows }) => {
        const names = units
          .map((_, at) => `c${at}`)
          .concat('n')
          .join(',');
        const lines = rows.map((row, at) => [...row, at].join(','));
        // a number is in every file, and above words stands nothing
        const above = units.map((text, at) => (rows.some((row) => /[a-z]/i.test(row[at]!.replace(/NA|T|e3/, ''))) ? '' : text));
        const without = await send(`${names}\n${lines.join('\n')}\n`);
        const withUnits = await send(`${names}\n${above.join(',')},no.\n${lines.join('\n')}\n`);
        expect(withUnits.units).toEqual([...above.map((text) => (text === '' ? undefined : text)), 'no.']);
        expect(withUnits.rows).toEqual(without.rows);
        expect(withUnits.file.columns.map(({ unit: _unit, ...line }) => line)).toEqual(without.file.columns);
        const kinds = above.map((text) => (text === '' ? '' : 'Avg'));
        const withTwo = await send(`${names}\n${above.join(',')},no.\n${kinds.join(',')},Smp\n${lines.join('\n')}\n`);
        expect(withTwo.units).toEqual([...above.map((text) => (text === '' ? undefined : `${text}, Avg`)), 'no., Smp']);
        expect(withTwo.rows).toEqual(without.rows);
      }),
      { seed, numRuns: process.env['SOAK'] === undefined ? 8 : 40 },
    );
  });
});

describe('a title above the header', () => {
  const rows = [
    { plot: 1, height: 2.5 },
    { plot: 2, height: 3 },
  ];
  test.each([
    ['alone', 'Trial 2026\nplot,height\n1,2.5\n2,3\n', 2, '“Trial 2026”'],
    ['of several rows, with blank ones', '\nTrial 2026\n"Leeds, May"\n,\n\nplot,height\n1,2.5\n2,3\n', 6, '“Trial 2026”, “Leeds, May”'],
    ['with the empty fields of a spreadsheet', 'Trial 2026,\r\nplot,height\r\n1,2.5\r\n2,3\r\n', 2, '“Trial 2026”'],
    ['above semicolons', '\ufeffTrial 2026;\nplot;height\n1;2,5\n2;3\n', 2, '“Trial 2026”'],
    ['above a row of units', 'Trial 2026\nplot,height\n,cm\n1,2.5\n2,3\n', 2, '“Trial 2026”'],
    ['over two lines', '"Trial\n2026"\nplot,height\n1,2.5\n2,3\n', 3, '“Trial\n2026”'],
  ])('%s is passed over and told', async (_how, bytes, line, above) => {
    const { file, rows: read } = await send(bytes);
    expect([file.status, read]).toEqual(['completed', rows]);
    expect(file.message).toContain(`The header is in line ${line}. Above it stands ${above}.`);
  });

  const logger = ['plot,air', ',°C', ...Array.from({ length: 12 }, (_, n) => `${n},${n / 2}`), ''].join('\n');
  const wide = logger
    .replace('plot,air', 'obs,time,date')
    .replaceAll(/^(\d+,.*)$/gm, '2026-05-01,$1')
    .replace(',°C', ',,°C');
  const about = Array.from({ length: 70 }, (_, n) => `Setting ${n},${n}`).join('\n');
  test.each([
    ['of more fields', `TOA5,logger,CR1000,1234\n${logger}`, 'Line 1 has 4 fields, and line 2 has 2', 2],
    ['of fewer fields', `Operator,Anna\n${wide}`, 'Line 1 has 2 fields, and line 2 has 3', 2],
    ['of fewer fields, below a title', `[Header]\nOperator,Anna\n\n${wide}`, 'Line 1 has one field, and line 4 has 3', 4],
    ['with the groups of columns', `Made,2026-05-01\nSys,Sys,Sys\n${wide}`, 'Line 1 has 2 fields, and line 3 has 3', 3],
    ['of many lines', `${about}\n${wide}`, 'Line 1 has 2 fields, and line 71 has 3', 71],
    [
      'with the empty fields of a spreadsheet',
      `Operator,Anna,,\nMade,2026-05-01,,\nday,${wide.replaceAll(/\n(?=.)/g, '\n,')}`,
      'Line 1 has 2 fields, and line 3 has 4',
      3,
    ],
  ])('%s is refused, and the report says where the header seems to be', async (_how, bytes, begin, line) => {
    const { file, rows: none } = await send(bytes);
    expect([file.status, file.reason, none]).toEqual(['failed', 'bad_header', []]);
    expect(file.message).toBe(
      `${begin}: the header seems to be in line ${line}. Send the file with headerRow ${line}, or remove what stands above it.`,
    );
    const told = await send(bytes, { headerRow: line });
    expect([told.file.status, told.file.stored, told.units.at(-1)]).toEqual(['completed', 12, '°C']);
  });

  test.each([
    ['a row of words among numbers', 'plot,height,,\nA,2,,\nB,3,,\nC,dead,eaten,deer\nD,4,,\nE,5,,\n', 5],
    ['a first row of words, where the first column has no name', ',height\nC,dead\nD,4\nE,5\n', 3],
    ['a row of words, with a remark', 'plot,height\nC,dead,eaten\nD,4\nE,5\n', 2],
    ['numbers alone below a header that is too short', 'plot,height\n1,2,3\n4,5,6\n', 0],
  ])('is not what is below the header: %s', async (_what, bytes, stored) => {
    expect((await send(bytes)).file).toMatchObject({ stored, reason: stored > 2 ? null : 'too_many_fields' });
  });

  test('of a workbook with other cells than the header is refused too', async () => {
    const below = Array.from({ length: 12 }, (_, n) => ['2026-05-01', n, n / 2]);
    const { file } = await send(
      await sheet([['Sheet'], ['Made', '2026-05-01'], [], ['day', 'obs', 'A'], [null, null, 'µmol'], ...below]),
      {},
      'xlsx',
    );
    expect(file.message).toContain('Row 1 has one cell, and row 4 has 3: the header seems to be in row 4.');
    const wider = await send(await sheet([['day', 'obs', 'A', 'note'], [null, 'no.', 'µmol'], ...below]), {}, 'xlsx');
    expect([wider.file.status, wider.file.stored]).toEqual(['completed', 12]);
  });

  test.each([
    ['the one column of a file', 'note\nfine\n"tall, red"\n', ['note']],
    ['the only named one of two columns', ',height\na,b\nc,1\n', ['column_1', 'height']],
    ['fields without names', ',,\n1,2,3\n', ['column_1', 'column_2', 'column_3']],
  ])('is none where it is %s', async (_what, bytes, names) => {
    const { file } = await send(bytes);
    expect([file.message, file.columns.map(({ name }) => name)]).toEqual([null, names]);
  });

  test('and the header are where the upload says', async () => {
    const bytes = 'Operator,Anna\nplot,height\n1,2.5\n2,3\n';
    expect((await send(bytes)).file.columns.map(({ name }) => name)).toEqual(['Operator', 'Anna']);
    const told = await send(bytes, { headerRow: 2 });
    expect([told.rows, told.file.message]).toEqual([rows, 'The header is in line 2. Above it stands “Operator,Anna”.']);
    expect((await send('Trial 2026\nplot,height\n1,2.5\n', { headerRow: 1 })).file).toMatchObject({ status: 'failed', quarantined: 2 });
    expect((await send(bytes, { headerRow: 9 })).file).toMatchObject({
      ...{ status: 'failed', reason: 'bad_header' },
      message: 'The file has no header in line 9, nor below it.',
    });
  });

  test('of a workbook is passed over, and the header is where the upload says', async () => {
    const cells = [['Trial 2026'], [], ['plot', 'height'], [null, 'cm'], [1, 2.5], [2, 3]];
    const found = await send(await sheet(cells), {}, 'xlsx');
    expect([found.rows, found.units]).toEqual([rows, [undefined, 'cm']]);
    expect(found.file.message).toBe(`The header is in row 3. Above it stands “Trial 2026”. ${NOTE}`);
    const told = await send(await sheet([['Operator', 'Anna'], [], ...cells.slice(2)]), { headerRow: 3 }, 'xlsx');
    expect([told.rows, told.file.message]).toEqual([rows, `The header is in row 3. Above it stands “Operator Anna”. ${NOTE}`]);
    expect((await send(await sheet(cells), { headerRow: 9 }, 'xlsx')).file).toMatchObject({
      ...{ status: 'failed', reason: 'bad_header' },
      message: 'The sheet has no header in row 9, nor below it.',
    });
  });

  test.each([
    ['of groups', ['plot', 'leaf', null, 'stem'], ['', 'spad', 'area', 'spad', 'area'], 3, 5],
    ['of groups, without the first name', ['leaf', null, 'stem'], ['spad', 'area', 'spad', 'area'], 2, 4],
    ['of a name that is merged with the cell below', ['plot', 'trait'], [null, 'spad', 'area'], 2, 3],
  ])('of a workbook is no row %s above the names of columns', async (_how, groups, names, had, fields) => {
    const below = [1, 2, 3].map((plot) => names.map((_, at) => plot * (at + 1)));
    const bytes = await sheet([groups, names, ...below]);
    const { file } = await send(bytes, {}, 'xlsx');
    expect(file).toMatchObject({ status: 'failed', reason: 'bad_header' });
    expect(file.message).toBe(
      `Row 1 has ${had} cells, and row 2 has ${fields}: the header seems to be in row 2. Send the file with headerRow 2, or remove what stands above it.`,
    );
    expect((await send(bytes, { headerRow: 2 }, 'xlsx')).file).toMatchObject({ status: 'completed', stored: 3 });
  });

  test('of a workbook is a header that lacks a name, where its first words stand between numbers', async () => {
    const below = [1, 2, 3, 4].map((score) => ['B73', 'wet', score, 'seen twice']);
    const bytes = await sheet([
      ['genotype', 'treatment', 'score'],
      ...below,
      ['B73', 'wet', 'missed', 'rain'],
      ...below,
      ['B73', 'dry', 5],
    ]);
    expect((await send(bytes, {}, 'xlsx')).file).toMatchObject({ status: 'partial', stored: 1, quarantined: 9 });
  });
});

// loggers that lose power leave such runs of zeros
test.each([
  ['a value', 'plot,v\n1,2\n\0\0\x003,4\n5,6\n', 3],
  ['a title', 'Leeds\0\n\nplot,v\n1,2\n3,4\n', 2],
  ['a unit', 'plot,v\n,cm\0\n1,2\n3,4\n', 2],
])('a file with zero bytes in %s is read, and its report shows them as U+FFFD', async (_where, bytes, stored) => {
  const { id } = await send(bytes);
  const [file] = await listUploadFiles(lake.deps.db, id);
  expect(file).toMatchObject({ status: 'completed', stored });
  expect(JSON.stringify(file)).toContain('\ufffd');
});
