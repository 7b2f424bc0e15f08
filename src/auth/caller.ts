import type { Transaction } from '../database/database.ts';

/** Who sent the request. The same for a session and for an API key; only `via` tells. */
export interface Caller {
  userId: string;
  via: { kind: 'key'; keyId: string } | { kind: 'session'; /** Public handle. */ sessionId: string; createdAt: Date };
  requestId: string;
  /** The owning organization of the resource in the path, as the access decision read it. */
  organizationId: string | null;
  /**
   * Ends a creation: keeps its answer for the caller's Idempotency-Key, in the transaction of the change, and returns it.
   * With `secret`, only the sentence that names what was made is kept.
   */
  created<T>(tx: Transaction, answer: T, secret?: { made: string }): Promise<T>;
}
