/** What messages cost that come steadily: processor time of all processes of the service, and how long each waits until it can be seen. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { connect, type MqttClient } from 'mqtt';
import { provision } from '../scripts/devices/service.ts';
import { createUser } from '../src/api/account/account.service.ts';
import { createApiKey } from '../src/api/credentials/credentials.service.ts';
import { openDatabase, type Database } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { sql } from '../src/database/sql.ts';
import { against, quantile, type Measured } from './pairs.ts';
import { messageAt } from './pipeline.ts';
import { makeExperiment, serve, stop } from './seed-reads.ts';
import { readUsage, usageOf } from './usage.ts';

/** Messages a second, and the most of a core that they may take: with a macro twice that, and 1 where nothing is promised. */
const RATES: readonly (readonly [number, number])[] = [
  [0, 0.005],
  [1, 0.05],
  [10, 1],
  [100, 0.15],
  [1_000, 0.35],
  [3_000, 1],
];
const MACRO = 'return { ratio: json.phi2 / (1 + json.spad), longest: Math.max(...json.trace) };';
const SECONDS = Number(process.env['SECONDS'] ?? 30);
const WARM_UP_SECONDS = 10;
const DEVICES = 10;
const TICK_MS = 100;
const VISIBLE_MS = 2_000;
/** Publishes so many messages a second over all clients; answers when each was acknowledged, in order. */
async function publish(clients: readonly (readonly [MqttClient, string])[], rate: number, seconds: number): Promise<number[]> {
  const acknowledged: number[] = [];
  const began = Date.now();
  let sent = 0;
  for (let now = began; now - began < seconds * 1_000; now = Date.now()) {
    for (const due = Math.floor(((now - began) / 1_000) * rate); sent < due; sent += 1) {
      const [client, topic] = clients[sent % clients.length] ?? [];
      client?.publish(topic ?? '', messageAt(sent, began, String(began)), { qos: 1 }, (error) => {
        if (error) throw error;
        acknowledged.push(Date.now());
      });
    }
    await sleep(TICK_MS);
  }
  while (acknowledged.length < sent) await sleep(10);
  return acknowledged;
}

/** Milliseconds from each acknowledgement to the version of a table that holds as many rows. */
async function waitsOf(
  db: Database,
  { experimentId, table }: { experimentId: string; table: string },
  acknowledged: readonly number[],
): Promise<number[]> {
  const list = () =>
    db.rows<{ at: Date; rows: number }>(sql('bench.versions')`
      select v.committed_at as at, v.row_count as rows from lake_versions v join lake_tables t on t.id = v.table_id
      where t.experiment_id = ${experimentId} and t.identifier = ${table} order by v.version`);
  let versions = await list();
  while ((versions.at(-1)?.rows ?? 0) < acknowledged.length) {
    await sleep(100);
    versions = await list();
  }
  return acknowledged.map((at, n) => (versions.find(({ rows }) => rows > n)?.at.getTime() ?? Infinity) - at);
}

interface Site {
  db: Database;
  baseUrl: string;
  apiKey: string;
  organizationId: string;
  authority: string;
  /** Process ids of the service and of its Postgres. */
  roots: readonly number[];
}

/** A macro that runs on all measurements to come of an experiment; its id, which its table has too. */
async function attachMacro({ baseUrl, apiKey }: Site, experimentId: string): Promise<string> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${baseUrl}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const { id } = await post('macros', { name: `Of ${experimentId}`, language: 'javascript', code: MACRO });
  await post(`experiments/${experimentId}/macros/${id}/run`, { onNew: true });
  return id;
}

/** Devices of a new experiment that are connected, each with the topic that it publishes to. */
async function connectDevices({ authority, ...site }: Site & { experimentId: string }, name: string) {
  const devices = await provision(
    site,
    'multispeq',
    Array.from({ length: DEVICES }, (_, n) => `${name}-${n}`),
  );
  return devices.map(({ credentials: { privateKey: key, certificatePem: cert }, config: { endpoint, thingName, experiments } }) => {
    const client = connect(`mqtts://${endpoint}`, { clientId: thingName, key, cert, ca: authority });
    return [client, `${experiments[0]?.topicPrefix ?? ''}/2.0/sensor-1`] as const;
  });
}

async function measure(site: Site, withMacro: boolean, onMeasured: (line: Measured) => void): Promise<void> {
  const named = withMacro ? ', one macro' : '';
  for (const [rate, bound] of RATES) {
    if (withMacro && rate === 0) continue;
    const { baseUrl, apiKey, organizationId } = site;
    const experimentId = await makeExperiment(baseUrl, apiKey, { name: `At ${rate}${named}`, organizationId });
    const tables = ['raw_data', ...(withMacro ? [await attachMacro(site, experimentId)] : [])];
    const clients = rate === 0 ? [] : await connectDevices({ ...site, experimentId }, `C-${rate}-${Number(withMacro)}`);
    const before = await publish(clients, rate, WARM_UP_SECONDS);
    await sleep(rate === 0 ? 0 : 1_000);
    const [from, start] = [usageOf(site.roots), performance.now()];
    const after = await publish(clients, rate, SECONDS);
    const cores = (usageOf(site.roots) - from) / ((performance.now() - start) / 1_000);
    onMeasured(against(`${rate} messages a second${named}, cores of all processes`, cores, withMacro ? 2 * bound : bound));
    for (const table of rate === 0 ? [] : tables) {
      const waits = (await waitsOf(site.db, { experimentId, table }, [...before, ...after])).slice(before.length);
      const of = table === 'raw_data' ? 'are seen' : 'of the macro are seen';
      onMeasured(against(`${rate} messages a second${named}, ms until 95 of 100 ${of}`, quantile(waits, 0.95), VISIBLE_MS));
    }
    await Promise.all(clients.map(([client]) => client.endAsync()));
  }
}

/** Bounds: the core that each rate may take, and 2 s until 95 of 100 messages are seen. `SECONDS` says how long each rate is held. */
export async function benchCadence(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  const { organizationId, id: userId } = await createUser(db, {
    email: 'cadence@example.org',
    firstName: 'Cadence',
    lastName: 'Keeper',
    verified: true,
  });
  const { key: apiKey } = await createApiKey(db, { userId, name: 'bench', rateLimit: 1_000_000 });
  const settings = { DATABASE_URL: url, DATA_DIR: dataDir, BROKER: 'on', LOG_LEVEL: 'warn', MACRO_LANGUAGES: 'javascript' };
  const { child, baseUrl } = await serve(settings);
  try {
    const backend = await db.one<{ pid: number }>(sql('bench.backend')`select pg_backend_pid() as pid`);
    const postmaster = readUsage(String(backend?.pid))?.parent;
    if (child.pid === undefined || postmaster === undefined) throw new Error('there is no process to measure');
    const authority = readFileSync(join(dataDir, 'iot', 'ca.pem'), 'utf8');
    const site = { db, baseUrl, apiKey, organizationId, authority, roots: [child.pid, postmaster] };
    for (const withMacro of [false, true]) await measure(site, withMacro, onMeasured);
  } finally {
    await stop(child);
    await db.close();
  }
}
