import type { Queryable } from '../database/database.ts';
import { isUuid } from '../database/uuid.ts';
import { errors, refuse } from '../errors.ts';
import { findCapabilities, findDecision, listDecisions, type Capabilities } from './access.queries.ts';
import type { AccessSource, Action, ResourceType } from './roles.ts';

/** The owner of a resource, null where there is no such resource, and the source that allows what was asked, null where nothing does. */
export interface Decision {
  organizationId: string | null;
  source: AccessSource | null;
}

const NOT_FOUND: Decision = { organizationId: null, source: null };

/** Decides one question in one statement. */
export async function decide(db: Queryable, userId: string, type: ResourceType, resourceId: string, action: Action): Promise<Decision> {
  // questions of the same moment share one statement, and a malformed id would fail it for all of them
  if (!isUuid(userId) || !isUuid(resourceId)) return NOT_FOUND;
  return (await findDecision(db, { userId, type, resourceId, action })) ?? NOT_FOUND;
}

export const isAllowed = async (...question: Parameters<typeof decide>): Promise<boolean> => (await decide(...question)).source !== null;

/** Answers the owner that access was decided by, when it is granted. Otherwise throws what the caller is to see. */
export const requireAccess = async (db: Queryable, userId: string, type: ResourceType, resourceId: string, action: Action) =>
  requireGranted(await decide(db, userId, type, resourceId, action), type, action);

/** Asks the same question about many resources of one type, in one statement. Throws the first refusal. */
export async function requireAccessToAll(
  db: Queryable,
  userId: string,
  type: ResourceType,
  resourceIds: readonly string[],
  action: Action,
): Promise<void> {
  for (const row of await listDecisions(db, userId, type, resourceIds, action)) requireGranted(row, type, action);
}

/** Refuses with 404 what does not exist, and with 403 what is denied. */
export function requireGranted({ organizationId, source }: Decision, type: ResourceType, action: Action): string {
  if (organizationId === null) throw errors.resourceNotFound(type);
  if (source === null) throw errors.actionDenied(action, type);
  return organizationId;
}

/** Loads what the caller may do with a resource, for a client to show. Errors: resource not found. */
export const loadCapabilities = async (db: Queryable, userId: string, type: ResourceType, resourceId: string): Promise<Capabilities> =>
  (await findCapabilities(db, userId, resourceId)) ?? refuse(errors.resourceNotFound(type));
