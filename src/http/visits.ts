import type { Request } from 'express';
import { browserCookie } from './cookies.ts';
import { exchangeOf } from './exchange.ts';

/** Where a sign-in request comes from. The address is the socket's, or what as many proxies as we were told of say. */
export const visitOf = (request: Request) => {
  if (!request.res) throw new Error('the request has no response');
  return {
    ip: request.ip ?? '',
    userAgent: request.get('user-agent') ?? null,
    browser: browserCookie(request),
    requestId: exchangeOf(request.res).requestId,
  };
};
