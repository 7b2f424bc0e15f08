/** Reads the columns of a Parquet file that the engine wrote from its footer. */
import {
  makeArray,
  BIGINT,
  BOOLEAN,
  DATE,
  makeDecimal,
  DOUBLE,
  INT,
  STRING,
  TIMESTAMP,
  TIMESTAMP_NTZ,
  VARIANT,
  type ColumnType,
} from '../../terms/catalog.ts';
import type { PhysicalColumn } from '../../terms/warehouse.ts';
import { findBytes, findField, findNumber, listStructs, type ThriftStruct } from './thrift-compact.ts';

// numbers of fields in the format's own definition
const FILE = { schema: 2 };
const ELEMENT = { type: 1, name: 4, children: 5, converted: 6, scale: 7, precision: 8, logical: 10 };
const LOGICAL = { timestamp: 8 };
const TIMESTAMP_TYPE = { isInstant: 1 };
const [BOOLEAN_BYTES, INT32, INT64, DOUBLE_BYTES, BYTES, FIXED_BYTES] = [0, 1, 2, 5, 6, 7];
const CONVERTED = { list: 3, decimal: 5, date: 6, timestampMicros: 10, json: 19 };

const nameOf = (element: ThriftStruct): string => {
  const name = findBytes(element, ELEMENT.name);
  if (!name) throw new Error('A column of the Parquet file has no name.');
  return name.toString();
};

/** Whether a time is an instant; otherwise it is the time that a clock on a wall shows. */
const isInstant = (element: ThriftStruct): boolean => {
  const logical = findField(element, ELEMENT.logical)?.value;
  const time = Array.isArray(logical) ? findField(logical, LOGICAL.timestamp)?.value : undefined;
  return Array.isArray(time) && findField(time, TIMESTAMP_TYPE.isInstant)?.value === true;
};

function leafType(element: ThriftStruct): ColumnType {
  const converted = findNumber(element, ELEMENT.converted);
  if (converted === CONVERTED.decimal)
    return makeDecimal(findNumber(element, ELEMENT.precision) ?? 0, findNumber(element, ELEMENT.scale) ?? 0);
  switch (findNumber(element, ELEMENT.type)) {
    case BOOLEAN_BYTES:
      return BOOLEAN;
    case INT32:
      return converted === CONVERTED.date ? DATE : INT;
    case INT64:
      if (converted === CONVERTED.timestampMicros) return isInstant(element) ? TIMESTAMP : TIMESTAMP_NTZ;
      return BIGINT;
    case DOUBLE_BYTES:
      return DOUBLE;
    case BYTES:
    case FIXED_BYTES:
      return converted === CONVERTED.json ? VARIANT : STRING;
    case undefined:
    default:
      throw new Error(`The column ${nameOf(element)} of the Parquet file is of a type that the lake does not have.`);
  }
}

/** Reads columns from the elements of a schema. Each element stands before its children. */
function* columnsFrom(elements: Iterator<ThriftStruct, undefined>, count: number): Generator<PhysicalColumn> {
  for (let left = count; left > 0; left -= 1) {
    const element = elements.next().value;
    if (!element) throw new Error('The schema of the Parquet file ends too early.');
    const name = nameOf(element);
    const children = findNumber(element, ELEMENT.children);
    if (children === undefined) {
      yield { name, type: leafType(element) };
      continue;
    }
    const inner = [...columnsFrom(elements, children)];
    if (findNumber(element, ELEMENT.converted) !== CONVERTED.list) yield { name, type: { kind: 'struct', fields: inner } };
    else {
      // a list is a group that holds a repeated group, which holds the element
      const [repeated] = inner;
      const [held] = repeated?.type.kind === 'struct' ? repeated.type.fields : [];
      if (!held) throw new Error(`The list ${name} of the Parquet file is not described.`);
      yield { name, type: makeArray(held.type) };
    }
  }
}

/** The columns of a file, in order. Throws on a type that the writing engine does not make. */
export function listColumns(footer: ThriftStruct): PhysicalColumn[] {
  const elements = listStructs(footer, FILE.schema).values() as Iterator<ThriftStruct, undefined>;
  const root = elements.next().value;
  return root ? [...columnsFrom(elements, findNumber(root, ELEMENT.children) ?? 0)] : [];
}
