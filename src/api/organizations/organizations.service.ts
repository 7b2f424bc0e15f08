import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Slice } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { enqueueNotice, enqueueNotices } from '../notices/notices.service.ts';
import { decideJoinRequest, findJoinRequest, findPendingRequest, insertJoinRequest } from './join-requests.queries.ts';
import { listLiving, lockAccount, lockOrganization } from './membership.queries.ts';
import { admit } from './membership.service.ts';
import type {
  JoinRequestStatus,
  NewJoinRequest,
  OrganizationJoinRequest,
  OrganizationResources,
  ResourceTotals,
} from './organizations.model.ts';
import { countResources, findStanding, listResources, type Standing } from './organizations.queries.ts';

/**
 * Requires an organization that the caller may view, and answers what they are in it. They may view public ones and their own; nobody may view a personal
 * workspace. Errors: organizationNotFound, the same for what is missing and what is hidden.
 */
async function requireVisible(db: Queryable, caller: Caller, id: string): Promise<Standing> {
  const standing = await findStanding(db, id, caller.userId);
  if (!standing || standing.isPersonal || !(standing.isPublic || standing.isMember)) throw errors.organizationNotFound();
  return standing;
}

/** Requires that the caller is a member. Errors: organizationNotFound; membersOnly, when they may view the organization but are not in it. */
export async function requireMember(db: Queryable, caller: Caller, id: string): Promise<void> {
  if (!(await requireVisible(db, caller, id)).isMember) throw errors.membersOnly();
}

/** Requires that the caller is an owner or admin. Errors: organizationNotFound; adminsOnly. */
export async function requireAdmin(db: Queryable, caller: Caller, id: string): Promise<void> {
  if (!(await requireVisible(db, caller, id)).isAdmin) throw errors.adminsOnly();
}

/** Requires that the caller is an owner. Errors: organizationNotFound, for everybody who is not. */
export async function requireOwner(db: Queryable, caller: Caller, id: string): Promise<void> {
  const standing = await findStanding(db, id, caller.userId);
  if (!standing || standing.isPersonal || !standing.isOwner) throw errors.organizationNotFound();
}

const NONE: ResourceTotals = { experiment: 0, protocol: 0, macro: 0, workbook: 0, device: 0, device_group: 0 };

/** Loads what the caller can read of an organization: one page, and how many of each type there are. */
export async function loadResources(ctx: Context, caller: Caller, id: string, page: Slice): Promise<OrganizationResources> {
  await requireVisible(ctx.db, caller, id);
  const [resources, counts] = await Promise.all([
    listResources(ctx.db, id, caller.userId, page),
    countResources(ctx.db, id, caller.userId),
  ]);
  return { resources, totals: { ...NONE, ...Object.fromEntries(counts.map(({ type, count }) => [type, count])) } };
}

const mustFindRequest = async (db: Queryable, organizationId: string, id: string): Promise<OrganizationJoinRequest> =>
  (await findJoinRequest(db, organizationId, id)) ?? refuse(errors.joinRequestNotFound());

/** Asks to join a public organization; asking again while the first request is pending answers that one. Errors: organizationNotFound, alreadyMember. */
export const requestToJoin = (
  ctx: Context,
  caller: Caller,
  organizationId: string,
  body: NewJoinRequest,
): Promise<OrganizationJoinRequest> =>
  ctx.db.transaction(async (tx) => {
    if (!(await lockAccount(tx, caller.userId))) throw errors.unauthorized();
    const standing = await requireVisible(tx, caller, organizationId);
    if (standing.isMember) throw errors.alreadyMember();
    const id = randomUUIDv7();
    if ((await insertJoinRequest(tx, { id, organizationId, userId: caller.userId, message: body.message ?? null })) > 0) {
      await audit(tx, caller, { action: 'organization.join-requested', organizationId, details: { requestId: id } });
      const deciders = (await listLiving(tx, organizationId)).filter(({ isAdmin }) => isAdmin);
      await enqueueNotices(
        ctx,
        tx,
        deciders.map(({ userId }) => ({ kind: 'organization-join-request', requestId: id, recipientId: userId })),
      );
    }
    const pending = (await findPendingRequest(tx, organizationId, caller.userId)) ?? refuse(errors.conflict());
    return caller.created(tx, pending);
  });

/** Takes the caller's own pending request back; it stays on record as cancelled. Errors: joinRequestNotFound, joinRequestDecided. */
export const withdrawRequest = (ctx: Context, caller: Caller, organizationId: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const pending = (await findPendingRequest(tx, organizationId, caller.userId)) ?? refuse(errors.joinRequestNotFound());
    if ((await decideJoinRequest(tx, pending.id, { status: 'cancelled', decidedBy: caller.userId })) === 0)
      throw errors.joinRequestDecided();
    await audit(tx, caller, { action: 'organization.join-cancelled', organizationId, details: { requestId: pending.id } });
  });

/**
 * Approves or rejects a request. An approved person becomes a member; a role that they got meanwhile is not lowered. Errors: organizationNotFound, adminsOnly,
 * joinRequestNotFound, joinRequestDecided, organizationFull.
 */
export const decideRequest = (
  ctx: Context,
  caller: Caller,
  organizationId: string,
  decided: { requestId: string; decision: 'approve' | 'reject' },
): Promise<OrganizationJoinRequest> =>
  ctx.db.transaction(async (tx) => {
    const request = await mustFindRequest(tx, organizationId, decided.requestId);
    const account = await lockAccount(tx, request.user.id);
    if (!(await lockOrganization(tx, organizationId))) throw errors.organizationNotFound();
    await requireAdmin(tx, caller, organizationId);
    const status: JoinRequestStatus = decided.decision === 'approve' ? 'approved' : 'rejected';
    if ((await decideJoinRequest(tx, request.id, { status, decidedBy: caller.userId })) === 0) throw errors.joinRequestDecided();
    if (status === 'approved') {
      if (!account) throw errors.joinRequestNotFound();
      await admit(tx, caller, { organizationId, userId: request.user.id, role: 'member' }, { full: errors.organizationFull });
    }
    await audit(tx, caller, {
      action: status === 'approved' ? 'organization.join-approved' : 'organization.join-rejected',
      organizationId,
      subjectId: request.user.id,
      details: { requestId: request.id },
    });
    await enqueueNotice(ctx, tx, { kind: 'organization-join-decision', requestId: request.id });
    return mustFindRequest(tx, organizationId, request.id);
  });
