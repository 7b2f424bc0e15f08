import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { isUuid } from '../../database/uuid.ts';
import { errors, refuse } from '../../errors.ts';
import { canonicaliseAddress } from '../input/input.service.ts';
import { enqueueNotice } from '../notices/notices.service.ts';
import type {
  AcceptedInvitation,
  InvitationForRecipient,
  NewOrganizationInvitation,
  OrganizationInvitation,
  OwnOrganizationInvitation,
} from './authority.model.ts';
import { findMemberByEmail, findUserAddress } from './authority.queries.ts';
import { makeManagedMember, canonicaliseRole, lockOwn, requireOrganizationId, requireOwn } from './authority.service.ts';
import {
  countLiveInvitations,
  countTeams,
  endInvitation,
  findInvitation,
  findInvitationForRecipient,
  findPendingInvitation,
  insertInvitation,
  insertInvitationTeams,
  listInvitations,
  listInvitationsTo,
  listInvitedTeams,
  prolongInvitation,
  type StoredInvitation,
} from './invitations.queries.ts';
import { lockAccount, lockOrganization } from './membership.queries.ts';
import { admit } from './membership.service.ts';
import type { MembershipRole } from './organizations.model.ts';
import { findStanding } from './organizations.queries.ts';
import { joinTeam } from './teams.service.ts';

const MOST_PENDING = 100;
const HOURS = 48;

const shown = ({ isExpired: _isExpired, ...invitation }: StoredInvitation): OrganizationInvitation => invitation;

async function mustFind(db: Queryable, id: string): Promise<OrganizationInvitation> {
  const found = (await findInvitation(db, id)) ?? refuse(errors.invitationNotFound());
  return shown(found);
}

function teamsOf(body: NewOrganizationInvitation): string[] {
  const ids = body.teamId === undefined ? [] : Array.isArray(body.teamId) ? body.teamId : body.teamId.split(',');
  const wanted = [...new Set(ids.map((id) => id.trim().toLowerCase()).filter((id) => id !== ''))];
  if (wanted.some((id) => !isUuid(id))) throw errors.teamNotFound();
  return wanted;
}

/**
 * Invites an address to an organization, for 48 hours. With `resend`, a live invitation is prolonged and sent again as it was. For owners and
 * admins. Errors: as the codes of the common client say.
 */
export const invite = (ctx: Context, caller: Caller, body: NewOrganizationInvitation): Promise<OrganizationInvitation> =>
  ctx.db.transaction(async (tx) => {
    const role = canonicaliseRole(body.role);
    const organizationId = requireOrganizationId(body.organizationId);
    const email = canonicaliseAddress(body.email);
    const { standing } = await lockOwn(tx, caller, organizationId);
    if (!standing.isAdmin) throw errors.youAreNotAllowedToInviteUsersToThisOrganization();
    if (standing.isPersonal) throw errors.personalWorkspace();
    if (role === 'owner' && !standing.isOwner) throw errors.youAreNotAllowedToInviteUserWithThisRole();
    if ((await findMemberByEmail(tx, organizationId, email)) !== undefined) throw errors.userIsAlreadyAMemberOfThisOrganization();
    const pending = await findPendingInvitation(tx, organizationId, email);
    if (pending && !pending.isExpired) {
      if (body.resend !== true) throw errors.userIsAlreadyInvitedToThisOrganization();
      await prolongInvitation(tx, pending.id, HOURS);
      return sent(ctx, tx, caller, pending.id);
    }
    if (pending) await endInvitation(tx, pending.id, 'canceled');
    if ((await countLiveInvitations(tx, organizationId)) >= MOST_PENDING) throw errors.invitationLimitReached();
    return insert(ctx, tx, caller, { organizationId, email, role, teamIds: teamsOf(body) });
  });

async function insert(
  ctx: Context,
  tx: Transaction,
  caller: Caller,
  row: { organizationId: string; email: string; role: MembershipRole; teamIds: string[] },
): Promise<OrganizationInvitation> {
  if ((await countTeams(tx, row.organizationId, row.teamIds)) < row.teamIds.length) throw errors.teamNotFound();
  const id = randomUUIDv7();
  await insertInvitation(tx, { id, ...row, inviterId: caller.userId, hours: HOURS });
  await insertInvitationTeams(tx, id, row.teamIds);
  return sent(ctx, tx, caller, id);
}

async function sent(ctx: Context, tx: Transaction, caller: Caller, id: string): Promise<OrganizationInvitation> {
  const invitation = await mustFind(tx, id);
  await enqueueNotice(ctx, tx, { kind: 'organization-invitation', invitationId: id });
  await audit(tx, caller, {
    action: 'organization.invited',
    organizationId: invitation.organizationId,
    details: { invitationId: id, role: invitation.role },
  });
  return caller.created(tx, invitation);
}

/**
 * Finds an invitation for the person whose proven address it names. Errors: invitationNotFound, youAreNotTheRecipientOfTheInvitation,
 * emailVerificationRequiredForInvitation.
 */
async function receive(tx: Queryable, caller: Caller, id: string): Promise<StoredInvitation> {
  const invitation = (await findInvitation(tx, id)) ?? refuse(errors.invitationNotFound());
  const address = await findUserAddress(tx, caller.userId);
  if (!address || address.email !== invitation.email) throw errors.youAreNotTheRecipientOfTheInvitation();
  if (!address.emailVerified) throw errors.emailVerificationRequiredForInvitation();
  if (invitation.status !== 'pending') throw errors.invitationNotFound();
  return invitation;
}

/** Makes the recipient a member, or raises the role that they have. Errors: those of receiving, organizationMembershipLimitReached. */
export const acceptInvitation = (ctx: Context, caller: Caller, id: string): Promise<AcceptedInvitation> =>
  ctx.db.transaction(async (tx) => {
    if (!(await lockAccount(tx, caller.userId))) throw errors.unauthorized();
    const invitation = await receive(tx, caller, id);
    if (invitation.isExpired) throw errors.invitationNotFound();
    const { organizationId } = invitation;
    if (!(await lockOrganization(tx, organizationId))) throw errors.invitationNotFound();
    if ((await endInvitation(tx, id, 'accepted')) === 0) throw errors.invitationNotFound();
    const joining = { organizationId, userId: caller.userId, role: invitation.role as MembershipRole };
    const member = await admit(tx, caller, joining, { full: errors.organizationMembershipLimitReached });
    for (const teamId of await listInvitedTeams(tx, id)) await joinTeam(tx, caller, { teamId, organizationId, userId: caller.userId });
    await audit(tx, caller, { action: 'organization.invitation-accepted', organizationId, details: { invitationId: id } });
    return { invitation: await mustFind(tx, id), member: makeManagedMember(member) };
  });

/** Rejects an invitation, which may have expired. Errors: those of receiving. */
export const rejectInvitation = (ctx: Context, caller: Caller, id: string): Promise<OrganizationInvitation> =>
  ctx.db.transaction(async (tx) => {
    const { organizationId } = await receive(tx, caller, id);
    if ((await endInvitation(tx, id, 'rejected')) === 0) throw errors.invitationNotFound();
    await audit(tx, caller, { action: 'organization.invitation-rejected', organizationId, details: { invitationId: id } });
    return mustFind(tx, id);
  });

/** Takes a pending invitation back. For owners and admins. Errors: invitationNotFound, memberNotFound, youAreNotAllowedToCancelThisInvitation. */
export const cancelInvitation = (ctx: Context, caller: Caller, id: string): Promise<OrganizationInvitation> =>
  ctx.db.transaction(async (tx) => {
    const invitation = (await findInvitation(tx, id)) ?? refuse(errors.invitationNotFound());
    const { organizationId } = invitation;
    const standing = await requireOwn(tx, caller, organizationId, errors.memberNotFound);
    if (!standing.isAdmin) throw errors.youAreNotAllowedToCancelThisInvitation();
    if ((await endInvitation(tx, id, 'canceled')) === 0) throw errors.invitationNotFound();
    await audit(tx, caller, { action: 'organization.invitation-cancelled', organizationId, details: { invitationId: id } });
    return mustFind(tx, id);
  });

/** Loads a live invitation for its recipient. Errors: those of receiving. */
export async function loadInvitation(ctx: Context, caller: Caller, id: string): Promise<InvitationForRecipient> {
  const received = await receive(ctx.db, caller, id);
  const found = await findInvitationForRecipient(ctx.db, id);
  if (received.isExpired || !found?.inviterIsMember) throw errors.invitationNotFound();
  const { isExpired: _isExpired, inviterIsMember: _inviterIsMember, ...invitation } = found;
  return invitation;
}

/** Invitations of every status, newest first. For owners and admins. Errors: youAreNotAllowedToInviteUsersToThisOrganization, for everybody else. */
export async function loadOrganizationInvitations(ctx: Context, caller: Caller, organizationId: string): Promise<OrganizationInvitation[]> {
  const standing = await findStanding(ctx.db, organizationId, caller.userId);
  if (!standing?.isAdmin) throw errors.youAreNotAllowedToInviteUsersToThisOrganization();
  return listInvitations(ctx.db, organizationId);
}

/** The caller's own live invitations. Errors: emailVerificationRequiredForInvitation. */
export async function loadInvitationsTo(ctx: Context, caller: Caller): Promise<OwnOrganizationInvitation[]> {
  const address = await findUserAddress(ctx.db, caller.userId);
  if (address?.email == null || !address.emailVerified) throw errors.emailVerificationRequiredForInvitation();
  return listInvitationsTo(ctx.db, address.email);
}
