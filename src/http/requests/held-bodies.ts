import type { Response } from 'express';
import { errors } from '../../errors.ts';

/** Bytes of each body that nobody counts, so that ordinary requests pass while others send a lot. */
const UNCOUNTED = 65_536;

/**
 * Bounds the bytes of bodies that this process holds at once, as they are once decoded: those of all senders together, and those of one sender to half as many.
 * A body is held from its first byte to the end of its answer. Errors: overloaded (503), callerBusy (429), with Retry-After.
 */
export class HeldBodies {
  readonly #most: number;
  readonly #bySender = new Map<string, number>();
  #held = 0;

  constructor(megabytes: number) {
    this.#most = megabytes * 1_048_576;
  }

  /** Begins a body. The function that is returned is told how long the body is by now, before it grows further. */
  begin(sender: string, response: Response): (length: number) => void {
    let counted = 0;
    response.once('close', () => {
      this.#add(sender, -counted);
      counted = 0;
    });
    return (length) => {
      const more = length - UNCOUNTED - counted;
      // what is read after the sender has left is thrown away at once
      if (more <= 0 || response.closed) return;
      if (this.#held + more > this.#most) throw errors.overloaded().with({ retryAfter: 1 });
      if ((this.#bySender.get(sender) ?? 0) + more > this.#most / 2) throw errors.callerBusy().with({ retryAfter: 1 });
      counted += more;
      this.#add(sender, more);
    };
  }

  #add(sender: string, bytes: number): void {
    this.#held += bytes;
    const left = (this.#bySender.get(sender) ?? 0) + bytes;
    if (left === 0) this.#bySender.delete(sender);
    else this.#bySender.set(sender, left);
  }
}
