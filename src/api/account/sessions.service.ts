import { audit } from '../../auth/audit.ts';
import type { Actor, Caller } from '../../auth/caller.ts';
import { endSession, endSessions } from '../../auth/sessions.ts';
import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import { refuseBody } from '../input/input.service.ts';
import type { AccountUpdate } from './account.model.ts';
import { updateUserRow } from './account.queries.ts';

const FRESH_MS = 86_400_000;

/** Finds the handle of the caller's session. For routes that only a session may use. */
function requireOwnSession(caller: Caller): string {
  if (caller.via.kind !== 'session') throw errors.apiKeyNotAccepted();
  return caller.via.sessionId;
}

/** Requires a session that was begun within a day, for changes that outlast the session. Errors: sessionNotFresh. */
export function requireFresh(caller: Caller): void {
  if (caller.via.kind !== 'session') throw errors.apiKeyNotAccepted();
  if (Date.now() - caller.via.createdAt.getTime() > FRESH_MS) throw errors.sessionNotFresh();
}

/** Ends a person's session with this handle, if there is one: they sign out, or revoke it from another session. */
export const revokeSession = (ctx: Context, actor: Actor, handle: string, by: 'sign-out' | 'revocation'): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    if (await endSession(tx, actor.userId, handle)) await audit(tx, actor, { action: 'session.ended', details: { session: handle, by } });
  });

/** Ends all sessions of the caller's, except this one if it is to be kept. */
export const revokeSessions = (ctx: Context, caller: Caller, keepOwn: boolean): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const ended = await endSessions(tx, caller.userId, keepOwn ? requireOwnSession(caller) : null);
    if (ended > 0) await audit(tx, caller, { action: 'session.ended', details: { sessions: ended, by: 'revocation' } });
  });

/** Changes the name or picture of the caller's account. Errors: emailCanNotBeUpdated, invalidInput when nothing is given. */
export const updateAccount = (ctx: Context, caller: Caller, change: AccountUpdate): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    if (change.email !== undefined) throw errors.emailCanNotBeUpdated();
    if (change.name === undefined && change.image === undefined) throw refuseBody([{ path: '', message: 'give a name or an image' }]);
    const changed = await updateUserRow(tx, caller.userId, {
      name: change.name?.trim() ?? null,
      image: change.image ?? null,
      clearImage: change.image === null,
    });
    if (changed === 0) throw errors.unauthorized();
    await audit(tx, caller, { action: 'user.updated', subjectId: caller.userId });
  });
