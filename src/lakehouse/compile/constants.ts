/** Finds columns that have the same value in every row, where the plan tells without asking the engine. */
import type { Plan, PlanKind } from '../terms/plan.ts';

type Find<K extends PlanKind> = (plan: Extract<Plan, { kind: K }>, name: string) => string | null;

const FINDERS: { [K in PlanKind]: Find<K> } = {
  scan: () => null,
  join: ({ left, adds }, name) => (adds.some(({ as }) => as === name) ? null : printConstant(left, name)),
  among: ({ left }, name) => printConstant(left, name),
  filter: ({ from }, name) => printConstant(from, name),
  project: ({ from, outputs, keep }, name) => {
    const made = outputs.find(({ as }) => as === name)?.expr;
    if (made === undefined) return keep ? printConstant(from, name) : null;
    if (made.kind === 'column') return printConstant(from, made.name);
    if (made.kind === 'value' && made.value === null) return 'null';
    return made.kind === 'list' && made.of === null ? '[]' : null;
  },
  group: () => null,
  sort: ({ from }, name) => printConstant(from, name),
  print: () => null,
};

/**
 * Prints the JSON text of a column that is null, or an empty list, in every row; null for any other. It takes the engine 1 ms to print a struct that is always
 * null.
 */
export const printConstant = (plan: Plan, name: string): string | null => (FINDERS[plan.kind] as Find<PlanKind>)(plan, name);
