import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { errors, type Problem, refuse } from '../../errors.ts';
import { listGiven, type Target } from '../input/input.service.ts';
import { deleteResource, lockForChange, lockWithParts, touchResource } from '../resources/resources.service.ts';
import { requireHome, seedCreator } from '../sharing/seeding.service.ts';
import type { DeviceGroup, DeviceGroupPatch, GroupMember, NewDeviceGroup } from './device-groups.model.ts';
import {
  deleteMember,
  findGroup,
  insertGroup,
  insertMembers,
  listManageable,
  listMembers,
  type VersionedGroup,
} from './device-groups.queries.ts';

const type = 'device_group';

/** Creates a group in an organization of the caller. Errors: notAMember. */
export const createGroup = (ctx: Context, caller: Caller, body: NewDeviceGroup): Promise<DeviceGroup> =>
  ctx.db.transaction(async (tx) => {
    const home = await requireHome(tx, caller, body.organizationId);
    const id = randomUUIDv7();
    await insertGroup(tx, {
      id,
      organizationId: home.organizationId,
      name: body.name.trim(),
      description: body.description ?? null,
      createdBy: caller.userId,
    });
    await seedCreator(tx, caller, { type, id }, home);
    await audit(tx, caller, { action: 'device-group.created', resource: { type, id } });
    const found = (await findGroup(tx, id)) ?? refuse(errors.resourceNotFound(type));
    const { version: _version, memberCount: _memberCount, ...group } = found;
    return caller.created(tx, group);
  });

/** Changes the given fields. Errors: preconditionFailed. */
export const patchGroup = (ctx: Context, caller: Caller, target: Target, body: DeviceGroupPatch): Promise<VersionedGroup> =>
  ctx.db.transaction(async (tx) => {
    const { id } = target;
    await lockForChange(tx, type, target);
    const fields = listGiven(body, { name: true, description: true });
    if (fields.length > 0) {
      await touchResource(tx, id, { name: body.name?.trim(), description: body.description });
      await audit(tx, caller, { action: 'device-group.updated', resource: { type, id }, details: { fields } });
    }
    return (await findGroup(tx, id)) ?? refuse(errors.resourceNotFound(type));
  });

/** Removes a group with its memberships; the devices stay. */
export const removeGroup = (ctx: Context, caller: Caller, target: Target): Promise<null> =>
  ctx.db.transaction(async (tx) => {
    const { id } = target;
    const { organizationId } = await lockForChange(tx, type, target);
    await deleteResource(tx, type, id);
    await audit(tx, caller, { action: 'device-group.deleted', organizationId, resource: { type, id } });
    return null;
  });

/** Loads the members of a group. Devices that the caller may not read are listed without their facts. */
export async function loadMembers(ctx: Context, caller: Caller, groupId: string): Promise<GroupMember[]> {
  const rows = await listMembers(ctx.db, caller.userId, groupId);
  const readable = rows.filter(({ isReadable }) => isReadable);
  const seen = readable.length === 0 ? null : await ctx.iot.registry.connectivity(readable.map(({ thingName }) => thingName));
  return rows.map(({ deviceId, name, serialNumber, deviceType, status, addedAt, isReadable, thingName }) =>
    isReadable
      ? { deviceId, name, serialNumber, deviceType, status, connected: seen && (seen.get(thingName)?.connected ?? false), addedAt }
      : { deviceId, name: null, serialNumber: null, deviceType: null, status: null, connected: null, addedAt },
  );
}

/** Adds devices that the caller may manage, all or none. A device that is already a member stays one. Errors: resourceNotFound, actionDenied. */
export const addMembers = (ctx: Context, caller: Caller, groupId: string, deviceIds: readonly string[]): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    await lockWithParts(tx, type, groupId);
    const given = deviceIds.map((id) => id.toLowerCase());
    const wanted = [...new Set(given)];
    const found = new Map((await listManageable(tx, caller.userId, wanted)).map(({ id, isManageable }) => [id, isManageable]));
    const pointTo = (isMeant: (id: string) => boolean, message: string): Problem[] =>
      given.flatMap((id, at) => (isMeant(id) ? [{ path: `/deviceIds/${at}`, message }] : []));
    const unknown = pointTo((id) => !found.has(id), 'is not the id of a device');
    if (unknown.length > 0) throw errors.resourceNotFound('device').with({ problems: unknown });
    const denied = pointTo((id) => found.get(id) === false, 'is a device that you may not manage');
    if (denied.length > 0) throw errors.actionDenied('manage', 'device').with({ problems: denied });
    const added = await insertMembers(tx, { groupId, deviceIds: wanted, addedBy: caller.userId });
    if (added.length > 0)
      await audit(tx, caller, { action: 'device-group.member-added', resource: { type, id: groupId }, details: { deviceIds: added } });
  });

/** Takes a device out of a group. It is no error when the device is not a member. */
export const removeMember = (ctx: Context, caller: Caller, groupId: string, deviceId: string): Promise<null> =>
  ctx.db.transaction(async (tx) => {
    if ((await deleteMember(tx, groupId, deviceId)) > 0)
      await audit(tx, caller, {
        action: 'device-group.member-removed',
        resource: { type, id: groupId },
        details: { deviceIds: [deviceId] },
      });
    return null;
  });
