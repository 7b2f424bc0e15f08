import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClone, type Clone } from './clone.ts';

/** 2 s on two quiet cores; a machine that does other things takes longer. */
const MOST_MS = 30_000;

let clone: Clone;
let dev: ChildProcess;
let said = '';
let baseUrl = '';

beforeAll(async () => {
  clone = makeClone();
  dev = spawn('npm', ['run', '--silent', 'dev'], {
    cwd: clone.folder,
    env: { ...clone.environment, PORT: '0', BROKER_PORT: '0', MACRO_LANGUAGES: 'none', SAMPLE_DATA: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [dev.stdout!, dev.stderr!]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await ready();
});
afterAll(async () => {
  await stop();
  clone.remove();
});

async function stop(): Promise<void> {
  if (dev.exitCode !== null || dev.signalCode !== null) return;
  const ended = once(dev, 'exit');
  dev.kill('SIGTERM');
  await ended;
}

/** Waits until a server says that it is ready which has not said so before. */
async function ready(): Promise<void> {
  const before = baseUrl;
  for (;;) {
    baseUrl = [...said.matchAll(/ready at (\S+)/g)].at(-1)?.[1] ?? '';
    if (baseUrl !== before) return;
    if (dev.exitCode !== null) throw new Error(`dev ended: ${said}`);
    await sleep(20);
  }
}

/** Saves a file with one text in the place of another; answers the milliseconds until an address answers with what comes of it. */
async function msFromSaveToAnswer(
  file: string,
  [from, to]: readonly [string, string],
  [path, answer]: readonly [string, string],
): Promise<number> {
  const whole = join(clone.folder, file);
  const text = readFileSync(whole, 'utf8');
  expect(text).toContain(from);
  expect(await (await fetch(`${baseUrl}${path}`)).text()).not.toContain(answer);
  const began = performance.now();
  writeFileSync(whole, text.replace(from, to));
  for (;;) {
    await ready();
    if ((await (await fetch(`${baseUrl}${path}`)).text()).includes(answer)) return performance.now() - began;
  }
}

test('a saved file is answered by a new server on the same data folder', async () => {
  const middle = await msFromSaveToAnswer(
    'src/http/documentation.ts',
    ['<title>fieldlake API', '<title>another API'],
    ['/docs', 'another API'],
  );
  const controller = await msFromSaveToAnswer(
    'src/api/health/health.controller.ts',
    ["{ status: 'ok' }", "{ status: 'ok', more: 1 } as Liveness"],
    ['/health/live', '"more":1'],
  );
  process.stdout.write(`from save to answer: ${(middle / 1_000).toFixed(2)} s, of a controller ${(controller / 1_000).toFixed(2)} s\n`);
  expect(middle).toBeLessThan(MOST_MS);
  expect(controller).toBeLessThan(MOST_MS);
});

test('a new route is answered once routes have been generated anew', async () => {
  expect((await fetch(`${baseUrl}/health/planted`)).status).toBe(404);
  const file = join(clone.folder, 'src/api/health/health.controller.ts');
  const began = performance.now();
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(
      "@Get('live')",
      "@Get('planted')\n  public planted(): Liveness {\n    return { status: 'ok' };\n  }\n\n  @Get('live')",
    ),
  );
  let status = 404;
  while (status !== 200) {
    await ready();
    status = (await fetch(`${baseUrl}/health/planted`)).status;
  }
  process.stdout.write(`from a saved route to its answer: ${((performance.now() - began) / 1_000).toFixed(2)} s\n`);
});

test('a source that cannot be read is named, and the server goes on', async () => {
  const file = join(clone.folder, 'src/http/documentation.ts');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, `${text}\nconst = ;\n`);
  while (!/documentation\.ts.*; the server runs as it was/.test(said)) await sleep(20);
  expect((await fetch(`${baseUrl}/docs`)).status).toBe(200);
});

test('what ends npm ends the server too', async () => {
  const live = () => fetch(`${baseUrl}/health/live`).then(({ status }) => status);
  expect(await live()).toBe(200);
  await stop();
  await expect(live()).rejects.toThrow();
});
