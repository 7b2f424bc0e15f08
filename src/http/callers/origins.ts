import type { Request } from 'express';
import { listTrustedOrigins } from '../../auth/origins.ts';
import { errors } from '../../errors.ts';
import { getContext } from '../exchange.ts';

/**
 * Refuses a write with a cookie that does not come from a trusted page. Browsers name the origin of every such request; one that leaves it out says
 * `Sec-Fetch-Site: same-origin`.
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

/** Does the same for routes without a caller, such as signing in. A request with no cookie, no origin and no `Sec-Fetch-Site` does not come from a browser. */
export function refuseForeignPages(request: Request): void {
  if (request.get('origin') !== undefined || request.get('cookie') !== undefined || request.get('sec-fetch-site') !== undefined)
    requireTrustedOrigin(request);
}
