import type { Queryable } from '../database/database.ts';
import { fragment, sql } from '../database/sql.ts';
import type { AccountSession } from './sessions.model.ts';

export type SignInMethod = 'email' | 'passkey' | 'github' | 'orcid' | 'link';

export interface NewSessionRow {
  handle: string;
  userId: string;
  tokenHash: Buffer;
  method: SignInMethod;
  expiresAt: Date;
  ipAddress: string | null;
  userAgent: string | null;
}

export const insertSession = (db: Queryable, session: NewSessionRow) =>
  db.run(sql('auth.insertSession')`
    insert into sessions (id, user_id, token_hash, method, expires_at, ip_address, user_agent)
    values (${session.handle}, ${session.userId}, ${session.tokenHash}, ${session.method}, ${session.expiresAt}, ${session.ipAddress}, ${session.userAgent})`);

const columns = fragment`
  id, id as token, user_id as "userId", expires_at as "expiresAt", created_at as "createdAt", updated_at as "updatedAt",
  ip_address as "ipAddress", user_agent as "userAgent"`;

export const listSessions = (db: Queryable, userId: string) =>
  db.rows<AccountSession>(sql('auth.listSessions')`
    select ${columns} from sessions where user_id = ${userId} and expires_at > now() order by created_at desc, id desc limit 1000`);

export const findSession = (db: Queryable, handle: string) =>
  db.one<AccountSession>(sql('auth.findSession')`
    select ${columns} from sessions where id = ${handle}`);

export const deleteSessionByHandle = (db: Queryable, userId: string, handle: string) =>
  db.run(sql('auth.deleteSession')`delete from sessions where id = ${handle} and user_id = ${userId}`);

/** Ends all sessions of a person, except the named one if there is one. Returns how many. */
export const endSessions = (db: Queryable, userId: string, except: string | null) =>
  db.run(sql('auth.deleteSessions')`
    delete from sessions where user_id = ${userId} and (${except}::uuid is null or id <> ${except})`);

/** Deletes what has expired: sessions, codes, links, ceremonies, budgets, known browsers. */
export const deleteExpired = (db: Queryable) =>
  db.run(sql('auth.deleteExpired')`
    with ended as (delete from sessions where expires_at < now()),
      codes as (delete from sign_in_codes where expires_at < now() - interval '1 hour'),
      begun as (delete from ceremonies where expires_at < now()),
      printed as (delete from sign_in_links where expires_at < now()),
      forgotten as (delete from known_browsers where last_used_at < now() - interval '400 days')
    delete from budgets where ends_at < now()`);
