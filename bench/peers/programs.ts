/** Starting a peer's program on loopback, and waiting until it answers. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { stop } from '../seed-reads.ts';
import type { Program } from './install.ts';

const START_MS = 120_000;

export interface Running {
  pid: number;
  stop: () => Promise<void>;
}

/** Starts a program and waits until `answers` does. */
export async function start({ file, environment }: Program, args: readonly string[], answers: () => Promise<unknown>): Promise<Running> {
  let said = '';
  const child: ChildProcess = spawn(file, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2_000)));
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  failed.catch(() => undefined);
  const until = Date.now() + START_MS;
  for (;;) {
    const isUp = await Promise.race([
      answers().then(
        () => true,
        () => false,
      ),
      failed,
    ]);
    if (isUp) return { pid: child.pid ?? 0, stop: () => stop(child) };
    if (child.exitCode !== null || Date.now() > until) {
      await stop(child);
      throw new Error(`${file} did not start: ${said}`);
    }
    await sleep(100);
  }
}

/** The first version that a program says of itself. */
export function readVersion({ file, environment }: Program, args: readonly string[]): string {
  // mosquitto says its version with its help, and fails
  const text = (() => {
    try {
      return execFileSync(file, args, { env: { ...process.env, ...environment }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch (error) {
      return String((error as { stdout?: string }).stdout);
    }
  })();
  return /\d+\.\d+[\w.~]*/.exec(text)?.[0] ?? 'unknown';
}

/** Does what follows a start; what was started is stopped when that fails. */
export async function orStop<T>(stopIt: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await stopIt();
    throw error;
  }
}
