/** Columns that no file holds: who contributed a row, which device measured it, what people wrote about it, what they said of its plot. */
import { withAnnotations } from './annotations.ts';
import type { Column } from './catalog.ts';
import { withContributor, withDevice } from './identity.ts';
import { withMetadata } from './metadata.ts';
import type { Plan, TableSource } from './plan.ts';

type Derived = NonNullable<Column['derived']>;
/** Kinds that are one column of their own name. */
type Single = Exclude<Derived, 'metadata'>;

const MAKERS: Record<Single, { needs: readonly string[]; add: (from: Plan, source: TableSource, inOrder: boolean) => Plan }> = {
  contributor: { needs: ['contributor_id'], add: withContributor },
  device: { needs: ['client_id'], add: withDevice },
  annotations: { needs: ['id'], add: withAnnotations },
};

/** Changes of annotations that are kept in memory, beside rows that pass in their order: about a kilobyte each. */
const FEW_ANNOTATIONS = 100_000;

/** Kinds of which there are few enough to be kept in memory, beside rows that pass in their order. */
export const fewOf = ({ annotations }: TableSource): readonly Derived[] => [
  'contributor',
  'device',
  ...((annotations?.rowCount ?? Infinity) <= FEW_ANNOTATIONS ? (['annotations'] as const) : []),
];

/** `from` with these derived columns beside its own; `inOrder` keeps the order of its rows where only what `fewOf` names is added. */
export const withDerived = (from: Plan, source: TableSource, names: ReadonlySet<string>, inOrder = false): Plan =>
  (Object.keys(MAKERS) as Single[]).reduce(
    (plan, name) => (names.has(name) ? MAKERS[name].add(plan, source, inOrder) : plan),
    withMetadata(from, source, names),
  );

/** The physical columns that a derived one is made from. */
withDerived.needs = (column: Column | undefined): readonly string[] => {
  if (!column?.derived) return [];
  return column.derived === 'metadata' ? (column.madeFrom ?? []) : MAKERS[column.derived].needs;
};
