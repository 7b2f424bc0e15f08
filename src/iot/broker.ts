/** The MQTT broker of one machine: mutual TLS, the same policy documents as AWS, and an acknowledgement only for what is durable. */
import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';
import type { AedesPublishPacket, Client, PublishPacket, Subscription } from 'aedes';
import { Aedes } from 'aedes';
import type { Authority, ServerCertificate } from './authority.ts';
import { hashCertificate } from './authority.ts';
import type { BrokerHooks, BrokerLimits, BrokerRefusal, DisconnectReason } from './connections.ts';
import { BROKER_LIMITS } from './connections.ts';
import { boundConnections, printPeer } from './crowd.ts';
import { Gate, PacketMalformed, PacketTooLarge } from './gate.ts';
import type { ArnPrefix } from './policy.ts';
import { printClientArn, printTopicArn, printTopicFilterArn } from './policy.ts';
import { MQTT_PORT } from './registry.ts';
import { endRefusal, Session, stateRefusal } from './session.ts';
import { isLevel, parseTopic } from './topics.ts';

export interface BrokerOptions extends BrokerHooks {
  /** Address to listen on; loopback unless someone decides otherwise. */
  host?: string;
  /** 0 picks a free port. Undefined is `MQTT_PORT`, or a free port where that is taken. */
  port: number | undefined;
  authority: Authority;
  /** Host names and addresses for the broker's certificate, besides localhost and 127.0.0.1. */
  hostnames: readonly string[];
  arnPrefix: ArnPrefix;
  limits?: Partial<BrokerLimits>;
}

export interface Broker {
  readonly port: number;
  /** Ends live connections at once: of a thing, or of one certificate. Answers how many. */
  disconnect(target: { thingName: string } | { certificateId: string }): number;
  /** Looks a thing's live connections up again: ends those whose certificate no longer lives, and applies changed policies to the others. */
  refresh(thingName: string): Promise<void>;
  connections(): number;
  /** Takes no more messages in, waits at most `graceMs` until those in flight are durable, then ends. */
  close(graceMs?: number): Promise<void>;
}

const RENEW_EVERY = 12 * 3_600_000;
const RENEW_BEFORE = 30 * 86_400_000;
const LONGEST_CLIENT_ID = 128;
const CONNECT_REFUSED = 5;
const CONNECT_UNAVAILABLE = 3;

const connectError = (returnCode: number, message: string) => Object.assign(new Error(message), { returnCode });

/** Starts a broker, which listens once the promise resolves. People and devices may do what the documents from the hooks allow, and nothing else. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { host = '127.0.0.1', authority, hostnames, arnPrefix } = options;
  const hooks: BrokerHooks = options;
  const problem = (cause: unknown) => hooks.onProblem(cause);
  const limits: BrokerLimits = { ...BROKER_LIMITS, ...options.limits };
  const sessions = new Map<Gate, Session>();
  const presences = new Map<string, Promise<void>>();
  const byClient = new WeakMap<Client, Session>();
  const sessionOf = (client: Client | null) => (client ? byClient.get(client) : undefined);

  function refuse(session: Session, reason: BrokerRefusal, topic: string | null = null): void {
    hooks.onRefusal({
      reason,
      clientId: session.clientId || null,
      principal: session.userId ?? session.principal,
      topic: topic && topic.slice(0, 256),
    });
  }

  function announce(session: Session, eventType: 'connected' | 'disconnected', disconnectReason: DisconnectReason | null): void {
    const { clientId, thingName, userId, id } = session;
    const event = {
      eventType,
      clientId,
      thingName,
      userId,
      sessionIdentifier: id,
      timestamp: new Date(),
      disconnectReason,
    };
    const told = (presences.get(clientId) ?? Promise.resolve()).then(async () => hooks.onPresence(event)).catch(problem);
    presences.set(clientId, told);
    void told.then(() => presences.get(clientId) === told && presences.delete(clientId));
  }

  async function refusalOfUnheld(certificateId: string): Promise<BrokerRefusal> {
    const end = await hooks.findEnd(certificateId);
    return end === null ? 'certificate-unknown' : endRefusal[end];
  }

  /** Looks the certificate up, and once more whenever a refresh came in between. Ends the connection when the certificate no longer lives. */
  async function recheck(session: Session): Promise<BrokerRefusal | null> {
    if (session.certificateId === null) return null;
    for (;;) {
      const generation = session.generation;
      const device = await hooks.findDevice(session.certificateId);
      if (session.generation !== generation) continue;
      const refusal = device ? stateRefusal[device.status] : await refusalOfUnheld(session.certificateId);
      session.holder = device && !refusal ? { kind: 'device', certificateId: session.certificateId, device } : null;
      session.checkedAt = performance.now();
      if (refusal && session.announced) session.end('SERVER_INITIATED_DISCONNECT');
      return refusal;
    }
  }

  const isStale = (session: Session) => performance.now() - session.checkedAt > limits.recheckSeconds * 1000;

  async function admit(
    session: Session,
    username: string | undefined,
    password: Buffer | undefined,
    will: PublishPacket | null,
  ): Promise<BrokerRefusal | null> {
    if (session.certificate !== null) {
      if (!session.certificate.ours) return 'certificate-not-ours';
      const refusal = await recheck(session);
      if (refusal) return refusal;
    } else {
      if (username === undefined || password === undefined) return 'no-credentials';
      const person = hooks.findPerson(username, password.toString('utf8'));
      if (!person) return 'credentials-invalid';
      const others = [...sessions.values()].filter(
        (other) => other.announced && other.userId === person.userId && other.clientId !== session.clientId,
      );
      if (others.length >= limits.connectionsPerPerson) return 'too-many-connections';
      session.holder = { kind: 'person', accessKeyId: username, person };
      session.expiry = setTimeout(() => session.end('SERVER_INITIATED_DISCONNECT'), person.expires.getTime() - Date.now());
    }
    const idIsLegal = isLevel(session.clientId) && session.clientId.length <= LONGEST_CLIENT_ID;
    if (!idIsLegal || !session.may('iot:Connect', printClientArn(arnPrefix, session.clientId))) return 'client-id-not-allowed';
    return will && !mayPublish(session, will.topic) ? 'will-not-allowed' : null;
  }

  const mayPublish = (session: Session, topic: string) => session.may('iot:Publish', printTopicArn(arnPrefix, topic));

  /** Takes a message, and resolves when it is durable. Otherwise throws, which ends the connection. */
  async function take(session: Session, packet: PublishPacket): Promise<void> {
    const refused = (reason: BrokerRefusal) => {
      session.endedBy ??= 'FORBIDDEN_ACCESS';
      refuse(session, reason, packet.topic);
      return new Error(reason);
    };
    packet.retain = false;
    if (packet.qos === 2) throw refused('quality-of-service-2');
    const topic = parseTopic(packet.topic);
    if (!topic) throw refused('topic-unknown');
    if (isStale(session)) await recheck(session);
    if (!session.holder || !mayPublish(session, packet.topic)) throw refused('topic-not-allowed');
    const { clientId, userId } = session;
    const payload = Buffer.isBuffer(packet.payload) ? packet.payload : Buffer.from(packet.payload);
    try {
      await hooks.onMessage({ topic, clientId, userId, payload });
    } catch (cause) {
      session.endedBy ??= 'SERVER_ERROR';
      problem(cause);
      throw cause;
    }
  }

  const wills = new WeakMap<Client, PublishPacket>();
  const aedes = new Aedes({
    connectTimeout: limits.connectSeconds * 1000,
    drainTimeout: limits.drainSeconds * 1000,
    maxTopicLevels: 10,
    preConnect(client, packet, done) {
      const session = sessionOf(client);
      if (!session) return done(new Error('no such connection'), false);
      session.clientId = packet.clientId;
      session.onEnd(() => client.close());
      if (packet.will) wills.set(client, { ...packet.will, cmd: 'publish', dup: false } as PublishPacket);
      const asked = packet.keepalive ?? 0;
      packet.keepalive = asked === 0 ? limits.keepaliveSeconds : Math.min(asked, limits.keepaliveSeconds);
      done(null, true);
    },
    authenticate(client, username, password, done) {
      const session = sessionOf(client);
      if (!session) return done(connectError(CONNECT_REFUSED, 'no such connection'), false);
      admit(session, username, password, wills.get(client) ?? null).then(
        (refusal) => {
          if (!refusal && session.endedBy === null) return done(null, true);
          if (refusal) refuse(session, refusal);
          done(connectError(CONNECT_REFUSED, refusal ?? 'ended'), false);
        },
        (cause: unknown) => {
          problem(cause);
          done(connectError(CONNECT_UNAVAILABLE, 'unavailable'), false);
        },
      );
    },
    authorizePublish(client, packet, done) {
      const session = sessionOf(client);
      if (!session) return done(new Error('not a client'));
      const length = packet.length;
      take(session, packet)
        .then(
          () => done(null),
          (cause: unknown) => done(cause as Error),
        )
        .finally(() => length !== undefined && session.gate.settle(length));
    },
    authorizeSubscribe(client, subscription: Subscription, done) {
      const session = sessionOf(client);
      const held = Object.keys((client as Client & { subscriptions: object }).subscriptions).length;
      if (session && held < limits.subscriptions && session.may('iot:Subscribe', printTopicFilterArn(arnPrefix, subscription.topic)))
        return done(null, subscription);
      if (session) refuse(session, 'filter-not-allowed', subscription.topic);
      done(null, null);
    },
    authorizeForward: (client, packet: AedesPublishPacket) =>
      sessionOf(client)?.may('iot:Receive', printTopicArn(arnPrefix, packet.topic)) ? packet : null,
  });
  await aedes.listen();
  aedes.on('client', (client) => {
    const session = sessionOf(client);
    if (!session) return;
    session.announced = true;
    crowd.admit(session.peer);
    announce(session, 'connected', null);
  });
  aedes.on('clientReady', (client) => sessionOf(client)?.gate.open());
  aedes.on('keepaliveTimeout', (client) => {
    const session = sessionOf(client);
    if (session) session.endedBy ??= 'MQTT_KEEP_ALIVE_TIMEOUT';
  });
  (aedes as NodeJS.EventEmitter).on('error', problem);

  aedes.on('clientError', (client, cause) => {
    const session = sessionOf(client);
    if (session && !('code' in cause)) session.endedBy ??= 'CLIENT_ERROR';
  });
  aedes.on('clientDisconnect', (client) => {
    const session = sessionOf(client);
    if (!session?.announced) return;
    session.announced = false;
    const successor = [...sessions.values()].some((other) => other !== session && other.clientId === session.clientId && other.holder);
    const seen = session.gate.saidGoodbye ? 'CLIENT_INITIATED_DISCONNECT' : successor ? 'DUPLICATE_CLIENTID' : 'CONNECTION_LOST';
    announce(session, 'disconnected', session.endedBy ?? seen);
  });

  function welcome(socket: TLSSocket): void {
    socket.setNoDelay(true);
    const certificate = socket.getPeerX509Certificate();
    const gate = new Gate(socket, limits);
    const session = new Session(
      gate,
      printPeer(socket),
      certificate ? { id: hashCertificate(certificate.raw), ours: socket.authorized } : null,
    );
    sessions.set(gate, session);
    gate.on('error', (cause) => {
      if (cause instanceof PacketTooLarge) refuse(session, 'packet-too-large');
      if (cause instanceof PacketMalformed) refuse(session, 'packet-malformed');
    });
    gate.on('close', () => {
      if (session.expiry) clearTimeout(session.expiry);
      sessions.delete(gate);
    });
    byClient.set(aedes.handle(gate), session);
  }

  const secure = async (): Promise<ServerCertificate> => authority.signServer(hostnames);
  const tls = ({ certificatePem, privateKey }: ServerCertificate) => ({
    key: privateKey,
    cert: certificatePem,
    ca: authority.certificatePem,
    minVersion: 'TLSv1.2' as const,
    secureOptions: constants.SSL_OP_NO_TICKET,
  });
  let identity = await secure();
  const server = createServer(
    {
      ...tls(identity),
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: limits.connectSeconds * 1000,
      highWaterMark: 65_536,
    },
    welcome,
  );
  // Node tells of a handshake that takes too long, and leaves the connection open
  server.on('tlsClientError', (_cause, socket) => socket.destroy());
  const crowd = boundConnections(server, limits.connections, () =>
    hooks.onRefusal({ reason: 'too-many-connections', clientId: null, principal: null, topic: null }),
  );
  server.listen(options.port ?? MQTT_PORT, host);
  await once(server, 'listening').catch(async (error: unknown) => {
    if (options.port !== undefined || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    server.listen(0, host);
    await once(server, 'listening');
  });

  async function renew(): Promise<void> {
    if (identity.expires.getTime() - Date.now() > RENEW_BEFORE) return;
    identity = await secure();
    server.setSecureContext(tls(identity));
  }
  const renewal = setInterval(() => void renew().catch(problem), RENEW_EVERY);
  let sweeping = false;
  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    for (const session of [...sessions.values()]) if (session.announced && isStale(session)) await recheck(session).catch(problem);
    sweeping = false;
  }
  const sweeps = setInterval(() => void sweep(), Math.max(limits.recheckSeconds * 1000, 100));

  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sessions.size,
    disconnect(target) {
      const wanted = [...sessions.values()].filter((session) =>
        'thingName' in target ? session.thingName === target.thingName : session.certificateId === target.certificateId,
      );
      for (const session of wanted) session.end('SERVER_INITIATED_DISCONNECT');
      return wanted.length;
    },
    async refresh(thingName) {
      const live = [...sessions.values()].filter(
        (session) => session.certificateId !== null && (session.holder === null || session.thingName === thingName),
      );
      for (const session of live) session.generation++;
      await Promise.all(live.map(async (session) => (await recheck(session)) && session.end('SERVER_INITIATED_DISCONNECT')));
    },
    async close(graceMs = 5_000) {
      if (!server.listening) return;
      clearInterval(renewal);
      clearInterval(sweeps);
      const closed = once(server, 'close');
      server.close();
      for (const { gate } of sessions.values()) gate.stop();
      const deadline = performance.now() + graceMs;
      while (performance.now() < deadline && [...sessions.values()].some(({ gate }) => gate.busy))
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const session of [...sessions.values()]) session.end('SERVER_INITIATED_DISCONNECT');
      crowd.endOthers();
      await new Promise<void>((resolve) => aedes.close(resolve));
      await closed;
      await Promise.all(presences.values());
    },
  };
}
