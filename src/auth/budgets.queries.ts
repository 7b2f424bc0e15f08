import type { Queryable } from '../database/database.ts';
import { sql } from '../database/sql.ts';

/** Takes one from a budget; no row when nothing is left. A budget whose time is over starts anew. */
export const takeFromBudget = (db: Queryable, budget: { kind: string; key: Buffer; most: number; seconds: number }) =>
  db.one<{ used: number }>(sql('auth.takeFromBudget')`
    insert into budgets as b (kind, key, used, ends_at) values (${budget.kind}, ${budget.key}, 1, now() + make_interval(secs => ${budget.seconds}))
    on conflict (kind, key) do update set
      used = case when b.ends_at <= now() then 1 else b.used + 1 end,
      since = case when b.ends_at <= now() then now() else b.since end,
      ends_at = case when b.ends_at <= now() then excluded.ends_at else b.ends_at end
    where b.ends_at <= now() or b.used < ${budget.most}
    returning used`);

export const giveBack = (db: Queryable, kind: string, key: Buffer) =>
  db.run(sql('auth.giveBack')`update budgets set used = greatest(used - 1, 0) where kind = ${kind} and key = ${key}`);

export const findBudgetWait = (db: Queryable, kind: string, key: Buffer) =>
  db.value<number>(sql('auth.budgetWait')`
    select greatest(1, ceil(extract(epoch from ends_at - now())))::integer from budgets where kind = ${kind} and key = ${key}`);
