import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const PROBE_MS = 250;
const GRACE_MS = 2_000;

/**
 * Answers callers who close their side of the connection after the request, as RFC 9112 allows, and finds those who are gone. TCP tells the two apart only
 * when something is sent. An HTTP/1.1 caller is sent `102 Processing` while it waits, which one who is gone refuses; an HTTP/1.0 caller, who knows no such
 * answers, is waited for two seconds.
 */
export function noticeDepartures(server: Server): void {
  // not in Node's documentation; without it Node ends its side as soon as the caller does, and what is answered is lost
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  const answers = new WeakMap<Socket, ServerResponse>();
  server.on('request', ({ socket }, response) => answers.set(socket, response));
  server.on('connection', (socket: Socket) =>
    socket.once('end', () => {
      const response = answers.get(socket);
      if (response && !response.headersSent) watch(socket, response);
    }),
  );
}

function watch(socket: Socket, response: ServerResponse): void {
  const { httpVersionMajor, httpVersionMinor } = response.req;
  const probe = () => {
    if (!response.headersSent) response.writeProcessing();
  };
  const leave = () => {
    if (!response.headersSent) socket.destroy();
  };
  const timer = httpVersionMajor === 1 && httpVersionMinor === 0 ? setTimeout(leave, GRACE_MS) : setInterval(probe, PROBE_MS);
  timer.unref();
  response.once('close', () => clearTimeout(timer));
}
