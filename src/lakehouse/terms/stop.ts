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
