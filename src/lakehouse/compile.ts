/** Plan × Dialect → Statement. Total over the closed kinds; every value is bound, every identifier quoted by the dialect. */
import { errors } from '../errors.ts';
import { BIGINT, STRING } from './catalog.ts';
import { bound, joined, q, raw } from './dialect.ts';
import type { Dialect, Fragment } from './dialect.ts';
import type { Expr, ExprKind, Output, Plan, PlanKind, Sort } from './plan.ts';
import { exprType } from './types.ts';
import type { Statement } from './warehouse.ts';

type Visit<K extends ExprKind> = (expr: Extract<Expr, { kind: K }>, dialect: Dialect) => Fragment;
type Print<K extends PlanKind> = (plan: Extract<Plan, { kind: K }>, dialect: Dialect) => Fragment;

const COMPARISONS = { equals: '=', less: '<', at_most: '<=', greater: '>', at_least: '>=' } as const;

const EXPRESSIONS: { [K in ExprKind]: Visit<K> } = {
  column: ({ name }, dialect) => raw(dialect.quote(name)),
  expanded: ({ name }, dialect) => raw(dialect.quote(name)),
  field: ({ of, name }, dialect) => dialect.field(expression(of, dialect), name),
  value: ({ value, type }, dialect) => dialect.value(value, type),
  struct: ({ fields, unless }, dialect) => {
    const made = dialect.struct(fields.map(({ name, expr }) => ({ name, value: expression(expr, dialect) })));
    return q`case when ${expression(unless, dialect)} is not null then ${made} end`;
  },
  list: ({ of, type }, dialect) => (of ? q`coalesce(${expression(of, dialect)}, ${dialect.emptyList(type)})` : dialect.emptyList(type)),
  compare: ({ how, left, right }, dialect) => {
    const sides = [expression(left, dialect), expression(right, dialect)] as const;
    return how === 'differs' ? dialect.differs(...sides) : q`${sides[0]} ${raw(COMPARISONS[how])} ${sides[1]}`;
  },
  in: ({ of, values, negated }, dialect) => {
    const list = joined(
      values.map((value) => expression(value, dialect)),
      ', ',
    );
    const one = () => expression(of, dialect);
    return negated ? q`(${one()} is null or ${one()} not in (${list}))` : q`${one()} in (${list})`;
  },
  text: ({ how, of, text }, dialect) =>
    dialect[how === 'contains' ? 'contains' : 'startsWith'](expression(of, dialect), expression(text, dialect)),
  missing: ({ of, negated }, dialect) => q`${expression(of, dialect)} is ${raw(negated ? 'not null' : 'null')}`,
  every: ({ of }, dialect) =>
    joined(
      of.map((part) => q`(${expression(part, dialect)})`),
      ' and ',
    ),
  bucket: ({ of, unit, zone }, dialect) => dialect.bucket(expression(of, dialect), exprType(of), unit, zone),
  aggregate: ({ how, of, second, order, fraction, type }, dialect) =>
    dialect.aggregate({
      how,
      of: of && expression(of, dialect),
      ofType: of && exprType(of),
      second: second ? expression(second, dialect) : null,
      order: (order ?? []).map((sort) => ({
        expr: expression(sort.expr, dialect),
        descending: sort.descending,
        type: exprType(sort.expr),
      })),
      fraction: fraction ?? null,
      type,
    }),
  running: ({ of, partition, order, type }, dialect) => {
    const total = of ? q`sum(${expression(of, dialect)})` : raw('count(*)');
    const by =
      partition.length === 0
        ? raw('')
        : q`partition by ${joined(
            partition.map((expr) => expression(expr, dialect)),
            ', ',
          )} `;
    const over = order.length === 0 ? raw('') : q`order by ${ordering(order, dialect)} `;
    return q`cast(${total} over (${by}${over}rows between unbounded preceding and current row) as ${raw(dialect.cast(type))})`;
  },
};

// TypeScript cannot see that the record's entry takes the expression whose kind picked it.
const expression = (expr: Expr, dialect: Dialect): Fragment => (EXPRESSIONS[expr.kind] as Visit<ExprKind>)(expr, dialect);

const ordering = (by: readonly Sort[], dialect: Dialect): Fragment =>
  joined(
    by.map(({ expr, descending }) => dialect.order(expression(expr, dialect), descending)),
    ', ',
  );

const named = (value: Fragment, as: string, dialect: Dialect) => q`${value} as ${raw(dialect.quote(as))}`;
const outputs = (list: readonly Output[], dialect: Dialect): Fragment[] =>
  list.map(({ as, expr }) => named(expression(expr, dialect), as, dialect));
const list = (parts: readonly Fragment[]) => joined(parts, ', ');

const PLANS: { [K in PlanKind]: Print<K> } = {
  scan: ({ scope, table, columns, needed, files }, dialect) => {
    if (scope.anonymised && table.kind === 'identity' && needed.some((name) => name === 'name' || name === 'avatar')) {
      throw errors.internal().with({ cause: new Error('An anonymised plan reads real names.') });
    }
    const wanted = columns.filter((column) => needed.includes(column.name));
    const read = wanted.map((column) =>
      named(column.kind === 'expanded' ? dialect.expanded(column, table.kind) : expression(column, dialect), column.name, dialect),
    );
    const only = q`${raw(dialect.quote('experiment_id'))} = ${dialect.value(scope.experimentId, STRING)}`;
    const partition = dialect.partition(table);
    const where = partition ? q`${only} and ${partition}` : only;
    return q`select ${read.length === 0 ? raw('1 as one') : list(read)}\nfrom ${dialect.rows(table, columns, files)}\nwhere ${where}`;
  },
  join: ({ left, right, leftKey, rightKey, adds }, dialect) => {
    const side = (plan: Plan) => indented(relation(plan, dialect));
    const keys = q`l.${raw(dialect.quote(leftKey))} = r.${raw(dialect.quote(rightKey))}`;
    const added = outputs(adds, dialect);
    const dimension = q`select ${raw(dialect.quote(rightKey))}, ${list(added)}\nfrom (${side(right)})`;
    const names = list(adds.map(({ as }) => raw(`r.${dialect.quote(as)}`)));
    return q`select l.*, ${names}\nfrom (${side(left)}) as l\nleft join (${indented(dimension)}) as r on ${keys}`;
  },
  filter: ({ from, where }, dialect) => q`select *\nfrom (${indented(relation(from, dialect))})\nwhere ${expression(where, dialect)}`,
  project: ({ from, outputs: made, keep }, dialect) =>
    q`select ${raw(keep ? '*, ' : '')}${list(outputs(made, dialect))}\nfrom (${indented(relation(from, dialect))})`,
  group: ({ from, keys, measures }, dialect) => {
    const by = keys.length === 0 ? raw('') : raw(`\ngroup by ${keys.map((_key, index) => index + 1).join(', ')}`);
    return q`select ${list(outputs([...keys, ...measures], dialect))}\nfrom (${indented(relation(from, dialect))})${by}`;
  },
  sort: ({ from, by, limit, offset }, dialect) => {
    const order = by.length === 0 ? raw('') : q`\norder by ${ordering(by, dialect)}`;
    const most = limit === null ? raw('') : q`\nlimit ${bound(BigInt(limit), BIGINT)}`;
    const skipped = offset === 0 ? raw('') : q` offset ${bound(BigInt(offset), BIGINT)}`;
    return q`select *\nfrom (${indented(relation(from, dialect))})${order}${most}${skipped}`;
  },
  print: ({ from, format, outputs: made, guard }, dialect) => {
    const inner = indented(relation(from, dialect));
    if (format === 'csv') {
      return q`select ${list(made.map(({ as, expr }) => named(dialect.cell(expression(expr, dialect), exprType(expr), guard), as, dialect)))}\nfrom (${inner})`;
    }
    const members = made.flatMap(({ name, expr }, index) => [
      dialect.value(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`, STRING),
      q`coalesce(${dialect.json(expression(expr, dialect), exprType(expr))}, 'null')`,
    ]);
    return q`select concat(${list(members)}, '}') as ${raw(dialect.quote('line'))}\nfrom (${inner})`;
  },
};

const indented = ({ text, values }: Fragment): Fragment => ({ text: `\n  ${text.replaceAll('\n', '\n  ')}\n`, values });

const relation = (plan: Plan, dialect: Dialect): Fragment => (PLANS[plan.kind] as Print<PlanKind>)(plan, dialect);

/** The statement that a warehouse of this dialect runs for a plan. Pure: the same plan gives the same text. */
export const compile = (plan: Plan, dialect: Dialect): Statement => {
  const { text, values } = relation(plan, dialect);
  return { sql: text, values };
};
