/** Compiles a plan for a dialect into a statement. Every kind is covered, every value is bound, and the dialect quotes every identifier. */
import { errors } from '../../errors.ts';
import { BIGINT, DOUBLE, STRING, makeDecimal, type ColumnType } from '../terms/catalog.ts';
import { bound, joinFragments, printOrder, q, raw, type Dialect, type Fragment } from '../terms/dialect.ts';
import { printConstant } from './constants.ts';
import type { Beyond, Expr, ExprKind, Output, Plan, PlanKind, ScanColumn, Sort } from '../terms/plan.ts';
import { PATTERNS } from './member-text.ts';
import { inferExprType } from '../terms/types.ts';
import type { Statement } from '../terms/warehouse.ts';

type Visit<K extends ExprKind> = (expr: Extract<Expr, { kind: K }>, dialect: Dialect) => Fragment;
type Print<K extends PlanKind> = (plan: Extract<Plan, { kind: K }>, place: Place) => Fragment;

const ORDERINGS = { less: '<', at_most: '<=', greater: '>', at_least: '>=' } as const;

const EXPRESSIONS: { [K in ExprKind]: Visit<K> } = {
  column: ({ name }, dialect) => raw(dialect.quote(name)),
  field: ({ of, name }, dialect) => field(expression(of, dialect), name, dialect),
  member: ({ of, keys, type }, dialect) => {
    const text = dialect.member(expression(of, dialect), keys);
    const pattern = PATTERNS[type.kind];
    return pattern === null ? dialect.memberText(text) : dialect.parsed(text, type, bound(pattern, STRING));
  },
  value: ({ value, type }, dialect) => dialect.value(value, type),
  struct: ({ fields, unless }, dialect) => {
    const made = dialect.struct(fields.map(({ name, expr }) => ({ name, value: expression(expr, dialect) })));
    return q`case when ${expression(unless, dialect)} is not null then ${made} end`;
  },
  list: ({ of, type }, dialect) => (of ? q`coalesce(${expression(of, dialect)}, ${dialect.emptyList(type)})` : dialect.emptyList(type)),
  coalesce: ({ of }, dialect) => q`coalesce(${joinFragments(expressions(of, dialect))})`,
  compare: ({ how, left, right }, dialect) => {
    const sides = [expression(left, dialect), expression(right, dialect)] as const;
    if (how === 'equals') return dialect.equals(...sides, inferExprType(left));
    return how === 'differs' ? dialect.differs(...sides) : q`${sides[0]} ${raw(ORDERINGS[how])} ${sides[1]}`;
  },
  in: ({ of, values, negated }, dialect) => {
    const one = () => expression(of, dialect);
    const list = expressions(values, dialect);
    if (negated) return q`(${one()} is null or ${one()} not in (${joinFragments(list)}))`;
    const [only, ...others] = list;
    return only && others.length === 0 ? dialect.equals(one(), only, inferExprType(of)) : q`${one()} in (${joinFragments(list)})`;
  },
  text: ({ how, of, text }, dialect) => {
    const [whole, part] = [expression(of, dialect), expression(text, dialect)];
    return how === 'contains' ? q`contains(${whole}, ${part})` : dialect.startsWith(whole, part);
  },
  missing: ({ of, negated }, dialect) => q`${expression(of, dialect)} is ${raw(negated ? 'not null' : 'null')}`,
  digest: ({ of }, dialect) => q`md5(${expression(of, dialect)})`,
  holds: ({ of, path, values, negated }, dialect) => {
    const found = dialect.holds(expression(of, dialect), (element) => {
      const sought = path.reduce((inner, name) => field(inner, name, dialect), element);
      return q`${sought} in (${joinFragments(expressions(values, dialect))})`;
    });
    return q`${raw(negated ? 'not ' : '')}coalesce(${found}, false)`;
  },
  every: ({ of }, dialect) => joinConditions(of, ' and ', dialect),
  some: ({ of }, dialect) => joinConditions(of, ' or ', dialect),
  bucket: ({ of, unit, zone }, dialect) => dialect.bucket(expression(of, dialect), inferExprType(of), unit, zone),
  instant: ({ of, zone }, dialect) => dialect.instant(expression(of, dialect), zone),
  aggregate: ({ how, of, second, order = [], fraction = null, type }, dialect) => {
    if (!of) return raw('count(*)');
    const input = { of: expression(of, dialect), ofType: inferExprType(of), second: second ? expression(second, dialect) : null };
    const sorts = order.map((sort) => ({ expr: expression(sort.expr, dialect), descending: sort.descending }));
    return dialect.aggregate({ how, ...input, order: sorts, fraction, type });
  },
  distance: ({ of, from }, dialect) => {
    const type = inferExprType(of);
    const [value, start] = [expression(of, dialect), expression(from, dialect)];
    if (type.kind === 'double') return q`${value} - ${start}`;
    // a difference has one digit more, and no engine has more than 38
    const exact = type.kind === 'decimal' ? makeDecimal(Math.min(37, type.precision), Math.min(37, type.scale)) : makeDecimal(20, 0);
    const double = (each: Fragment) => q`cast(${each} as ${raw(dialect.cast(DOUBLE))})`;
    const tried = (each: Fragment) => q`try_cast(${each} as ${raw(dialect.cast(exact))})`;
    return q`coalesce(${double(q`${tried(value)} - ${tried(start)}`)}, ${double(value)} - ${double(start)})`;
  },
  running: ({ how, of, beside, partition, order, whole = false, type }, dialect) => {
    const value = of && expression(of, dialect);
    const counted = value && beside ? q`case when ${expression(beside, dialect)} is not null then ${value} end` : value;
    const total = counted ? (how === 'min' ? q`min(${counted})` : q`sum(${dialect.addend(counted, type)})`) : raw('count(*)');
    const by = partition.length === 0 ? raw('') : q`partition by ${joinFragments(expressions(partition, dialect))} `;
    const over = order.length === 0 ? raw('') : q`order by ${ordering(order, dialect)} `;
    const frame = raw(whole ? '' : 'rows between unbounded preceding and current row');
    return q`cast(${total} over (${by}${over}${frame}) as ${raw(dialect.cast(type))})`;
  },
};

// TypeScript cannot see that the record's entry takes the expression whose kind picked it.
const expression = (expr: Expr, dialect: Dialect): Fragment => (EXPRESSIONS[expr.kind] as Visit<ExprKind>)(expr, dialect);

const expressions = (exprs: readonly Expr[], dialect: Dialect): Fragment[] => exprs.map((expr) => expression(expr, dialect));
const joinConditions = (of: readonly Expr[], word: ' and ' | ' or ', dialect: Dialect): Fragment =>
  joinFragments(
    of.map((part) => q`(${expression(part, dialect)})`),
    word,
  );
const field = (of: Fragment, name: string, dialect: Dialect): Fragment => q`${of}.${raw(dialect.quote(name))}`;
const ordering = (by: readonly Sort[], dialect: Dialect): Fragment =>
  joinFragments(by.map(({ expr, descending, nullsFirst }) => printOrder(expression(expr, dialect), descending, nullsFirst)));

const named = (value: Fragment, as: string, dialect: Dialect) => q`${value} as ${raw(dialect.quote(as))}`;
const outputs = (list: readonly Output[], dialect: Dialect): Fragment[] =>
  list.map(({ as, expr }) => named(expression(expr, dialect), as, dialect));

const orTotal = (object: Fragment, { place, limit, total }: Beyond, dialect: Dialect): Fragment =>
  q`case when ${raw(dialect.quote(place))} <= ${bound(BigInt(limit), BIGINT)} then ${object} else ${dialect.text(raw(dialect.quote(total)), BIGINT)} end`;

/**
 * Where a relation is printed. `line` starts a new line. `nested` prints and indents an inner relation. Text is never edited to indent it, because it may hold
 * a caller's names.
 */
interface Place {
  dialect: Dialect;
  line: Fragment;
  nested: (plan: Plan) => Fragment;
}

type Join = Extract<Plan, { kind: 'join' }>;

const join = ({ left, right, leftKey, rightKey, adds }: Join, { dialect, line, nested }: Place): Fragment => {
  const added = q`select ${raw(dialect.quote(rightKey))}, ${joinFragments(outputs(adds, dialect))} from (${nested(right)})`;
  const names = joinFragments(adds.map(({ as }) => raw(`r.${dialect.quote(as)}`)));
  const keys = raw(`l.${dialect.quote(leftKey)} = r.${dialect.quote(rightKey)}`);
  return q`select l.*, ${names}${line}from (${nested(left)}) as l${line}left join (${added}) as r on ${keys}`;
};

/** The name of a column that holds the row's key if the right side has it, and null otherwise. No column's name begins with a space. */
const KNOWN = ' known';

/**
 * Joins in the order of `left`. The engine puts the rows of a batch that find no match behind the others. So each row gets a match: one without a row on the
 * right matches an added row whose key is null. At a join it also lets full batches pass those of few rows, unless the rows are numbered below the join.
 */
const joinInOrder = ({ left, right, leftKey, rightKey, adds }: Join, { dialect, line, nested }: Place, lined: Fragment): Fragment => {
  const name = (of: string) => raw(dialect.quote(of));
  const [key, sought, known] = [name(rightKey), name(leftKey), name(KNOWN)] as const;
  const names = adds.map(({ as }) => raw(`r.${dialect.quote(as)}`));
  const keyed = () => q`from (${nested(right)}) where ${key} is not null`;
  const added = q`select ${key}, ${joinFragments(outputs(adds, dialect))} ${keyed()} union all select null${raw(', null'.repeat(adds.length))}`;
  const ordered = q`select * from (${nested(left)}) qualify ${lined}`;
  const marked = q`select *, case when ${sought} in (select ${key} ${keyed()}) then ${sought} end as ${known} from (${ordered})`;
  return q`select l.* exclude (${known}), ${joinFragments(names)}${line}from (${marked}) as l${line}join (${added}) as r on l.${known} is not distinct from r.${key}`;
};

const nothing = ({ type }: ScanColumn): Expr => ({ kind: 'value', value: null, type });

const emptyRows = (columns: readonly ScanColumn[], dialect: Dialect): Fragment => {
  const typed = columns.map(({ name, type }) => raw(`cast(null as ${dialect.cast(type)}) as ${dialect.quote(name)}`));
  return q`(select ${joinFragments(typed)} where false)`;
};

const PLANS: { [K in PlanKind]: Print<K> } = {
  scan: ({ scope, table, columns, needed, rows, places }, { dialect, line }) => {
    if (scope.anonymised && table.kind === 'identity' && needed.some((name) => name === 'name' || name === 'avatar')) {
      throw errors.internal().with({ cause: new Error('An anonymised plan reads real names.') });
    }
    const wanted = columns.filter(({ name }) => needed.includes(name));
    const read = wanted.map((column) => named(expression(column.isEmpty ? nothing(column) : column, dialect), column.name, dialect));
    const typed = columns.filter(({ name, isEmpty }) => name === 'experiment_id' || (needed.includes(name) && !isEmpty));
    const only = q`${raw(dialect.quote('experiment_id'))} = ${dialect.value(scope.experimentId, STRING)}`;
    const from = rows.files.length === 0 ? emptyRows(typed, dialect) : dialect.rows(typed, rows, places);
    return q`select ${read.length === 0 ? raw('1 as one') : joinFragments(read)}${line}from ${from}${line}where ${only}`;
  },
  join: (plan, place) => (plan.inOrder && place.dialect.lined ? joinInOrder(plan, place, place.dialect.lined) : join(plan, place)),
  among: ({ left, right, key }, { dialect, line, nested }) => {
    const name = raw(dialect.quote(key));
    return q`select *${line}from (${nested(left)})${line}where ${name} in (select ${name} from (${nested(right)}))`;
  },
  filter: ({ from, where }, { dialect, line, nested }) =>
    q`select *${line}from (${nested(from)})${line}where ${expression(where, dialect)}`,
  project: ({ from, outputs: made, keep }, { dialect, line, nested }) =>
    q`select ${raw(keep ? '*, ' : '')}${joinFragments(outputs(made, dialect))}${line}from (${nested(from)})`,
  group: ({ from, keys, measures }, { dialect, line, nested }) => {
    const coarse = keys.map(({ expr }) =>
      expr.kind === 'bucket' && expr.of.kind === 'column'
        ? dialect.coarse(expression(expr.of, dialect), expr.of.type, expr.unit, expr.zone)
        : null,
    );
    const grouped = keys.map((_key, index) => coarse[index]?.key ?? raw(String(index + 1)));
    const by = keys.length === 0 ? raw('') : q`${line}group by ${joinFragments(grouped)}`;
    const made = keys.map(({ as, expr }, index) => named(coarse[index]?.value ?? expression(expr, dialect), as, dialect));
    return q`select ${joinFragments([...made, ...outputs(measures, dialect)])}${line}from (${nested(from)})${by}`;
  },
  sort: ({ from, by, limit, offset }, { dialect, line, nested }) => {
    const order = by.length === 0 ? raw('') : q`${line}order by ${ordering(by, dialect)}`;
    const most = limit === null ? raw('') : q`${line}limit ${bound(BigInt(limit), BIGINT)}`;
    const skipped = offset === 0 ? raw('') : q` offset ${bound(BigInt(offset), BIGINT)}`;
    return q`select *${line}from (${nested(from)})${order}${most}${skipped}`;
  },
  print: ({ from, format, outputs: made, guard, keys = [], beyond }, { dialect, line, nested }) => {
    if (format !== 'json') {
      const cell = (of: Fragment, type: ColumnType) => (format === 'csv' ? dialect.cell(of, type, guard) : dialect.typed(of, type));
      const cells = made.map(({ as, expr }) => named(cell(expression(expr, dialect), inferExprType(expr)), as, dialect));
      return q`select ${joinFragments(cells)}${line}from (${nested(from)})`;
    }
    // the text between two values, then the second of them
    const members: Fragment[] = [];
    let between = '';
    for (const [index, { name, expr }] of made.entries()) {
      between += `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`;
      const constant = expr.kind === 'column' ? printConstant(from, expr.name) : null;
      if (constant === null) {
        members.push(dialect.value(between, STRING), q`coalesce(${dialect.json(expression(expr, dialect), inferExprType(expr))}, 'null')`);
        between = '';
      } else between += constant;
    }
    if (between !== '') members.push(dialect.value(between, STRING));
    const texts = keys.map(({ expr }) => dialect.json(dialect.text(expression(expr, dialect), inferExprType(expr)), STRING));
    const key = texts.map((text, index) => q`${raw(index === 0 ? "'['" : "','")}, coalesce(${text}, 'null')`);
    const beside = keys.length === 0 ? raw('') : q`, concat(${joinFragments(key)}, ']') as ${raw(dialect.quote('key'))}`;
    const object = q`concat(${joinFragments(members)}, '}')`;
    const text = beyond ? orTotal(object, beyond, dialect) : object;
    return q`select ${text} as ${raw(dialect.quote('line'))}${beside}${line}from (${nested(from)})`;
  },
};

const relation = (plan: Plan, dialect: Dialect, depth: number): Fragment => {
  const line = raw(`\n${'  '.repeat(depth)}`);
  const nested = (inner: Plan) => q`${line}  ${relation(inner, dialect, depth + 1)}${line}`;
  return (PLANS[plan.kind] as Print<PlanKind>)(plan, { dialect, line, nested });
};

/** Prints the statement that a warehouse of this dialect runs for a plan. Pure: the same plan gives the same text. */
export const compile = (plan: Plan, dialect: Dialect): Statement => {
  const { text, values } = relation(plan, dialect, 0);
  return { sql: text, values };
};
