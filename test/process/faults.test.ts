import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { classifyFault, type FaultKind } from '../../src/faults.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const PRELOAD = `--import=${join(import.meta.dirname, '..', 'support', 'throws-later.ts')}`;

const closing: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

async function start(fault: FaultKind): Promise<ServerProcess> {
  const site = await sharedSite();
  const server = await spawnServer({ ...site.environment, BROKER: 'off', NODE_OPTIONS: PRELOAD, FAULT: fault });
  closing.push(async () => {
    await server.kill('SIGKILL');
    await site.remove();
  });
  return server;
}

const statusOf = (server: ServerProcess, path: string) =>
  fetch(`${server.baseUrl}${path}`).then(
    ({ status }) => status,
    () => null,
  );

async function until(met: () => boolean | Promise<boolean>, within: number): Promise<void> {
  const start = performance.now();
  while (!(await met())) {
    if (performance.now() - start > within) throw new Error('it did not come');
    await sleep(25);
  }
}

const logged = (server: ServerProcess) => server.output().match(/^.*something failed outside every request.*$/gm) ?? [];

const GOING_ON: FaultKind[] = ['connection', 'statement', 'rejection'];
const ENDING: FaultKind[] = ['exception', 'memory'];

// each has a process of its own, and most of a fault is waiting
test.concurrent.each(GOING_ON)('after a fault of kind %s it is not ready for a while, answers all the same, and goes on', async (kind) => {
  const server = await start(kind);
  expect(await statusOf(server, '/health/ready')).toBe(200);
  server.child.kill('SIGUSR2');
  await until(async () => (await statusOf(server, '/health/ready')) === 503, 8_000);
  const told = await fetch(`${server.adminUrl}/health/ready`);
  expect([told.status, told.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await statusOf(server, '/health/live')).toBe(200);
  await until(() => logged(server).length === 1, 8_000);
  expect(logged(server)[0]).toContain(`"kind":"${kind}","after":"goes on"`);
  await until(async () => (await statusOf(server, '/health/ready')) === 200, 25_000);
  expect(server.child.exitCode).toBeNull();
  await server.kill('SIGTERM');
  expect(server.child.exitCode).toBe(0);
});

test.concurrent.each(ENDING)('after a fault of kind %s it drains and ends with status 1', async (kind) => {
  const server = await start(kind);
  expect(await statusOf(server, '/health/ready')).toBe(200);
  const gone = once(server.child, 'exit');
  server.child.kill('SIGUSR2');
  const [code] = (await gone) as [number];
  expect(code).toBe(1);
  expect(logged(server)).toHaveLength(1);
  expect(logged(server)[0]).toContain(`"kind":"${kind}","after":"ends"`);
});

test.concurrent('faults that come too often are no accident: it ends', async () => {
  const server = await start('rejection');
  const gone = once(server.child, 'exit');
  for (let sent = 0; sent < 40 && server.child.exitCode === null && !server.output().includes('"after":"ends"'); sent += 1) {
    server.child.kill('SIGUSR2');
    await sleep(60);
  }
  expect(((await gone) as [number])[0]).toBe(1);
  expect(logged(server).length).toBeGreaterThan(10);
});

test('what is thrown is told apart by what it is, not by what it says', () => {
  const coded = (code: string) => Object.assign(new Error('x'), { code });
  expect(classifyFault(coded('EPIPE'), false)).toBe('connection');
  expect(classifyFault(coded('ERR_HTTP_TRAILER_INVALID'), false)).toBe('connection');
  expect(classifyFault(new DOMException('The operation was aborted', 'AbortError'), true)).toBe('connection');
  expect(classifyFault(coded('40001'), true)).toBe('statement');
  expect(classifyFault(new RangeError('Array buffer allocation failed'), true)).toBe('memory');
  expect(classifyFault(new RangeError('toFixed() digits'), false)).toBe('exception');
  expect(classifyFault(new TypeError('x is not a function'), true)).toBe('rejection');
  expect(classifyFault('a word', false)).toBe('exception');
  expect(classifyFault(undefined, true)).toBe('rejection');
});
