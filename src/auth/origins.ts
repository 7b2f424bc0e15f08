import type { Context } from '../context.ts';
import { isAddress, isLoopback, isWithin } from './web-settings.ts';

type Site = Pick<Context, 'baseUrl' | 'config'>;

/** Origins whose pages may act for a signed-in person: our own and the configured ones. A loopback address of ours counts by all of its names. */
export function listTrustedOrigins({ baseUrl, config }: Site): string[] {
  const own = new URL(baseUrl);
  const port = own.port === '' ? '' : `:${own.port}`;
  const names = isLoopback(own.hostname) ? ['localhost', '127.0.0.1', '[::1]'].map((host) => `${own.protocol}//${host}${port}`) : [];
  return [own.origin, ...names, ...config.web.trustedOrigins];
}

/** Where a page may be sent to after signing in: a path of ours, or a URL on a trusted origin. Null for anything else. */
export function checkDestination(ctx: Site, target: string): string | null {
  // refused: a path that a browser would read as another host (//host, /\host), or that hides something behind control characters
  if (target.length > 2048 || !/^[\x21-\x7e]+$/.test(target) || target.includes('\\')) return null;
  if (target.startsWith('/')) return target.startsWith('//') ? null : `${ctx.baseUrl}${target}`;
  if (!URL.canParse(target)) return null;
  const url = new URL(target);
  return url.username === '' && url.password === '' && listTrustedOrigins(ctx).includes(url.origin) ? url.href : null;
}

/** The domain that passkeys belong to; it is never taken from a request. Passkeys cannot belong to an IP address, so that `localhost` takes its place. */
export function decideRelyingPartyId({ baseUrl, config }: Site): string {
  const host = new URL(baseUrl).hostname;
  return config.web.rpId ?? (isAddress(host) ? 'localhost' : host);
}

/** Origins whose pages may run a passkey ceremony: trusted ones on the relying party's domain or below it. */
export function listPasskeyOrigins(ctx: Site): string[] {
  const id = decideRelyingPartyId(ctx);
  return listTrustedOrigins(ctx).filter((origin) => isWithin(new URL(origin).hostname, id));
}
