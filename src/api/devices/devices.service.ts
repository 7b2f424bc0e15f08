import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { ApiError, errors, isRefusal, refuse } from '../../errors.ts';
import { dropVersion, requireExpected, type Target } from '../input/input.service.ts';
import { MQTT_PORT } from '../../iot/registry.ts';
import { makeRegistration } from '../../iot/sequences.ts';
import { nameThing } from '../../iot/things.ts';
import { requireHome, seedCreator } from '../sharing/seeding.service.ts';
import type { ConnectedDevice, Device, DeviceConnection, DevicePatch, DeviceType, NewDevice, NewMobileDevice } from './devices.model.ts';
import { deleteDevice, findDevice, findMobile, insertDevice, nameDevice, renameDevice, type VersionedDevice } from './devices.queries.ts';

/** Finds one device. Errors: resourceNotFound. */
export const requireDevice = async (ctx: Context, id: string): Promise<VersionedDevice> =>
  (await findDevice(ctx.db, id)) ?? refuse(errors.resourceNotFound('device'));

/** Adds to each device whether it is connected; null when the registry cannot say. */
export async function addConnectivity<D extends { thingName: string }>(
  ctx: Context,
  devices: readonly D[],
): Promise<(D & Pick<ConnectedDevice, 'connectivity'>)[]> {
  const seen = devices.length === 0 ? null : await ctx.iot.registry.connectivity(devices.map((device) => device.thingName));
  return devices.map((device) => ({
    ...device,
    connectivity: seen && (seen.get(device.thingName) ?? { connected: false, lastSeenAt: null }),
  }));
}

/** Tells what a device connects to; null for a phone, and when the registry cannot say. */
export async function loadConnection(ctx: Context, { deviceType }: Pick<Device, 'deviceType'>): Promise<DeviceConnection | null> {
  const { registry, embedded } = ctx.iot;
  const endpoint = deviceType === 'mobile' ? null : await registry.endpoint().catch(() => null);
  if (endpoint === null) return null;
  const [, host = endpoint, port = MQTT_PORT] = /^([^:]+):(\d+)$/.exec(endpoint) ?? [];
  return { host, port: Number(port), authorityPem: embedded?.authority.certificatePem ?? null };
}

interface Registration {
  serialNumber: string;
  deviceType: DeviceType;
  name?: string | undefined;
  organizationId?: string | undefined;
}

async function reserve(ctx: Context, tx: Transaction, caller: Caller, wanted: Registration): Promise<Device> {
  const home = await requireHome(tx, caller, wanted.organizationId);
  const thing = nameThing(wanted.deviceType, wanted.serialNumber);
  const id = randomUUIDv7();
  await insertDevice(tx, {
    id,
    organizationId: home.organizationId,
    createdBy: caller.userId,
    name: wanted.name ?? null,
    thingName: thing,
    thingArn: `${ctx.iot.registry.arnPrefix}:thing/${thing}`,
    serialNumber: wanted.serialNumber,
    deviceType: wanted.deviceType,
    state: wanted.deviceType === 'mobile' ? 'phone' : 'pending',
    sequence: makeRegistration(),
  });
  await seedCreator(tx, caller, { type: 'device', id }, home);
  await audit(tx, caller, { action: 'device.created', resource: { type: 'device', id } });
  return dropVersion((await findDevice(tx, id)) ?? refuse(errors.resourceNotFound('device')));
}

/**
 * Provisions a reserved device. When the registry cannot be reached, the row stays, and the device is tried again in the background. When the registry refuses
 * the device, the row is deleted.
 */
async function provision(ctx: Context, device: Device): Promise<void> {
  try {
    await ctx.iot.lifecycle.register(device.id);
  } catch (error) {
    if (error instanceof ApiError && error.status < 500 && !isRefusal(error, 'deviceBusy')) {
      await deleteDevice(ctx.db, device.id);
      throw error;
    }
    ctx.log.warn({ err: error, deviceId: device.id }, 'a device could not be provisioned yet');
  }
}

/**
 * Registers a device. Its row is reserved first, so that of many calls at once with one serial number exactly one succeeds. Errors: notAMember, serialTaken.
 */
export async function registerDevice(ctx: Context, caller: Caller, body: NewDevice): Promise<Device> {
  const device = await ctx.db.transaction(async (tx) => caller.created(tx, await reserve(ctx, tx, caller, body)));
  await provision(ctx, device);
  return device;
}

/** Registers one device of many, without keeping an answer of its own. */
export async function registerOne(ctx: Context, caller: Caller, wanted: Registration): Promise<Device> {
  const device = await ctx.db.transaction((tx) => reserve(ctx, tx, caller, wanted));
  await provision(ctx, device);
  return device;
}

/** Finds the phone of this installation, or registers it. Errors: installTaken, when it is somebody else's. */
export async function ensureMobile(ctx: Context, caller: Caller, { installId, name }: NewMobileDevice): Promise<Device> {
  const serialNumber = installId.toLowerCase();
  const known = await findMobile(ctx.db, serialNumber);
  if (!known) {
    try {
      return await registerOne(ctx, caller, { serialNumber, deviceType: 'mobile', name });
    } catch (error) {
      if (!isRefusal(error, 'serialTaken')) throw error;
    }
  }
  const found = known ?? (await findMobile(ctx.db, serialNumber));
  if (found?.createdBy !== caller.userId) throw errors.installTaken();
  if (name !== undefined && found.name === null) await nameDevice(ctx.db, found.id, name);
  return dropVersion(await requireDevice(ctx, found.id));
}

/** Changes the given fields. Errors: preconditionFailed. */
export const patchDevice = (ctx: Context, caller: Caller, target: Target, { name }: DevicePatch): Promise<VersionedDevice> =>
  ctx.db.transaction(async (tx) => {
    const { id, versions } = target;
    if (name !== undefined) {
      const changed = await renameDevice(tx, id, name === null ? null : name.trim(), versions);
      if (!changed) throw (await findDevice(tx, id)) ? errors.preconditionFailed() : errors.resourceNotFound('device');
      await audit(tx, caller, { action: 'device.renamed', organizationId: changed.organizationId, resource: { type: 'device', id } });
    }
    const found = (await findDevice(tx, id)) ?? refuse(errors.resourceNotFound('device'));
    if (name === undefined) requireExpected(found.version, versions);
    return found;
  });

/** Removes a device: its certificates, its thing and its row. Its measurements stay. Errors: preconditionFailed, resourceNotFound. */
export async function removeDevice(ctx: Context, caller: Caller, { id, versions }: Target): Promise<null> {
  const begin = async () => {
    const device = await requireDevice(ctx, id);
    requireExpected(device.version, versions);
    await ctx.db.transaction((tx) => audit(tx, caller, { action: 'device.deleted', resource: { type: 'device', id } }));
  };
  if (!(await ctx.iot.lifecycle.remove(id, begin))) throw errors.resourceNotFound('device');
  return null;
}
