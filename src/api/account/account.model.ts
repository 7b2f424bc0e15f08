/** An account, as its owner sees it. */
export interface AccountUser {
  id: string;
  name: string;
  /** Null for an account without an address. */
  email: string | null;
  emailVerified: boolean;
  image: string | null;
  /** Whether the person has filled in a profile. */
  registered: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** A session. Its id and token are the same public handle: they name it and open nothing. */
export interface AccountSession {
  id: string;
  /** Public handle that `revoke-session` takes. */
  token: string;
  userId: string;
  expiresAt: Date;
  createdAt: Date;
  updatedAt: Date;
  ipAddress: string | null;
  userAgent: string | null;
}

export interface CurrentSession {
  session: AccountSession;
  user: AccountUser;
}

export interface SignInResult {
  /** Public handle of the new session; the session itself is in the cookie. */
  token: string;
  user: AccountUser;
}

export interface SendCode {
  /**
   * Where the code is sent to.
   * @maxLength 320
   */
  email: string;
  /** What the code is for. */
  type: 'sign-in';
}

export interface SignInByCode {
  /** @maxLength 320 */
  email: string;
  /**
   * The six digits of the newest letter.
   * @maxLength 32
   */
  otp: string;
  /**
   * Name of the account, where this sign-in makes one.
   * @maxLength 200
   */
  name?: string;
}

export interface RevokeSession {
  /**
   * `token` of a session of yours, as the list gives it.
   * @maxLength 100
   */
  token: string;
}

export interface AccountUpdate {
  /** @maxLength 200 */
  name?: string;
  /**
   * Address of a picture.
   * @maxLength 500
   * @pattern ^https://
   */
  image?: string | null;
  /** Not possible here: an address must be proven first. */
  email?: string;
}

export interface Succeeded {
  success: boolean;
}

export interface LayerAnswers {
  ok: boolean;
}

export interface StatusDone {
  status: boolean;
}
