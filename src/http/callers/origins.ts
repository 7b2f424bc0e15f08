import type { Request } from 'express';
import { listTrustedOrigins } from '../../auth/origins.ts';
import { errors } from '../../errors.ts';
import { getContext } from '../exchange.ts';

/**
 * Refuses a write that carries a cookie and does not come from a page that is trusted. Browsers name the origin of every such request; where one
 * leaves it out it says `Sec-Fetch-Site: same-origin`.
 */
export function requireTrustedOrigin(request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD' || request.method === 'OPTIONS') return;
  const origin = request.get('origin');
  if (origin !== undefined && origin !== 'null') {
    if (!listTrustedOrigins(getContext(request)).includes(origin)) throw errors.originNotTrusted();
    return;
  }
  if (request.get('sec-fetch-site') !== 'same-origin') throw errors.originMissing();
}

/** The same for routes without a caller, such as signing in. A request without a cookie and an origin does not come from a browser. */
export function refuseForeignPages(request: Request): void {
  if (request.get('origin') !== undefined || request.get('cookie') !== undefined || request.get('sec-fetch-site') !== undefined)
    requireTrustedOrigin(request);
}
