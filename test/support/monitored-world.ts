/** Devices whose histories a test makes up, written as the broker and the ingestion write them, and the views of them as HTTP answers. */
import { randomUUID } from 'node:crypto';
import { countMeasurements } from '../../src/api/messages/measurements.service.ts';
import { sql } from '../../src/database/sql.ts';
import { hashMessage, makeDeviceHasher } from '../../src/ingest/messages/ids.ts';
import { makeMeasurementRows, type DecodedMeasurement } from '../../src/ingest/messages/rows.ts';
import { grant, type Person } from './cast.ts';
import type { OracleDevice, OracleMeasurement } from './monitoring-oracle.ts';
import type { TestServer } from './server.ts';

export interface World {
  site: TestServer;
  devices: { id: string; thing: string }[];
  /** Of the first three devices. */
  groupId: string;
  /** The first is public, the viewer contributes to the second, and knows nothing of the third. */
  experiments: string[];
  macros: string[];
  /** Reads the group, and all devices but the second. */
  viewer: Person;
}

export async function makeWorld(site: TestServer): Promise<World> {
  const { owner, viewer, leafLab } = site.cast;
  const { db } = site;
  const made = async (path: string, body: object) =>
    (await site.as(owner)('POST', path, { body })).body as { id: string; thingName: string };
  const experiments: string[] = [];
  for (const name of ['Seen', 'Contributed', 'Hidden'])
    experiments.push((await made('/api/v1/experiments', { name, organizationId: leafLab })).id);
  const devices: World['devices'] = [];
  for (const serialNumber of ['A', 'B', 'C', 'D']) {
    const { id, thingName } = await made('/api/v1/devices', { serialNumber, deviceType: 'multispeq', organizationId: leafLab });
    devices.push({ id, thing: thingName });
  }
  const group = await made('/api/v1/device-groups', { name: 'Watched', organizationId: leafLab });
  const deviceIds = devices.slice(0, 3).map(({ id }) => id);
  await site.as(owner)('POST', `/api/v1/device-groups/${group.id}/devices`, { body: { deviceIds } });
  const readable = devices.filter((_, index) => index !== 1).map(({ id }) => ({ id, type: 'device' }));
  for (const resource of [...readable, { id: group.id, type: 'device_group' }, { id: experiments[1]!, type: 'experiment' }])
    await grant(db, resource, { user: viewer.id }, 'viewer');
  await db.run(sql('test')`update resources set visibility = 'public' where id = ${experiments[0]!}`);
  return { site, devices, groupId: group.id, experiments, macros: [randomUUID(), randomUUID()], viewer };
}

const instant = (micros: number) =>
  `${new Date(Math.floor(micros / 1_000)).toISOString().slice(0, -1)}${String(micros % 1_000).padStart(3, '0')}Z`;

function decoded(one: OracleMeasurement): DecodedMeasurement {
  const { version, protocol, workbook, run, macros, battery, gps } = one;
  return {
    kind: 'measurement',
    index: 0,
    timestamp: instant(one.at),
    samples: [one.sample],
    ownId: one.id,
    sha256: '',
    timezone: null,
    protocolId: protocol,
    workbookVersionId: workbook,
    workbookRunId: run,
    macroContext: null,
    macros: macros.length === 0 ? null : JSON.stringify(macros.map((id) => ({ id }))),
    questions: null,
    annotations: null,
    userId: null,
    deviceId: null,
    deviceName: null,
    deviceVersion: null,
    deviceFirmware: version,
    deviceBattery: battery,
    latitude: gps?.latitude ?? null,
    longitude: gps?.longitude ?? null,
  };
}

/** Forgets every history, then writes these: measurements in batches of so many, in the order given. Sets the ids of the measurements. */
export async function writeHistories(world: World, histories: readonly OracleDevice[], batch: number): Promise<void> {
  const { db } = world.site;
  await db.transaction(async (tx) => {
    for (const statement of [
      sql('test')`delete from presence_events`,
      sql('test')`delete from message_hours`,
      sql('test')`delete from message_days`,
      sql('test')`delete from message_runs`,
      sql('test')`delete from recent_measurements`,
    ])
      await tx.run(statement);
    for (const [index, { events }] of histories.entries()) {
      const rows = events.map(({ at, up, reason, session }) => ({
        at: instant(at),
        type: up ? 'connected' : 'disconnected',
        reason,
        session,
      }));
      await tx.run(sql('test')`
        insert into presence_events (id, thing_name, event_type, at, disconnect_reason, session)
        select gen_random_uuid(), ${world.devices[index]!.thing}, e.value ->> 'type', (e.value ->> 'at')::timestamptz, e.value ->> 'reason', e.value ->> 'session'
        from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) with ordinality e order by e.ordinality`);
    }
  });
  for (const experiment of world.experiments) {
    const deviceRow = makeDeviceHasher(experiment);
    const rows = histories.flatMap(({ measurements }, index) =>
      measurements.flatMap((one) => {
        if (one.experiment !== experiment) return [];
        const arrival = { clientId: world.devices[index]!.thing, userId: null, protocolId: null, arrivedAt: new Date() };
        const message = decoded(one);
        const made = makeMeasurementRows({ source: hashMessage(experiment, arrival, message), deviceRow }, arrival, message);
        if (typeof made === 'string') throw new Error(made);
        one.id = made[0]!.id;
        return [made];
      }),
    );
    for (let from = 0; from < rows.length; from += batch)
      await db.transaction((tx) => countMeasurements(tx, experiment, rows.slice(from, from + batch)));
  }
}
