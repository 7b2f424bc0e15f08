import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../src/callouts/addresses.ts';
import { callOut, findUrlProblem, type CallOptions } from '../../src/callouts/call.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

let receiver: Receiver;
let other: Receiver;
beforeAll(async () => {
  [receiver, other] = [await startReceiver(), await startReceiver()];
});
afterAll(async () => {
  await receiver.stop();
  await other.stop();
});

const options = (more: Partial<CallOptions> = {}): CallOptions => ({
  headers: { 'content-type': 'application/json' },
  body: '{"a":"ä"}',
  timeoutMs: 5_000,
  allowLoopback: true,
  ...more,
});

test('addresses for the whole internet, and the others', () => {
  for (const address of ['8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.1', '100.63.0.1', '2606:4700::1111', '2a00:1450:4001::8'])
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
  for (const address of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '::10.0.0.1',
    '64:ff9b::a00:1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:a00:1::',
    '3fff::1',
    'nonsense',
    '',
  ])
    expect([address, isPublicAddress(address)]).toEqual([address, false]);
});

test('URLs that may not be registered say why', () => {
  expect(findUrlProblem('https://example.org/hooks?x=1', false)).toBeNull();
  expect(findUrlProblem('https://8.8.8.8:8443/', false)).toBeNull();
  for (const url of [
    'nonsense',
    'http://example.org/',
    'ftp://example.org/',
    'https://user:word@example.org/',
    'https://example.org/#part',
    'https://10.0.0.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:169.254.169.254]/',
    'http://127.0.0.1/',
  ])
    expect([url, findUrlProblem(url, false)]).toEqual([url, expect.any(String)]);
  expect(findUrlProblem('http://127.0.0.1:3000/', true)).toBeNull();
  expect(findUrlProblem('http://example.org/', true)).not.toBeNull();
  expect(findUrlProblem('https://10.0.0.1/', true)).not.toBeNull();
});

describe('a call', () => {
  test('sends the body as it is and takes any 2xx', async () => {
    const before = receiver.heard.length;
    expect(await callOut(receiver.url, options({ headers: { 'x-one': '1' } }))).toMatchObject({ statusCode: 204, failure: null });
    expect(receiver.heard[before]).toMatchObject({ path: '/hook', body: '{"a":"ä"}', headers: { 'x-one': '1', 'content-length': '10' } });
  });

  test('is connected to the address that was checked, and the name is asked for once', async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      // a name that means this machine only the first time
      return asked === 1 ? ['127.0.0.1'] : ['10.0.0.1'];
    };
    const url = `http://localhost:${receiver.port}/named`;
    expect(await callOut(url, options({ resolve }))).toMatchObject({ failure: null });
    expect(asked).toBe(1);
    expect(receiver.heard.at(-1)).toMatchObject({ path: '/named', headers: { host: `localhost:${receiver.port}` } });
  });

  test('to a name with a private address is not made, even when another address is public', async () => {
    const listening = await listen();
    const url = `https://localhost:${listening.port}/`;
    // with loopback allowed something connects, so that the listener is known to see it
    expect(await callOut(url, options())).toMatchObject({ statusCode: null });
    expect(listening.connections()).toBe(1);
    const refused = { statusCode: null, failure: 'address-refused' };
    expect(await callOut(url, options({ allowLoopback: false }))).toMatchObject(refused);
    const named = `https://hooks.example.org:${listening.port}/`;
    for (const addresses of [['127.0.0.1'], ['10.0.0.1'], ['8.8.8.8', '169.254.169.254'], ['::1'], ['fd00::1', '8.8.8.8']])
      expect(await callOut(named, options({ allowLoopback: false, resolve: async () => addresses }))).toMatchObject(refused);
    expect(await callOut(named, options({ resolve: async () => ['10.0.0.1'] }))).toMatchObject(refused);
    expect(listening.connections()).toBe(1);
    await listening.stop();
  });

  test('to a name that is not there, or stays unresolved, ends', async () => {
    const resolve = () => Promise.reject(new Error('NXDOMAIN'));
    expect(await callOut('https://nowhere.example.org/', options({ resolve }))).toMatchObject({ failure: 'not-resolved' });
    const never = () => new Promise<string[]>(() => undefined);
    expect(await callOut('https://slow.example.org/', options({ resolve: never, timeoutMs: 200 }))).toMatchObject({ failure: 'timeout' });
  });

  test('that is redirected is not followed', async () => {
    for (const location of [other.url, 'http://169.254.169.254/latest/meta-data/']) {
      receiver.answer = (response) => response.writeHead(307, { location }).end();
      expect(await callOut(receiver.url, options())).toMatchObject({ statusCode: 307, failure: 'redirect-refused' });
    }
    expect(other.heard).toEqual([]);
    expect(await callOut(other.url, options())).toMatchObject({ failure: null });
  });

  test('that is refused, hangs, drips or never ends its answer comes to an end', async () => {
    receiver.answer = (response) => response.writeHead(500).end('x'.repeat(10));
    expect(await callOut(receiver.url, options())).toMatchObject({ statusCode: 500, failure: 'refused-by-endpoint' });
    receiver.answer = () => undefined;
    expect(await callOut(receiver.url, options({ timeoutMs: 300 }))).toMatchObject({ statusCode: null, failure: 'timeout' });
    receiver.answer = (response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    };
    expect(await callOut(receiver.url, options({ timeoutMs: 300 }))).toMatchObject({ statusCode: 200, failure: 'timeout' });
    receiver.answer = (response) => {
      response.writeHead(200);
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    };
    expect(await callOut(receiver.url, options())).toMatchObject({ statusCode: 200, failure: null });
    receiver.answer = (response) => response.destroy();
    expect(await callOut(receiver.url, options())).toMatchObject({ failure: 'connection-failed' });
  });

  test('over TLS is not made without it', async () => {
    expect(await callOut(receiver.url.replace('http:', 'https:'), options())).toMatchObject({ statusCode: null, failure: 'tls-failed' });
  });

  test('that is given up rejects', async () => {
    receiver.answer = () => undefined;
    const stop = new AbortController();
    const call = callOut(receiver.url, options({ signal: stop.signal }));
    stop.abort(new Error('stopping'));
    await expect(call).rejects.toThrow('stopping');
  });
});

interface Listening {
  port: number;
  connections: () => number;
  stop: () => Promise<void>;
}

const listen = async (): Promise<Listening> => {
  let count = 0;
  const server: Server = createServer((socket) => {
    count += 1;
    socket.on('error', () => undefined);
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => count,
    stop: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
};
