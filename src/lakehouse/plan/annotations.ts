/**
 * Reads what people wrote about rows. An experiment's log of annotations only grows: each change is a row with the whole annotation as it then became. The last
 * change of an annotation counts, but a deleted annotation stays deleted, whatever comes after.
 */
import { ANNOTATIONS, BIGINT, BOOLEAN, STRING, TIMESTAMP, makeArray, listFixedColumns, makeStruct } from '../terms/catalog.ts';
import { readJson } from '../../json.ts';
import { compile } from '../compile/compile.ts';
import { planDimension } from './identity.ts';
import { makeColumn, makeEqual, makeOutput, makeValue } from './make.ts';
import { makeNamer, planScan, scanColumns } from './scan-columns.ts';
import type { Expr, Output, Plan, TableRows } from '../terms/plan.ts';
import type { TableSource } from '../terms/source.ts';
import type { ExperimentScope } from '../terms/scope.ts';
import type { RunOptions, Warehouse } from '../terms/warehouse.ts';

const among = (name: string, values: readonly string[]): Expr => ({
  kind: 'in',
  of: makeColumn(name),
  values: values.map((value) => makeValue(value)),
  negated: false,
});

const STATE = makeStruct({
  table_id: STRING,
  row_id: STRING,
  type: STRING,
  content_text: STRING,
  flag_type: STRING,
  created_by: STRING,
  created_at: TIMESTAMP,
  updated_at: TIMESTAMP,
});
const FIELDS = STATE.kind === 'struct' ? STATE.fields : [];
const ENTRY = ANNOTATIONS.kind === 'array' ? ANNOTATIONS.element : ANNOTATIONS;
const CONTENT = makeStruct({ text: STRING, flagType: STRING });

const log = (scope: ExperimentScope, rows: TableRows): Plan => {
  const columns = scanColumns(listFixedColumns('annotation'));
  return {
    kind: 'scan',
    scope,
    table: { kind: 'annotation', identifier: 'annotation' },
    columns,
    needed: columns.map(({ name }) => name).filter((name) => name !== 'experiment_id'),
    rows,
  };
};

/** Plans the annotations that stand: one row each, with `id` and the fields of its last change. `where` may only use columns that never change. */
const standing = (scope: ExperimentScope, rows: TableRows, where: Expr): Plan => {
  const packed: Expr = {
    kind: 'struct',
    fields: FIELDS.map(({ name, type }) => ({ name, expr: makeColumn(name, type) })),
    unless: makeColumn('id'),
    type: STATE,
  };
  const last: Expr = {
    kind: 'aggregate',
    how: 'first',
    of: packed,
    order: [{ expr: makeColumn('sequence', BIGINT), descending: true }],
    type: STATE,
  };
  const ended: Expr = { kind: 'aggregate', how: 'max', of: makeColumn('deleted', BOOLEAN), type: BOOLEAN };
  const changes: Plan = { kind: 'filter', from: log(scope, rows), where };
  const latest: Plan = {
    kind: 'group',
    from: changes,
    keys: [makeOutput('id', makeColumn('id'))],
    measures: [makeOutput('last', last), makeOutput('ended', ended)],
  };
  const stands = makeEqual(makeColumn('ended', BOOLEAN), makeValue(false, BOOLEAN));
  const fields = FIELDS.map(({ name, type }) => makeOutput(name, { kind: 'field', of: makeColumn('last', STATE), name, type }));
  return {
    kind: 'project',
    from: { kind: 'filter', from: latest, where: stands },
    outputs: [makeOutput('id', makeColumn('id')), ...fields],
    keep: false,
  };
};

/** Adds `annotations` to `left`: those that stand for each row of the table, oldest first, or an empty array. */
export const joinAnnotations = (left: Plan, source: TableSource, inOrder?: true): Plan => {
  const shown = (of: Expr | null): Output => makeOutput('annotations', { kind: 'list', of, type: ANNOTATIONS });
  if (!source.annotations) return { kind: 'project', from: left, outputs: [shown(null)], keep: true };
  const of = makeEqual(makeColumn('table_id'), makeValue(source.table.identifier));
  // reads the author's id from the dimension too, so that the rewrite of an anonymised experiment also changes the id
  const named: Plan = {
    kind: 'join',
    left: standing(source.scope, source.annotations, of),
    right: planDimension(source.scope, 'identity', source.identity, 'user_id', ['name']),
    leftKey: 'created_by',
    rightKey: 'user_id',
    adds: [makeOutput('author_id', makeColumn('user_id')), makeOutput('author_name', makeColumn('name'))],
  };
  const content: Expr = {
    kind: 'struct',
    fields: [
      { name: 'text', expr: makeColumn('content_text') },
      { name: 'flagType', expr: makeColumn('flag_type') },
    ],
    unless: makeColumn('id'),
    type: CONTENT,
  };
  const entry: Expr = {
    kind: 'struct',
    fields: [
      { name: 'id', expr: makeColumn('id') },
      { name: 'rowId', expr: makeColumn('row_id') },
      { name: 'type', expr: makeColumn('type') },
      { name: 'content', expr: content },
      { name: 'createdBy', expr: makeColumn('author_id') },
      { name: 'createdByName', expr: makeColumn('author_name') },
      { name: 'createdAt', expr: makeColumn('created_at', TIMESTAMP) },
      { name: 'updatedAt', expr: makeColumn('updated_at', TIMESTAMP) },
    ],
    unless: makeColumn('id'),
    type: ENTRY,
  };
  const order = [makeColumn('created_at', TIMESTAMP), makeColumn('id')].map((expr) => ({ expr, descending: false }));
  const perRow: Plan = {
    kind: 'group',
    from: named,
    keys: [makeOutput('row_id', makeColumn('row_id'))],
    measures: [makeOutput('written', { kind: 'aggregate', how: 'collect', of: entry, order, type: makeArray(ENTRY) })],
  };
  const beside = makeNamer(source.columns)('written');
  const joined: Plan = {
    kind: 'join',
    left,
    right: perRow,
    leftKey: 'id',
    rightKey: 'row_id',
    adds: [makeOutput(beside, makeColumn('written', ANNOTATIONS))],
    inOrder,
  };
  return { kind: 'project', from: joined, outputs: [shown(makeColumn(beside, ANNOTATIONS))], keep: true };
};

export interface StandingAnnotation {
  id: string;
  /** The identifier of the table. */
  table_id: string;
  row_id: string;
  type: string;
  content_text: string | null;
  flag_type: string | null;
  /** A user's id, even if the experiment is anonymised. It is for decisions only, and must never be in an answer. */
  created_by: string;
  /** ISO 8601. */
  created_at: string;
  updated_at: string;
}

/** Which annotations: one by its id, or those of one type on these rows of a table. */
export type AnnotationsAsked = { id: string } | { tableId: string; rowIds: readonly string[]; type: string };

const PART = 1_000;
const parts = (values: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(values.length / PART) }, (_, at) => values.slice(at * PART, (at + 1) * PART));

/** Finds annotations that stand now. The service decides by them about a change. */
export async function findAnnotations(
  warehouse: Warehouse,
  log: { scope: ExperimentScope; rows: TableRows },
  asked: AnnotationsAsked,
  options: RunOptions = {},
): Promise<StandingAnnotation[]> {
  const wheres: Expr[] =
    'id' in asked
      ? [among('id', [asked.id])]
      : parts(asked.rowIds).map((rowIds) => ({
          kind: 'every',
          of: [among('table_id', [asked.tableId]), among('type', [asked.type]), among('row_id', rowIds)],
        }));
  const found: StandingAnnotation[] = [];
  for (const where of wheres) {
    const outputs = [makeOutput('id', makeColumn('id')), ...FIELDS.map(({ name, type }) => makeOutput(name, makeColumn(name, type)))];
    const plan: Plan = { kind: 'print', from: standing(log.scope, log.rows, where), format: 'json', outputs, guard: false };
    for (const { line } of await warehouse.rows(compile(plan, warehouse.dialect), options))
      found.push(readJson(String(line)) as StandingAnnotation);
  }
  return found;
}

/** Finds which of these row ids the table does not have. */
export async function findMissingRows(
  warehouse: Warehouse,
  source: TableSource,
  rowIds: readonly string[],
  options: RunOptions = {},
): Promise<string[]> {
  const there = new Set<string>();
  for (const some of parts(rowIds)) {
    const plan: Plan = { kind: 'filter', from: planScan(source, new Set(['id'])), where: among('id', some) };
    for (const { id } of await warehouse.rows(compile(plan, warehouse.dialect), { ...options, table: source.table.identifier }))
      there.add(String(id));
  }
  return rowIds.filter((id) => !there.has(id));
}
