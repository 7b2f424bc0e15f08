import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.ts';
import type { Context } from '../context.ts';

/** Stages that Server-Timing reports, in the order in which a request meets them. */
export type Stage = 'auth' | 'access' | 'plan' | 'wait' | 'engine';

/** What one request carries through the edge. */
export interface Exchange {
  requestId: string;
  startedAt: number;
  timings: Map<Stage, number>;
  caller?: Caller;
  /** Aborted when the caller goes away before the answer is sent. */
  signal: AbortSignal;
  /** Called when the head of the answer is decided, whether or not anybody ever reads it. */
  onHead?: () => void;
  /** Path template of the matched route, for logs and metrics. */
  route?: string;
}

const KEY = 'exchange';

export const getExchange = (response: Response): Exchange => (response.locals as Record<typeof KEY, Exchange>)[KEY];

export function attachExchange(response: Response, exchange: Exchange): void {
  (response.locals as Record<typeof KEY, Exchange>)[KEY] = exchange;
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The id of a request: the one that it brought, if that is printable ASCII without spaces, else a new one. */
export function chooseRequestId(request: Request): string {
  const given = request.get('x-request-id');
  return given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
}

export const getContext = (request: Request): Context => (request.app.locals as { context: Context }).context;

/** Does the work of a stage, and adds how long it took, in milliseconds. */
export async function measureStage<T>(exchange: Exchange, stage: Stage, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    exchange.timings.set(stage, (exchange.timings.get(stage) ?? 0) + performance.now() - start);
  }
}
