import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import type { MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateDeviceKeys } from '../../src/iot/keys.ts';
import { makeAuthority, openAuthority } from '../../src/iot/authority.ts';
import { makeDevicePolicies, makeSessionPolicy } from '../../src/iot/policy.ts';
import { EMBEDDED_ARN_PREFIX } from '../../src/iot/registries/embedded.ts';
import { closing, measurementTopic, openBroker, until } from '../support/broker.ts';

const EXPERIMENT = randomUUID();
const OTHER = randomUUID();
const topic = measurementTopic(EXPERIMENT);
type Opened = Awaited<ReturnType<typeof openBroker>>;

/** Resolves to 'acknowledged', or 'closed' when the connection ends first. */
async function publish(
  client: MqttClient,
  to: string,
  payload: string | Buffer = '{}',
  qos: 0 | 1 | 2 = 1,
): Promise<'acknowledged' | 'closed'> {
  return new Promise((resolve) => {
    client.once('close', () => resolve('closed'));
    client.publish(to, payload, { qos }, (failed) => resolve(failed ? 'closed' : 'acknowledged'));
  });
}

describe('who gets in and what may be sent', () => {
  let at: Opened;
  beforeAll(async () => void (at = await openBroker({ limits: { recheckSeconds: 3_600, connectionsPerPerson: 2, connectSeconds: 1 } })));
  afterAll(async () => at.close());
  const reasons = () => at.refusals.map(({ reason }) => reason);

  test('the right certificate connects and publishes, with and without protocol id', async () => {
    const device = await at.newDevice([EXPERIMENT]);
    const client = await at.asDevice(device);
    expect(await publish(client, topic, '{"a":1}')).toBe('acknowledged');
    expect(await publish(client, `${topic}/questions`, '{"a":2}')).toBe('acknowledged');
    expect(at.messages.slice(-2)).toMatchObject([
      {
        topic: { kind: 'measurement', experimentId: EXPERIMENT, protocolId: null },
        clientId: device.thing,
        userId: null,
        payload: Buffer.from('{"a":1}'),
      },
      { topic: { protocolId: 'questions' } },
    ]);
    await client.endAsync();
  });

  test('the host name that was asked for is in the broker’s certificate', async () => {
    for (const [servername, fine] of [
      ['broker.test', true],
      ['elsewhere.test', false],
    ] as const) {
      const socket = connectTls({ port: at.port, host: '127.0.0.1', servername, ca: at.authority.certificatePem });
      const outcome = await Promise.race([once(socket, 'secureConnect').then(() => true), once(socket, 'error').then(() => false)]).catch(
        () => false,
      );
      expect(outcome).toBe(fine);
      socket.destroy();
    }
  });

  test('another client id is refused', async () => {
    const [device, other] = [await at.newDevice([EXPERIMENT]), await at.newDevice([EXPERIMENT])];
    await (await at.asDevice(device)).endAsync();
    await expect(at.asDevice(device, { clientId: other.thing })).rejects.toThrow(/not authorized/i);
    expect(reasons().at(-1)).toBe('client-id-not-allowed');
  });

  test('no certificate, and a certificate of another authority, are refused', async () => {
    const device = await at.newDevice([EXPERIMENT]);
    await (await at.asDevice(device)).endAsync();
    await expect(at.connect({ clientId: device.thing })).rejects.toThrow(/not authorized/i);
    expect(reasons().at(-1)).toBe('no-credentials');
    const keys = await generateDeviceKeys();
    const foreign = await (await openAuthority(await makeAuthority())).signDevice(keys.csr);
    await expect(at.connect({ clientId: device.thing, key: keys.privateKey, cert: foreign.certificatePem })).rejects.toThrow(
      /not authorized/i,
    );
    expect(reasons().at(-1)).toBe('certificate-not-ours');
    const unknown = await at.authority.signDevice(keys.csr);
    await expect(at.connect({ clientId: device.thing, key: keys.privateKey, cert: unknown.certificatePem })).rejects.toThrow(
      /not authorized/i,
    );
    expect(reasons().at(-1)).toBe('certificate-unknown');
  });

  test('a certificate works only while it is active', async () => {
    const device = await at.newDevice([EXPERIMENT]);
    await (await at.asDevice(device)).endAsync();
    const keys = await generateDeviceKeys();
    const second = await at.registry.issueCertificate(device.thing, keys.csr);
    const connect = () => at.connect({ clientId: device.thing, key: keys.privateKey, cert: second.certificatePem });
    await expect(connect()).rejects.toThrow(/not authorized/i);
    await at.registry.activateCertificate(device.thing, second.certificateId);
    await (await connect()).endAsync();
    await at.registry.revokeCertificate(device.thing, second.certificateId);
    await expect(connect()).rejects.toThrow(/not authorized/i);
    expect(reasons().slice(-2)).toEqual(['certificate-inactive', 'certificate-revoked']);
  });

  test('one that the registry holds no more is refused by what became of it', async () => {
    for (const end of ['rotated', 'revoked', 'removed'] as const) {
      const device = await at.newDevice([EXPERIMENT]);
      await (await at.asDevice(device)).endAsync();
      await at.registry.deleteCertificate(device.thing, device.certificateId, end);
      await expect(at.asDevice(device)).rejects.toThrow(/not authorized/i);
      expect(reasons().at(-1)).toBe(`certificate-${end}`);
    }
  });

  test('an unbound experiment, another sensor’s topic, and what is no topic of ours end the connection unacknowledged', async () => {
    const device = await at.newDevice([EXPERIMENT]);
    for (const [wrong, reason] of [
      [measurementTopic(OTHER), 'topic-not-allowed'],
      [measurementTopic(EXPERIMENT, 'ambyte'), 'topic-not-allowed'],
      ['hello', 'topic-unknown'],
      ['$SYS/x', 'topic-unknown'],
      [`${topic}/a/b`, 'topic-unknown'],
      [`device/scripts/v1/multispeq/2/${device.thing}`, 'topic-unknown'],
    ] as const) {
      const client = await at.asDevice(device);
      expect(await publish(client, topic)).toBe('acknowledged');
      const before = at.messages.length;
      expect(await publish(client, wrong)).toBe('closed');
      expect([at.messages.length, reasons().at(-1)]).toEqual([before, reason]);
    }
    await until(
      () => at.presence.some(({ clientId, disconnectReason }) => clientId === device.thing && disconnectReason === 'FORBIDDEN_ACCESS'),
      'presence',
    );
  });

  test('revocation ends a live connection at once; so does deletion of the thing', async () => {
    for (const end of [
      async (thing: string, id: string) => at.registry.revokeCertificate(thing, id),
      async (thing: string) => at.registry.deleteThing(thing),
    ]) {
      const device = await at.newDevice([EXPERIMENT]);
      const client = await at.asDevice(device);
      expect(await publish(client, topic)).toBe('acknowledged');
      const closed = closing(client);
      await end(device.thing, device.certificateId);
      await closed;
      await expect(at.asDevice(device)).rejects.toThrow(/not authorized/i);
      await until(
        () =>
          at.presence.some(
            ({ clientId, disconnectReason }) => clientId === device.thing && disconnectReason === 'SERVER_INITIATED_DISCONNECT',
          ),
        'presence',
      );
    }
  });

  test('unbinding takes effect on the live connection, which stays', async () => {
    const device = await at.newDevice([EXPERIMENT, OTHER]);
    const client = await at.asDevice(device);
    expect(await publish(client, measurementTopic(OTHER))).toBe('acknowledged');
    await at.registry.setPolicies(device.thing, makeDevicePolicies(EMBEDDED_ARN_PREFIX, 'multispeq', [EXPERIMENT]));
    expect(await publish(client, topic)).toBe('acknowledged');
    expect(await publish(client, measurementTopic(OTHER))).toBe('closed');
  });

  test('a device reads its own scripts and nothing else', async () => {
    const [device, other] = [await at.newDevice([EXPERIMENT]), await at.newDevice([EXPERIMENT])];
    const client = await at.asDevice(device);
    const granted = async (filter: string) =>
      client.subscribeAsync(filter, { qos: 1 }).then(
        ([got]) => got?.qos,
        () => 128,
      );
    expect(await granted(`device/scripts/v1/multispeq/2/${device.thing}`)).toBe(1);
    for (const filter of [`device/scripts/v1/multispeq/2/${other.thing}`, '#', '$SYS/#', 'experiment/#', topic])
      expect(await granted(filter)).toBe(128);
    await client.endAsync();
  });

  test('a client that asks for filter after filter that it may not have is told so fifty times, and sent away', async () => {
    const device = await at.newDevice([EXPERIMENT]);
    const client = await at.asDevice(device);
    const ask = async (many: number) => {
      const answered = new Promise<unknown>((resolve) => {
        client.on('packetreceive', (packet) => packet.cmd === 'suback' && resolve(packet.granted));
        client.once('close', () => resolve('closed'));
      });
      client.subscribe(
        Array.from({ length: many }, (_, index) => `other/${index}`),
        () => undefined,
      );
      return answered;
    };
    const before = at.refusals.length;
    expect(await ask(49)).toEqual(Array.from({ length: 49 }, () => 128));
    expect(await ask(5_000)).toBe('closed');
    expect(at.refusals.length - before).toBe(50);
    await until(
      () => at.presence.some(({ clientId, disconnectReason }) => clientId === device.thing && disconnectReason === 'FORBIDDEN_ACCESS'),
      'end',
    );
  });

  test.each([true, false])(
    'one packet gets no more subscriptions than a connection may have, whether it asks for a clean session: %s',
    async (clean) => {
      const device = await at.newDevice([EXPERIMENT]);
      const client = await at.asDevice(device, { clean });
      const granted = async (filters: readonly string[]) => {
        const answered = new Promise<unknown>((resolve) =>
          client.on('packetreceive', (packet) => packet.cmd === 'suback' && resolve(packet.granted)),
        );
        client.subscribe([...filters], () => undefined);
        return answered;
      };
      const filters = Array.from({ length: 60 }, (_, version) => `device/scripts/v1/multispeq/${version}/${device.thing}`);
      expect(await granted(filters)).toEqual(filters.map((_, index) => (index < 50 ? 0 : 128)));
      await client.unsubscribeAsync(filters.slice(0, 50));
      expect(await granted(filters.slice(50))).toEqual(filters.slice(50).map(() => 0));
      await client.endAsync();
    },
  );

  test('quality of service 2 is refused, as on AWS; 0 arrives unacknowledged', async () => {
    const device = await at.newDevice([EXPERIMENT]);
    const client = await at.asDevice(device);
    const before = at.messages.length;
    await publish(client, topic, 'zero', 0);
    await until(() => at.messages.length === before + 1, 'message');
    expect(await publish(client, topic, 'two', 2)).toBe('closed');
    expect(reasons().at(-1)).toBe('quality-of-service-2');
  });

  test('a packet that is too large ends the connection; the largest is taken', async () => {
    const device = await at.newDevice([EXPERIMENT]);
    const client = await at.asDevice(device);
    expect(await publish(client, topic, randomBytes(131_072))).toBe('acknowledged');
    expect(at.messages.at(-1)?.payload).toHaveLength(131_072);
    const before = at.messages.length;
    expect(await publish(client, topic, randomBytes(140_000))).toBe('closed');
    expect(at.refusals.at(-1)).toMatchObject({ reason: 'packet-too-large', clientId: device.thing });
    expect(at.messages.length).toBe(before);
  });

  test('a will is a publish: allowed where it may publish, refused elsewhere', async () => {
    const device = await at.newDevice([EXPERIMENT]);
    const client = await at.asDevice(device, { will: { topic, payload: Buffer.from('last'), qos: 1, retain: true } });
    client.stream.destroy();
    await until(() => at.messages.some(({ payload, clientId }) => payload.toString() === 'last' && clientId === device.thing), 'will');
    await expect(
      at.asDevice(device, { will: { topic: measurementTopic(OTHER), payload: Buffer.from('x'), qos: 1, retain: false } }),
    ).rejects.toThrow(/not authorized/i);
    expect(reasons().at(-1)).toBe('will-not-allowed');
  });

  test('a second connection takes the first one’s place; presence tells both in order', async () => {
    const device = await at.newDevice([EXPERIMENT]);
    const first = await at.asDevice(device);
    const closed = closing(first);
    const second = await at.asDevice(device);
    await closed;
    expect(await publish(second, topic)).toBe('acknowledged');
    await second.endAsync();
    const mine = () => at.presence.filter(({ clientId }) => clientId === device.thing);
    await until(() => mine().length === 4, 'presence');
    expect(mine().map(({ eventType, disconnectReason }) => disconnectReason ?? eventType)).toEqual([
      'connected',
      'DUPLICATE_CLIENTID',
      'connected',
      'CLIENT_INITIATED_DISCONNECT',
    ]);
    const [a, b, c, d] = mine().map(({ sessionIdentifier }) => sessionIdentifier);
    expect([a === b, c === d, a === c]).toEqual([true, true, false]);
    expect(mine()[0]).toMatchObject({ thingName: device.thing, userId: null });
  });

  test('temporary credentials: the own topic tree under an own client id, nothing else', async () => {
    const userId = randomUUID();
    const { accessKeyId, sessionToken, clientIdPrefix } = await at.tokens.issue(userId);
    const person = async (clientId = `${clientIdPrefix}phone`, password = sessionToken) =>
      at.connect({ clientId, username: accessKeyId, password });
    const mine = `data_ingest/v1/u/${userId}/${EXPERIMENT}/ambit/1.0/s`;
    const client = await person();
    expect(await publish(client, mine, '{}')).toBe('acknowledged');
    expect(at.messages.at(-1)).toMatchObject({ topic: { kind: 'personal', userId, experimentId: EXPERIMENT }, userId });
    expect(await publish(client, mine.replace(userId, randomUUID()))).toBe('closed');
    expect(await publish(await person(), topic)).toBe('closed');
    const device = await at.newDevice([EXPERIMENT]);
    await expect(person(device.thing)).rejects.toThrow(/not authorized/i);
    await expect(person(undefined, `${sessionToken.slice(0, -2)}xx`)).rejects.toThrow(/not authorized/i);
    expect(reasons().at(-1)).toBe('credentials-invalid');
    await Promise.all([person(`${clientIdPrefix}1`), person(`${clientIdPrefix}2`)]);
    await expect(person(`${clientIdPrefix}3`)).rejects.toThrow(/not authorized/i);
    expect(reasons().at(-1)).toBe('too-many-connections');
  });

  test('bytes that are no MQTT, and a length that never ends, close the socket and nothing else', async () => {
    for (const bytes of [Buffer.from('GET / HTTP/1.1\r\n\r\n'), Buffer.from([0x10, 0xff, 0xff, 0xff, 0xff, 0xff]), randomBytes(500)]) {
      const socket = connectTls({ port: at.port, host: '127.0.0.1', servername: 'localhost', ca: at.authority.certificatePem });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      socket.write(bytes);
      socket.resume();
      if (bytes[0] === 0x10 || bytes[0] === 0x47) await once(socket, 'close');
      else socket.destroy();
    }
    const device = await at.newDevice([EXPERIMENT]);
    expect(await publish(await at.asDevice(device), topic)).toBe('acknowledged');
    expect(at.problems).toEqual([]);
  });

  test('a length that never ends is a refusal for the log, before CONNECT and behind it', async () => {
    const endless = Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x01]);
    const refused = () => at.refusals.filter(({ reason }) => reason === 'packet-malformed');
    const socket = connectTls({ port: at.port, host: '127.0.0.1', servername: 'localhost', ca: at.authority.certificatePem });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    const [before, closed] = [refused().length, once(socket, 'close')];
    socket.write(endless);
    socket.resume();
    await closed;
    expect(refused().slice(before)).toEqual([{ reason: 'packet-malformed', clientId: null, principal: null, topic: null }]);
    const device = await at.newDevice([EXPERIMENT]);
    const client = await at.asDevice(device);
    expect(await publish(client, topic)).toBe('acknowledged');
    const gone = new Promise<void>((resolve) => client.once('close', () => resolve()));
    client.stream.write(endless);
    await gone;
    expect(refused().at(-1)).toMatchObject({ clientId: device.thing, principal: device.certificateId });
    await until(
      () => at.presence.some(({ clientId, disconnectReason }) => clientId === device.thing && disconnectReason === 'CLIENT_ERROR'),
      'end',
    );
  });
});

describe('acknowledgement', () => {
  test('PUBACK goes out only when the message is durable, and never when it is not', async () => {
    const waiting: { resolve: () => void; reject: (cause: Error) => void }[] = [];
    const at = await openBroker({ onMessage: () => new Promise<void>((resolve, reject) => waiting.push({ resolve, reject })) });
    const device = await at.newDevice([EXPERIMENT]);
    const client = await at.asDevice(device);
    const packets: string[] = [];
    client.on('packetreceive', ({ cmd }) => packets.push(cmd));
    const [first, second] = [publish(client, topic, 'one'), publish(client, topic, 'two')];
    await until(() => waiting.length === 2, 'two messages');
    const other = publish(await at.asDevice(await at.newDevice([EXPERIMENT])), topic, 'three');
    await until(() => waiting.length === 3, 'a third message');
    waiting[2]!.resolve();
    expect(await other).toBe('acknowledged');
    expect(packets).not.toContain('puback');
    waiting[0]!.resolve();
    expect(await first).toBe('acknowledged');
    expect(packets.filter((cmd) => cmd === 'puback')).toHaveLength(1);
    waiting[1]!.reject(new Error('disk full'));
    expect(await second).toBe('closed');
    expect(packets.filter((cmd) => cmd === 'puback')).toHaveLength(1);
    expect(at.problems).toEqual([new Error('disk full')]);
    await until(() => at.presence.some(({ disconnectReason }) => disconnectReason === 'SERVER_ERROR'), 'presence');
    await at.close();
  });

  test('no more than the limit is in flight: a fast device waits, and loses nothing', async () => {
    let inFlight = 0;
    let most = 0;
    const seen: string[] = [];
    const at = await openBroker({
      limits: { inFlight: 8 },
      async onMessage({ payload }) {
        most = Math.max(most, ++inFlight);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inFlight--;
        seen.push(payload.toString());
      },
    });
    const client = await at.asDevice(await at.newDevice([EXPERIMENT]));
    const sent = Array.from({ length: 400 }, (_, index) => `message ${index}`);
    expect(new Set(await Promise.all(sent.map(async (payload) => publish(client, topic, payload))))).toEqual(new Set(['acknowledged']));
    expect(most).toBe(8);
    expect(seen.sort()).toEqual(sent.sort());
    await at.close();
  });

  test('closing lets what is in flight become durable and acknowledged', async () => {
    const at = await openBroker({ onMessage: () => new Promise((resolve) => setTimeout(resolve, 150)) });
    const client = await at.asDevice(await at.newDevice([EXPERIMENT]));
    const sent = publish(client, topic);
    await until(() => at.broker.connections() === 1, 'connection');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await at.broker.close();
    expect(await sent).toBe('acknowledged');
    await at.close();
  });

  test('a change made elsewhere is seen at the next recheck, without any message', async () => {
    const at = await openBroker({ limits: { recheckSeconds: 0.1 } });
    const device = await at.newDevice([EXPERIMENT]);
    const client = await at.asDevice(device);
    expect(await publish(client, topic)).toBe('acknowledged');
    const closed = closing(client);
    await at.store.change(
      device.thing,
      (record) => record && { ...record, certificates: [{ certificateId: device.certificateId, status: 'revoked' }] },
    );
    await closed;
    await at.close();
  });

  test('when the registry cannot be asked, a device is told to come back, and gets in later', async () => {
    let broken = true;
    const at = await openBroker();
    const find = at.store.findByCertificate.bind(at.store);
    at.store.findByCertificate = async (id) => (broken ? Promise.reject(new Error('database away')) : find(id));
    const device = await at.newDevice([EXPERIMENT]);
    await expect(at.asDevice(device)).rejects.toThrow(/server unavailable/i);
    broken = false;
    expect(await publish(await at.asDevice(device), topic)).toBe('acknowledged');
    await at.close();
  });

  test('a silent client is cut off after its keepalive, a person when the hour is over', async () => {
    const userId = randomUUID();
    const at = await openBroker({
      findPerson: () => ({
        userId,
        expires: new Date(Date.now() + 300),
        policy: makeSessionPolicy(EMBEDDED_ARN_PREFIX, userId),
      }),
    });
    const person = await at.connect({ clientId: `u-${userId}-phone`, username: 'any', password: 'any' });
    const expired = closing(person);
    const device = await at.newDevice([EXPERIMENT]);
    const socket = connectTls({
      port: at.port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: at.authority.certificatePem,
      key: device.key,
      cert: device.cert,
    });
    await once(socket, 'secureConnect');
    const id = Buffer.from(device.thing);
    const variable = Buffer.concat([Buffer.from([0, 4]), Buffer.from('MQTT'), Buffer.from([4, 2, 0, 1, 0, id.length]), id]);
    socket.write(Buffer.concat([Buffer.from([0x10, variable.length]), variable]));
    socket.resume();
    await Promise.all([expired, once(socket, 'close')]);
    await until(() => at.presence.filter(({ disconnectReason }) => disconnectReason !== null).length === 2, 'presence');
    expect(
      at.presence.flatMap(({ clientId, disconnectReason }) => (disconnectReason ? [[clientId === device.thing, disconnectReason]] : [])),
    ).toEqual([
      [false, 'SERVER_INITIATED_DISCONNECT'],
      [true, 'MQTT_KEEP_ALIVE_TIMEOUT'],
    ]);
    await at.close();
  });
});
