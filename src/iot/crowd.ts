/** How many connections a server has at a time, and which one ends for the next. */
import type { Server, Socket } from 'node:net';

const TOLD_EVERY_MS = 1_000;

/** Names the other end of a connection, also of the one with TLS that runs over it. */
export const printPeer = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

export interface Crowd {
  /** Notes that a peer is a client now. */
  admit(peer: string): void;
  endOthers(): void;
}

/**
 * Keeps a server to `most` connections. For one more, that one ends which has gone longest without being admitted: whoever says nothing keeps nobody out. `onCrowd`
 * is told at most once a second.
 */
export function boundConnections(server: Server, most: number, onCrowd: () => void): Crowd {
  const waiting = new Map<string, Socket>();
  let count = 0;
  let toldAt = -Infinity;
  server.on('connection', (socket: Socket) => {
    const peer = printPeer(socket);
    waiting.set(peer, socket);
    count += 1;
    socket.once('close', () => {
      count -= 1;
      if (waiting.get(peer) === socket) waiting.delete(peer);
    });
    if (count <= most) return;
    const [[eldest, other] = []] = waiting;
    if (eldest !== undefined) waiting.delete(eldest);
    other?.destroy();
    if (performance.now() - toldAt < TOLD_EVERY_MS) return;
    toldAt = performance.now();
    onCrowd();
  });
  return {
    admit: (peer) => void waiting.delete(peer),
    endOthers: () => {
      for (const socket of waiting.values()) socket.destroy();
    },
  };
}
