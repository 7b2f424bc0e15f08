/** How many of something each holder has, and all together. A holder of none is forgotten. */
export class Tally {
  readonly #held = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(holder: string): number {
    return this.#held.get(holder) ?? 0;
  }

  /** Gives a holder so many more; fewer, where `many` is below zero. */
  add(holder: string, many: number): void {
    this.#total += many;
    const left = this.of(holder) + many;
    if (left === 0) this.#held.delete(holder);
    else this.#held.set(holder, left);
  }

  /** Gives a holder one more, until the returned function is called. A second call of it does nothing. */
  hold(holder: string): () => void {
    let held = 1;
    this.add(holder, held);
    return () => {
      this.add(holder, -held);
      held = 0;
    };
  }
}
