/**
 * How the text of a delimited file's columns is read: people and their programs write missing values, numbers, truths and days in many ways. One way is
 * chosen for a whole column, by its values; a value that is written in another way is odd and kept as it was sent.
 */
import type { ColumnType } from '../../lakehouse/terms/catalog.ts';
import type { ColumnState } from '../../lakehouse/tables/manifest.ts';
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import { nameColumns } from './columns.ts';
import { fill, setVariable, type Pipelines } from '../pipeline.ts';
import { DAY_CLASSES, NUMBER_CLASSES as NUMBERS, SENT_CLASSES, TEXT_CLASSES } from '../value-classes.ts';
import type { BronzeField, TextForm, Reading } from './classes.ts';
import { noteOthers, type Majority } from './other-values.ts';
import { countKinds, FIRST, type Kinds } from './sent-kinds.ts';

/** What stands for a missing value, unless the upload says otherwise. */
export const MISSING_MARKS: readonly string[] = ['NA', 'N/A', 'n/a', 'NaN', 'nan', 'null', 'NULL', 'None', '-', '.'];

export const DAY_ORDERS = ['dmy', 'mdy', 'ymd'] as const;
export type DayOrder = (typeof DAY_ORDERS)[number];

/** Types that a column can be told to have. */
export const TYPE_WORDS = ['int', 'bigint', 'double', 'boolean', 'date', 'timestamp', 'timestamp_ntz', 'string'] as const;
export type TypeWord = (typeof TYPE_WORDS)[number];

/** Encodings that a delimited file can be told to be in, by their names in https://encoding.spec.whatwg.org. */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'macintosh',
  'gb18030',
  'shift_jis',
  'euc-kr',
] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** How an upload says that its files are to be read. Whatever it leaves out is found from their values. */
export interface ReadingOptions {
  /** What a delimited file is in; a mark at its beginning counts more. */
  encoding?: Encoding;
  /** Instead of `MISSING_MARKS`; empty fields are missing in any case. */
  missing?: readonly string[];
  decimal?: '.' | ',';
  dateOrder?: DayOrder;
  /** By the name of the column, or its key in the file. */
  types?: Readonly<Record<string, TypeWord>>;
  /** Name of the sheet of a workbook; without it the first that is not hidden is read. */
  sheet?: string;
  /** The line of the header, or its row in the sheet, counted from 1. */
  headerRow?: number;
  /** Columns that are not stored, by their names or their keys in the file. */
  leaveOut?: readonly string[];
  /** Whether the row below the header has units and is no record. */
  unitsRow?: boolean;
}

const C = TEXT_CLASSES;
/** A column of `bronze_sent`. */
export interface SentField {
  key: string;
  sent: string;
  /** The column that the text is read into; `c1`, `c2`… unless given. */
  into?: string;
  /** What the report says of the column, whatever is found of its values. */
  note?: string;
  /** What a row of units says of the column. */
  unit?: string;
  /** What the column is called, where that is known already. */
  name?: string;
}

export interface SentText {
  fields: readonly SentField[];
  delimiter: string;
  /** Whether some of the text may be numbers of a workbook, whose points stand before decimals whatever the texts beside them have. */
  hasNumberCells?: boolean;
}

const WHOLE = C.int | C.long | C.bigint;
/** The classes that `text_class` tells apart. */
const OF_ANY_TEXT = NUMBERS | C.date | C.instant | C.localTime | C.text | C.empty;

type Family = 'number' | 'boolean' | 'day' | 'instant';

interface Candidate {
  form: TextForm;
  family: Family;
  /** Bits of `TEXT_CLASSES`, `SENT_CLASSES` and `DAY_CLASSES` that this candidate reads. */
  bits: number;
  classes: number;
}

const CANDIDATES: readonly Candidate[] = [
  { form: 'plain', family: 'number', bits: NUMBERS, classes: NUMBERS },
  { form: 'comma', family: 'number', bits: SENT_CLASSES.comma | SENT_CLASSES.grouped | WHOLE, classes: NUMBERS },
  { form: 'boolean', family: 'boolean', bits: C.boolean, classes: C.text },
  { form: 'plain', family: 'day', bits: C.date, classes: C.date },
  { form: 'plain', family: 'day', bits: C.localTime, classes: C.localTime },
  { form: 'plain', family: 'instant', bits: C.instant, classes: C.instant },
  { form: 'ymd', family: 'day', bits: DAY_CLASSES.ymd | C.date | C.localTime, classes: C.text },
  { form: 'dmy', family: 'day', bits: DAY_CLASSES.dmy | DAY_CLASSES.shortDmy, classes: C.text },
  { form: 'mdy', family: 'day', bits: DAY_CLASSES.mdy, classes: C.text },
  { form: 'named', family: 'day', bits: DAY_CLASSES.named, classes: C.text },
];

const FAMILIES: Readonly<Record<ColumnType['kind'], Family | undefined>> = {
  int: 'number',
  bigint: 'number',
  double: 'number',
  decimal: 'number',
  boolean: 'boolean',
  date: 'day',
  timestamp_ntz: 'day',
  timestamp: 'instant',
  string: undefined,
  variant: undefined,
  struct: undefined,
  array: undefined,
};

const MOST_ODD = 1_000;
const FEW_ODD = 2;
/** Whether a column is of a type: at least 99 % of its values fit, or all but two. In any case more values fit than do not, and at most a thousand do not. */
export const isMostly = (fitting: number, odd: number): boolean =>
  fitting > odd && odd <= Math.max(FEW_ODD, Math.floor((fitting + odd) / 100)) && odd <= MOST_ODD;

interface Known {
  /** The type that the column has in the table, or is told to have. */
  type?: ColumnType;
  delimiter: string;
  hasNumberCells?: boolean;
  options: ReadingOptions;
}

const AMBIGUOUS = 'Its days can be read day first or month first. Send the file with dateOrder dmy or mdy to make days of them.';

const MAYBE_DAYS = 'Its values can be days, such as 3.4.26, or versions. Send the file with dateOrder dmy to make days of them.';

const EITHER_MARK = 'Its points can stand before decimals or between thousands. Send the file with decimal , or . to make numbers of them.';
const POINTS_READ =
  'Its points were read as standing before decimals, though they can stand between thousands. Send the file with decimal , or . to say it.';
const BOTH_MARKS =
  'Some of its numbers have decimal commas and some decimal points. Write them in one way, or send the file with decimal and with types: the others are kept as text beside the numbers.';
const COMMAS =
  'Its numbers have commas. Send the file with decimal , where they stand before decimals; where they stand between thousands, write the numbers without them.';
const FINER = 'Some of these times are finer than a microsecond, so they are kept as text.';
/** Of how many values one must have a decimal comma, so that points between groups of three digits are taken for marks of thousands. */
const FEW_COMMAS = 10;

const TEXT: Reading = { form: 'text', classes: C.text | C.empty, timed: false, fitting: 0, odd: 0, untidy: true };

/** Counts the values that have one of these bits. */
const makeCounter = (kinds: Kinds) => (bits: number) =>
  [...kinds].reduce((sum, [kind, many]) => ((kind & bits) === 0 ? sum : sum + many), 0);
/** Counts the values that are not missing. */
const countValues = (kinds: Kinds) =>
  [...kinds].reduce((sum, [kind, many]) => ((kind & (SENT_CLASSES.missing | C.empty)) === 0 ? sum + many : sum), 0);

/** The candidates that a column may be read by. */
function allowed(kinds: (bits: number) => number, { type, delimiter, options }: Known): Candidate[] {
  const family = type && FAMILIES[type.kind];
  if (type && !family) return [];
  const isSure = family !== undefined || options.dateOrder === 'dmy' || kinds(DAY_CLASSES.dmy) > kinds(DAY_CLASSES.shortDmy);
  return CANDIDATES.filter(({ form, family: own, bits }) => {
    if (family && own !== family) return false;
    if ((bits & DAY_CLASSES.shortDmy) !== 0 && !isSure) return false;
    if (form === 'comma')
      return options.decimal === ',' || (options.decimal === undefined && delimiter !== ',' && kinds(SENT_CLASSES.comma) > 0);
    if (own === 'number') return options.decimal !== ',' && (type !== undefined || kinds(SENT_CLASSES.code) === 0);
    const { dateOrder } = options;
    return dateOrder === undefined || (form !== 'dmy' && form !== 'mdy') || form === dateOrder;
  });
}

/** The note on a column that is text because its numbers have commas or two decimal marks, its times are too fine, or its days may be versions. */
function noteOfText(count: (bits: number) => number, values: number): { note?: string } {
  const numbers = count(NUMBERS | SENT_CLASSES.comma | SENT_CLASSES.grouped);
  const times = count(SENT_CLASSES.finer | C.instant | C.localTime);
  if (count(SENT_CLASSES.comma) > 0 && isMostly(numbers, values - numbers))
    return { note: count(C.double | C.decimal) > 0 ? BOTH_MARKS : COMMAS };
  const days = count(DAY_CLASSES.dmy | DAY_CLASSES.shortDmy);
  if (isMostly(days, values - days)) return { note: MAYBE_DAYS };
  return count(SENT_CLASSES.finer) > 0 && isMostly(times, values - times) ? { note: FINER } : {};
}

const WHAT: Readonly<Record<Family, Majority['what'] | undefined>> = {
  number: 'numbers',
  boolean: undefined,
  day: 'days',
  instant: 'times',
};

/** The text of a column of which more than half the values could be read by a candidate. */
function textBeside({ family, bits, fitting }: Candidate & { fitting: number }, values: number): Reading {
  const what = WHAT[family];
  return what === undefined || 2 * fitting <= values ? TEXT : { ...TEXT, majority: { what, bits, many: fitting, values } };
}

/**
 * Chooses the way in which nearly all values of a column are written, else text. Where the type is known, the best way of that type is chosen even if many
 * values are odd.
 */
export function chooseReading(kinds: Kinds, known: Known): Reading {
  const count = makeCounter(kinds);
  const values = countValues(kinds);
  const untidy = count(SENT_CLASSES.missing | SENT_CLASSES.untidy) > 0;
  const fits = allowed(count, known)
    .map((candidate) => ({ ...candidate, fitting: count(candidate.bits) }))
    .sort((a, b) => b.fitting - a.fitting);
  const [best] = fits;
  if (!best) return TEXT;
  const odd = values - best.fitting;
  const isEither = (kind: number) => (kind & DAY_CLASSES.dmy) !== 0 && (kind & DAY_CLASSES.mdy) !== 0 && (kind & DAY_CLASSES.same) === 0;
  const isOpen = (best.form === 'dmy' || best.form === 'mdy') && known.options.dateOrder === undefined && [...kinds.keys()].some(isEither);
  if (isOpen && count(DAY_CLASSES.dmy) === count(DAY_CLASSES.mdy)) return { ...TEXT, note: AMBIGUOUS };
  const isUnclear = best.form === 'comma' && known.options.decimal === undefined && count(SENT_CLASSES.grouped) > 0;
  if (isUnclear && (known.hasNumberCells === true || count(SENT_CLASSES.comma) * FEW_COMMAS < values))
    return { ...TEXT, note: known.type === undefined ? EITHER_MARK : POINTS_READ };
  if (best.fitting === 0 || (known.type === undefined && !isMostly(best.fitting, odd)))
    return known.type === undefined
      ? { ...textBeside(best, values), ...noteOfText(count, values) }
      : { ...best, timed: false, odd, untidy: true };
  const timed = (best.form === 'ymd' ? count(C.localTime) : 0) + count(DAY_CLASSES.timed) > 0;
  return { form: best.form, classes: best.classes, timed, fitting: best.fitting, odd, untidy: untidy || best.form === 'comma' };
}

/** Whether the first values already say that a column is text, because more of them are odd than any type allows. */
function isSurelyText(kinds: Kinds, known: Known): boolean {
  const count = makeCounter(kinds);
  const values = countValues(kinds);
  return allowed(count, known).every(({ bits }) => values - count(bits) > MOST_ODD);
}

/** The classes of the text that a reading leaves as it was sent. Undefined where only a look at each value, as it was turned, tells them. */
function findSentClasses(kinds: Kinds, { form, untidy }: Reading): number | undefined {
  if (form !== 'text' && (form !== 'plain' || untidy)) return undefined;
  const classOf = (kind: number) => (kind === SENT_CLASSES.missing ? 0 : kind === 0 || (kind & ~OF_ANY_TEXT) !== 0 ? C.text : kind);
  const classes = [...kinds.keys()].map((kind) => classOf(kind & ~SENT_CLASSES.grouped));
  return classes.reduce((union, one) => union | one, 0);
}

/** Prints what a column is turned into: text that is written in one way, or the typed value itself. */
function printReading({ sent }: SentField, { form, timed, untidy }: Reading): { form: BronzeField['form']; value: string } {
  const bare = `bare(${sent})`;
  const unlessUnsaid = (value: string) => `case when is_unsaid(${sent}) then null else ${value} end`;
  switch (form) {
    case 'text':
      return { form: 'text', value: `case when is_missing(${sent}) then null else ${sent} end` };
    case 'plain':
      return { form: 'text', value: untidy ? unlessUnsaid(`pointed(${bare})`) : sent };
    case 'comma':
      return { form: 'text', value: unlessUnsaid(`comma_pointed(${bare})`) };
    case 'boolean': {
      const truths = `when lower(${bare}) in ('true', 'yes') then true when lower(${bare}) in ('false', 'no') then false`;
      // most truths are written so, and this test costs a tenth of the one below
      return { form: { kind: 'boolean' }, value: `case ${sent} when 'true' then true when 'false' then false else case ${truths} end end` };
    }
    case 'ymd':
    case 'dmy':
    case 'mdy':
    case 'named': {
      const moment = `${form}_moment(${bare})`;
      if (timed) return { form: { kind: 'timestamp_ntz' }, value: unlessUnsaid(moment) };
      return { form: { kind: 'date' }, value: `case when not contains(${sent}, ':') then cast(${unlessUnsaid(moment)} as date) end` };
    }
  }
}

interface Reader {
  session: StagingSession;
  pipelines: Pipelines;
  text: SentText;
  rows: number;
  known: readonly ColumnState[];
  options: ReadingOptions;
}

/** A column of `bronze_records`, and the expression over `bronze_sent` that makes it. */
interface ReadField {
  field: BronzeField;
  value: string;
}

/**
 * Chooses how every column of `bronze_sent` is read. All values decide. With `begun` the first values decide where they leave no doubt, and the later ones must
 * still be checked.
 */
export async function chooseReadings(
  { session, pipelines, text, rows, known, options }: Reader,
  { begun }: { begun: boolean },
): Promise<ReadField[]> {
  await session.prepare([
    setVariable('missing_marks', options.missing ?? MISSING_MARKS),
    {
      sql: "set variable missing_numbers = (select number_keys(list(mark)) from (select unnest(getvariable('missing_marks')) as mark) where is_number(mark))",
      values: [],
    },
  ]);
  const names = nameColumns(text.fields, { known });
  const byName = new Map(known.map((column) => [column.name.toLowerCase(), column]));
  const asked = text.fields.map((field, index) => {
    const name = names[index]?.name ?? '';
    const before = byName.get(name.toLowerCase());
    const word = options.types?.[name] ?? options.types?.[field.key];
    const wanted: ColumnType | undefined = word === undefined ? undefined : { kind: word };
    const type = before?.hasValues === true ? before.type : wanted;
    return { field, wanted, known: { type, delimiter: text.delimiter, hasNumberCells: text.hasNumberCells, options } };
  });
  const sent = asked.map(({ field }) => field.sent);
  const first = begun ? await countKinds(session, pipelines, sent, { first: true }) : new Map<string, Kinds>();
  const isSettled = ({ field, known: told }: (typeof asked)[number]) => {
    const kinds = first.get(field.sent);
    if (!kinds) return false;
    const reading = chooseReading(kinds, told);
    if (rows <= FIRST || kinds.size === 0 || told.type?.kind === 'string') return true;
    if (reading.form === 'comma' && text.hasNumberCells === true) return false;
    return reading.form === 'text' ? isSurelyText(kinds, told) : reading.odd === 0;
  };
  const open = asked.flatMap((each) => (isSettled(each) ? [] : each.field.sent));
  const all = await countKinds(session, pipelines, open, { first: false });
  const chosen = asked.map(({ known: told, ...each }) => {
    const kinds = all.get(each.field.sent) ?? first.get(each.field.sent) ?? new Map<number, number>();
    return { ...each, kinds, reading: chooseReading(kinds, told) };
  });
  const mixed = chosen.flatMap(({ field, reading: { majority, note } }) =>
    majority && note === undefined ? [[field.sent, majority] as const] : [],
  );
  const notes = await noteOthers(session, pipelines, new Map(mixed));
  return chosen.map(({ field, wanted, kinds, reading: bare }, index) => {
    const reading = { ...bare, note: field.note ?? bare.note ?? notes.get(field.sent) };
    const { form, value } = printReading(field, reading);
    const column = field.into ?? `c${index + 1}`;
    const { key, name, unit, sent: from } = field;
    const read = { sent: from, reading, wanted, classes: findSentClasses(kinds, reading) };
    return { value: `${value} as ${column}`, field: { key, name, unit, column, form, read } };
  });
}

/** Makes `bronze_records` from `bronze_sent`, read as `chooseReadings` says. */
export async function readText(reader: Reader, options: { begun: boolean }): Promise<BronzeField[]> {
  const read = await chooseReadings(reader, options);
  const columns = read.map(({ value }, index) => `${value}, ${reader.text.fields[index]?.sent ?? ''}`);
  await reader.session.prepare([fill(reader.pipelines.readText, { columns: columns.join(', ') })]);
  return read.map(({ field }) => field);
}
