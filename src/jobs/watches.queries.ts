import type { Queryable } from '../database/database.ts';
import { fragment, list, sql, type Fragment } from '../database/sql.ts';

/** A condition on the database: an SQL expression that is true or false. */
export type Condition = Fragment;

/** Finds which of these conditions hold, in their order; an undefined one always holds. */
export const findDue = async (db: Queryable, conditions: readonly (Condition | undefined)[]): Promise<readonly boolean[]> =>
  (await db.value<boolean[]>(sql('jobs.findDue')`select array[${list(conditions.map((due) => due ?? fragment`true`))}]`)) ?? [];
