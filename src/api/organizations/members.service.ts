import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import type { ManagedMember, ManagedMemberWithUser, MemberList, NewOrganizationMember } from './authority.model.ts';
import { findMemberByEmail, findUserAddress, listMembersWithUsers } from './authority.queries.ts';
import { makeManagedMember, canonicaliseRole, lockOwn, requireOrganizationId, requireOwn } from './authority.service.ts';
import { cancelInvitationsBy } from './invitations.queries.ts';
import { deleteMember, lockAccount, updateMemberRole, type MemberRow } from './membership.queries.ts';
import { admit, readRole, isAtLeast, isStillStaffed } from './membership.service.ts';
import type { MembershipRole } from './organizations.model.ts';
import { findTeam } from './teams.queries.ts';
import { joinTeam } from './teams.service.ts';

interface MemberFilter {
  limit: number | undefined;
  offset: number | undefined;
  sortBy: 'createdAt' | 'role' | undefined;
  sortDirection: 'asc' | 'desc' | undefined;
  role: string | undefined;
}

/** Lists members with their accounts. Errors: youAreNotAMemberOfThisOrganization, also for an organization that does not exist. */
export async function loadMembers(ctx: Context, caller: Caller, organizationId: string, filter: MemberFilter): Promise<MemberList> {
  await requireOwn(ctx.db, caller, organizationId, errors.youAreNotAMemberOfThisOrganization);
  const found = (await listMembersWithUsers(ctx.db, organizationId)).filter(
    ({ role }) => filter.role === undefined || role === filter.role,
  );
  const direction = filter.sortDirection === 'desc' ? -1 : 1;
  const key = (member: ManagedMemberWithUser) => (filter.sortBy === 'role' ? member.role : member.createdAt.toISOString());
  found.sort((a, b) => direction * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  const start = filter.offset ?? 0;
  return { members: found.slice(start, start + (filter.limit ?? 100)), total: found.length };
}

async function leaveNothingBehind(tx: Transaction, by: Caller, member: MemberRow): Promise<void> {
  await cancelInvitationsBy(tx, member.organizationId, member.userId);
  await deleteMember(tx, member.id);
  await audit(tx, by, {
    action: 'organization.member-removed',
    organizationId: member.organizationId,
    subjectId: member.userId,
    details: { role: member.role },
  });
}

/** Ends somebody's membership. Their direct grants stay. Errors: memberNotFound, youAreNotAllowedToDeleteThisMember, youCannotLeaveTheOrganizationAsTheOnlyOwner. */
export const removeMember = (ctx: Context, caller: Caller, organizationId: string, memberIdOrEmail: string): Promise<ManagedMember> =>
  ctx.db.transaction(async (tx) => {
    const { standing, members } = await lockOwn(tx, caller, organizationId);
    if (!standing.isAdmin) throw errors.youAreNotAllowedToDeleteThisMember();
    const userId = memberIdOrEmail.includes('@') ? await findMemberByEmail(tx, organizationId, memberIdOrEmail) : undefined;
    const target = members.find((member) => member.id === memberIdOrEmail.toLowerCase() || member.userId === userId);
    if (!target) throw errors.memberNotFound();
    if (standing.isPersonal) throw errors.personalWorkspace();
    if (target.isOwner && !standing.isOwner) throw errors.youAreNotAllowedToDeleteThisMember();
    if (!(await isStillStaffed(tx, target))) throw errors.youCannotLeaveTheOrganizationAsTheOnlyOwner();
    await leaveNothingBehind(tx, caller, target);
    return makeManagedMember(target);
  });

/** The roles that somebody of a role may offer. */
const OFFERABLE: Record<MembershipRole, readonly MembershipRole[]> = {
  owner: ['owner', 'admin', 'member'],
  admin: ['admin', 'member'],
  member: [],
};

/** Gives a member another role; what they offered beyond it is taken back. Errors: roleNotFound, memberNotFound, youAreNotAllowedToUpdateThisMember, youCannotLeaveTheOrganizationWithoutAnOwner. */
export const changeMemberRole = (
  ctx: Context,
  caller: Caller,
  organizationId: string,
  change: { memberId: string; role: string | string[] },
): Promise<ManagedMember> =>
  ctx.db.transaction(async (tx) => {
    const role = canonicaliseRole(change.role);
    const { standing, members } = await lockOwn(tx, caller, organizationId);
    if (!standing.isAdmin) throw errors.youAreNotAllowedToUpdateThisMember();
    const target = members.find(({ id }) => id === change.memberId.toLowerCase());
    if (!target) throw errors.memberNotFound();
    if (standing.isPersonal) throw errors.personalWorkspace();
    if (!standing.isOwner && (target.isOwner || role === 'owner')) throw errors.youAreNotAllowedToUpdateThisMember();
    if (!isAtLeast(role, readRole(target)) && !(await isStillStaffed(tx, target)))
      throw errors.youCannotLeaveTheOrganizationWithoutAnOwner();
    await updateMemberRole(tx, target.id, role);
    await cancelInvitationsBy(tx, organizationId, target.userId, OFFERABLE[role]);
    await audit(tx, caller, {
      action: 'organization.role-changed',
      organizationId,
      subjectId: target.userId,
      details: { role, was: target.role },
    });
    return { ...makeManagedMember(target), role };
  });

/** Ends the caller's own membership. Errors: memberNotFound, personalWorkspace, youCannotLeaveTheOrganizationAsTheOnlyOwner. */
export const leaveOrganization = (ctx: Context, caller: Caller, organizationId: string): Promise<ManagedMember> =>
  ctx.db.transaction(async (tx) => {
    const { standing, members } = await lockOwn(tx, caller, organizationId, errors.memberNotFound);
    if (standing.isPersonal) throw errors.personalWorkspace();
    const own = members.find(({ userId }) => userId === caller.userId);
    if (!own) throw errors.memberNotFound();
    if (!(await isStillStaffed(tx, own))) throw errors.youCannotLeaveTheOrganizationAsTheOnlyOwner();
    await leaveNothingBehind(tx, caller, own);
    return makeManagedMember(own);
  });

/**
 * Adds an active person to an organization, with a role that is not above the caller's. Errors: noActiveOrganization, roleNotFound, userNotFound, personalWorkspace,
 * youAreNotAllowedToInviteUsersToThisOrganization, youAreNotAllowedToInviteUserWithThisRole, userIsAlreadyAMemberOfThisOrganization,
 * organizationMembershipLimitReached, teamNotFound.
 */
export const addMember = (ctx: Context, caller: Caller, body: NewOrganizationMember): Promise<ManagedMember> =>
  ctx.db.transaction(async (tx) => {
    const role = canonicaliseRole(body.role);
    const organizationId = requireOrganizationId(body.organizationId);
    const userId = body.userId.toLowerCase();
    const account = await lockAccount(tx, userId);
    const { standing, members } = await lockOwn(tx, caller, organizationId);
    if (!standing.isAdmin) throw errors.youAreNotAllowedToInviteUsersToThisOrganization();
    if (standing.isPersonal) throw errors.personalWorkspace();
    if (role === 'owner' && !standing.isOwner) throw errors.youAreNotAllowedToInviteUserWithThisRole();
    if (!account || !(await findUserAddress(tx, userId))?.isActive) throw errors.userNotFound();
    if (members.some((member) => member.userId === userId)) throw errors.userIsAlreadyAMemberOfThisOrganization();
    const made = await admit(tx, caller, { organizationId, userId, role }, { full: errors.organizationMembershipLimitReached });
    if (body.teamId !== undefined) {
      if (!(await findTeam(tx, organizationId, body.teamId))) throw errors.teamNotFound();
      await joinTeam(tx, caller, { teamId: body.teamId, organizationId, userId });
    }
    return caller.created(tx, makeManagedMember(made));
  });
