import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export const insertLink = (db: Queryable, link: { tokenHash: Buffer; userId: string; target: string; seconds: number }) =>
  db.run(sql('auth.insertLink')`
    insert into sign_in_links (token_hash, user_id, target, expires_at)
    values (${link.tokenHash}, ${link.userId}, ${link.target}, now() + make_interval(secs => ${link.seconds}))`);

/** Takes a link that still works; undefined when it is over. */
export const takeLink = (db: Queryable, tokenHash: Buffer) =>
  db.one<{ userId: string; target: string }>(sql('auth.takeLink')`
    delete from sign_in_links where token_hash = ${tokenHash} and expires_at > now() returning user_id as "userId", target`);
