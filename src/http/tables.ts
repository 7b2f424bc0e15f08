import type { NextFunction, Request, Response } from 'express';
import { openTable, type OpenTable } from '../authorization/tables.ts';
import { errors } from '../errors.ts';
import { getContext, getExchange, measureStage } from './exchange.ts';
import { refuseUnknownParameters } from './requests/parameters.ts';

const NO_TABLE = 'is required: raw_data, device, a macro id, an upload table id or name';

type TableRequest = Request & { table?: OpenTable };

async function open(request: TableRequest, response: Response, where: 'query' | 'body'): Promise<void> {
  const exchange = getExchange(response);
  const tableName = (request[where] as { tableName?: unknown } | undefined)?.tableName;
  if (typeof tableName !== 'string' || tableName === '' || tableName.length > 256)
    throw errors.invalidInput().with({
      problems: [{ path: where === 'query' ? '?tableName' : '/tableName', message: NO_TABLE }],
    });
  if (tableName.includes('\0')) throw errors.textHoldsNul();
  request.table = await measureStage(exchange, 'access', () =>
    openTable(getContext(request).admission, exchange.caller?.userId ?? '', String(request.params['id']), tableName),
  );
}

/**
 * Decides the table's own action as soon as `tableName` is known, before anything else of the query is looked at. A caller with too many reads under way is
 * refused first, so that a flood costs no more than finding out who calls.
 */
export async function requireTable(request: Request, response: Response, next: NextFunction): Promise<void> {
  const { caller, signal } = getExchange(response);
  const leave = getContext(request).shares.enter(caller?.userId ?? '');
  response.once('close', leave);
  // the answer to a caller who is gone has closed already, and closes no second time
  if (signal.aborted) leave();
  await open(request, response, 'query');
  refuseUnknownParameters(request);
  next();
}

/** Decides whether the caller may read the table that the body names, and opens the table. */
export async function requireBodyTable(request: Request, response: Response, next: NextFunction): Promise<void> {
  await open(request, response, 'body');
  next();
}

/** The table that `requireTable` or `requireBodyTable` has opened. */
export function getTable(request: TableRequest): OpenTable {
  if (!request.table) throw new Error('the table was not opened');
  return request.table;
}
