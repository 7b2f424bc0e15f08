/** Finds what the values of the columns of `bronze_records` are. The engine looks at all of them, or only at the first ones. */
import type { ColumnType } from '../../lakehouse/terms/catalog.ts';
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import { fill, type Pipelines } from '../pipeline.ts';
import type { Majority } from './other-values.ts';
import type { Digits } from './types.ts';
import { TEXT_CLASSES } from '../value-classes.ts';

/** How a text of a delimited file is written; `ymd`, `dmy` and `mdy` are days by the order of their parts. */
export type TextForm = 'text' | 'plain' | 'comma' | 'boolean' | 'ymd' | 'dmy' | 'mdy' | 'named';

/** How a column is read. */
export interface Reading {
  form: TextForm;
  /** Classes of the column's values, odd ones left out. */
  classes: number;
  /** Whether a time follows some of the days. */
  timed: boolean;
  fitting: number;
  odd: number;
  /** Whether some values have parts that are taken off, or are turned into null. */
  untidy: boolean;
  /** Explains a type that somebody may not expect. */
  note?: string;
  /** Of text that has no note. */
  majority?: Majority;
}

/** One column of `bronze_records`: the key it had in the file and the form of its values there. */
export interface BronzeField {
  key: string;
  column: string;
  /**
   * `text`: as sent. `token`: a letter for the JSON kind (n s b j) and the text. `json`: as the engine's JSON reader gives it, in the type that `decideLineTypes` chose.
   * Otherwise a type that the file itself declares.
   */
  form: 'text' | 'token' | 'json' | ColumnType;
  /** For text of a delimited file: the column that holds it as it was sent, how it is read, and the classes of what is read where they are known. */
  read?: { sent: string; reading: Reading; wanted?: ColumnType; classes?: number };
  /** What the report says of the column besides its type. */
  note?: string;
  /** What a row of units says of the column. */
  unit?: string;
  /** What the column is called, where that is known already. */
  name?: string;
}

/** What all values of a column are, or its first ones. */
export interface Stats {
  classes: number;
  /** Values by JSON kind; for text all count as `s`. */
  kinds: Readonly<Record<'n' | 's' | 'b' | 'j', number>>;
  digits: Digits;
}

const BATCH = 100;
const SAMPLE = 2_000;
export const NONE: Digits = { whole: 0, part: 0 };

export const isDeclared = (form: BronzeField['form']): form is ColumnType => typeof form === 'object';
export const printText = ({ column, form }: BronzeField): string =>
  form === 'token' ? `substr(${column}, 2)` : isDeclared(form) ? `cast(${column} as varchar)` : column;
/** The text of a value as it was sent, and (`isSaid`) the condition that it is not missing. */
export const printSentText = (field: BronzeField): string => field.read?.sent ?? printText(field);
export function isSaid(field: BronzeField): string {
  if (field.read) return `not is_unsaid(${field.read.sent})`;
  // the engine finds no instant whose text is not empty: it makes an instant of the empty text, which is none
  return isDeclared(field.form) && field.form.kind !== 'string' ? `${field.column} is not null` : `${printText(field)} <> ''`;
}
/** The class of a value; see `TEXT_CLASSES`. */
export const printClass = (field: BronzeField): string =>
  field.form === 'token' ? `token_class(${field.column})` : `text_class(${printText(field)})`;

/**
 * Prints the union of the classes of a column's values. Of a declared type only two things are asked: whether there are values, and whether a BIGINT is too
 * large for a DOUBLE to keep.
 */
function unionOf(field: BronzeField, hasText: boolean): string {
  const { column, form } = field;
  if (form === 'token' && hasText) return `bit_or(loose_token_class(${column}))`;
  if (!isDeclared(form)) return `bit_or(${printClass(field)})`;
  const large =
    form.kind === 'bigint'
      ? ` + case when max(${column}) > 9007199254740992 or min(${column}) < -9007199254740992 then ${TEXT_CLASSES.bigint} else 0 end`
      : '';
  return `case when count(${column}) > 0 then ${TEXT_CLASSES.text} else 0 end${large}`;
}

/** What the values of columns are, by column, and whether the first records that were looked at are all there are. */
interface Classified {
  stats: Map<string, Stats>;
  isWhole: boolean;
}

/** What is known of columns by the way they are read, or by the first values: where there are no others, and of a declared type. */
function* listKnown(fields: readonly BronzeField[], sample?: Classified): Generator<[string, Stats]> {
  for (const { column, form, read } of fields) {
    const first = sample?.stats.get(column);
    const classes = read && isDeclared(form) ? (read.reading.fitting > 0 ? TEXT_CLASSES.text : 0) : read?.classes;
    if (classes !== undefined) yield [column, { classes, kinds: { n: 0, s: 0, b: 0, j: 0 }, digits: NONE }];
    else if (first && (sample?.isWhole || (first.classes !== 0 && isDeclared(form) && form.kind !== 'bigint'))) yield [column, first];
  }
}

/** Finds the classes of every column's values; without `sample` those of the first values are enough. */
export async function classify(
  session: StagingSession,
  pipelines: Pipelines,
  fields: readonly BronzeField[],
  sample?: Classified,
): Promise<Classified> {
  const stats = new Map(listKnown(fields, sample));
  const open = fields.filter(({ column }) => !stats.has(column));
  let isWhole = false;
  for (let at = 0; at < open.length; at += BATCH) {
    const batch = open.slice(at, at + BATCH);
    const kind = ({ column, form }: BronzeField, letter: string) =>
      form === 'token' ? `count(*) filter (where starts_with(${column}, '${letter}'))` : letter === 's' ? `count(${column})` : '0';
    const classes = batch.map(
      (field, index) =>
        `${unionOf(field, ((sample?.stats.get(field.column)?.classes ?? 0) & TEXT_CLASSES.text) !== 0)} as x${index}, ${kind(field, 'n')} as n${index}, ${kind(field, 's')} as s${index}, ${kind(field, 'b')} as b${index}, ${kind(field, 'j')} as j${index}`,
    );
    const [row = {}] = await session.rows(
      fill(pipelines.uploadedClasses, {
        classes: ['count(*) as records', ...classes].join(', '),
        limit: sample === undefined ? `limit ${SAMPLE}` : '',
      }),
    );
    isWhole = Number(row['records'] ?? 0) < SAMPLE;
    const count = (name: string) => Number(row[name] ?? 0);
    batch.forEach((field, index) => {
      const kinds = { n: count(`n${index}`), s: count(`s${index}`), b: count(`b${index}`), j: count(`j${index}`) };
      stats.set(field.column, { classes: count(`x${index}`), kinds, digits: NONE });
    });
  }
  return { stats, isWhole };
}

/** Adds to `stats` how many digits the numbers of these columns have. */
export async function countDigits(
  session: StagingSession,
  pipelines: Pipelines,
  open: readonly BronzeField[],
  stats: Map<string, Stats>,
): Promise<void> {
  for (let at = 0; at < open.length; at += BATCH) {
    const batch = open.slice(at, at + BATCH);
    const classes = batch.map(
      (field, index) => `max(whole_digits(${printText(field)})) as w${index}, max(part_digits(${printText(field)})) as p${index}`,
    );
    const [row = {}] = await session.rows(fill(pipelines.uploadedClasses, { classes: classes.join(', '), limit: '' }));
    batch.forEach((field, index) => {
      const known = stats.get(field.column);
      if (known)
        stats.set(field.column, { ...known, digits: { whole: Number(row[`w${index}`] ?? 0), part: Number(row[`p${index}`] ?? 0) } });
    });
  }
}
