import type { Actor } from '../../auth/caller.ts';
import { audit } from '../../auth/audit.ts';
import type { Transaction } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import {
  insertMember,
  listLiving,
  lockMembers,
  settleInvitations,
  settleRequests,
  updateMemberRole,
  type MemberRow,
} from './membership.queries.ts';
import type { MembershipRole } from './organizations.model.ts';

export { lockAccount } from './membership.queries.ts';

const MOST_MEMBERS = 100;

const RANK: Record<MembershipRole, number> = { owner: 3, admin: 2, member: 1 };
const ROLES: readonly MembershipRole[] = ['owner', 'admin', 'member'];

/** Reads the strongest role of a member; an unknown role reads as member. */
export const readRole = (member: Pick<MemberRow, 'isOwner' | 'isAdmin'>): MembershipRole =>
  member.isOwner ? 'owner' : member.isAdmin ? 'admin' : 'member';

/** Whether the first role is at least the second. */
export const isAtLeast = (role: MembershipRole, other: MembershipRole): boolean => RANK[role] >= RANK[other];

/** The refusal that the function's caller wants when an organization has no room. */
interface Full {
  full: () => Error;
}

/**
 * Makes somebody a member, or raises the role of a member; never lowers it. The caller has locked the organization's row and the person's account. Errors: the
 * one that `full` makes, at 100 members.
 */
export async function admit(
  tx: Transaction,
  by: Actor,
  member: { organizationId: string; userId: string; role: MembershipRole },
  { full }: Full,
): Promise<MemberRow> {
  const members = await lockMembers(tx, member.organizationId);
  const present = members.find(({ userId }) => userId === member.userId);
  const event = { organizationId: member.organizationId, subjectId: member.userId };
  if (!present && members.length >= MOST_MEMBERS) throw full();
  let row = present;
  if (!present) {
    row = await insertMember(tx, member);
    await audit(tx, by, { action: 'organization.member-added', ...event, details: { role: member.role } });
  } else if (!isAtLeast(readRole(present), member.role)) {
    await updateMemberRole(tx, present.id, member.role);
    await audit(tx, by, { action: 'organization.role-changed', ...event, details: { role: member.role, was: present.role } });
    row = { ...present, role: member.role };
  }
  if (!row) throw errors.conflict();
  const held = present && isAtLeast(readRole(present), member.role) ? readRole(present) : member.role;
  await settleInvitations(
    tx,
    member.organizationId,
    member.userId,
    ROLES.filter((role) => isAtLeast(held, role)),
  );
  await settleRequests(tx, member.organizationId, member.userId);
  return row;
}

/**
 * Whether an organization stays staffed when this member leaves or steps down. After an owner it must keep a living owner; after an admin, a living owner or
 * admin.
 */
export async function isStillStaffed(tx: Transaction, member: MemberRow): Promise<boolean> {
  if (!member.isAdmin) return true;
  const others = (await listLiving(tx, member.organizationId)).filter(({ userId }) => userId !== member.userId);
  return others.some(({ isOwner, isAdmin }) => isOwner || (!member.isOwner && isAdmin));
}
