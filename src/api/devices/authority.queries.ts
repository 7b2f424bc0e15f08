import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export const findAuthority = (db: Queryable) => db.value<string>(sql('authority.find')`select sealed from authority`);

/** Keeps a sealed authority, unless there is one already. Answers the one that is kept. */
export const keepAuthority = async (db: Queryable, sealed: string) =>
  (await db.value<string>(sql('authority.keep')`
    insert into authority (sealed) values (${sealed}) on conflict (is_only) do update set is_only = true returning sealed`)) ?? sealed;
