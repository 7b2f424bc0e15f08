import type { Response } from 'express';

const SOONEST_MS = 1_000;
const SPREAD_MS = 4_000;
const PROBE_MS = 1_000;

/**
 * Makes the answer a stream of events (https://html.spec.whatwg.org/multipage/server-sent-events.html) and sends its head at once. Null for a HEAD request,
 * which needs no more than that.
 */
export function openEventStream(response: Response) {
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  // nginx would keep events back until it has a page of them
  response.setHeader('X-Accel-Buffering', 'no');
  response.writeHead(200);
  if (response.req.method === 'HEAD') {
    response.end();
    return null;
  }
  const { socket } = response;
  const probe = () => void response.write(':\n\n');
  // who has closed one side may listen on or be gone, which only what is sent to them tells: departures.ts
  const watch = () => {
    probe();
    const timer = setInterval(probe, PROBE_MS).unref();
    response.once('close', () => clearInterval(timer));
  };
  if (socket?.readableEnded === true) watch();
  else socket?.once('end', watch);
  response.once('close', () => socket?.off('end', watch));
  // streams that end together are not all to come back at once
  response.write(`retry: ${SOONEST_MS + Math.floor(Math.random() * SPREAD_MS)}\n\n`);
  return {
    /** Sends whole events. */
    send: (bytes: Buffer) => void response.write(bytes),
    /** Bytes that were sent and not taken yet. */
    unread: () => response.writableLength,
    end: () => void response.end(),
    cut: () => void response.destroy(),
  };
}
