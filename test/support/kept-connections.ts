import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Connections that this process's `fetch` has open, by the port that they lead to. */
const open = new Map<string, Set<Socket>>();

subscribe('undici:client:connected', (message) => {
  const { connectParams, socket } = message as { connectParams: { port: string }; socket: Socket };
  const sockets = open.get(connectParams.port) ?? new Set();
  open.set(connectParams.port, sockets.add(socket));
  socket.once('close', () => sockets.delete(socket));
});

/** Leaves a server that nothing is asked of any more: one that stops gives connections that are kept a second to leave by themselves. */
export function leaveServer(url: string): void {
  for (const socket of open.get(new URL(url).port) ?? []) socket.destroy();
}
