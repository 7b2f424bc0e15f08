import type { NextFunction, Request, Response } from 'express';
import { openTable, type OpenTable } from '../authorization/tables.ts';
import { errors } from '../errors.ts';
import { contextOf, exchangeOf, timed } from './exchange.ts';
import { refuseUnknownParameters } from './parameters.ts';

type TableRequest = Request & { table?: OpenTable };

async function open(request: TableRequest, response: Response, where: 'query' | 'body'): Promise<void> {
  const { caller } = exchangeOf(response);
  const tableName = (request[where] as { tableName?: unknown } | undefined)?.tableName;
  if (typeof tableName !== 'string' || tableName === '' || tableName.length > 256)
    throw errors.invalidInput().with({
      problems: [
        {
          path: where === 'query' ? '?tableName' : '/tableName',
          message: 'is required: raw_data, device, a macro id, an upload table id or name',
        },
      ],
    });
  if (tableName.includes('\0')) throw errors.textHoldsNul();
  const start = performance.now();
  request.table = await openTable(contextOf(request).admission, caller?.userId ?? '', String(request.params['id']), tableName);
  timed(exchangeOf(response), 'access', performance.now() - start);
}

/**
 * The table's own action is decided as soon as `tableName` is known, before anything else of the query is looked at. Whoever has as many reads under way
 * as may run and wait is told so first: a flood of them costs no more than to know whose it is.
 */
export async function requireTable(request: Request, response: Response, next: NextFunction): Promise<void> {
  const { caller, signal } = exchangeOf(response);
  const leave = contextOf(request).shares.enter(caller?.userId ?? '');
  response.once('close', leave);
  // whoever is gone already closes nothing any more
  if (signal.aborted) leave();
  await open(request, response, 'query');
  refuseUnknownParameters(request);
  next();
}

/** The same for a body that names the table. */
export async function requireBodyTable(request: Request, response: Response, next: NextFunction): Promise<void> {
  await open(request, response, 'body');
  next();
}

/** The table that one of the two has opened. */
export function tableOf(request: TableRequest): OpenTable {
  if (!request.table) throw new Error('the table was not opened');
  return request.table;
}
