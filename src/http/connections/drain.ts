import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A connection that has not finished its next head by then is closed. */
const HEAD_MS = 5_000;
/** What is being answered has this long to end: downloads, above all. */
const DRAIN_MS = 60_000;
const LOOK_MS = 50;

/**
 * Answers how to close a server without cutting a request. It stops listening at once. For `noticeMs` every answer says `Connection: close`, so that
 * callers leave by themselves. An idle connection that we closed might lose a request that is on its way. Then idle connections are closed as they become
 * so, and what is still being answered after a minute is cut. Call it before the server listens.
 */
export function makeDrain(server: Server): (noticeMs: number) => Promise<void> {
  const sockets = new Set<Socket>();
  const answering = new Set<ServerResponse>();
  let isLeaving = false;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.prependListener('request', (_request, response) => {
    answering.add(response);
    response.once('close', () => answering.delete(response));
    if (isLeaving) response.shouldKeepAlive = false;
  });

  const closeUnused = () => {
    const used = new Set([...answering].map(({ socket }) => socket));
    for (const socket of sockets) if (!used.has(socket)) socket.destroy();
  };

  return async (noticeMs) => {
    isLeaving = true;
    for (const response of answering) if (!response.headersSent) response.shouldKeepAlive = false;
    const closed = once(server, 'close');
    // the server's own close() also cuts idle connections at once
    NetServer.prototype.close.call(server);
    const begun = performance.now();
    while (sockets.size > 0 && performance.now() - begun < noticeMs) await sleep(LOOK_MS);
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    const idle = setInterval(() => server.closeIdleConnections(), LOOK_MS);
    server.closeIdleConnections();
    const late = setTimeout(closeUnused, HEAD_MS);
    const last = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    await closed;
    clearInterval(idle);
    clearTimeout(late);
    clearTimeout(last);
    // the server is closed already; this stops its timer for slow heads
    server.close(() => undefined);
  };
}
