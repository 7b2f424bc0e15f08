/**
 * Plans how people appear in measurement rows. Rows hold user ids only; names come from the experiment's identity dimension when a plan asks for them.
 * Anonymisation rewrites the plan, so that every user expression above it can only see pseudonyms.
 */
import { CONTRIBUTOR, DEVICE, STRING, listFixedColumns, type ColumnType, type TableKind } from '../terms/catalog.ts';
import type { Expr, Output, Plan, TableRows } from '../terms/plan.ts';
import { makeColumn, makeOutput, makeValue } from './make.ts';
import { scanColumns } from './scan-columns.ts';
import type { TableSource } from '../terms/source.ts';
import type { ExperimentScope } from '../terms/scope.ts';

const greatest = (name: string): Output => makeOutput(name, { kind: 'aggregate', how: 'max', of: makeColumn(name), type: STRING });

const NO_ROWS: TableRows = { files: [] };
/** Whether there is a table, and a row in it. */
export const hasRows = (rows: TableRows | undefined): rows is TableRows => rows !== undefined && rows.files.length > 0;

/** Plans a dimension with one row for each key, whatever its files hold. A join with it never multiplies rows. */
export const planDimension = (
  scope: ExperimentScope,
  kind: TableKind,
  rows: TableRows | undefined,
  key: string,
  columns: readonly string[],
): Plan => ({
  kind: 'group',
  from: {
    kind: 'scan',
    scope,
    table: { kind, identifier: kind },
    columns: scanColumns(listFixedColumns(kind)),
    needed: [key, ...columns],
    rows: rows ?? NO_ROWS,
  },
  keys: [makeOutput(key, makeColumn(key))],
  measures: columns.map(greatest),
});

/** Adds a column to `left` that is null in every row. */
const withNothing = (left: Plan, name: string, type: ColumnType): Plan => ({
  kind: 'project',
  from: left,
  outputs: [makeOutput(name, makeValue(null, type))],
  keep: true,
});

/** Adds `contributor`, a struct of id, name and avatar. It is null where the dimension does not know the id. */
export const joinContributor = (left: Plan, source: TableSource, inOrder?: true): Plan => {
  if (!hasRows(source.identity)) return withNothing(left, 'contributor', CONTRIBUTOR);
  const fields = ['id', 'name', 'avatar'].map((name) => ({ name, expr: makeColumn(name === 'id' ? 'user_id' : name) }));
  const contributor = makeOutput('contributor', { kind: 'struct', fields, unless: makeColumn('user_id'), type: CONTRIBUTOR });
  return {
    kind: 'join',
    left,
    right: planDimension(source.scope, 'identity', source.identity, 'user_id', ['name', 'avatar']),
    leftKey: 'contributor_id',
    rightKey: 'user_id',
    adds: [contributor],
    inOrder,
  };
};

/** Adds `device`: what the registry says of the client that sent a row, or null. Its owner is a person, who has a pseudonym in an anonymised experiment. */
export const joinDevice = (left: Plan, source: TableSource, inOrder?: true): Plan => {
  if (!hasRows(source.registry)) return withNothing(left, 'device', DEVICE);
  const { scope } = source;
  const said = ['id', 'serial_number', 'owner_id', 'status', 'device_type'];
  const facts = planDimension(scope, 'registry', source.registry, 'client_id', said);
  const owners = planDimension(scope, 'identity', source.identity, 'user_id', ['pseudonym']);
  const shown = makeOutput('owner_pseudonym', makeColumn('pseudonym'));
  const right: Plan = scope.anonymised
    ? { kind: 'join', left: facts, right: owners, leftKey: 'owner_id', rightKey: 'user_id', adds: [shown] }
    : facts;
  const owner = { name: 'owner', expr: makeColumn(scope.anonymised ? shown.as : 'owner_id') };
  const fields = said.map((name) => (name === 'owner_id' ? owner : { name, expr: makeColumn(name) }));
  const device = makeOutput('device', { kind: 'struct', fields, unless: makeColumn('client_id'), type: DEVICE });
  return { kind: 'join', left, right, leftKey: 'client_id', rightKey: 'client_id', adds: [device], inOrder };
};

const NOBODY = makeValue(null);
const PSEUDONYM = makeColumn('pseudonym');
/** What an expression shows of somebody who has a pseudonym: that where it would say who they are, and nothing else. */
const pseudonymous = (expr: Expr): Expr => {
  const shown = (name: string) => (['pseudonym', 'id', 'name', 'user_id'].includes(name) ? PSEUDONYM : NOBODY);
  if (expr.kind !== 'struct') return expr.kind === 'column' ? shown(expr.name) : NOBODY;
  return { ...expr, fields: expr.fields.map(({ name }) => ({ name, expr: shown(name) })), unless: PSEUDONYM };
};

const scanOf = (plan: Plan): Extract<Plan, { kind: 'scan' }> =>
  plan.kind === 'scan' ? plan : scanOf('left' in plan ? plan.left : plan.from);

/** Rewrites a plan so that every join with the identity dimension of an anonymised experiment reads pseudonyms and nothing else of it. */
export const anonymise = (plan: Plan): Plan => {
  if (plan.kind === 'scan') return plan;
  if (plan.kind === 'among') return { ...plan, left: anonymise(plan.left), right: anonymise(plan.right) };
  if (plan.kind !== 'join') return { ...plan, from: anonymise(plan.from) };
  const left = anonymise(plan.left);
  const { scope, table, rows } = scanOf(plan.right);
  if (table.kind !== 'identity' || !scope.anonymised) return { ...plan, left, right: anonymise(plan.right) };
  return {
    ...plan,
    left,
    right: planDimension(scope, 'identity', rows, plan.rightKey, ['pseudonym']),
    adds: plan.adds.map((output) => ({ ...output, expr: pseudonymous(output.expr) })),
  };
};
