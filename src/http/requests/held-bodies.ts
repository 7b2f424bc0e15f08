import type { Response } from 'express';
import { errors } from '../../errors.ts';
import { Tally } from '../../tally.ts';

/** Bytes of each body that nobody counts, so that ordinary requests pass while others send a lot. */
const UNCOUNTED = 65_536;

/**
 * Bounds the bytes of bodies that this process holds at once, as they are once decoded: those of all senders together, and those of one sender to half as many.
 * A body is held from its first byte to the end of its answer. Errors: overloaded (503), callerBusy (429), with Retry-After.
 */
export class HeldBodies {
  readonly #most: number;
  /** Bytes that are held, by sender. */
  readonly #held = new Tally();

  constructor(megabytes: number) {
    this.#most = megabytes * 1_048_576;
  }

  /** Begins a body. The function that is returned is told how long the body is by now, before it grows further. */
  begin(sender: string, response: Response): (length: number) => void {
    let counted = 0;
    response.once('close', () => {
      this.#held.add(sender, -counted);
      counted = 0;
    });
    return (length) => {
      const more = length - UNCOUNTED - counted;
      // what is read after the sender has left is thrown away at once
      if (more <= 0 || response.closed) return;
      if (this.#held.total + more > this.#most) throw errors.overloaded().with({ retryAfter: 1 });
      if (this.#held.of(sender) + more > this.#most / 2) throw errors.callerBusy().with({ retryAfter: 1 });
      counted += more;
      this.#held.add(sender, more);
    };
  }
}
