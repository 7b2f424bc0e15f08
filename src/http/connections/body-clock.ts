import type { NextFunction, Request, Response } from 'express';
import { errors } from '../../errors.ts';
import { hasBody } from '../requests/body.ts';
import { getContext } from '../exchange.ts';
import { renderErrors } from '../answers/errors.ts';

/** Bytes of a body that must come in each stall time, so that one byte now and then does not hold a connection. */
const LEAST_BYTES = 1_000;
const LOOK_MS = 1_000;

/** Bodies of gigabytes over a slow line: files of a form, and objects. */
const mayTakeLong = (request: Request) => request.path.startsWith('/objects/') || Boolean(request.is('multipart/form-data'));

/**
 * Ends a request whose body does not arrive: 408, and the connection closes. That is when fewer than a thousand bytes came within `BODY_STALL_SECONDS`, or
 * a body that is no upload took `BODY_SECONDS`. A body that waits for us to read it is not late. After the answer, the rest of any body has `BODY_SECONDS`.
 */
export function limitBodyTime(request: Request, response: Response, next: NextFunction): void {
  if (!hasBody(request)) {
    next();
    return;
  }
  const { bodyStallMs, bodyMs } = getContext(request).config.limits;
  const { socket } = request;
  const begun = performance.now();
  let [moved, movedAt, answeredAt] = [socket.bytesRead, begun, Number.POSITIVE_INFINITY];
  const giveUp = () => {
    if (response.headersSent) {
      socket.destroy();
      return;
    }
    response.setHeader('Connection', 'close');
    renderErrors(errors.requestTooSlow(), request, response, next);
  };
  const look = () => {
    if (request.complete) {
      clearInterval(timer);
      return;
    }
    const now = performance.now();
    if (socket.bytesRead - moved >= LEAST_BYTES || request.readableLength > 0) [moved, movedAt] = [socket.bytesRead, now];
    if (response.writableEnded) answeredAt = Math.min(answeredAt, now);
    const whole = Math.min(answeredAt, mayTakeLong(request) ? Number.POSITIVE_INFINITY : begun) + bodyMs;
    if (now - movedAt >= bodyStallMs || now >= whole) giveUp();
  };
  const timer = setInterval(look, Math.min(LOOK_MS, bodyStallMs / 4, bodyMs / 4));
  timer.unref();
  request.once('close', () => clearInterval(timer));
  next();
}
