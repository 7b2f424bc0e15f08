import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { Device } from '../devices/devices.model.ts';
import type { PresenceEventView, RecentMeasurement } from './monitoring.model.ts';
import type { Range } from './ranges.ts';
import type { StateBefore } from './sessions.ts';

const events = fragment`event_type as "eventType", presence_events.at as "eventTimestamp", disconnect_reason as "disconnectReason"`;

export type MonitoredDevice = Pick<Device, 'id' | 'thingName' | 'name' | 'serialNumber' | 'deviceType'>;

const device = fragment`d.id, d.thing_name as "thingName", d.given_name as name, d.serial_number as "serialNumber", d.device_type as "deviceType"`;

export const listFleet = (db: Queryable, userId: string, most: number) =>
  db.rows<MonitoredDevice>(sql('monitoring.fleet')`
    select ${device} from devices d
    where d.id in (select a.resource_id from effective_access a where a.user_id = ${userId} and a.resource_type = 'device' and a.can_read)
    order by d.id limit ${most}`);

export const listGroupDevices = (db: Queryable, userId: string, groupId: string) =>
  db.rows<MonitoredDevice>(sql('monitoring.group')`
    select ${device} from device_group_members m join devices d on d.id = m.device_id
    where m.group_id = ${groupId} and exists (select from effective_access a where a.user_id = ${userId} and a.resource_id = d.id and a.can_read)
    order by m.added_at desc, d.id desc`);

export const findMonitored = (db: Queryable, deviceId: string) =>
  db.one<MonitoredDevice>(sql('monitoring.device')`select ${device} from devices d where d.id = ${deviceId}`);

/** A presence event, and its place among the events of the same instant. */
export type PlacedMark = PresenceEventView & { ordinal: number };

/** The newest events of a range, newest first. */
export const listEvents = (db: Queryable, thingName: string, { from, to }: Range, most: number) =>
  db.rows<PlacedMark>(sql('monitoring.events')`
    select ${events}, session as "sessionIdentifier", ordinal from presence_events
    where thing_name = ${thingName} and at >= ${from} and at < ${to} order by at desc, ordinal desc limit ${most}`);

/**
 * Finds whether a device was connected before a time, or before one event of that time. Its last connect counts, unless a disconnect of the same session came
 * after. Undefined when nothing is known.
 */
export const findStateBefore = (db: Queryable, thingName: string, at: Date, ordinal = 0) =>
  db.one<StateBefore>(sql('monitoring.before')`
    with opened as (
      select at, ordinal, session from presence_events
      where thing_name = ${thingName} and (at, ordinal) < (${at}, ${ordinal}) and event_type = 'connected' order by at desc, ordinal desc limit 1)
    select opened.ordinal is not null and not exists (
        select from presence_events d where d.thing_name = ${thingName} and d.event_type = 'disconnected'
          and (d.at, d.ordinal) > (opened.at, opened.ordinal) and (d.at, d.ordinal) < (${at}, ${ordinal})
          and (d.session is null or opened.session is null or d.session = opened.session)) as connected,
      opened.session as "sessionIdentifier"
    from (select 1 from presence_events where thing_name = ${thingName} and (at, ordinal) < (${at}, ${ordinal}) limit 1) known left join opened on true`);

/**
 * Lists the newest events of several devices. They can only belong to the `most` devices whose newest events are the newest. None of them is older than the
 * oldest of those newest events.
 */
export const listEventsOf = (db: Queryable, thingNames: readonly string[], { from, to }: Range, most: number) =>
  db.rows<PresenceEventView & { thingName: string }>(sql('monitoring.eventsOf')`
    with latest as materialized (
      select t.name, e.at, e.ordinal from unnest(${thingNames}::text[]) as t (name) cross join lateral (
        select at, ordinal from presence_events where thing_name = t.name and at >= ${from} and at < ${to} order by at desc, ordinal desc limit 1) e
      order by e.at desc, e.ordinal desc limit ${most}),
    cut as (select case when count(*) = ${most} then min(at) else ${from} end as at from latest)
    select latest.name as "thingName", ${events} from latest cross join cut cross join lateral (
      select event_type, at, ordinal, disconnect_reason from presence_events
      where thing_name = latest.name and at >= cut.at and at < ${to} order by at desc, ordinal desc limit ${most}) presence_events
    order by presence_events.at desc, presence_events.ordinal desc limit ${most}`);

/**
 * When each thing last sent data; null when it never has. What a clock says that is more than a day ahead counts only where there is nothing else, since one
 * such time would hide every later one.
 */
export const listLastDataTimes = (db: Queryable, thingNames: readonly string[]) =>
  db.rows<{ thingName: string; lastAt: Date | null }>(sql('monitoring.lastData')`
    select t.name as "thingName", (select max(last_at) from message_hours h where h.client_id = t.name
      and h.hour = coalesce((select max(hour) from message_hours n where n.client_id = t.name and n.hour <= now() + interval '1 day'),
        (select max(hour) from message_hours n where n.client_id = t.name))) as "lastAt"
    from unnest(${thingNames}::text[]) as t (name)`);

/** Lists recent measurements of experiments that the caller may read. Position and sample are shown only where the caller may contribute. */
export const listRecent = (db: Queryable, userId: string, thingName: string, { from, to }: Range, most: number) =>
  db.rows<RecentMeasurement>(sql('monitoring.recent')`
    select h.at as timestamp, h.experiment_id as "experimentId", h.protocol_id as "protocolId", h.workbook_version_id as "workbookVersionId", h.version as "deviceVersion",
      h.battery, case when access.contributes then h.latitude end as latitude, case when access.contributes then h.longitude end as longitude,
      case when access.contributes then h.sample end as sample
    from recent_measurements h
    join lateral (select bool_or(a.can_contribute) as contributes from effective_access a
      where a.user_id = ${userId} and a.resource_id = h.experiment_id and a.can_read having count(*) > 0) access on true
    where h.client_id = ${thingName} and h.at >= ${from} and h.at < ${to} order by h.at desc, h.id limit ${most}`);
