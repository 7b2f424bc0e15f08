/** Files as people's programs write them, sent through HTTP: types, missing and odd values as a person expects, and no row lost. Needs Python, R and a package index. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBuiltSite, type BuiltSite } from '../../support/built-site.ts';
import { pythonWith } from '../../support/python.ts';

const PACKAGES = ['pandas==2.3.3', 'pyarrow', 'openpyxl', 'xlsxwriter'];
const folder = mkdtempSync(join(tmpdir(), 'fieldlake-files-'));
let site: BuiltSite;
let data: string;
beforeAll(async () => {
  const python = join(pythonWith(...PACKAGES), 'python');
  execFileSync(python, [join(import.meta.dirname, 'make.py'), folder]);
  execFileSync('Rscript', [join(import.meta.dirname, 'make.R'), folder]);
  site = await startBuiltSite();
  const body = { name: 'Files', organizationId: site.cast.leafLab };
  data = `/api/v1/experiments/${String((await site.owner('POST', '/api/v1/experiments', { body })).body.id)}/data`;
}, 600_000);
afterAll(async () => {
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

const N = 60;
const rows = Array.from({ length: N }, (_, n) => n);
const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
const dayOf = (n: number) => new Date(Date.UTC(2026, 3, 1 + n));
const [year, month, day] = [
  (n: number) => dayOf(n).getUTCFullYear(),
  (n: number) => dayOf(n).getUTCMonth() + 1,
  (n: number) => dayOf(n).getUTCDate(),
];
const lines = (header: string, row: (n: number) => string, { end = '\n', bom = '' } = {}) =>
  `${bom}${[header, ...rows.map(row)].join(end)}${end}`;

/** Name and type of a column, and how many of its values are missing and odd where some are. */
type Column = [name: string, type: string, missing?: number, odd?: number];
interface File {
  name: string;
  /** What is sent, where no program wrote it. */
  text?: string;
  kind?: string;
  fields?: Record<string, string>;
  rows?: number;
  columns: Column[];
  /** Some of the row whose first column is 5, or has this value. */
  row?: Record<string, unknown>;
  orderBy?: string;
}

const plain: Column[] = [
  ['plot', 'INT'],
  ['phi2', 'DOUBLE'],
  ['genotype', 'STRING'],
  ['healthy', 'BOOLEAN'],
  ['day', 'DATE'],
  ['at', 'TIMESTAMP_NTZ'],
];
const gaps: Column[] = [
  ['plot', 'INT'],
  ['phi2', 'DOUBLE', 1],
  ['genotype', 'STRING', 1],
  ['healthy', 'BOOLEAN', 1],
  ['day', 'DATE'],
  ['at', 'TIMESTAMP_NTZ', 1],
];
const fifth = { plot: 5, phi2: 1.74, genotype: 'Mo17 ü', healthy: false, day: '2026-04-05', at: '2026-04-05T06:58:15.000' };
const typed = (changes: Record<string, string>, columns = gaps) =>
  columns.map(([name, type, ...rest]): Column => [name, changes[name] ?? type, ...rest]);

const PANDAS: File[] = [
  { name: 'pandas.csv', columns: plain, row: fifth },
  { name: 'pandas-index.csv', columns: [['column_1', 'INT'], ...plain], row: fifth },
  { name: 'pandas-gaps.csv', columns: gaps, row: fifth },
  { name: 'pandas-na.csv', columns: gaps, row: fifth },
  {
    name: 'pandas-german.csv',
    columns: typed({ day: 'TIMESTAMP_NTZ' }),
    row: { ...fifth, day: '2026-04-05T00:00:00.000', at: '2026-04-05T06:58:00.000' },
  },
  { name: 'pandas.tsv', columns: gaps, row: fifth },
  { name: 'pandas-bom.csv', columns: gaps, row: fifth },
  {
    name: 'pandas-ns.parquet',
    columns: [...typed({ plot: 'BIGINT', day: 'TIMESTAMP_NTZ' }), ['zoned', 'TIMESTAMP', 1]],
    row: { ...fifth, day: '2026-04-05T00:00:00.000', zoned: '2026-04-05T04:58:15.000Z' },
  },
  { name: 'pandas-category.parquet', columns: typed({ plot: 'BIGINT', day: 'TIMESTAMP_NTZ' }), row: { genotype: 'Mo17 ü' } },
  {
    name: 'pandas-finer.parquet',
    rows: 2,
    columns: [
      ['n', 'BIGINT'],
      ['at', 'STRING'],
    ],
    orderBy: 'n',
  },
  { name: 'pandas-records.json', columns: typed({ day: 'DATE' }, plain), row: fifth },
  { name: 'pandas-lines.ndjson', columns: gaps, row: fifth },
  { name: 'pandas.xlsx', columns: gaps, row: fifth },
  { name: 'pandas-second.xlsx', fields: { sheet: 'Measurements' }, columns: gaps, row: fifth },
];

const BOOKS: File[] = [
  {
    name: 'openpyxl.xlsx',
    columns: [...typed({ phi2: 'DOUBLE' }, plain), ['code', 'STRING'], ['from', 'STRING']].map(([name, type]): Column => [
      name,
      type,
      name === 'phi2' ? 1 : undefined,
    ]),
    row: { ...fifth, code: '0004', from: '06:04:00' },
  },
  {
    name: 'openpyxl-streamed.xlsx',
    columns: [
      ['plot', 'INT'],
      ['phi2', 'DOUBLE'],
    ],
    row: { phi2: 1.74 },
  },
  {
    name: 'xlsxwriter-1904.xlsx',
    columns: [
      ['plot', 'INT'],
      ['day', 'DATE'],
      ['double', 'INT'],
      ['genotype', 'STRING'],
    ],
    row: { day: '2026-04-05', double: 10, genotype: 'Mo17 ü' },
  },
];

const r = gaps.map(([name, type, missing]): Column => [name, type, name === 'healthy' ? 20 : name === 'at' ? undefined : missing]);
const R: File[] = [
  { name: 'r.csv', columns: r, row: { phi2: 1.74, genotype: 'B73', healthy: false, day: '2026-04-05' } },
  { name: 'r-rownames.csv', columns: [['column_1', 'INT'], ...r] },
  { name: 'r2.csv', columns: r, row: { phi2: 1.74, healthy: false } },
  { name: 'r.tsv', columns: r },
  { name: 'r-empty.csv', columns: r },
  { name: 'r-padded.csv', columns: r, row: { phi2: 1.74 } },
];

/** Excel, Google Sheets and LibreOffice, in their languages; what MultispeQ's and a phone's app write. */
const TYPED: File[] = [
  {
    name: 'excel-us.csv',
    text: lines(
      'Plot,Phi2,Day,At,OK,Yield',
      (n) =>
        `${n + 1},${n / 4},${month(n)}/${day(n)}/${year(n)},${month(n)}/${day(n)}/${year(n)} ${6 + (n % 12)}:05,TRUE,"${1 + (n % 8)},234.50"`,
      { end: '\r\n' },
    ),
    columns: [
      ['Plot', 'INT'],
      ['Phi2', 'DOUBLE'],
      ['Day', 'DATE'],
      ['At', 'TIMESTAMP_NTZ'],
      ['OK', 'BOOLEAN'],
      ['Yield', 'DOUBLE'],
    ],
    row: { Phi2: 1, Day: '2026-04-05', At: '2026-04-05T10:05:00.000', OK: true, Yield: 5234.5 },
    orderBy: 'Plot',
  },
  {
    name: 'excel-us-ampm.csv',
    text: lines('Plot,At', (n) => `${n + 1},${month(n)}/${day(n)}/${String(year(n)).slice(2)} ${1 + (n % 12)}:05 ${n % 2 ? 'PM' : 'AM'}`, {
      end: '\r\n',
    }),
    columns: [
      ['Plot', 'INT'],
      ['At', 'TIMESTAMP_NTZ'],
    ],
    row: { At: '2026-04-05T05:05:00.000' },
    orderBy: 'Plot',
  },
  {
    name: 'excel-german.csv',
    text: lines(
      'Parzelle;Phi2;Tag;Zeit;Ertrag',
      (n) =>
        `${n + 1};${String(n / 4 + 0.5).replace('.', ',')};${pad(day(n))}.${pad(month(n))}.${year(n)};${pad(day(n))}.${pad(month(n))}.${year(n)} 14:05;${1 + (n % 8)}.234,50`,
      { end: '\r\n', bom: '\ufeff' },
    ),
    columns: [
      ['Parzelle', 'INT'],
      ['Phi2', 'DOUBLE'],
      ['Tag', 'DATE'],
      ['Zeit', 'TIMESTAMP_NTZ'],
      ['Ertrag', 'DOUBLE'],
    ],
    row: { Phi2: 1.5, Tag: '2026-04-05', Zeit: '2026-04-05T14:05:00.000', Ertrag: 5234.5 },
    orderBy: 'Parzelle',
  },
  {
    name: 'excel-french.csv',
    text: lines('Parcelle;Phi2;Jour', (n) => `${n + 1};${n === 4 ? '' : `0,${pad(n)}`};${pad(day(n))}/${pad(month(n))}/${year(n)}`, {
      end: '\r\n',
    }),
    columns: [
      ['Parcelle', 'INT'],
      ['Phi2', 'DOUBLE', 1],
      ['Jour', 'DATE'],
    ],
    row: { Phi2: null, Jour: '2026-04-05' },
    orderBy: 'Parcelle',
  },
  {
    name: 'excel-unicode.tsv',
    text: lines('plot\tphi2\tnote', (n) => `${n + 1}\t${n / 2}\t"says ""hi""\tand more"`, { end: '\r\n', bom: '\ufeff' }),
    columns: [
      ['plot', 'INT'],
      ['phi2', 'DOUBLE'],
      ['note', 'STRING'],
    ],
    row: { note: 'says "hi"\tand more' },
  },
  {
    name: 'sheets.csv',
    text: lines(
      'Timestamp,Plot,Healthy,Score',
      (n) => `${month(n)}/${day(n)}/${year(n)} ${pad(6 + (n % 12))}:05:09,${n + 1},${n % 2 ? 'TRUE' : 'FALSE'},${n === 7 ? '#N/A' : n}`,
    ),
    columns: [
      ['Timestamp', 'TIMESTAMP_NTZ'],
      ['Plot', 'INT'],
      ['Healthy', 'BOOLEAN'],
      ['Score', 'INT', 0, 1],
    ],
    row: { Timestamp: '2026-04-05T10:05:09.000', Healthy: false, Score: 4 },
    orderBy: 'Plot',
  },
  {
    name: 'sheets-form.csv',
    text: lines(
      'Timestamp,Plot,Comment',
      (n) => `${year(n)}/${month(n)}/${day(n)} ${1 + (n % 12)}:05:09 PM,${n + 1},"dry,\nno irrigation"`,
    ),
    columns: [
      ['Timestamp', 'TIMESTAMP_NTZ'],
      ['Plot', 'INT'],
      ['Comment', 'STRING'],
    ],
    row: { Timestamp: '2026-04-05T17:05:09.000', Comment: 'dry,\nno irrigation' },
    orderBy: 'Plot',
  },
  {
    name: 'libreoffice.csv',
    text: lines('plot;phi2;ok', (n) => `${n + 1};${n / 4};${n % 2 ? 'WAHR' : 'FALSCH'}`),
    columns: [
      ['plot', 'INT'],
      ['phi2', 'DOUBLE'],
      ['ok', 'STRING'],
    ],
    row: { ok: 'FALSCH' },
  },
  {
    name: 'multispeq.csv',
    text: lines(
      'ID,time,Device ID,Phi2,PAR,Leaf Angle,Notes',
      (n) =>
        `${4_000_000 + n},${year(n)}-${pad(month(n))}-${pad(day(n))}T14:05:09.120Z,01:24:${pad(n)},${(0.4 + n / 1_000).toFixed(4)},${n * 13},${n - 30},${n === 3 ? 'null' : 'ok'}`,
    ),
    columns: [
      ['data_ID', 'INT'],
      ['time', 'TIMESTAMP'],
      ['Device ID', 'STRING'],
      ['Phi2', 'DOUBLE'],
      ['PAR', 'INT'],
      ['Leaf Angle', 'INT'],
      ['Notes', 'STRING', 1],
    ],
    row: { time: '2026-04-05T14:05:09.120Z', 'Device ID': '01:24:04', Phi2: 0.404, PAR: 52 },
    orderBy: 'time',
  },
  {
    name: 'multispeq-marks.csv',
    text: lines(
      'plot,SPAD,LEF,Note',
      (n) => `${n + 1}, ${n % 20 === 3 ? 'n/a' : (30 + n / 7).toFixed(3)} ,${n % 20 === 5 ? 'NaN' : n},${n % 2 ? '-' : 'none seen'}`,
    ),
    columns: [
      ['plot', 'INT'],
      ['SPAD', 'DOUBLE', 3],
      ['LEF', 'INT', 3],
      ['Note', 'STRING', 30],
    ],
    row: { SPAD: 30.571, LEF: 4, Note: 'none seen' },
  },
  {
    name: 'logger-999.csv',
    text: lines('plot,temperature', (n) => `${n + 1},${n % 10 === 3 ? '-999' : (18 + n / 10).toFixed(1)}`),
    fields: { missing: '-999' },
    columns: [
      ['plot', 'INT'],
      ['temperature', 'DOUBLE', 6],
    ],
    row: { temperature: 18.4 },
  },
  {
    name: 'codes.csv',
    text: lines('plot,code,zip,phone', (n) => `${n + 1},${pad(n, 4)},${10_000 + n},+31 6 ${pad(n)}`),
    fields: { types: '{"zip":"string"}' },
    columns: [
      ['plot', 'INT'],
      ['code', 'STRING'],
      ['zip', 'STRING'],
      ['phone', 'STRING'],
    ],
    row: { code: '0004', zip: '10004', phone: '+31 6 04' },
  },
  {
    name: 'ambiguous.csv',
    text: lines('plot,day', (n) => `${n + 1},${pad(1 + (n % 12))}/${pad(1 + ((n + 5) % 12))}/2026`),
    columns: [
      ['plot', 'INT'],
      ['day', 'STRING'],
    ],
    row: { day: '05/10/2026' },
  },
  {
    name: 'ambiguous-told.csv',
    text: lines('plot,day', (n) => `${n + 1},${pad(1 + (n % 12))}/${pad(1 + ((n + 5) % 12))}/2026`),
    fields: { dateOrder: 'dmy' },
    columns: [
      ['plot', 'INT'],
      ['day', 'DATE'],
    ],
    row: { day: '2026-10-05' },
  },
  {
    name: 'remarks.csv',
    text: lines('plot,height', (n) => `${n + 1},${n === 11 ? '> 200' : n === 30 ? 'lodged' : 90 + n}`),
    columns: [
      ['plot', 'INT'],
      ['height', 'INT', 0, 2],
    ],
    row: { height: 94, height__text: null },
  },
  {
    name: 'months.csv',
    text: lines('plot,day', (n) => `${n + 1},${day(n)}-${dayOf(n).toLocaleString('en', { month: 'short', timeZone: 'UTC' })}-${year(n)}`),
    columns: [
      ['plot', 'INT'],
      ['day', 'DATE'],
    ],
    row: { day: '2026-04-05' },
  },
  {
    name: 'phone.json',
    text: JSON.stringify(
      rows.map((n) => ({
        plot: n + 1,
        phi2: n === 2 ? null : n / 4,
        at: `2026-04-${pad(1 + (n % 28))}T14:05:09.120+02:00`,
        trace: [n, n + 1],
        flag: n % 2 === 0,
      })),
    ),
    columns: [
      ['plot', 'INT'],
      ['phi2', 'DOUBLE', 1],
      ['at', 'TIMESTAMP'],
      ['trace', 'VARIANT'],
      ['flag', 'BOOLEAN'],
    ],
    row: { phi2: 1, at: '2026-04-05T12:05:09.120Z', trace: [4, 5], flag: true },
  },
  {
    name: 'phone.ndjson',
    text: rows
      .map((n) => `${JSON.stringify({ plot: n + 1, 'leaf temperature': `${20 + n / 10}`, gps: { lat: 51.9, lon: 5.6 } })}\r\n`)
      .join(''),
    columns: [
      ['plot', 'INT'],
      ['leaf temperature', 'STRING'],
      ['gps', 'VARIANT'],
    ],
    row: { gps: { lat: 51.9, lon: 5.6 } },
  },
  {
    name: 'old-mac.csv',
    text: lines('plot,phi2', (n) => `${n + 1},${n / 4}`, { end: '\r' }),
    columns: [
      ['plot', 'INT'],
      ['phi2', 'DOUBLE'],
    ],
    row: { phi2: 1 },
  },
  {
    name: 'ragged.csv',
    text: `${lines('plot,phi2', (n) => `${n + 1},${n / 4}`)}61\n62,1,2\n`,
    rows: 62,
    columns: [
      ['plot', 'INT'],
      ['phi2', 'DOUBLE'],
    ],
    row: { phi2: 1 },
  },
];

const FILES = [...PANDAS, ...BOOKS, ...R, ...TYPED];

async function send({ name, text, fields = {} }: File) {
  const form = new FormData();
  const kind = name.slice(name.lastIndexOf('.') + 1);
  const targetName = `f_${name.replaceAll(/[^a-z0-9]/g, '_')}`;
  for (const [field, value] of Object.entries({ sourceKind: kind, targetKind: 'new', targetName, ...fields })) form.append(field, value);
  form.append('files', new Blob([text ?? readFileSync(join(folder, name))]), name);
  const made = await site.owner('POST', `${data}/uploads`, { body: form });
  expect(made.status, made.text).toBe(201);
  const read = async () => (await site.owner('GET', `${data}/uploads/${String(made.body.uploadId)}`)).body;
  await expect.poll(async () => (await read()).status, { timeout: 60_000 }).not.toMatch(/pending|running/);
  return { upload: await read(), targetName };
}

describe('a file of', () => {
  test.each(FILES)('$name', async (file) => {
    const { upload, targetName } = await send(file);
    const [report] = upload.files;
    expect(upload.rowsIn, JSON.stringify(report)).toBe(file.rows ?? N);
    expect(Number(upload.rowCount) + Number(upload.quarantined)).toBe(upload.rowsIn);
    expect(upload.quarantined).toBe(file.name === 'ragged.csv' ? 2 : 0);
    type Told = { name: string; type: string; missingValues: number; oddValues: number };
    const told = (report.columns as Told[]).map(({ name, type, missingValues, oddValues }) => [name, type, missingValues, oddValues]);
    expect(told).toEqual(file.columns.map(([name, type, missing = 0, odd = 0]) => [name, type, missing, odd]));
    const orderBy = file.orderBy ?? 'plot';
    const query = new URLSearchParams({ tableName: targetName, orderBy, pageSize: '5' });
    const { body } = await site.owner('GET', `${data}?${query.toString()}`);
    expect(body[0].totalRows).toBe(upload.rowCount);
    if (file.row) expect(body[0].data.rows[4]).toMatchObject(file.row);
  });
});

const PRINT = `
import datetime, json, openpyxl, pandas, sys
book = openpyxl.load_workbook(sys.argv[1], read_only=True)
from openpyxl.utils.escape import unescape
rows = [[cell.isoformat() if isinstance(cell, datetime.datetime) else unescape(cell) if isinstance(cell, str) else cell for cell in row] for row in book.active.iter_rows(values_only=True)]
assert len(pandas.read_excel(sys.argv[1])) == len(rows) - 1
print(json.dumps({'sheets': book.sheetnames, 'rows': rows}))
`;

async function exported(body: Record<string, unknown>): Promise<Buffer> {
  const begun = await site.owner('POST', `${data}/exports`, { body: { format: 'xlsx', ...body } });
  expect(begun.status, begun.text).toBe(201);
  const status = async () => (await site.owner('GET', `${data}/exports/${String(begun.body.exportId)}/status`)).body;
  await expect.poll(async () => (await status()).status, { timeout: 120_000 }).toMatch(/completed|failed/);
  expect(await status()).toMatchObject({ status: 'completed', errorMessage: null });
  const file = await site.owner('GET', `${data}/exports/${String(begun.body.exportId)}`);
  expect(file.headers.get('content-type')).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
  expect(file.headers.get('content-disposition')).toMatch(/\.xlsx"/);
  return file.bytes;
}

function printed(bytes: Buffer): { sheets: string[]; rows: unknown[][] } {
  const path = join(folder, 'exported.xlsx');
  writeFileSync(path, bytes);
  const python = join(pythonWith(...PACKAGES), 'python');
  const text = execFileSync(python, ['-c', PRINT, path], { maxBuffer: 512 * 1_048_576 }).toString('utf8');
  return JSON.parse(text) as { sheets: string[]; rows: unknown[][] };
}

test('what goes out as a workbook is read by openpyxl and pandas with the same values', async () => {
  const records = [
    {
      plot: 1,
      n: 9007199254740993n,
      share: 0.1,
      note: 'says "hi",\nand =1+1',
      at: '2026-05-01T14:05:07.123+02:00',
      ok: true,
      tree: { a: [1, null] },
    },
    { plot: 2, n: 12n, share: -1e-300, note: ' _x0041_ \u0001\ttab\r ', at: '1890-01-01T00:00:00Z', ok: false, tree: { a: [] } },
    { plot: 3, n: 13n, share: 3, note: 'x'.repeat(40_000), at: null, ok: null, tree: null },
  ];
  const big = JSON.stringify(records, (_, value: unknown) => (typeof value === 'bigint' ? `#${String(value)}#` : value)).replaceAll(
    /"#(\d+)#"/g,
    '$1',
  );
  const { targetName } = await send({ name: 'out.json', text: big, columns: [] });
  const columns = 'plot,n,share,note,at,ok,tree';
  const { sheets, rows: found } = printed(await exported({ tableName: targetName, columns, orderBy: 'plot' }));
  expect(sheets).toEqual(['Data']);
  expect(found.slice(0, 3)).toEqual([
    columns.split(','),
    [1, '9007199254740993', 0.1, 'says "hi",\nand =1+1', '2026-05-01T12:05:07.123000', true, '{"a":[1,null]}'],
    [2, 12, -1e-300, ' _x0041_ \u0001\ttab\r ', '1890-01-01T00:00:00.000Z', false, '{"a":[]}'],
  ]);
  expect(found[3]!.slice(4).every((cell) => cell === null)).toBe(true);
  expect(found[3]![3]).toMatch(/^x{32000,} … \(40,000 characters in all\)$/);
});

test('a table of many rows goes out as a stream, and one of too many is refused in words', async () => {
  const many = 50_000;
  const text = `plot,phi2,genotype\n${Array.from({ length: many }, (_, n) => `${n},${n / 8},g${n % 7}`).join('\n')}\n`;
  const { targetName } = await send({ name: 'many.csv', text, columns: [] });
  const { rows: found } = printed(await exported({ tableName: targetName, columns: 'plot,phi2,genotype', orderBy: 'plot' }));
  expect(found.length).toBe(many + 1);
  expect(found.slice(1).every(([plot, phi2], n) => plot === n && phi2 === n / 8)).toBe(true);
  const million = await send({ name: 'million.parquet', columns: [] });
  const begun = await site.owner('POST', `${data}/exports`, { body: { format: 'xlsx', tableName: million.targetName } });
  const status = async () => (await site.owner('GET', `${data}/exports/${String(begun.body.exportId)}/status`)).body;
  await expect.poll(async () => (await status()).status, { timeout: 120_000 }).toBe('failed');
  expect((await status()).errorMessage).toContain('1,048,576 rows; a sheet holds 1,048,575');
});

test('there are forty of them', () => expect(FILES.length).toBeGreaterThanOrEqual(40));
