/** What is made at its first use and kept. What could not be made is tried again at the next use. */
export class Kept<T> {
  readonly #make: () => Promise<T>;
  #made: Promise<T> | undefined;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** Undefined before the first use. */
  get made(): Promise<T> | undefined {
    return this.#made;
  }

  get(): Promise<T> {
    return (this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    }));
  }
}
