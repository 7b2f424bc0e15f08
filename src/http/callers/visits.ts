import type { Request } from 'express';
import { ensureBrowserCookie } from './cookies.ts';
import { getExchange } from '../exchange.ts';

/** Where a sign-in request comes from. The address is the socket's, or the one that our own proxies tell (TRUST_PROXY_HOPS). */
export const getVisit = (request: Request) => {
  if (!request.res) throw new Error('the request has no response');
  return {
    ip: request.ip ?? '',
    userAgent: request.get('user-agent') ?? null,
    browser: ensureBrowserCookie(request),
    requestId: getExchange(request.res).requestId,
  };
};

const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;

/** Headers that proxies add (RFC 9110, RFC 7239, and the two that came before). */
const PASSED_ON = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'];

/** True when both the socket and the proxies that we believe say that the request comes from this machine, and no other proxy passed it on. */
export const isFromThisMachine = (request: Request): boolean =>
  LOOPBACK.test(request.socket.remoteAddress ?? '') &&
  LOOPBACK.test(request.ip ?? '') &&
  (request.ips.length > 0 || !PASSED_ON.some((name) => name in request.headers));
