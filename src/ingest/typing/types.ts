import type { ColumnType } from '../../lakehouse/terms/catalog.ts';
import { NUMBER_CLASSES as NUMBERS, TEXT_CLASSES } from '../value-classes.ts';

const C = TEXT_CLASSES;
const within = (classes: number, allowed: number) => (classes & ~(allowed | C.empty)) === 0;

/** Digits before and after the point, over all plain numbers of a column. */
export interface Digits {
  whole: number;
  part: number;
}

/** Whether the digits have to be counted, because they decide between DECIMAL and another type. */
export const needsDigits = (classes: number, known?: KnownColumn): boolean => {
  const numbers = classes & NUMBERS;
  if (known?.hasValues === true && !known.exactDouble && known.type.kind === 'bigint' && (numbers & C.double) !== 0) return true;
  return (numbers & C.decimal) !== 0 || ((numbers & C.bigint) !== 0 && (numbers & C.double) !== 0);
};

function numberType(classes: number, digits: Digits): ColumnType | undefined {
  const numbers = classes & NUMBERS;
  if (numbers === 0) return undefined;
  if (needsDigits(numbers)) return digits.whole + digits.part <= 38 ? { kind: 'decimal', precision: 38, scale: digits.part } : undefined;
  if ((numbers & C.double) !== 0) return { kind: 'double' };
  return { kind: (numbers & (C.long | C.bigint)) === 0 ? 'int' : 'bigint' };
}

/** Infers the type of a new column from all its values. It is text unless every non-empty value converts without loss. Undefined: there is no value at all. */
export function inferType(classes: number, digits: Digits): ColumnType | undefined {
  const kinds = classes & ~C.empty;
  if (kinds === C.boolean) return { kind: 'boolean' };
  if (kinds === C.nested) return { kind: 'variant' };
  if (kinds === 0) return classes === 0 ? undefined : { kind: 'string' };
  if (within(classes, NUMBERS)) return numberType(classes, digits) ?? { kind: 'string' };
  if (kinds === C.date) return { kind: 'date' };
  if (kinds === C.instant) return { kind: 'timestamp' };
  if (kinds === C.localTime) return { kind: 'timestamp_ntz' };
  return { kind: 'string' };
}

export interface KnownColumn {
  type: ColumnType;
  hasValues: boolean;
  exactDouble: boolean;
}

const decimalHolds = (scale: number) => 38 - scale >= 19;

/**
 * Answers the type of an existing column after values of these classes join it. The column widens where a wider type holds old and new values, and otherwise
 * keeps its type.
 */
export function widenType(known: KnownColumn, classes: number, digits: Digits): ColumnType {
  const { type, hasValues, exactDouble } = known;
  const alone = inferType(classes, digits);
  if (alone === undefined) return type;
  if (!hasValues) return alone;
  const number = numberType(classes, digits);
  if (type.kind === 'int' || type.kind === 'bigint') {
    if (number?.kind === 'bigint') return number;
    if (number?.kind === 'double' && (type.kind === 'int' || exactDouble)) return number;
    const decimal =
      number?.kind === 'double' && digits.whole + digits.part <= 38
        ? { kind: 'decimal' as const, precision: 38, scale: digits.part }
        : number;
    if (decimal?.kind === 'decimal' && decimalHolds(decimal.scale)) return decimal;
    return type;
  }
  if (type.kind === 'date' && (classes & C.localTime) !== 0) return { kind: 'timestamp_ntz' };
  return type;
}

/** Answers the classes whose values a column of this type stores as they are. Null: every text fits. 0 for DECIMAL, where each value decides. */
export function listFittingClasses(type: ColumnType): number | null {
  switch (type.kind) {
    case 'int':
      return C.int;
    case 'bigint':
      return C.int | C.long | C.bigint;
    case 'double':
      return C.int | C.long | C.double;
    case 'decimal':
      return 0;
    case 'date':
      return C.date;
    case 'timestamp':
      return C.instant;
    case 'timestamp_ntz':
      return C.localTime | C.date;
    case 'boolean':
      return C.boolean;
    case 'variant':
    case 'struct':
    case 'array':
      return 0;
    case 'string':
      return null;
  }
}
