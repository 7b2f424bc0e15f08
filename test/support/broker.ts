import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IClientOptions, MqttClient } from 'mqtt';
import { connect as connectMqtt } from 'mqtt';
import { makeAuthority, openAuthority } from '../../src/iot/authority.ts';
import type { Broker, BrokerOptions } from '../../src/iot/broker.ts';
import { startBroker } from '../../src/iot/broker.ts';
import type { BrokerMessage, PresenceEvent, RefusalEvent } from '../../src/iot/connections.ts';
import { openTokenIssuer } from '../../src/iot/credentials.ts';
import { generateDeviceKeys } from '../../src/iot/keys.ts';
import { makeDevicePolicies } from '../../src/iot/policy.ts';
import { EMBEDDED_ARN_PREFIX, openEmbeddedRegistry } from '../../src/iot/registries/embedded.ts';
import { nameThing } from '../../src/iot/things.ts';
import { folderStore } from './registry-store.ts';

export interface TestDevice {
  thing: string;
  certificateId: string;
  key: string;
  cert: string;
}

/** A broker on loopback with a registry and authority in a folder of its own, and what it has been told. */
export async function openBroker(more: Partial<BrokerOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-broker-'));
  const authority = await openAuthority(await makeAuthority());
  const store = folderStore(join(folder, 'things'));
  const tokens = openTokenIssuer({ key: Buffer.alloc(32, 7), arnPrefix: EMBEDDED_ARN_PREFIX });
  const messages: BrokerMessage[] = [];
  const presence: PresenceEvent[] = [];
  const refusals: RefusalEvent[] = [];
  const problems: unknown[] = [];
  let broker: Broker | null = null;
  const registry = openEmbeddedRegistry({
    authority,
    endpoint: 'localhost',
    store: {
      ...store,
      // the broker hears of every change, as from the service
      change: async (thing, change) => {
        await store.change(thing, change);
        void broker?.refresh(thing);
      },
    },
  });
  broker = await startBroker({
    port: 0,
    authority,
    hostnames: ['broker.test'],
    arnPrefix: EMBEDDED_ARN_PREFIX,
    async findDevice(certificateId) {
      const record = await store.findByCertificate(certificateId);
      const held = record?.certificates.find((certificate) => certificate.certificateId === certificateId);
      return record && held ? { thingName: record.thingName, status: held.status, policies: record.policies } : null;
    },
    findEnd: (certificateId) => store.findEnd(certificateId),
    findPerson: (accessKeyId, token) => tokens.verify(accessKeyId, token),
    hasAccount: () => Promise.resolve(true),
    onMessage: (message) => Promise.resolve(void messages.push(message)),
    onPresence: (event) => Promise.resolve(void presence.push(event)),
    onRefusal: (refusal) => void refusals.push(refusal),
    onProblem: (cause) => void problems.push(cause),
    ...more,
  });
  const { port } = broker;

  async function newDevice(experimentIds: readonly string[]): Promise<TestDevice> {
    const serialNumber = `E8:${randomUUID()}`;
    const thing = nameThing('multispeq', serialNumber);
    const keys = await generateDeviceKeys();
    await registry.createThing({ thingName: thing, deviceType: 'multispeq', serialNumber });
    const { certificateId, certificatePem } = await registry.issueCertificate(thing, keys.csr);
    await registry.setPolicies(thing, makeDevicePolicies(EMBEDDED_ARN_PREFIX, 'multispeq', experimentIds));
    await registry.activateCertificate(thing, certificateId);
    return { thing, certificateId, key: keys.privateKey, cert: certificatePem };
  }

  const clients: MqttClient[] = [];
  async function connect(options: IClientOptions): Promise<MqttClient> {
    const client = connectMqtt(`mqtts://localhost:${port}`, {
      ca: authority.certificatePem,
      reconnectPeriod: 0,
      connectTimeout: 5_000,
      ...options,
    });
    client.setMaxListeners(1_000);
    await new Promise<void>((resolve, reject) => {
      client.once('connect', () => resolve());
      client.on('error', reject);
      client.once('close', () => reject(new Error('closed')));
    });
    clients.push(client);
    return client;
  }

  return {
    folder,
    authority,
    store,
    tokens,
    registry,
    broker,
    port,
    messages,
    presence,
    refusals,
    problems,
    newDevice,
    connect,
    asDevice: async (device: TestDevice, options: IClientOptions = {}) =>
      connect({ clientId: device.thing, key: device.key, cert: device.cert, ...options }),
    async close() {
      for (const client of clients) client.end(true);
      await broker.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export const measurementTopic = (experimentId: string, sensorType = 'multispeq') =>
  `experiment/data_ingest/v1/${experimentId}/${sensorType}/2.0/sensor-1`;

/** Resolves when the connection has ended. */
export const closing = async (client: MqttClient) => new Promise<void>((resolve) => client.once('close', () => resolve()));

/** Waits until a condition holds, for at most five seconds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 5_000; !holds();) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
