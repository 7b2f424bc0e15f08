import type { Request, Response } from 'express';
import { Controller } from '@tsoa/runtime';
import type { Caller } from '../auth/caller.ts';
import type { Context } from '../context.ts';
import { contextOf, exchangeOf, type Exchange } from './exchange.ts';

/** What every controller stands on: the context, the exchange, and the caller where the operation has one. */
export abstract class ApiController extends Controller {
  protected readonly ctx: Context;
  protected readonly exchange: Exchange;
  protected readonly response: Response;

  constructor(ctx: Context, response: Response) {
    super();
    this.ctx = ctx;
    this.response = response;
    this.exchange = exchangeOf(response);
  }

  /** The signed-in caller. Only for operations with `@Security`. */
  protected get caller(): Caller {
    if (!this.exchange.caller) throw new Error('this operation has no @Security');
    return this.exchange.caller;
  }
}

type ControllerClass<T> = new (ctx: Context, response: Response) => T;

/** tsoa asks this for a controller per request; there is no container. */
export const iocContainer = (request: unknown) => ({
  get: <T>(controller: ControllerClass<T>): T => {
    const incoming = request as Request;
    if (!incoming.res) throw new Error('the request has no response');
    return new controller(contextOf(incoming), incoming.res);
  },
});
