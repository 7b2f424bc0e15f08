import type { Caller } from '../../auth/caller.ts';
import { requireAccess } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import { refuseBody } from '../input/input.service.ts';
import type { BulkDeviceResult, BulkDevicesResult, BulkGroup, NewDevices } from './bulk.model.ts';
import { addMembers, createGroup } from './device-groups.service.ts';
import { registerOne } from '../devices/devices.service.ts';
import { makeRowCaller, explainFailure, ROWS_AT_ONCE } from '../devices/rows.service.ts';
import { runEach } from '../../waiting.ts';

function checkedGroup(group: BulkGroup | undefined): BulkGroup | undefined {
  if (group && (group.groupId === undefined) === (group.name === undefined))
    throw refuseBody([{ path: '/group', message: 'must have either groupId or name' }]);
  return group;
}

/** Registers devices, each on its own, and has those that are new join the group, if one is named. */
async function registerEach(ctx: Context, caller: Caller, body: NewDevices, group: BulkGroup | undefined): Promise<BulkDevicesResult> {
  const { deviceType, organizationId } = body;
  const devices = await runEach(body.devices, ROWS_AT_ONCE, async ({ serialNumber, name }): Promise<BulkDeviceResult> => {
    try {
      return { serialNumber, device: await registerOne(ctx, caller, { serialNumber, name, deviceType, organizationId }), error: null };
    } catch (error) {
      return { serialNumber, device: null, error: explainFailure(ctx, error) };
    }
  });
  if (!group) return { devices, groupId: null, groupError: null };
  const made = devices.flatMap(({ device }) => (device ? [device.id] : []));
  if (made.length === 0) return { devices, groupId: null, groupError: 'No device was registered, so no group was touched.' };
  try {
    if (group.groupId !== undefined) await requireAccess(ctx.db, caller.userId, 'device_group', group.groupId, 'contribute');
    const groupId = group.groupId ?? (await createGroup(ctx, makeRowCaller(caller), { name: group.name ?? '', organizationId })).id;
    await addMembers(ctx, caller, groupId, made);
    return { devices, groupId, groupError: null };
  } catch (error) {
    return { devices, groupId: null, groupError: explainFailure(ctx, error) };
  }
}

/**
 * Registers up to 100 devices, each on its own; a device that fails says so in its row. Then the new ones join a group, if one is named. The answer is kept for
 * an Idempotency-Key where a device is new.
 */
export async function registerMany(ctx: Context, caller: Caller, body: NewDevices): Promise<BulkDevicesResult> {
  const group = checkedGroup(body.group);
  const seen = new Set<string>();
  const twice = body.devices.findIndex(({ serialNumber }) => seen.size === seen.add(serialNumber).size);
  if (twice >= 0) throw refuseBody([{ path: `/devices/${twice}/serialNumber`, message: 'is there twice' }]);
  const result = await registerEach(ctx, caller, body, group);
  if (result.devices.some(({ device }) => device !== null)) await ctx.db.transaction((tx) => caller.created(tx, result));
  return result;
}
