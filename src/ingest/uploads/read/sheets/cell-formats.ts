/** Finds the cells of a sheet whose number format shows what neither a number nor a time is: elapsed time, and codes with leading zeros. */
import { findColumn, listPieces, listTags, readAttribute, type Book } from './book.ts';
import { openPart } from './unpacked.ts';

/** How a number is shown: as time that has gone by, counted in its largest unit, or as digits with zeros in front of them. */
export type CellFormat = { kind: 'elapsed'; unit: 'h' | 'm' | 's' } | { kind: 'zeros'; shape: string };

/** The number formats that every workbook has: [h]:mm:ss is the only one of these kinds. */
const BUILT_IN_ELAPSED = 46;

// Patterns here and in book.ts stop at what begins the next thing of its kind: otherwise a text of beginnings takes time by the square of its length.

/** Reads a number format. Undefined where a number or a time says all that it shows. */
function readFormat(code: string): CellFormat | undefined {
  // only the first part is for numbers from zero on; a part with a condition is for some of them
  const [part = ''] = code.split(';');
  const unquoted = part.replace(/"[^"]*"|\\./g, '');
  const unit = /\[(h+|m+|s+)\]/i.exec(unquoted)?.[1]?.[0]?.toLowerCase();
  if (unit === 'h' || unit === 'm' || unit === 's') return { kind: 'elapsed', unit };
  const shape = part.replace(/"([^"]*)"|\\(.)|[_*].|\[[^[\]]*\]/g, (_, quoted?: string, one?: string) => quoted ?? one ?? '');
  const zeros = part.replace(/"[^"]*"|\\.|[_*].|\[[^<>=[\]]*\]/g, '');
  return /^[-() ]*0[-() 0]*0[-() ]*$/.test(zeros) && !/[0]/.test(part.match(/"[^"]*"|\\./g)?.join('') ?? '')
    ? { kind: 'zeros', shape }
    : undefined;
}

/** The styles of cells that have such a format, by their numbers. */
function readStyles(xml: string): Map<number, CellFormat> {
  const formats = new Map([[BUILT_IN_ELAPSED, readFormat('[h]:mm:ss')]]);
  for (const tag of listTags(xml, 'numFmt'))
    formats.set(Number(readAttribute(tag, 'numFmtId')), readFormat(readAttribute(tag, 'formatCode') ?? ''));
  const [, behind = ''] = xml.split(/<(?:\w+:)?cellXfs[\s>]/, 2);
  const [cells = ''] = behind.split(/<\/(?:\w+:)?cellXfs>/, 1);
  const found = new Map<number, CellFormat>();
  listTags(cells, 'xf').forEach((tag, style) => {
    const format = formats.get(Number(readAttribute(tag, 'numFmtId') ?? 0));
    if (format) found.set(style, format);
  });
  return found;
}

const MS_A_DAY = 86_400_000;
const two = (value: number) => String(value).padStart(2, '0');

function printElapsed(days: number, unit: 'h' | 'm' | 's'): string {
  const all = Math.round(Math.abs(days) * MS_A_DAY);
  const ms = all % 1000;
  const seconds = Math.floor(all / 1000);
  const part = ms === 0 ? '' : `.${String(ms).padStart(3, '0').replace(/0+$/, '')}`;
  const sign = days < 0 && all > 0 ? '-' : '';
  if (unit === 's') return `${sign}${seconds}${part}`;
  const last = `${two(seconds % 60)}${part}`;
  const minutes = Math.floor(seconds / 60);
  if (unit === 'm') return `${sign}${minutes}:${last}`;
  return `${sign}${Math.floor(minutes / 60)}:${two(minutes % 60)}${seconds % 60 === 0 && part === '' ? '' : `:${last}`}`;
}

/** Prints a number as its cell shows it, but that nothing of it is rounded away. Undefined where the format does not show it whole. */
function printFormatted(value: number, format: CellFormat): string | undefined {
  if (format.kind === 'elapsed') return printElapsed(value, format.unit);
  if (!Number.isSafeInteger(value) || value < 0) return undefined;
  const digits = String(value).padStart(format.shape.replace(/[^0]/g, '').length, '0');
  const places = format.shape.replace(/[^0]/g, '').length;
  let next = digits.length - places;
  let isFirst = true;
  return format.shape.replace(/0/g, () => {
    const from = isFirst ? 0 : next;
    isFirst = false;
    next += 1;
    return digits.slice(from, next);
  });
}

/** Cells of a row that have such a format, by their column, with what they show. */
export interface FormattedRow {
  index: number;
  cells: ReadonlyMap<number, string>;
}

/** Lists the rows of a sheet in their order, as far as they hold such cells. */
async function* listRows(part: AsyncIterable<Buffer>, styles: ReadonlyMap<number, CellFormat>): AsyncGenerator<FormattedRow> {
  let index = -1;
  let column = -1;
  let format: CellFormat | undefined;
  let cells = new Map<number, string>();
  for await (const piece of listPieces(part)) {
    for (const [, slash, name, inside = '', text = ''] of piece.matchAll(/<(\/?)(?:\w+:)?(row|c|v)(?=[\s/>])([^<>]*)>([^<]*)(?=<)/g)) {
      if (name === 'row' && slash === '') {
        const told = readAttribute(inside, 'r');
        index = told === undefined ? index + 1 : Number(told) - 1;
        column = -1;
      } else if (name === 'row') {
        if (cells.size > 0) yield { index, cells };
        cells = new Map();
      } else if (name === 'c' && slash === '') {
        const reference = readAttribute(inside, 'r');
        column = reference === undefined ? column + 1 : findColumn(reference);
        const isNumber = (readAttribute(inside, 't') ?? 'n') === 'n';
        format = isNumber ? styles.get(Number(readAttribute(inside, 's') ?? -1)) : undefined;
      } else if (name === 'v' && slash === '' && format !== undefined && text.trim() !== '' && Number.isFinite(Number(text))) {
        const shown = printFormatted(Number(text), format);
        if (shown !== undefined) cells.set(column, shown);
      }
    }
  }
}

/** Lists the rows with such cells of the sheet that is read; none where the workbook has no such format. */
export function listFormattedRows(bytes: Buffer, { sheet, styles: xml }: Book): AsyncIterator<FormattedRow> | undefined {
  const styles = readStyles(xml);
  return styles.size === 0 || sheet === undefined ? undefined : listRows(openPart(bytes, sheet), styles)[Symbol.asyncIterator]();
}
