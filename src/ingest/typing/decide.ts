import { readJson } from '../../json.ts';
import type { Column, ColumnType } from '../../lakehouse/terms/catalog.ts';
import type { ColumnState } from '../../lakehouse/tables/manifest.ts';
import { printType } from '../../lakehouse/terms/types.ts';
import { nameColumns, nameOddColumn, type NamedColumn } from './columns.ts';
import { MAX_COLUMNS } from '../limits.ts';
import { fill, type Pipelines } from '../pipeline.ts';
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import { printPhysicalType } from '../../lakehouse/terms/physical-types.ts';
import { quoteName } from '../../lakehouse/terms/quoting.ts';
import { FileRefused } from '../record-writer.ts';
import { listFittingClasses, inferType, needsDigits, widenType } from './types.ts';
import { NUMBER_CLASSES, TEXT_CLASSES } from '../value-classes.ts';
import { classify, printClass, countDigits, isDeclared, isSaid, NONE, printSentText, printText } from './classes.ts';
import type { BronzeField, Stats } from './classes.ts';

/** What the report says of one column of one file. */
export interface ColumnReport {
  name: string;
  originalKey: string;
  type: string;
  /** What the row of units below the header says of it. */
  unit?: string;
  /** Type that the column had before this file, when it widened. */
  widenedFrom?: string;
  /** Values that did not fit the type and are kept in `<name>__text`. */
  oddValues: number;
  /** The first odd values. `row` counts the file's records from 1, without the header. */
  oddExamples?: readonly { row: number; value: string }[];
  /** Rows of the file in which the column has no value. */
  missingValues?: number;
  /** Why the type may not be what one expects. */
  note?: string;
}

export interface TypedFile {
  columns: readonly ColumnState[];
  report: readonly ColumnReport[];
  /** Columns of the file that the upload leaves out. */
  leftOut?: readonly string[];
  /** Select list of the silver step. */
  values: string;
}

const BATCH = 100;

/** Classes that values of each JSON kind can have: numbers, texts, booleans, and objects or arrays (j). */
const KIND_CLASSES = {
  n: NUMBER_CLASSES,
  s: TEXT_CLASSES.date | TEXT_CLASSES.instant | TEXT_CLASSES.localTime | TEXT_CLASSES.text | TEXT_CLASSES.empty,
  b: TEXT_CLASSES.boolean,
  j: TEXT_CLASSES.nested,
};

const NUMERIC = new Set<ColumnType['kind']>(['int', 'bigint', 'double', 'decimal']);

/**
 * Picks the classes of a column's values that decide its type. Of JSON only one kind counts: numbers where the table's column holds numbers, else the commonest
 * kind. In a tie the first of s, n, b, j counts.
 */
function pickClassesOfKind(field: BronzeField, { classes, kinds }: Stats, before: ColumnState | undefined): number {
  if (field.read) return classes & (field.read.reading.classes | TEXT_CLASSES.empty);
  if (field.form !== 'token' && field.form !== 'json') return classes;
  if (before?.hasValues === true && NUMERIC.has(before.type.kind)) return classes & KIND_CLASSES.n;
  const most = Math.max(kinds.n, kinds.s, kinds.b, kinds.j);
  const kind = (['s', 'n', 'b', 'j'] as const).find((each) => kinds[each] === most) ?? 's';
  return classes & KIND_CLASSES[kind];
}

export const isSameType = (a: ColumnType, b: ColumnType) => printType(a) === printType(b);

/** The predicate under which a value of a field fits a type, or null when every value does. */
function fits(field: BronzeField, type: ColumnType): string | null {
  const { column, form } = field;
  if (isDeclared(form) && isSameType(form, type)) return null;
  const ofKind = (letter: string, rest: string) => (form === 'token' ? `starts_with(${column}, '${letter}') and ${rest}` : rest);
  if (type.kind === 'variant' || type.kind === 'string') return null;
  if (type.kind === 'boolean') return form === 'token' ? `starts_with(${column}, 'b')` : `${printText(field)} in ('true', 'false')`;
  if (type.kind === 'decimal')
    return ofKind(
      'n',
      `is_plain(${printText(field)}) and whole_digits(${printText(field)}) <= ${type.precision - type.scale} and part_digits(${printText(field)}) <= ${type.scale}`,
    );
  return `(${printClass(field)} & ${listFittingClasses(type) ?? 0}) <> 0`;
}

const INT64_DIGITS = 18;

/**
 * Prints the cast of a text that fits the type. A cast of 30 digits to DECIMAL takes the engine 27 to 85 µs, and one to HUGEINT less than 1: the digits of a
 * wide decimal are cast without their point, which a product puts back.
 */
function printCast(cast: 'cast' | 'try_cast', text: string, type: ColumnType): string {
  if (type.kind !== 'decimal' || type.precision <= INT64_DIGITS) return `${cast}(${text} as ${printPhysicalType(type)})`;
  const whole = `${cast}(${cast}(shifted(${text}, ${type.scale}) as hugeint) as decimal(38, 0))`;
  const unit = `cast('0.${'1'.padStart(type.scale, '0')}' as decimal(${type.scale}, ${type.scale}))`;
  return `${cast}(${type.scale === 0 ? whole : `${whole} * ${unit}`} as ${printPhysicalType(type)})`;
}

function converted(field: BronzeField, type: ColumnType): string {
  const { column, form, read } = field;
  if (type.kind === 'string' && read) return `case when is_missing(${read.sent}) then null else ${read.sent} end`;
  // an engine that makes a document of a document rounds its numbers
  if (type.kind === 'variant' && !(isDeclared(form) && form.kind === 'variant'))
    return form === 'token'
      ? `case when starts_with(${column}, 's') then to_json(substr(${column}, 2)) else try_cast(substr(${column}, 2) as json) end`
      : `to_json(${column})`;
  if (isDeclared(form))
    return isSameType(form, type)
      ? `cast(${column} as ${printPhysicalType(type)})`
      : `try_cast(${printText(field)} as ${printPhysicalType(type)})`;
  if (type.kind === 'string') return printText(field);
  return printCast('cast', printCastable(field, type), type);
}

/** The text of a value as the engine casts it. */
export const printCastable = (field: BronzeField, { kind }: ColumnType) =>
  kind === 'timestamp' ? `instant_text(nullif(${printText(field)}, ''))` : `nullif(${printText(field)}, '')`;

/**
 * Picks the type of a column after values of a declared type join it: the declared type where that holds the values of both, else the type that the column has.
 */
function joinDeclared(known: ColumnState, declared: ColumnType): ColumnType {
  if (!known.hasValues) return declared;
  const from = known.type.kind;
  const to = declared.kind;
  if (from === 'int' && (to === 'bigint' || to === 'double')) return declared;
  if (from === 'bigint' && to === 'double' && known.exactDouble) return declared;
  if ((from === 'int' || from === 'bigint') && declared.kind === 'decimal' && declared.precision - declared.scale >= 19)
    return { ...declared, precision: 38 };
  if (from === 'date' && to === 'timestamp_ntz') return declared;
  return known.type;
}

export interface PresentColumn {
  field: BronzeField;
  name: string;
  type: ColumnType;
  /** Its place among the fields. */
  at: number;
  /** The condition under which a value fits the type; null: every value does. */
  predicate: string | null;
  /** Whether every value is known to fit. */
  isClean: boolean;
}

interface Naming {
  origin: Column['origin'];
  names: readonly NamedColumn[];
}

/** Decides the type of every column from what its values are and from the column that the table has. */
export function decideTypes(
  fields: readonly BronzeField[],
  stats: ReadonlyMap<string, Stats>,
  known: readonly ColumnState[],
  { origin = 'uploaded', names = nameColumns(fields, { known }) }: Partial<Naming> = {},
): { columns: ColumnState[]; report: ColumnReport[]; present: PresentColumn[] } {
  const byName = new Map(known.map((column) => [column.name.toLowerCase(), column]));
  const columns: ColumnState[] = [];
  const report: ColumnReport[] = [];
  const present: PresentColumn[] = [];
  fields.forEach((field, index) => {
    const stat = stats.get(field.column) ?? { classes: 0, kinds: { n: 0, s: 0, b: 0, j: 0 }, digits: NONE };
    const given = names[index]?.name ?? '';
    const before = byName.get(given.toLowerCase());
    const name = before?.name ?? given;
    const isPresent = stat.classes !== 0;
    const exact = (stat.classes & TEXT_CLASSES.bigint) === 0;
    const own = pickClassesOfKind(field, stat, before);
    let type: ColumnType;
    const wanted = before?.hasValues === true ? undefined : field.read?.wanted;
    if (wanted) type = wanted;
    else if (isDeclared(field.form)) type = before ? (isPresent ? joinDeclared(before, field.form) : before.type) : field.form;
    else if (before) type = widenType(before, own, stat.digits);
    else type = inferType(own, stat.digits) ?? { kind: 'string' };
    const key = names[index]?.key ?? name;
    columns.push({
      name,
      type,
      nullable: true,
      origin,
      originalKey: key === name ? undefined : key,
      hasValues: isPresent || (before?.hasValues ?? false),
      exactDouble: (before?.exactDouble ?? true) && exact,
    });
    const widened = before?.hasValues === true && isPresent && !isSameType(before.type, type);
    const note = field.note ?? field.read?.reading.note;
    report.push({
      ...{ name, originalKey: key, type: printType(type), oddValues: 0 },
      ...(field.unit === undefined ? {} : { unit: field.unit }),
      ...(widened ? { widenedFrom: printType(before.type) } : {}),
      ...(note === undefined ? {} : { note }),
    });
    const oddOnes = type.kind === 'string' ? 0 : (field.read?.reading.odd ?? 0);
    if (!isPresent && oddOnes === 0) return;
    const allowed = listFittingClasses(type);
    const predicate = fits(field, type) ?? (oddOnes > 0 ? `${field.column} is not null` : null);
    const isClean =
      predicate === null ||
      (!isDeclared(field.form) && type.kind !== 'decimal' && allowed !== null && (stat.classes & ~(allowed | TEXT_CLASSES.empty)) === 0);
    present.push({ field, name, type, at: index, predicate, isClean });
  });
  return { columns, report, present };
}

/**
 * Decides the type of every column of `bronze_records`, against the columns that the table has, and prints how to read them.
 * Throws FileRefused when the table would have too many columns.
 */
export async function decideFileTypes(
  session: StagingSession,
  pipelines: Pipelines,
  fields: readonly BronzeField[],
  known: readonly ColumnState[],
  { origin = 'uploaded', names = nameColumns(fields, { known }) }: Partial<Naming> = {},
): Promise<TypedFile> {
  const byName = new Map(known.map((column) => [column.name.toLowerCase(), column]));
  const unread = fields.filter(({ read }) => !read);
  const sample = await classify(session, pipelines, unread);
  const { stats } = await classify(session, pipelines, fields, sample);
  const counted = fields.filter(
    ({ column, form }, index) =>
      !isDeclared(form) && needsDigits(stats.get(column)?.classes ?? 0, byName.get(names[index]?.name.toLowerCase() ?? '')),
  );
  await countDigits(session, pipelines, counted, stats);

  const { columns, report, present } = decideTypes(fields, stats, known, { origin, names });
  const values = present.filter(({ isClean }) => isClean).map(({ field, name, type }) => `${converted(field, type)} as ${quoteName(name)}`);
  const odd = present.flatMap(({ isClean, predicate, ...rest }) => (isClean || predicate === null ? [] : [{ ...rest, predicate }]));
  const counts = await countOdd(session, pipelines, odd);
  for (const { field, name, predicate, at } of odd) {
    const column = columns[at];
    const count = counts.get(name);
    if (!column) continue;
    if (!count || count.many === 0) {
      values.push(`${converted(field, column.type)} as ${quoteName(name)}`);
      continue;
    }
    const text = column.type.kind === 'timestamp' ? `instant_text(${printText(field)})` : printText(field);
    const safe = printCast('try_cast', text, column.type);
    values.push(`case when ${predicate} then ${safe} end as ${quoteName(name)}`);
    values.push(`case when ${isOdd({ field, predicate })} then ${printSentText(field)} end as ${quoteName(nameOddColumn(name))}`);
    columns.push(makeOddColumn(name, origin));
    const line = report[at];
    if (line) Object.assign(line, { oddValues: count.many, oddExamples: count.first });
  }
  requireRoom(known, columns);
  return { columns, report, values: values.join(', ') };
}

/** Makes the column of those values of another that do not fit its type. */
export const makeOddColumn = (name: string, origin: Column['origin']): ColumnState => ({
  name: nameOddColumn(name),
  type: { kind: 'string' },
  nullable: true,
  origin,
  hasValues: true,
  exactDouble: true,
});

/** Refuses a file whose columns a table cannot hold beside those that it has. */
export function requireRoom(known: readonly ColumnState[], columns: readonly ColumnState[]): void {
  const total = new Set([...known, ...columns].map(({ name }) => name.toLowerCase())).size;
  if (total > MAX_COLUMNS)
    throw new FileRefused('too_many_columns', `The table would have ${total} columns; a table holds at most ${MAX_COLUMNS}.`);
}

interface Doubtful {
  field: BronzeField;
  predicate: string;
}

const isOdd = ({ field, predicate }: Doubtful) => `${isSaid(field)} and not coalesce(${predicate}, false)`;

const EXAMPLES = 3;
const EXAMPLE_LETTERS = 100;

/** Counts the odd values of each column, and finds the first ones. */
async function countOdd(session: StagingSession, pipelines: Pipelines, odd: readonly (Doubtful & { name: string })[]) {
  const counts = new Map<string, { many: number; first: { row: number; value: string }[] }>();
  for (let at = 0; at < odd.length; at += BATCH) {
    const batch = odd.slice(at, at + BATCH);
    const classes = batch.map((each, index) => {
      const example = `{ row: fieldlake_row, value: left(${printSentText(each.field)}, ${EXAMPLE_LETTERS}) }`;
      return `count(*) filter (where ${isOdd(each)}) as o${index},
        to_json(arg_min(${example}, fieldlake_row, ${EXAMPLES}) filter (where ${isOdd(each)}))::varchar as e${index}`;
    });
    const [row = {}] = await session.rows(fill(pipelines.uploadedClasses, { classes: classes.join(', '), limit: '' }));
    batch.forEach(({ name }, index) => {
      const first = readJson((row[`e${index}`] as string | null) ?? '[]') as { row: string; value: string }[];
      const told = first.map((each) => ({ row: parseInt(each.row, 16) + 1, value: each.value }));
      counts.set(name, { many: Number(row[`o${index}`] ?? 0), first: told });
    });
  }
  return counts;
}
