import type { Queryable } from './database.ts';
import { sql } from './sql.ts';

/** Finds the time of Postgres, which is one for all machines, in milliseconds since 1970. */
export const findNow = async (db: Queryable): Promise<number> =>
  (await db.value<Date>(sql('clock.now')`select now()`))?.getTime() ?? Date.now();

/**
 * Finds the time for whoever removes what is old, in milliseconds since 1970: that of this machine or of Postgres, whichever is behind, so that no clock that is
 * wrong makes old what is young.
 */
export const findEarlierNow = async (db: Queryable): Promise<number> => Math.min(Date.now(), await findNow(db));

/** Finds how many seconds the clock of this machine is ahead of that of Postgres; below zero, behind it. */
export async function findClockLead(db: Queryable): Promise<{ seconds: number } | undefined> {
  const before = Date.now();
  const there = await db.one<{ now: Date }>(sql('clock.lead')`select clock_timestamp() as now`);
  return there && { seconds: ((before + Date.now()) / 2 - there.now.getTime()) / 1_000 };
}
