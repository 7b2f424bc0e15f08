/** The MQTT broker of one machine: mutual TLS, the same policy documents as AWS, and an acknowledgement only for what is durable. */
import type { TLSSocket } from 'node:tls';
import { Aedes, type AedesPublishPacket, type Client, type PublishPacket, type Subscription } from 'aedes';
import { Admission } from './admission.ts';
import { hashCertificate } from './authority.ts';
import { BROKER_LIMITS, type BrokerHooks, type BrokerLimits } from './connections.ts';
import { printPeer } from './crowd.ts';
import { Gate, PacketMalformed, PacketTooLarge } from './gate.ts';
import { openListener, type ListenerOptions } from './listener.ts';
import type { ArnPrefix } from './policy.ts';
import { Presence } from './presence.ts';
import { Session } from './session.ts';

export interface BrokerOptions extends BrokerHooks, ListenerOptions {
  arnPrefix: ArnPrefix;
  limits?: Partial<BrokerLimits>;
}

export interface Broker {
  readonly port: number;
  /** Looks a thing's live connections up again: ends those whose certificate no longer lives, and applies changed policies to the others. */
  refresh(thingName: string): Promise<void>;
  connections(): number;
  /** Takes no more messages in, waits at most `graceMs` until those in flight are durable, then ends. */
  close(graceMs?: number): Promise<void>;
}

const CONNECT_REFUSED = 5;
const CONNECT_UNAVAILABLE = 3;

const connectError = (returnCode: number, message: string) => Object.assign(new Error(message), { returnCode });

interface MqttHooks {
  find: (client: Client | null) => Session | undefined;
  admission: Admission;
  limits: BrokerLimits;
  onConnected: (session: Session) => void;
  onDisconnected: (session: Session) => void;
  onProblem: (cause: unknown) => void;
}

/** Makes the server of MQTT, which asks the admission of each connection and message. */
function makeMqtt({ find, admission, limits, onConnected, onDisconnected, onProblem }: MqttHooks): Aedes {
  const wills = new WeakMap<Client, PublishPacket>();
  const aedes = new Aedes({
    connectTimeout: limits.connectSeconds * 1000,
    drainTimeout: limits.drainSeconds * 1000,
    maxTopicLevels: 10,
    preConnect(client, packet, done) {
      const session = find(client);
      if (!session) return done(new Error('no such connection'), false);
      session.clientId = packet.clientId;
      session.onEnd(() => client.close());
      if (packet.will) wills.set(client, { ...packet.will, cmd: 'publish', dup: false } as PublishPacket);
      // a session that outlives its connection would keep every filter that was ever asked for, refused ones too
      packet.clean = true;
      const asked = packet.keepalive ?? 0;
      packet.keepalive = asked === 0 ? limits.keepaliveSeconds : Math.min(asked, limits.keepaliveSeconds);
      done(null, true);
    },
    authenticate(client, username, password, done) {
      const session = find(client);
      if (!session) return done(connectError(CONNECT_REFUSED, 'no such connection'), false);
      admission.admit(session, { username, password, will: wills.get(client) }).then(
        (refusal) => {
          if (!refusal && session.endedBy === null) return done(null, true);
          if (refusal) admission.refuse(session, refusal);
          done(connectError(CONNECT_REFUSED, refusal ?? 'ended'), false);
        },
        (cause: unknown) => {
          onProblem(cause);
          done(connectError(CONNECT_UNAVAILABLE, 'unavailable'), false);
        },
      );
    },
    authorizePublish(client, packet, done) {
      const session = find(client);
      if (!session) return done(new Error('not a client'));
      const length = packet.length;
      admission
        .take(session, packet)
        .then(
          () => done(null),
          (cause: unknown) => done(cause as Error),
        )
        .finally(() => length !== undefined && session.gate.settle(length));
    },
    authorizeSubscribe(client, subscription: Subscription, done) {
      const session = find(client);
      if (!session || session.endedBy !== null) return done(null, null);
      const held = Object.keys((client as Client & { subscriptions: object }).subscriptions).length;
      if (held < limits.subscriptions && admission.maySubscribe(session, subscription.topic)) return done(null, subscription);
      admission.refuse(session, 'filter-not-allowed', subscription.topic);
      session.refusedFilters++;
      if (session.refusedFilters < limits.subscriptions) return done(null, null);
      // one packet may ask for 22,000, each of which is a line of the log
      session.endedBy = 'FORBIDDEN_ACCESS';
      done(new Error('filter-not-allowed'), null);
    },
    authorizeForward: (client, packet: AedesPublishPacket) => {
      const session = find(client);
      return session && admission.mayReceive(session, packet.topic) ? packet : null;
    },
  });
  aedes.on('client', (client) => {
    const session = find(client);
    if (!session) return;
    session.announced = true;
    onConnected(session);
  });
  aedes.on('clientReady', (client) => find(client)?.gate.open());
  aedes.on('keepaliveTimeout', (client) => {
    const session = find(client);
    if (session) session.endedBy ??= 'MQTT_KEEP_ALIVE_TIMEOUT';
  });
  aedes.on('clientError', (client, cause) => {
    const session = find(client);
    if (session && !('code' in cause)) session.endedBy ??= 'CLIENT_ERROR';
  });
  aedes.on('clientDisconnect', (client) => {
    const session = find(client);
    if (!session?.announced) return;
    session.announced = false;
    onDisconnected(session);
  });
  (aedes as NodeJS.EventEmitter).on('error', onProblem);
  return aedes;
}

/** Starts a broker, which listens once the promise resolves. People and devices may do what the documents from the hooks allow, and nothing else. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const hooks: BrokerHooks = options;
  const onProblem = (cause: unknown) => hooks.onProblem(cause);
  const limits: BrokerLimits = { ...BROKER_LIMITS, ...options.limits };
  const sessions = new Set<Session>();
  const byClient = new WeakMap<Client, Session>();
  const find = (client: Client | null) => (client ? byClient.get(client) : undefined);
  const admission = new Admission(hooks, { arnPrefix: options.arnPrefix, limits, sessions });
  const presence = new Presence(hooks);
  const aedes = makeMqtt({
    find,
    admission,
    limits,
    onConnected: (session) => {
      listener.crowd.admit(session.peer);
      presence.announce(session, 'connected', null);
    },
    onDisconnected: (session) => {
      const successor = [...sessions].some((other) => other !== session && other.clientId === session.clientId && other.holder);
      const seen = session.gate.saidGoodbye ? 'CLIENT_INITIATED_DISCONNECT' : successor ? 'DUPLICATE_CLIENTID' : 'CONNECTION_LOST';
      presence.announce(session, 'disconnected', session.endedBy ?? seen);
    },
    onProblem,
  });
  await aedes.listen();

  function welcome(socket: TLSSocket): void {
    socket.setNoDelay(true);
    const certificate = socket.getPeerX509Certificate();
    const gate = new Gate(socket, limits);
    const session = new Session(
      gate,
      printPeer(socket),
      certificate ? { id: hashCertificate(certificate.raw), ours: socket.authorized } : null,
    );
    sessions.add(session);
    gate.on('error', (cause) => {
      if (cause instanceof PacketTooLarge) admission.refuse(session, 'packet-too-large');
      if (cause instanceof PacketMalformed) admission.refuse(session, 'packet-malformed');
    });
    gate.on('close', () => {
      if (session.expiry) clearTimeout(session.expiry);
      sessions.delete(session);
    });
    byClient.set(aedes.handle(gate), session);
  }

  const listener = await openListener(options, limits, {
    onSocket: welcome,
    onCrowd: () => hooks.onRefusal({ reason: 'too-many-connections', clientId: null, principal: null, topic: null }),
    onProblem,
  });

  let sweeping = false;
  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    for (const session of [...sessions])
      if (session.announced && admission.isStale(session)) await admission.recheck(session).catch(onProblem);
    sweeping = false;
  }
  const sweeps = setInterval(() => void sweep(), Math.max(limits.recheckSeconds * 1000, 100));

  return {
    port: listener.port,
    connections: () => sessions.size,
    async refresh(thingName) {
      const live = [...sessions].filter(
        (session) => session.certificateId !== null && (session.holder === null || session.thingName === thingName),
      );
      for (const session of live) session.generation++;
      await Promise.all(live.map(async (session) => (await admission.recheck(session)) && session.end('SERVER_INITIATED_DISCONNECT')));
    },
    async close(graceMs = 5_000) {
      if (!listener.isListening) return;
      clearInterval(sweeps);
      const closed = listener.close();
      for (const { gate } of sessions) gate.stop();
      const deadline = performance.now() + graceMs;
      while (performance.now() < deadline && [...sessions].some(({ gate }) => gate.busy))
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const session of [...sessions]) session.end('SERVER_INITIATED_DISCONNECT');
      listener.crowd.endOthers();
      await new Promise<void>((resolve) => aedes.close(resolve));
      await closed;
      await presence.settle();
    },
  };
}
