import { StartError } from '../errors.ts';

/** Splits comma-separated origins and checks each. Throws StartError with one sentence. */
export function splitOrigins(text: string): string[] {
  return text
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
    .map((origin) => {
      const url = URL.canParse(origin) ? new URL(origin) : undefined;
      if (!url || !/^https?:$/.test(url.protocol) || url.origin !== origin.replace(/\/$/, '') || url.hostname.includes('*'))
        throw new StartError(`TRUSTED_ORIGINS holds '${origin}', which is not an origin such as https://app.example.org.`);
      return url.origin;
    });
}

/** Whether a host is an IP address; one of IPv6 may stand in brackets. */
export const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(':');

/** Whether the host of a URL is this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127\.0\.0\.1|\[::1\])$/.test(host);

/** Whether a host is a domain or below it. */
export const isWithin = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);

/** A relying-party id is a registrable name: the host of the web pages or a parent of it, never an IP address or a bare top-level domain. */
export function checkRelyingParty(
  rpId: string | undefined,
  baseUrl: string | undefined,
  trustedOrigins: readonly string[],
): string | undefined {
  if (rpId === undefined) return undefined;
  const id = rpId.toLowerCase();
  if (isAddress(id) || (id !== 'localhost' && !/^([a-z0-9-]+\.)+[a-z0-9-]+$/.test(id)))
    throw new StartError(`RP_ID must be a domain name such as example.org, not '${rpId}'.`);
  for (const origin of [...(baseUrl === undefined ? [] : [baseUrl]), ...trustedOrigins]) {
    const host = new URL(origin).hostname;
    if (!isWithin(host, id))
      throw new StartError(
        `RP_ID is '${id}', but ${new URL(origin).origin} is neither that domain nor below it; passkeys would never work there.`,
      );
  }
  return id;
}

/** A cookie's domain must hold the host of the API, or browsers drop the cookie. */
export function checkSharedDomain(domain: string | undefined, baseUrl: string | undefined): string | undefined {
  if (domain === undefined) return undefined;
  const name = domain.replace(/^\./, '').toLowerCase();
  const host = baseUrl === undefined ? '' : new URL(baseUrl).hostname;
  if (!isWithin(host, name))
    throw new StartError(`COOKIE_DOMAIN is '${name}', but BASE_URL is not on it; browsers would drop every cookie.`);
  return name;
}
