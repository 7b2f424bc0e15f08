import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Actor, Caller } from '../../auth/caller.ts';
import { requireAccess } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { requireExpected, type Target } from '../input/input.service.ts';
import { requireHome, seedCreator } from '../sharing/seeding.service.ts';
import type { SharedType } from '../sharing/sharing.model.ts';
import type {
  ListFilter,
  ListQuery,
  LibraryResourcePatch,
  LibraryType,
  NewLibraryResource,
  Visibility,
  VisibilityState,
} from './resources.model.ts';
import { deleteResource, insertResource, lockResource, makePublic, touchResource } from './resources.queries.ts';

export { countLibrary, deleteResource, makePublic, touchResource } from './resources.queries.ts';

/** Reads which things a list is asked for. `filter` is an old name of the scope \`related\`. */
export const makeFilter = (userId: string, { scope, filter, search }: ListQuery): ListFilter => ({
  userId,
  scope: scope ?? (filter === undefined ? 'all' : 'related'),
  search: search?.trim() || undefined,
});

/**
 * Makes the row that every shared resource has, and answers its id. The caller then writes the row in the table of its type. Errors: not a member; a source of
 * a fork that is not there or may not be read.
 */
export async function settleResource(tx: Transaction, maker: Actor, type: LibraryType, body: NewLibraryResource): Promise<string> {
  const home = await requireHome(tx, maker, body.organizationId);
  if (body.forkedFrom !== undefined) await requireAccess(tx, maker.userId, type, body.forkedFrom, 'read');
  const id = randomUUIDv7();
  await insertResource(tx, {
    id,
    type,
    organizationId: home.organizationId,
    visibility: body.visibility ?? 'private',
    name: body.name.trim(),
    description: body.description ?? null,
    createdBy: maker.userId,
  });
  await seedCreator(tx, maker, { id, type }, home);
  await audit(tx, maker, { action: `${type}.created`, resource: { type, id } });
  return id;
}

/** Locks a resource for a change of what belongs to it. Errors: not found. */
export async function lockWithParts(tx: Transaction, type: SharedType, id: string) {
  return (await lockResource(tx, type, id)) ?? refuse(errors.resourceNotFound(type));
}

/** Locks a resource for a change of its own. Errors: not found; changed since the version that the caller read. */
export async function lockForChange(tx: Transaction, type: SharedType, { id, versions }: Target) {
  const state = await lockWithParts(tx, type, id);
  requireExpected(state.version, versions);
  return state;
}

/** Ends a change: sets name and description where given, raises the version, and adds an audit event. */
export async function recordChange(
  tx: Transaction,
  caller: Actor,
  resource: { type: LibraryType; id: string },
  changes: LibraryResourcePatch & object,
): Promise<void> {
  await touchResource(tx, resource.id, { name: changes.name?.trim(), description: changes.description });
  const fields = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  await audit(tx, caller, { action: `${resource.type}.updated`, resource, details: { fields } });
}

interface LibraryTarget extends Target {
  type: LibraryType;
}

/** Makes a private resource public, which cannot be undone. The same value again is no change. */
export const setLibraryVisibility = (
  ctx: Context,
  caller: Caller,
  target: LibraryTarget,
  visibility: Visibility,
): Promise<VisibilityState> =>
  ctx.db.transaction(async (tx) => {
    const { type, id } = target;
    const resource = { type, id };
    const state = await lockForChange(tx, type, target);
    if (state.visibility === 'public' && visibility === 'private') throw errors.visibilityNotMonotonic();
    if (visibility === 'public' && (await makePublic(tx, id)) > 0) await audit(tx, caller, { action: `${type}.published`, resource });
    return { id, visibility };
  });

/** Deletes a protocol, macro or workbook. References to it elsewhere are left dangling, or keep their snapshot. */
export const removeLibraryResource = (ctx: Context, caller: Caller, target: LibraryTarget): Promise<null> =>
  ctx.db.transaction(async (tx) => {
    const { type, id } = target;
    const { organizationId } = await lockForChange(tx, type, target);
    await deleteResource(tx, type, id);
    await audit(tx, caller, { action: `${type}.deleted`, organizationId, resource: { type, id } });
    return null;
  });
