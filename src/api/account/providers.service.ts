import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { beginCeremony, endCeremony } from '../../auth/proofs/ceremonies.ts';
import { checkDestination } from '../../auth/origins.ts';
import {
  makeAuthorizationUrl,
  identify,
  isProvider,
  PROVIDERS,
  type AuthorizationChecks,
  type ProviderClient,
  type ProviderIdentity,
  type ProviderName,
} from '../../auth/proofs/providers.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import { canonicaliseAddress } from '../input/input.service.ts';
import { countWaysIn, lockAccount, lockUserByEmail } from './account.queries.ts';
import { createAccount } from './account.service.ts';
import type { OAuthSignIn, UnlinkAccount } from './providers.model.ts';
import { deleteLinkedAccount, findLinkedUser, insertLinkedAccount } from './providers.queries.ts';
import { requireFresh } from './sessions.service.ts';
import { finishSignIn, auditRefusal, beginSession, spendPlace, type SignedIn, type Visit } from './sign-in.service.ts';

/** Why a person who came back from a provider is not let in. The page for signing in has a sentence for each reason. */
export const PROVIDER_FAILURES = [
  'state_mismatch',
  'access_denied',
  'provider_failed',
  'email_not_verified',
  'account_not_linked',
  'account_already_linked_to_different_user',
] as const;
export type ProviderFailure = (typeof PROVIDER_FAILURES)[number];

interface Flow {
  provider: ProviderName;
  checks: AuthorizationChecks;
  destination: string;
  errorDestination: string | null;
  newUserDestination: string;
  /** The person who links the provider to an account that is signed in; null for a sign-in. */
  linkTo: string | null;
}

function clientOf(ctx: Context, name: string): { provider: ProviderName; client: ProviderClient } {
  const client = isProvider(name) ? ctx.config.providers[name] : undefined;
  if (!isProvider(name) || !client) throw errors.providerNotFound();
  return { provider: name, client };
}

export const listOfferedProviders = (ctx: Context): ProviderName[] => PROVIDERS.filter((name) => ctx.config.providers[name] !== undefined);

const callbackOf = (ctx: Context, provider: ProviderName) =>
  `${ctx.baseUrl}/api/v1/auth/${provider === 'github' ? 'callback' : 'oauth2/callback'}/${provider}`;

/** Begins signing in at a provider, or linking it. Errors: providerNotFound, invalidCallbackUrl and its two siblings. */
export async function beginProvider(
  ctx: Context,
  asked: OAuthSignIn,
  by: { ip: string; linkTo: string | null },
): Promise<{ url: string; cookie: string }> {
  const { provider, client } = clientOf(ctx, asked.providerId);
  await spendPlace(ctx, by.ip, 'ceremonies');
  const destination = checkDestination(ctx, asked.callbackURL ?? '/account');
  if (destination === null) throw errors.invalidCallbackUrl();
  const errorDestination = asked.errorCallbackURL === undefined ? null : checkDestination(ctx, asked.errorCallbackURL);
  if (asked.errorCallbackURL !== undefined && errorDestination === null) throw errors.invalidErrorCallbackUrl();
  const newUserDestination = asked.newUserCallbackURL === undefined ? destination : checkDestination(ctx, asked.newUserCallbackURL);
  if (newUserDestination === null) throw errors.invalidNewUserCallbackUrl();
  const { url, checks } = await makeAuthorizationUrl(provider, client, callbackOf(ctx, provider));
  const flow: Flow = { provider, checks, destination, errorDestination, newUserDestination, linkTo: by.linkTo };
  return { url, cookie: await beginCeremony(ctx.db, ctx.config.secret, 'provider', flow) };
}

export type ProviderOutcome =
  { signedIn: SignedIn; destination: string } | { linked: true; destination: string } | { failure: ProviderFailure; destination: string };

function failed(ctx: Context, flow: Flow | null, failure: ProviderFailure): ProviderOutcome {
  const target = new URL(flow?.errorDestination ?? `${ctx.baseUrl}/api/v1/auth/error`);
  target.searchParams.set('error', failure);
  return { failure, destination: target.href };
}

interface Joined {
  userId: string;
  isNew: boolean;
}

/**
 * Finds the account of an identity. This is the account that the identity is linked to, else the one of the same address if both sides have proven it, else a
 * new one.
 */
async function join(tx: Transaction, provider: ProviderName, identity: ProviderIdentity): Promise<Joined | ProviderFailure> {
  const linked = await findLinkedUser(tx, provider, identity.accountId);
  if (linked !== undefined) return { userId: linked, isNew: false };
  if (identity.unverified) return 'email_not_verified';
  const email = identity.email === null ? null : canonicaliseAddress(identity.email);
  const made = await createAccount(tx, { email, name: identity.name.slice(0, 200), verified: email !== null });
  const existing = made || email === null ? undefined : await lockUserByEmail(tx, email);
  if (existing?.emailVerified === false) return 'account_not_linked';
  const userId = made?.id ?? existing?.id;
  if (userId === undefined) throw errors.conflict();
  if ((await insertLinkedAccount(tx, { id: randomUUIDv7(), userId, provider, accountId: identity.accountId })) === 0)
    throw errors.conflict();
  await audit(tx, null, { action: 'provider.linked', subjectId: userId, details: { provider } });
  return { userId, isNew: made !== null };
}

async function link(
  ctx: Context,
  flow: Flow,
  by: { userId: string; requestId: string },
  identity: ProviderIdentity,
): Promise<ProviderOutcome> {
  const { provider } = flow;
  const { userId } = by;
  const owner = await ctx.db.transaction(async (tx) => {
    const account = { id: randomUUIDv7(), userId, provider, accountId: identity.accountId };
    if ((await insertLinkedAccount(tx, account)) > 0)
      await audit(tx, by, { action: 'provider.linked', subjectId: userId, details: { provider } });
    return findLinkedUser(tx, provider, identity.accountId);
  });
  return owner === userId ? { linked: true, destination: flow.destination } : failed(ctx, flow, 'account_already_linked_to_different_user');
}

/**
 * Ends the flow with a session, a link, or a failure, and says where the browser goes. This is always a destination that the flow was begun with. `current` is
 * the person who is signed in.
 */
export async function endProvider(
  ctx: Context,
  visit: Visit,
  given: { provider: string; query: string; cookie: string | undefined; current: string | null },
): Promise<ProviderOutcome> {
  const { provider, client } = clientOf(ctx, given.provider);
  const flow = await endCeremony<Flow>(ctx.db, ctx.config.secret, 'provider', given.cookie);
  if (flow?.provider !== provider) return failed(ctx, null, 'state_mismatch');
  const url = new URL(`${callbackOf(ctx, provider)}${given.query}`);
  if (url.searchParams.get('state') !== flow.checks.state) return failed(ctx, null, 'state_mismatch');
  if (url.searchParams.get('error') === 'access_denied') return failed(ctx, flow, 'access_denied');
  const identity = await identify(provider, client, { url, checks: flow.checks }).catch((error: unknown) => {
    ctx.log.warn({ provider, reason: error instanceof Error ? error.name : 'unknown' }, 'a sign-in provider did not identify a person');
    return null;
  });
  if (!identity) {
    await ctx.db.transaction((tx) => auditRefusal(tx, visit, { method: provider, reason: 'provider_failed' }));
    return failed(ctx, flow, 'provider_failed');
  }
  if (flow.linkTo !== null)
    return flow.linkTo === given.current
      ? link(ctx, flow, { userId: flow.linkTo, requestId: visit.requestId }, identity)
      : failed(ctx, flow, 'state_mismatch');
  const outcome = await ctx.db.transaction(async (tx) => {
    const joined = await join(tx, provider, identity);
    if (typeof joined === 'string') await auditRefusal(tx, visit, { method: provider, reason: joined });
    return typeof joined === 'string'
      ? joined
      : { ...joined, session: await beginSession(ctx, tx, visit, { userId: joined.userId, method: provider }) };
  });
  if (typeof outcome === 'string') return failed(ctx, flow, outcome);
  return { signedIn: await finishSignIn(ctx, outcome.session), destination: outcome.isNew ? flow.newUserDestination : flow.destination };
}

/** Takes a provider away from the caller's account. Errors: sessionNotFresh, accountNotFound, failedToUnlinkLastAccount. */
export async function unlinkProvider(ctx: Context, caller: Caller, asked: UnlinkAccount): Promise<void> {
  requireFresh(caller);
  await ctx.db.transaction(async (tx) => {
    await lockAccount(tx, caller.userId);
    if ((await deleteLinkedAccount(tx, caller.userId, asked.providerId, asked.accountId ?? null)) === 0) throw errors.accountNotFound();
    if ((await countWaysIn(tx, caller.userId)) === 0) throw errors.failedToUnlinkLastAccount();
    await audit(tx, caller, { action: 'provider.unlinked', subjectId: caller.userId, details: { provider: asked.providerId } });
  });
}
