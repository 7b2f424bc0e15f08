import type { Response } from 'express';

const SOONEST_MS = 1_000;
const SPREAD_MS = 4_000;
const PROBE_MS = 1_000;

/**
 * Makes the answer a stream of events (https://html.spec.whatwg.org/multipage/server-sent-events.html) and sends its head at once. Null for a HEAD request,
 * which needs only the head, and for a caller who is gone: that answer has closed already, and closes no second time.
 */
export function openEventStream(response: Response) {
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  // nginx would keep events back until it has a page of them
  response.setHeader('X-Accel-Buffering', 'no');
  response.writeHead(200);
  if (response.req.method === 'HEAD' || response.closed) {
    response.end();
    return null;
  }
  const { socket } = response;
  const probe = () => void response.write(':\n\n');
  // a caller who has closed one side may still listen or be gone; only sending something tells which: departures.ts
  const watch = () => {
    probe();
    const timer = setInterval(probe, PROBE_MS).unref();
    response.once('close', () => clearInterval(timer));
  };
  if (socket?.readableEnded === true) watch();
  else socket?.once('end', watch);
  response.once('close', () => socket?.off('end', watch));
  // callers whose streams end together should not all come back at once
  response.write(`retry: ${SOONEST_MS + Math.floor(Math.random() * SPREAD_MS)}\n\n`);
  return {
    /** Sends whole events. */
    send: (bytes: Buffer) => void response.write(bytes),
    /** Bytes that were written and that the caller has not taken yet. */
    unread: () => response.writableLength,
    end: () => void response.end(),
    cut: () => void response.destroy(),
  };
}
