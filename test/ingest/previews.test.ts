import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { writeXlsx } from 'hucre/xlsx';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SourceKind } from '../../src/ingest/limits.ts';
import type { ReadingOptions, TypeWord } from '../../src/ingest/typing/readings.ts';
import type { ColumnReport } from '../../src/ingest/typing/decide.ts';
import { previewFile, type ColumnPreview, type FilePreview } from '../../src/ingest/uploads/preview.ts';
import { listColumnsAt } from '../../src/lakehouse/tables/manifest.ts';
import { findTableById } from '../../src/lakehouse/tables/manifest.queries.ts';
import { fixture, openLake, type Lake } from './setup.ts';

const IS_SOAK = process.env['SOAK'] !== undefined;

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

interface Sent {
  path: string;
  bytes: string | Buffer;
}

/** Previews files one after the other, as the service does, against a table or as a new one. */
async function preview(
  kind: SourceKind,
  files: readonly Sent[],
  { tableId, isPart = false, options = {} }: { tableId?: string; isPart?: boolean; options?: ReadingOptions } = {},
): Promise<FilePreview[]> {
  const table = tableId === undefined ? undefined : await findTableById(lake.db, tableId);
  let known = table ? await listColumnsAt(lake.db, table.id, table.version) : [];
  const previews: FilePreview[] = [];
  for (const { path, bytes } of files) {
    const folder = join(lake.folder, 'work', 'previews', randomUUID());
    mkdirSync(folder, { recursive: true });
    const original = join(folder, 'original');
    writeFileSync(original, bytes);
    const sha256 = createHash('sha256')
      .update(Buffer.from(bytes as string))
      .digest('hex');
    const task = { kind, path, original, isPart, sha256, work: folder, options, tableId, known };
    const { file, columns } = await previewFile(lake.deps, task).finally(() => rmSync(folder, { recursive: true }));
    known = [...columns];
    previews.push(file);
  }
  return previews;
}

const reported = ({ fit: _fit, form: _form, missingMarks: _marks, examples: _examples, ...line }: ColumnPreview): ColumnReport => line;

/** The part of a preview that is a report, too. */
const asOutcome = ({ reading: _reading, otherColumns: _others, columns, ...outcome }: FilePreview) => ({
  ...outcome,
  columns: columns.map(reported),
});

/** That a preview of these files says what their upload says, into a new table; nothing of them lies in the lake before. */
async function agree(kind: SourceKind, files: readonly Sent[], options: ReadingOptions = {}): Promise<FilePreview[]> {
  const table = await lake.makeTable();
  const before = lakeFiles();
  const previews = await preview(kind, files, { options });
  expect(lakeFiles()).toEqual(before);
  const { report } = await lake.ingest(table, kind, files, { reading: options });
  expect(previews.map(asOutcome)).toEqual(report!.files);
  return previews;
}

const lakeFiles = () => readdirSync(join(lake.folder, 'lake'), { recursive: true }).map(String).sort();

test.each(readdirSync(fixture('')).sort())('of %s the preview says what the report says', async (name) => {
  const kind = name.slice(name.lastIndexOf('.') + 1) as SourceKind;
  await agree(kind, [{ path: name, bytes: readFileSync(fixture(name)) }]);
});

const LINES = Array.from(
  { length: 40 },
  (_, row) => `${row + 1};${row},5;${String((row % 28) + 1).padStart(2, '0')}.05.2026;yes;leaf ${row}`,
);
LINES[4] = '5;NA;05.05.2026;no;';
LINES[9] = '10;> 99;10.05.2026;-;"two\nlines"';
const GERMAN = `plot;spad;day;healthy;note\n${LINES.join('\n')}\n`;
const DAYS = 'plot,day\n1,01/02/2026\n2,03/04/2026\n';
const json = (rows: readonly object[]) => JSON.stringify(rows);
const TRACE = (points: number) => {
  const list = (of: (at: number) => number) => Array.from({ length: points }, (_, at) => of(at)).join(',');
  return ['AMBYTE\tv2\t1777629600', 'S\t7000\t7900\t2\t300\t50', `T1\t${list((at) => at)}`, `T2\t${list((at) => at)}`, ''].join('\n');
};

describe('of files as people have them the preview says what the report says', () => {
  const cases: [string, SourceKind, readonly Sent[], ReadingOptions?][] = [
    ['a German spreadsheet', 'csv', [{ path: 'german.csv', bytes: GERMAN }]],
    ['days that can be either', 'csv', [{ path: 'days.csv', bytes: DAYS }]],
    ['days that are told', 'csv', [{ path: 'days.csv', bytes: DAYS }], { dateOrder: 'dmy', missing: ['1'], types: { plot: 'string' } }],
    ['a type that nothing fits', 'csv', [{ path: 'days.csv', bytes: DAYS }], { types: { day: 'int' } }],
    ['names that have to change', 'csv', [{ path: 'names.csv', bytes: 'id,,Temp,temp,x__text\n1,2,3,4,5\n' }]],
    ['no rows', 'csv', [{ path: 'none.csv', bytes: 'a,b\n' }]],
    ['no values', 'csv', [{ path: 'none.csv', bytes: 'a,b\n,\n,\n' }]],
    ['a title', 'csv', [{ path: 'title.csv', bytes: 'Trial 2026\n\na,b\n1,2.5\n2,3.5\n' }]],
    ['columns left out', 'csv', [{ path: 'left.csv', bytes: 'a,b,c\n1,2.5,x\n2,3.5,y\n' }], { leaveOut: ['b'] }],
    ['a row of units', 'csv', [{ path: 'units.csv', bytes: 'a,b\n,cm\n1,2.5\n2,3.5\n' }]],
    ['blank lines before the header', 'csv', [{ path: 'late.csv', bytes: '\n\na,b\n1,2\n' }]],
    [
      'files that widen each other',
      'csv',
      [
        { path: '1.csv', bytes: 'a,b,c\n1,2026-05-01,x\n' },
        { path: '2.csv', bytes: 'A,b,d\n1.5,2026-05-01T10:00:00,1\n' },
        { path: '3.csv', bytes: 'a,b,d\nwide,soon,2\n' },
        { path: '4.csv', bytes: '' },
      ],
    ],
    [
      'json',
      'json',
      [
        {
          path: 'a.json',
          bytes: json([
            { a: 1, b: 'x', c: { d: [1] } },
            { a: 2.5, b: 3, e: null },
          ]),
        },
      ],
    ],
    [
      'json with more digits than a double has',
      'json',
      [{ path: 'a.json', bytes: '[{"a":0.12345678901234567891},{"a":12345678901234567890}]' }],
    ],
    ['ndjson whose kinds differ', 'ndjson', [{ path: 'a.ndjson', bytes: '{"a":1}\n{"a":"x"}\n{"a":2}\n{"a":true}\n' }]],
    ['a key that comes twice', 'ndjson', [{ path: 'a.ndjson', bytes: '{"a":1,"a":2}\n{"a":3}\n' }]],
    ['traces', 'ambyte', [{ path: 'Ambyte_1/2/a.txt', bytes: TRACE(10) + TRACE(3) }]],
    ['a file without traces', 'ambyte', [{ path: 'a.txt', bytes: 'AMBYTE\tv2\t1777629600\n' }]],
  ];
  test.each(cases)('%s', async (_, kind, files, options) => {
    await agree(kind, files, options);
  });

  test('a workbook, and a sheet of it by name', async () => {
    const rows = (first: string) => [
      ['plot', 'spad', 'day'],
      [first, '0,5', new Date('2026-05-01')],
      ['2', 'NA', new Date('2026-05-02')],
    ];
    const bytes = Buffer.from(
      await writeXlsx({
        sheets: [
          { name: 'One', rows: rows('1') },
          { name: 'Two', rows: rows('x') },
        ],
      }),
    );
    const [one] = await agree('xlsx', [{ path: 'a.xlsx', bytes }]);
    expect(one!.columns.map(({ type }) => type)).toEqual(['INT', 'DOUBLE', 'DATE']);
    const [two] = await agree('xlsx', [{ path: 'a.xlsx', bytes }], { sheet: 'Two' });
    expect(two!.columns.map(({ type }) => type)).toEqual(['STRING', 'DOUBLE', 'DATE']);
    await agree('xlsx', [{ path: 'a.xlsx', bytes }], { sheet: 'Three' });
  });

  test('a Parquet file', async () => {
    const path = join(lake.folder, 'typed.parquet');
    await lake.reader
      .run(`copy (select i as a, i::varchar as b, case when i % 3 = 0 then null else now() end as c, [i] as d, 0.5::decimal(5, 2) as e
      from range(50) t(i)) to '${path}' (format parquet)`);
    const [file] = await agree('parquet', [{ path: 'typed.parquet', bytes: readFileSync(path) }]);
    expect(file!.columns.map(({ examples }) => examples.map(({ value }) => value))).toMatchObject([
      ['0', '1', '2'],
      ['0', '1', '2'],
      {},
      ['[0]', '[1]', '[2]'],
      ['0.50', '0.50', '0.50'],
    ]);
  });

  const cell = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -5, max: 3_000_000_000 }).map(String) },
    { weight: 3, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map(String) },
    fc.constantFrom(
      '',
      'NA',
      '-',
      ' 7 ',
      '0,5',
      '1.234,5',
      '007',
      'yes',
      'false',
      '2026-05-01',
      '31/12/2026',
      '05/06/2026',
      '5 May 2026',
      '2026-05-01T10:00:00Z',
      'tall',
      '""',
      '"a;b"',
    ),
  );
  const column = fc.oneof(
    fc.array(cell, { minLength: 3, maxLength: 3 }),
    cell.map((one) => [one, one, one]),
  );
  const option = fc.record(
    {
      decimal: fc.constantFrom('.' as const, ',' as const),
      dateOrder: fc.constantFrom('dmy' as const, 'mdy' as const),
      missing: fc.constantFrom([], ['-999'], ['tall', '007']),
      types: fc.constantFrom<Record<string, TypeWord>>({ c0: 'string' }, { c1: 'double' }, { c0: 'date', c1: 'int' }),
    },
    { requiredKeys: [] },
  );
  test('generated ones, into a table that other files are in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(column, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 2 }),
        option,
        async (tables, options) => {
          const files = tables.map((columns, at) => {
            const header = columns.map((_, index) => `c${index}`).join(';');
            const rows = [0, 1, 2].map((row) => columns.map((values) => values[row]).join(';'));
            return { path: `${at}.csv`, bytes: `${header}\n${rows.join('\n')}\n` };
          });
          const previews = await agree('csv', files, options);
          for (const { columns, stored } of previews)
            for (const { missingValues = 0, missingMarks, examples, oddValues } of columns) {
              expect(missingMarks.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(missingValues);
              expect(examples).toHaveLength(Math.min(3, stored - missingValues - oddValues));
            }
        },
      ),
      { numRuns: IS_SOAK ? 150 : 5 },
    );
  });
});

test('a column is told by its type, its marks, what was odd and its first values', async () => {
  const [file] = await preview('csv', [{ path: 'german.csv', bytes: GERMAN }]);
  expect(file).toMatchObject({
    status: 'completed',
    stored: 40,
    reading: { delimiter: ';', decimal: ',', headerLine: 1 },
    otherColumns: [],
  });
  expect(file!.columns).toEqual([
    {
      ...{ name: 'plot', originalKey: 'plot', type: 'INT', oddValues: 0, missingValues: 0, fit: 'new', form: 'plain', missingMarks: [] },
      examples: [1, 2, 3].map((row) => ({ row, value: String(row) })),
    },
    {
      ...{ name: 'spad', originalKey: 'spad', type: 'DOUBLE', oddValues: 1, oddExamples: [{ row: 10, value: '> 99' }], missingValues: 1 },
      ...{ fit: 'new', form: 'comma', missingMarks: [{ mark: 'NA', count: 1 }] },
      examples: [0, 1, 2].map((at) => ({ row: at + 1, value: `${at}.5`, sent: `${at},5` })),
    },
    {
      ...{ name: 'day', originalKey: 'day', type: 'DATE', oddValues: 0, missingValues: 0, fit: 'new', form: 'dmy', missingMarks: [] },
      examples: [1, 2, 3].map((row) => ({ row, value: `2026-05-0${row}`, sent: `0${row}.05.2026` })),
    },
    {
      ...{ name: 'healthy', originalKey: 'healthy', type: 'BOOLEAN', oddValues: 0, missingValues: 1, fit: 'new', form: 'boolean' },
      missingMarks: [{ mark: '-', count: 1 }],
      examples: [1, 2, 3].map((row) => ({ row, value: 'true', sent: 'yes' })),
    },
    {
      ...{ name: 'note', originalKey: 'note', type: 'STRING', oddValues: 0, missingValues: 1, fit: 'new', form: 'text', missingMarks: [] },
      examples: [0, 1, 2].map((at) => ({ row: at + 1, value: `leaf ${at}` })),
    },
  ]);
});

test('how columns fit a table that is there, and that a file is in it already', async () => {
  const table = await lake.makeTable();
  const first = { path: 'first.csv', bytes: 'whole,wide,odd,gone\n1,1,1,1\n' };
  await lake.ingest(table, 'csv', [first]);
  const [next, again, elsewhere] = await preview(
    'csv',
    [{ path: 'next.csv', bytes: 'whole,wide,odd,more\n2,0.5,x,1\n' }, first, { ...first, path: 'other.csv' }],
    { tableId: table.id },
  );
  expect(next!.columns.map(({ name, fit, type }) => [name, fit, type])).toEqual([
    ['whole', 'same', 'INT'],
    ['wide', 'widened', 'DOUBLE'],
    ['odd', 'odd', 'INT'],
    ['more', 'new', 'INT'],
  ]);
  expect(next!.otherColumns).toEqual(['gone']);
  expect(again).toMatchObject({
    status: 'completed',
    stored: 0,
    alreadyThere: 1,
    columns: [],
    message: 'This file is in the table already.',
  });
  expect(elsewhere).toMatchObject({ status: 'completed', stored: 1, alreadyThere: 0 });
});

describe('of the beginning of a file', () => {
  const whole: [SourceKind, string][] = [
    ['csv', 'plot;note\n1;a\n2;"two\nlines; ""so"""\n3;\n4;0,5\n'],
    ['ndjson', '{"a":1,"b":"x\\n"}\n{"a":2}\n{"a":0.5,"c":[1,2]}\n'],
    ['json', ' [{"a":1,"b":"],"},\n{"a":2},{"a":0.5,"c":[1,{"d":2}]}]'],
    ['json', '{"data": [{"a":1,"b":"],"},\n{"a":2},{"a":0.5,"c":[1,{"d":2}]}]}'],
    ['ambyte', TRACE(10) + TRACE(10)],
  ];
  test.each(whole)('%s: a record that is cut is none, wherever that is', async (kind, bytes) => {
    const [all] = await preview(kind, [{ path: 'Ambyte_1/a', bytes }]);
    let most = 0;
    const step = kind === 'ambyte' ? (IS_SOAK ? 7 : 67) : IS_SOAK ? 1 : 5;
    for (let length = 1; length < bytes.length; length += step) {
      const [part] = await preview(kind, [{ path: 'Ambyte_1/a', bytes: bytes.slice(0, length) }], { isPart: true });
      expect(part!.quarantined, `${length}`).toBe(0);
      if (part!.status === 'failed') expect(part!.reason).toMatch(/^(part_too_short|empty_file|wrong_type)$/);
      expect(part!.stored).toBeGreaterThanOrEqual(most);
      most = part!.stored;
    }
    expect(most).toBeGreaterThanOrEqual(all!.stored - 2);
    expect(most).toBeLessThanOrEqual(all!.stored);
  });

  test('a Parquet file that an upload refuses is refused here too', async () => {
    const bytes = readFileSync(fixture('refused.decimal_too_wide.parquet'));
    const [file] = await preview('parquet', [{ path: 'wide.parquet', bytes }]);
    expect(file).toMatchObject({ status: 'failed', reason: 'decimal_too_wide', columns: [] });
  });

  test.each(['xlsx', 'parquet'] as const)('%s: the file says that it is looked at whole', async (kind) => {
    const [part] = await preview(kind, [{ path: 'a', bytes: 'PK' }], { isPart: true });
    expect(part).toMatchObject({ status: 'failed', reason: 'whole_file_needed', columns: [] });
  });
});
