import { requireAccess } from '../../authorization/access.ts';
import type { Action } from '../../authorization/roles.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { hasStaff, findOwningOrganization, lockGrants, lockResource, lockStaff, type GrantRow } from './grants.queries.ts';
import type { SharedType } from './sharing.model.ts';

export interface SharedResource {
  type: SharedType;
  id: string;
}

export interface LockedResource extends SharedResource {
  organizationId: string;
  name: string;
  isArchived: boolean;
}

/**
 * Locks a resource for a change of who reaches it. The staff of its organization is locked first, so that nobody who answers for the resource can leave
 * meanwhile. Errors: resourceNotFound, resourceMoved.
 */
export async function lockShared(tx: Transaction, resource: SharedResource): Promise<LockedResource> {
  const before = (await findOwningOrganization(tx, resource.type, resource.id)) ?? refuse(errors.resourceNotFound(resource.type));
  await lockStaff(tx, [before.organizationId]);
  const locked = (await lockResource(tx, resource.type, resource.id)) ?? refuse(errors.resourceNotFound(resource.type));
  if (locked.organizationId !== before.organizationId) throw errors.resourceMoved();
  return { ...resource, ...locked };
}

/** Locks a resource as `lockShared` does, and decides access again under the locks. Errors: those of `lockShared`, actionDenied, experimentArchived. */
export async function lockDecided(tx: Transaction, caller: Caller, resource: SharedResource, action: Action): Promise<LockedResource> {
  const locked = await lockShared(tx, resource);
  await requireAccess(tx, caller.userId, resource.type, resource.id, action);
  if (locked.isArchived) throw errors.experimentArchived();
  return locked;
}

/** Locks a grant, and the grants that give a person full control of the resource. Errors: grantNotFound. */
export async function lockGrant(
  tx: Transaction,
  resource: SharedResource,
  grantId: string,
): Promise<{ grant: GrantRow; staffing: GrantRow[] }> {
  const rows = await lockGrants(tx, resource.id, grantId);
  const grant = rows.find(({ id }) => id === grantId.toLowerCase());
  if (!grant) throw errors.grantNotFound();
  return { grant, staffing: rows.filter(({ isStaffing }) => isStaffing) };
}

/** Refuses to lower or remove the grant of the last person who answers for a resource. Errors: lastAdmin. */
export async function keepAnswerable(
  tx: Transaction,
  organizationId: string,
  grant: GrantRow,
  staffing: readonly GrantRow[],
): Promise<void> {
  if (!grant.isStaffing || !grant.isCover) return;
  if (await hasStaff(tx, organizationId)) return;
  if (!staffing.some(({ id, isCover }) => isCover && id !== grant.id)) throw errors.lastAdmin();
}
