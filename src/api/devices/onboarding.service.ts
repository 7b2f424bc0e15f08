import { audit, auditEach } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { requireAccessToAll } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { decideDevice } from '../../iot/lifecycle.ts';
import { MAX_BINDINGS } from '../../iot/policy.ts';
import { printTopicPrefix } from '../../iot/topics.ts';
import {
  countBindings,
  deleteBinding,
  isRelated,
  insertBindings,
  listDeviceBindings,
  listPinnedVersions,
  listReadableExperiments,
  lockBindings,
  lockTargets,
} from './bindings.queries.ts';
import type { DeviceExperiment, OnboardingConfig, OnboardRequest } from './devices.model.ts';
import { requireDevice } from './devices.service.ts';
import { findLifecycle } from './lifecycle.queries.ts';
import { makeProcedures } from './procedures.ts';

async function bind(tx: Transaction, caller: Caller, deviceId: string, wanted: readonly string[]): Promise<void> {
  await lockBindings(tx, deviceId);
  await requireAccessToAll(tx, caller.userId, 'experiment', wanted, 'contribute');
  const bound = await listDeviceBindings(tx, caller.userId, deviceId);
  // the config of the device would name experiments that the caller may not read
  if (bound.some(({ status, isReadable }) => status !== 'archived' && !isReadable)) throw errors.experimentUnreadable();
  const targets = await lockTargets(tx, wanted);
  if (targets.some(({ status }) => status === 'archived')) throw errors.experimentArchived();
  const added = await insertBindings(tx, { deviceId, experimentIds: wanted, addedBy: caller.userId });
  if (added.length > 0 && (await countBindings(tx, deviceId)) > MAX_BINDINGS) throw errors.tooManyBindings(MAX_BINDINGS);
  await auditEach(tx, caller, { action: 'device.bound', resource: { type: 'device', id: deviceId } }, added);
}

/**
 * Binds a device to experiments, and answers all that it needs to publish to every live one. If anything is refused, nothing is bound. Errors:
 * deviceStateRefused (not active, a phone), experimentUnreadable, experimentArchived, tooManyBindings, and those of access to each experiment.
 */
export async function onboardDevice(ctx: Context, caller: Caller, deviceId: string, body: OnboardRequest): Promise<OnboardingConfig> {
  const found = (await findLifecycle(ctx.db, deviceId)) ?? refuse(errors.resourceNotFound('device'));
  decideDevice(found.device.state, 'onboard');
  const wanted = [...new Set((body.experimentIds ?? []).map((id) => id.toLowerCase()))];
  const [device, endpoint] = await Promise.all([requireDevice(ctx, deviceId), ctx.iot.registry.endpoint()]);
  await ctx.db.transaction((tx) => bind(tx, caller, deviceId, wanted));
  await ctx.iot.rebind(deviceId);
  const live = (await listDeviceBindings(ctx.db, caller.userId, deviceId)).filter(
    ({ status, isReadable }) => status !== 'archived' && isReadable,
  );
  const pinned =
    body.includeWorkbook === false ? [] : live.flatMap(({ workbookVersionId }) => (workbookVersionId === null ? [] : [workbookVersionId]));
  const versions = new Map((await listPinnedVersions(ctx.db, pinned)).map((version) => [version.id, version]));
  return {
    thingName: device.thingName,
    deviceType: device.deviceType,
    endpoint,
    experiments: live.map(({ experimentId, experimentName, workbookVersionId }) => {
      const version = versions.get(workbookVersionId ?? '');
      const procedures = version ? makeProcedures(version.cells, version.snapshots) : null;
      return {
        experimentId,
        experimentName,
        topicPrefix: printTopicPrefix(experimentId, device.deviceType),
        workbookVersion: procedures && version ? version.version : null,
        procedures: procedures ?? [],
      };
    }),
  };
}

/** Lists the experiments that a device is bound to and the caller may read, with where it publishes to each. Errors: resourceNotFound. */
export async function listBoundExperiments(ctx: Context, caller: Caller, deviceId: string): Promise<DeviceExperiment[]> {
  const [{ deviceType }, bound] = await Promise.all([
    requireDevice(ctx, deviceId),
    listReadableExperiments(ctx.db, caller.userId, deviceId),
  ]);
  return bound.map((each) => ({ ...each, topicPrefix: deviceType === 'mobile' ? null : printTopicPrefix(each.id, deviceType) }));
}

/** Detaches a device from an experiment, to which it may not publish from then on. This works on an archived experiment too. Errors: notAttached. */
export async function detachDevice(ctx: Context, caller: Caller, experimentId: string, deviceId: string): Promise<null> {
  await ctx.db.transaction(async (tx) => {
    if ((await deleteBinding(tx, experimentId, deviceId)) === 0) throw errors.notAttached();
    await audit(tx, caller, { action: 'device.unbound', resource: { type: 'device', id: deviceId }, details: { experimentId } });
  });
  await ctx.iot.rebind(deviceId);
  return null;
}

/** Refuses callers who can see an experiment only because it is public: they may not see which devices send to it. Errors: actionDenied. */
export async function requireRelation(ctx: Context, caller: Caller, experimentId: string): Promise<void> {
  if (!(await isRelated(ctx.db, caller.userId, experimentId))) throw errors.actionDenied('see the devices of', 'experiment');
}
