import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errors, type ApiError } from '../../errors.ts';
import { makeProblemDocument } from '../answers/errors.ts';
import { METHODS } from '../methods.ts';

/** The last request of a connection, and its answer. */
interface Exchanged {
  request: IncomingMessage;
  response: ServerResponse;
}

function refusalOf(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return errors.headersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return errors.requestTooSlow();
  return errors.notHttp();
}

/** Sends a problem document like any other, as the last bytes of a connection. */
function endWith(socket: Duplex, error: ApiError): void {
  const document = makeProblemDocument(error, randomUUID());
  const body = JSON.stringify(document);
  const allow = error.status === 405 ? `Allow: ${METHODS.join(', ')}, OPTIONS\r\n` : '';
  // a peer that keeps its side open has a second to read this
  setTimeout(() => socket.destroy(), 1_000).unref();
  socket.end(
    `HTTP/1.1 ${error.status} ${String(document['title'])}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${allow}Connection: close\r\n\r\n${body}`,
  );
}

/**
 * Answers what the HTTP parser refused, which never becomes a request, and closes the connection. Each request has one answer. Bad bytes after a request
 * wait until that request is answered; bad bytes in a body whose answer has begun get none.
 */
export function answerUnparsed(server: Server): void {
  const exchanged = new WeakMap<Duplex, Exchanged>();
  const refused = new WeakSet<Duplex>();
  server.prependListener('request', (request, response) => exchanged.set(request.socket, { request, response }));
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    // the parser refuses every further byte of a refused connection again
    if (refused.has(socket)) return;
    refused.add(socket);
    const last = exchanged.get(socket);
    if (code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else if (last && !last.request.complete && last.response.headersSent) socket.destroy();
    else if (last?.request.complete === true && !last.response.writableFinished)
      last.response.once('finish', () => endWith(socket, refusalOf(code)));
    else endWith(socket, refusalOf(code));
  });
  server.on('connect', (_request, socket) => endWith(socket, errors.methodNotAllowed()));
}
