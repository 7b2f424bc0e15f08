import type { Server } from 'node:http';
import { Socket } from 'node:net';

/** Milliseconds for which a caller may go on sending behind an answer that ends its connection: in all, and without a byte. */
const MOST_MS = 60_000;
const SILENT_MS = 5_000;

/**
 * Lets who still sends a body read the answer that ends the connection. Node closes such a connection at once, and bytes that nobody reads then reset it: the
 * answer is lost, and nginx takes the machine for a broken one.
 */
export function finishClosing(server: Server): void {
  server.on('request', (request) => {
    const { socket } = request;
    // Node calls this once the last answer of a connection is written
    socket.destroySoon = () => (request.complete ? Socket.prototype.destroySoon.call(socket) : closeSlowly(socket));
  });
}

/** Ends our side, and drops what comes until the other side ends too. No byte of it is parsed: it could hold another request. */
function closeSlowly(socket: Socket): void {
  socket.end();
  const drop = () => undefined;
  const dropAll = () => {
    socket.on('data', drop);
    for (const each of socket.listeners('data')) if (each !== drop) socket.off('data', each as () => void);
  };
  // Node starts to read again only while the parser still listens
  if (socket.isPaused()) socket.once('resume', dropAll).resume();
  else dropAll();
  socket.once('end', () => socket.destroy());
  socket.setTimeout(SILENT_MS, () => socket.destroy());
  const late = setTimeout(() => socket.destroy(), MOST_MS).unref();
  socket.once('close', () => clearTimeout(late));
}
