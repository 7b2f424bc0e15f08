import type { Queryable } from '../database/database.ts';
import { isUuid } from '../database/uuid.ts';
import { errors, refuse } from '../errors.ts';
import { findCapabilities, findDecision, listDecisions, type Capabilities } from './access.queries.ts';
import type { AccessSource, Action, ResourceType } from './roles.ts';

/** The answer of the procedure. `organizationId` is the owner that it decided by; act on that one. */
export type Decision =
  | { allow: true; reason: AccessSource; organizationId: string }
  | { allow: false; reason: 'forbidden'; organizationId: string }
  | { allow: false; reason: 'not-found'; organizationId: null };

const NOT_FOUND = { organizationId: null, source: null };

/** Makes the decision of what the procedure found: the owner of a resource, and the source that allows what was asked. */
export function makeDecision({ organizationId, source }: { organizationId: string | null; source: AccessSource | null }): Decision {
  if (organizationId === null) return { allow: false, reason: 'not-found', organizationId: null };
  if (source === null) return { allow: false, reason: 'forbidden', organizationId };
  return { allow: true, reason: source, organizationId };
}

/** Decides one question in one statement. */
export async function decide(db: Queryable, userId: string, type: ResourceType, resourceId: string, action: Action): Promise<Decision> {
  // questions of the same moment share one statement, and a malformed id would fail it for all of them
  if (!isUuid(userId) || !isUuid(resourceId)) return makeDecision(NOT_FOUND);
  return makeDecision((await findDecision(db, { userId, type, resourceId, action })) ?? NOT_FOUND);
}

/** Answers the decision when access is granted. Otherwise throws what the caller is to see: 404 for what does not exist, 403 for what is denied. */
export async function requireAccess(db: Queryable, userId: string, type: ResourceType, resourceId: string, action: Action) {
  const decision = await decide(db, userId, type, resourceId, action);
  return requireGranted(decision, type, action);
}

/** Asks the same question about many resources of one type, in one statement. Throws the first refusal. */
export async function requireAccessToAll(
  db: Queryable,
  userId: string,
  type: ResourceType,
  resourceIds: readonly string[],
  action: Action,
): Promise<void> {
  for (const row of await listDecisions(db, userId, type, resourceIds, action)) requireGranted(makeDecision(row), type, action);
}

export function requireGranted(decision: Decision, type: ResourceType, action: Action): Extract<Decision, { allow: true }> {
  if (decision.allow) return decision;
  throw decision.reason === 'not-found' ? errors.resourceNotFound(type) : errors.actionDenied(action, type);
}

/** Loads what the caller may do with a resource, for a client to show. Errors: resource not found. */
export const loadCapabilities = async (db: Queryable, userId: string, type: ResourceType, resourceId: string): Promise<Capabilities> =>
  (await findCapabilities(db, userId, resourceId)) ?? refuse(errors.resourceNotFound(type));
