/** The thread that turns one sheet of an XLSX workbook into delimited text. Its memory is bounded by whoever starts it. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { EncryptedFileError } from 'hucre';
import { readXlsx, streamXlsxRows } from 'hucre/xlsx';
import { noteColumns, readBook, type Book } from './book.ts';
import { listFormattedRows } from './cell-formats.ts';
import { findHeader, MOST_ROWS, explainDoubt } from '../titles.ts';
import { isWhole, listParts, type Part } from './unpacked.ts';

export interface SheetRequest {
  original: string;
  into: string;
  /** The name of the sheet; the first that is not hidden unless given. */
  sheet?: string;
  /** The mark before the fraction of the numbers that are written; a point unless given. */
  decimal?: '.' | ',';
  /** The row of the header, counted from 1, where somebody says it. */
  headerRow?: number;
  /** Bytes that all parts may unpack to, and characters that the text may have (`mostBytes`), and those that are held in memory, which are all but the sheets (`mostHeldBytes`). */
  mostBytes: number;
  mostHeldBytes: number;
}

/** What there is to know of a sheet that was read. */
export interface SheetNotes {
  /** Notes on columns, by their place. */
  notes: ReadonlyMap<number, string>;
  /** The row of the header, and that of the first record, counted from 1. */
  header: number;
  below?: number;
  /** What the rows above the header hold. */
  above: readonly string[];
  /** The sentence on sheets that were not read. */
  told?: string;
}

/** What the thread answers, or why the file is refused. */
export type SheetAnswer = ({ refused: null } & SheetNotes) | { refused: string; sentence: string };

/** How files of Office before 2007 begin, and encrypted ones of today. */
const COMPOUND = Buffer.from('d0cf11e0', 'hex');
const FLUSH_AT = 1_048_576;
/** What is told of a row above the header. */
const MOST_TOLD_CELLS = 20;
const MOST_TOLD = 100;
/** What stands between cells; a reader of the text has to be told. */
const DELIMITER = ';';
/** What a formula that failed leaves in its cell. */
const ERROR = /^#(N\/A|DIV\/0!|REF!|NAME\?|NULL!|NUM!|VALUE!|SPILL!|CALC!|FIELD!|BLOCKED!|CONNECT!|UNKNOWN!|GETTING_DATA)$/;
/** The day of a cell that has a time and no day: the day before the first, 1 January 1900, and where days are counted from 1904 the first one. */
const NO_DAY = '1899-12-31';
const NO_DAY_FROM_1904 = '1904-01-01';
const MOST_NAMES = 10;
const SHEETS = 'xl/worksheets/';
const DAMAGED = 'The workbook cannot be read: it is damaged, or uses a feature that is not supported.';

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

function printDate(date: Date, noDay: string): string {
  if (Number.isNaN(date.getTime())) return '';
  const [day = '', time = ''] = date.toISOString().slice(0, -1).split('T');
  const short = time.replace(/\.?0+$/, '');
  if (day === noDay) return short;
  return time === '00:00:00.000' ? day : `${day}T${short}`;
}

/** Prints a number with a decimal comma, also where it has an exponent and no fraction (`1e-7`): without a comma that would be no number beside others. */
const printWithComma = (value: number): string =>
  String(value)
    .replace('.', ',')
    .replace(/^(-?\d)e/, '$1,0e');

/** A cell as a delimited file has it. A failed formula is a missing value. */
function printCell(value: unknown, noDay: string, decimal?: '.' | ','): string {
  if (typeof value === 'number') return decimal === ',' ? printWithComma(value) : String(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Date) return printDate(value, noDay);
  return typeof value !== 'string' || value === '' || ERROR.test(value) ? '' : quoted(value);
}

/** Prints a column's name on one line, because the delimiter is looked for in the first line of the text. */
const printName = (value: unknown, noDay: string): string =>
  printCell(typeof value === 'string' ? value.replace(/\s+/g, (run) => (/[\r\n]/.test(run) ? ' ' : run)) : value, noDay);

const isEmpty = (value: unknown) => value === null || value === undefined || value === '';

/** The cells of a row up to the last that holds something. */
function trimmed(values: readonly unknown[]): readonly unknown[] {
  let length = values.length;
  while (length > 0 && isEmpty(values[length - 1])) length -= 1;
  return values.slice(0, length);
}

const wrong = (sentence: string, refused = 'unreadable'): SheetAnswer => ({ refused, sentence });

const listNames = (names: readonly string[]) =>
  names
    .slice(0, MOST_NAMES)
    .map((name) => `'${name.slice(0, 100)}'`)
    .join(', ');

/** The sentence on the sheets that could be read, where none was asked for; empty where there is no other. */
const sayOthers = (sheet: string | undefined, { others }: Book): string =>
  sheet !== undefined || others.length === 0 ? '' : ` To read another sheet, name it: ${listNames(others)}.`;

async function sayNothingThere(bytes: Buffer, sheet: string | undefined, book: Book): Promise<SheetAnswer> {
  if (sheet === undefined) return wrong(`The first sheet is empty: it has no header row.${sayOthers(sheet, book)}`, 'empty_file');
  const { sheets } = await readXlsx(bytes, { maxRows: 1 });
  if (sheets.some(({ name }) => name === sheet))
    return wrong(`The sheet '${sheet.slice(0, 100)}' is empty: it has no header row.`, 'empty_file');
  return wrong(`The file has no sheet '${sheet.slice(0, 100)}'; it has ${listNames(sheets.map(({ name }) => name))}.`, 'no_such_sheet');
}

const refuseText = (mostBytes: number): SheetAnswer =>
  wrong(
    `The sheet comes to more than ${Math.round(mostBytes / FLUSH_AT)} MiB of text, which is too much for a workbook of its size. Send it as CSV.`,
    'unpacks_too_large',
  );

interface Row {
  /** Its number in the sheet, counted from 1. */
  row: number;
  cells: readonly unknown[];
}

/**
 * Writes the sheet's rows. The first row that is not empty, or the one that is told, is the header, unless it is a title. Every shorter row is filled up to its
 * number of fields.
 */
async function writeText(
  bytes: Buffer,
  parts: readonly Part[],
  { into, sheet, decimal, headerRow, mostBytes }: SheetRequest,
): Promise<SheetAnswer> {
  const file = openSync(into, 'wx', 0o600);
  let width = 0;
  let text = '';
  let written = 0;
  let header = 0;
  let below: number | undefined;
  const above: string[] = [];
  let first: Row[] | undefined = headerRow === undefined ? [] : undefined;
  const book = await readBook(bytes, parts, sheet);
  const noDay = book.isFrom1904 ? NO_DAY_FROM_1904 : NO_DAY;
  const formatted = listFormattedRows(bytes, book);
  let shown = await formatted?.next();
  const textOf = (cell: unknown) => (typeof cell === 'string' ? cell : printCell(cell, noDay));
  const pass = ({ cells }: Row) => {
    const texts = cells.slice(0, MOST_TOLD_CELLS).map((cell) => textOf(cell).slice(0, MOST_TOLD));
    above.push(texts.filter((each) => each !== '').join(' '));
  };
  const write = ({ row, cells }: Row) => {
    const fields = cells.map((cell) => (width === 0 ? printName(cell, noDay) : printCell(cell, noDay, decimal)));
    if (width === 0) {
      width = fields.length;
      header = row;
    } else below ??= row;
    while (fields.length < width) fields.push('');
    // cells share texts, and a row's last cell may be its only one
    written += fields.reduce((length, field) => length + field.length + 1, 0);
    if (written > mostBytes) return;
    text += `${fields.join(DELIMITER)}\n`;
    if (text.length < FLUSH_AT) return;
    writeSync(file, text);
    text = '';
  };
  /** Writes the first rows, from the header on. Answers why the file is refused where nobody can tell it. */
  const writeFirst = (rows: readonly Row[]): SheetAnswer | undefined => {
    first = undefined;
    const { at, doubt } = findHeader(
      rows.map(({ cells }) => cells.map(textOf)),
      { isRagged: true },
    );
    if (doubt) {
      const place = { ...doubt, first: rows[doubt.first]?.row ?? 1, header: rows[at]?.row ?? 1 };
      return wrong(`${explainDoubt(['row', 'cell'], place)}${sayOthers(sheet, book)}`, 'bad_header');
    }
    rows.slice(0, at).forEach(pass);
    rows.slice(at).forEach(write);
    return undefined;
  };
  try {
    for await (const { index, values } of streamXlsxRows(bytes, { sheet: book.name })) {
      while (shown?.done === false && shown.value.index < index) shown = await formatted?.next();
      const as = shown?.done === false && shown.value.index === index ? shown.value.cells : undefined;
      const cells = trimmed(as ? values.map((value, column) => as.get(column) ?? value) : values);
      if (cells.length === 0) continue;
      const row = { row: index + 1, cells };
      if (headerRow !== undefined && row.row < headerRow) pass(row);
      else if (!first) write(row);
      else if (first.push(row) >= MOST_ROWS) {
        const refused = writeFirst(first);
        if (refused) return refused;
      }
      if (written > mostBytes) return refuseText(mostBytes);
    }
    const refused = first && writeFirst(first);
    if (refused) return refused;
    if (written > mostBytes) return refuseText(mostBytes);
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
  if (width > 0) {
    const others = sayOthers(sheet, book);
    const told = others === '' ? {} : { told: `Only the first sheet was read.${others}` };
    return { refused: null, notes: await noteColumns(bytes, book, header), header, below, above, ...told };
  }
  if (above.length > 0) return wrong(`The sheet has no header in row ${headerRow ?? 1}, nor below it.`, 'bad_header');
  return sayNothingThere(bytes, sheet, book);
}

async function convert(request: SheetRequest): Promise<SheetAnswer> {
  const bytes = readFileSync(request.original);
  if (bytes.subarray(0, 4).equals(COMPOUND))
    return wrong('The workbook is encrypted, or in the format of before 2007; save it as XLSX without a password.', 'wrong_type');
  const parts = listParts(bytes);
  if (!parts?.some(({ name }) => name === '[Content_Types].xml')) return wrong('This is not an XLSX workbook.', 'wrong_type');
  const sum = (some: typeof parts) => some.reduce((total, { unpacked }) => total + unpacked, 0);
  const held = parts.filter(({ name }) => !name.startsWith(SHEETS));
  if (sum(parts) > request.mostBytes || sum(held) > request.mostHeldBytes || parts.some((part) => part.unpacked === 0 && part.packed > 64))
    return wrong(
      `The workbook unpacks to ${Math.round(sum(parts) / FLUSH_AT)} MiB, ${Math.round(sum(held) / FLUSH_AT)} MiB of them text that its cells share; at most ${request.mostBytes / FLUSH_AT} and ${request.mostHeldBytes / FLUSH_AT} are read. Send it as CSV.`,
      'unpacks_too_large',
    );
  // a sheet is read as a stream, and the reader of streams checks nothing
  for (const part of parts) if (part.name.startsWith(SHEETS) && !(await isWhole(bytes, part))) return wrong(DAMAGED);
  return writeText(bytes, parts, request);
}

const answer = await convert(workerData as SheetRequest).catch((error: unknown) =>
  error instanceof EncryptedFileError
    ? wrong('The workbook has a password; save it without one.', 'wrong_type')
    : (error as NodeJS.ErrnoException).code === undefined || !(error as NodeJS.ErrnoException).syscall
      ? wrong(DAMAGED)
      : Promise.reject(error as Error),
);
parentPort?.postMessage(answer);
