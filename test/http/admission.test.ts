import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { admitRequests } from '../../src/http/admission.ts';

const AT_ONCE = 6;
const OF_SENDER = 3;

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Sends requests of one sender that nobody answers, then one more, and answers its status; undefined when that is let in, too. */
async function statusAfter(count: number, method: string, body: string): Promise<number | undefined> {
  const app = express();
  app.use(admitRequests({ most: AT_ONCE, log: pino({ level: 'silent' }), registry: new Registry() }));
  let letIn: () => void = () => undefined;
  app.use((incoming) => {
    if (incoming.method !== 'GET') incoming.resume();
    letIn();
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const send = () => {
    const outgoing = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', method, agent: false });
    outgoing.on('error', () => undefined);
    outgoing.setHeader('content-length', body.length);
    outgoing.end(body);
    const admitted = new Promise<undefined>((resolve) => {
      letIn = () => setImmediate(() => resolve(undefined));
    });
    const refused = once(outgoing, 'response').then(([response]) => (response as IncomingMessage).statusCode);
    return Promise.race([admitted, refused]);
  };
  for (let sent = 0; sent < count; sent += 1) expect(await send()).toBeUndefined();
  return send();
}

test.each([
  ['GET', ''],
  ['GET', 'a body that nobody reads'],
  ['POST', 'a body'],
])('a sender has half of the places: %s with the body "%s"', async (method, body) => {
  expect(await statusAfter(OF_SENDER - 1, method, body)).toBeUndefined();
  server.closeAllConnections();
  server.close();
  expect(await statusAfter(OF_SENDER, method, body)).toBe(429);
});
