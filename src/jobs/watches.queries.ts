import type { Queryable } from '../database/database.ts';
import { fragment, list, sql, type Fragment } from '../database/sql.ts';

/** What is true or false of the database: an SQL expression. */
export type Condition = Fragment;

/** Which of these conditions hold, in their order; one that is none holds always. */
export const findDue = async (db: Queryable, conditions: readonly (Condition | undefined)[]): Promise<readonly boolean[]> =>
  (await db.one<{ due: boolean[] }>(sql('jobs.findDue')`select array[${list(conditions.map((due) => due ?? fragment`true`))}] as due`))
    ?.due ?? [];
