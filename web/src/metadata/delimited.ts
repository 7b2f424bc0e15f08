/** Text of a spreadsheet as rows of cells. */

export const MOST_COLUMNS = 500;
export const MOST_CHARACTERS = 5_000_000;

/** Why a text is no table. */
export type Fault =
  | { kind: 'empty' | 'binary' | 'long' | 'many' }
  | { kind: 'quote'; line: number }
  | { kind: 'wide'; line: number; cells: number; columns: number };

export type Cells = { names: string[]; rows: string[][] } | { fault: Fault };

/** The character between cells: whichever of tab, semicolon and comma the first line has most of. */
function delimiterOf(text: string): string {
  const [first = ''] = text.split(/\r\n|\r|\n/, 1);
  const unquoted = first.replace(/"[^"]*"/g, '');
  const counted = ['\t', ';', ','].map((each) => ({ each, count: unquoted.split(each).length }));
  return counted.reduce((most, other) => (other.count > most.count ? other : most)).each;
}

interface Line {
  cells: string[];
  /** Where it begins, counted from 1. */
  line: number;
}

/** Lines that hold something, cut into cells. A cell in quotes may hold delimiters, line breaks, and quotes written twice. */
function linesOf(text: string, delimiter: string): Line[] | Fault {
  const lines: Line[] = [];
  let cells: string[] = [];
  let line = 1;
  let begun = 1;
  let at = 0;
  const endLine = () => {
    if (cells.some((cell) => cell !== '')) lines.push({ cells, line: begun });
    cells = [];
    line += 1;
    begun = line;
  };
  while (at <= text.length) {
    let cell = '';
    if (text[at] === '"') {
      const opened = line;
      let end = at + 1;
      for (;;) {
        const quote = text.indexOf('"', end);
        if (quote === -1) return { kind: 'quote', line: opened };
        cell += text.slice(end, quote);
        if (text[quote + 1] !== '"') {
          at = quote + 1;
          break;
        }
        cell += '"';
        end = quote + 2;
      }
      line += cell.split('\n').length - 1;
    }
    const rest = at;
    while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at += 1;
    cells.push((cell + text.slice(rest, at)).trim());
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
    if (at >= text.length || text[at] !== delimiter) endLine();
    at += 1;
  }
  return lines;
}

/** Cuts a text into the names of its first line and the cells of the others. Short lines end with empty cells. */
export function readCells(text: string): Cells {
  if (text.length > MOST_CHARACTERS) return { fault: { kind: 'long' } };
  if (text.includes('\0')) return { fault: { kind: 'binary' } };
  const clean = text.replace(/^\uFEFF/, '').replace(/^(?:[ \t]*(?:\r\n|\r|\n))+/, '');
  const lines = linesOf(clean, delimiterOf(clean));
  if (!Array.isArray(lines)) return { fault: lines };
  const [head, ...others] = lines;
  if (head === undefined) return { fault: { kind: 'empty' } };
  const last = head.cells.findLastIndex((cell) => cell !== '');
  const names = head.cells.slice(0, last + 1);
  if (names.length > MOST_COLUMNS) return { fault: { kind: 'many' } };
  const rows: string[][] = [];
  for (const { cells, line } of others) {
    const used = cells.findLastIndex((cell) => cell !== '') + 1;
    if (used > names.length) return { fault: { kind: 'wide', line, cells: used, columns: names.length } };
    rows.push(names.map((_, place) => cells[place] ?? ''));
  }
  return { names, rows };
}

/** The text of a file: UTF-8, or as older spreadsheets write it. */
export async function readText(file: File): Promise<string> {
  const bytes = await file.slice(0, 4 * MOST_CHARACTERS + 4).arrayBuffer();
  const [first, second] = new Uint8Array(bytes);
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    return new TextDecoder(first === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
