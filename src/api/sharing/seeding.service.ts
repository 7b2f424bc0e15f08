import { audit } from '../../auth/audit.ts';
import type { Actor, Caller } from '../../auth/caller.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import type { SharedResource } from './answerability.service.ts';
import { insertGrant, lockAccounts } from './grants.queries.ts';
import { findHome, listActivePeople } from './seeding.queries.ts';
import type { GrantRoleName } from './sharing.model.ts';

export interface Home {
  organizationId: string;
  /** Whether the creator is an admin there and the organization has an owner whose account is not deleted. */
  isAnswerable: boolean;
}

/**
 * Finds the organization that a new resource goes to: the named one, or the caller's personal workspace. Locks the caller's account and membership until the
 * transaction ends. Errors: notAMember.
 */
export const requireHome = async (tx: Transaction, caller: Pick<Caller, 'userId'>, organizationId: string | undefined): Promise<Home> =>
  (await findHome(tx, caller.userId, organizationId ?? null)) ?? refuse(errors.notAMember());

/** Gives the creator (or who brought the resource in) a direct admin grant, unless their role in its organization already makes them answerable. */
export async function seedCreator(tx: Transaction, caller: Actor, resource: SharedResource, home: Home): Promise<void> {
  if (home.isAnswerable) return;
  await grantDirectly(tx, caller, resource, { userId: caller.userId, role: 'admin' });
}

/** Grants a person a role on a resource. An existing grant stays as it is. */
export async function grantDirectly(
  tx: Transaction,
  by: Actor,
  resource: SharedResource,
  grant: { userId: string; role: GrantRoleName },
): Promise<void> {
  const row = { resourceType: resource.type, resourceId: resource.id, granteeType: 'user', granteeId: grant.userId } as const;
  if ((await insertGrant(tx, { ...row, role: grant.role, createdBy: by.userId })) === 0) return;
  const details = { granteeType: 'user', role: grant.role };
  await audit(tx, by, { action: 'grant.created', resource, subjectId: grant.userId, details });
}

/** Gives each of these people a viewer grant on a new resource. Errors: memberUnknown, when one of them is not active. */
export async function seedMembers(tx: Transaction, caller: Actor, resource: SharedResource, userIds: readonly string[]) {
  const wanted = [...new Set(userIds.map((id) => id.toLowerCase()))].filter((userId) => userId !== caller.userId);
  if (wanted.length === 0) return;
  await lockAccounts(tx, wanted);
  const active = await listActivePeople(tx, wanted);
  if (active.length < wanted.length) throw errors.memberUnknown();
  for (const userId of wanted) await grantDirectly(tx, caller, resource, { userId, role: 'viewer' });
}
