/**
 * Recognises filters that keep certain values of one column. The manifest notes how many rows of a file have each value, so it knows how many rows they keep.
 */
import type { Column, ColumnType } from './catalog.ts';
import type { Expr, Scalar } from './plan.ts';
import { printType } from './types.ts';

/** A filter that keeps the rows with one of these values in a column. */
export interface KeptValues {
  column: string;
  /** `printType` of the column. */
  type: string;
  /** The values as `printValue` writes them, each once. */
  texts: readonly string[];
  /** Whether rows without a value count as having one of the values. */
  nulls: boolean;
  /** Whether the filter keeps all other rows instead. */
  negated: boolean;
}

const KINDS: readonly ColumnType['kind'][] = ['string', 'boolean', 'int', 'bigint', 'double', 'date'];

/** Whether values of a column of this type have a text that is the same for equal values, and for no others. */
export const hasValueText = ({ kind }: ColumnType): boolean => KINDS.includes(kind);

/** Names the order in which the texts of a type's values stand as the values do. Null where a value may have no text. */
export const findTextOrder = ({ kind }: ColumnType): 'number' | 'text' | null => {
  if (kind === 'int' || kind === 'bigint') return 'number';
  return kind === 'string' || kind === 'boolean' ? 'text' : null;
};

/** Prints the text under which rows of a value are counted; null where the value has none. A number has the same text whoever writes it: zero has no sign. */
export const printValue = (value: Scalar | null, type: ColumnType): string | null => {
  if (value === null) return null;
  switch (type.kind) {
    case 'string':
      return typeof value === 'string' && !value.includes('\0') && value.isWellFormed() ? value : null;
    case 'boolean':
      return String(value);
    case 'int':
    case 'bigint':
      return /^-?\d+$/.test(String(value)) ? String(BigInt(value)) : null;
    case 'double':
      return Number.isFinite(Number(value)) ? String(Number(value)) : null;
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(String(value)) ? String(value) : null;
    case 'decimal':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'variant':
    case 'struct':
    case 'array':
      return null;
  }
};

type Said = Pick<KeptValues, 'nulls' | 'negated'> & { of: Expr; values: readonly Expr[] };

const said = (where: Expr): Said | null => {
  if (where.kind === 'missing') return { of: where.of, values: [], nulls: true, negated: where.negated };
  // a filter that excludes values keeps rows without a value
  if (where.kind === 'in') return { of: where.of, values: where.values, nulls: false, negated: where.negated };
  if (where.kind !== 'compare' || (where.how !== 'equals' && where.how !== 'differs')) return null;
  return { of: where.left, values: [where.right], nulls: false, negated: where.how === 'differs' };
};

/** Reads a filter as a list of values of one stored column that rows must have, or must not have. Null for any other filter. */
export const findKeptValues = (where: Expr | null, columns: readonly Column[]): KeptValues | null => {
  const found = where && said(where);
  if (!found || found.of.kind !== 'column') return null;
  const { name } = found.of;
  const column = columns.find((each) => each.name === name);
  if (!column || column.derived || !hasValueText(column.type)) return null;
  const texts = found.values.map((each) => (each.kind === 'value' ? printValue(each.value, column.type) : null));
  if (texts.includes(null)) return null;
  return {
    column: name,
    type: printType(column.type),
    texts: [...new Set(texts as string[])],
    nulls: found.nulls,
    negated: found.negated,
  };
};
