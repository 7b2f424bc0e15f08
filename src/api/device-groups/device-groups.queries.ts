import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { AttachedDevice } from '../devices/devices.model.ts';
import type { ListFilter } from '../resources/resources.model.ts';
import type { CountedDeviceGroup } from './device-groups.model.ts';

const columns = fragment`
  r.id, r.name, r.description, r.organization_id as "organizationId", r.visibility, r.created_by as "createdBy",
  r.created_at as "createdAt", r.updated_at as "updatedAt", (select count(*) from device_group_members m where m.group_id = r.id) as "memberCount"`;

const matching = ({ userId, scope, search }: ListFilter) => {
  const pattern = search === undefined ? null : `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  return fragment`
    from resources r join device_groups g on g.id = r.id
    where exists (select from effective_access a where a.user_id = ${userId} and a.resource_type = 'device_group' and a.resource_id = r.id and a.can_read
                    and (${scope} = 'all' or a.rank < 5))
      and (${pattern}::text is null or r.name ilike ${pattern} or r.description ilike ${pattern})`;
};

export const listGroups = (db: Queryable, filter: ListFilter, page: Slice) =>
  db.rows<CountedDeviceGroup>(sql('deviceGroups.list')`
    select ${columns} ${matching(filter)} order by r.created_at desc, r.id desc limit ${page.limit} offset ${page.offset}`);

export const countGroups = (db: Queryable, filter: ListFilter, most: number) =>
  db.count(sql('deviceGroups.count')`select count(*) as count from (select 1 ${matching(filter)} limit ${most}) counted`);

export type VersionedGroup = CountedDeviceGroup & { version: number };

export const findGroup = (db: Queryable, id: string) =>
  db.one<VersionedGroup>(sql('deviceGroups.find')`
    select ${columns}, r.version from resources r join device_groups g on g.id = r.id where r.id = ${id}`);

export const insertGroup = (
  db: Queryable,
  row: { id: string; organizationId: string; name: string; description: string | null; createdBy: string },
) =>
  db.run(sql('deviceGroups.insert')`
    with resource as (
      insert into resources (id, type, organization_id, name, description, created_by)
      values (${row.id}, 'device_group', ${row.organizationId}, ${row.name}, ${row.description}, ${row.createdBy}) returning id
    )
    insert into device_groups (id) select id from resource`);

export type MemberRow = Omit<AttachedDevice, 'id'> & { deviceId: string; addedAt: Date; isReadable: boolean; isManageable: boolean };

/** Lists the members of a group, newest first, and what the caller may do with each. */
export const listMembers = (db: Queryable, userId: string, groupId: string) =>
  db.rows<MemberRow>(sql('deviceGroups.members')`
    select d.id as "deviceId", d.thing_name as "thingName", d.given_name as name, d.serial_number as "serialNumber", d.device_type as "deviceType",
      case d.state when 'phone' then 'active' else d.state end as status, m.added_at as "addedAt",
      coalesce(access.reads, false) as "isReadable", coalesce(access.manages, false) as "isManageable"
    from device_group_members m join devices d on d.id = m.device_id
    left join lateral (
      select bool_or(a.can_read) as reads, bool_or(a.can_manage) as manages from effective_access a where a.user_id = ${userId} and a.resource_id = d.id
    ) access on true
    where m.group_id = ${groupId} order by m.added_at desc, d.id desc`);

/** Lists those of these devices that exist, and whether the caller may manage each. */
export const listManageable = (db: Queryable, userId: string, deviceIds: readonly string[]) =>
  db.rows<{ id: string; isManageable: boolean }>(sql('deviceGroups.manageable')`
    select d.id, exists (select from effective_access a where a.user_id = ${userId} and a.resource_id = d.id and a.can_manage) as "isManageable"
    from devices d where d.id = any (${deviceIds}::uuid[]) order by d.id for share of d`);

export const insertMembers = (db: Queryable, member: { groupId: string; deviceIds: readonly string[]; addedBy: string }) =>
  db.values<string>(sql('deviceGroups.addMembers')`
    insert into device_group_members (group_id, device_id, added_by, added_at)
    select ${member.groupId}, id, ${member.addedBy}, clock_timestamp() from unnest(${member.deviceIds}::uuid[]) with ordinality as given (id, position) order by position
    on conflict do nothing returning device_id`);

export const deleteMember = (db: Queryable, groupId: string, deviceId: string) =>
  db.run(sql('deviceGroups.removeMember')`delete from device_group_members where group_id = ${groupId} and device_id = ${deviceId}`);
