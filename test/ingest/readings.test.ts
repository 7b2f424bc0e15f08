import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chooseReading, isMostly, type ReadingOptions } from '../../src/ingest/typing/readings.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

type Options = ReadingOptions & { delimiter?: string };

/** A file of these columns beside one of text, the shorter ones with nothing at their end, and what became of each. The first is `v`. */
async function readColumns(columns: readonly (readonly string[])[], { delimiter = ',', ...reading }: Options = {}) {
  const table = await lake.makeTable();
  const names = columns.map((_, at) => (at === 0 ? 'v' : `v${at}`));
  const longest = Math.max(...columns.map((values) => values.length));
  const lines = Array.from({ length: longest }, (_, row) => [...columns.map((values) => values[row] ?? ''), 'x y'].join(delimiter));
  const bytes = `${[...names, 'w'].join(delimiter)}\n${lines.join('\n')}\n`;
  const { report, upload } = await lake.ingest(table, 'csv', [{ path: 'a.csv', bytes }], { reading });
  expect(upload).toMatchObject({ stored: longest, quarantined: 0 });
  const rows = await lake.rows(table.id);
  return names.map((name, at) => {
    const column = report!.files[0]!.columns.find((each) => each.name === name)!;
    const { length } = columns[at]!;
    return {
      type: column.type,
      column,
      values: rows.slice(0, length).map((row) => row[name]),
      missing: column.missingValues! - (longest - length),
      odd: rows.map((row) => row[`${name}__text`]).filter((value) => value != null),
    };
  });
}

const read = async (values: readonly string[], options?: Options) => (await readColumns([values], options))[0]!;

describe('what one value after another is', () => {
  const cases: [string, string[], string, unknown[], Options?][] = [
    [
      'marks for nothing',
      ['1', 'NA', 'N/A', 'n/a', 'NaN', 'nan', 'null', 'NULL', 'None', '-', '.', '', '2'],
      'INT',
      [1, ...Array(11).fill(null), 2],
    ],
    ['marks among words', ['wild', 'NA', 'mutant', '-'], 'STRING', ['wild', null, 'mutant', null]],
    ['a mark of its own', ['1', '-999', '2'], 'INT', [1, null, 2], { missing: ['-999'] }],
    [
      'a number that is a mark, however it is spelled',
      ['1.5', '-999', '-999.0', ' -999.00', '−999', '2', '-99.9'],
      'DOUBLE',
      [1.5, null, null, null, null, 2, -99.9],
      { missing: ['-999'] },
    ],
    ['a minus of another kind', ['5', '−6', '−.5', '7'], 'DOUBLE', [5, -6, -0.5, 7]],
    ['such a minus beside decimal commas', ['5', '−6,25', '1,5'], 'DOUBLE', [5, -6.25, 1.5], { delimiter: ';' }],
    ['a plus before numbers', ['+5', '+6', '+31612345678'], 'STRING', ['+5', '+6', '+31612345678']],
    ['no marks at all', ['a', 'NA', 'b'], 'STRING', ['a', 'NA', 'b'], { missing: [] }],
    ['blanks around numbers', [' 5', '6 ', '\t7', '\u00a08', ' '], 'INT', [5, 6, 7, 8, null]],
    ['bare points', ['.5', '-.25', '5.'], 'DOUBLE', [0.5, -0.25, 5]],
    ['decimal commas', ['0,5', '-1,25', '3', '1.234,5'], 'DOUBLE', [0.5, -1.25, 3, 1234.5], { delimiter: ';' }],
    ['decimal commas with an exponent', ['1,5e-3', '2,0'], 'DOUBLE', [0.0015, 2], { delimiter: ';' }],
    [
      'points between thousands beside decimal commas',
      ['1.234,50', '1.000', '12.345', '1.234.567', '-2.000'],
      'DOUBLE',
      [1234.5, 1000, 12345, 1234567, -2000],
      { delimiter: ';' },
    ],
    ['points between thousands when the comma is told', ['1.000', '2.500', '7'], 'INT', [1000, 2500, 7], { delimiter: ';', decimal: ',' }],
    [
      'points between thousands or decimals: one comma among many',
      ['0,5', ...Array(11).fill('12.345')],
      'STRING',
      ['0,5', ...Array(11).fill('12.345')],
      { delimiter: ';' },
    ],
    ['decimals of three digits between semicolons', ['1.000', '2.500'], 'DOUBLE', [1, 2.5], { delimiter: ';' }],
    ['decimal points between semicolons', ['0.5', '1.234'], 'DOUBLE', [0.5, 1.234], { delimiter: ';' }],
    ['decimal commas between commas when told', ['"0,5"', '"1,25"'], 'DOUBLE', [0.5, 1.25], { decimal: ',' }],
    ['commas told for a column that is told too', ['"1,5"', '"1.000"'], 'DOUBLE', [1.5, 1000], { decimal: ',', types: { v: 'double' } }],
    ['lists of two between semicolons when told', ['0,5', '1,25'], 'STRING', ['0,5', '1,25'], { delimiter: ';', decimal: '.' }],
    [
      'many digits behind a comma',
      ['0,12345678901234567891', '1'],
      'DECIMAL(38,20)',
      ['0.12345678901234567891', '1.00000000000000000000'],
      { delimiter: ';' },
    ],
    ['truths of pandas', ['True', 'False', ''], 'BOOLEAN', [true, false, null]],
    ['truths of R and people', ['TRUE', 'no', 'Yes', 'FALSE'], 'BOOLEAN', [true, false, true, false]],
    ['zeros and ones', ['0', '1'], 'INT', [0, 1]],
    ['short dates', ['2024-1-1', '2024-12-31'], 'DATE', ['2024-01-01', '2024-12-31']],
    ['slashed dates', ['2024/01/31', '2024/2/1'], 'DATE', ['2024-01-31', '2024-02-01']],
    ['days first', ['31/12/2024', '1/2/2024'], 'DATE', ['2024-12-31', '2024-02-01']],
    ['months first', ['12/31/2024', '1/2/2024'], 'DATE', ['2024-12-31', '2024-01-02']],
    ['dotted days', ['1.2.2024', '03.04.24'], 'DATE', ['2024-02-01', '2024-04-03']],
    ['dotted days, some without zeros', ['13.04.26', '3.4.26', '14.12.26'], 'DATE', ['2026-04-13', '2026-04-03', '2026-12-14']],
    ['years of two digits that may be versions', ['3.4.26', '13.4.26', '3.10.26'], 'STRING', ['3.4.26', '13.4.26', '3.10.26']],
    [
      'years of two digits, told by their order',
      ['3.4.26', '13.4.26', '3.10.26'],
      'DATE',
      ['2026-04-03', '2026-04-13', '2026-10-03'],
      { dateOrder: 'dmy' },
    ],
    [
      'years of two digits, told by their type',
      ['3.4.26', '13.10.26 9:05'],
      'TIMESTAMP_NTZ',
      ['2026-04-03 00:00:00', '2026-10-13 09:05:00'],
      { types: { v: 'timestamp_ntz' } },
    ],
    ['days of two digits', ['12/31/99', '1/2/24'], 'DATE', ['1999-12-31', '2024-01-02']],
    ['named months', ['5 May 2026', '06-Jun-26', '7 September 2026'], 'DATE', ['2026-05-05', '2026-06-06', '2026-09-07']],
    ['named months first', ['"May 5, 2026"', '"Sep 30, 2026"'], 'DATE', ['2026-05-05', '2026-09-30']],
    ['times behind days', ['31.12.2024 9:05', '01.01.2025 23:59:59.5'], 'TIMESTAMP_NTZ', ['2024-12-31 09:05:00', '2025-01-01 23:59:59.5']],
    [
      'halves of the day',
      ['12/31/2024 12:05 AM', '12/30/2024 1:00:30 PM', '12/30/2024 12:00 pm'],
      'TIMESTAMP_NTZ',
      ['2024-12-31 00:05:00', '2024-12-30 13:00:30', '2024-12-30 12:00:00'],
    ],
    ['days and times', ['2024-01-01', '2024-01-01T05:00:00'], 'TIMESTAMP_NTZ', ['2024-01-01 00:00:00', '2024-01-01 05:00:00']],
    [
      'an instant without seconds',
      ['2026-01-01T10:00+02:00', '2026-01-01 10:00Z'],
      'TIMESTAMP',
      ['2026-01-01 08:00:00+00', '2026-01-01 10:00:00+00'],
    ],
    ['days that can be either', ['01/02/2024', '03/04/2024'], 'STRING', ['01/02/2024', '03/04/2024']],
    ['days that are either way the same', ['01/01/2024', '04/04/2024'], 'DATE', ['2024-01-01', '2024-04-04']],
    ['days that are told to come first', ['01/02/2024', '03/04/2024'], 'DATE', ['2024-02-01', '2024-04-03'], { dateOrder: 'dmy' }],
    ['months that are told to come first', ['01/02/2024', '03/04/2024'], 'DATE', ['2024-01-02', '2024-03-04'], { dateOrder: 'mdy' }],
    ['codes with leading zeros', ['007', '12', '13', '14'], 'STRING', ['007', '12', '13', '14']],
    ['codes that are told to be numbers', ['12', '13'], 'DOUBLE', [12, 13], { types: { v: 'double' } }],
    ['numbers that are told to be text', ['12', ' 13'], 'STRING', ['12', ' 13'], { types: { v: 'string' } }],
    ['months that are not', ['13/13/2024', '40/1/2024'], 'STRING', ['13/13/2024', '40/1/2024']],
    ['what only looks like a day', ['1.2.3', '10.2.1'], 'STRING', ['1.2.3', '10.2.1']],
    ['addresses and versions', ['1-2-3', '4-5-6'], 'STRING', ['1-2-3', '4-5-6']],
  ];
  // only a file without decimals is typed by the pass that stores its rows
  const files = Map.groupBy(cases, ([, , type, , options = {}]) => JSON.stringify([options, type.startsWith('DECIMAL')]));
  test.each([...files.values()].map((columns) => ({ names: columns.map(([name]) => name).join(', '), columns })))(
    '$names',
    async ({ columns }) => {
      const found = await readColumns(
        columns.map(([, values]) => values),
        columns[0]![4],
      );
      columns.forEach(([name, , type, values], at) => {
        const missing = values.filter((value) => value === null).length;
        expect(found[at], name).toMatchObject({ type, values, missing, odd: [] });
      });
    },
  );
});

test('what does not fit is counted, shown with its row, and kept as it was sent', async () => {
  const values = ['1', '2', ' low ', '4', 'NA', '6', '>100', '8'];
  const found = await read(values);
  expect(found).toMatchObject({ type: 'INT', values: [1, 2, null, 4, null, 6, null, 8], odd: [' low ', '>100'] });
  expect(found.column).toMatchObject({
    oddValues: 2,
    missingValues: 1,
    oddExamples: [
      { row: 3, value: ' low ' },
      { row: 7, value: '>100' },
    ],
  });
});

test('beside decimal commas a point that stands between no thousands is odd, and one that can be either says so', async () => {
  const some = ['0,5', '1,5', '2,5', '1.000', '1.5'];
  expect(await read(some, { delimiter: ';' })).toMatchObject({ type: 'DOUBLE', values: [0.5, 1.5, 2.5, 1000, null], odd: ['1.5'] });
  // the first values leave no doubt, and one that comes later is odd all the same
  const many = [...Array.from({ length: 2_100 }, (_, n) => `${n},5`), '1.5', '12.345'];
  const late = await read(many, { delimiter: ';' });
  expect(late).toMatchObject({ type: 'DOUBLE', odd: ['1.5'] });
  expect(late.values.slice(-3)).toEqual([2_099.5, null, 12_345]);
  const unclear = await read(['0,5', ...Array<string>(11).fill('12.345')], { delimiter: ';' });
  expect(unclear.column.note).toContain('decimal');
});

test('a line that only names the delimiter is no header', async () => {
  for (const [line, delimiter] of [
    ['\ufeffsep=;\r\n', ';'],
    ['SEP=|\n', '|'],
    ['', ';'],
  ] as const) {
    const table = await lake.makeTable();
    const bytes = `${line}${['a, b', 'c'].join(delimiter)}\n${['1,5', 'x'].join(delimiter)}\n`;
    const first = await lake.ingest(table, 'csv', [{ path: 'a.csv', bytes: line === '' ? bytes.replace('a, b', 'a') : bytes }]);
    expect(first.upload, line).toMatchObject({ status: 'completed', stored: 1 });
    expect(Object.values(await lake.types(table.id)), line).toEqual(expect.arrayContaining(['DOUBLE', 'STRING']));
  }
});

test('a line that names the delimiter counts as a line, and tabs may be named too', async () => {
  const table = await lake.makeTable();
  const bytes = 'sep=;\r\na;b\r\n1,5;x\r\n2,5;"y"z\r\n';
  const { upload } = await lake.ingest(table, 'csv', [{ path: 'a.csv', bytes }]);
  expect(upload).toMatchObject({ stored: 1, quarantined: 1 });
  expect(await lake.quarantined(table.experimentId)).toMatchObject([{ reason: 'broken_quotes', line: '4', original_text: '2,5;"y"z' }]);
  const tabs = await lake.makeTable();
  const second = await lake.ingest(tabs, 'tsv', [{ path: 'a.tsv', bytes: 'sep=\t\na\tb\n1\tx\n' }]);
  expect(second.upload).toMatchObject({ stored: 1 });
  expect(await lake.types(tabs.id)).toMatchObject({ a: 'INT', b: 'STRING' });
});

test('days that can be either say so, and what tells them apart may come late', async () => {
  expect((await read(['01/02/2024', '03/04/2024'])).column.note).toContain('dateOrder');
  expect((await read(['3.4.26', '13.4.26'])).column.note).toContain('dateOrder');
  expect((await read(['3.4.26', '13.14.26'])).column.note).toBeUndefined();
  const early = Array.from({ length: 2_100 }, (_, row) => `${1 + (row % 12)}/${1 + (row % 11)}/2024`);
  expect(await read(early)).toMatchObject({ type: 'STRING', odd: [] });
  const [first] = (await read([...early, '13/1/2024'])).values;
  expect(first).toBe('2024-01-01');
  const late = await read([...early, '1/13/2024']);
  expect(late).toMatchObject({ type: 'DATE', odd: [] });
  expect(late.values.at(-1)).toBe('2024-01-13');
  // one that contradicts the other leaves it open
  expect(await read([...early, '13/1/2024', '1/13/2024'])).toMatchObject({ type: 'STRING' });
});

test('a column that is known keeps its type, and is read by it', async () => {
  const table = await lake.makeTable();
  await lake.ingest(table, 'csv', [{ path: '1.csv', bytes: 'n;day;ok;code\n1,5;31.12.2024;yes;x\n' }]);
  const { report } = await lake.ingest(table, 'csv', [
    { path: '2.csv', bytes: 'n,day,ok,code\n2.5,2024-12-30,TRUE,7\nNA,12/29/2024,?,8\nlow,,FALSE,9\n' },
  ]);
  expect(await lake.types(table.id)).toMatchObject({ n: 'DOUBLE', day: 'DATE', ok: 'BOOLEAN', code: 'STRING' });
  const odd = Object.fromEntries(report!.files[0]!.columns.map(({ name, oddValues }) => [name, oddValues]));
  expect(odd).toMatchObject({ n: 1, ok: 1, code: 0 });
  const rows = await lake.rows(table.id);
  expect(rows.filter(({ code }) => code === '7')).toMatchObject([{ n: 2.5, ok: true }]);
  expect(rows.filter(({ code }) => code === '9')).toMatchObject([{ n: null, n__text: 'low', ok: false }]);
});

describe('nearly all of a column decide', () => {
  test.each([
    [1, 0, true],
    [1, 1, false],
    [3, 2, true],
    [97, 3, false],
    [300, 3, true],
    [99_000, 1_000, true],
    [999_000, 1_001, false],
  ])('%i that fit and %i that do not', (fitting, odd, expected) => expect(isMostly(fitting, odd)).toBe(expected));

  test('the way that is chosen leaves few values odd, whatever they are', () => {
    const kind = fc.constantFrom(
      1,
      2,
      4,
      8,
      16,
      32,
      64,
      128,
      256,
      512,
      1_024,
      4_096,
      8_192,
      16_384,
      32_768,
      65_536,
      131_072,
      262_144,
      524_288,
      4_194_304,
      8 | 16_777_216,
      16_777_216,
    );
    const kinds = fc.array(fc.tuple(kind, fc.integer({ min: 1, max: 5_000 })), { maxLength: 6 });
    fc.assert(
      fc.property(kinds, fc.constantFrom(',', ';'), (pairs, delimiter) => {
        const all = new Map(pairs);
        const values = [...all].reduce((sum, [each, many]) => (each === 512 || each === 4_096 ? sum : sum + many), 0);
        const { form, odd } = chooseReading(all, { delimiter, options: {} });
        if (form !== 'text') expect(isMostly(values - odd, odd)).toBe(true);
        if (delimiter === ',') expect(form).not.toBe('comma');
      }),
      { numRuns: 2_000 },
    );
  });
});

test('a column whose numbers have both decimal marks is text, and its note says so', async () => {
  const { type, column } = await read(['1,5', '1.5', '2,25', '3.75'], { delimiter: ';' });
  expect([type, column.note]).toEqual([
    'STRING',
    expect.stringContaining('Some of its numbers have decimal commas and some decimal points'),
  ]);
});

test.each([
  ['thousands', ['1,234', '12,345', '999']],
  ['decimals', ['0,5', '1,25', '7']],
])('a column of numbers with commas for %s, in a file of commas, is text, and its note says so', async (_what, values) => {
  const sent = values.map((value) => `"${value}"`);
  const { type, column } = await read(sent, { delimiter: ',' });
  expect([type, column.note]).toEqual(['STRING', expect.stringMatching(/^Its numbers have commas\. Send the file with decimal , where/)]);
  expect((await read(values, { delimiter: ';' })).type).toBe('DOUBLE');
});

test('decimals keep each of their 38 digits, and what does not fit stays beside them', async () => {
  const whole = ['99999999999999999999999999999999999999', '-12345678901234567890123456789012345678', '0', '-7'];
  const part = ['0.0000000000000000000000000000000000001', '-0.9999999999999999999999999999999999999', '-0.5', '0'];
  const both = ['99999999999999999999999999.999999999999', '-0.000000000001', '1.5000000000000000000', '-7'];
  const text = ['high', ...Array<string>(200).fill('-1234567890123456789.25'), 'low'];
  const [first, second, third, odd] = await readColumns([whole, part, both, text]);
  expect([first, second, third].map((each) => each!.type)).toEqual(['DECIMAL(38,0)', 'DECIMAL(38,37)', 'DECIMAL(38,12)']);
  expect(first!.values).toEqual(whole);
  expect(second!.values.slice(0, 2)).toEqual(part.slice(0, 2));
  expect(third!.values).toEqual([both[0], both[1], '1.500000000000', '-7.000000000000']);
  expect(odd).toMatchObject({ type: 'DECIMAL(38,2)', odd: ['high', 'low'] });
  expect(odd!.values.slice(0, 2)).toEqual([null, '-1234567890123456789.25']);
});

test('a text column most of whose values are numbers or days names the values that are not', async () => {
  const many = (count: number, valueOf: (n: number) => string) => Array.from({ length: count }, (_, n) => valueOf(n));
  const [one, several, days, instants, half, few, told, codes] = await readColumns(
    [
      [...many(56, (n) => `${n}.5`), ...many(4, () => ' k.A.'), 'NA', ''],
      [...many(50, String), ...many(3, () => 'n.b.'), 'x'.repeat(60), 'b', 'b', 'c', 'd'],
      [...many(28, (n) => `${n + 1}/5/2026`), ...many(9, () => '2026-05-01'), 'spring', 'fall', 'winter'],
      [...many(20, (n) => `2026-05-01T10:00:${n + 10}Z`), 'later', 'soon', 'never'],
      ['1', '2', '3', '4', 'a', 'b', 'c'],
      ['1', '2', '3', 'a', 'b', 'c'],
      ['1', '2', '3', '4', 'a', 'b', 'c'],
      ['1', '2', '03', 'a'],
    ],
    { types: { v6: 'string' } },
  );
  const notes = [one, several, days, instants, half, few, told, codes].map((each) => [each!.type, each!.column.note]);
  const missing = 'stand for missing values, name them among the marks in missing.';
  expect(notes).toEqual([
    [
      'STRING',
      "56 of 60 values are numbers; 'k.A.' is not. If it stands for a missing value, name it among the marks in missing. Sent with types, the column holds numbers and keeps the others as text beside them.",
    ],
    ['STRING', expect.stringContaining(`50 of 58 values are numbers; 'n.b.', 'b', 'c' and 2 more are not. If they ${missing}`)],
    ['STRING', expect.stringContaining("28 of 40 values are days; '2026-05-01', 'fall', 'spring' and 1 more are not.")],
    ['STRING', expect.stringContaining("20 of 23 values are times; 'later', 'never', 'soon' are not.")],
    ['STRING', expect.stringContaining("4 of 7 values are numbers; 'a', 'b', 'c' are not.")],
    ...[few, told, codes].map(() => ['STRING', undefined]),
  ]);
  expect((await read(['1.5', 'k.A.', 'k.A.', 'k.A.'], { missing: ['k.A.'] })).type).toBe('DOUBLE');
  const long = await read([...many(4, String), 'y'.repeat(60), 'z', 'w'], {});
  expect(long.column.note).toContain(`'w', '${'y'.repeat(40)}', 'z' are not`);
});

test('a column that is told to be of numbers says that its points were read as decimal ones', async () => {
  const values = ['0,5', ...Array<string>(11).fill('12.345')];
  const told = await read(values, { delimiter: ';', types: { v: 'double' } });
  expect([told.type, told.values[1], told.odd]).toEqual(['DOUBLE', 12.345, ['0,5']]);
  expect(told.column.note).toContain('read as standing before decimals');
});

test('types of columns that the file does not have are said', async () => {
  const table = await lake.makeTable();
  const { report } = await lake.ingest(table, 'csv', [{ path: 'a.csv', bytes: 'plot,v\n1,2\n' }], {
    reading: { types: { plto: 'string', plot: 'string' } },
  });
  expect(report!.files[0]).toMatchObject({ status: 'completed', stored: 1, message: "The file has no column 'plto', which types names." });
});
