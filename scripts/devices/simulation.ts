/** Simulated instruments: they connect over TLS with what onboarding gave them, publish, drop and come back; what became of every message is told at the end. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type MqttClient } from 'mqtt';
import { Ledger, type Reconciliation } from './ledger.ts';
import { INSTRUMENTS, messageOf } from './messages.ts';
import { persist, provision, rowsSince, uploadObject, type Provisioned, type Service } from './service.ts';

export interface SimulationOptions {
  service: Service;
  /** Of devices; they take turns in being a MultispeQ, a MiniPAR and an Ambyte. */
  count: number;
  /** Messages of a device in a second. */
  rate: number;
  seconds: number;
  /** Seconds between two cuts of a device's connection, on average; 0 cuts none. */
  dropEvery: number;
  /** Seconds between two objects put by a signed URL; 0 puts none. */
  uploadEvery: number;
  /** PEM of the broker's authority; without it, those that Node knows. */
  authority?: string;
  say: (line: string) => void;
}

export interface SimulationReport extends Reconciliation {
  devices: number;
  /** Connections that were made, the first of each device included. */
  connections: number;
  /** Objects put. */
  objects: number;
  /** Times that a message was given up by the client and sent anew, by what the client said. */
  sentAnew: Record<string, number>;
}

const SETTLE_MS = 60_000;
const OBJECT_MESSAGES = 50;
/** Every so many looks at the table there is one at all of it that may hold what is missed. */
const WHOLE_LOOK = 40;
const RECENT_MS = 15_000;

interface Run extends SimulationOptions {
  id: string;
  ledger: Ledger;
  ends: number;
  connections: number;
  objects: number;
  sentAnew: Record<string, number>;
}

function connectDevice(run: Run, device: Provisioned): MqttClient {
  const client = connect(`mqtts://${device.config.endpoint}`, {
    clientId: device.config.thingName,
    key: device.credentials.privateKey,
    cert: device.credentials.certificatePem,
    ca: run.authority,
    clean: true,
    reconnectPeriod: 500 + Math.floor(Math.random() * 1_000),
    connectTimeout: 10_000,
    keepalive: 30,
  });
  client.on('connect', () => (run.connections += 1));
  // what goes wrong is tried again; what it cost is in the books
  client.on('error', () => undefined);
  return client;
}

/** One device's life. A message that was not acknowledged is kept by the client, and sent again after it is back; one that the client gives up is sent anew. */
async function live(run: Run, device: Provisioned): Promise<void> {
  const client = connectDevice(run, device);
  const topic = `${device.config.experiments[0]?.topicPrefix ?? ''}/2.0/sensor-1`;
  const period = 1_000 / run.rate;
  await sleep(Math.random() * period);
  let open = 0;
  let isOver = false;
  for (let n = 0, due = Date.now(); Date.now() < run.ends; n += 1, due += period) {
    const id = `${run.id}-${device.serialNumber}-${n}`;
    const { body, rows } = messageOf(device, n, id, new Date());
    run.ledger.publish(id, { clientId: device.config.thingName }, rows);
    open += 1;
    const payload = JSON.stringify(body);
    const send = () =>
      client.publish(topic, payload, { qos: 1 }, (error) => {
        if (error && !isOver) {
          run.sentAnew[error.message] = (run.sentAnew[error.message] ?? 0) + 1;
          setTimeout(send, period);
          return;
        }
        open -= 1;
        if (!error) run.ledger.acknowledge(id);
      });
    send();
    if (run.dropEvery > 0 && Math.random() < period / 1_000 / run.dropEvery) client.stream.destroy();
    await sleep(Math.max(0, due + period - Date.now()));
  }
  for (const end = Date.now() + SETTLE_MS; open > 0 && Date.now() < end;) await sleep(100);
  isOver = true;
  await client.endAsync(true);
}

/** What devices kept while they were out of reach, put as objects by their owner. */
async function upload(run: Run, device: Provisioned): Promise<void> {
  if (run.uploadEvery === 0) return;
  for (let object = 0; Date.now() < run.ends; object += 1) {
    const at = new Date();
    const sent = Array.from({ length: OBJECT_MESSAGES }, (_, n) => {
      const id = `${run.id}-object-${object}-${n}`;
      return { id, ...messageOf(device, n, id, at) };
    });
    const userId = await persist(run.ends + SETTLE_MS, () =>
      uploadObject(
        run.service,
        sent.map(({ body }) => body),
      ),
    );
    if (userId === undefined) return;
    run.objects += 1;
    for (const { id, rows } of sent) {
      run.ledger.publish(id, { userId }, rows, at);
      run.ledger.acknowledge(id);
    }
    await sleep(Math.min(run.uploadEvery * 1_000, Math.max(0, run.ends - Date.now())));
  }
}

/**
 * Reads the table again and again, to see when messages come to be in it; tells how far it is. Most looks leave out what arrived long ago: while one message waits with its
 * device, they would read ever more.
 */
async function watch(run: Run, ended: AbortSignal): Promise<void> {
  for (let told = Date.now(), looks = 1; !ended.aborted; looks += 1) {
    await sleep(500);
    const from = run.ledger.oldestUnseen();
    const arrived = looks % WHOLE_LOOK === 0 ? undefined : new Date(Date.now() - RECENT_MS);
    if (from) run.ledger.see(await rowsSince(run.service, new Date(from.getTime() - 1_000), arrived).catch(() => []));
    if (Date.now() - told < 5_000) continue;
    told = Date.now();
    const { published, acknowledged, unseen } = run.ledger.counts();
    run.say(`${published} published, ${acknowledged} acknowledged, ${unseen} not yet in the table, ${run.connections} connections`);
  }
}

async function settle(run: Run): Promise<void> {
  for (const end = Date.now() + SETTLE_MS; run.ledger.oldestUnseen() !== undefined && Date.now() < end;) await sleep(200);
}

/**
 * Runs devices against a service until the time is over and everything has settled. Every acknowledged message should be in the table once; who calls
 * this looks at `missing` and `repeated`. Rejects when devices cannot be provisioned, or the table cannot be read at the end.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const { service, count, say } = options;
  const id = randomUUID().slice(0, 8);
  const devices: Provisioned[] = [];
  for (const [turn, instrument] of INSTRUMENTS.entries()) {
    const serials = Array.from({ length: count }, (_, n) => n).filter((n) => n % INSTRUMENTS.length === turn);
    devices.push(
      ...(await provision(
        service,
        instrument,
        serials.map((n) => `SIM-${id}-${String(n).padStart(4, '0')}`),
      )),
    );
    say(`${devices.length} of ${count} devices are registered, certified and onboarded`);
  }
  const [first] = devices;
  if (!first) throw new Error('there is nothing to simulate');
  const began = Date.now();
  const run: Run = {
    ...options,
    id,
    ledger: new Ledger(service.experimentId),
    ends: began + options.seconds * 1_000,
    connections: 0,
    objects: 0,
    sentAnew: {},
  };
  const done = new AbortController();
  const watching = watch(run, done.signal);
  await Promise.all([...devices.map((device) => live(run, device)), upload(run, first)]);
  await settle(run);
  done.abort();
  await watching;
  const rows = await persist(Date.now() + SETTLE_MS, () => rowsSince(service, new Date(began - 5_000)));
  if (!rows) throw new Error('the table could not be read at the end');
  return {
    ...run.ledger.reconcile(rows),
    devices: devices.length,
    connections: run.connections,
    objects: run.objects,
    sentAnew: run.sentAnew,
  };
}
