import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { isAllowed, requireAccess } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { ApiError, errors, refuse } from '../../errors.ts';
import { canonicaliseAddress, refuseBody } from '../input/input.service.ts';
import { enqueueNotice } from '../notices/notices.service.ts';
import { lockDecided, lockShared } from '../sharing/answerability.service.ts';
import { raiseGrant } from '../sharing/sharing.service.ts';
import type { Invitation, NewInvitation } from './invitations.model.ts';
import {
  countPending,
  countSentToday,
  endInvitation,
  findAccountOf,
  findGrantOf,
  findInvitation,
  findPending,
  insertInvitation,
  listClaimable,
  listPlatformInvitations,
  listResourceInvitations,
  lockAddress,
  lockInviter,
  waitForInviters,
  type Claimable,
} from './invitations.queries.ts';

const DAYS = 30;
const MOST_PENDING = 100;
/** Invitations to the service that one person may send in 24 hours. */
const DAILY_BUDGET = 20;

const mustFind = async (tx: Transaction, id: string): Promise<Invitation> =>
  (await findInvitation(tx, id)) ?? refuse(errors.invitationUnknown());

async function checkPlace(tx: Transaction, caller: Caller, type: NewInvitation['resourceType'], place: Wanted['place']): Promise<void> {
  const { resourceId, email } = place;
  if (type === 'platform') {
    if ((await countSentToday(tx, caller.userId)) >= DAILY_BUDGET) throw errors.invitationBudgetSpent().with({ retryAfter: 86_400 });
    if (await findAccountOf(tx, email)) throw errors.accountExists();
    return;
  }
  if (resourceId === null) throw refuseBody([{ path: '/resourceId', message: 'is required for a resource' }]);
  await lockDecided(tx, caller, { type, id: resourceId }, 'share');
  if (await findGrantOf(tx, resourceId, email)) throw errors.alreadyGranted();
}

/**
 * Invites an address to a resource or to the service, for 30 days; a live invitation is answered as it is and not sent again. The proven address of an account
 * gets its grant at once. Errors: those of sharing, invalidEmail, alreadyGranted, accountExists, invitationBudgetSpent, tooManyInvitations.
 */
export const invite = (ctx: Context, caller: Caller, body: NewInvitation): Promise<Invitation> =>
  ctx.db.transaction(async (tx) => {
    const email = body.email.trim();
    await lockAddress(tx, email);
    const account = await findAccountOf(tx, email);
    await lockBoth(tx, caller.userId, account?.id);
    const resourceId = body.resourceType === 'platform' ? null : (body.resourceId ?? null);
    if (resourceId !== null && body.resourceType !== 'platform')
      await requireAccess(tx, caller.userId, body.resourceType, resourceId, 'share');
    const place = { resourceId, invitedBy: caller.userId, email: canonicaliseAddress(email) };
    const pending = await findPending(tx, place);
    const id = pending && !pending.isExpired ? pending.id : await writeInvitation(ctx, tx, caller, { body, place, lapsed: pending });
    if (account) await claim(tx, account.id, await mustFind(tx, id));
    return caller.created(tx, await mustFind(tx, id));
  });

/** Locks who invites and the account that is invited, in id order. Errors: unauthorized. */
async function lockBoth(tx: Transaction, inviterId: string, accountId = inviterId): Promise<void> {
  for (const id of [...new Set([inviterId, accountId])].sort())
    if (!(await lockInviter(tx, id)) && id === inviterId) throw errors.unauthorized();
}

interface Wanted {
  body: NewInvitation;
  place: { resourceId: string | null; invitedBy: string; email: string };
  /** An earlier invitation to the address, which has expired. */
  lapsed: { id: string } | undefined;
}

async function writeInvitation(ctx: Context, tx: Transaction, caller: Caller, { body, place, lapsed }: Wanted): Promise<string> {
  await checkPlace(tx, caller, body.resourceType, place);
  if (lapsed) await endInvitation(tx, lapsed.id, 'revoked');
  if ((await countPending(tx, place)) >= MOST_PENDING) throw errors.tooManyInvitations();
  const id = randomUUIDv7();
  await insertInvitation(tx, { ...place, id, resourceType: body.resourceType, tier: body.tier ?? 'viewer', days: DAYS });
  await enqueueNotice(ctx, tx, { kind: 'resource-invitation', invitationId: id });
  await audit(tx, caller, { action: 'invitation.created', ...about(body.resourceType, place.resourceId), details: { invitationId: id } });
  return id;
}

const about = (type: string, id: string | null) => (id === null ? {} : { resource: { type, id } });

/** Live invitations to a resource, or the caller's own to the service. Errors: those of the access decision for `share`. */
export async function loadInvitationsTo(ctx: Context, caller: Caller, type: NewInvitation['resourceType'], resourceId: string | undefined) {
  if (type === 'platform') return listPlatformInvitations(ctx.db, caller.userId);
  if (resourceId === undefined)
    throw errors.invalidInput().with({ problems: [{ path: '?resourceId', message: 'is required for a resource' }] });
  await requireAccess(ctx.db, caller.userId, type, resourceId, 'share');
  return listResourceInvitations(ctx.db, resourceId);
}

/**
 * Takes a pending invitation back. Errors: invitationUnknown, also for somebody else's invitation to the service; actionDenied; experimentArchived;
 * invitationEnded.
 */
export const revokeInvitation = (ctx: Context, caller: Caller, id: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const invitation = await mustFind(tx, id);
    if (invitation.resourceType === 'platform') {
      if (invitation.invitedBy !== caller.userId) throw errors.invitationUnknown();
    } else if (invitation.resourceId !== null)
      await lockDecided(tx, caller, { type: invitation.resourceType, id: invitation.resourceId }, 'share');
    if ((await endInvitation(tx, id, 'revoked')) === 0) throw errors.invitationEnded();
    await audit(tx, caller, {
      action: 'invitation.revoked',
      ...about(invitation.resourceType, invitation.resourceId),
      details: { invitationId: id },
    });
  });

/**
 * Turns the invitations to a person's proven address into grants. An invitation is revoked when the resource is archived, or when the person who invited may no
 * longer share it. A role that is held already is not lowered. Runs at every sign-in and for who is invited with an account; an invitation that fails stays pending.
 */
export async function claimInvitations(ctx: Context, person: { id: string; emailVerified: boolean }): Promise<void> {
  if (!person.emailVerified) return;
  await waitForInviters(ctx.db, person.id);
  for (const invitation of await listClaimable(ctx.db, person.id))
    try {
      await ctx.db.transaction((tx) => claim(tx, person.id, invitation));
    } catch (error) {
      const code = error instanceof ApiError ? error.code : 'INTERNAL';
      ctx.log.warn({ invitation: invitation.id, failure: code }, 'an invitation could not be claimed');
    }
}

async function claim(tx: Transaction, userId: string, invitation: Claimable): Promise<void> {
  if (!(await lockInviter(tx, userId))) return;
  const requestId = `claim:${invitation.id}`;
  if (invitation.resourceType === 'platform' || invitation.resourceId === null) {
    await endInvitation(tx, invitation.id, 'accepted');
    return;
  }
  const asked = { type: invitation.resourceType, id: invitation.resourceId };
  const resource = await lockShared(tx, asked);
  const mayShare = await isAllowed(tx, invitation.invitedBy, asked.type, asked.id, 'share');
  const status = resource.isArchived || !mayShare ? 'revoked' : 'accepted';
  if ((await endInvitation(tx, invitation.id, status)) === 0) return;
  if (status === 'accepted') await raiseGrant(tx, { userId: invitation.invitedBy, requestId }, resource, { userId, role: invitation.tier });
  await audit(tx, { userId, requestId }, { action: `invitation.${status}`, resource: asked, details: { invitationId: invitation.id } });
}
