import type { Queryable } from './database.ts';
import { sql } from './sql.ts';

/**
 * Finds the time for whoever removes what is old, in milliseconds since 1970: that of this machine or of Postgres, whichever is behind, so that no clock that is
 * wrong makes old what is young.
 */
export async function findEarlierNow(db: Queryable): Promise<number> {
  const here = Date.now();
  const there = await db.one<{ now: Date }>(sql('clock.now')`select now() as now`);
  return Math.min(here, there?.now.getTime() ?? here);
}

/** Finds how many seconds the clock of this machine is ahead of that of Postgres; below zero, behind it. */
export async function findClockLead(db: Queryable): Promise<{ seconds: number } | undefined> {
  const before = Date.now();
  const there = await db.one<{ now: Date }>(sql('clock.lead')`select clock_timestamp() as now`);
  return there && { seconds: ((before + Date.now()) / 2 - there.now.getTime()) / 1_000 };
}
