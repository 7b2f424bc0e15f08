import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { findServerPid, isRunning } from '../../src/database/cluster.ts';
import { startArguments, startEnvironment } from '../../scripts/as-started.ts';
import { eventually } from '../support/crashes.ts';

const TERMINAL = join(import.meta.dirname, 'terminal.py');

/** Starts the service in a terminal, behind these words, and closes the terminal once it is ready. Answers the data folder and the pid of the service. */
async function closeTerminal(...words: readonly string[]): Promise<{ dataDir: string; pid: number }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fieldlake-terminal-'));
  const pidFile = join(dataDir, 'pid');
  // the shell becomes the service
  const shell = join(dataDir, 'start.sh');
  writeFileSync(shell, `echo $$ > ${pidFile}; exec "$@"`);
  const child = spawn('python3', [TERMINAL, ...words, 'sh', shell, process.execPath, ...startArguments], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], ...startEnvironment },
      ...{ DATA_DIR: dataDir, PORT: '0', BROKER_PORT: '0', SAMPLE_DATA: 'off', MACRO_LANGUAGES: 'none' },
    },
  });
  const lines = createInterface(child.stdout);
  expect(await once(lines, 'line')).toEqual(['ready']);
  const pid = Number(readFileSync(pidFile, 'utf8'));
  expect([isRunning(pid), findServerPid(join(dataDir, 'postgres')) !== undefined]).toEqual([true, true]);
  child.stdin.end('\n');
  await once(child, 'exit');
  return { dataDir, pid };
}

const hasEnded = (pid: number) =>
  eventually(
    async () => isRunning(pid),
    (runs) => !runs,
    60_000,
  );

test('a service ends with its terminal, and takes its Postgres along', async () => {
  const { dataDir, pid } = await closeTerminal();
  expect(await hasEnded(pid)).toBe(false);
  expect(findServerPid(join(dataDir, 'postgres'))).toBeUndefined();
  rmSync(dataDir, { recursive: true });
});

test('with nohup it goes on', async () => {
  const { dataDir, pid } = await closeTerminal('sh', '-c', 'nohup "$@" > "$DATA_DIR/out" 2>&1 & tail -F "$DATA_DIR/out"', 'sh');
  await sleep(3_000);
  expect([isRunning(pid), findServerPid(join(dataDir, 'postgres')) !== undefined]).toEqual([true, true]);
  process.kill(pid, 'SIGTERM');
  expect(await hasEnded(pid)).toBe(false);
  rmSync(dataDir, { recursive: true });
});
