import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { createUser } from '../src/api/account/account.service.ts';
import { createApiKey } from '../src/api/credentials/credentials.service.ts';
import { openDatabase } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { commit, createTable } from '../src/lakehouse/tables/manifest.ts';
import { openDuckdbWriter } from '../src/lakehouse/engines/duckdb/write.ts';
import { serve, stop } from './seed-reads.ts';

const DEVICES = 2_000;
const EXPERIMENTS = 20;
const DAYS = 31;
const PER_CALL = 100;
export const FROM = Date.parse('2026-05-01T00:00:00Z');
export const TO = FROM + DAYS * 86_400_000;

export interface FleetSite {
  baseUrl: string;
  apiKey: string;
  deviceId: string;
  /** Of a hundred devices. */
  groupId: string;
  /** Of all devices. */
  measurements: number;
  stop(): Promise<void>;
}

/** The measurements of one experiment's devices: about as many in every hour, a firmware that changes, two protocols, some without a battery. */
const measurements = (things: readonly string[], perDevice: number) => `
  select md5(thing || n) as id, thing, n,
    timestamptz '2026-05-01 00:00:00+00' + to_microseconds(((n + (hash(thing, n) % 1000) / 1000) * ${(DAYS * 86_400e6) / perDevice})::bigint) as time,
    case when n < ${perDevice / 2} then '2.1' else '2.2' end as version, case hash(thing, n, 1) % 2 when 0 then 'p1' else 'p2' end as protocol,
    case when hash(thing, n, 2) % 10 > 0 then 40 + (hash(thing, n, 3) % 600) / 10 end as battery, hash(thing, n, 4) % 3 > 0 as gps
  from (select unnest([${things.map((thing) => `'${thing}'`).join(', ')}]) as thing), range(0, ${perDevice}) t(n)`;

const raw = (file: string, experimentId: string) => `
  select id, thing as client_id, time as "timestamp", time as measurement_time_utc, cast(time at time zone 'UTC' as date) as date, protocol as protocol_id,
    case when gps then 52.0 + n / 1e6 end as latitude, case when gps then 5.0 + n / 1e6 end as longitude,
    json_object('spad', round(30 + (hash(id) % 200) / 10, 1)) as data, time as processed_timestamp, '${experimentId}' as experiment_id
  from read_parquet('${file}')`;

/** Registers devices a hundred at a time; answers thing names and ids, in the order of their serials. */
async function register(ask: (path: string, body: object) => Promise<any>, organizationId: string) {
  const devices: { id: string; thingName: string }[] = [];
  const groups: string[] = [];
  for (let from = 0; from < DEVICES; from += PER_CALL) {
    const serials = Array.from({ length: PER_CALL }, (_, n) => ({ serialNumber: `F-${from + n}` }));
    const answer = await ask('devices/bulk', {
      devices: serials,
      deviceType: 'multispeq',
      organizationId,
      group: { name: `Group ${from}` },
    });
    devices.push(...answer.devices.map(({ device }: { device: { id: string; thingName: string } }) => device));
    groups.push(answer.groupId as string);
  }
  return { devices, groups };
}

/**
 * A started server with 2,000 devices of 20 experiments that sent `rows` measurements in 31 days: Parquet files in the lake, committed as ingestion does,
 * and the sums that ingestion keeps beside them, worked out from those files by DuckDB.
 */
export async function startFleetSite({ url, dataDir, rows }: { url: string; dataDir: string; rows: number }): Promise<FleetSite> {
  const perDevice = Math.round(rows / DEVICES);
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  const person = await createUser(db, { email: 'bench@example.org', firstName: 'Bench', lastName: 'Watcher', verified: true });
  const { key: apiKey } = await createApiKey(db, { userId: person.id, name: 'bench', rateLimit: 1_000_000 });
  const settings = { DATABASE_URL: url, DATA_DIR: dataDir, LOG_LEVEL: 'warn', WORKER: 'off' };
  const taking = await serve(settings);
  const ask = async (path: string, body: object): Promise<any> => {
    const response = await fetch(`${taking.baseUrl}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const { devices, groups } = await register(ask, person.organizationId);
  const experiments: string[] = [];
  for (let n = 0; n < EXPERIMENTS; n += 1)
    experiments.push(String((await ask('experiments', { name: `Fleet ${n}`, organizationId: person.organizationId })).id));
  await stop(taking.child);

  const workFolder = join(dataDir, 'fleet');
  mkdirSync(workFolder);
  const staging = await openDuckdbWriter({ lakeFolder: join(dataDir, 'lake'), workFolder, threads: 2 });
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '1GB', temp_directory: workFolder });
  const engine = await instance.connect();
  await engine.run(`set timezone = 'UTC'`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`set timezone = 'UTC'`);
  const keys = 'thing, hour, version, protocol';
  let hours = 0;
  try {
    for (const [index, experimentId] of experiments.entries()) {
      const things = devices.filter((_, n) => n % EXPERIMENTS === index).map(({ thingName }) => thingName);
      const file = join(workFolder, 'measured.parquet');
      await engine.run(`copy (${measurements(things, perDevice)}) to '${file}' (format parquet)`);
      const table = await createTable(db, { experimentId, kind: 'raw_data' });
      const select = { sql: raw(file, experimentId), values: [] };
      const { files } = await staging.stage({ tableId: table.id, experimentId, select, sortColumn: 'timestamp' });
      await db.transaction((tx) => commit(tx, { tableId: table.id, cause: 'ingest', files }));
      await engine.run(`create or replace temp table sums as
        select ${hours} + row_number() over (order by ${keys}) as id, * from (
          select thing, date_trunc('hour', time) as hour, version, protocol, count(*) as count, count(*) filter (gps) as with_gps, count(battery) as with_battery,
            coalesce(sum(battery), 0) as battery_sum, min(time) as first_at, max(time) as last_at from '${file}' group by 1, 2, 3, 4)`);
      const counted = await engine.runAndReadAll('select max(id)::integer as most from sums');
      hours = Number(counted.getRowObjectsJson()[0]?.['most']);
      const load = async (target: string, statement: string) => {
        const csv = join(workFolder, 'rows.csv');
        await engine.run(`copy (${statement}) to '${csv}' (format csv, header false)`);
        await client.query(`copy ${target} from '${csv}' (format csv)`);
        rmSync(csv);
      };
      await load(
        'message_hours (client_id, experiment_id, hour, version, protocol_id, workbook_version_id, macros, count, with_gps, with_battery, battery_sum, battery_count, first_at, last_at, id)',
        `select thing, '${experimentId}', hour, version, protocol, '', '', count, with_gps, with_battery, battery_sum, with_battery, first_at, last_at, id from sums order by id`,
      );
      await load(
        'message_instants (hour_id, at, gps, battery)',
        `select s.id, m.time, m.gps, m.battery from '${file}' m join sums s on s.thing = m.thing and s.version = m.version and s.protocol = m.protocol and s.hour = date_trunc('hour', m.time) order by s.id, m.time`,
      );
      await load(
        'message_days (client_id, day, experiment_id, count)',
        `select thing, date_trunc('day', time), '${experimentId}', count(*) from '${file}' group by 1, 2`,
      );
      rmSync(file);
    }
    await client.query(`select setval(pg_get_serial_sequence('message_hours', 'id'), ${hours})`);
    // connections that last about three hours
    await client.query(
      `insert into presence_events (id, thing_name, event_type, at, disconnect_reason, session)
       select gen_random_uuid(), thing_name, e.what, timestamptz '2026-05-01 00:00:00+00' + (n * 3 + e.late + random()) * interval '1 hour', e.why, n::text
       from devices, generate_series(0, ${(DAYS * 24) / 3 - 1}) n, (values ('connected', 0, null), ('disconnected', 1, 'CONNECTION_LOST')) e (what, late, why)`,
    );
    await client.query('vacuum analyze');
  } finally {
    await client.end();
    engine.closeSync();
    instance.closeSync();
    await staging.close();
    await db.close();
    rmSync(workFolder, { recursive: true, force: true });
  }
  const serving = await serve(settings);
  const [device] = devices;
  const [groupId] = groups;
  if (!device || groupId === undefined) throw new Error('there are no devices');
  return {
    baseUrl: serving.baseUrl,
    apiKey,
    deviceId: device.id,
    groupId,
    measurements: perDevice * DEVICES,
    stop: () => stop(serving.child),
  };
}
