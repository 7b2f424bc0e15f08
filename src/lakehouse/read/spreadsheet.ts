/** Writes a whole read as an XLSX workbook: one sheet, a header row, and cells that are numbers, days or truth values where the columns are. */
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ColumnType } from '../terms/catalog.ts';
import type { LineCount } from './frame.ts';
import type { NamedType } from '../terms/warehouse.ts';

/** The most rows of a sheet besides its header (ECMA-376, 18.3.1.73). */
export const MOST_SHEET_ROWS = 1_048_575;
/** The most characters of a cell (support.microsoft.com, "Excel specifications and limits"). */
const MOST_CELL_LETTERS = 32_767;
/** How many digits of any number a double keeps. */
const DOUBLE_DIGITS = 15;
/** The first day that a cell may hold. Before it Excel counts a day that never was, 29 February 1900. */
const FIRST_DAY = Date.UTC(1900, 2, 1);
const LAST_DAY = Date.UTC(9999, 11, 31);

const FORMATS: Partial<Record<ColumnType['kind'], string>> = {
  date: 'yyyy-mm-dd',
  timestamp: 'yyyy-mm-dd hh:mm:ss.000',
  timestamp_ntz: 'yyyy-mm-dd hh:mm:ss.000',
};

type Cell = string | number | boolean | Date | null;

/** Makes a text cell: writes what XML cannot hold as `_xHHHH_` (ECMA-376, 22.4.2.4), and cuts the text where a cell ends. */
function textCell(text: string): string {
  const escaped = text.replace(
    /_(?=x[0-9A-Fa-f]{4}_)|[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g,
    (one) => `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  );
  if (escaped.length <= MOST_CELL_LETTERS) return escaped;
  const note = ` … (${text.length.toLocaleString('en')} characters in all)`;
  return `${escaped.slice(0, MOST_CELL_LETTERS - note.length).toWellFormed()}${note}`;
}

/** Makes a number cell, or a text cell where a number would be rounded. */
function numberCell(text: string, kind: ColumnType['kind']): Cell {
  const value = Number(text);
  if (!Number.isFinite(value)) return text;
  const isKept = kind === 'double' || kind === 'int' || text.replace(/\D/g, '').length <= DOUBLE_DIGITS;
  return isKept ? value : text;
}

function dayCell(text: string): Cell {
  const at = Date.parse(text.length > 10 && !text.endsWith('Z') ? `${text}Z` : text);
  return at >= FIRST_DAY && at <= LAST_DAY ? new Date(at) : text;
}

const CELLS: Readonly<Record<ColumnType['kind'], (text: string, kind: ColumnType['kind']) => Cell>> = {
  int: numberCell,
  bigint: numberCell,
  double: numberCell,
  decimal: numberCell,
  boolean: (text) => text === 'true',
  date: dayCell,
  timestamp: dayCell,
  timestamp_ntz: dayCell,
  string: textCell,
  variant: textCell,
  struct: textCell,
  array: textCell,
};

/** Splits CSV into records. The engines print it with commas, LF, and quotes around what needs them. */
async function* splitRecords(csv: Readable): AsyncGenerator<string[]> {
  const decoder = new StringDecoder('utf8');
  let fields: string[] = [];
  let field = '';
  let isQuoted = false;
  let hasJustEnded = false;
  for await (const chunk of csv as AsyncIterable<Buffer>) {
    const text = decoder.write(chunk);
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const one = text[at];
      if (one === '"') {
        field += text.slice(from, at);
        // a quote right after a closing quote stands for itself, and the quoted text goes on
        if (hasJustEnded) field += '"';
        hasJustEnded = isQuoted;
        isQuoted = !isQuoted;
        from = at + 1;
        continue;
      }
      hasJustEnded = false;
      if (isQuoted || (one !== ',' && one !== '\n')) continue;
      fields.push(field + text.slice(from, at));
      field = '';
      from = at + 1;
      if (one === ',') continue;
      yield fields;
      fields = [];
    }
    field += text.slice(from);
  }
}

/** Writes a workbook of these records of CSV, which come without a header. Memory holds only a few rows. */
export async function writeSpreadsheet(
  csv: Readable,
  columns: readonly Pick<NamedType, 'name' | 'type'>[],
  seen: LineCount,
): Promise<Readable> {
  const { writeXlsxStream } = await import('hucre/xlsx');
  async function* rows(): AsyncGenerator<Cell[]> {
    for await (const fields of splitRecords(csv)) {
      seen.rows += 1;
      yield columns.map(({ type: { kind } }, at) => (fields[at] === '' ? null : CELLS[kind](fields[at] ?? '', kind)));
    }
  }
  const workbook = writeXlsxStream(rows(), {
    name: 'Data',
    columns: columns.map(({ name, type }) => ({ header: textCell(name), numFmt: FORMATS[type.kind] })),
    freezePane: { rows: 1 },
    maxRowsPerSheet: MOST_SHEET_ROWS + 1,
    zip64: true,
  });
  const body = Readable.fromWeb(workbook as Parameters<typeof Readable.fromWeb>[0]);
  body.once('close', () => csv.destroy());
  return body;
}
