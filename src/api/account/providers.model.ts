/** An account at a sign-in provider that is joined to yours. */
export interface LinkedAccount {
  /** Names the link. */
  id: string;
  /** `github` or `orcid`. */
  providerId: string;
  /** Your id at the provider. */
  accountId: string;
  /** Person whose account it is, by their UUID. */
  userId: string;
  /** For the common client; always empty. */
  scopes: string[];
  createdAt: Date;
  updatedAt: Date;
}

interface Destinations {
  /**
   * Where to go afterwards: a path of ours or a URL on a trusted origin, at most 2,048 characters. Your account page by default.
   * @maxLength 2048
   */
  callbackURL?: string;
  /**
   * Where to go when it fails, with `?error=`; at most 2,048 characters. By default a page of ours that says why.
   * @maxLength 2048
   */
  errorCallbackURL?: string;
  /**
   * Where to go when this made a new account, at most 2,048 characters; `callbackURL` by default.
   * @maxLength 2048
   */
  newUserCallbackURL?: string;
  /** Whether the client stays where it is; the answer says `redirect: false`. False by default. */
  disableRedirect?: boolean;
}

/** At which provider, and where to go then. */
export interface SocialSignIn extends Destinations {
  /** `github` (or `orcid`). */
  provider: string;
}

/** At which provider, and where to go then. */
export interface OAuthSignIn extends Destinations {
  /** `orcid` (or `github`). */
  providerId: string;
}

/** Where to send the person. */
export interface ProviderRedirect {
  /** Where to send the person. */
  url: string;
  /** Whether the client is to go to `url` by itself. */
  redirect: boolean;
}

/** Which provider is taken away. */
export interface UnlinkAccount {
  /** `github` or `orcid`. */
  providerId: string;
  /**
   * Your id at the provider, at most 255 characters; the provider's every account of yours when absent.
   * @maxLength 255
   */
  accountId?: string;
}

/** Providers that one can sign in by here. */
export interface OfferedProviders {
  /** May be empty. */
  providers: ('github' | 'orcid')[];
}
