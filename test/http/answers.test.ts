import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendStream } from '../../src/http/answers/answers.ts';
import { sendRaw } from '../support/raw-http.ts';

const SIZE = 65_536;
const PIECES = 40;

let server: Server;
let make: () => { body: Readable; isOnlyHere: boolean };
let failure: unknown;
beforeAll(async () => {
  const app = express();
  app.get('/', (_request, response, next) => {
    response.setHeader('ETag', '"a"');
    const { body, isOnlyHere } = make();
    sendStream(response, body, { isOnlyHere, trailers: async () => ({ 'X-Truncated': 'false' }) }).catch((error: unknown) => {
      failure = error;
      next(error);
    });
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

const ask = async () => {
  const outgoing = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
};

const pieces = () => Array.from({ length: PIECES }, (_, index) => Buffer.alloc(SIZE, index));

test('bytes that are only in an answer are let go of once they are sent, and arrive as they were', async () => {
  for (const isOnlyHere of [false, true]) {
    const sent = pieces();
    const shared = Buffer.from('a little text, in memory that others use too');
    make = () => ({ body: Readable.from([shared, ...sent], { objectMode: false }), isOnlyHere });
    const response = await ask();
    const arrived = await buffer(response);
    expect(arrived.equals(Buffer.concat([shared, ...pieces()]))).toBe(true);
    expect(response.trailers['x-truncated']).toBe('false');
    expect(shared.toString()).toBe('a little text, in memory that others use too');
    expect(sent.filter(({ length }) => length === SIZE)).toHaveLength(isOnlyHere ? 0 : PIECES);
  }
});

test('a body that fails midway tears the connection down, and one whose caller leaves is destroyed', async () => {
  const whole = pieces();
  make = () => ({ body: Readable.from(whole, { objectMode: false }), isOnlyHere: true });
  expect((await buffer(await ask())).length).toBe(PIECES * SIZE);

  const failing = async function* () {
    yield* pieces().slice(0, 3);
    throw new Error('midway');
  };
  make = () => ({ body: Readable.from(failing(), { objectMode: false }), isOnlyHere: true });
  await expect(buffer(await ask())).rejects.toThrow('aborted');

  const endless = async function* () {
    for (;;) yield Buffer.alloc(SIZE);
  };
  const body = Readable.from(endless(), { objectMode: false });
  const closed = new Promise((resolve) => body.once('error', () => undefined).once('close', resolve));
  make = () => ({ body, isOnlyHere: true });
  const response = await ask();
  await once(response, 'readable');
  response.destroy();
  await closed;
  expect(failure).toBeUndefined();
});

test('HEAD has the headers of GET and no body, its stream ends, and HTTP/1.0 has neither chunks nor a trailer', async () => {
  const streams: Readable[] = [];
  make = () => {
    const body = Readable.from(pieces(), { objectMode: false });
    streams.push(body);
    return { body, isOnlyHere: true };
  };
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = (line: string) => sendRaw(base, `${line}\r\nHost: h\r\n\r\n`, { methods: [line.split(' ')[0]!], lingerMs: 100 });
  const get = (await asked('GET / HTTP/1.1')).answers[0]!;
  expect(get).toMatchObject({ status: 200, framing: 'chunks', trailers: { etag: '"a"', 'x-truncated': 'false' } });
  expect(get.headers).toMatchObject({ etag: '"a"', trailer: 'ETag, X-Truncated' });
  expect(get.body.length).toBe(PIECES * SIZE);

  const head = await asked('HEAD / HTTP/1.1');
  expect(head.answers).toHaveLength(1);
  expect(head.answers[0]).toMatchObject({ status: 200, framing: 'none' });
  expect(head.rest.length).toBe(0);
  expect(streams.at(-1)!.destroyed).toBe(true);

  const old = await asked('GET / HTTP/1.0');
  expect(old.answers[0]).toMatchObject({ status: 200, framing: 'close' });
  expect(old.answers[0]!.headers['trailer']).toBeUndefined();
  expect(old.answers[0]!.body.equals(get.body)).toBe(true);
  expect((await asked('HEAD / HTTP/1.0')).answers[0]).toMatchObject({ status: 200, framing: 'none' });
  expect(failure).toBeUndefined();
});
