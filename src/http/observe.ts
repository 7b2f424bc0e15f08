import type { NextFunction, Request, Response } from 'express';
import { attachExchange, chooseRequestId, getContext, type Exchange } from './exchange.ts';

function serverTiming(exchange: Exchange): string {
  const stages = [...exchange.timings].map(([stage, milliseconds]) => `${stage};dur=${milliseconds.toFixed(2)}`);
  return [...stages, `total;dur=${(performance.now() - exchange.startedAt).toFixed(2)}`].join(', ');
}

/** Gives a request, first of all, an id, a clock and a signal that fires when the caller leaves. Writes one log line and one observation at the end. */
export function observe(request: Request, response: Response, next: NextFunction): void {
  const { requestLog, metrics } = getContext(request);
  const abort = new AbortController();
  const exchange: Exchange = {
    requestId: chooseRequestId(request),
    startedAt: performance.now(),
    timings: new Map(),
    signal: abort.signal,
  };
  attachExchange(response, exchange);
  response.setHeader('X-Request-Id', exchange.requestId);

  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => Response;
  response.writeHead = ((...args: unknown[]) => {
    if (response.headersSent) return writeHead(...args);
    response.setHeader('Server-Timing', serverTiming(exchange));
    writeHead(...args);
    exchange.onHead?.();
    return response;
  }) as typeof response.writeHead;

  response.once('close', () => {
    if (!response.writableFinished) abort.abort();
    const milliseconds = performance.now() - exchange.startedAt;
    const route = exchange.route ?? (request.route as { path?: string } | undefined)?.path ?? 'unmatched';
    metrics.requests.observe({ method: request.method, route, status: response.statusCode }, milliseconds / 1000);
    requestLog.info({
      requestId: exchange.requestId,
      method: request.method,
      route,
      status: response.writableFinished ? response.statusCode : 499,
      milliseconds: Math.round(milliseconds * 10) / 10,
      caller: exchange.caller?.userId,
    });
  });
  next();
}
