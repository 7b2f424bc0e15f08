import { DOUBLE } from '../terms/catalog.ts';
import type { AggregateFunction, Expr, Output, Plan } from '../terms/plan.ts';
import { inferExprType } from '../terms/types.ts';

const SPREADS: ReadonlySet<AggregateFunction> = new Set(['std', 'var', 'sem', 'ci95', 'corr']);

/**
 * Plans groups whose spreads are measured from the least value of each group on. Engines compute a spread in doubles, one value after the other. Of values that
 * are far from zero and near each other those keep too few digits, or none.
 */
export const planDistances = (from: Plan, keys: readonly Output[], measures: readonly Output[], unused: (name: string) => string): Plan => {
  const partition = keys.map((key) => key.expr);
  const leasts = new Map<string, Output>();
  const distances: Output[] = [];
  const measureFromLeast = (of: Expr): Expr => {
    const at = [...leasts.keys()].indexOf(JSON.stringify(of));
    const as = unused(`distance${at < 0 ? leasts.size : at}`);
    if (at < 0) {
      const type = inferExprType(of);
      const least = unused(`least${leasts.size}`);
      const expr: Expr = { kind: 'running', how: 'min', of, partition, order: [], whole: true, type };
      leasts.set(JSON.stringify(of), { as: least, name: least, expr });
      distances.push({ as, name: as, expr: { kind: 'distance', of, from: { kind: 'column', name: least, type } } });
    }
    return { kind: 'column', name: as, type: DOUBLE };
  };
  const measured = measures.map((measure): Output => {
    const { expr } = measure;
    if (expr.kind !== 'aggregate' || !expr.of || !SPREADS.has(expr.how)) return measure;
    const second = expr.second ? { second: measureFromLeast(expr.second) } : {};
    return { ...measure, expr: { ...expr, of: measureFromLeast(expr.of), ...second } };
  });
  if (distances.length === 0) return { kind: 'group', from, keys, measures };
  const known: Plan = { kind: 'project', from, outputs: [...leasts.values()], keep: true };
  return { kind: 'group', from: { kind: 'project', from: known, outputs: distances, keep: true }, keys, measures: measured };
};
