import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import { errors, type ApiError } from '../errors.ts';
import { allowTrustedOrigins } from './cors.ts';
import { chooseRequestId } from './exchange.ts';
import { writeProblem } from './answers/errors.ts';
import { hasBody, isBodyRead } from './requests/body.ts';
import { Tally } from '../tally.ts';

interface AdmissionOptions {
  /** Requests of all senders that may be in work at once. */
  most: number;
  log: Logger;
  registry: Registry;
}

const TOLD_EVERY_MS = 1_000;

/** Whose request it seems to be, before anything is looked up: the credential as it was sent, else the address. */
const senderOf = (request: Request): string =>
  request.get('x-api-key') ?? request.get('authorization') ?? request.get('cookie') ?? request.ip ?? '';

// a random pause, so that senders who are refused at the same moment do not come back at the same moment
const pause = () => 1 + Math.floor(Math.random() * 3);

/**
 * Bounds how many requests this process works on at once: of all senders together, and of one sender half as many. A request beyond is refused at once, before
 * it is known who asks: a queue in front of a full machine would only make every answer late. A request is in work from the end of its body, where it has one
 * that is read, to the head of its answer, so that neither slow senders nor downloads count. Errors: overloaded (503), callerBusy (429), with Retry-After.
 * `/health` is never refused.
 */
export function admitRequests({ most, log, registry }: AdmissionOptions): RequestHandler {
  const perSender = Math.max(1, Math.ceil(most / 2));
  /** Requests in work, by sender. */
  const inWork = new Tally();
  let untold = 0;
  const refused = new Counter({
    name: 'http_requests_refused_total',
    help: 'Requests that were refused because too many were in work, by whose: of everybody, or of one sender.',
    labelNames: ['whose'],
    registers: [registry],
  });
  new Gauge({
    name: 'http_requests_in_work',
    help: 'Requests whose answer has not begun.',
    registers: [registry],
    collect() {
      this.set(inWork.total);
    },
  });

  // logs one line a second, however many are refused
  const tell = () => {
    untold += 1;
    if (untold > 1) return;
    setTimeout(() => {
      log.warn({ refused: untold, inWork: inWork.total }, 'too many requests at once: some were refused');
      untold = 0;
    }, TOLD_EVERY_MS).unref();
  };

  const refusalFor = (sender: string): ApiError | null => {
    if (inWork.total >= most) {
      refused.inc({ whose: 'everybody' });
      return errors.overloaded();
    }
    if (inWork.of(sender) < perSender) return null;
    refused.inc({ whose: 'sender' });
    return errors.callerBusy();
  };

  const refuse = (request: Request, response: Response, error: ApiError) => {
    tell();
    const requestId = chooseRequestId(request);
    response.setHeader('X-Request-Id', requestId);
    writeProblem(response, error.with({ retryAfter: pause() }), requestId);
  };

  const hold = (sender: string, response: Response) => {
    if (response.closed || response.headersSent) return;
    const leave = inWork.hold(sender);
    response.once('close', leave);
    const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => Response;
    response.writeHead = ((...args: unknown[]) => {
      leave();
      return writeHead(...args);
    }) as typeof response.writeHead;
  };

  return (request: Request, response: Response, next: NextFunction) => {
    if (request.path.startsWith('/health/')) return next();
    const sender = senderOf(request);
    const refusal = refusalFor(sender);
    // pages of trusted origins can read the refusal, too
    if (refusal) return allowTrustedOrigins(request, response, () => refuse(request, response, refusal));
    if (isBodyRead(request) && hasBody(request)) request.once('end', () => hold(sender, response));
    else hold(sender, response);
    next();
  };
}
