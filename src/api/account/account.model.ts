import type { AccountSession } from '../../auth/sessions.model.ts';

/** An account, as its owner sees it. */
export interface AccountUser {
  /** Person, by their UUID. */
  id: string;
  /** Name of the account; empty when the person has not said. */
  name: string;
  /** Null for an account without an address. */
  email: string | null;
  /** Whether the address was proven. */
  emailVerified: boolean;
  image: string | null;
  /** Whether the person has filled in a profile. */
  registered: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** Who is signed in, and by which session. */
export interface CurrentSession {
  /** The session. */
  session: AccountSession;
  /** Its account. */
  user: AccountUser;
}

/** Who has signed in. */
export interface SignInResult {
  /** Public handle of the new session; the session itself is in the cookie. */
  token: string;
  /** The account that is signed in. */
  user: AccountUser;
}

/** Where a code is sent. */
export interface SendCode {
  /**
   * Address that the code is sent to, at most 320 characters.
   * @maxLength 320
   */
  email: string;
  /** What the code is for; always `sign-in`. */
  type: 'sign-in';
}

/** A code, and whose it is. */
export interface SignInByCode {
  /**
   * Address that the code was sent to, at most 320 characters.
   * @maxLength 320
   */
  email: string;
  /**
   * The six digits of the newest letter.
   * @maxLength 32
   */
  otp: string;
  /**
   * Name of the account, where this sign-in makes one; at most 200 characters. Blanks take the place of control characters and invisible direction marks.
   * @maxLength 200
   */
  name?: string;
}

/** A link that the start of the service printed. */
export interface SignInByLink {
  /**
   * What stands behind `#` in the link: 43 characters.
   * @minLength 43
   * @maxLength 43
   */
  token: string;
}

/** A sign-in by a link, and where the link leads. */
export interface LinkSignInResult extends SignInResult {
  /** The path that the link leads to. */
  target: string;
}

/** Which session ends. */
export interface RevokeSession {
  /**
   * `token` of a session of yours, as the list gives it; at most 100 characters.
   * @maxLength 100
   */
  token: string;
}

/** Changes of your account. */
export interface AccountUpdate {
  /**
   * Name of the account, at most 200 characters.
   * @maxLength 200
   * @format name
   */
  name?: string;
  /**
   * Web address (https) of a picture, at most 500 characters; null takes it away.
   * @maxLength 500
   * @pattern ^https://
   */
  image?: string | null;
  /** Not possible here: an address must be proven first. */
  email?: string;
}

/** That it was done. */
export interface Succeeded {
  success: boolean;
}

/** That signing in works. */
export interface LayerAnswers {
  /** Always true. */
  ok: boolean;
}

/** That it was done. */
export interface StatusDone {
  /** Always true. */
  status: boolean;
}
