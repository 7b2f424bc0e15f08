import { errors } from '../../errors.ts';

interface ShareLimits {
  /** How many statements of one caller may run at once. */
  perCaller: number;
  /** How many statements on data of one owning organization may run at once. */
  perOwner: number;
  /** How many statements of one caller may wait. */
  waiting: number;
  /** How many milliseconds a statement may wait. */
  waitMs: number;
}

interface Waiter {
  caller: string;
  owner: string;
  start: () => void;
}

const subtract = (counts: Map<string, number>, key: string) => {
  const left = (counts.get(key) ?? 1) - 1;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
};

/** Makes a function that does something at its first call only. */
const makeOnce = (act: () => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
};

/**
 * Shares the engine of this process fairly, so that nobody's statements crowd out another's. Among statements whose own share is free, the first come is the
 * first served. Errors: callerBusy (429) when a caller has too many waiting or waits too long for their own share, warehouseBusy (503) when the owner's share
 * is full.
 */
export class FairShares {
  readonly #limits: ShareLimits;
  readonly #byCaller = new Map<string, number>();
  readonly #byOwner = new Map<string, number>();
  readonly #inside = new Map<string, number>();
  #queue: Waiter[] = [];

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
    if ((this.#inside.get(caller) ?? 0) >= perCaller + waiting) throw errors.callerBusy().with({ retryAfter: waitMs / 1000 });
    this.#inside.set(caller, (this.#inside.get(caller) ?? 0) + 1);
    return makeOnce(() => subtract(this.#inside, caller));
  }

  /** Waits for a share and answers the function that gives it back. A second call of that function does nothing. */
  async acquire(caller: string, owner: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const { waiting, waitMs } = this.#limits;
    // nobody who waits has room, so whoever has it passes no one whose own share is free
    if (this.#hasRoom(caller, owner)) this.#take(caller, owner);
    else {
      if (this.#queue.filter((waiter) => waiter.caller === caller).length >= waiting)
        throw errors.callerBusy().with({ retryAfter: waitMs / 1000 });
      await new Promise<void>((resolve, reject) => {
        const waiter: Waiter = { caller, owner, start: () => settle(resolve) };
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
    return makeOnce(() => this.#give(caller, owner));
  }

  #refusal(caller: string) {
    const own = (this.#byCaller.get(caller) ?? 0) >= this.#limits.perCaller;
    return (own ? errors.callerBusy() : errors.warehouseBusy()).with({ retryAfter: 1 });
  }

  #hasRoom(caller: string, owner: string): boolean {
    return (this.#byCaller.get(caller) ?? 0) < this.#limits.perCaller && (this.#byOwner.get(owner) ?? 0) < this.#limits.perOwner;
  }

  #take(caller: string, owner: string): void {
    this.#byCaller.set(caller, (this.#byCaller.get(caller) ?? 0) + 1);
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? 0) + 1);
  }

  #give(caller: string, owner: string): void {
    subtract(this.#byCaller, caller);
    subtract(this.#byOwner, owner);
    for (const waiter of [...this.#queue])
      if (this.#hasRoom(waiter.caller, waiter.owner)) {
        this.#take(waiter.caller, waiter.owner);
        waiter.start();
      }
  }
}
