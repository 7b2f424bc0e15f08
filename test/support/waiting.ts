import type { Queryable } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';

/** Postgres calls a wait for a row a wait for the transaction that has it, or for its place in the line. */
const LOCKS = { row: ['transactionid', 'tuple'], table: ['relation'], any: null };

/** Counts the connections of this database that wait for a lock which another connection has. */
export const countWaiting = async (db: Queryable, of: keyof typeof LOCKS = 'any'): Promise<number> =>
  (
    await db.rows(sql('test.waiting')`select distinct l.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where not l.granted and a.datname = current_database() and (${LOCKS[of]}::text[] is null or l.locktype = any (${LOCKS[of]}::text[]))`)
  ).length;
