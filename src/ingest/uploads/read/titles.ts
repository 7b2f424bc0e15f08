/** Finds the header below titles and blank rows. */
import { MISSING_MARKS } from '../../typing/readings.ts';
import { findUsual } from './delimiters.ts';
import { isValueLike } from './values.ts';

/** How many rows at the beginning are looked at: some instruments write 70 lines about themselves. */
export const MOST_ROWS = 100;
const MOST_TOLD = 5;
const MOST_LETTERS = 100;

/** Where the header is among the first rows. `doubt`: it seems to be there, below a row with other fields, and somebody has to say it. */
interface HeaderPlace {
  at: number;
  doubt?: { first: number; had: number; fields: number };
}

const isBlank = (text = '') => text.trim() === '' || MISSING_MARKS.includes(text.trim());

/** How many fields most of the last rows have. */
const countFields = (rows: readonly (readonly string[])[]): number | undefined =>
  findUsual(rows.filter((row) => !row.every(isBlank)).map(({ length }) => length));

/**
 * Finds the first row of so many words with mostly numbers or times below one of them. `isFirst`: above that one there is no number or time. The words differ,
 * unless they `mayRepeat`: then it must be the first.
 */
function findWords(
  rows: readonly (readonly string[])[],
  fields: number,
  { mayRepeat }: { mayRepeat: boolean },
): { at: number; isFirst: boolean } | undefined {
  for (const [at, row] of rows.entries()) {
    const words = row.filter((text) => !isBlank(text));
    if (at === 0 || row.length !== fields || words.length < 2 || words.some(isValueLike)) continue;
    if (!mayRepeat && new Set(words).size < words.length) continue;
    const below = rows.slice(at + 1).filter(({ length }) => length === fields);
    const columns = [...row.keys()].filter((column) => {
      const values = below.flatMap((each) => (isBlank(each[column]) ? [] : (each[column] ?? [])));
      return !isBlank(row[column]) && 2 * values.filter(isValueLike).length > values.length;
    });
    const isFirst = columns.some((column) => !rows.slice(0, at).some((each) => isValueLike(each[column] ?? '')));
    if (columns.length > 0 && (isFirst || !mayRepeat)) return { at, isFirst };
  }
  return undefined;
}

/**
 * Finds the header: the first row, unless it and those after it hold one text alone, as titles do, or nothing. Then the header has as many words as no row below
 * has fields, and numbers or times are below it. Rows that are `isRagged` may end before the last field.
 */
export function findHeader(rows: readonly (readonly string[])[], { isRagged = false } = {}): HeaderPlace {
  const held = rows.map((row) => row.filter((text) => text.trim() !== ''));
  // the first of two fields may be the name of the only named column
  const isTitle = (row: readonly string[], at: number) =>
    (held[at]?.length ?? 0) < 2 && (row.length !== 2 || row[0]?.trim() !== '' || held[at]?.length === 0);
  const at = rows.findIndex((row, index) => !isTitle(row, index));
  const header = held[at] ?? [];
  const below = held.slice(at + 1);
  const isFull = header.length > 1 && below.every((row) => row.length <= header.length);
  if (at > 0 && isFull && !header.some(isValueLike) && below.some((row) => row.length > 1 && row.some(isValueLike))) return { at };
  const first = held.findIndex((row) => row.length > 0);
  const [top = [], { length: had } = []] = [rows[first], held[first]];
  const fields = countFields(rows) ?? had;
  const isAsLong = isRagged ? top.length >= fields : top.length === fields;
  // one name may be missing: that of the first column, as R and pandas write it
  const words =
    isAsLong && had + 1 >= fields
      ? undefined
      : (findWords(rows, fields, { mayRepeat: false }) ?? (isAsLong ? undefined : findWords(rows, fields, { mayRepeat: true })));
  const isSure = isAsLong ? had + 1 < (held[words?.at ?? at]?.length ?? 0) && words?.isFirst : !isRagged || words?.isFirst;
  const isOpen = words && words.at > first && isSure;
  if (isOpen) return { at: words.at, doubt: { first, had, fields } };
  const isAlone = top.length !== 2 && top[0]?.trim() !== '' && held.slice(first + 1, at).every((row) => row.length === 0);
  return first < at && isAlone ? { at, doubt: { first, had: 1, fields: header.length } } : { at: 0 };
}

/** What rows of a kind of files are called, and what they have. */
type RowWords = readonly [row: 'line' | 'row', field: 'field' | 'cell'];

/** The sentence on a file whose header may be below a title. */
export const explainDoubt = (
  [row, field]: RowWords,
  { first, had, header, fields }: { first: number; had: number; header: number; fields: number },
): string =>
  `${row === 'line' ? 'Line' : 'Row'} ${first} has ${had === 1 ? 'one' : had} ${field}${had === 1 ? '' : 's'}, and ${row} ${header} has ${fields}: the header seems to be in ${row} ${header}. Send the file with headerRow ${header}, or remove what stands above it.`;

/** The sentence on what stands above the header; undefined where nothing does. */
export function nameAbove(row: 'line' | 'row', header: number, above: readonly string[]): string | undefined {
  const texts = above.map((text) => text.trim()).filter((text) => text !== '');
  if (texts.length === 0) return undefined;
  const named = texts.slice(0, MOST_TOLD).map((text) => `“${text.slice(0, MOST_LETTERS)}”`);
  const more = texts.length - named.length;
  return `The header is in ${row} ${header}. Above it stands ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}
