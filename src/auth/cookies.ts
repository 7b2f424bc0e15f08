/** Names of our cookies, by what they hold. On https their prefix binds them to secure connections; only the display hint has no prefix. */
export interface CookieNames {
  session: string;
  browser: string;
  passkey: string;
  provider: string;
}

export const listCookieNames = (secure: boolean): CookieNames => {
  const prefix = secure ? '__Secure-fieldlake' : 'fieldlake';
  return {
    session: `${prefix}.session_token`,
    browser: `${prefix}.browser`,
    passkey: `${prefix}.passkey_ceremony`,
    provider: `${prefix}.state`,
  };
};

/** Cookie that says which sign-in method to show first. Pages can read it, and it proves nothing. The common client reads it under this name. */
export const LAST_METHOD_COOKIE = 'better-auth.last_used_login_method';

/** Values of a Cookie header, by name. The first value of a name counts, as browsers send the most specific cookie first. */
export function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of (header ?? '').split(';')) {
    const equals = part.indexOf('=');
    if (equals < 1) continue;
    const name = part.slice(0, equals).trim();
    if (!found.has(name)) found.set(name, part.slice(equals + 1).trim());
  }
  return found;
}

interface CookieOptions {
  /** Seconds; 0 removes the cookie. */
  maxAge: number;
  secure: boolean;
  /** Undefined: the host that sets it. */
  domain?: string | undefined;
  /** True for all but the display hint. */
  httpOnly?: boolean;
}

/** A Set-Cookie line. All values are our own and need no escaping. */
export const printCookie = (name: string, value: string, { maxAge, secure, domain, httpOnly = true }: CookieOptions): string =>
  [
    `${name}=${value}`,
    'Path=/',
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
    `Max-Age=${maxAge}`,
    ...(httpOnly ? ['HttpOnly'] : []),
    ...(secure ? ['Secure'] : []),
    'SameSite=Lax',
  ].join('; ');
