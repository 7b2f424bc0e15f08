import type { Request } from 'express';
import type { Operation } from '../../contract/operations.ts';
import { errors } from '../../errors.ts';
import { getContext } from '../exchange.ts';
import { suggestNames } from '../../lakehouse/terms/near.ts';

/** Finds what the published document says of the operation that a request has been routed to. */
export function findOperation(request: Request): Operation | undefined {
  const pattern = (request.route as { path?: string } | undefined)?.path;
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  return pattern === undefined ? undefined : getContext(request).operations.get(`${method} ${pattern}`);
}

/** Whether the operation reads a table that its query names. */
export const isTableRequest = (request: Request): boolean => findOperation(request)?.queryNames.includes('tableName') === true;

/** Refuses a query parameter that the operation of a GET does not have, with 400 and near matches: a misspelt filter must not answer everything. */
export function refuseUnknownParameters(request: Request): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') return;
  const operation = findOperation(request);
  if (!operation) return;
  const unknown = Object.keys(request.query).filter((name) => !operation.queryNames.includes(name));
  if (unknown.length === 0) return;
  throw errors.invalidInput().with({
    problems: unknown.map((name) => ({
      path: `?${name.slice(0, 64)}`,
      message: `There is no such parameter.${suggestNames(name, operation.queryNames)}`,
    })),
  });
}
