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
