import type { Queryable } from '../database/database.ts';
import { fragment, sql } from '../database/sql.ts';

/** Whether a budget's time is over, or ends much later than that of one that begins now: the clock was set back. */
const isOver = fragment`not b.ends_at between now() and excluded.ends_at + interval '1 minute'`;

/** Takes one from a budget; no row when nothing is left. A budget whose time is over starts anew. */
export const takeFromBudget = (db: Queryable, budget: { kind: string; key: Buffer; most: number; seconds: number }) =>
  db.one<{ used: number }>(sql('auth.takeFromBudget')`
    insert into budgets as b (kind, key, used, ends_at) values (${budget.kind}, ${budget.key}, 1, now() + make_interval(secs => ${budget.seconds}))
    on conflict (kind, key) do update set
      used = case when ${isOver} then 1 else b.used + 1 end,
      since = case when ${isOver} then now() else b.since end,
      ends_at = case when ${isOver} then excluded.ends_at else b.ends_at end
    where ${isOver} or b.used < ${budget.most}
    returning used`);

export const giveBack = (db: Queryable, kind: string, key: Buffer) =>
  db.run(sql('auth.giveBack')`update budgets set used = greatest(used - 1, 0) where kind = ${kind} and key = ${key}`);

export const findBudgetWait = (db: Queryable, kind: string, key: Buffer) =>
  db.value<number>(sql('auth.budgetWait')`
    select greatest(1, ceil(extract(epoch from ends_at - now())))::integer from budgets where kind = ${kind} and key = ${key}`);
