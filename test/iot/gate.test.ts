import { duplexPair } from 'node:stream';
import { expect, test } from 'vitest';
import { BROKER_LIMITS } from '../../src/iot/connections.ts';
import { Gate } from '../../src/iot/gate.ts';
import { collectGarbage } from '../support/garbage.ts';

const PING = [0xc0, 0];

test('a client that says nothing more holds nothing of what it said', async () => {
  const [near, far] = duplexPair();
  const gate = new Gate(near, BROKER_LIMITS);
  // Node reads a socket into pieces of this size
  const send = () => {
    const read = new Uint8Array(65_536).fill(0).buffer;
    far.write(Buffer.from(read, 0, PING.length).fill(Buffer.from(PING)));
    return new WeakRef(read);
  };
  const read = send();
  const passed = await new Promise<string>((resolve) => gate.once('data', (packet: Buffer) => resolve(packet.toString('hex'))));
  expect(passed).toBe('c000');
  await expect
    .poll(() => {
      collectGarbage();
      return read.deref() === undefined;
    })
    .toBe(true);
  gate.destroy();
});

test('a client that says very much at once gives way to others between its packets', async () => {
  const [near, far] = duplexPair();
  const gate = new Gate(near, BROKER_LIMITS);
  let passed = 0;
  const turns: number[] = [];
  gate.on('readable', () => {
    for (let read = gate.read(); read; read = gate.read()) passed += read.length / PING.length;
  });
  far.write(Buffer.from(Array.from({ length: 5_000 }, () => PING).flat()));
  while (passed < 5_000) {
    const before = passed;
    await new Promise((resolve) => setImmediate(resolve));
    turns.push(passed - before);
  }
  expect(passed).toBe(5_000);
  expect(Math.max(...turns)).toBeLessThanOrEqual(2 * BROKER_LIMITS.inFlight);
  gate.destroy();
});
