/** Makes an attempt, at most `most` times, until one does not fail with an error that another attempt may not meet. The first is 1. */
export async function retry<T>(most: number, isPassing: (error: unknown) => boolean, attempt: (tries: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(tries);
    } catch (error) {
      if (tries >= most || !isPassing(error)) throw error;
    }
  }
}
