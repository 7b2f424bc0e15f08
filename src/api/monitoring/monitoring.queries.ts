import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { DeviceType } from '../devices/devices.model.ts';
import type {
  DeviceThroughput,
  ExperimentThroughput,
  MacroCount,
  ObservedExperiment,
  ProtocolCount,
  RecentMeasurement,
  VersionCount,
  WorkbookCount,
} from './monitoring.model.ts';
import type { PresenceMark } from './sessions.ts';

/** Half-open; hours are counted that begin in it. */
export interface Range {
  from: Date;
  to: Date;
}

const events = fragment`event_type as "eventType", at as "eventTimestamp", disconnect_reason as "disconnectReason"`;

const readable = (userId: string) =>
  fragment`exists (select from effective_access a where a.user_id = ${userId} and a.resource_id = h.experiment_id and a.can_read)`;

export interface MonitoredDevice {
  id: string;
  thingName: string;
  name: string | null;
  serialNumber: string;
  deviceType: DeviceType;
}

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

/** The newest events of a range, newest first. */
export const listEvents = (db: Queryable, thingName: string, { from, to }: Range, most: number) =>
  db.rows<PresenceMark>(sql('monitoring.events')`
    select ${events}, session as "sessionIdentifier" from presence_events
    where thing_name = ${thingName} and at >= ${from} and at < ${to} order by at desc, id desc limit ${most}`);

export const findEventBefore = (db: Queryable, thingName: string, from: Date) =>
  db.one<PresenceMark>(sql('monitoring.before')`
    select ${events}, session as "sessionIdentifier" from presence_events where thing_name = ${thingName} and at < ${from} order by at desc, id desc limit 1`);

export const listEventsOf = (db: Queryable, thingNames: readonly string[], { from, to }: Range, most: number) =>
  db.rows<PresenceMark & { thingName: string }>(sql('monitoring.eventsOf')`
    select thing_name as "thingName", ${events} from presence_events
    where thing_name = any (${thingNames}::text[]) and at >= ${from} and at < ${to} order by at desc, id desc limit ${most}`);

export const listLastData = (db: Queryable, thingNames: readonly string[]) =>
  db.rows<{ thingName: string; lastAt: Date | null }>(sql('monitoring.lastData')`
    select t.name as "thingName", (select max(last_at) from message_hours h where h.client_id = t.name
      and h.hour = (select max(hour) from message_hours n where n.client_id = t.name)) as "lastAt"
    from unnest(${thingNames}::text[]) as t (name)`);

export const listDeviceThroughput = (db: Queryable, thingNames: readonly string[], { from, to }: Range, bucket: string) =>
  db.rows<Omit<DeviceThroughput, 'deviceId'> & { thingName: string }>(sql('monitoring.throughputOf')`
    select date_trunc(${bucket}, h.hour, 'UTC') as "bucketStart", h.client_id as "thingName", sum(h.count)::bigint as count
    from message_hours h where h.client_id = any (${thingNames}::text[]) and h.hour >= date_trunc('hour', ${from}::timestamptz) and h.hour < ${to}
    group by 1, 2 order by 1, 2`);

export const listExperimentThroughput = (
  db: Queryable,
  userId: string,
  thingNames: readonly string[],
  { from, to }: Range,
  bucket: string,
) =>
  db.rows<ExperimentThroughput>(sql('monitoring.byExperiment')`
    select date_trunc(${bucket}, h.hour, 'UTC') as "bucketStart", case when ${readable(userId)} then h.experiment_id end as "experimentId", sum(h.count)::bigint as count
    from message_hours h where h.client_id = any (${thingNames}::text[]) and h.hour >= date_trunc('hour', ${from}::timestamptz) and h.hour < ${to}
    group by 1, 2 order by 1, 2`);

export const listBattery = (db: Queryable, thingName: string, { from, to }: Range, bucket: string) =>
  db.rows<{ bucketStart: Date; averageBattery: number | null }>(sql('monitoring.battery')`
    select date_trunc(${bucket}, h.hour, 'UTC') as "bucketStart", sum(battery_sum) / nullif(sum(battery_count), 0) as "averageBattery"
    from message_hours h where h.client_id = ${thingName} and h.hour >= date_trunc('hour', ${from}::timestamptz) and h.hour < ${to}
    group by 1 order by 1`);

export interface Totals {
  totalMeasurements: number;
  withGps: number;
  withBattery: number;
  workbookRuns: number;
  firmwareMix: VersionCount[];
  protocolMix: ProtocolCount[];
  workbookMix: WorkbookCount[];
  macroMix: MacroCount[];
}

/** Mixes count everything; ids of protocols, workbooks and macros only for experiments that the caller may read. */
export const findTotals = (db: Queryable, userId: string, thingName: string, { from, to }: Range) =>
  db.one<Totals>(sql('monitoring.totals')`
    with h as materialized (
      select h.*, ${readable(userId)} as is_readable from message_hours h
      where h.client_id = ${thingName} and h.hour >= date_trunc('hour', ${from}::timestamptz) and h.hour < ${to}
    ), firmware as (select nullif(version, '') as version, sum(count)::bigint as count from h group by 1),
    protocols as (select protocol_id as id, sum(count)::bigint as count from h where protocol_id <> '' and is_readable group by 1),
    workbooks as (select case when is_readable then nullif(workbook_version_id, '') end as id, sum(count)::bigint as count from h group by 1),
    macros as (
      select case when is_readable then nullif(m.id, '') end as id, sum(h.count)::bigint as count from h, unnest(case when h.macros = '' then array[''] else string_to_array(h.macros, ',') end) as m (id) group by 1)
    select coalesce(sum(count), 0)::bigint as "totalMeasurements", coalesce(sum(with_gps), 0)::bigint as "withGps", coalesce(sum(with_battery), 0)::bigint as "withBattery",
      (select count(distinct run_id) from message_runs r where r.client_id = ${thingName} and r.hour >= date_trunc('hour', ${from}::timestamptz) and r.hour < ${to}) as "workbookRuns",
      (select coalesce(json_agg(json_build_object('version', version, 'count', count) order by count desc, version), '[]') from firmware) as "firmwareMix",
      (select coalesce(json_agg(json_build_object('protocolId', id, 'count', count) order by count desc, id), '[]') from protocols) as "protocolMix",
      (select coalesce(json_agg(json_build_object('workbookVersionId', w.id, 'workbookId', v.workbook_id, 'workbookVersion', v.version, 'count', w.count) order by w.count desc, w.id), '[]')
         from workbooks w left join workbook_versions v on v.id::text = w.id) as "workbookMix",
      (select coalesce(json_agg(json_build_object('macroId', id, 'count', count) order by count desc, id), '[]') from macros) as "macroMix"
    from h`);

export interface VersionHour {
  version: string;
  firstAt: Date;
  lastAt: Date;
  count: number;
}

/** By hour and version, oldest first. */
export const listVersions = (db: Queryable, thingName: string, { from, to }: Range) =>
  db.rows<VersionHour>(sql('monitoring.versions')`
    select version, min(first_at) as "firstAt", max(last_at) as "lastAt", sum(count)::bigint as count from message_hours h
    where h.client_id = ${thingName} and version <> '' and h.hour >= date_trunc('hour', ${from}::timestamptz) and h.hour < ${to}
    group by hour, version order by min(first_at), version`);

export const listLatestVersions = (db: Queryable, thingNames: readonly string[], { from, to }: Range) =>
  db.rows<{ thingName: string; version: string; lastSeen: Date }>(sql('monitoring.latestVersions')`
    select distinct on (client_id) client_id as "thingName", version, last_at as "lastSeen" from message_hours h
    where client_id = any (${thingNames}::text[]) and version <> '' and hour >= date_trunc('hour', ${from}::timestamptz) and hour < ${to}
    order by client_id, last_at desc`);

/** Only of experiments that the caller may read; the sample needs what raw rows need. */
export const listRecent = (db: Queryable, userId: string, thingName: string, { from, to }: Range, most: number) =>
  db.rows<RecentMeasurement>(sql('monitoring.recent')`
    select h.at as timestamp, h.experiment_id as "experimentId", h.protocol_id as "protocolId", h.workbook_version_id as "workbookVersionId", h.version as "deviceVersion",
      h.battery, case when access.contributes then h.latitude end as latitude, case when access.contributes then h.longitude end as longitude,
      case when access.contributes then h.sample end as sample
    from recent_measurements h
    join lateral (select bool_or(a.can_contribute) as contributes from effective_access a
      where a.user_id = ${userId} and a.resource_id = h.experiment_id and a.can_read having count(*) > 0) access on true
    where h.client_id = ${thingName} and h.at >= ${from} and h.at < ${to} order by h.at desc, h.id limit ${most}`);

export const listObserved = (db: Queryable, userId: string, thingName: string, { from, to }: Range) =>
  db.rows<ObservedExperiment>(sql('monitoring.observed')`
    select case when ${readable(userId)} then h.experiment_id end as "experimentId", sum(h.count)::bigint as count, max(h.last_at) as "lastAt"
    from message_hours h where h.client_id = ${thingName} and h.hour >= date_trunc('hour', ${from}::timestamptz) and h.hour < ${to}
    group by 1 order by 2 desc, 1`);
