import type { Queryable, Slice } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { AttachedDevice, DeviceExperiment, ExperimentDevice } from './devices.model.ts';

export interface Binding {
  experimentId: string;
  experimentName: string;
  status: string;
  workbookVersionId: string | null;
  addedAt: Date;
  /** Whether the caller may read the experiment. */
  isReadable: boolean;
}

/** Lists the experiments that a device is bound to, newest first. */
export const listDeviceBindings = (db: Queryable, userId: string, deviceId: string) =>
  db.rows<Binding>(sql('devices.experiments')`
    select e.id as "experimentId", r.name as "experimentName", e.status, e.workbook_version_id as "workbookVersionId", b.added_at as "addedAt",
      exists (select from effective_access a where a.user_id = ${userId} and a.resource_id = e.id and a.can_read) as "isReadable"
    from experiment_devices b join experiments e on e.id = b.experiment_id join resources r on r.id = e.id
    where b.device_id = ${deviceId}
    order by b.added_at desc, e.id desc`);

export const listReadableExperiments = (db: Queryable, userId: string, deviceId: string) =>
  db.rows<Omit<DeviceExperiment, 'topicPrefix'>>(sql('devices.readableExperiments')`
    select e.id, r.name, e.status, b.added_at as "addedAt"
    from experiment_devices b join experiments e on e.id = b.experiment_id join resources r on r.id = e.id
    where b.device_id = ${deviceId} and exists (select from effective_access a where a.user_id = ${userId} and a.resource_id = e.id and a.can_read)
    order by b.added_at desc, e.id desc`);

/** Locks the row of a device, so that its bindings can be counted. */
export const lockBindings = (db: Queryable, deviceId: string) =>
  db.one<{ id: string }>(sql('devices.lockBindings')`select id from devices where id = ${deviceId} for update`);

/** Locks experiments against changes; those that do not exist are left out. */
export const lockTargets = (db: Queryable, experimentIds: readonly string[]) =>
  db.rows<{ id: string; status: string }>(sql('devices.lockTargets')`
    select id, status from experiments where id = any (${experimentIds}::uuid[]) order by id for share`);

/** Binds a device to experiments, and answers the new bindings. Existing bindings stay. */
export const insertBindings = (db: Queryable, binding: { deviceId: string; experimentIds: readonly string[]; addedBy: string }) =>
  db.rows<{ experimentId: string }>(sql('devices.bind')`
    insert into experiment_devices (experiment_id, device_id, added_by, added_at)
    select id, ${binding.deviceId}, ${binding.addedBy}, clock_timestamp() from unnest(${binding.experimentIds}::uuid[]) with ordinality as given (id, position) order by position
    on conflict do nothing returning experiment_id as "experimentId"`);

export const countBindings = (db: Queryable, deviceId: string) =>
  db.count(sql('devices.countBindings')`select count(*) as count from experiment_devices where device_id = ${deviceId}`);

export type ExperimentDeviceRow = AttachedDevice & Omit<ExperimentDevice, 'device'>;

export const listExperimentDevices = (db: Queryable, experimentId: string, page: Slice) =>
  db.rows<ExperimentDeviceRow>(sql('devices.ofExperiment')`
    select d.id, d.thing_name as "thingName", d.serial_number as "serialNumber", d.given_name as name, d.device_type as "deviceType",
      case d.state when 'phone' then 'active' else d.state end as status, b.added_by as "addedBy", b.added_at as "addedAt"
    from experiment_devices b join devices d on d.id = b.device_id
    where b.experiment_id = ${experimentId} order by b.added_at desc, d.id desc limit ${page.limit} offset ${page.offset}`);

export const countExperimentDevices = (db: Queryable, experimentId: string) =>
  db.count(sql('devices.countOfExperiment')`select count(*) as count from experiment_devices where experiment_id = ${experimentId}`);

export const deleteBinding = (db: Queryable, experimentId: string, deviceId: string) =>
  db.run(sql('devices.unbind')`delete from experiment_devices where experiment_id = ${experimentId} and device_id = ${deviceId}`);

/** Whether the caller may read the experiment for another reason than that it is public. */
export const isRelated = (db: Queryable, userId: string, experimentId: string) =>
  db.value<boolean>(sql('devices.relation')`
    select exists (select from effective_access a where a.user_id = ${userId} and a.resource_id = ${experimentId} and a.can_read and a.rank < 5)`);

/**
 * Lists the workbook versions that experiments pin, with number, cells and kept protocols. Snapshots are JSON text, so that the numbers in code keep their
 * digits.
 */
export const listPinnedVersions = (db: Queryable, versionIds: readonly string[]) =>
  db.rows<{ id: string; version: number; cells: unknown; snapshots: string }>(sql('devices.pinnedVersions')`
    select id, version, cells, entity_snapshots::text as snapshots from workbook_versions where id = any (${versionIds}::uuid[])`);
