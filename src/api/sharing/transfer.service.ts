import { isAllowed } from '../../authorization/access.ts';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { ApiError, errors } from '../../errors.ts';
import { lockShared, type SharedResource } from './answerability.service.ts';
import {
  findGrant,
  isBlocking,
  isNameable,
  hasStaff,
  findMembership,
  lockAccounts,
  lockResource,
  lockStaff,
  moveResource,
} from './grants.queries.ts';
import { raiseGrant } from './sharing.service.ts';
import { requireHome, seedCreator } from './seeding.service.ts';
import type { AdminHandover, AdminHandoverResult, ResourceTransfer } from './sharing.model.ts';

/**
 * Moves a resource to another organization of the caller. `sourceId` is the owning organization at the time of the access decision. Everything is checked again
 * under the locks. Errors: alreadyThere, transferDenied, notAMember, resourceMoved.
 */
export const transfer = (
  ctx: Context,
  caller: Caller,
  asked: SharedResource,
  move: { sourceId: string; targetId: string },
): Promise<ResourceTransfer> =>
  ctx.db.transaction(async (tx) => {
    const targetId = move.targetId.toLowerCase();
    if (targetId === move.sourceId) throw errors.alreadyThere();
    await lockAccounts(tx, [caller.userId]);
    await lockStaff(tx, [move.sourceId, targetId]);
    const locked = await lockResource(tx, asked.type, asked.id);
    if (locked?.organizationId !== move.sourceId) throw locked ? errors.resourceMoved() : errors.resourceNotFound(asked.type);
    if (!(await isAllowed(tx, caller.userId, asked.type, asked.id, 'manage'))) throw errors.actionDenied('manage', asked.type);
    const [authority, isStaffed] = [await findMembership(tx, move.sourceId, caller.userId), await hasStaff(tx, move.sourceId)];
    if (authority?.isAdmin !== true && isStaffed) throw errors.transferDenied();
    const home = await requireHome(tx, caller, targetId);
    await moveResource(tx, asked.id, targetId);
    await seedCreator(tx, caller, asked, home);
    for (const organizationId of [move.sourceId, targetId])
      await audit(tx, caller, {
        action: 'resource.transferred',
        organizationId,
        resource: asked,
        details: { from: move.sourceId, to: targetId },
      });
    return { resourceType: asked.type, resourceId: asked.id, organizationId: targetId };
  });

/**
 * Hands over to somebody else what keeps the caller's account from being deleted. Each item succeeds or fails on its own. Answers are in the order of the
 * items.
 */
export async function handOver(ctx: Context, caller: Caller, items: readonly AdminHandover[]): Promise<AdminHandoverResult[]> {
  const results: AdminHandoverResult[] = [];
  for (const item of items) {
    const named = { resourceType: item.resourceType, resourceId: item.resourceId };
    try {
      await ctx.db.transaction((tx) => handOverOne(tx, caller, item));
      results.push({ ...named, success: true });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      results.push({ ...named, success: false, error: error.message });
    }
  }
  return results;
}

async function handOverOne(tx: Transaction, caller: Caller, item: AdminHandover): Promise<void> {
  const asked = { type: item.resourceType, id: item.resourceId };
  await lockAccounts(tx, [caller.userId, item.targetUserId]);
  if (!(await isAllowed(tx, caller.userId, asked.type, asked.id, 'share'))) throw errors.handoverRefused();
  const resource = await lockShared(tx, asked);
  if (!(await isAllowed(tx, caller.userId, asked.type, asked.id, 'share'))) throw errors.handoverRefused();
  const nameable = await isNameable(
    tx,
    { type: 'user', id: item.targetUserId },
    { organizationId: resource.organizationId, sharerId: caller.userId },
  );
  if (!nameable || item.targetUserId.toLowerCase() === caller.userId) throw errors.granteeNotFound();
  const held = await findGrant(tx, asked.id, 'user', item.targetUserId);
  if (held?.role === 'admin' || held?.role === 'owner') return;
  if (!(await isBlocking(tx, caller.userId, asked.id))) throw errors.handoverNotBlocking();
  await raiseGrant(tx, caller, resource, { userId: item.targetUserId, role: 'admin' }, { handover: true });
}
