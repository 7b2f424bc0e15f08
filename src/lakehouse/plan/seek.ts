/** Pages that begin where another ended: the order turned round, and what lies beyond a row in it. */
import { errors } from '../../errors.ts';
import type { Expr, Sort } from '../terms/plan.ts';
import { inferExprType } from '../terms/types.ts';

/** The same order from its end. */
export const reverseSort = (by: readonly Sort[]): Sort[] =>
  by.map(({ expr, descending, nullsFirst = false }) => ({ expr, descending: !descending, nullsFirst: !nullsFirst }));

const every = (of: readonly Expr[]): Expr => (of.length === 1 && of[0] ? of[0] : { kind: 'every', of });

const same = ({ expr }: Sort, key: string | null): Expr =>
  key === null
    ? { kind: 'missing', of: expr, negated: false }
    : { kind: 'compare', how: 'equals', left: expr, right: { kind: 'value', value: key, type: inferExprType(expr) } };

/** What comes after a value of one term; null when nothing does. */
const after = ({ expr, descending, nullsFirst = false }: Sort, key: string | null): Expr | null => {
  if (key === null) return nullsFirst ? { kind: 'missing', of: expr, negated: true } : null;
  const value: Expr = { kind: 'value', value: key, type: inferExprType(expr) };
  const more: Expr = { kind: 'compare', how: descending ? 'less' : 'greater', left: expr, right: value };
  return nullsFirst ? more : { kind: 'some', of: [more, { kind: 'missing', of: expr, negated: false }] };
};

/** What every row after a value of the first term has, which an engine can ask its files for. */
const atLeast = ({ expr, descending, nullsFirst = false }: Sort, key: string | null): Expr[] => {
  if (key === null) return nullsFirst ? [] : [{ kind: 'missing', of: expr, negated: false }];
  const value: Expr = { kind: 'value', value: key, type: inferExprType(expr) };
  const more: Expr = { kind: 'compare', how: descending ? 'at_most' : 'at_least', left: expr, right: value };
  return [nullsFirst ? more : { kind: 'some', of: [more, { kind: 'missing', of: expr, negated: false }] }];
};

/**
 * The rows that come after one in an order that is total. `keys` are the exact texts of its values, term by term. Throws `errors.internal` when they
 * are of another order.
 */
export const buildSeek = (by: readonly Sort[], keys: readonly (string | null)[]): Expr => {
  if (keys.length !== by.length) throw errors.internal().with({ cause: new Error(`${keys.length} keys for ${by.length} terms`) });
  const ways = by.flatMap((sort, index): Expr[] => {
    const last = after(sort, keys[index] ?? null);
    return last === null ? [] : [every([...by.slice(0, index).map((term, at) => same(term, keys[at] ?? null)), last])];
  });
  const [first] = by;
  return every([...(first ? atLeast(first, keys[0] ?? null) : []), { kind: 'some', of: ways }]);
};
