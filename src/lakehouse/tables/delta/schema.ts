/** Describes a lake table's columns as Delta does, and how they change from version to version. */
import { listFixedColumns, listPhysicalColumns, type ColumnType, type TableKind } from '../../terms/catalog.ts';
import { parseType, printType } from '../../terms/types.ts';
import type { PhysicalColumn } from '../../terms/warehouse.ts';

/** A feature that a reader of a table must support, beyond what Delta's first protocol had. */
export type DeltaFeature = 'timestampNtz' | 'columnMapping';

/** A column of a log. Its id stays the same for as long as the table lives. The ids that follow belong to the fields within the column. */
interface LoggedColumn {
  name: string;
  /** The type as `printType` prints it. */
  type: string;
  id: number;
}

/** What a table's log has said so far of its columns. It is kept in the table's row. */
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

/** Whether Delta cannot tell two types apart: JSON text, for instance, is text. */
const isSame = (one: ColumnType, other: ColumnType): boolean => JSON.stringify(deltaType(one)) === JSON.stringify(deltaType(other));

/** Gives each field the next id. Gives none where the names need no mapping. */
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

/** The error for a column that has another type in older files. No reader of the log could read those. */
class TypesDiffer extends Error {}

/** What a change leaves of a table. */
interface Kept {
  /** Whether files of earlier versions stay, and their columns with them. */
  files: boolean;
  /** Names, in lower case, of columns that get another type or go away. Files that held them are written anew. */
  retyped: ReadonlySet<string>;
}

/** Makes the first state of a log: it has every column of the kind, even where the first files do not hold it. */
export const makeFirstState = (kind: TableKind): LogState =>
  makeNextState({ columns: [], features: [], greatestId: 0 }, [listPhysicalColumns(listFixedColumns(kind))], {
    files: true,
    retyped: new Set(),
  });

/** Makes the state of the log from a version on. Throws TypesDiffer when a new file has a column in another type than files that stay may hold. */
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

export const listTypes = (state: LogState): ReadonlyMap<string, ColumnType> =>
  new Map(state.columns.map(({ name, type }) => [name, parseType(type)]));

/** How many versions lie from one checkpoint to the next. A reader opens fewer entries than this behind a checkpoint. */
export const CHECKPOINT_EVERY = 50;

/**
 * How many days other readers may read an older version. It must be longer than we keep any version: Spark counts for itself, and refuses a version that it
 * takes for expired.
 */
const OUTSIDERS_DAYS = 60;

/** Describes a state as a log prints it: the schema, the configuration and the protocol. */
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
