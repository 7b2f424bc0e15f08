import type { Database } from '../../src/database/database.ts';
import { errors } from '../../src/errors.ts';

/** The same database over a connection that is lost after each commit, before Postgres has answered. */
export const loseCommits = (db: Database): Database => ({
  ...db,
  transaction: async (work) => {
    await db.transaction(work);
    throw errors.databaseUnavailable();
  },
});
