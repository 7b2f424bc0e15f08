import { audit } from '../../auth/audit.ts';
import { makePlaceBudgets, cutAddress, spend, type Budget } from '../../auth/budgets.ts';
import { hashBrowserCookie } from '../../auth/browsers.ts';
import { CODE_MINUTES, issueCode, redeemCode, rememberBrowser, type Redeemed } from '../../auth/proofs/codes.ts';
import { redeemLink } from '../../auth/proofs/links.ts';
import { endSessions, startSession, type SignInMethod } from '../../auth/sessions.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { canonicaliseAddress } from '../input/input.service.ts';
import { claimInvitations } from '../invitations/invitations.service.ts';
import { enqueueLetter } from '../mail/mail.service.ts';
import type { AccountUser } from './account.model.ts';
import { findAccountUser, findUserByEmail, lockUserByEmail, markVerified, reactivateProfile } from './account.queries.ts';
import { createAccount } from './account.service.ts';

/** Where a sign-in comes from. */
export interface Visit {
  ip: string;
  userAgent: string | null;
  /** Cookie that names the browser, either sent by the browser or new. */
  browser: string;
  requestId: string;
}

export interface SignedIn {
  /** The session's secret, for the cookie and nothing else. */
  token: string;
  handle: string;
  method: SignInMethod;
  user: AccountUser;
}

/** Takes one from the budget of a place: an IPv4 address, or the first 64 bits of an IPv6 address. Errors: rateLimited, with the seconds to wait. */
export async function spendPlace(ctx: Context, ip: string, kind: keyof ReturnType<typeof makePlaceBudgets>): Promise<void> {
  const budget: Budget = makePlaceBudgets(ctx.config.web.signInsPerMinute)[kind];
  const wait = await spend(ctx.db, ctx.config.secret, budget, cutAddress(ip));
  if (wait !== null) throw errors.rateLimited(wait).with({ retryAfter: wait });
}

/**
 * Sends a code to an address, known or not. An unknown address gets an account when its code is entered. Both therefore take the same steps, and the answer
 * does not tell which addresses are known.
 */
export async function sendCode(ctx: Context, visit: Visit, email: string): Promise<void> {
  const address = canonicaliseAddress(email);
  await spendPlace(ctx, visit.ip, 'sends');
  const browser = hashBrowserCookie(ctx.config.secret, visit.browser);
  const issued = await ctx.db.transaction(async (tx) => {
    const made = await issueCode(tx, ctx.config.secret, { address, browser });
    if ('code' in made)
      await enqueueLetter(ctx, tx, {
        to: address,
        letter: 'sign-in-code',
        data: { code: made.code, minutes: CODE_MINUTES },
        worthSeconds: CODE_MINUTES * 60,
      });
    return made;
  });
  if ('wait' in issued) throw errors.rateLimited(issued.wait).with({ retryAfter: issued.wait });
}

interface Identity {
  userId: string;
  method: SignInMethod;
}

/** Begins the session of a person who has just been identified, in the transaction that identified them. */
export async function beginSession(ctx: Context, tx: Transaction, visit: Visit, { userId, method }: Identity): Promise<SignedIn> {
  const session = await startSession(tx, { userId, method, ipAddress: visit.ip, userAgent: visit.userAgent });
  const browser = hashBrowserCookie(ctx.config.secret, visit.browser);
  if (browser) await rememberBrowser(tx, userId, browser);
  const details = { method, ip: visit.ip, session: session.handle };
  await audit(tx, { userId, requestId: visit.requestId }, { action: 'session.created', subjectId: userId, details });
  const user = (await findAccountUser(tx, userId)) ?? refuse(errors.unauthorized());
  return { ...session, method, user };
}

/** Does what goes with every sign-in, once its session exists. What fails is logged by name, and tried again at the next sign-in. */
export async function finishSignIn(ctx: Context, signedIn: SignedIn): Promise<SignedIn> {
  const { id } = signedIn.user;
  const effects = {
    'reactivate-profile': () => reactivateProfile(ctx.db, id),
    'claim-invitations': () => claimInvitations(ctx, signedIn.user),
  };
  for (const [effect, run] of Object.entries(effects))
    await run().catch((err: unknown) => ctx.log.error({ err, effect, user: id }, 'something that goes with a sign-in failed'));
  // they may have changed what the person sees of their account
  return { ...signedIn, user: (await findAccountUser(ctx.db, id)) ?? signedIn.user };
}

/** Records that somebody failed to sign in. The entry is about the person, if the attempt named one. */
export async function auditRefusal(
  tx: Transaction,
  visit: Visit,
  refusal: { method: SignInMethod; reason: string; userId?: string | undefined },
): Promise<void> {
  const details = { method: refusal.method, reason: refusal.reason, ip: visit.ip };
  await audit(tx, null, { action: 'session.refused', ...(refusal.userId === undefined ? {} : { subjectId: refusal.userId }), details });
}

/** Finds the person of a proven address, or makes an account. If the address was not proven before, the sessions of its account end. */
async function ensurePerson(tx: Transaction, address: string, name: string): Promise<string> {
  const made = await createAccount(tx, { email: address, name, verified: true });
  if (made) return made.id;
  const user = (await lockUserByEmail(tx, address)) ?? refuse(errors.conflict());
  if (!user.emailVerified) {
    await endSessions(tx, user.id, null);
    await markVerified(tx, user.id);
  }
  return user.id;
}

function refusalOf(outcome: Exclude<Redeemed, 'right'>): Error {
  if (typeof outcome === 'object') return errors.rateLimited(outcome.wait).with({ retryAfter: outcome.wait });
  return { wrong: errors.invalidOtp, expired: errors.otpExpired, spent: errors.tooManyAttempts }[outcome]();
}

/** Signs a person in by a code; a new address gets an account. Errors: invalidOtp, otpExpired, tooManyAttempts, rateLimited, invalidEmail. */
export async function signInByCode(ctx: Context, visit: Visit, given: { email: string; otp: string; name: string }): Promise<SignedIn> {
  const address = canonicaliseAddress(given.email);
  await spendPlace(ctx, visit.ip, 'tries');
  const browser = hashBrowserCookie(ctx.config.secret, visit.browser);
  const outcome = await ctx.db.transaction(async (tx) => {
    const redeemed = await redeemCode(tx, ctx.config.secret, { address, browser }, given.otp.trim());
    if (redeemed === 'right') return beginSession(ctx, tx, visit, { userId: await ensurePerson(tx, address, given.name), method: 'email' });
    const reason = typeof redeemed === 'string' ? redeemed : 'budget';
    await auditRefusal(tx, visit, { method: 'email', reason, userId: await findUserByEmail(tx, address) });
    return redeemed;
  });
  if (typeof outcome === 'string' || 'wait' in outcome) throw refusalOf(outcome);
  return finishSignIn(ctx, outcome);
}

/** Signs a person in by a link that the program printed when it started. Errors: signInLinkInvalid, rateLimited. */
export async function signInByLink(ctx: Context, visit: Visit, token: string): Promise<{ signedIn: SignedIn; target: string }> {
  await spendPlace(ctx, visit.ip, 'tries');
  const outcome = await ctx.db.transaction(async (tx) => {
    const link = await redeemLink(tx, token);
    if (link) return { signedIn: await beginSession(ctx, tx, visit, { userId: link.userId, method: 'link' }), target: link.target };
    await auditRefusal(tx, visit, { method: 'link', reason: 'link' });
    return null;
  });
  if (!outcome) throw errors.signInLinkInvalid();
  return { signedIn: await finishSignIn(ctx, outcome.signedIn), target: outcome.target };
}
