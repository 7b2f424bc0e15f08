import { errors } from '../../errors.ts';

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

interface Waiter extends Statement {
  start: () => void;
}

const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

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
 * first served. Those who read an organization's data only because they are public, and anybody can be one of them, leave half of its places to the others.
 * Errors: callerBusy (429) when a caller has too many waiting or waits too long for their own share, warehouseBusy (503) when the owner's share
 * is full.
 */
export class FairShares {
  readonly #limits: ShareLimits;
  readonly #byCaller = new Map<string, number>();
  readonly #byOwner = new Map<string, number>();
  readonly #byPublicOwner = new Map<string, number>();
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
    add(this.#inside, caller);
    return makeOnce(() => subtract(this.#inside, caller));
  }

  /** Waits for a share and answers the function that gives it back. A second call of that function does nothing. */
  async acquire(statement: Statement, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const { waiting, waitMs } = this.#limits;
    const { caller } = statement;
    // nobody who waits has room, so whoever has it passes no one whose own share is free
    if (this.#hasRoom(statement)) this.#take(statement);
    else {
      if (this.#queue.filter((waiter) => waiter.caller === caller).length >= waiting)
        throw errors.callerBusy().with({ retryAfter: waitMs / 1000 });
      await new Promise<void>((resolve, reject) => {
        const waiter: Waiter = { ...statement, start: () => settle(resolve) };
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
    return makeOnce(() => this.#give(statement));
  }

  #refusal(caller: string) {
    const own = (this.#byCaller.get(caller) ?? 0) >= this.#limits.perCaller;
    return (own ? errors.callerBusy() : errors.warehouseBusy()).with({ retryAfter: 1 });
  }

  #hasRoom({ caller, owner, isPublic }: Statement): boolean {
    const { perCaller, perOwner } = this.#limits;
    if (isPublic === true && (this.#byPublicOwner.get(owner) ?? 0) >= Math.ceil(perOwner / 2)) return false;
    return (this.#byCaller.get(caller) ?? 0) < perCaller && (this.#byOwner.get(owner) ?? 0) < perOwner;
  }

  #take({ caller, owner, isPublic }: Statement): void {
    add(this.#byCaller, caller);
    add(this.#byOwner, owner);
    if (isPublic === true) add(this.#byPublicOwner, owner);
  }

  #give({ caller, owner, isPublic }: Statement): void {
    subtract(this.#byCaller, caller);
    subtract(this.#byOwner, owner);
    if (isPublic === true) subtract(this.#byPublicOwner, owner);
    for (const waiter of [...this.#queue])
      if (this.#hasRoom(waiter)) {
        this.#take(waiter);
        waiter.start();
      }
  }
}
