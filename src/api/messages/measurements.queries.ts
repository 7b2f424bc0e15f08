import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

/** One of the measurements that a sum counts. */
export interface Instant {
  at: string;
  gps: boolean;
  battery: number | null;
  runId: string | null;
}

export interface HourCount {
  clientId: string;
  hour: string;
  version: string;
  protocolId: string;
  workbookVersionId: string;
  macros: string;
  count: number;
  withGps: number;
  withBattery: number;
  batterySum: number;
  firstAt: string;
  lastAt: string;
  instants: Instant[];
}

/** Lists those of these devices that another organization had before, and when the one that has them now registered them. */
export const listBegun = (db: Queryable, clientIds: readonly string[]) =>
  db.rows<{ clientId: string; begunAt: Date }>(sql('measurements.begun')`
    select thing_name as "clientId", begun_at as "begunAt" from devices where thing_name = any (${clientIds}::text[]) and begun_at > '-infinity'`);

/** Adds measurements to the sums by hour and by day, and keeps their instants. */
export const addHours = (db: Queryable, experimentId: string, hours: readonly HourCount[]) =>
  db.run(sql('measurements.addHours')`
    with n as materialized (
      select * from json_to_recordset(${JSON.stringify(hours)}::json) as n ("clientId" text, hour timestamptz, version text, "protocolId" text, "workbookVersionId" text, macros text,
        count bigint, "withGps" bigint, "withBattery" bigint, "batterySum" float8, "firstAt" timestamptz, "lastAt" timestamptz, instants json)
    ), counted as (
      insert into message_hours as h (client_id, experiment_id, hour, version, protocol_id, workbook_version_id, macros, count, with_gps, with_battery, battery_sum, battery_count, first_at, last_at)
      select n."clientId", ${experimentId}, n.hour, n.version, n."protocolId", n."workbookVersionId", n.macros, n.count, n."withGps", n."withBattery", n."batterySum", n."withBattery", n."firstAt", n."lastAt"
      from n
      on conflict (client_id, hour, experiment_id, version, protocol_id, workbook_version_id, macros) do update set
        count = h.count + excluded.count, with_gps = h.with_gps + excluded.with_gps, with_battery = h.with_battery + excluded.with_battery,
        battery_sum = h.battery_sum + excluded.battery_sum, battery_count = h.battery_count + excluded.battery_count,
        first_at = least(h.first_at, excluded.first_at), last_at = greatest(h.last_at, excluded.last_at)
      returning h.id, h.client_id, h.hour, h.version, h.protocol_id, h.workbook_version_id, h.macros
    ), kept as (
      insert into message_instants (hour_id, at, gps, battery, run_id)
      select c.id, i.at, i.gps, i.battery, i."runId"
      from n join counted c on (c.client_id, c.hour, c.version, c.protocol_id, c.workbook_version_id, c.macros) = (n."clientId", n.hour, n.version, n."protocolId", n."workbookVersionId", n.macros)
      cross join lateral json_to_recordset(n.instants) as i (at timestamptz, gps boolean, battery float8, "runId" text)
    )
    insert into message_days as d (client_id, day, experiment_id, count)
    select n."clientId", date_trunc('day', n.hour, 'UTC'), ${experimentId}, sum(n.count) from n group by 1, 2
    on conflict (client_id, day, experiment_id) do update set count = d.count + excluded.count`);

export const addRuns = (db: Queryable, experimentId: string, runs: readonly { clientId: string; runId: string; hour: string }[]) =>
  db.run(sql('measurements.addRuns')`
    insert into message_runs (client_id, run_id, hour, experiment_id)
    select n."clientId", n."runId", n.hour, ${experimentId} from json_to_recordset(${JSON.stringify(runs)}::json) as n ("clientId" text, "runId" text, hour timestamptz)
    on conflict do nothing`);

export interface RecentRow {
  clientId: string;
  id: string;
  at: string;
  protocolId: string | null;
  workbookVersionId: string | null;
  version: string | null;
  battery: number | null;
  latitude: number | null;
  longitude: number | null;
  sample: string | null;
}

export const addRecent = (db: Queryable, experimentId: string, rows: readonly RecentRow[]) =>
  db.run(sql('measurements.addRecent')`
    insert into recent_measurements (client_id, id, experiment_id, at, protocol_id, workbook_version_id, version, battery, latitude, longitude, sample)
    select n."clientId", n.id, ${experimentId}, n.at, n."protocolId", n."workbookVersionId", n.version, n.battery, n.latitude, n.longitude, n.sample
    from json_to_recordset(${JSON.stringify(rows)}::json) as n ("clientId" text, id text, at timestamptz, "protocolId" text, "workbookVersionId" text, version text,
      battery float8, latitude float8, longitude float8, sample text)
    on conflict do nothing`);

/** Keeps the newest `keep` measurements of each device, and deletes the others. Those that are later than `last` go first. */
export const trimRecent = (db: Queryable, clientIds: readonly string[], { keep, last }: { keep: number; last: string }) =>
  db.run(sql('measurements.trimRecent')`
    delete from recent_measurements r using unnest(${clientIds}::text[]) as c (client_id)
    cross join lateral (
      select n.at, n.id from recent_measurements n where n.client_id = c.client_id
      order by n.at > ${last}::timestamptz, n.at desc, n.id offset ${keep}) old
    where r.client_id = c.client_id and r.at = old.at and r.id = old.id`);

/** Records that a thing connected or disconnected. A session never ends before it was last seen, whatever the clock did meanwhile. */
export const putPresence = (
  db: Queryable,
  event: { id: string; thingName: string; eventType: string; at: Date; reason: string | null; session: string; broker: string },
) =>
  db.run(sql('presence.put')`
    with told as (
      insert into presence_events (id, thing_name, event_type, at, disconnect_reason, session)
      select ${event.id}, ${event.thingName}, ${event.eventType}, greatest(${event.at}::timestamptz,
        (select p.last_seen_at from device_presence p where p.thing_name = ${event.thingName} and p.session = ${event.session})), ${event.reason}, ${event.session}
      returning at
    )
    insert into device_presence as p (thing_name, connected, session, broker, last_seen_at)
    select ${event.thingName}, ${event.eventType === 'connected'}, ${event.session}, ${event.broker}, told.at from told
    on conflict (thing_name) do update set connected = excluded.connected, session = excluded.session, broker = excluded.broker, last_seen_at = excluded.last_seen_at
    where excluded.connected or p.session = excluded.session`);

/**
 * Says that a broker runs, and ends the sessions that silent ones left open, at the time when each was last known to run. Where this one was silent itself,
 * Postgres may have been away for all of them, and the others are given time to speak.
 */
export const beatBroker = (db: Queryable, broker: string) =>
  db.run(sql('presence.beat')`
    with before as (select alive_at from brokers where name = ${broker}),
    mine as (insert into brokers (name, alive_at) values (${broker}, now()) on conflict (name) do update set alive_at = now()),
    silent as (
      delete from brokers b using before
      where b.name <> ${broker} and b.alive_at < now() - interval '30 seconds' and before.alive_at > now() - interval '15 seconds' returning b.name, b.alive_at
    ), ended as (
      update device_presence p set connected = false, last_seen_at = greatest(p.last_seen_at, silent.alive_at) from silent
      where p.broker = silent.name and p.connected returning p.thing_name, p.session, p.last_seen_at
    )
    insert into presence_events (id, thing_name, event_type, at, disconnect_reason, session)
    select gen_random_uuid(), thing_name, 'disconnected', last_seen_at, 'SERVER_ERROR', session from ended`);

/** Whether a person has an account that is not closed. */
export const hasAccount = async (db: Queryable, userId: string): Promise<boolean> =>
  (await db.one(sql('broker.hasAccount')`select from users where id = ${userId} and deleted_at is null`)) !== undefined;
