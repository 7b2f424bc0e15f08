import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ThingRecord } from '../../iot/registries/embedded.ts';
import type { CertificateEnd, Connectivity } from '../../iot/registry.ts';
import type { DeviceRow, Sequence } from '../../iot/sequences.ts';

export const findLifecycle = (db: Queryable, deviceId: string) =>
  db.one<{ device: DeviceRow; sequence: Sequence | null }>(sql('devices.lifecycle')`
    select json_build_object('thingName', thing_name, 'deviceType', device_type, 'serialNumber', serial_number, 'state', state,
      'certificateId', certificate_id, 'certificateArn', certificate_arn) as device, sequence
    from devices where id = ${deviceId}`);

/** Removes a device's row, and answers the name of its thing. */
export const deleteThingRow = (db: Queryable, deviceId: string) =>
  db.one<{ thingName: string }>(sql('devices.deleteThingRow')`
    with gone as (select thing_name from devices where id = ${deviceId}), deleted as (delete from resources where id = ${deviceId} and type = 'device')
    select thing_name as "thingName" from gone`);

/** Finds the device that a thing belongs to now, if any, and the certificate that its row names. */
export const findThingHolder = (db: Queryable, thingName: string) =>
  db.one<{ id: string; certificateId: string | null }>(sql('devices.thingHolder')`
    select id, certificate_id as "certificateId" from devices where thing_name = ${thingName}`);

type Changes = Partial<Pick<DeviceRow, 'state' | 'certificateId' | 'certificateArn'>>;

/**
 * Stores the next step and the changes of the row. A row that changes gets another version. The beginning of a rebind takes the place of the mark
 * `needs_rebind`: from here on the sequence says that the policies are to be written. A change of bindings that comes later sets the mark again.
 */
export const updateLifecycle = (db: Queryable, deviceId: string, sequence: Sequence | null, row: Changes) => {
  const takesMark = sequence?.operation === 'rebind' && sequence.next === 0;
  const certificate =
    row.certificateId === undefined
      ? fragment``
      : fragment`, certificate_id = ${row.certificateId}, certificate_arn = ${row.certificateArn ?? null}`;
  return db.run(sql('devices.step')`
    with before as (select id, state, certificate_id from devices where id = ${deviceId} for update),
    changed as (
      update devices d set sequence = ${sequence === null ? null : JSON.stringify(sequence)}, sequence_at = now(), state = coalesce(${row.state ?? null}, d.state),
        needs_rebind = d.needs_rebind and not ${takesMark} ${certificate}
      from before where d.id = before.id
      returning d.id, d.state is distinct from before.state or d.certificate_id is distinct from before.certificate_id as is_new
    )
    update resources r set updated_at = now(), version = version + 1 from changed where r.id = changed.id and changed.is_new`);
};

/** Lists devices whose lifecycle change has not moved for so many seconds. */
export const listUnfinished = (db: Queryable, quietSeconds: number) =>
  db.values<string>(sql('devices.unfinished')`
    select id from devices where sequence is not null and coalesce(sequence_at, '-infinity') <= now() - make_interval(secs => ${quietSeconds}) order by id`);

export const listToRebind = (db: Queryable) =>
  db.values<string>(sql('devices.toRebind')`select id from devices where needs_rebind and sequence is null order by id limit 500`);

export const listBindings = (db: Queryable, deviceId: string) =>
  db.values<string>(sql('devices.bindings')`
    select experiment_id from experiment_devices where device_id = ${deviceId} order by experiment_id`);

/** Limits the wait for a device's lock to ten seconds, until the transaction ends. */
export const limitWait = (db: Queryable) => db.run(sql('devices.limitWait')`set local lock_timeout = '10s'`);
export const lockDevice = (db: Queryable, deviceId: string) =>
  db.run(sql('devices.lock')`select pg_advisory_xact_lock(hashtextextended(${`device ${deviceId}`}, 50))`);

export const findThing = (db: Queryable, thingName: string) =>
  db.one<{ record: ThingRecord }>(sql('registry.find')`select record from registry_things where thing_name = ${thingName}`);

export const findThingByCertificate = (db: Queryable, certificateId: string) =>
  db.one<{ record: ThingRecord }>(sql('registry.findByCertificate')`
    select record from registry_things where record -> 'certificates' @> ${JSON.stringify([{ certificateId }])}::jsonb limit 1`);

export const lockThing = (db: Queryable, thingName: string) =>
  db.run(sql('registry.lock')`select pg_advisory_xact_lock(hashtextextended(${`thing ${thingName}`}, 50))`);

export const putThing = (db: Queryable, record: ThingRecord) =>
  db.run(sql('registry.put')`
    insert into registry_things (thing_name, record) values (${record.thingName}, ${JSON.stringify(record)})
    on conflict (thing_name) do update set record = excluded.record`);

export const noteEnd = (db: Queryable, certificateId: string, end: CertificateEnd) =>
  db.run(sql('registry.noteEnd')`
    insert into ended_certificates (certificate_id, reason) values (${certificateId}, ${end}) on conflict do nothing`);

export const findEnd = async (db: Queryable, certificateId: string): Promise<CertificateEnd | null> =>
  (await db.value<CertificateEnd>(sql('registry.findEnd')`
    select reason from ended_certificates where certificate_id = ${certificateId}`)) ?? null;

export const deleteThing = (db: Queryable, thingName: string) =>
  db.run(sql('registry.delete')`delete from registry_things where thing_name = ${thingName}`);

/** Tells every process that a thing has changed, once this commits. */
export const announceThing = (db: Queryable, thingName: string) =>
  db.run(sql('registry.announce')`select pg_notify('fieldlake_things', ${thingName})`);

export const listPresence = (db: Queryable, thingNames: readonly string[]) =>
  db.rows<Connectivity & { thingName: string }>(sql('registry.presence')`
    select thing_name as "thingName", connected, last_seen_at as "lastSeenAt" from device_presence where thing_name = any (${thingNames}::text[])`);
