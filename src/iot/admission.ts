/** Decides who may connect to the broker, and what each connection may publish, subscribe to and receive. */
import type { PublishPacket } from 'aedes';
import type { BrokerHooks, BrokerLimits, BrokerRefusal } from './connections.ts';
import { printClientArn, printTopicArn, printTopicFilterArn, type ArnPrefix } from './policy.ts';
import { endRefusal, stateRefusal, type Session } from './session.ts';
import { isLevel, parseTopic } from './topics.ts';

const LONGEST_CLIENT_ID = 128;

interface Connect {
  username: string | undefined;
  password: Buffer | undefined;
  will: PublishPacket | undefined;
}

interface Rules {
  arnPrefix: ArnPrefix;
  limits: BrokerLimits;
  sessions: ReadonlySet<Session>;
}

export class Admission {
  readonly #hooks: BrokerHooks;
  readonly #rules: Rules;

  constructor(hooks: BrokerHooks, rules: Rules) {
    this.#hooks = hooks;
    this.#rules = rules;
  }

  /** Tells that something was refused to a connection. */
  refuse(session: Session, reason: BrokerRefusal, topic: string | null = null): void {
    this.#hooks.onRefusal({
      reason,
      clientId: session.clientId || null,
      principal: session.userId ?? session.principal,
      topic: topic && topic.slice(0, 256),
    });
  }

  /** Whether a connection's certificate and policies, or account, have to be looked up again. */
  isStale(session: Session): boolean {
    return performance.now() - session.checkedAt > this.#rules.limits.recheckSeconds * 1000;
  }

  /** Looks the certificate up, and once more whenever a refresh came in between, or the account. Ends the connection when that no longer lives. */
  async recheck(session: Session): Promise<BrokerRefusal | null> {
    if (session.userId !== null) return this.#recheckPerson(session, session.userId);
    if (session.certificateId === null) return null;
    for (;;) {
      const generation = session.generation;
      const device = await this.#hooks.findDevice(session.certificateId);
      if (session.generation !== generation) continue;
      const refusal = device ? stateRefusal[device.status] : await this.#explainUnheld(session.certificateId);
      return this.#settle(session, device && !refusal ? { kind: 'device', certificateId: session.certificateId, device } : null, refusal);
    }
  }

  /** Finds who a connection is and lets it in. Answers why it may not come in, or null. */
  async admit(session: Session, { username, password, will }: Connect): Promise<BrokerRefusal | null> {
    const refusal = await (session.certificate === null ? this.#admitPerson(session, username, password) : this.#admitDevice(session));
    if (refusal) return refusal;
    const isLegal = isLevel(session.clientId) && session.clientId.length <= LONGEST_CLIENT_ID;
    if (!isLegal || !session.may('iot:Connect', printClientArn(this.#rules.arnPrefix, session.clientId))) return 'client-id-not-allowed';
    return will && !this.#mayPublish(session, will.topic) ? 'will-not-allowed' : null;
  }

  maySubscribe(session: Session, filter: string): boolean {
    return session.may('iot:Subscribe', printTopicFilterArn(this.#rules.arnPrefix, filter));
  }

  mayReceive(session: Session, topic: string): boolean {
    return session.may('iot:Receive', printTopicArn(this.#rules.arnPrefix, topic));
  }

  /** Takes a message, and resolves when it is durable. Otherwise throws, which ends the connection. */
  async take(session: Session, packet: PublishPacket): Promise<void> {
    const refused = (reason: BrokerRefusal) => {
      session.endedBy ??= 'FORBIDDEN_ACCESS';
      this.refuse(session, reason, packet.topic);
      return new Error(reason);
    };
    packet.retain = false;
    if (packet.qos === 2) throw refused('quality-of-service-2');
    const topic = parseTopic(packet.topic);
    if (!topic) throw refused('topic-unknown');
    if (this.isStale(session)) await this.recheck(session);
    if (!session.holder || !this.#mayPublish(session, packet.topic)) throw refused('topic-not-allowed');
    const { clientId, userId } = session;
    const payload = Buffer.isBuffer(packet.payload) ? packet.payload : Buffer.from(packet.payload);
    try {
      await this.#hooks.onMessage({ topic, clientId, userId, payload });
    } catch (cause) {
      session.endedBy ??= 'SERVER_ERROR';
      this.#hooks.onProblem(cause);
      throw cause;
    }
  }

  async #admitDevice(session: Session): Promise<BrokerRefusal | null> {
    return session.certificate?.ours ? this.recheck(session) : 'certificate-not-ours';
  }

  async #recheckPerson(session: Session, userId: string): Promise<BrokerRefusal | null> {
    const isOpen = await this.#hooks.hasAccount(userId);
    return this.#settle(session, isOpen ? session.holder : null, isOpen ? null : 'credentials-invalid');
  }

  #settle(session: Session, holder: Session['holder'], refusal: BrokerRefusal | null): BrokerRefusal | null {
    session.holder = holder;
    session.checkedAt = performance.now();
    if (refusal && session.announced) session.end('SERVER_INITIATED_DISCONNECT');
    return refusal;
  }

  async #admitPerson(session: Session, username: string | undefined, password: Buffer | undefined): Promise<BrokerRefusal | null> {
    if (username === undefined || password === undefined) return 'no-credentials';
    const person = this.#hooks.findPerson(username, password.toString('utf8'));
    if (!person) return 'credentials-invalid';
    const others = [...this.#rules.sessions].filter(
      (other) => other.announced && other.userId === person.userId && other.clientId !== session.clientId,
    );
    if (others.length >= this.#rules.limits.connectionsPerPerson) return 'too-many-connections';
    session.holder = { kind: 'person', accessKeyId: username, person };
    session.expiry = setTimeout(() => session.end('SERVER_INITIATED_DISCONNECT'), person.expires.getTime() - Date.now());
    return this.recheck(session);
  }

  async #explainUnheld(certificateId: string): Promise<BrokerRefusal> {
    const end = await this.#hooks.findEnd(certificateId);
    return end === null ? 'certificate-unknown' : endRefusal[end];
  }

  #mayPublish(session: Session, topic: string): boolean {
    return session.may('iot:Publish', printTopicArn(this.#rules.arnPrefix, topic));
  }
}
