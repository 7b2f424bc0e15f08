import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export interface CodeRow {
  browser: Buffer;
  digest: Buffer;
  salt: Buffer;
  wrongTries: number;
  live: boolean;
}

/** Replaces the code of an address and browser: only the newest counts. */
export const upsertCode = (db: Queryable, code: { address: string; browser: Buffer; digest: Buffer; salt: Buffer; seconds: number }) =>
  db.run(sql('auth.upsertCode')`
    insert into sign_in_codes (address, browser, digest, salt, expires_at)
    values (${code.address}, ${code.browser}, ${code.digest}, ${code.salt}, now() + make_interval(secs => ${code.seconds}))
    on conflict (address, browser) do update
      set digest = excluded.digest, salt = excluded.salt, wrong_tries = 0, expires_at = excluded.expires_at, created_at = now()`);

/** The code that a browser may redeem: its own, else the shared one. Locked, so that guesses come one after another. */
export const lockCode = (db: Queryable, address: string, browser: Buffer) =>
  db.one<CodeRow>(sql('auth.lockCode')`
    select browser, digest, salt, wrong_tries as "wrongTries", expires_at > now() as live
    from sign_in_codes where address = ${address} and browser in (${browser}, ''::bytea)
    order by length(browser) desc limit 1 for update`);

export const countWrongTry = (db: Queryable, address: string, browser: Buffer) =>
  db.run(sql('auth.countWrongTry')`
    update sign_in_codes set wrong_tries = wrong_tries + 1 where address = ${address} and browser = ${browser}`);

export const deleteCode = (db: Queryable, address: string, browser: Buffer) =>
  db.run(sql('auth.deleteCode')`delete from sign_in_codes where address = ${address} and browser = ${browser}`);

/** Whether this browser has signed in at this address before. */
export const isKnownBrowser = async (db: Queryable, address: string, browser: Buffer) =>
  (await db.one(sql('auth.isKnownBrowser')`
    select 1 from known_browsers k join users u on u.id = k.user_id where u.email = canonical_email(${address}) and k.browser = ${browser}`)) !==
  undefined;

/** Stores that a browser has signed in as this person: from now on it has budgets of its own. */
export const rememberBrowser = (db: Queryable, userId: string, browser: Buffer) =>
  db.run(sql('auth.rememberBrowser')`
    insert into known_browsers (user_id, browser) values (${userId}, ${browser})
    on conflict (user_id, browser) do update set last_used_at = now()`);
