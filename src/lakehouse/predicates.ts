/** The nine operators of the reference and four more → one boolean expression. */
import type { Expr, ValueExpr } from './plan.ts';
import { isComparable, typedOperand } from './operands.ts';
import type { Filter, Operand, Operator } from './request.ts';
import { refusal, shown } from './resolve.ts';
import type { Resolve, Resolved } from './resolve.ts';

interface Asked {
  filter: Filter;
  where: string;
  resolved: Resolved;
}

const say = ({ filter, where, resolved }: Asked, sentence: string) =>
  refusal(where, `Filter '${filter.operator}' on column '${shown(resolved.name)}': ${sentence}`);

const typed = (asked: Asked, given: Operand): ValueExpr => {
  const { type } = asked.resolved;
  if (!isComparable(type))
    throw say(
      asked,
      `a value of this type cannot be compared; use is_null or is_not_null${type.kind === 'struct' ? ', or name a field of it' : ''}.`,
    );
  if (given === '') throw say(asked, 'the value is empty; is_null finds missing values.');
  const value = typedOperand(given, type);
  if ('expects' in value) throw say(asked, `the value must be ${value.expects}.`);
  return value;
};

const single = (asked: Asked): ValueExpr => {
  const { value } = asked.filter;
  if (value === undefined || value === null) throw say(asked, 'needs a value; is_null and is_not_null find missing and present values.');
  if (typeof value === 'object') throw say(asked, 'takes one value, not an array.');
  return typed(asked, value);
};

const several = (asked: Asked): readonly ValueExpr[] => {
  const { value } = asked.filter;
  if (!Array.isArray(value)) throw say(asked, 'takes an array of values.');
  if (value.length === 0) throw say(asked, 'the array is empty.');
  return (value as readonly Operand[]).map((given) => typed(asked, given));
};

const literal = (asked: Asked): ValueExpr => {
  if (asked.resolved.type.kind !== 'string') throw say(asked, 'works on text columns only.');
  return single(asked);
};

type Ordering = 'less' | 'at_most' | 'greater' | 'at_least';
const ordered = (asked: Asked, how: Ordering, right: ValueExpr): Expr => {
  if (asked.resolved.type.kind === 'boolean') throw say(asked, 'true and false have no order; use equals.');
  return { kind: 'compare', how, left: asked.resolved.expr, right };
};

const compare = (how: Ordering) => (asked: Asked) => ordered(asked, how, single(asked));

const missing =
  (negated: boolean) =>
  (asked: Asked): Expr => {
    if (asked.filter.value !== undefined && asked.filter.value !== null) throw say(asked, 'takes no value.');
    return { kind: 'missing', of: asked.resolved.expr, negated };
  };

const OPERATORS: Record<Operator, (asked: Asked) => Expr> = {
  equals: (asked) => ({ kind: 'compare', how: 'equals', left: asked.resolved.expr, right: single(asked) }),
  not_equals: (asked) => ({ kind: 'compare', how: 'differs', left: asked.resolved.expr, right: single(asked) }),
  greater_than: compare('greater'),
  less_than: compare('less'),
  greater_than_or_equal: compare('at_least'),
  less_than_or_equal: compare('at_most'),
  between: (asked) => {
    const [low, high, ...more] = several(asked);
    if (!low || !high || more.length > 0) throw say(asked, 'takes an array of exactly two values.');
    return { kind: 'every', of: [ordered(asked, 'at_least', low), ordered(asked, 'at_most', high)] };
  },
  contains: (asked) => ({ kind: 'text', how: 'contains', of: asked.resolved.expr, text: literal(asked) }),
  starts_with: (asked) => ({ kind: 'text', how: 'starts_with', of: asked.resolved.expr, text: literal(asked) }),
  in: (asked) => ({ kind: 'in', of: asked.resolved.expr, values: several(asked), negated: false }),
  not_in: (asked) => ({ kind: 'in', of: asked.resolved.expr, values: several(asked), negated: true }),
  is_null: missing(false),
  is_not_null: missing(true),
};

/** All filters, ANDed; null without any. Throws a 400 that names the column, the operator and what was expected. */
export const predicate = (filters: readonly Filter[], resolve: Resolve): Expr | null => {
  if (filters.length === 0) return null;
  const of = filters.map((filter, index) =>
    OPERATORS[filter.operator]({ filter, where: `filters[${index}].value`, resolved: resolve(filter.column, `filters[${index}].column`) }),
  );
  return of.length === 1 && of[0] ? of[0] : { kind: 'every', of };
};
