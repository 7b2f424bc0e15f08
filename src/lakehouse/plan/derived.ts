/** Columns that no file holds: who contributed a row, which device measured it, what people wrote about it, what they said of its plot. */
import { joinAnnotations } from './annotations.ts';
import type { Column } from '../terms/catalog.ts';
import { joinContributor, joinDevice } from './identity.ts';
import { joinMetadata } from './metadata.ts';
import type { Plan } from '../terms/plan.ts';
import type { TableSource } from '../terms/source.ts';

type Derived = NonNullable<Column['derived']>;
/** Kinds that are one column of their own name. */
type Single = Exclude<Derived, 'metadata'>;

const MAKERS: Record<Single, { needs: readonly string[]; add: (from: Plan, source: TableSource, inOrder: boolean) => Plan }> = {
  contributor: { needs: ['contributor_id'], add: joinContributor },
  device: { needs: ['client_id'], add: joinDevice },
  annotations: { needs: ['id'], add: joinAnnotations },
};

/** Changes of annotations that are kept in memory, beside rows that pass in their order: about a kilobyte each. */
const FEW_ANNOTATIONS = 100_000;

/** Kinds of which there are few enough to be kept in memory, beside rows that pass in their order. */
export const pickFewValued = ({ annotations }: TableSource): readonly Derived[] => [
  'contributor',
  'device',
  ...((annotations?.rowCount ?? Infinity) <= FEW_ANNOTATIONS ? (['annotations'] as const) : []),
];

/** `from` with these derived columns beside its own; `inOrder` keeps the order of its rows where only what `fewOf` names is added. */
export const addDerived = (from: Plan, source: TableSource, names: ReadonlySet<string>, inOrder = false): Plan =>
  (Object.keys(MAKERS) as Single[]).reduce(
    (plan, name) => (names.has(name) ? MAKERS[name].add(plan, source, inOrder) : plan),
    joinMetadata(from, source, names),
  );

/** The physical columns that a derived one is made from. */
addDerived.needs = (column: Column | undefined): readonly string[] => {
  if (!column?.derived) return [];
  return column.derived === 'metadata' ? (column.madeFrom ?? []) : MAKERS[column.derived].needs;
};
