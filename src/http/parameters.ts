import type { Request } from 'express';
import { errors } from '../errors.ts';
import { contextOf } from './exchange.ts';
import { nearest } from './near.ts';

/** On a GET, a query parameter that the operation does not have is 400 with near matches: a misspelt filter must not answer everything. */
export function refuseUnknownParameters(request: Request): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') return;
  const pattern = (request.route as { path?: string } | undefined)?.path;
  const operation = pattern === undefined ? undefined : contextOf(request).operations.find('GET', pattern);
  if (!operation) return;
  const unknown = Object.keys(request.query).filter((name) => !operation.queryNames.includes(name));
  if (unknown.length === 0) return;
  throw errors.invalidInput().with({
    problems: unknown.map((name) => {
      const near = nearest(name, operation.queryNames);
      return {
        path: `query.${name.slice(0, 64)}`,
        message: near.length > 0 ? `unknown parameter; did you mean ${near.join(', ')}?` : 'unknown parameter',
      };
    }),
  });
}
