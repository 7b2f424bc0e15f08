import { randomUUIDv7 } from 'node:crypto';
import { Lucia, TimeSpan, type Adapter } from 'lucia';
import type { Queryable } from '../database/database.ts';
import { hashToken } from './seal.ts';
import { deleteSessionByHandle, insertSession, type SignInMethod } from './sessions.queries.ts';

export { deleteExpired, endSessions, findSession, listSessions, type SignInMethod } from './sessions.queries.ts';

const SESSION_DAYS = 30;
export const SESSION_SECONDS = SESSION_DAYS * 86_400;

const TOKEN = /^[a-z2-7]{40}$/;

/**
 * What lucia asks of a store, of which each call needs one part. lucia takes the token for the session's id; only the token's SHA-256 is ever stored. The
 * statement that finds a session also renews it, at most once a day. lucia would renew it after half of its life, which never comes.
 */
const UNUSED: Adapter = {
  getSessionAndUser: async () => [null, null],
  getUserSessions: async () => [],
  setSession: async () => undefined,
  updateSessionExpiration: async () => undefined,
  // an expired session is not found any more; the sweep takes it away
  deleteSession: async () => undefined,
  deleteUserSessions: async () => undefined,
  deleteExpiredSessions: async () => undefined,
};

const lucia = (used: Partial<Adapter>) => new Lucia({ ...UNUSED, ...used }, { sessionExpiresIn: new TimeSpan(SESSION_DAYS, 'd') });

/** Finds the session that a token opens, or null. `find` is asked only about a text that has the form of a token. */
export async function validateSession<T extends { userId: string; expiresAt: Date }>(
  token: string,
  find: (hash: Buffer) => Promise<T | undefined>,
): Promise<T | null> {
  if (!TOKEN.test(token)) return null;
  const found = await find(hashToken(token));
  if (!found) return null;
  const { userId, expiresAt } = found;
  const { session } = await lucia({
    getSessionAndUser: async () => [
      { id: token, userId, expiresAt, attributes: {} },
      { id: userId, attributes: {} },
    ],
  }).validateSession(token);
  return session && found;
}

/** Begins a session. The token is returned here and nowhere else. */
export async function startSession(
  tx: Queryable,
  session: { userId: string; method: SignInMethod; ipAddress: string | null; userAgent: string | null },
): Promise<{ token: string; handle: string }> {
  const handle = randomUUIDv7();
  const userAgent = session.userAgent?.slice(0, 512) ?? null;
  const { id: token } = await lucia({
    setSession: async ({ id, expiresAt }) => {
      await insertSession(tx, { ...session, userAgent, handle, tokenHash: hashToken(id), expiresAt });
    },
  }).createSession(session.userId, {});
  return { token, handle };
}

/** Ends one session of a person, named by its handle. Returns whether there was one. */
export const endSession = async (db: Queryable, userId: string, handle: string): Promise<boolean> =>
  (await deleteSessionByHandle(db, userId, handle)) > 0;
