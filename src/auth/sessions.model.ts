/** A session. Its id and token are the same public handle: they name it and open nothing. */
export interface AccountSession {
  /** Public handle of the session; the same as `token`. */
  id: string;
  /** Public handle that `revoke-session` takes. */
  token: string;
  /** Person whose session it is, by their UUID. */
  userId: string;
  /** When it ends by itself, in UTC. */
  expiresAt: Date;
  createdAt: Date;
  updatedAt: Date;
  /** Network address that it was begun from; null when that is not known. */
  ipAddress: string | null;
  /** Browser that it was begun in, as it names itself; null when it did not. */
  userAgent: string | null;
}
