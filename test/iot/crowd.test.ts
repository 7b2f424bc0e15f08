import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { openBroker, until } from '../support/broker.ts';

type Opened = Awaited<ReturnType<typeof openBroker>>;

let at: Opened;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await at.close();
});

/** Connects, and then says nothing. */
async function openSilent(withTls = false): Promise<Socket> {
  const to = { port: at.port, host: '127.0.0.1' };
  const socket = withTls ? connectTls({ ...to, servername: 'localhost', ca: at.authority.certificatePem }) : connect(to);
  sockets.push(socket.on('error', () => undefined).resume());
  await once(socket, withTls ? 'secureConnect' : 'connect');
  return socket;
}

test('a connection on which nothing is said ends in time, before TLS and behind it', async () => {
  at = await openBroker({ limits: { connectSeconds: 0.3 } });
  const device = await at.asDevice(await at.newDevice([]));
  for (const withTls of [false, true]) {
    const socket = await openSilent(withTls);
    await until(() => socket.closed, `an end ${withTls ? 'behind' : 'before'} TLS`);
  }
  expect(device.connected).toBe(true);
});

test('a broker closes though somebody is connected and says nothing', async () => {
  at = await openBroker();
  const device = await at.asDevice(await at.newDevice([]));
  const silent = await openSilent();
  await at.broker.close(0);
  await until(() => silent.closed && !device.connected, 'the end of both');
});

test('those who say nothing keep no device out, and cut none off', async () => {
  at = await openBroker({ limits: { connections: 6, connectSeconds: 60 } });
  const first = await at.asDevice(await at.newDevice([]));
  const began = performance.now();
  const silent: Socket[] = [];
  for (const withTls of [false, true, false, true, false]) silent.push(await openSilent(withTls));
  const second = await at.asDevice(await at.newDevice([]));
  await until(() => silent[0]!.closed, 'the end of the silent connection that was there longest');
  expect(silent.map(({ closed }) => closed)).toEqual([true, false, false, false, false]);
  for (let more = 0; more < 20; more += 1) silent.push(await openSilent());
  await until(() => silent.filter(({ closed }) => !closed).length === 4, 'as many connections as there may be');
  expect([first.connected, second.connected]).toEqual([true, true]);
  // what is told of many is one line a second
  const most = 1 + Math.floor((performance.now() - began) / 1_000);
  const line = { reason: 'too-many-connections', clientId: null, principal: null, topic: null };
  expect(at.refusals).toEqual(Array.from({ length: Math.min(most, at.refusals.length) }, () => line));
  expect(at.refusals.length).toBeGreaterThan(0);
});

test('where every connection is a device, one more is refused', async () => {
  at = await openBroker({ limits: { connections: 2 } });
  const devices = [await at.asDevice(await at.newDevice([])), await at.asDevice(await at.newDevice([]))];
  await expect(at.newDevice([]).then((device) => at.asDevice(device))).rejects.toThrow();
  expect(devices.map(({ connected }) => connected)).toEqual([true, true]);
  await devices[0]!.endAsync();
  await until(() => at.broker.connections() === 1, 'room');
  expect((await at.asDevice(await at.newDevice([]))).connected).toBe(true);
});
