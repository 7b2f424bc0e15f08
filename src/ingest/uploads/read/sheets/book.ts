/** Reads what a workbook says of itself: its sheets, the day from which it counts, and whether its formulas were computed. */
import { buffer } from 'node:stream/consumers';
import { openPart, type Part } from './unpacked.ts';

const MOST_TAG = 1_048_576;

/** What is known of a workbook, and of the sheet that is read. */
export interface Book {
  /** The name of the sheet: the one that was asked for, or the first that is not hidden; none where that is the first. */
  name: string | undefined;
  /** Names of the other sheets that are not hidden. */
  others: readonly string[];
  /** Where the sheet lies. */
  sheet: Part | undefined;
  /** The part that holds the formats of cells. */
  styles: string;
  /** Whether days are counted from 1904, as Excel for Mac did. */
  isFrom1904: boolean;
  /** Whether formulas are left to be computed by whoever opens the workbook. */
  isUncomputed: boolean;
}

/** Lists a part as text, in pieces that end before a tag. */
export async function* listPieces(part: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of part) {
    rest += decoder.decode(chunk, { stream: true });
    const end = rest.lastIndexOf('<');
    if (rest.length - Math.max(end, 0) > MOST_TAG) throw new Error('a tag of the sheet is too long');
    if (end < 0) continue;
    // what a tag is read by may be the beginning of the tag behind it
    yield rest.slice(0, end + 1);
    rest = rest.slice(end);
  }
}

async function readText(bytes: Buffer, parts: readonly Part[], name: string): Promise<string> {
  const part = parts.find((each) => each.name === name);
  return part ? (await buffer(openPart(bytes, part))).toString() : '';
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const unescape = (text: string) =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, ten?: string, hex?: string, name?: string) =>
    name !== undefined ? (ENTITIES[name] ?? whole) : String.fromCodePoint(Number.parseInt(ten ?? hex ?? '', ten === undefined ? 16 : 10)),
  );

export function readAttribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(tag);
  const text = found?.[1] ?? found?.[2];
  return text === undefined ? undefined : unescape(text);
}

export const listTags = (xml: string, name: string): string[] => xml.match(new RegExp(`<(?:\\w+:)?${name}\\s[^<>]*>`, 'g')) ?? [];

/** The place of a cell's column, counted from 0. */
export function findColumn(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]+/.exec(reference)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

const folderOf = (name: string) => name.slice(0, name.lastIndexOf('/') + 1);
const resolve = (folder: string, target: string) =>
  target.startsWith('/') ? target.slice(1) : new URL(target, `file:///${folder}`).pathname.slice(1);
const relationsOf = (name: string) => `${folderOf(name)}_rels/${name.slice(folderOf(name).length)}.rels`;

const isSet = (tags: readonly string[], name: string) => tags.some((tag) => ['1', 'true'].includes(readAttribute(tag, name) ?? ''));
const isHidden = (tag: string) => /^(very)?hidden$/i.test(readAttribute(tag, 'state') ?? '');

/** Reads what a workbook says of itself and of one sheet, by its name or the first that is seen. */
export async function readBook(bytes: Buffer, parts: readonly Part[], asked: string | undefined): Promise<Book> {
  const relations = async (name: string) => listTags(await readText(bytes, parts, relationsOf(name)), 'Relationship');
  const root = listTags(await readText(bytes, parts, '_rels/.rels'), 'Relationship');
  const main = root.find((tag) => readAttribute(tag, 'Type')?.endsWith('/officeDocument'));
  const place = resolve('', (main && readAttribute(main, 'Target')) ?? 'xl/workbook.xml');
  const related = await relations(place);
  const targetOf = (tag: string | undefined) => resolve(folderOf(place), (tag && readAttribute(tag, 'Target')) ?? '');
  const book = await readText(bytes, parts, place);
  const sheets = listTags(book, 'sheet');
  const wanted =
    asked === undefined ? (sheets.find((tag) => !isHidden(tag)) ?? sheets[0]) : sheets.find((tag) => readAttribute(tag, 'name') === asked);
  const id = wanted && readAttribute(wanted, '\\w+:id');
  const path = targetOf(related.find((tag) => id !== undefined && readAttribute(tag, 'Id') === id));
  return {
    name: asked ?? (wanted === undefined || wanted === sheets[0] ? undefined : readAttribute(wanted, 'name')),
    others: sheets.flatMap((tag) => (tag === wanted || isHidden(tag) ? [] : (readAttribute(tag, 'name') ?? []))),
    sheet: parts.find(({ name }) => name === path),
    styles: await readText(bytes, parts, targetOf(related.find((tag) => readAttribute(tag, 'Type')?.endsWith('/styles')))),
    isFrom1904: isSet(listTags(book, 'workbookPr'), 'date1904'),
    isUncomputed: isSet(listTags(book, 'calcPr'), 'fullCalcOnLoad'),
  };
}

/** Counts the formulas of a sheet by the place of their column. */
async function countFormulas(bytes: Buffer, sheet: Part): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  let column = -1;
  for await (const piece of listPieces(openPart(bytes, sheet))) {
    const last = piece.lastIndexOf('<c r="');
    if (last >= 0 && !piece.includes('<f') && !piece.includes(':f')) {
      // most pieces have no formula, and the next one may begin with that of the last cell
      column = findColumn(piece.slice(last + 6, last + 9));
      continue;
    }
    for (const [, name, inside = ''] of piece.matchAll(/<(?:\w+:)?(row|c|f)(?=[\s/>])([^<>]*)>/g)) {
      const reference = name === 'c' ? readAttribute(inside, 'r') : undefined;
      if (name === 'row') column = -1;
      else if (name === 'c') column = reference === undefined ? column + 1 : findColumn(reference);
      else counts.set(column, (counts.get(column) ?? 0) + 1);
    }
  }
  return counts;
}

/** Bytes at the end of a sheet in which merged cells are looked for; they are named behind all rows. */
const TAIL_BYTES = 1_048_576;
const MOST_COLUMNS = 16_384;

async function readTail(bytes: Buffer, sheet: Part): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of openPart(bytes, sheet)) {
    chunks.push(chunk);
    length += chunk.length;
    while (length - (chunks[0]?.length ?? 0) > TAIL_BYTES) length -= chunks.shift()?.length ?? 0;
  }
  return Buffer.concat(chunks).toString();
}

/** Counts the cells behind a row that hold nothing because they are merged with another, by the place of their column. */
async function countMerged(bytes: Buffer, sheet: Part, row: number): Promise<Map<number, number>> {
  // how many more each column has than the one before it, so that wide ranges take no longer
  const steps = new Float64Array(MOST_COLUMNS + 1);
  for (const tag of listTags(await readTail(bytes, sheet), 'mergeCell')) {
    const [, from = '', first, to = '', last] = /^([A-Z]{1,3})(\d+):([A-Z]{1,3})(\d+)$/.exec(readAttribute(tag, 'ref') ?? '') ?? [];
    const start = findColumn(from);
    const end = Math.min(findColumn(to) + 1, MOST_COLUMNS);
    const many = Number(last) - Math.max(Number(first), row + 1) + 1;
    if (!(many > 0) || start >= end) continue;
    const held = Number(first) > row ? 1 : 0;
    for (const [at, step] of [
      [start, many - held],
      [start + 1, held],
      [end, -many],
    ] as const)
      steps[at] = (steps[at] ?? 0) + step;
  }
  let count = 0;
  return new Map([...steps].map((step, column) => [column, (count += step)] as const).filter(([, many]) => many > 0));
}

const sayMany = (many: number, one: string, several: string) => (many === 1 ? `1 of its cells ${one}` : `${many} of its cells ${several}`);

/** The notes on what the values of a sheet behind its header do not tell, by the place of their column. */
export async function noteColumns(bytes: Buffer, { sheet, isUncomputed }: Book, headerRow: number): Promise<Map<number, string>> {
  const notes = new Map<number, string>();
  if (!sheet) return notes;
  const add = (column: number, note: string) => notes.set(column, [notes.get(column), note].filter((each) => each !== undefined).join(' '));
  const formulas = isUncomputed ? await countFormulas(bytes, sheet) : [];
  for (const [column, many] of formulas)
    add(
      column,
      `${sayMany(many, 'is a formula', 'are formulas')} that the program which wrote the file may not have computed. Open the file in a spreadsheet program, save it, and send it anew.`,
    );
  for (const [column, many] of await countMerged(bytes, sheet, headerRow))
    add(
      column,
      `${sayMany(many, 'is', 'are')} merged with another, which alone holds their value. Undo that, fill in the value, and send the file anew.`,
    );
  return notes;
}
