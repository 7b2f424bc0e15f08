import { isMostly } from '../../typing/readings.ts';
import { listRecords } from './delimited.ts';
import { isValueLike } from './values.ts';

/** How many records below the header are looked at, and how many bytes of them. */
const LOOKED_AT = 200;
export const LOOKED_AT_BYTES = 262_144;
/** So few records say nothing of a column. */
const LEAST = 2;
const MOST_LETTERS = 100;

/** Rows of units: how many, the line that the first begins in, and what they say of each column. */
export interface Units {
  line: number;
  rows: number;
  texts: readonly string[];
}

/** Whether words stand above numbers or times, as a unit does. Undefined where there are neither. */
function standsAbove(word: string, values: readonly string[]): boolean | undefined {
  if (values.length === 0) return undefined;
  const fitting = values.filter(isValueLike).length;
  return isMostly(fitting, values.length - fitting) && !values.includes(word);
}

/**
 * Whether the first of these records is a row of units: it holds only words and blanks, and its words stand above numbers and times. Above words there may be a
 * remark in brackets.
 */
function isOfUnits([first = [], ...others]: readonly (readonly string[])[], missing: readonly string[]): boolean {
  const isBlank = (text = '') => text.trim() === '' || missing.includes(text.trim());
  if (first.some((text) => text.length > MOST_LETTERS || isValueLike(text)) || others.length < LEAST) return false;
  const words = first.flatMap((word, at) => {
    const below = others.flatMap((record) => (isBlank(record[at]) ? [] : (record[at] ?? [])));
    return isBlank(word) ? [] : [{ word, isAbove: standsAbove(word, below) }];
  });
  return words.some(({ isAbove }) => isAbove) && words.every(({ word, isAbove }) => isAbove !== false || /^\s*[([].*[)\]]\s*$/.test(word));
}

interface UnitsSearch {
  bytes: Buffer;
  /** Where the first record begins. */
  start: number;
  delimiter: number;
  /** Whether `bytes` hold the end of the file. */
  final: boolean;
  isReadable: (bytes: Buffer) => boolean;
  /** Marks that stand for missing values. */
  missing: readonly string[];
  fields: number;
  /** Whether the first record is such a row, where somebody says it. */
  told: boolean | undefined;
}

/**
 * Finds the row of units below the header, and one more of its kind, such as those of loggers that say `Avg` or `Max`: what they say of each column, and where
 * the next record begins.
 */
export function findUnits({ bytes, start, delimiter, final, isReadable, missing, fields, told }: UnitsSearch) {
  if (told === false) return undefined;
  const end = start + LOOKED_AT_BYTES;
  const records = [...listRecords(bytes.subarray(0, end), start, { delimiter, final: final && bytes.length <= end, most: LOOKED_AT })];
  const [first, second] = records;
  if (first?.fields.length !== fields || !isReadable(bytes.subarray(start, first.end))) return undefined;
  const [top = [], ...below] = records.map((record) => record.fields).filter((texts) => texts.length === fields);
  const rest = below.slice(1);
  const isOne = told === true || isOfUnits([top, ...below], missing) || isOfUnits([top, ...rest], missing);
  if (!isOne) return undefined;
  const isTwo = second?.fields.length === fields && isReadable(bytes.subarray(first.next, second.end)) && isOfUnits(below, missing);
  const rows = isTwo ? [first, second] : [first];
  const texts = top.map((_, at) =>
    rows
      .map((row) => row.fields[at]?.trim())
      .filter((text) => text !== '')
      .join(', '),
  );
  return { texts, rows: rows.length, next: isTwo ? second.next : first.next };
}
