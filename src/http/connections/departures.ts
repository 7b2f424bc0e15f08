import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const PROBE_MS = 250;
const GRACE_MS = 2_000;

/**
 * Answers callers who close their side of the connection after the request, as RFC 9112 allows, and finds those who are gone. TCP tells the two apart only when
 * something is sent. An HTTP/1.1 caller is sent `102 Processing` while it waits; one who is gone refuses that. An HTTP/1.0 caller knows no such answers: its
 * connection is closed when no answer has begun after two seconds.
 */
export function noticeDepartures(server: Server): void {
  // Node does not document this setting; without it Node ends its side as soon as the caller does, and the answer is lost
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
