import type { RequestHandler, Response } from 'express';
import { errors } from '../errors.ts';

/** Methods that some path of the service answers, for `OPTIONS *`. */
export const METHODS: readonly string[] = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];

/** Ends a request that no route has taken at a path that answers `methods`: OPTIONS is 204, anything else 405, both with `Allow`. */
export function answerMethods(method: string, response: Response, methods: readonly string[]): void {
  response.setHeader('Allow', [...new Set([...methods, 'OPTIONS'])].sort().join(', '));
  if (method !== 'OPTIONS') throw errors.methodNotAllowed();
  response.status(204).end();
}

/** Lets only these methods through, for paths whose handlers look at no method. */
export const allowOnly =
  (...methods: readonly string[]): RequestHandler =>
  (request, response, next) => {
    if (methods.includes(request.method)) next();
    else answerMethods(request.method, response, methods);
  };
