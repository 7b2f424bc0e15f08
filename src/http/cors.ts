import type { NextFunction, Request, Response } from 'express';
import { listTrustedOrigins } from '../auth/origins.ts';
import { getContext } from './exchange.ts';
import { METHODS } from './methods.ts';

const ACCEPTED =
  'Authorization, Content-Type, X-Api-Key, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, Prefer, Range, X-Request-Id';
const EXPOSED =
  'Content-Disposition, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Table-Version, X-Total-Count, X-Total-Count-Exact, X-Erasure-Id, Idempotency-Replayed, Server-Timing';

/** Lets the pages of trusted origins, and no others, call with cookies and read the answers. */
export function allowTrustedOrigins(request: Request, response: Response, next: NextFunction): void {
  const origin = request.get('origin');
  response.vary('Origin');
  if (origin === undefined || !listTrustedOrigins(getContext(request)).includes(origin)) {
    next();
    return;
  }
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Credentials', 'true');
  response.setHeader('Access-Control-Expose-Headers', EXPOSED);
  if (request.method !== 'OPTIONS' || request.get('access-control-request-method') === undefined) {
    next();
    return;
  }
  response.setHeader('Access-Control-Allow-Methods', METHODS.join(', '));
  response.setHeader('Access-Control-Allow-Headers', ACCEPTED);
  response.setHeader('Access-Control-Max-Age', '600');
  response.status(204).end();
}
