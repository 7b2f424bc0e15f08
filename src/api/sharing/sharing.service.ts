import { audit } from '../../auth/audit.ts';
import type { Actor, Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { findPeople } from '../directory/directory.service.ts';
import { keepAnswerable, lockDecided, lockGrant, lockShared, type LockedResource, type SharedResource } from './answerability.service.ts';
import { listCollaborators, listHoldings } from './collaborators.queries.ts';
import {
  deleteGrant,
  findGrant,
  isNameable,
  insertGrant,
  lockAccounts,
  lockGrantee,
  updateGrantRole,
  type GrantRow,
} from './grants.queries.ts';
import type { Collaborator, GranteeType, GranteeUser, GrantRoleName, NewGrant } from './sharing.model.ts';

const written = (resource: LockedResource, grantee: { granteeType: GranteeType; granteeId: string }, details: object) => ({
  resource: { type: resource.type, id: resource.id },
  ...(grantee.granteeType === 'user' ? { subjectId: grantee.granteeId } : {}),
  details: { granteeType: grantee.granteeType, granteeId: grantee.granteeId, ...details },
});

const isFull = (role: GrantRoleName) => role !== 'viewer';

/** Names a grantee on a resource, or gives an existing grantee another role. Errors: granteeNotFound, experimentArchived, lastAdmin. */
export const share = (ctx: Context, caller: Caller, asked: SharedResource, body: NewGrant): Promise<Collaborator[]> =>
  ctx.db.transaction(async (tx) => {
    const role = body.role ?? 'viewer';
    if (body.granteeType === 'user') await lockAccounts(tx, [body.granteeId]);
    else if (!(await lockGrantee(tx, body.granteeType, body.granteeId))) throw errors.granteeNotFound();
    const resource = await lockDecided(tx, caller, asked, 'share');
    const grantee = { type: body.granteeType, id: body.granteeId };
    if (!(await isNameable(tx, grantee, { organizationId: resource.organizationId, sharerId: caller.userId })))
      throw errors.granteeNotFound();
    const held = await findGrant(tx, resource.id, body.granteeType, body.granteeId);
    if (held) await setRole(tx, caller, resource, { grantId: held.id, role });
    else {
      await insertGrant(tx, {
        resourceId: resource.id,
        resourceType: resource.type,
        granteeType: body.granteeType,
        granteeId: body.granteeId,
        role,
        createdBy: caller.userId,
      });
      await audit(tx, caller, { action: 'grant.created', ...written(resource, body, { role }) });
    }
    return caller.created(tx, await listCollaborators(tx, resource.id, caller.userId));
  });

async function setRole(tx: Transaction, caller: Caller, resource: LockedResource, change: { grantId: string; role: GrantRoleName }) {
  const { grant, staffing } = await lockGrant(tx, resource, change.grantId);
  if (grant.role === change.role) return;
  if (!isFull(change.role)) await keepAnswerable(tx, resource.organizationId, grant, staffing);
  await updateGrantRole(tx, grant.id, change.role);
  await audit(tx, caller, { action: 'grant.updated', ...written(resource, grant, { role: change.role, was: grant.role }) });
}

/** Gives a grant another role. Errors: experimentArchived, grantNotFound, lastAdmin. */
export const changeRole = (
  ctx: Context,
  caller: Caller,
  asked: SharedResource,
  change: { grantId: string; role: GrantRoleName },
): Promise<Collaborator[]> =>
  ctx.db.transaction(async (tx) => {
    const resource = await lockDecided(tx, caller, asked, 'share');
    await setRole(tx, caller, resource, change);
    return listCollaborators(tx, resource.id, caller.userId);
  });

async function remove(tx: Transaction, caller: Caller, resource: LockedResource, held: { grant: GrantRow; staffing: GrantRow[] }) {
  await keepAnswerable(tx, resource.organizationId, held.grant, held.staffing);
  await deleteGrant(tx, held.grant.id);
  await audit(tx, caller, { action: 'grant.deleted', ...written(resource, held.grant, { role: held.grant.role }) });
}

/** Takes a grant away. Errors: experimentArchived, grantNotFound, lastAdmin. */
export const revoke = (ctx: Context, caller: Caller, asked: SharedResource, grantId: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const resource = await lockDecided(tx, caller, asked, 'share');
    await remove(tx, caller, resource, await lockGrant(tx, resource, grantId));
  });

/** Gives up the caller's own direct grant, on an archived experiment too. Errors: grantNotFound, for whatever reason the caller holds none; lastAdmin. */
export const leave = (ctx: Context, caller: Caller, asked: SharedResource): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    if (!(await findGrant(tx, asked.id, 'user', caller.userId))) throw errors.grantNotFound();
    const resource = await lockShared(tx, asked);
    const held = (await findGrant(tx, asked.id, 'user', caller.userId)) ?? refuse(errors.grantNotFound());
    await remove(tx, caller, resource, await lockGrant(tx, resource, held.id));
  });

/** Gives a person at least this role, under the locks of `lockShared`; never lowers what they hold. `details` are written down too. */
export async function raiseGrant(
  tx: Transaction,
  by: Actor,
  resource: LockedResource,
  given: { userId: string; role: 'admin' | 'viewer' },
  details = {},
): Promise<void> {
  const grantee = { granteeType: 'user', granteeId: given.userId } as const;
  const held = await findGrant(tx, resource.id, 'user', given.userId);
  if (held && (held.role !== 'viewer' || given.role === 'viewer')) return;
  if (held) await updateGrantRole(tx, held.id, given.role);
  else await insertGrant(tx, { resourceId: resource.id, resourceType: resource.type, ...grantee, role: given.role, createdBy: by.userId });
  await audit(tx, by, {
    action: held ? 'grant.updated' : 'grant.created',
    ...written(resource, grantee, { role: given.role, ...details }),
  });
}

/** Finds people who can be named as grantees, best match first, with what they hold already. */
export async function findGrantees(
  ctx: Context,
  caller: Caller,
  resourceId: string,
  { query, limit = 20 }: { query?: string; limit?: number },
): Promise<GranteeUser[]> {
  const found = await findPeople(ctx, caller, { query, limit });
  const holdings = await listHoldings(
    ctx.db,
    resourceId,
    found.map(({ userId }) => userId),
  );
  const byPerson = new Map(holdings.map((each) => [each.userId, each]));
  return found.map(({ userId, firstName, lastName, email, avatarUrl }) => {
    const { organizationRole = null, existingGrantRole = null } = byPerson.get(userId) ?? {};
    return { userId, firstName, lastName, email, avatarUrl, organizationRole, existingGrantRole };
  });
}
