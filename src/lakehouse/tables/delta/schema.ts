/** A lake table's columns in Delta's words, and how they change from version to version. */
import { listFixedColumns, listPhysicalColumns, type ColumnType, type TableKind } from '../../terms/catalog.ts';
import { parseType, printType } from '../../terms/types.ts';
import type { PhysicalColumn } from '../../terms/warehouse.ts';

/** What a reader must know beyond the oldest tables of all. */
export type DeltaFeature = 'timestampNtz' | 'columnMapping';

/** A column of a log: the id is its own for as long as the table lives, and those after it are of the fields within. */
interface LoggedColumn {
  name: string;
  /** As `printType` says it. */
  type: string;
  id: number;
}

/** What a table's log has said so far of its columns; kept with the table. */
export interface LogState {
  columns: readonly LoggedColumn[];
  features: readonly DeltaFeature[];
  greatestId: number;
}

type FieldMetadata = Readonly<Record<string, string | number>>;

interface DeltaField {
  name: string;
  type: DeltaType;
  nullable: true;
  metadata: FieldMetadata;
}

type DeltaType = string | { type: 'struct'; fields: DeltaField[] } | { type: 'array'; elementType: DeltaType; containsNull: true };

/** Names that Delta takes only with its column mapping. */
const NEEDS_MAPPING = /[ ,;{}()\n\t=]/;

const hasKind = (type: ColumnType, kind: ColumnType['kind']): boolean =>
  type.kind === kind ||
  (type.kind === 'struct' && type.fields.some((field) => hasKind(field.type, kind))) ||
  (type.kind === 'array' && hasKind(type.element, kind));

const needsMapping = ({ name, type }: PhysicalColumn): boolean =>
  NEEDS_MAPPING.test(name) ||
  (type.kind === 'struct' && type.fields.some(needsMapping)) ||
  (type.kind === 'array' && needsMapping({ name: '', type: type.element }));

/** How many fields lie within a type. */
const fieldsWithin = (type: ColumnType): number => {
  if (type.kind === 'array') return fieldsWithin(type.element);
  return type.kind === 'struct' ? type.fields.reduce((sum, field) => sum + 1 + fieldsWithin(field.type), 0) : 0;
};

/** Two types that Delta cannot tell apart: JSON text is text. */
const isSame = (one: ColumnType, other: ColumnType): boolean => JSON.stringify(deltaType(one)) === JSON.stringify(deltaType(other));

/** The ids of fields, drawn as they are come by; none where the names need no mapping. */
class Mapping {
  #next: number;
  readonly #isMapped: boolean;
  constructor(isMapped: boolean, first: number) {
    this.#isMapped = isMapped;
    this.#next = first;
  }

  of(name: string): FieldMetadata {
    const id = this.#next++;
    return this.#isMapped ? { 'delta.columnMapping.id': id, 'delta.columnMapping.physicalName': name } : {};
  }
}

function deltaType(type: ColumnType, mapping = new Mapping(false, 0)): DeltaType {
  switch (type.kind) {
    case 'int':
      return 'integer';
    case 'bigint':
      return 'long';
    case 'variant':
      return 'string';
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'struct':
      return { type: 'struct', fields: type.fields.map((field) => deltaField(field, mapping)) };
    case 'array':
      return { type: 'array', elementType: deltaType(type.element, mapping), containsNull: true };
    case 'boolean':
    case 'double':
    case 'string':
    case 'date':
    case 'timestamp':
    case 'timestamp_ntz':
      return type.kind;
  }
}

function deltaField({ name, type }: PhysicalColumn, mapping: Mapping): DeltaField {
  const metadata = mapping.of(name);
  return { name, type: deltaType(type, mapping), nullable: true, metadata };
}

/** A column whose older values have another type in their files, which no reader of the log could read. */
export class TypesDiffer extends Error {}

/** What stays of a table in a change. */
interface Kept {
  /** Files of earlier versions stay, and so do their columns. */
  files: boolean;
  /** Names, in lower case, of columns whose type is another from now on, or that are gone: files that held them were written anew. */
  retyped: ReadonlySet<string>;
}

/** What a log says at its beginning: the columns that every table of the kind has, whether the first files hold them or not. */
export const makeFirstState = (kind: TableKind): LogState =>
  makeNextState({ columns: [], features: [], greatestId: 0 }, [listPhysicalColumns(listFixedColumns(kind))], {
    files: true,
    retyped: new Set(),
  });

/** What the log says from a version on. Throws TypesDiffer where a new file has another type of a column that kept files may hold. */
export function makeNextState(before: LogState, added: readonly (readonly PhysicalColumn[])[], kept: Kept): LogState {
  const known = new Map(before.columns.map((column) => [column.name.toLowerCase(), column]));
  const columns = new Map<string, LoggedColumn>(kept.files ? [...known].filter(([name]) => !kept.retyped.has(name)) : []);
  const features = new Set(before.features);
  let greatestId = before.greatestId;
  for (const column of added.flat()) {
    const key = column.name.toLowerCase();
    const there = columns.get(key);
    if (there && !isSame(parseType(there.type), column.type))
      throw new TypesDiffer(`the column ${column.name} is ${there.type} in older files and ${printType(column.type)} in a new one`);
    if (there) continue;
    const former = known.get(key);
    const isFormer = former?.name === column.name && isSame(parseType(former.type), column.type);
    columns.set(key, isFormer ? former : { name: column.name, type: printType(column.type), id: greatestId + 1 });
    if (!isFormer) greatestId += 1 + fieldsWithin(column.type);
    if (hasKind(column.type, 'timestamp_ntz')) features.add('timestampNtz');
    if (needsMapping(column)) features.add('columnMapping');
  }
  return { columns: [...columns.values()], features: [...features].sort(), greatestId };
}

/** The type of each column, by name. */
export const listTypes = (state: LogState): ReadonlyMap<string, ColumnType> =>
  new Map(state.columns.map(({ name, type }) => [name, parseType(type)]));

/** A reader opens at most so many entries behind a checkpoint. */
export const CHECKPOINT_EVERY = 50;

/** How many days outsiders may read an older version; longer than we keep any, since Spark refuses those that its own count calls expired. */
const OUTSIDERS_DAYS = 60;

/** The schema as a log prints it, and what a reader is told beside it. */
export function describeState({ columns, features, greatestId }: LogState): {
  schemaString: string;
  configuration: Record<string, string>;
  protocol: Record<string, number | readonly string[]>;
} {
  const isMapped = features.includes('columnMapping');
  const fields = columns.map(({ name, type, id }) => deltaField({ name, type: parseType(type) }, new Mapping(isMapped, id)));
  return {
    schemaString: JSON.stringify({ type: 'struct', fields }),
    configuration: {
      'delta.deletedFileRetentionDuration': `interval ${OUTSIDERS_DAYS} days`,
      'delta.logRetentionDuration': `interval ${OUTSIDERS_DAYS} days`,
      ...(isMapped ? { 'delta.columnMapping.mode': 'name', 'delta.columnMapping.maxColumnId': String(greatestId) } : {}),
    },
    protocol:
      features.length === 0
        ? { minReaderVersion: 1, minWriterVersion: 7, writerFeatures: [] }
        : { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: features, writerFeatures: features },
  };
}
