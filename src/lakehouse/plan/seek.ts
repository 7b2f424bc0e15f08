/** Plans pages that begin where another ended: reverses the order, and finds the rows beyond a given row. */
import { errors } from '../../errors.ts';
import { makeEqual, makeValue } from './make.ts';
import type { Expr, Sort } from '../terms/plan.ts';
import { inferExprType } from '../terms/types.ts';

/** Reverses an order, so that it begins at its end. */
export const reverseSort = (by: readonly Sort[]): Sort[] =>
  by.map(({ expr, descending, nullsFirst = false }) => ({ expr, descending: !descending, nullsFirst: !nullsFirst }));

const every = (of: readonly Expr[]): Expr => (of.length === 1 && of[0] ? of[0] : { kind: 'every', of });

const same = ({ expr }: Sort, key: string | null): Expr =>
  key === null ? { kind: 'missing', of: expr, negated: false } : makeEqual(expr, makeValue(key, inferExprType(expr)));

/**
 * Makes the condition for rows after a value of one sort term, or with `orAt` also for rows that have the value; an engine can skip files by that. Null when no
 * row comes after it, or every row comes at or after it.
 */
const after = ({ expr, descending, nullsFirst = false }: Sort, key: string | null, orAt = false): Expr | null => {
  if (key === null) return nullsFirst === orAt ? null : { kind: 'missing', of: expr, negated: nullsFirst };
  const how = descending ? (orAt ? 'at_most' : 'less') : orAt ? 'at_least' : 'greater';
  const more: Expr = { kind: 'compare', how, left: expr, right: makeValue(key, inferExprType(expr)) };
  return nullsFirst ? more : { kind: 'some', of: [more, { kind: 'missing', of: expr, negated: false }] };
};

/**
 * Makes the condition for the rows that come after a given row in a total order. `keys` are the exact texts of its values, term by term. Throws
 * `errors.internal` when their number is not that of the terms.
 */
export const buildSeek = (by: readonly Sort[], keys: readonly (string | null)[]): Expr => {
  if (keys.length !== by.length) throw errors.internal().with({ cause: new Error(`${keys.length} keys for ${by.length} terms`) });
  const ways = by.flatMap((sort, index): Expr[] => {
    const last = after(sort, keys[index] ?? null);
    return last === null ? [] : [every([...by.slice(0, index).map((term, at) => same(term, keys[at] ?? null)), last])];
  });
  const [first] = by;
  const near = first ? after(first, keys[0] ?? null, true) : null;
  return every([...(near ? [near] : []), { kind: 'some', of: ways }]);
};
