import { errors } from '../errors.ts';
import { waitInLine, type Waiter } from '../waiting.ts';

/**
 * Hands out a fixed number of places. Callers who wait take turns, whoever came first, and no caller may have more than `bound` jobs waiting. When all of several
 * places are taken, there is one more for a caller who has none.
 */
export class FairQueue {
  readonly #places: number;
  readonly #bound: number;
  /** The caller of each place that is taken. */
  readonly #taken: string[] = [];
  /** The jobs that wait, by their callers in the order of their next turn. */
  readonly #waiting = new Map<string, Waiter<() => void>[]>();

  constructor(places: number, bound: number) {
    this.#places = places;
    this.#bound = bound;
  }

  /** How many jobs run and wait, for a gauge. */
  get load(): { running: number; waiting: number } {
    return { running: this.#taken.length, waiting: [...this.#waiting.values()].flat().length };
  }

  /** Resolves with the function that gives the place back. Throws `macroQueueFull` (429) at the bound; rejects with the reason of `signal`. */
  async place(caller: string, signal = new AbortController().signal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#hasPlace(caller) && this.#findTurn() === undefined) return this.#take(caller);
    const line = this.#waiting.get(caller) ?? [];
    if (line.length >= this.#bound) throw errors.macroQueueFull(this.#bound).with({ retryAfter: 2 });
    this.#waiting.set(caller, line);
    return waitInLine(line, signal).finally(() => {
      if (line.length === 0 && this.#waiting.get(caller) === line) this.#waiting.delete(caller);
    });
  }

  #hasPlace(caller: string): boolean {
    if (this.#taken.length < this.#places) return true;
    return this.#places > 1 && this.#taken.length === this.#places && !this.#taken.includes(caller);
  }

  /** Who is next of those for whom there is a place. */
  #findTurn(): string | undefined {
    return [...this.#waiting].find(([caller, line]) => line.length > 0 && this.#hasPlace(caller))?.[0];
  }

  #take(caller: string): () => void {
    this.#taken.push(caller);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken.splice(this.#taken.indexOf(caller), 1);
      this.#next();
    };
  }

  #next(): void {
    for (let caller = this.#findTurn(); caller !== undefined; caller = this.#findTurn()) {
      const line = this.#waiting.get(caller) ?? [];
      const job = line.shift();
      this.#waiting.delete(caller);
      if (line.length > 0) this.#waiting.set(caller, line);
      job?.go(this.#take(caller));
    }
  }
}
