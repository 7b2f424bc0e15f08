import type { NextFunction, Request, Response } from 'express';
import { errors } from '../errors.ts';

/** Characters of a host and port: https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2. */
const HOST = /^[\w.~%!$&'()*+,;=:[\]-]*$/;

/**
 * Refuses what two servers in a row might understand differently. That is any version but HTTP/1.0 and 1.1 (Node's parser accepts others), and a request
 * without exactly one valid host (https://www.rfc-editor.org/rfc/rfc9112#section-3.2). HTTP/1.0 may leave the host out. The connection closes, since whatever
 * follows on it is as doubtful.
 */
export function refuseDoubtfulHeads(request: Request, response: Response, next: NextFunction): void {
  const { httpVersion, headersDistinct } = request;
  const hosts = headersDistinct['host'] ?? [];
  const isKnown = httpVersion === '1.1' || httpVersion === '1.0';
  if (isKnown && hosts.length <= 1 && (hosts.length === 1 || httpVersion === '1.0') && HOST.test(hosts[0] ?? '')) {
    next();
    return;
  }
  response.setHeader('Connection', 'close');
  throw isKnown ? errors.hostInvalid() : errors.notHttp();
}
