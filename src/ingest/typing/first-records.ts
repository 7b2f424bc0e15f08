/**
 * The quick way to type text. The first records say which type each column has. The pass that stores the rows, which is the only one over the file, checks
 * whether every value agrees. Where a value does not agree, that pass ends with an error and the file is typed the long way (`decideFileTypes` in decide.ts).
 */
import type { ColumnType } from '../../lakehouse/terms/catalog.ts';
import type { ColumnState } from '../../lakehouse/tables/manifest.ts';
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import { printPhysicalType } from '../../lakehouse/terms/physical-types.ts';
import { quoteName } from '../../lakehouse/terms/quoting.ts';
import { fill, type Pipelines } from '../pipeline.ts';
import { TEXT_CLASSES } from '../value-classes.ts';
import { printCastable, decideTypes, requireRoom, isSameType, type PresentColumn, type TypedFile } from './decide.ts';
import { classify, isDeclared, type BronzeField, type Stats } from './classes.ts';

const C = TEXT_CLASSES;

/** The engine's error at a value that does not agree with the first ones. */
export const DISAGREES = 'a value is of another kind than the first ones';

/** Answers the classes of values that leave a column of this type as it is. */
const companions = ({ kind }: ColumnType): number =>
  C.empty | (kind === 'double' ? C.int | C.long | C.double : kind === 'bigint' ? C.int | C.long : 0);

/** Prints trial casts of a column, and the test that a cast gives the value that was sent. Null: the type has no such test. */
function trialOf(column: string, type: ColumnType, classes: number): { tries: string[]; hit: string; value: string } | null {
  const tried = `${column}_tried`;
  const tries = [`try_cast(${column} as ${printPhysicalType(type)}) as ${tried}`];
  const asPrinted = `${tried}::varchar = ${column}`;
  const bounded = (classes & C.bigint) === 0 ? ` and ${tried} between -9007199254740992 and 9007199254740992` : '';
  const hits: Partial<Record<ColumnType['kind'], string>> = {
    int: asPrinted,
    bigint: asPrinted + bounded,
    double: `isfinite(${tried}) and ${asPrinted}`,
    date: `length(${column}) = 10 and ${asPrinted}`,
    timestamp: `${tried} is not null and looks_like_instant(${column})`,
    timestamp_ntz: `${tried} is not null and looks_like_local_time(${column})`,
  };
  const hit = hits[type.kind];
  return hit === undefined ? null : { tries, hit, value: tried };
}

/** Prints how a column is read: a value, or an error where it does not agree. Undefined where only a look at every value beforehand tells the type. */
function checked({ field, type }: PresentColumn, { classes }: Stats): { tries: string[]; value: string } | undefined {
  const { column, form, read } = field;
  if (!read || read.reading.odd > 0) return undefined;
  if (type.kind === 'string') return read.reading.form === 'text' ? { tries: [], value: column } : undefined;
  if (isDeclared(form)) {
    const value = `case when ${column} is null and not is_unsaid(${read.sent}) then error('${DISAGREES}') else ${column} end`;
    return isSameType(form, type) ? { tries: [], value } : undefined;
  }
  const allowed = classes | companions(type);
  const trial = trialOf(column, type, allowed);
  if (!trial) return undefined;
  // a test of its own is quicker for a 5 among fractions
  const whole = type.kind === 'double' && (classes & C.int) !== 0 ? `when ${column}_whole::varchar = ${column} then ${column}_whole ` : '';
  // numbers (1.50, 1e-7) and instants can be spelled in another way; these functions are large, so that to plan them takes a while
  const closer: Partial<Record<ColumnType['kind'], string>> = {
    double: `(text_class(${column}) & ${allowed}) <> 0`,
    timestamp: `is_instant(${column})`,
  };
  const test = closer[type.kind];
  const others = test === undefined ? '' : `when ${test} then cast(${printCastable(field, type)} as ${printPhysicalType(type)}) `;
  return {
    tries: whole === '' ? trial.tries : [...trial.tries, `try_cast(${column} as integer) as ${column}_whole`],
    value: `case when ${trial.hit} then ${trial.value} ${whole}when nullif(${column}, '') is null then null ${others}else error('${DISAGREES}') end`,
  };
}

/**
 * Types the columns of a delimited file by its first records, and makes `silver_values`, which checks them. Undefined where the first records are not enough.
 */
export async function decideTypesAsBegun(
  session: StagingSession,
  pipelines: Pipelines,
  fields: readonly BronzeField[],
  known: readonly ColumnState[],
): Promise<TypedFile | undefined> {
  const { stats: first } = await classify(session, pipelines, fields);
  const { columns, report, present } = decideTypes(fields, first, known);
  const read = present.map((column) => {
    const stats = first.get(column.field.column);
    const how = column.isClean && stats ? checked(column, stats) : undefined;
    return how && { ...how, name: column.name };
  });
  const [begin] = read;
  if (!begin || read.includes(undefined)) return undefined;
  requireRoom(known, columns);

  const held = new Set(present.map(({ at }) => at));
  const absent = fields.filter((_, at) => !held.has(at)).map(({ column }) => `${column} is not null`);
  if (absent.length > 0) begin.value = `case when ${absent.join(' or ')} then error('${DISAGREES}') else ${begin.value} end`;
  const values = read.flatMap((one) => (one ? [`${one.value} as ${quoteName(one.name)}`] : [])).join(', ');
  const tries = read.flatMap((one) => one?.tries ?? []).join(', ');
  await session.prepare([fill(pipelines.uploadedChecked, { values, tries: tries === '' ? '0 as fieldlake_tried' : tries })]);
  return { columns, report, values };
}
