import { setTimeout as sleep } from 'node:timers/promises';

/** Makes attempts, at most `most`, until one succeeds or fails with an error that another attempt would meet too. `tries` counts them from 1. */
export async function retry<T>(most: number, isPassing: (error: unknown) => boolean, attempt: (tries: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(tries);
    } catch (error) {
      if (tries >= most || !isPassing(error)) throw error;
    }
  }
}

/** Makes attempts, a second apart, until one succeeds or the signal is aborted; one in any case. What an attempt fails with is dropped. */
export async function retryUntil(signal: AbortSignal, attempt: () => Promise<unknown>): Promise<void> {
  let isDone = false;
  do {
    isDone = await attempt().then(
      () => true,
      () => false,
    );
    if (!isDone) await sleep(1_000, undefined, { signal }).catch(() => undefined);
  } while (!isDone && !signal.aborted);
}
