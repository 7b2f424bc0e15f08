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
