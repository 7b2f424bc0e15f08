import type { Request, Response } from 'express';
import { Controller } from '@tsoa/runtime';
import type { Caller } from '../auth/caller.ts';
import type { Context } from '../context.ts';
import { getExchange, type Exchange } from './exchange.ts';

/** What every controller stands on: the context, the request and its answer, the exchange, and the caller where the operation has one. */
export abstract class ApiController extends Controller {
  protected readonly ctx: Context;
  protected readonly exchange: Exchange;
  protected readonly request: Request;
  protected readonly response: Response;

  constructor(ctx: Context, response: Response) {
    super();
    this.ctx = ctx;
    this.request = response.req;
    this.response = response;
    this.exchange = getExchange(response);
  }

  /** The signed-in caller. Only for operations with `@Security`. */
  protected get caller(): Caller {
    if (!this.exchange.caller) throw new Error('this operation has no @Security');
    return this.exchange.caller;
  }
}
