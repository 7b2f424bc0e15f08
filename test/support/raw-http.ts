import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** An answer as it stood on the wire. */
export interface RawAnswer {
  version: string;
  status: number;
  /** By lower-case name; several lines of one name are joined by commas. */
  headers: Record<string, string>;
  body: Buffer;
  /** How the body's end was known. */
  framing: 'none' | 'length' | 'chunks' | 'close';
  trailers: Record<string, string>;
}

export interface RawExchange {
  /** Whole answers in their order, without those of status 1xx. */
  answers: RawAnswer[];
  /** Statuses of 1xx answers. */
  interim: number[];
  /** Bytes behind the last whole answer. */
  rest: Buffer;
  /** Whether the server ended the connection. */
  closed: boolean;
  /** Whether it did so by a reset. */
  reset: boolean;
}

const headersOf = (lines: readonly string[]): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(':');
    if (at <= 0) throw new Error(`not a header: ${line}`);
    const name = line.slice(0, at).toLowerCase();
    const value = line.slice(at + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
};

/** The chunks at the front of bytes; null while the last one is missing. */
function dechunked(bytes: Buffer): { body: Buffer; trailers: Record<string, string>; used: number } | null {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (Number.isNaN(size)) throw new Error(`not a chunk: ${bytes.toString('latin1', at, at + 40)}`);
    at = line + 2;
    if (size === 0) {
      const end = bytes.indexOf('\r\n', at) === at ? at : bytes.indexOf('\r\n\r\n', at);
      if (end < 0) return null;
      const trailers = end === at ? {} : headersOf(bytes.toString('latin1', at, end).split('\r\n'));
      return { body: Buffer.concat(pieces), trailers, used: end === at ? at + 2 : end + 4 };
    }
    if (bytes.length < at + size + 2) return null;
    pieces.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
}

/** The whole answers at the front of bytes. `methods` says what was asked in their order, since an answer to HEAD has no body; GET beyond. */
export function parseAnswers(all: Buffer, methods: readonly string[], closed: boolean): Omit<RawExchange, 'closed' | 'reset'> {
  const answers: RawAnswer[] = [];
  const interim: number[] = [];
  let rest = all;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { answers, interim, rest };
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
    const [, version = '', status = ''] = /^HTTP\/(\d\.\d) (\d{3})/.exec(first) ?? [];
    if (status === '') return { answers, interim, rest };
    const behind = rest.subarray(end + 4);
    if (status.startsWith('1')) {
      interim.push(Number(status));
      rest = behind;
      continue;
    }
    const headers = headersOf(lines);
    const answer = { version, status: Number(status), headers };
    const isBare = methods[answers.length] === 'HEAD' || status === '204' || status === '304';
    if (isBare) {
      answers.push({ ...answer, body: Buffer.alloc(0), framing: 'none', trailers: {} });
      rest = behind;
    } else if (/chunked/i.test(headers['transfer-encoding'] ?? '')) {
      const found = dechunked(behind);
      if (!found) return { answers, interim, rest };
      answers.push({ ...answer, body: found.body, framing: 'chunks', trailers: found.trailers });
      rest = behind.subarray(found.used);
    } else if (headers['content-length'] === undefined) {
      if (!closed) return { answers, interim, rest };
      answers.push({ ...answer, body: behind, framing: 'close', trailers: {} });
      return { answers, interim, rest: Buffer.alloc(0) };
    } else {
      const length = Number(headers['content-length']);
      if (behind.length < length) return { answers, interim, rest };
      answers.push({ ...answer, body: behind.subarray(0, length), framing: 'length', trailers: {} });
      rest = behind.subarray(length);
    }
  }
}

interface RawOptions {
  /** What is asked, in its order: `['GET']` unless told. */
  methods?: readonly string[];
  /** Ends our side behind the last byte. */
  halfClose?: boolean;
  /** Milliseconds between the pieces. */
  pauseMs?: number;
  /** How long nothing may come before the exchange counts as over. */
  quietMs?: number;
  /** How long a connection whose answers are whole is still listened to, for what must not come. */
  lingerMs?: number;
}

/** Bytes in the order in which they came; what is held is seldom copied. */
class Received {
  #room = Buffer.allocUnsafe(65_536);
  #length = 0;

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#room.length) {
      const room = Buffer.allocUnsafe(2 * length);
      this.#room.copy(room, 0, 0, this.#length);
      this.#room = room;
    }
    chunk.copy(this.#room, this.#length);
    this.#length = length;
  }

  all(): Buffer {
    return this.#room.subarray(0, this.#length);
  }
}

/** Opens a connection to where a base URL points. */
export async function rawSocket(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes exactly as they are on a connection of their own, and answers all that comes back. */
export async function sendRaw(
  baseUrl: string,
  pieces: string | Buffer | readonly (string | Buffer)[],
  { methods = ['GET'], halfClose = false, pauseMs = 0, quietMs = 10_000, lingerMs = 0 }: RawOptions = {},
): Promise<RawExchange> {
  const socket = await rawSocket(baseUrl);
  const received = new Received();
  const state = { closed: false, reset: false, heard: performance.now() };
  let wake: () => void = () => undefined;
  socket.on('data', (chunk: Buffer) => {
    received.add(chunk);
    state.heard = performance.now();
    wake();
  });
  const close = () => {
    state.closed = true;
    wake();
  };
  socket.on('end', close);
  socket.on('close', close);
  socket.on('error', () => (state.reset = true));
  /** Waits until something comes, at most so many milliseconds. */
  const listen = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const list = typeof pieces === 'string' || Buffer.isBuffer(pieces) ? [pieces] : pieces;
  for (const [index, piece] of list.entries()) {
    if (index > 0 && pauseMs > 0) await sleep(pauseMs);
    if (state.closed || state.reset) break;
    socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
  }
  if (halfClose) socket.end();
  let found = parseAnswers(Buffer.alloc(0), methods, false);
  let wholeAt = 0;
  for (;;) {
    const wasClosed = state.closed;
    found = parseAnswers(received.all(), methods, wasClosed);
    if (wasClosed) break;
    const now = performance.now();
    let last = state.heard + quietMs;
    if (found.answers.length >= methods.length && found.rest.length === 0) {
      wholeAt ||= now;
      last = Math.min(last, wholeAt + lingerMs);
    }
    if (now >= last) break;
    await listen(last - now);
    // what comes at once is looked at once
    await sleep(2);
  }
  socket.destroy();
  return { ...found, closed: state.closed, reset: state.reset };
}
