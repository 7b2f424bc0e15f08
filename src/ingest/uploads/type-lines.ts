/** Types the records of a JSON file whose values have been looked at already, and points the engine's JSON reader at them. */
import type { ColumnType } from '../../lakehouse/terms/catalog.ts';
import type { ColumnState } from '../../lakehouse/tables/manifest.ts';
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import { printPhysicalType } from '../../lakehouse/terms/physical-types.ts';
import { quoteName, quoteText } from '../../lakehouse/terms/quoting.ts';
import { nameOddColumn } from '../typing/columns.ts';
import { NotPlain, type KeyStats } from './read/json-lines.ts';
import { fill, setVariable, type Pipelines } from '../pipeline.ts';
import type { BronzeSource } from './sources.ts';
import { decideTypes, requireRoom, makeOddColumn, type TypedFile } from '../typing/decide.ts';
import { NONE } from '../typing/classes.ts';
import { listFittingClasses } from '../typing/types.ts';
import { NUMBER_CLASSES, TEXT_CLASSES } from '../value-classes.ts';

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
    if (isNumber && (classes & NUMBER_CLASSES & ~fitting) !== 0) throw new NotPlain();
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

/** Decides the types, prints how to read them, and makes `bronze_records`. Throws NotPlain, before anything is read, when the long way is needed. */
export async function decideLineTypes(
  session: StagingSession,
  pipelines: Pipelines,
  { fields, lines }: BronzeSource,
  known: readonly ColumnState[],
): Promise<TypedFile> {
  if (!lines) throw new Error('the source holds no lines');
  const kinds = new Map([...lines.stats].map(([column, stats]) => [column, { classes: stats.classes, kinds: stats, digits: NONE }]));
  const { columns, report, present } = decideTypes(fields, kinds, known);
  if (columns.some(({ type: { kind } }) => kind === 'decimal' || kind === 'struct' || kind === 'array')) throw new NotPlain();
  const values: string[] = [];
  // read in any case: a key that comes twice in one record is found by its column
  const types = fields.map(() => 'VARCHAR');
  for (const { field, name, type, at } of present) {
    const [stats, line] = [lines.stats.get(field.column), report[at]];
    if (!stats || !line) continue;
    const reading = readingOf(field.column, stats, type);
    types[at] = reading.type;
    values.push(`${reading.value} as ${quoteName(name)}`);
    if (!reading.odd || reading.odd.count === 0) continue;
    line.oddValues = reading.odd.count;
    values.push(`${reading.odd.text} as ${quoteName(nameOddColumn(name))}`);
    columns.push(makeOddColumn(name, 'uploaded'));
  }
  requireRoom(known, columns);
  await session.prepare([
    setVariable('records', lines.path),
    fill(pipelines.uploadedLines, {
      columns: fields.map(({ key, column }) => `, ${quoteName(key)} as ${column}`).join(''),
      types: fields.map(({ key }, at) => `, ${quoteText(key)}: '${types[at]}'`).join(''),
      longest: String(Math.max(LEAST_OBJECT_SIZE, lines.longest)),
    }),
  ]);
  return { columns, report, values: values.join(', ') };
}
