import { errors } from '../../errors.ts';
import { Tally } from '../../tally.ts';

interface ShareLimits {
  /** How many statements of one caller may run at once. */
  perCaller: number;
  /** How many statements on data of one owning organization may run at once; half of them for those who read only what everybody may. */
  perOwner: number;
  /** How many statements of one caller may wait. */
  waiting: number;
  /** How many milliseconds a statement may wait. */
  waitMs: number;
}

/** Whose statement runs, and on whose data. */
export interface Statement {
  caller: string;
  owner: string;
  /** Whether the caller reads only what everybody may. */
  isPublic?: boolean;
}

/**
 * Shares the engine of this process fairly, so that nobody's statements crowd out another's. Among statements whose own share is free, the first come is the
 * first served. Those who read an organization's data only because they are public, and anybody can be one of them, leave half of its places to the others.
 * Errors: callerBusy (429) when a caller has too many waiting or waits too long for their own share, warehouseBusy (503) when the owner's share
 * is full.
 */
export class FairShares {
  readonly #limits: ShareLimits;
  readonly #byCaller = new Tally();
  readonly #byOwner = new Tally();
  readonly #byPublicOwner = new Tally();
  readonly #inside = new Tally();
  #queue: (Statement & { start: () => void })[] = [];

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /**
   * Takes a place for a request, of which only the caller is known yet. A caller has as many places as statements of theirs may run and wait. The returned
   * function gives the place back; a second call of it does nothing. Throws callerBusy (429) when no place is free, so that a request that would be refused
   * anyway costs nothing.
   */
  enter(caller: string): () => void {
    const { perCaller, waiting, waitMs } = this.#limits;
    if (this.#inside.of(caller) >= perCaller + waiting) throw errors.callerBusy().with({ retryAfter: waitMs / 1000 });
    return this.#inside.hold(caller);
  }

  /** Waits for a share and answers the function that gives it back. A second call of that function does nothing. */
  async acquire(statement: Statement, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const { waiting, waitMs } = this.#limits;
    const { caller } = statement;
    // nobody who waits has room, so whoever has it passes no one whose own share is free
    if (this.#hasRoom(statement)) return this.#take(statement);
    if (this.#queue.filter((waiter) => waiter.caller === caller).length >= waiting)
      throw errors.callerBusy().with({ retryAfter: waitMs / 1000 });
    return new Promise((resolve, reject) => {
      const waiter = { ...statement, start: () => settle(() => resolve(this.#take(statement))) };
      const timer = setTimeout(() => settle(() => reject(this.#refusal(caller))), waitMs);
      const leave = () => settle(() => reject(signal?.reason instanceof Error ? signal.reason : new Error('the caller went away')));
      const settle = (then: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        this.#queue = this.#queue.filter((other) => other !== waiter);
        then();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#queue.push(waiter);
    });
  }

  #refusal(caller: string) {
    const own = this.#byCaller.of(caller) >= this.#limits.perCaller;
    return (own ? errors.callerBusy() : errors.warehouseBusy()).with({ retryAfter: 1 });
  }

  #hasRoom({ caller, owner, isPublic }: Statement): boolean {
    const { perCaller, perOwner } = this.#limits;
    if (isPublic === true && this.#byPublicOwner.of(owner) >= Math.ceil(perOwner / 2)) return false;
    return this.#byCaller.of(caller) < perCaller && this.#byOwner.of(owner) < perOwner;
  }

  #take({ caller, owner, isPublic }: Statement): () => void {
    const shares = [
      this.#byCaller.hold(caller),
      this.#byOwner.hold(owner),
      ...(isPublic === true ? [this.#byPublicOwner.hold(owner)] : []),
    ];
    return () => {
      for (const giveBack of shares) giveBack();
      for (const waiter of [...this.#queue]) if (this.#hasRoom(waiter)) waiter.start();
    };
  }
}
