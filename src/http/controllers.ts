import type { Request, Response } from 'express';
import { Controller } from '@tsoa/runtime';
import type { Caller } from '../auth/caller.ts';
import { loadCapabilities } from '../authorization/access.ts';
import type { ResourceType } from '../authorization/roles.ts';
import type { Context } from '../context.ts';
import { errors, refuse } from '../errors.ts';
import { addEtag, limitCount, readExpectedVersions, setListHeaders, type PageAsked } from './answers/answers.ts';
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

  /** Adds to what a path names the versions in which it may be changed, as If-Match says. */
  protected readTarget<T extends object>(named: T): T & { versions: number[] | null } {
    return { ...named, versions: readExpectedVersions(this.request) };
  }

  /** Answers a resource without its version, which goes out in its entity tag. */
  protected answer<T extends { version: number }>({ version, ...body }: T): Omit<T, 'version'> {
    return addEtag(this.response, body, version);
  }

  /** Answers a resource with what the caller may do with it. Errors: resourceNotFound. */
  protected async answerWithCapabilities<T extends { version: number }>(type: ResourceType, id: string, finding: Promise<T | undefined>) {
    const [found, capabilities] = await Promise.all([finding, loadCapabilities(this.ctx.db, this.caller.userId, type, id)]);
    return this.answer({ ...(found ?? refuse(errors.resourceNotFound(type))), capabilities });
  }

  /** How far to count for a list. */
  protected get countLimit(): number {
    return limitCount(this.request);
  }

  /** Answers the rows of a page; headers say how many there are in all, and where the other pages are. */
  protected async answerPage<T>(page: PageAsked, rows: Promise<T[]>, total: Promise<number>): Promise<T[]> {
    const [found, count] = await Promise.all([rows, total]);
    return setListHeaders(this.response, { rows: found, total: count }, page);
  }
}
