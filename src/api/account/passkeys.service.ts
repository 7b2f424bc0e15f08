import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { beginCeremony, endCeremony } from '../../auth/proofs/ceremonies.ts';
import type { PasskeyInfo } from '../../auth/proofs/passkeys.model.ts';
import { listPasskeyOrigins, decideRelyingPartyId } from '../../auth/origins.ts';
import {
  authenticatePasskey,
  makeAuthenticationOptions,
  deletePasskey,
  registerPasskey,
  makeRegistrationOptions,
  renamePasskey,
  type RelyingParty,
} from '../../auth/proofs/passkeys.ts';
import type { Context } from '../../context.ts';
import { cleanName } from '../../contract/names.ts';
import { isUuid } from '../../database/uuid.ts';
import { errors, refuse } from '../../errors.ts';
import { countWaysIn, findAccountUser, lockAccount } from './account.queries.ts';
import { requireFresh } from './sessions.service.ts';
import { finishSignIn, auditRefusal, beginSession, spendPlace, type SignedIn, type Visit } from './sign-in.service.ts';

/** Options for a ceremony, and the cookie that must come back with its answer. */
export interface CeremonyBegun {
  options: object;
  cookie: string;
}

const partyOf = (ctx: Context): RelyingParty => ({ id: decideRelyingPartyId(ctx), origins: listPasskeyOrigins(ctx) });

/** Begins the making of a passkey. Errors: sessionNotFresh. */
export async function beginRegistration(ctx: Context, caller: Caller, attachment?: 'platform' | 'cross-platform'): Promise<CeremonyBegun> {
  requireFresh(caller);
  const user = (await findAccountUser(ctx.db, caller.userId)) ?? refuse(errors.unauthorized());
  const name = user.email ?? (user.name === '' ? 'fieldlake account' : user.name);
  const options = await makeRegistrationOptions(ctx.db, partyOf(ctx), { id: user.id, name }, attachment);
  const data = { challenge: options.challenge, userId: caller.userId };
  return { options, cookie: await beginCeremony(ctx.db, ctx.config.secret, 'passkey-registration', data) };
}

/** Ends the making of a passkey. Errors: sessionNotFresh, challengeNotFound, failedToVerifyRegistration, previouslyRegistered. */
export async function endRegistration(
  ctx: Context,
  caller: Caller,
  made: { cookie: string | undefined; response: object; name: string | undefined },
): Promise<PasskeyInfo> {
  requireFresh(caller);
  const begun = await endCeremony<{ challenge: string; userId: string }>(ctx.db, ctx.config.secret, 'passkey-registration', made.cookie);
  if (begun?.userId !== caller.userId) throw errors.challengeNotFound();
  return ctx.db.transaction(async (tx) => {
    const passkey = await registerPasskey(tx, partyOf(ctx), {
      userId: caller.userId,
      name: cleanName(made.name ?? '') || null,
      challenge: begun.challenge,
      response: made.response,
    });
    if (passkey === 'invalid') throw errors.failedToVerifyRegistration();
    if (passkey === 'taken') throw errors.previouslyRegistered();
    await audit(tx, caller, { action: 'passkey.created', subjectId: caller.userId, details: { passkeyId: passkey.id } });
    return passkey;
  });
}

export async function beginPasskeySignIn(ctx: Context, ip: string): Promise<CeremonyBegun> {
  await spendPlace(ctx, ip, 'ceremonies');
  const options = await makeAuthenticationOptions(partyOf(ctx));
  return { options, cookie: await beginCeremony(ctx.db, ctx.config.secret, 'passkey-authentication', { challenge: options.challenge }) };
}

/** Ends a sign-in by passkey with a session. Errors: challengeNotFound, passkeyUnknown, authenticationFailed. */
export async function endPasskeySignIn(
  ctx: Context,
  visit: Visit,
  given: { cookie: string | undefined; response: object },
): Promise<SignedIn> {
  await spendPlace(ctx, visit.ip, 'ceremonies');
  const begun = await endCeremony<{ challenge: string }>(ctx.db, ctx.config.secret, 'passkey-authentication', given.cookie);
  if (!begun) throw errors.challengeNotFound();
  const outcome = await ctx.db.transaction(async (tx) => {
    const answer = await authenticatePasskey(tx, partyOf(ctx), { challenge: begun.challenge, response: given.response });
    if (!('refused' in answer)) return beginSession(ctx, tx, visit, { userId: answer.userId, method: 'passkey' });
    await auditRefusal(tx, visit, { method: 'passkey', reason: answer.refused, userId: answer.userId });
    return answer;
  });
  if ('refused' in outcome) throw outcome.refused === 'unknown' ? errors.passkeyUnknown() : errors.authenticationFailed();
  return finishSignIn(ctx, outcome);
}

/** Renames a passkey of the caller's. Errors: passkeyNotFound, also for somebody else's. */
export const changePasskey = (ctx: Context, caller: Caller, id: string, name: string): Promise<PasskeyInfo> =>
  ctx.db.transaction(async (tx) => {
    const passkey = isUuid(id) ? await renamePasskey(tx, caller.userId, id, name.trim()) : undefined;
    if (!passkey) throw errors.passkeyNotFound();
    await audit(tx, caller, { action: 'passkey.updated', subjectId: caller.userId, details: { passkeyId: passkey.id } });
    return passkey;
  });

/** Deletes a passkey of the caller's. Sessions that it began go on. Errors: passkeyNotFound, failedToUnlinkLastAccount when it is the only way in. */
export const removePasskey = (ctx: Context, caller: Caller, id: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    await lockAccount(tx, caller.userId);
    if (!isUuid(id) || !(await deletePasskey(tx, caller.userId, id))) throw errors.passkeyNotFound();
    if ((await countWaysIn(tx, caller.userId)) === 0) throw errors.failedToUnlinkLastAccount();
    await audit(tx, caller, { action: 'passkey.deleted', subjectId: caller.userId, details: { passkeyId: id } });
  });
