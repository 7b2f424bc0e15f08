/** What the broker is told and what it tells: principals, messages, presence, refusals, limits. */
import type { PersonalSession } from './credentials.ts';
import type { PolicyDocument } from './evaluator.ts';
import type { GateLimits } from './gate.ts';
import type { CertificateEnd, CertificateStatus } from './registry.ts';
import type { Topic } from './topics.ts';

/** The holder of a certificate, as the registry knows it now. */
export interface DevicePrincipal {
  thingName: string;
  status: CertificateStatus;
  policies: readonly PolicyDocument[];
}

export interface BrokerMessage {
  topic: Topic;
  /** Client id of the connection; for a device the name of its thing. */
  clientId: string;
  /** The person; null for a device. */
  userId: string | null;
  payload: Buffer;
}

/** AWS IoT's words for why a connection ended, as far as they apply. */
export type DisconnectReason =
  | 'AUTH_ERROR'
  | 'CLIENT_ERROR'
  | 'CLIENT_INITIATED_DISCONNECT'
  | 'CONNECTION_LOST'
  | 'DUPLICATE_CLIENTID'
  | 'FORBIDDEN_ACCESS'
  | 'MQTT_KEEP_ALIVE_TIMEOUT'
  | 'SERVER_ERROR'
  | 'SERVER_INITIATED_DISCONNECT';

export interface PresenceEvent {
  eventType: 'connected' | 'disconnected';
  clientId: string;
  thingName: string | null;
  userId: string | null;
  /** The same for both events of one connection. */
  sessionIdentifier: string;
  timestamp: Date;
  disconnectReason: DisconnectReason | null;
}

export type BrokerRefusal =
  | 'certificate-not-ours'
  | 'certificate-unknown'
  | 'certificate-inactive'
  | 'certificate-revoked'
  | 'certificate-rotated'
  | 'certificate-removed'
  | 'no-credentials'
  | 'credentials-invalid'
  | 'client-id-not-allowed'
  | 'will-not-allowed'
  | 'too-many-connections'
  | 'topic-unknown'
  | 'topic-not-allowed'
  | 'packet-too-large'
  | 'packet-malformed'
  | 'quality-of-service-2'
  | 'filter-not-allowed';

export interface RefusalEvent {
  reason: BrokerRefusal;
  clientId: string | null;
  /** Certificate id or user id, if one was shown. */
  principal: string | null;
  /** Topic or filter, at most 256 characters. */
  topic: string | null;
}

export interface BrokerLimits extends GateLimits {
  /** Connections at a time, over all clients. */
  connections: number;
  /** Connections at a time with one person's temporary credentials. */
  connectionsPerPerson: number;
  /** Subscriptions of one connection. */
  subscriptions: number;
  /** Seconds for the TLS handshake and again for CONNECT. */
  connectSeconds: number;
  /** Longest keepalive, seconds; a client that asks for more, or for none, gets this. */
  keepaliveSeconds: number;
  /** A client that takes nothing for so many seconds is cut off. */
  drainSeconds: number;
  /** Seconds after which a live connection's certificate and policies, or account, are looked up again: a change made elsewhere may take effect that late. */
  recheckSeconds: number;
}

export const BROKER_LIMITS: BrokerLimits = {
  packetBytes: 132_096,
  inFlight: 64,
  inFlightBytes: 1_048_576,
  connections: 5_000,
  connectionsPerPerson: 20,
  subscriptions: 50,
  connectSeconds: 10,
  keepaliveSeconds: 1_200,
  drainSeconds: 20,
  recheckSeconds: 10,
};

/** The product's half of the broker. */
export interface BrokerHooks {
  /** Who holds a certificate; null: nobody. Asked on connect, on `refresh` and on recheck. */
  findDevice(certificateId: string): Promise<DevicePrincipal | null>;
  /** Why a certificate that nobody holds ended; null: it was never known. */
  findEnd(certificateId: string): Promise<CertificateEnd | null>;
  findPerson(accessKeyId: string, sessionToken: string): PersonalSession | null;
  /** Whether a person has an account still. Asked on connect and on recheck. */
  hasAccount(userId: string): Promise<boolean>;
  /** Makes a message durable. PUBACK goes out when the promise resolves; when it rejects, the connection ends without one, and the device sends again. */
  onMessage(message: BrokerMessage): Promise<void>;
  /** Called in order for each client id. */
  onPresence(event: PresenceEvent): Promise<void>;
  onRefusal(refusal: RefusalEvent): void;
  /** A failure of a hook or of the broker itself; for the log. */
  onProblem(cause: unknown): void;
}
