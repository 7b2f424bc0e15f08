/** A metadata table as it is edited. What is not touched stays as it was stored. */
import type { BodyOf } from '../../../clients/typescript/src/types.ts';
import { toPlainLetters } from '../plain-letters.ts';

export type Metadata = BodyOf<'/api/v1/experiments/{id}/metadata', 'post'>['metadata'];
export type Column = Metadata['columns'][number];
export type ColumnType = Column['type'];
export type Row = Metadata['rows'][number];

export const DEVICE = 'column:device_id';
export const COLUMN_NAME = '[A-Za-z0-9_]{1,64}';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** A number that can be stored as one and still be written the same. A code such as 007 cannot, nor an article number of twenty digits. */
const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?(e[+-]?\d{1,2})?$/i;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Whether a table can be shown. The service also lists tables of an older shape, which cannot. */
export const isSound = (metadata: Metadata): boolean => Array.isArray(metadata.columns) && Array.isArray(metadata.rows);

/** An object knows a `constructor` that no row has. */
const ownOf = (row: Row, name: string): unknown => (Object.hasOwn(row, name) ? row[name] : undefined);

/** The value of a row in a column, stored under the column's id or its name. */
export const valueOf = (row: Row, { id, name }: Column): unknown => ownOf(row, id) ?? ownOf(row, name) ?? null;

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const isDay = (text: string): boolean => {
  const at = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  // `Date` reads the 30th of February as a day of March
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
};

/** Whether a text is left out beside measurements, since it is not of its column's type. */
export function isUnfit(text: string, type: ColumnType): boolean {
  if (text === '' || type === 'string') return false;
  return type === 'number' ? !NUMBER.test(text.trim()) : !isDay(text.trim().slice(0, 10));
}

/** A typed text as it is stored: a number where the column is of numbers and the number is written as it was typed. */
const cellOf = (text: string, { type }: Column): unknown => (type === 'number' && String(Number(text)) === text ? Number(text) : text);

/** Changes the text of one cell. An empty text removes the cell. */
export function changeCell(metadata: Metadata, at: number, column: Column, text: string): Metadata {
  const { id, name } = column;
  const rows = metadata.rows.map((row, place) => {
    if (place !== at) return row;
    const isOwn = metadata.columns.some((other) => other.id === name && other !== column);
    const kept = Object.entries(row).filter(([key]) => key === '_id' || (key !== id && (isOwn || key !== name)));
    const cell: [string, unknown][] = text === '' ? [] : [[id, cellOf(text, column)]];
    return Object.fromEntries([...kept, ...cell]) as Row;
  });
  return { ...metadata, rows };
}

/** Changes the name or type of a column. Cells that were stored under the former name move under the column's id. */
export function changeColumn(metadata: Metadata, column: Column, next: Partial<Pick<Column, 'name' | 'type'>>): Metadata {
  const columns = metadata.columns.map((each) => (each === column ? { ...each, ...next } : each));
  const { id, name } = column;
  if (next.name === undefined || name === id || metadata.columns.some((other) => other.id === name)) return { ...metadata, columns };
  const rows = metadata.rows.map((row) => {
    if (!Object.hasOwn(row, name) || name === '_id') return row;
    const kept = Object.entries(row).filter(([key]) => key !== name && key !== id);
    return Object.fromEntries([...kept, [id, valueOf(row, column)]]) as Row;
  });
  return { ...metadata, columns, rows };
}

export function takeColumn(metadata: Metadata, { id, name }: Column): Metadata {
  const columns = metadata.columns.filter((each) => each.id !== id);
  const isFree = !columns.some((other) => other.id === name);
  const rows = metadata.rows.map(
    (row) => Object.fromEntries(Object.entries(row).filter(([key]) => key === '_id' || (key !== id && (!isFree || key !== name)))) as Row,
  );
  return { ...metadata, columns, rows };
}

/** Finds the first id that is not taken: the prefix and a number, counted up from `from`. */
function freeId(taken: ReadonlySet<string>, prefix: string, from: number): string {
  let at = from;
  while (taken.has(`${prefix}${at}`)) at += 1;
  return `${prefix}${at}`;
}

export function addColumn(metadata: Metadata, name: string): Metadata {
  const taken = new Set(metadata.columns.flatMap((column) => [column.id, column.name.toLowerCase()]));
  return { ...metadata, columns: [...metadata.columns, { id: freeId(taken, 'c', metadata.columns.length + 1), name, type: 'string' }] };
}

export const addRow = (metadata: Metadata): Metadata => ({
  ...metadata,
  rows: [...metadata.rows, { _id: freeId(new Set(metadata.rows.map(({ _id }) => _id)), '', metadata.rows.length + 1) }],
});

/** A column's name like a heading: `Sown on (day)` gives `Sown_on_day`. */
function nameLike(heading: string, taken: Set<string>): string {
  const letters = toPlainLetters(heading)
    .replace(/[^A-Za-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 60);
  const name = letters === '' ? 'column' : letters;
  let free = name;
  for (let at = 2; taken.has(free.toLowerCase()); at += 1) free = `${name}_${at}`;
  taken.add(free.toLowerCase());
  return free;
}

/** A number with a decimal comma, and one of those that cannot be thousands. */
const COMMA_NUMBER = /^-?(0|[1-9]\d{0,14})(,\d{1,15})?$/;
const NO_THOUSANDS = /,(?!\d{3}$)|^-?0,/;
const POINT_DAY = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;

/** The cells of a column with a point before decimals and days with the year first, where all of them are numbers with a comma, or days with points. */
function plainOf(texts: readonly string[]): readonly string[] {
  const said = texts.filter((text) => text !== '');
  if (said.some((text) => NO_THOUSANDS.test(text)) && said.every((text) => COMMA_NUMBER.test(text)))
    return texts.map((text) => text.replace(',', '.'));
  const turned = texts.map((text) =>
    text.replace(POINT_DAY, (_, day: string, month: string, year: string) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`),
  );
  return turned.every((text) => text === '' || isDay(text)) ? turned : texts;
}

function typeLike(texts: readonly string[]): ColumnType {
  const said = texts.filter((text) => text !== '');
  if (said.length === 0) return 'string';
  if (said.every((text) => PLAIN_NUMBER.test(text))) return 'number';
  return said.every(isDay) ? 'date' : 'string';
}

/**
 * Makes a table of cells that were read. A column has the type that all its filled cells have. The first column with a different text in every row identifies
 * the rows.
 */
export function tableOf({ names, rows: read }: { names: string[]; rows: string[][] }): Metadata {
  const plain = names.map((_, place) => plainOf(read.map((cells) => cells[place] ?? '')));
  const rows = read.map((_, at) => plain.map((texts) => texts[at] ?? ''));
  const taken = new Set<string>();
  const columns = names.map((heading, place): Column => {
    const texts = plain[place] ?? [];
    return { id: `c${place + 1}`, name: nameLike(heading, taken), type: typeLike(texts) };
  });
  const identifying = columns.findIndex((_, place) => {
    const texts = plain[place] ?? [];
    return !texts.includes('') && new Set(texts).size === texts.length;
  });
  const identifierColumnId = `c${Math.max(identifying, 0) + 1}`;
  const stored = rows.map((cells, at): Row => {
    const said = columns.flatMap((column, place): [string, unknown][] => {
      const text = cells[place] ?? '';
      return text === '' ? [] : [[column.id, cellOf(text, column)]];
    });
    return { _id: String(at + 1), ...Object.fromEntries(said) };
  });
  return { name: '', columns, rows: stored, identifierColumnId, experimentQuestionId: '' };
}

/** The first column name that would be refused, and why; null when none would be. */
export function findNameFault({ columns }: Metadata): { kind: 'odd' | 'twice'; name: string } | null {
  const seen = new Set<string>();
  for (const { name } of columns) {
    if (!new RegExp(`^${COLUMN_NAME}$`).test(name)) return { kind: 'odd', name };
    if (seen.has(name.toLowerCase())) return { kind: 'twice', name };
    seen.add(name.toLowerCase());
  }
  return null;
}

export const countUnfit = ({ columns, rows }: Metadata): number =>
  columns
    .filter(({ type }) => type !== 'string')
    .reduce((sum, column) => sum + rows.filter((row) => isUnfit(textOf(valueOf(row, column)), column.type)).length, 0);
