/** Columns that no file holds: who contributed a row, which device measured it, what people wrote about it. */
import { withAnnotations } from './annotations.ts';
import type { Column } from './catalog.ts';
import { withContributor, withDevice } from './identity.ts';
import type { Plan, TableSource } from './plan.ts';

type Derived = NonNullable<Column['derived']>;

const MAKERS: Record<Derived, { needs: readonly string[]; add: (from: Plan, source: TableSource) => Plan }> = {
  contributor: { needs: ['contributor_id'], add: withContributor },
  device: { needs: ['client_id'], add: withDevice },
  annotations: { needs: ['id'], add: withAnnotations },
};

/** `from` with these derived columns beside its own. */
export const withDerived = (from: Plan, source: TableSource, names: ReadonlySet<string>): Plan =>
  (Object.keys(MAKERS) as Derived[]).reduce((plan, name) => (names.has(name) ? MAKERS[name].add(plan, source) : plan), from);

/** The physical columns that a derived one is made from. */
withDerived.needs = (name: Derived | undefined): readonly string[] => (name ? MAKERS[name].needs : []);
