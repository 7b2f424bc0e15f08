import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { DeviceState } from '../../iot/lifecycle.ts';
import type { Sequence } from '../../iot/sequences.ts';
import type { ListFilter } from '../resources/resources.model.ts';
import type { Device, RegistryDevice } from './devices.model.ts';

const columns = fragment`
  r.id, d.thing_name as "thingName", d.thing_arn as "thingArn", d.serial_number as "serialNumber", d.given_name as name,
  d.device_type as "deviceType", case d.state when 'phone' then 'active' else d.state end as status,
  d.certificate_id as "certificateId", d.certificate_arn as "certificateArn",
  r.created_by as "createdBy", r.organization_id as "organizationId", r.visibility, r.created_at as "createdAt", r.updated_at as "updatedAt"`;

export interface DeviceFilter extends ListFilter {
  deviceType: string | undefined;
}

const matching = ({ userId, scope, search, deviceType }: DeviceFilter) => {
  const pattern = search === undefined ? null : `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  return fragment`
    from resources r join devices d on d.id = r.id
    where exists (select from effective_access a where a.user_id = ${userId} and a.resource_type = 'device' and a.resource_id = r.id and a.can_read
                    and (${scope} = 'all' or a.rank < 5))
      and (${deviceType ?? null}::text is null or d.device_type = ${deviceType ?? null})
      and (${pattern}::text is null or r.name ilike ${pattern} or d.serial_number ilike ${pattern} or d.thing_name ilike ${pattern})`;
};

export const listDevices = (db: Queryable, filter: DeviceFilter, page: Slice) =>
  db.rows<Device>(sql('devices.list')`
    select ${columns} ${matching(filter)} order by r.created_at desc, r.id desc limit ${page.limit} offset ${page.offset}`);

export const countDevices = (db: Queryable, filter: DeviceFilter, most: number) =>
  db.count(sql('devices.count')`select count(*) as count from (select 1 ${matching(filter)} limit ${most}) counted`);

export type VersionedDevice = Device & { version: number };

export const findDevice = (db: Queryable, id: string) =>
  db.one<VersionedDevice>(sql('devices.find')`
    select ${columns}, r.version from resources r join devices d on d.id = r.id where r.id = ${id}`);

/** Finds a phone by its installation. */
export const findMobile = (db: Queryable, installId: string) =>
  db.one<VersionedDevice>(sql('devices.findMobile')`
    select ${columns}, r.version from resources r join devices d on d.id = r.id where d.device_type = 'mobile' and d.serial_number = ${installId}`);

export type NewDeviceRow = Pick<
  Device,
  'id' | 'organizationId' | 'createdBy' | 'name' | 'thingName' | 'thingArn' | 'serialNumber' | 'deviceType'
> & { state: DeviceState; sequence: Sequence };

/** Reserves a device. A serial number that another device of its type already has is `serialTaken`. */
export const insertDevice = (db: Queryable, row: NewDeviceRow) =>
  db.run(sql('devices.insert')`
    with resource as (
      insert into resources (id, type, organization_id, name, created_by)
      values (${row.id}, 'device', ${row.organizationId}, ${row.name ?? row.serialNumber}, ${row.createdBy})
      returning id
    )
    insert into devices (id, thing_name, thing_arn, serial_number, given_name, device_type, state, sequence, sequence_at)
    select id, ${row.thingName}, ${row.thingArn}, ${row.serialNumber}, ${row.name}, ${row.deviceType}, ${row.state}, ${JSON.stringify(row.sequence)}, now()
    from resource`);

/** Gives a name to a device that has none. */
export const nameDevice = (db: Queryable, id: string, name: string) =>
  db.run(sql('devices.name')`
    with named as (update devices set given_name = ${name} where id = ${id} and given_name is null returning id)
    update resources r set name = ${name}, updated_at = now(), version = version + 1 from named where r.id = named.id`);

/** Renames a device; null names it by its serial number. Answers its organization, or undefined when the device has none of these versions or is gone. */
export const renameDevice = (db: Queryable, id: string, name: string | null, versions: readonly number[] | null) =>
  db.one<{ organizationId: string }>(sql('devices.rename')`
    with changed as (
      update resources r set name = coalesce(${name}, d.serial_number), updated_at = now(), version = version + 1
      from devices d where d.id = r.id and r.id = ${id} and (${versions}::int[] is null or r.version = any (${versions}::int[]))
      returning r.id, r.organization_id
    )
    update devices d set given_name = ${name} from changed where d.id = changed.id returning changed.organization_id as "organizationId"`);

/** Lists devices by thing name, as far as the caller may read them. */
export const listReadableThings = (db: Queryable, userId: string, thingNames: readonly string[]) =>
  db.rows<RegistryDevice>(sql('devices.registry')`
    select d.thing_name as "thingName", d.id, d.serial_number as "serialNumber", d.device_type as "deviceType",
      case d.state when 'phone' then 'active' else d.state end as status, r.created_by as "createdBy"
    from devices d join resources r on r.id = d.id
    where d.thing_name = any (${thingNames}::text[])
      and exists (select from effective_access a where a.user_id = ${userId} and a.resource_type = 'device' and a.resource_id = d.id and a.can_read)
    order by d.thing_name`);

export const deleteDevice = (db: Queryable, id: string) =>
  db.run(sql('devices.delete')`delete from resources where id = ${id} and type = 'device'`);
