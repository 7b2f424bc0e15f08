/** Turns filters into one boolean expression. They have the nine operators of the reference and six more. */
import { BOOLEAN, FLAG_TYPES, STRING } from '../terms/catalog.ts';
import type { Expr, ValueExpr } from '../terms/plan.ts';
import { isComparable, readOperand, type Operand } from './operands.ts';
import type { Filter, Operand as Sent, Operator } from './request.ts';
import { readAsCompared, type Resolved } from './members.ts';
import { suggestNames } from '../terms/near.ts';
import { refuseParameter, shortenName } from '../terms/refusal.ts';
import type { Resolve } from './resolve.ts';

interface Asked {
  filter: Filter;
  where: string;
  resolved: Resolved;
}

const say = ({ filter, where, resolved }: Asked, sentence: string) =>
  refuseParameter(where, `Filter '${filter.operator}' on column '${shortenName(resolved.name)}': ${sentence}`);

const typed = (asked: Asked, given: Sent): Operand => {
  const { type, column } = asked.resolved;
  if (column.derived === 'annotations') throw say(asked, 'annotations are asked for by has_flag and has_no_flag.');
  if (!isComparable(type))
    throw say(
      asked,
      `a value of this type cannot be compared; use is_null or is_not_null${type.kind === 'struct' ? ', or name a field of it' : ''}.`,
    );
  if (given === '' && type.kind !== 'string') throw say(asked, 'the value is empty; is_null finds missing values.');
  const value = readOperand(given, type);
  if ('expects' in value) throw say(asked, `the value must be ${value.expects}.`);
  return value;
};

const single = (asked: Asked): Operand => {
  const { value } = asked.filter;
  if (value === undefined || value === null) throw say(asked, 'needs a value; is_null and is_not_null find missing and present values.');
  if (typeof value === 'object' && !JSON.isRawJSON(value)) throw say(asked, 'takes one value, not an array.');
  return typed(asked, value);
};

const several = (asked: Asked): readonly Operand[] => {
  const { value } = asked.filter;
  if (!Array.isArray(value)) throw say(asked, 'takes an array of values.');
  if (value.length === 0) throw say(asked, 'the array is empty.');
  return (value as readonly Sent[]).map((given) => typed(asked, given));
};

const text = (asked: Asked, how: 'contains' | 'starts_with'): Expr => {
  if (asked.resolved.type.kind !== 'string') throw say(asked, 'works on text columns only.');
  if (asked.filter.value === '') throw say(asked, 'the value is empty; equals finds empty text, is_null missing values.');
  const { value } = single(asked);
  return value ? { kind: 'text', how, of: asked.resolved.expr, text: value } : always(false);
};

const always = (value: boolean): Expr => ({ kind: 'value', value, type: BOOLEAN });
/** The values of those operands that a cell can equal. */
const reachable = (operands: readonly Operand[]): ValueExpr[] => operands.flatMap(({ value, exact }) => (value && exact ? value : []));

const same = (asked: Asked, how: 'equals' | 'differs'): Expr => {
  const [right] = reachable([single(asked)]);
  return right ? { kind: 'compare', how, left: asked.resolved.expr, right } : always(how === 'differs');
};

const among = (asked: Asked, negated: boolean): Expr => {
  const values = reachable(several(asked));
  return values.length > 0 ? { kind: 'in', of: asked.resolved.expr, values, negated } : always(negated);
};

type Ordering = 'less' | 'at_most' | 'greater' | 'at_least';
/** The comparison to make with the value below an operand, where the operand lies between two values of the column. */
const BESIDE = { less: 'at_most', at_most: 'at_most', greater: 'greater', at_least: 'greater' } as const;
const ordered = (asked: Asked, how: Ordering, { value, exact }: Operand): Expr => {
  if (asked.resolved.type.kind === 'boolean') throw say(asked, 'true and false have no order; use equals.');
  const left = asked.resolved.expr;
  if (value) return { kind: 'compare', how: exact ? how : BESIDE[how], left, right: value };
  return BESIDE[how] === 'at_most' ? always(false) : { kind: 'missing', of: left, negated: true };
};

const compare = (how: Ordering) => (asked: Asked) => ordered(asked, how, single(asked));

const missing =
  (negated: boolean) =>
  (asked: Asked): Expr => {
    if (asked.filter.value !== undefined && asked.filter.value !== null) throw say(asked, 'takes no value.');
    return { kind: 'missing', of: asked.resolved.expr, negated };
  };

const isFlagType = (given: unknown): given is (typeof FLAG_TYPES)[number] => FLAG_TYPES.some((known) => known === given);

const flagged =
  (negated: boolean) =>
  (asked: Asked): Expr => {
    const { resolved, filter } = asked;
    if (resolved.column.derived !== 'annotations') throw say(asked, "works on the column 'annotations' only.");
    const expected = `takes a flag type, or an array of them: ${FLAG_TYPES.join(', ')}.`;
    const given = Array.isArray(filter.value) ? (filter.value as readonly Sent[]) : [filter.value];
    const values = given.map((one): ValueExpr => {
      if (isFlagType(one)) return { kind: 'value', value: one, type: STRING };
      if (typeof one !== 'string') throw say(asked, expected);
      throw say(asked, `'${shortenName(one)}' is no flag type; the operator ${expected}${suggestNames(one, FLAG_TYPES)}`);
    });
    if (values.length === 0) throw say(asked, 'the array is empty.');
    return { kind: 'holds', of: resolved.expr, path: ['content', 'flagType'], values, negated };
  };

const OPERATORS: Record<Operator, (asked: Asked) => Expr> = {
  equals: (asked) => same(asked, 'equals'),
  not_equals: (asked) => same(asked, 'differs'),
  greater_than: compare('greater'),
  less_than: compare('less'),
  greater_than_or_equal: compare('at_least'),
  less_than_or_equal: compare('at_most'),
  between: (asked) => {
    const [low, high, ...more] = several(asked);
    if (!low || !high || more.length > 0) throw say(asked, 'takes an array of exactly two values.');
    return { kind: 'every', of: [ordered(asked, 'at_least', low), ordered(asked, 'at_most', high)] };
  },
  contains: (asked) => text(asked, 'contains'),
  starts_with: (asked) => text(asked, 'starts_with'),
  in: (asked) => among(asked, false),
  not_in: (asked) => among(asked, true),
  is_null: missing(false),
  is_not_null: missing(true),
  has_flag: flagged(false),
  has_no_flag: flagged(true),
};

/** Builds one expression from all filters, ANDed; null without any. Throws a 400 that names the column, the operator and what was expected. */
export const buildPredicate = (filters: readonly Filter[], resolve: Resolve): Expr | null => {
  if (filters.length === 0) return null;
  const of = filters.map((filter, index) =>
    OPERATORS[filter.operator]({
      filter,
      where: `filters/${index}/value`,
      resolved: readAsCompared(resolve(filter.column, `filters/${index}/column`), filter.value),
    }),
  );
  return of.length === 1 && of[0] ? of[0] : { kind: 'every', of };
};
