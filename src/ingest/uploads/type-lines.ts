/** Types the records of a JSON file whose values have been looked at already, and points the engine's JSON reader at them. */
import type { ColumnType } from '../../lakehouse/terms/catalog.ts';
import type { ColumnState } from '../../lakehouse/tables/manifest.ts';
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import { printPhysicalType } from '../../lakehouse/terms/physical-types.ts';
import { quoteName, quoteText } from '../../lakehouse/terms/quoting.ts';
import { printType } from '../../lakehouse/terms/types.ts';
import { nameColumns, nameOddColumn } from '../typing/columns.ts';
import { NotPlain, type KeyStats } from './read/json-lines.ts';
import { fill, setVariable, type Pipelines } from '../pipeline.ts';
import type { BronzeSource } from './sources.ts';
import {
  requireRoom,
  KIND_CLASSES,
  makeOddColumn,
  pickClassesOfKind,
  isSameType,
  type ColumnReport,
  type TypedFile,
} from '../typing/decide.ts';
import { NONE, type BronzeField } from '../typing/classes.ts';
import { listFittingClasses, inferType, needsDigits, widenType } from '../typing/types.ts';
import { TEXT_CLASSES } from '../value-classes.ts';

const LEAST_OBJECT_SIZE = 4_194_304;
const NUMBER = (column: string) => `json_type(${column}) in ('BIGINT', 'UBIGINT', 'DOUBLE')`;

/** How a key is read: the type that the JSON reader gives it, the expression of its column, and that of the odd values beside it. */
interface Reading {
  type: string;
  value: string;
  odd?: { text: string; count: number };
}

/** Prints how a key is read. Throws NotPlain where only the long way tells its values apart, or keeps as text what is no string. */
function readingOf(column: string, { classes, n, s, b, j, empty }: KeyStats, type: ColumnType): Reading {
  const physical = printPhysicalType(type);
  const all = n + s + b + j;
  const isNumber = type.kind === 'int' || type.kind === 'bigint' || type.kind === 'double';
  if (isNumber || type.kind === 'boolean') {
    const fitting = listFittingClasses(type) ?? 0;
    if (isNumber && (classes & KIND_CLASSES.n & ~fitting) !== 0) throw new NotPlain();
    const own = isNumber ? n : b;
    if (own === all) return { type: physical, value: column };
    if (j > 0 || (n > 0 && !isNumber)) throw new NotPlain();
    const fits = isNumber ? NUMBER(column) : `json_type(${column}) = 'BOOLEAN'`;
    // in brackets, because of all operators the arrow binds least
    const sent = `(${column} ->> '$')`;
    const text = `case when not (${fits}) and ${sent} <> '' then ${sent} end`;
    return {
      type: 'JSON',
      value: `case when ${fits} then cast(${column} as ${physical}) end`,
      odd: { text, count: all - own - empty },
    };
  }
  // the engine spells a number its own way where it becomes text (12.0, 1e-05)
  if (type.kind === 'string' && n + j > 0) throw new NotPlain();
  if (type.kind === 'string') return { type: 'VARCHAR', value: column };
  if (type.kind === 'variant') return { type: 'JSON', value: column };
  const allowed = listFittingClasses(type);
  if (allowed === null || (classes & ~(allowed | TEXT_CLASSES.empty)) !== 0) throw new NotPlain();
  return { type: 'VARCHAR', value: `cast(nullif(${column}, '') as ${physical})` };
}

/** The type of one key's column, against the column that the table has. */
function typeOf(field: BronzeField, stats: KeyStats, before: ColumnState | undefined): ColumnType {
  if (needsDigits(stats.classes, before)) throw new NotPlain();
  const own = pickClassesOfKind(field, { classes: stats.classes, kinds: stats, digits: NONE }, before);
  const type = before ? widenType(before, own, NONE) : (inferType(own, NONE) ?? { kind: 'string' });
  if (type.kind === 'decimal' || type.kind === 'struct' || type.kind === 'array') throw new NotPlain();
  return type;
}

/** Decides the types, prints how to read them, and makes `bronze_records`. Throws NotPlain, before anything is read, when the long way is needed. */
export async function decideLineTypes(
  session: StagingSession,
  pipelines: Pipelines,
  { fields, lines }: BronzeSource,
  known: readonly ColumnState[],
): Promise<TypedFile> {
  if (!lines) throw new Error('the source holds no lines');
  const byName = new Map(known.map((column) => [column.name.toLowerCase(), column]));
  const columns: ColumnState[] = [];
  /** Columns of odd values, which come after all others. */
  const beside: ColumnState[] = [];
  const report: ColumnReport[] = [];
  const values: string[] = [];
  const read: { column: string; key: string; type: string }[] = [];
  for (const [index, { key, name: given }] of nameColumns(
    fields.map((field) => field.key),
    { known },
  ).entries()) {
    const field = fields[index];
    const stats = field && lines.stats.get(field.column);
    if (!field || !stats) continue;
    const before = byName.get(given.toLowerCase());
    const name = before?.name ?? given;
    const isPresent = stats.classes !== 0;
    const type = typeOf(field, stats, before);
    const base = { nullable: true, origin: 'uploaded' as const, exactDouble: before?.exactDouble ?? true };
    const originalKey = key === name ? undefined : key;
    columns.push({ ...base, name, type, originalKey, hasValues: isPresent || (before?.hasValues ?? false) });
    const isWidened = before?.hasValues === true && isPresent && !isSameType(before.type, type);
    const line: ColumnReport = { name, originalKey: key, type: printType(type), oddValues: 0 };
    if (isWidened && before) line.widenedFrom = printType(before.type);
    report.push(line);
    const reading = isPresent ? readingOf(field.column, stats, type) : undefined;
    // read in any case: a key that comes twice in one record is found by its column
    read.push({ column: field.column, key: stats.key, type: reading?.type ?? 'VARCHAR' });
    if (!reading) continue;
    values.push(`${reading.value} as ${quoteName(name)}`);
    if (!reading.odd || reading.odd.count === 0) continue;
    line.oddValues = reading.odd.count;
    values.push(`${reading.odd.text} as ${quoteName(nameOddColumn(name))}`);
    beside.push(makeOddColumn(name, 'uploaded'));
  }
  columns.push(...beside);
  requireRoom(byName, columns);
  await session.prepare([
    setVariable('records', lines.path),
    fill(pipelines.uploadedLines, {
      columns: read.map(({ key, column }) => `, ${quoteName(key)} as ${column}`).join(''),
      types: read.map(({ key, type }) => `, ${quoteText(key)}: '${type}'`).join(''),
      longest: String(Math.max(LEAST_OBJECT_SIZE, lines.longest)),
    }),
  ]);
  return { columns, report, values: values.join(', ') };
}
