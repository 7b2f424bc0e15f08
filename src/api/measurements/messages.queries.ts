import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

/** A message as the broker took it; bytes are hex. */
export interface NewMessage {
  source: string;
  experimentId: string;
  clientId: string;
  userId: string | null;
  sensorType: string;
  sensorVersion: string;
  sensorId: string;
  protocolId: string | null;
  payload: string;
  receivedAt: Date;
}

/** Makes messages durable; what is there already stays. */
export const insertMessages = (db: Queryable, messages: readonly NewMessage[]) =>
  db.run(sql('messages.insert')`
    insert into broker_messages (source, experiment_id, client_id, user_id, sensor_type, sensor_version, sensor_id, protocol_id, payload, received_at)
    select decode(m.source, 'hex'), m."experimentId", m."clientId", m."userId", m."sensorType", m."sensorVersion", m."sensorId", m."protocolId", decode(m.payload, 'hex'), m."receivedAt"
    from json_to_recordset(${JSON.stringify(messages)}::json) as m (source text, "experimentId" uuid, "clientId" text, "userId" uuid, "sensorType" text,
      "sensorVersion" text, "sensorId" text, "protocolId" text, payload text, "receivedAt" timestamptz)
    on conflict (source) do nothing`);

/** Experiments that have messages to be stored, and whether people sent some of them. */
export const listWaiting = (db: Queryable) =>
  db.rows<{ experimentId: string; people: boolean }>(sql('messages.waiting')`
    select experiment_id as "experimentId", bool_or(user_id is not null) as people from broker_messages where status = 'waiting' group by experiment_id limit 200`);

/** What was kept back from an archived experiment that is archived no more waits again. */
export const replayArchived = (db: Queryable) =>
  db.run(sql('messages.replay')`
    update broker_messages m set status = 'waiting', reason = null from experiments e
    where m.status = 'quarantined' and m.reason = 'archived' and e.id = m.experiment_id and e.status <> 'archived'`);

/** One storer of an experiment at a time, until the transaction ends. */
export const tryLock = (db: Queryable, experimentId: string) =>
  db.one<{ mine: boolean }>(
    sql('messages.lock')`select pg_try_advisory_xact_lock(hashtextextended(${`messages ${experimentId}`}, 52)) as mine`,
  );

export interface WaitingMessage {
  id: number;
  source: Buffer;
  clientId: string;
  userId: string | null;
  sensorVersion: string;
  sensorId: string;
  protocolId: string | null;
  payload: Buffer;
  receivedAt: Date;
  /** Null when the experiment is gone. */
  status: string | null;
  /** A person may contribute; a device was bound when it published. */
  isAllowed: boolean;
}

export const listBatch = (db: Queryable, experimentId: string, most: number) =>
  db.rows<WaitingMessage>(sql('messages.batch')`
    select m.id, m.source, m.client_id as "clientId", m.user_id as "userId", m.sensor_version as "sensorVersion", m.sensor_id as "sensorId",
      m.protocol_id as "protocolId", m.payload, m.received_at as "receivedAt", e.status,
      m.user_id is null or exists (select from effective_access a where a.user_id = m.user_id and a.resource_id = m.experiment_id and a.can_contribute) as "isAllowed"
    from broker_messages m left join experiments e on e.id = m.experiment_id
    where m.experiment_id = ${experimentId} and m.status = 'waiting'
    order by m.id limit ${most}`);

export interface Verdict {
  id: number;
  status: 'stored' | 'quarantined';
  reason: string | null;
}

/** Ends messages. The bytes of what is stored are in the lake now; those of what is kept back stay. */
export const settleMessages = (db: Queryable, verdicts: readonly Verdict[]) =>
  db.run(sql('messages.settle')`
    update broker_messages m set status = v.status, reason = v.reason, payload = case when v.status = 'stored' or v.reason = 'experiment-gone' then ''::bytea else m.payload end
    from json_to_recordset(${JSON.stringify(verdicts)}::json) as v (id bigint, status text, reason text) where m.id = v.id`);

export interface Fact {
  clientId: string;
  deviceId: string;
  firmware: string;
  name: string | null;
  version: string | null;
  battery: number | null;
  total: number;
  processedAt: string;
}

/** Adds to what the sensors of an experiment have said of themselves; the last word counts. */
export const addFacts = (db: Queryable, experimentId: string, facts: readonly Fact[]) =>
  db.run(sql('messages.addFacts')`
    insert into device_facts as f (experiment_id, client_id, device_id, firmware, device_name, device_version, device_battery, total, processed_at)
    select ${experimentId}, n."clientId", n."deviceId", n.firmware, n.name, n.version, n.battery, n.total, n."processedAt"
    from json_to_recordset(${JSON.stringify(facts)}::json) as n ("clientId" text, "deviceId" text, firmware text, name text, version text, battery float8, total bigint, "processedAt" timestamptz)
    on conflict (experiment_id, client_id, device_id, firmware) do update set
      device_name = coalesce(excluded.device_name, f.device_name), device_version = coalesce(excluded.device_version, f.device_version),
      device_battery = coalesce(excluded.device_battery, f.device_battery), total = f.total + excluded.total, processed_at = excluded.processed_at`);

export const listFacts = (db: Queryable, experimentId: string) =>
  db.rows<Fact>(sql('messages.facts')`
    select client_id as "clientId", device_id as "deviceId", firmware, device_name as name, device_version as version, device_battery as battery, total,
      to_char(processed_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "processedAt"
    from device_facts where experiment_id = ${experimentId}`);

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
  db.run(sql('messages.addHours')`
    insert into message_hours as h (client_id, experiment_id, hour, version, protocol_id, workbook_version_id, macros, count, with_gps, with_battery, battery_sum, battery_count, first_at, last_at)
    select n."clientId", ${experimentId}, n.hour, n.version, n."protocolId", n."workbookVersionId", n.macros, n.count, n."withGps", n."withBattery", n."batterySum", n."withBattery", n."firstAt", n."lastAt"
    from json_to_recordset(${JSON.stringify(hours)}::json) as n ("clientId" text, hour timestamptz, version text, "protocolId" text, "workbookVersionId" text, macros text,
      count bigint, "withGps" bigint, "withBattery" bigint, "batterySum" float8, "firstAt" timestamptz, "lastAt" timestamptz)
    on conflict (client_id, hour, experiment_id, version, protocol_id, workbook_version_id, macros) do update set
      count = h.count + excluded.count, with_gps = h.with_gps + excluded.with_gps, with_battery = h.with_battery + excluded.with_battery,
      battery_sum = h.battery_sum + excluded.battery_sum, battery_count = h.battery_count + excluded.battery_count,
      first_at = least(h.first_at, excluded.first_at), last_at = greatest(h.last_at, excluded.last_at)`);

export const addRuns = (db: Queryable, runs: readonly { clientId: string; runId: string; hour: string }[]) =>
  db.run(sql('messages.addRuns')`
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
  db.run(sql('messages.addRecent')`
    insert into recent_measurements (client_id, id, experiment_id, at, protocol_id, workbook_version_id, version, battery, latitude, longitude, sample)
    select n."clientId", n.id, ${experimentId}, n.at, n."protocolId", n."workbookVersionId", n.version, n.battery, n.latitude, n.longitude, n.sample
    from json_to_recordset(${JSON.stringify(rows)}::json) as n ("clientId" text, id text, at timestamptz, "protocolId" text, "workbookVersionId" text, version text,
      battery float8, latitude float8, longitude float8, sample text)
    on conflict do nothing`);

/** Keeps the newest of a device. */
export const trimRecent = (db: Queryable, clientIds: readonly string[], keep: number) =>
  db.run(sql('messages.trimRecent')`
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
