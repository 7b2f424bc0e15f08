import type { Request } from 'express';
import type { Context } from '../context.ts';
import { errors } from '../errors.ts';
import { contextOf } from './exchange.ts';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** Origins whose pages may act for a signed-in person: our own (on a loopback address, by any of its names) and those configured. */
export function trustedOrigins(ctx: Context): readonly string[] {
  const own = new URL(ctx.site.baseUrl);
  const port = own.port === '' ? '' : `:${own.port}`;
  const names = LOOPBACK.test(own.hostname) ? ['localhost', '127.0.0.1', '[::1]'].map((host) => `${own.protocol}//${host}${port}`) : [];
  return [own.origin, ...names, ...ctx.config.web.trustedOrigins];
}

/**
 * Refuses a write that carries a cookie and does not come from a page that is trusted. Browsers name the origin of every such request; where one
 * leaves it out it says `Sec-Fetch-Site: same-origin`.
 */
export function requireTrustedOrigin(request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD' || request.method === 'OPTIONS') return;
  const origin = request.get('origin');
  if (origin !== undefined && origin !== 'null') {
    if (!trustedOrigins(contextOf(request)).includes(origin)) throw errors.originNotTrusted();
    return;
  }
  if (request.get('sec-fetch-site') !== 'same-origin') throw errors.originMissing();
}

/** The same for routes without a caller, such as signing in: what carries no cookie and names no origin is not a browser. */
export function refuseForeignPages(request: Request): void {
  if (request.get('origin') !== undefined || request.get('cookie') !== undefined || request.get('sec-fetch-site') !== undefined)
    requireTrustedOrigin(request);
}

/** Where a page may be sent to after signing in: a path of ours, or a URL on a trusted origin. Null for anything else. */
export function trustedDestination(ctx: Context, target: string): string | null {
  // a path that a browser would read as another host: //host, /\host, and what hides behind control characters
  if (target.length > 2048 || !/^[\x21-\x7e]+$/.test(target) || target.includes('\\')) return null;
  if (target.startsWith('/')) return target.startsWith('//') ? null : `${ctx.site.baseUrl}${target}`;
  if (!URL.canParse(target)) return null;
  const url = new URL(target);
  return url.username === '' && url.password === '' && trustedOrigins(ctx).includes(url.origin) ? url.href : null;
}
