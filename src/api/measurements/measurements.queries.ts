import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

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
}

export const addHours = (db: Queryable, experimentId: string, hours: readonly HourCount[]) =>
  db.run(sql('measurements.addHours')`
    insert into message_hours as h (client_id, experiment_id, hour, version, protocol_id, workbook_version_id, macros, count, with_gps, with_battery, battery_sum, battery_count, first_at, last_at)
    select n."clientId", ${experimentId}, n.hour, n.version, n."protocolId", n."workbookVersionId", n.macros, n.count, n."withGps", n."withBattery", n."batterySum", n."withBattery", n."firstAt", n."lastAt"
    from json_to_recordset(${JSON.stringify(hours)}::json) as n ("clientId" text, hour timestamptz, version text, "protocolId" text, "workbookVersionId" text, macros text,
      count bigint, "withGps" bigint, "withBattery" bigint, "batterySum" float8, "firstAt" timestamptz, "lastAt" timestamptz)
    on conflict (client_id, hour, experiment_id, version, protocol_id, workbook_version_id, macros) do update set
      count = h.count + excluded.count, with_gps = h.with_gps + excluded.with_gps, with_battery = h.with_battery + excluded.with_battery,
      battery_sum = h.battery_sum + excluded.battery_sum, battery_count = h.battery_count + excluded.battery_count,
      first_at = least(h.first_at, excluded.first_at), last_at = greatest(h.last_at, excluded.last_at)`);

export const addRuns = (db: Queryable, runs: readonly { clientId: string; runId: string; hour: string }[]) =>
  db.run(sql('measurements.addRuns')`
    insert into message_runs (client_id, run_id, hour)
    select n."clientId", n."runId", n.hour from json_to_recordset(${JSON.stringify(runs)}::json) as n ("clientId" text, "runId" text, hour timestamptz)
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

/** Keeps the newest of a device. */
export const trimRecent = (db: Queryable, clientIds: readonly string[], keep: number) =>
  db.run(sql('measurements.trimRecent')`
    delete from recent_measurements r using (
      select client_id, (select at from recent_measurements n where n.client_id = c.client_id order by at desc offset ${keep} limit 1) as oldest
      from unnest(${clientIds}::text[]) as c (client_id)) cut
    where r.client_id = cut.client_id and r.at <= cut.oldest`);

export const putPresence = (
  db: Queryable,
  event: { id: string; thingName: string; eventType: string; at: Date; reason: string | null; session: string; broker: string },
) =>
  db.run(sql('presence.put')`
    with told as (
      insert into presence_events (id, thing_name, event_type, at, disconnect_reason, session)
      values (${event.id}, ${event.thingName}, ${event.eventType}, ${event.at}, ${event.reason}, ${event.session})
    )
    insert into device_presence as p (thing_name, connected, session, broker, last_seen_at)
    values (${event.thingName}, ${event.eventType === 'connected'}, ${event.session}, ${event.broker}, ${event.at})
    on conflict (thing_name) do update set connected = excluded.connected, session = excluded.session, broker = excluded.broker, last_seen_at = excluded.last_seen_at
    where excluded.connected or p.session = excluded.session`);

/** A broker that starts again ends, at the time it was last known to be there, what it had not ended. */
export const endStalePresence = (db: Queryable, broker: string) =>
  db.run(sql('presence.endStale')`
    with known as (select coalesce((select alive_at from brokers where name = ${broker}), now()) as at),
    ended as (
      update device_presence p set connected = false, last_seen_at = greatest(p.last_seen_at, known.at) from known
      where p.broker = ${broker} and p.connected returning p.thing_name, p.session, p.last_seen_at
    )
    insert into presence_events (id, thing_name, event_type, at, disconnect_reason, session)
    select gen_random_uuid(), thing_name, 'disconnected', last_seen_at, 'SERVER_ERROR', session from ended`);

export const beatBroker = (db: Queryable, broker: string) =>
  db.run(sql('presence.beat')`
    insert into brokers (name, alive_at) values (${broker}, now()) on conflict (name) do update set alive_at = now()`);
