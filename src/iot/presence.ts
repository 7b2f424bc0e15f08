/** Tells when clients connect and leave. The events of one client id are told one after the other. */
import type { BrokerHooks, DisconnectReason } from './connections.ts';
import type { Session } from './session.ts';

export class Presence {
  readonly #hooks: BrokerHooks;
  /** The last event of each client id, while it is being told. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(hooks: BrokerHooks) {
    this.#hooks = hooks;
  }

  announce(session: Session, eventType: 'connected' | 'disconnected', disconnectReason: DisconnectReason | null): void {
    const { clientId, thingName, userId, id: sessionIdentifier } = session;
    const event = { eventType, clientId, thingName, userId, sessionIdentifier, timestamp: new Date(), disconnectReason };
    const told = (this.#last.get(clientId) ?? Promise.resolve())
      .then(async () => this.#hooks.onPresence(event))
      .catch((cause: unknown) => this.#hooks.onProblem(cause));
    this.#last.set(clientId, told);
    void told.then(() => this.#last.get(clientId) === told && this.#last.delete(clientId));
  }

  async settle(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
