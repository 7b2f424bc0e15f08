/** Finds the header below titles and blank rows. */
import { isValueLike } from './values.ts';

/** How many rows at the beginning are looked at. */
export const MOST_ROWS = 30;
const MOST_TOLD = 5;
const MOST_LETTERS = 100;

/** Where the header is among the first rows. `doubt`: it seems to be there, below a row with one field, and somebody has to say it. */
interface HeaderPlace {
  at: number;
  doubt?: { first: number; fields: number };
}

/**
 * Finds the header: the first row, unless it and those after it hold one text alone, as titles do, or nothing. Then the header has as many words as no row below
 * has fields, and numbers or times are below it.
 */
export function findHeader(rows: readonly (readonly string[])[]): HeaderPlace {
  const held = rows.map((row) => row.filter((text) => text.trim() !== ''));
  // the first of two fields may be the name of the only named column
  const isTitle = (row: readonly string[], at: number) =>
    (held[at]?.length ?? 0) < 2 && (row.length !== 2 || row[0]?.trim() !== '' || held[at]?.length === 0);
  const at = rows.findIndex((row, index) => !isTitle(row, index));
  const header = held[at] ?? [];
  if (at <= 0) return { at: 0 };
  const below = held.slice(at + 1);
  const isFull = header.length > 1 && below.every((row) => row.length <= header.length);
  if (isFull && !header.some(isValueLike) && below.some((row) => row.length > 1 && row.some(isValueLike))) return { at };
  const first = held.findIndex((row) => row.length > 0);
  const isAlone =
    rows[first]?.length !== 2 && rows[first]?.[0]?.trim() !== '' && held.slice(first + 1, at).every((row) => row.length === 0);
  return first < at && isAlone ? { at, doubt: { first, fields: header.length } } : { at: 0 };
}

/** What rows of a kind of files are called, and what they have. */
type RowWords = readonly [row: 'line' | 'row', field: 'field' | 'cell'];

/** The sentence on a file whose header may be below a title. */
export const explainDoubt = (
  [row, field]: RowWords,
  { first, header, fields }: { first: number; header: number; fields: number },
): string =>
  `${row === 'line' ? 'Line' : 'Row'} ${first} has one ${field}, and ${row} ${header} has ${fields}: the header seems to be in ${row} ${header}. Send the file with headerRow ${header}, or remove what stands above it.`;

/** The sentence on what stands above the header; undefined where nothing does. */
export function nameAbove(row: 'line' | 'row', header: number, above: readonly string[]): string | undefined {
  const texts = above.map((text) => text.trim()).filter((text) => text !== '');
  if (texts.length === 0) return undefined;
  const named = texts.slice(0, MOST_TOLD).map((text) => `“${text.slice(0, MOST_LETTERS)}”`);
  const more = texts.length - named.length;
  return `The header is in ${row} ${header}. Above it stands ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}
