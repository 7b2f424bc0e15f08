import type { Column, ColumnType } from '../lakehouse/catalog.ts';
import type { ColumnState } from '../lakehouse/manifest.ts';
import type { StagingSession } from '../lakehouse/staging.ts';
import { typeText } from '../lakehouse/types.ts';
import { nameColumns, oddTextColumn, type NamedColumn } from './columns.ts';
import { MAX_COLUMNS } from './limits.ts';
import { fill, type Pipelines } from './pipeline.ts';
import { physicalType, quote } from '../lakehouse/staging.ts';
import { FileRefused } from './record-writer.ts';
import { fittingClasses, inferType, needsDigits, TEXT_CLASSES, widenType, type Digits } from './types.ts';

/** One column of `bronze_records`: the key it had in the file and the form of its values there. */
export interface BronzeField {
  key: string;
  column: string;
  /**
   * `text`: as sent. `token`: a letter for the JSON kind (n s b j) and the text. `json`: as the engine's JSON reader gives it, in the type that `typeLines` chose.
   * Otherwise a type that the file itself declares.
   */
  form: 'text' | 'token' | 'json' | ColumnType;
}

/** What the report says of one column of one file. */
export interface ColumnReport {
  name: string;
  originalKey: string;
  type: string;
  /** Type that the column had before this file, when it widened. */
  widenedFrom?: string;
  /** Values that did not fit the type and are kept in `<name>__text`. */
  oddValues: number;
}

export interface TypedFile {
  columns: readonly ColumnState[];
  report: readonly ColumnReport[];
  /** Select list of the silver step. */
  values: string;
}

export interface Stats {
  classes: number;
  /** Values by JSON kind; for text all count as `s`. */
  kinds: Readonly<Record<'n' | 's' | 'b' | 'j', number>>;
  digits: Digits;
}

const BATCH = 100;
const SAMPLE = 2_000;
export const NONE: Digits = { whole: 0, part: 0 };

const isDeclared = (form: BronzeField['form']): form is ColumnType => typeof form === 'object';
const textOf = ({ column, form }: BronzeField): string =>
  form === 'token' ? `substr(${column}, 2)` : isDeclared(form) ? `cast(${column} as varchar)` : column;
const classOf = (field: BronzeField): string => (field.form === 'token' ? `token_class(${field.column})` : `text_class(${textOf(field)})`);

/** Union of the classes of a column's values. A declared type needs only to know whether there are any, and whether a BIGINT leaves what a DOUBLE holds. */
function unionOf(field: BronzeField, hasText: boolean): string {
  const { column, form } = field;
  if (form === 'token' && hasText) return `bit_or(loose_token_class(${column}))`;
  if (!isDeclared(form)) return `bit_or(${classOf(field)})`;
  const large =
    form.kind === 'bigint' ? ` + case when max(abs(${column}::hugeint)) > 9007199254740992 then ${TEXT_CLASSES.bigint} else 0 end` : '';
  // the hash makes the engine unpack every value, so that a damaged page is found here
  return `case when count(${column}) > 0 then ${TEXT_CLASSES.text} else 0 end${large} + 0 * (bit_xor(hash(${column})) & 1)::integer`;
}

async function classify(
  session: StagingSession,
  pipelines: Pipelines,
  fields: readonly BronzeField[],
  sample?: ReadonlyMap<string, Stats>,
): Promise<Map<string, Stats>> {
  const all = new Map<string, Stats>();
  for (let at = 0; at < fields.length; at += BATCH) {
    const batch = fields.slice(at, at + BATCH);
    const kind = ({ column, form }: BronzeField, letter: string) =>
      form === 'token' ? `count(*) filter (where starts_with(${column}, '${letter}'))` : letter === 's' ? `count(${column})` : '0';
    const classes = batch.map(
      (field, index) =>
        `${unionOf(field, ((sample?.get(field.column)?.classes ?? 0) & TEXT_CLASSES.text) !== 0)} as x${index}, ${kind(field, 'n')} as n${index}, ${kind(field, 's')} as s${index}, ${kind(field, 'b')} as b${index}, ${kind(field, 'j')} as j${index}`,
    );
    const [row = {}] = await session.rows(
      fill(pipelines.uploadedClasses, { classes: classes.join(', '), limit: sample === undefined ? `limit ${SAMPLE}` : '' }),
    );
    const count = (name: string) => Number(row[name] ?? 0);
    batch.forEach((field, index) => {
      const kinds = { n: count(`n${index}`), s: count(`s${index}`), b: count(`b${index}`), j: count(`j${index}`) };
      all.set(field.column, { classes: count(`x${index}`), kinds, digits: NONE });
    });
  }
  return all;
}

/** True for a value of one of these classes, said more cheaply than `text_class` says which; null when there is no cheaper way. */
function quickTest(column: string, classes: number): string | null {
  const C = TEXT_CLASSES;
  const tests: [number, string][] = [
    [C.int, `coalesce(try_cast(${column} as integer)::varchar = ${column}, false)`],
    [
      C.long,
      `coalesce(try_cast(${column} as bigint)::varchar = ${column} and abs(try_cast(${column} as hugeint)) <= 9007199254740992, false)`,
    ],
    [C.double, `coalesce(isfinite(try_cast(${column} as double)) and try_cast(${column} as double)::varchar = ${column}, false)`],
    [C.date, `(length(${column}) = 10 and coalesce(try_cast(${column} as date)::varchar = ${column}, false))`],
    [C.instant, `is_instant(${column})`],
    [C.localTime, `is_local_time(${column})`],
    [C.empty, `${column} = ''`],
  ];
  if (tests.reduce((rest, [one]) => rest & ~one, classes) !== 0) return null;
  const asked = tests.filter(([one]) => (classes & one) !== 0).map(([, test]) => test);
  return asked.length === 0 ? 'false' : asked.join(' or ');
}

/** Of these text columns, those whose every value is of the classes that the first values have. */
async function confirm(
  session: StagingSession,
  pipelines: Pipelines,
  fields: readonly BronzeField[],
  sample: ReadonlyMap<string, Stats>,
): Promise<Set<string>> {
  const confirmed = new Set<string>();
  const tests = fields.flatMap(({ column, form }) => {
    const test = form === 'text' ? quickTest(column, sample.get(column)?.classes ?? 0) : null;
    return test === null ? [] : [{ column, test }];
  });
  for (let at = 0; at < tests.length; at += BATCH) {
    const batch = tests.slice(at, at + BATCH);
    const classes = batch.map(({ column, test }, index) => `count(*) filter (where ${column} is not null and not (${test})) as u${index}`);
    const [row = {}] = await session.rows(fill(pipelines.uploadedClasses, { classes: classes.join(', '), limit: '' }));
    batch.forEach(({ column }, index) => {
      if (Number(row[`u${index}`]) === 0) confirmed.add(column);
    });
  }
  return confirmed;
}

async function countDigits(
  session: StagingSession,
  pipelines: Pipelines,
  open: readonly BronzeField[],
  stats: Map<string, Stats>,
): Promise<void> {
  for (let at = 0; at < open.length; at += BATCH) {
    const batch = open.slice(at, at + BATCH);
    const classes = batch.map(
      (field, index) => `max(whole_digits(${textOf(field)})) as w${index}, max(part_digits(${textOf(field)})) as p${index}`,
    );
    const [row = {}] = await session.rows(fill(pipelines.uploadedClasses, { classes: classes.join(', '), limit: '' }));
    batch.forEach((field, index) => {
      const known = stats.get(field.column);
      if (known)
        stats.set(field.column, { ...known, digits: { whole: Number(row[`w${index}`] ?? 0), part: Number(row[`p${index}`] ?? 0) } });
    });
  }
}

export const KIND_CLASSES = {
  n: TEXT_CLASSES.int | TEXT_CLASSES.long | TEXT_CLASSES.bigint | TEXT_CLASSES.double | TEXT_CLASSES.decimal,
  s: TEXT_CLASSES.date | TEXT_CLASSES.instant | TEXT_CLASSES.localTime | TEXT_CLASSES.text | TEXT_CLASSES.empty,
  b: TEXT_CLASSES.boolean,
  j: TEXT_CLASSES.nested,
};

const NUMERIC = new Set<ColumnType['kind']>(['int', 'bigint', 'double', 'decimal']);

/** A JSON key whose values are of several kinds takes the kind that its column has, or else that of most of them; a tie is text. */
export function ownClasses(field: BronzeField, { classes, kinds }: Stats, before: ColumnState | undefined): number {
  if (field.form !== 'token' && field.form !== 'json') return classes;
  if (before?.hasValues === true && NUMERIC.has(before.type.kind)) return classes & KIND_CLASSES.n;
  const most = Math.max(kinds.n, kinds.s, kinds.b, kinds.j);
  const kind = (['s', 'n', 'b', 'j'] as const).find((each) => kinds[each] === most) ?? 's';
  return classes & KIND_CLASSES[kind];
}

export const sameType = (a: ColumnType, b: ColumnType) => typeText(a) === typeText(b);

/** The predicate under which a value of a field fits a type, or null when every value does. */
function fits(field: BronzeField, type: ColumnType): string | null {
  const { column, form } = field;
  if (isDeclared(form) && sameType(form, type)) return null;
  const ofKind = (letter: string, rest: string) => (form === 'token' ? `starts_with(${column}, '${letter}') and ${rest}` : rest);
  if (type.kind === 'variant' || type.kind === 'string') return null;
  if (type.kind === 'boolean') return form === 'token' ? `starts_with(${column}, 'b')` : `${textOf(field)} in ('true', 'false')`;
  if (type.kind === 'decimal')
    return ofKind(
      'n',
      `is_plain(${textOf(field)}) and whole_digits(${textOf(field)}) <= ${type.precision - type.scale} and part_digits(${textOf(field)}) <= ${type.scale}`,
    );
  return `(${classOf(field)} & ${fittingClasses(type) ?? 0}) <> 0`;
}

function converted(field: BronzeField, type: ColumnType): string {
  const { column, form } = field;
  if (type.kind === 'variant')
    return form === 'token'
      ? `case when starts_with(${column}, 's') then to_json(substr(${column}, 2)) else try_cast(substr(${column}, 2) as json) end`
      : `to_json(${column})`;
  if (isDeclared(form))
    return sameType(form, type) ? `cast(${column} as ${physicalType(type)})` : `try_cast(${textOf(field)} as ${physicalType(type)})`;
  if (type.kind === 'string') return textOf(field);
  return `cast(nullif(${textOf(field)}, '') as ${physicalType(type)})`;
}

/** Declared types that hold every value of both. */
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

/**
 * Decides the type of every column of `bronze_records`, against the columns that the table has, and prints how to read them.
 * Throws FileRefused when the table would have too many columns.
 */
export async function typeFile(
  session: StagingSession,
  pipelines: Pipelines,
  fields: readonly BronzeField[],
  known: readonly ColumnState[],
  { origin, names = nameColumns(fields.map(({ key }) => key)) }: { origin: Column['origin']; names?: readonly NamedColumn[] } = {
    origin: 'uploaded',
  },
): Promise<TypedFile> {
  const byName = new Map(known.map((column) => [column.name.toLowerCase(), column]));
  const nameOf = (index: number) => byName.get(names[index]?.name.toLowerCase() ?? '')?.name ?? names[index]?.name ?? '';

  const unclear = fields.filter(({ form }) => !isDeclared(form));
  const sample = await classify(session, pipelines, unclear);
  const settled = (field: BronzeField, index: number) =>
    field.form === 'text' &&
    ((sample.get(field.column)?.classes ?? 0) & TEXT_CLASSES.text) !== 0 &&
    (byName.get(nameOf(index).toLowerCase())?.hasValues !== true || byName.get(nameOf(index).toLowerCase())?.type.kind === 'string');
  const unsettled = fields.filter((field, index) => !settled(field, index));
  const confirmed = await confirm(session, pipelines, unsettled, sample);
  const open = unsettled.filter(({ column }) => !confirmed.has(column));
  const stats = new Map([...sample, ...(await classify(session, pipelines, open, sample))]);
  const counted = fields.filter(
    ({ column, form }, index) => !isDeclared(form) && needsDigits(stats.get(column)?.classes ?? 0, byName.get(nameOf(index).toLowerCase())),
  );
  await countDigits(session, pipelines, counted, stats);

  const columns: ColumnState[] = [];
  const report: ColumnReport[] = [];
  const values: string[] = [];
  const odd: { field: BronzeField; name: string; predicate: string; at: number }[] = [];
  fields.forEach((field, index) => {
    const stat = stats.get(field.column) ?? { classes: 0, kinds: { n: 0, s: 0, b: 0, j: 0 }, digits: NONE };
    const name = nameOf(index);
    const before = byName.get(name.toLowerCase());
    const present = stat.classes !== 0;
    const exact = (stat.classes & TEXT_CLASSES.bigint) === 0;
    const own = ownClasses(field, stat, before);
    let type: ColumnType;
    if (isDeclared(field.form)) type = before ? (present ? joinDeclared(before, field.form) : before.type) : field.form;
    else if (before) type = widenType(before, own, stat.digits);
    else type = inferType(own, stat.digits) ?? { kind: 'string' };
    const key = names[index]?.key ?? name;
    columns.push({
      name,
      type,
      nullable: true,
      origin,
      originalKey: key === name ? undefined : key,
      hasValues: present || (before?.hasValues ?? false),
      exactDouble: (before?.exactDouble ?? true) && exact,
    });
    const widened = before?.hasValues === true && present && !sameType(before.type, type);
    report.push({ name, originalKey: key, type: typeText(type), ...(widened ? { widenedFrom: typeText(before.type) } : {}), oddValues: 0 });
    if (!present) return;
    const allowed = fittingClasses(type);
    const predicate = fits(field, type);
    const clean =
      predicate === null ||
      (!isDeclared(field.form) && type.kind !== 'decimal' && allowed !== null && (stat.classes & ~(allowed | TEXT_CLASSES.empty)) === 0);
    if (clean) values.push(`${converted(field, type)} as ${quote(name)}`);
    else odd.push({ field, name, predicate, at: index });
  });

  const counts = await countOdd(session, pipelines, odd);
  for (const { field, name, predicate, at } of odd) {
    const column = columns[at];
    const count = counts.get(name) ?? 0;
    if (!column) continue;
    if (count === 0) {
      values.push(`${converted(field, column.type)} as ${quote(name)}`);
      continue;
    }
    const raw = textOf(field);
    const safe = `try_cast(${raw} as ${physicalType(column.type)})`;
    values.push(`case when ${predicate} then ${safe} end as ${quote(name)}`);
    values.push(`case when ${raw} <> '' and not coalesce(${predicate}, false) then ${raw} end as ${quote(oddTextColumn(name))}`);
    columns.push({
      name: oddTextColumn(name),
      type: { kind: 'string' },
      nullable: true,
      origin,
      hasValues: true,
      exactDouble: true,
    });
    const line = report[at];
    if (line) line.oddValues = count;
  }
  requireRoom(byName, columns);
  return { columns, report, values: values.join(', ') };
}

/** Refuses a file whose columns a table cannot hold beside those that it has. */
export function requireRoom(known: ReadonlyMap<string, unknown>, columns: readonly ColumnState[]): void {
  const total = new Set([...known.keys(), ...columns.map(({ name }) => name.toLowerCase())]).size;
  if (total > MAX_COLUMNS)
    throw new FileRefused('too_many_columns', `The table would have ${total} columns; a table holds at most ${MAX_COLUMNS}.`);
}

async function countOdd(
  session: StagingSession,
  pipelines: Pipelines,
  odd: readonly { field: BronzeField; name: string; predicate: string }[],
) {
  const counts = new Map<string, number>();
  for (let at = 0; at < odd.length; at += BATCH) {
    const batch = odd.slice(at, at + BATCH);
    const classes = batch.map(
      ({ field, predicate }, index) => `count(*) filter (where ${textOf(field)} <> '' and not coalesce(${predicate}, false)) as o${index}`,
    );
    const [row = {}] = await session.rows(fill(pipelines.uploadedClasses, { classes: classes.join(', '), limit: '' }));
    batch.forEach(({ name }, index) => counts.set(name, Number(row[`o${index}`] ?? 0)));
  }
  return counts;
}
