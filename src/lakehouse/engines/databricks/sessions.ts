/**
 * Keeps the sessions of one SQL warehouse. A session is opened when it is needed, serves one statement at a time, and is closed when it was idle or is in
 * doubt.
 */
import type { DBSQLClient } from '@databricks/sql';
import { errors } from '../../../errors.ts';
import { awaitOrAbort, waitInLine, type Waiter } from '../../../waiting.ts';

export type Session = Awaited<ReturnType<DBSQLClient['openSession']>>;
export type OpenSession = () => Promise<Session>;

/** A session that one statement uses. The user must call either `release` or `discard`, once. */
export interface Lease {
  session: Session;
  /** True when the session was opened for an earlier statement. It may have died since. */
  reused: boolean;
  /**
   * Gives the session back. `cancelled` says that its statement was cancelled; the server keeps the handle of such a statement as long as the session lives.
   */
  release(cancelled?: boolean): void;
  /** Closes the session, which ends whatever still runs in it. */
  discard(): Promise<void>;
}

interface Idle {
  session: Session;
  since: number;
  cancelled: number;
  /** How often sessions had been forgotten when this one was opened. */
  era: number;
}

const MOST_CANCELLED = 50;

export class DatabricksSessions {
  #inUse = 0;
  #closed = false;
  #era = 0;
  #idle: Idle[] = [];
  readonly #waiting: Waiter<undefined>[] = [];
  readonly #ending = new Set<Promise<unknown>>();
  readonly #open: OpenSession;
  readonly #most: number;
  readonly #idleMs: number;

  constructor(open: OpenSession, { most, idleMs }: { most: number; idleMs: number }) {
    this.#open = open;
    this.#most = most;
    this.#idleMs = idleMs;
  }

  /** The number of leases in use: of statements that run, and of those whose end the server has not confirmed yet. */
  get inUse(): number {
    return this.#inUse;
  }

  /**
   * Waits until fewer than the most statements run, then takes or opens a session. Throws the signal's reason, `errors.shuttingDown`, or an error of the
   * opening.
   */
  async acquire(signal: AbortSignal): Promise<Lease> {
    await this.#place(signal);
    const kept = this.#takeIdle();
    if (kept) return this.#lease(kept, true);
    const era = this.#era;
    const opening = this.#open();
    try {
      const session = await awaitOrAbort(opening, signal);
      return this.#lease({ session, since: 0, cancelled: 0, era }, false);
    } catch (error) {
      if (signal.aborted) this.watch(opening.then((session) => this.#end(session)).finally(() => this.#leave()));
      else this.#leave();
      throw error;
    }
  }

  /** Closes every idle session, and those in use when they are given back: when one has died, the others have too. */
  forget(): void {
    this.#era += 1;
    for (const { session } of this.#idle.splice(0)) this.watch(this.#end(session));
  }

  /** Makes `close` wait for work that goes on after its caller has left. */
  watch(work: Promise<unknown>): void {
    const quiet = work.catch(() => undefined).finally(() => this.#ending.delete(quiet));
    this.#ending.add(quiet);
  }

  /** Refuses all who wait or still come, closes idle sessions, and waits for sessions whose statements are ending. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(errors.shuttingDown());
    this.forget();
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  #lease(kept: Idle, reused: boolean): Lease {
    const { session, era } = kept;
    return {
      session,
      reused,
      release: (cancelled = false) => {
        const ended = kept.cancelled + (cancelled ? 1 : 0);
        if (this.#closed || era < this.#era || ended >= MOST_CANCELLED) this.watch(this.#end(session));
        else this.#idle.push({ session, since: performance.now(), cancelled: ended, era });
        this.#leave();
      },
      discard: () => this.#end(session).finally(() => this.#leave()),
    };
  }

  #takeIdle(): Idle | undefined {
    const oldest = performance.now() - this.#idleMs;
    const stale = this.#idle.filter(({ since }) => since < oldest);
    this.#idle = this.#idle.filter(({ since }) => since >= oldest);
    for (const { session } of stale) this.watch(this.#end(session));
    return this.#idle.pop();
  }

  async #end(session: Session): Promise<void> {
    await session.close().catch(() => undefined);
  }

  async #place(signal: AbortSignal): Promise<void> {
    if (this.#closed) throw errors.shuttingDown();
    if (signal.aborted) throw signal.reason as Error;
    if (this.#inUse < this.#most) this.#inUse += 1;
    else await waitInLine(this.#waiting, signal);
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next.go(undefined);
    else this.#inUse -= 1;
  }
}
