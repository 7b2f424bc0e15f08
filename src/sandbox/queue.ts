import { errors } from '../errors.ts';

interface Waiting {
  start: () => void;
}

/** Hands out a fixed number of places. Callers who wait take turns, whoever came first, and no caller may have more than `bound` jobs waiting. */
export class FairQueue {
  readonly #places: number;
  readonly #bound: number;
  #taken = 0;
  /** Callers in the order of their next turn. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(places: number, bound: number) {
    this.#places = places;
    this.#bound = bound;
  }

  /** How many jobs run and wait, for a gauge. */
  get load(): { running: number; waiting: number } {
    let waiting = 0;
    for (const jobs of this.#waiting.values()) waiting += jobs.length;
    return { running: this.#taken, waiting };
  }

  /** Resolves with the function that gives the place back. Throws `macroQueueFull` (429) at the bound; rejects with the reason of `signal`. */
  async place(caller: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#taken < this.#places && this.#waiting.size === 0) return this.#take();
    const mine = this.#waiting.get(caller) ?? [];
    if (mine.length >= this.#bound) throw errors.macroQueueFull(this.#bound).with({ retryAfter: 2 });
    this.#waiting.set(caller, mine);
    return new Promise((resolve, reject) => {
      const leave = () => {
        const jobs = this.#waiting.get(caller)?.filter((job) => job !== entry) ?? [];
        if (jobs.length === 0) this.#waiting.delete(caller);
        else this.#waiting.set(caller, jobs);
        reject(signal?.reason as Error);
      };
      const entry: Waiting = {
        start: () => {
          signal?.removeEventListener('abort', leave);
          resolve(this.#take());
        },
      };
      mine.push(entry);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  #take(): () => void {
    this.#taken += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken -= 1;
      this.#next();
    };
  }

  #next(): void {
    const turn = this.#waiting.entries().next();
    if (turn.done) return;
    const [caller, jobs] = turn.value;
    const job = jobs.shift();
    this.#waiting.delete(caller);
    if (jobs.length > 0) this.#waiting.set(caller, jobs);
    job?.start();
  }
}
