import type { Transaction } from '../database/database.ts';

export { isStillGood } from './caller.queries.ts';

/** Who sent the request. Callers by session and callers by API key differ only in `via`. */
export interface Caller {
  userId: string;
  via: { kind: 'key'; keyId: string } | { kind: 'session'; /** Public handle. */ sessionId: string; createdAt: Date };
  requestId: string;
  /** The owning organization of the resource in the path, as the access decision read it. */
  organizationId: string | null;
  /**
   * Keeps the answer to a creation for the caller's Idempotency-Key, in the transaction of the change, and returns it. With `secret`, only the sentence
   * `secret.made`, which names what was made, is kept.
   */
  created<T>(tx: Transaction, answer: T, secret?: { made: string }): Promise<T>;
}

/** Who does something, as the audit names them. */
export type Actor = Pick<Caller, 'userId' | 'requestId'>;

/** The Idempotency-Key of a call whose body is still to come. */
export interface HeldKey {
  /** Whether an earlier call was answered: this one must do nothing but tell its fingerprint. */
  isRepeat: boolean;
  /** Keeps the key while the body comes. */
  prolong: () => Promise<unknown>;
  /** Says what has come. Throws the answer of the earlier call where this one is a repeat. */
  tell: (fingerprint: Buffer) => void;
}
