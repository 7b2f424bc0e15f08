/** Waits for work or for one's turn, and no longer than the caller stays. */
import { setImmediate } from 'node:timers/promises';

/** Settles as `work` does, or rejects with the signal's reason when that comes first. `work` then goes on, and the caller must see to its end. */
export const awaitOrAbort = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });

/** Somebody who waits in a line. Whoever calls either function has taken them out of it. */
export interface Waiter<T> {
  go: (given: T) => void;
  refuse: (error: Error) => void;
}

/** Waits at the end of a line for what `go` gives. Leaves the line, and rejects with the signal's reason, when that comes first. */
export const waitInLine = <T>(line: Waiter<T>[], signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const leave = () => {
      line.splice(line.indexOf(waiter), 1);
      reject(signal.reason as Error);
    };
    const settle =
      <A>(then: (answer: A) => void) =>
      (answer: A) => {
        signal.removeEventListener('abort', leave);
        then(answer);
      };
    const waiter: Waiter<T> = { go: settle<T>(resolve), refuse: settle<Error>(reject) };
    signal.addEventListener('abort', leave, { once: true });
    line.push(waiter);
  });

/** Lets so many pieces of work run at a time, first come first served. Whoever leaves before their turn gives up their place at once. */
export class Turns {
  readonly #line: Waiter<undefined>[] = [];
  #free: number;

  constructor(places = 1) {
    this.#free = places;
  }

  async take<T>(work: () => Promise<T>, signal: AbortSignal = new AbortController().signal): Promise<T> {
    signal.throwIfAborted();
    if (this.#free === 0) await waitInLine(this.#line, signal);
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next) next.go(undefined);
      else this.#free += 1;
    }
  }
}

/** Runs `work` for every item, so many at once, and answers in the order of the items. Once one has failed, no other is begun. */
export async function runEach<T, R>(items: readonly T[], atOnce: number, work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  let isFailed = false;
  const take = async () => {
    for (const [index, item] of left) {
      if (isFailed) return;
      try {
        results[index] = await work(item, index);
      } catch (error) {
        isFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  return results;
}

/** Milliseconds of work after which others have their turn. */
const TURN_MS = 10;

/** Makes something of each item in turn, and lets others have theirs in between when that takes long. */
export async function makeInTurns<T, R>(items: readonly T[], make: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  let since = performance.now();
  for (const item of items) {
    made.push(make(item));
    if (performance.now() - since < TURN_MS) continue;
    await setImmediate();
    since = performance.now();
  }
  return made;
}
