/** Ends work early: when its caller leaves, or when its deadline passes. */
import { errors } from '../../errors.ts';
import type { RunOptions } from './warehouse.ts';

/** Makes the error that says why a statement was stopped. */
export const makeStopError = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new Error('The statement was cancelled.');

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
