import { DOUBLE } from '../terms/catalog.ts';
import type { AggregateFunction, Expr, Output, Plan } from '../terms/plan.ts';
import { makeColumn, makeOutput } from './make.ts';
import { inferExprType } from '../terms/types.ts';

const SPREADS: ReadonlySet<AggregateFunction> = new Set(['std', 'var', 'sem', 'ci95', 'corr']);

/**
 * Plans groups whose spreads are measured from the least value of each group on. Engines compute a spread in doubles, one value after the other. Of values that
 * are far from zero and near each other those keep too few digits, or none.
 */
export const planDistances = (from: Plan, keys: readonly Output[], measures: readonly Output[], unused: (name: string) => string): Plan => {
  const partition = keys.map((key) => key.expr);
  const found = new Map<string, string>();
  const leasts: Output[] = [];
  const distances: Output[] = [];
  const measureFromLeast = (of: Expr, beside?: Expr): Expr => {
    const asked = JSON.stringify([of, beside]);
    const as = found.get(asked) ?? unused(`distance${found.size}`);
    if (!found.has(asked)) {
      const type = inferExprType(of);
      const least = unused(`least${found.size}`);
      const expr: Expr = { kind: 'running', how: 'min', of, ...(beside ? { beside } : {}), partition, order: [], whole: true, type };
      leasts.push(makeOutput(least, expr));
      distances.push(makeOutput(as, { kind: 'distance', of, from: makeColumn(least, type) }));
      found.set(asked, as);
    }
    return makeColumn(as, DOUBLE);
  };
  const measured = measures.map((measure): Output => {
    const { expr } = measure;
    if (expr.kind !== 'aggregate' || !expr.of || !SPREADS.has(expr.how)) return measure;
    // a value without a partner may be so far away that the distances from it are all one number
    const second = expr.second ? { second: measureFromLeast(expr.second, expr.of) } : {};
    return { ...measure, expr: { ...expr, of: measureFromLeast(expr.of, expr.second), ...second } };
  });
  if (distances.length === 0) return { kind: 'group', from, keys, measures };
  const known: Plan = { kind: 'project', from, outputs: leasts, keep: true };
  return { kind: 'group', from: { kind: 'project', from: known, outputs: distances, keep: true }, keys, measures: measured };
};
