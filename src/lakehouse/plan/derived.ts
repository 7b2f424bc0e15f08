/** Adds columns that no file holds: who contributed a row, which device measured it, what people wrote about it, and what they said of its plot. */
import { joinAnnotations } from './annotations.ts';
import type { Column } from '../terms/catalog.ts';
import { joinContributor, joinDevice } from './identity.ts';
import { joinMetadata } from './metadata.ts';
import type { Plan } from '../terms/plan.ts';
import type { TableSource } from '../terms/source.ts';

type Derived = NonNullable<Column['derived']>;
/** Kinds that consist of one column, named like the kind. */
type Single = Exclude<Derived, 'metadata'>;

const MAKERS: Record<Single, { needs: readonly string[]; add: (from: Plan, source: TableSource, inOrder?: true) => Plan }> = {
  contributor: { needs: ['contributor_id'], add: joinContributor },
  device: { needs: ['client_id'], add: joinDevice },
  annotations: { needs: ['id'], add: joinAnnotations },
};

/** The most changes of annotations that are kept in memory, beside rows that pass in their order. Each takes about a kilobyte. */
const FEW_ANNOTATIONS = 100_000;

/** Lists the kinds with so few values that memory can hold them, beside rows that pass in their order. */
export const pickFewValued = ({ annotations }: TableSource): readonly Derived[] => [
  'contributor',
  'device',
  ...((annotations?.rowCount ?? Infinity) <= FEW_ANNOTATIONS ? (['annotations'] as const) : []),
];

/** Adds these derived columns to `from`. `inOrder` keeps the order of its rows, if only kinds of `pickFewValued` are added. */
export const addDerived = (from: Plan, source: TableSource, names: ReadonlySet<string>, inOrder?: true): Plan =>
  (Object.keys(MAKERS) as Single[]).reduce(
    (plan, name) => (names.has(name) ? MAKERS[name].add(plan, source, inOrder) : plan),
    joinMetadata(from, source, names),
  );

/** Lists the physical columns from which a derived column is made. */
export const listNeeded = (column: Column | undefined): readonly string[] => {
  if (!column?.derived) return [];
  return column.derived === 'metadata' ? (column.madeFrom ?? []) : MAKERS[column.derived].needs;
};
