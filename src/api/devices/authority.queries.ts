import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export const findAuthority = async (db: Queryable) =>
  (await db.one<{ sealed: string }>(sql('authority.find')`select sealed from authority`))?.sealed;

/** Keeps a sealed authority, unless there is one already. Answers the one that is kept. */
export const keepAuthority = async (db: Queryable, sealed: string) => {
  const kept = await db.one<{ sealed: string }>(sql('authority.keep')`
    insert into authority (sealed) values (${sealed}) on conflict (is_only) do update set is_only = true returning sealed`);
  return kept?.sealed ?? sealed;
};
