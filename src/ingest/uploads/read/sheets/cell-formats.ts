/** Finds the cells of a sheet whose number format shows what neither a number nor a time is: elapsed time, and codes with leading zeros. */
import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import type { Part } from './unpacked.ts';

/** How a number is shown: as time that has gone by, counted in its largest unit, or as digits with zeros in front of them. */
export type CellFormat = { kind: 'elapsed'; unit: 'h' | 'm' | 's' } | { kind: 'zeros'; shape: string };

const HEAD_BYTES = 30;
/** The number formats that every workbook has: [h]:mm:ss is the only one of these kinds. */
const BUILT_IN_ELAPSED = 46;
const MOST_TAG = 1_048_576;

function openPart(bytes: Buffer, { offset, packed, isStored }: Part): AsyncIterable<Buffer> {
  const from = offset + HEAD_BYTES + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  const content = bytes.subarray(from, from + packed);
  return isStored ? Readable.from([content]) : (Readable.from([content]).pipe(createInflateRaw()) as AsyncIterable<Buffer>);
}

async function readText(bytes: Buffer, parts: readonly Part[], name: string): Promise<string> {
  const part = parts.find((each) => each.name === name);
  if (!part) return '';
  const chunks: Buffer[] = [];
  for await (const chunk of openPart(bytes, part)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const unescape = (text: string) =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, ten?: string, hex?: string, name?: string) =>
    name !== undefined ? (ENTITIES[name] ?? whole) : String.fromCodePoint(Number.parseInt(ten ?? hex ?? '', ten === undefined ? 16 : 10)),
  );

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(tag);
  const text = found?.[1] ?? found?.[2];
  return text === undefined ? undefined : unescape(text);
}

const listTags = (xml: string, name: string): string[] => xml.match(new RegExp(`<(?:\\w+:)?${name}\\s[^>]*>`, 'g')) ?? [];

/** Reads a number format. Undefined where a number or a time says all that it shows. */
export function readFormat(code: string): CellFormat | undefined {
  // only the first part is for numbers from zero on; a part with a condition is for some of them
  const [part = ''] = code.split(';');
  const unquoted = part.replace(/"[^"]*"|\\./g, '');
  const unit = /\[(h+|m+|s+)\]/i.exec(unquoted)?.[1]?.[0]?.toLowerCase();
  if (unit === 'h' || unit === 'm' || unit === 's') return { kind: 'elapsed', unit };
  const shape = part.replace(/"([^"]*)"|\\(.)|[_*].|\[[^\]]*\]/g, (_, quoted?: string, one?: string) => quoted ?? one ?? '');
  const zeros = part.replace(/"[^"]*"|\\.|[_*].|\[[^<>=\]]*\]/g, '');
  return /^[-() ]*0[-() 0]*0[-() ]*$/.test(zeros) && !/[0]/.test(part.match(/"[^"]*"|\\./g)?.join('') ?? '')
    ? { kind: 'zeros', shape }
    : undefined;
}

/** The styles of cells that have such a format, by their numbers. */
function readStyles(xml: string): Map<number, CellFormat> {
  const codes = new Map(listTags(xml, 'numFmt').map((tag) => [Number(attribute(tag, 'numFmtId')), attribute(tag, 'formatCode') ?? '']));
  const cells = /<(?:\w+:)?cellXfs[\s>][\s\S]*?<\/(?:\w+:)?cellXfs>/.exec(xml)?.[0] ?? '';
  const found = new Map<number, CellFormat>();
  listTags(cells, 'xf').forEach((tag, style) => {
    const id = Number(attribute(tag, 'numFmtId') ?? 0);
    const code = codes.get(id) ?? (id === BUILT_IN_ELAPSED ? '[h]:mm:ss' : '');
    const format = readFormat(code);
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
export function printFormatted(value: number, format: CellFormat): string | undefined {
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

function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]+/.exec(reference)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

/** Lists the rows of a sheet in their order, as far as they hold such cells. */
async function* listRows(part: AsyncIterable<Buffer>, styles: ReadonlyMap<number, CellFormat>): AsyncGenerator<FormattedRow> {
  const decoder = new TextDecoder();
  let rest = '';
  let index = -1;
  let column = -1;
  let format: CellFormat | undefined;
  let cells = new Map<number, string>();
  for await (const chunk of part) {
    rest += decoder.decode(chunk, { stream: true });
    const end = rest.lastIndexOf('<');
    if (end < 0) continue;
    if (rest.length - end > MOST_TAG) throw new Error('a tag of the sheet is too long');
    for (const [, slash, name, inside = '', text = ''] of rest.matchAll(/<(\/?)(?:\w+:)?(row|c|v)(?=[\s/>])([^>]*)>([^<]*)(?=<)/g)) {
      if (name === 'row' && slash === '') {
        const told = attribute(inside, 'r');
        index = told === undefined ? index + 1 : Number(told) - 1;
        column = -1;
      } else if (name === 'row') {
        if (cells.size > 0) yield { index, cells };
        cells = new Map();
      } else if (name === 'c' && slash === '') {
        const reference = attribute(inside, 'r');
        column = reference === undefined ? column + 1 : columnOf(reference);
        const isNumber = (attribute(inside, 't') ?? 'n') === 'n';
        format = isNumber ? styles.get(Number(attribute(inside, 's') ?? -1)) : undefined;
      } else if (name === 'v' && slash === '' && format !== undefined && text.trim() !== '' && Number.isFinite(Number(text))) {
        const shown = printFormatted(Number(text), format);
        if (shown !== undefined) cells.set(column, shown);
      }
    }
    rest = rest.slice(end);
  }
}

const folderOf = (name: string) => name.slice(0, name.lastIndexOf('/') + 1);
const resolve = (folder: string, target: string) =>
  target.startsWith('/') ? target.slice(1) : new URL(target, `file:///${folder}`).pathname.slice(1);
const relationsOf = (name: string) => `${folderOf(name)}_rels/${name.slice(folderOf(name).length)}.rels`;

/** Lists the rows with such cells of one sheet of a workbook, by its name or of the first; none where the workbook has no such format. */
export async function listFormattedRows(
  bytes: Buffer,
  parts: readonly Part[],
  sheet: string | undefined,
): Promise<AsyncIterator<FormattedRow> | undefined> {
  const relations = async (name: string) => listTags(await readText(bytes, parts, relationsOf(name)), 'Relationship');
  const root = listTags(await readText(bytes, parts, '_rels/.rels'), 'Relationship');
  const main = root.find((tag) => attribute(tag, 'Type')?.endsWith('/officeDocument'));
  const book = resolve('', (main && attribute(main, 'Target')) ?? 'xl/workbook.xml');
  const related = await relations(book);
  const targetOf = (tag: string | undefined) => resolve(folderOf(book), (tag && attribute(tag, 'Target')) ?? '');
  const styles = readStyles(await readText(bytes, parts, targetOf(related.find((tag) => attribute(tag, 'Type')?.endsWith('/styles')))));
  if (styles.size === 0) return undefined;
  const sheets = listTags(await readText(bytes, parts, book), 'sheet');
  const wanted = sheets.find((tag) => sheet === undefined || attribute(tag, 'name') === sheet);
  const id = wanted && (attribute(wanted, '\\w+:id') ?? undefined);
  const path = targetOf(related.find((tag) => id !== undefined && attribute(tag, 'Id') === id));
  const part = parts.find(({ name }) => name === path);
  return part && listRows(openPart(bytes, part), styles)[Symbol.asyncIterator]();
}
