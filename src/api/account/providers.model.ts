/** An account at a sign-in provider that is joined to yours. */
export interface LinkedAccount {
  id: string;
  /** `github` or `orcid`. */
  providerId: string;
  /** Your id at the provider. */
  accountId: string;
  userId: string;
  scopes: string[];
  createdAt: Date;
  updatedAt: Date;
}

interface Destinations {
  /**
   * Where to go afterwards: a path of ours or a URL on a trusted origin. Default: your account page.
   * @maxLength 2048
   */
  callbackURL?: string;
  /**
   * Where to go when it fails, with `?error=`. Default: a page of ours that says why.
   * @maxLength 2048
   */
  errorCallbackURL?: string;
  /**
   * Where to go when this made a new account. Default: `callbackURL`.
   * @maxLength 2048
   */
  newUserCallbackURL?: string;
  /** Whether the client stays where it is; the answer says `redirect: false`. */
  disableRedirect?: boolean;
}

export interface SocialSignIn extends Destinations {
  /** `github` (or `orcid`). */
  provider: string;
}

export interface OAuthSignIn extends Destinations {
  /** `orcid` (or `github`). */
  providerId: string;
}

export interface ProviderRedirect {
  /** Where to send the person. */
  url: string;
  redirect: boolean;
}

export interface UnlinkAccount {
  /** `github` or `orcid`. */
  providerId: string;
  /** @maxLength 255 */
  accountId?: string;
}
