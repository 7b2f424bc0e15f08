import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { errors } from '../errors.ts';
import { problemDocument } from './errors.ts';

const TITLES: Readonly<Record<number, string>> = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' };

/** Answers what the HTTP parser refused, which never becomes a request: a problem document like any other, and the connection is closed. */
export function answerUnparsed({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const error =
    code === 'HPE_HEADER_OVERFLOW'
      ? errors.headersTooLarge()
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? errors.requestTooSlow()
        : errors.notHttp();
  const title = TITLES[error.status] ?? 'Error';
  const body = JSON.stringify({ ...problemDocument(error, randomUUID()), title });
  socket.end(
    `HTTP/1.1 ${error.status} ${title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
