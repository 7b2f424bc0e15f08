/** Columns that no file holds: who contributed a row, which device measured it, what people wrote about it. */
import { array, fixedColumns } from './catalog.ts';
import type { Column } from './catalog.ts';
import { withContributor } from './identity.ts';
import type { Expr, Output, Plan, TableSource } from './plan.ts';

type Derived = NonNullable<Column['derived']>;

const constant = (name: Derived, from: Plan, expr: Expr): Plan => {
  const output: Output = { as: name, name, expr };
  return { kind: 'project', from, outputs: [output], keep: true };
};

const typeOf = (source: TableSource, name: Derived) =>
  fixedColumns(source.table.kind).find((column) => column.derived === name)?.type ?? array({ kind: 'string' });

const MAKERS: Record<Derived, { needs: readonly string[]; add: (from: Plan, source: TableSource) => Plan }> = {
  contributor: { needs: ['contributor_id'], add: withContributor },
  device: {
    needs: ['client_id'],
    add: (from, source) => constant('device', from, { kind: 'value', value: null, type: typeOf(source, 'device') }),
  },
  annotations: {
    needs: ['id'],
    add: (from, source) => constant('annotations', from, { kind: 'list', of: null, type: typeOf(source, 'annotations') }),
  },
};

/** `from` with these derived columns beside its own. */
export const withDerived = (from: Plan, source: TableSource, names: ReadonlySet<string>): Plan =>
  (Object.keys(MAKERS) as Derived[]).reduce((plan, name) => (names.has(name) ? MAKERS[name].add(plan, source) : plan), from);

/** The physical columns that a derived one is made from. */
withDerived.needs = (name: Derived | undefined): readonly string[] => (name ? MAKERS[name].needs : []);
