import { createHash } from 'node:crypto';
import { errors } from '../errors.ts';
import { refuseTooLarge, type PutOptions, type Stored } from './objects.ts';

/**
 * Counts and hashes a body as it passes. Ends it with an error at the first byte beyond a limit or the announced length, or at the end when its length or hash
 * is not as announced.
 */
export class Meter {
  #hash = createHash('sha256');
  #bytes = 0;
  readonly #options: PutOptions;

  constructor(options: PutOptions) {
    this.#options = options;
  }

  async *pass(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { maxBytes, contentLength, sha256, signal } = this.#options;
    for await (const chunk of body) {
      signal?.throwIfAborted();
      this.#bytes += chunk.byteLength;
      if (maxBytes !== undefined && this.#bytes > maxBytes) throw refuseTooLarge(maxBytes);
      if (contentLength !== undefined && this.#bytes > contentLength) throw errors.objectMismatch('length');
      this.#hash.update(chunk);
      yield chunk;
    }
    if (contentLength !== undefined && this.#bytes !== contentLength) throw errors.objectMismatch('length');
    if (sha256 !== undefined && this.stored.sha256 !== sha256) throw errors.objectMismatch('SHA-256');
  }

  get stored(): Stored {
    return { byteCount: this.#bytes, sha256: this.#hash.copy().digest('hex') };
  }
}
