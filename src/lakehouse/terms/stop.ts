/** Ends work early: when its caller leaves, or when its deadline passes. */
import { errors } from '../../errors.ts';
import type { RunOptions } from './warehouse.ts';

/** Makes the error that says why a statement was stopped. */
export const makeStopError = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new Error('The statement was cancelled.');

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
      reject(makeStopError(signal));
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

/** Aborts its signal when the caller's aborts or the deadline passes, with an error that says which. Must be cleared. */
export class Stop {
  readonly signal: AbortSignal;
  readonly clear: () => void;

  constructor({ signal, timeoutMs }: Pick<RunOptions, 'signal' | 'timeoutMs'>, makeLateError: () => Error = errors.warehouseTimeout) {
    const controller = new AbortController();
    const follow = () => controller.abort(signal && makeStopError(signal));
    if (signal?.aborted) follow();
    signal?.addEventListener('abort', follow, { once: true });
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => controller.abort(makeLateError()), timeoutMs);
    this.signal = controller.signal;
    this.clear = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', follow);
    };
  }
}
