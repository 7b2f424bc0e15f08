import { retryAfter, UnreachableError } from './problem.ts';

export interface RetrySettings {
  /** Tries of one request at most, the first included. */
  tries: number;
  /** A pause that is asked for and longer is not waited: the refusal is handed on. */
  longestPauseSeconds: number;
}

export const RETRIES: RetrySettings = { tries: 4, longestPauseSeconds: 30 };

export type Send = (request: Request) => Promise<Response>;

const PASSING = new Set([429, 502, 503, 504]);
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
const FIRST_PAUSE_SECONDS = 0.25;

/** True when the request does the same twice as once: by its method, or by the key under which the service keeps the first answer. */
const isRepeatable = (request: Request) => SAFE.has(request.method) || request.headers.has('idempotency-key');

/** Waits. Errors: the reason of the signal. */
export function waitFor(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, seconds * 1_000);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

/**
 * Sends with repeats. A request that may be repeated is sent again when no answer came, or when the answer says that it passes (429, 502, 503,
 * 504, and 409 with `Retry-After`, such as that the first try still runs): after `Retry-After`, else after a pause that doubles and is drawn at random. An UnreachableError of `send` is not tried again. Errors:
 * UnreachableError, and the signal's reason.
 */
export function withRetries(send: Send, { tries, longestPauseSeconds }: RetrySettings): Send {
  return async (request) => {
    for (let tried = 1; ; tried += 1) {
      const isLast = tried >= tries || !isRepeatable(request);
      const usual = Math.random() * FIRST_PAUSE_SECONDS * 2 ** tried;
      try {
        // the body of a request can be read once, so each try sends a copy
        const response = await send(isLast ? request : request.clone());
        const told = PASSING.has(response.status) || response.status === 409 ? retryAfter(response.headers) : null;
        const asked = told ?? (PASSING.has(response.status) ? usual : null);
        if (isLast || asked === null || asked > longestPauseSeconds) return response;
        await response.body?.cancel();
        await waitFor(asked, request.signal);
      } catch (error) {
        request.signal.throwIfAborted();
        if (error instanceof UnreachableError) throw error;
        if (isLast) throw new UnreachableError(error);
        await waitFor(usual, request.signal);
      }
    }
  };
}
