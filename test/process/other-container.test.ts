/** A second container on the data folder of the first: it sees the folder, and neither the pids nor the socket of the Postgres that runs there. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startArguments, startEnvironment } from '../../scripts/as-started.ts';
import { runCommand } from '../support/command.ts';
import { spawnServer } from '../support/process.ts';

const root = mkdtempSync(join(tmpdir(), 'fieldlake-container-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Options of `unshare` that run a program with pids of its own. */
const CONTAINER = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'] as const;

test('a Postgres that runs in another container is left alone until it is gone', async () => {
  const dataDir = join(root, 'data');
  const temporary = join(root, 'tmp');
  mkdirSync(temporary);
  const isLocked = () => spawnSync('flock', ['-n', join(dataDir, 'postgres', 'PG_VERSION'), 'true']).status === 1;
  const first = await spawnServer({ DATA_DIR: dataDir });
  expect(isLocked()).toBe(true);
  const made = await runCommand({ dataDir }, 'user', 'create', '--email', 'ada@example.org', '--first-name', 'Ada', '--last-name', 'L');
  expect(made.code, made.problem).toBe(0);
  const startBeside = async () => {
    const env = { PATH: process.env['PATH'], ...startEnvironment, PORT: '0', BROKER_PORT: '0', DATA_DIR: dataDir, TMPDIR: temporary };
    const child = spawn('unshare', [...CONTAINER, process.execPath, ...startArguments], { env });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const [code] = await once(child, 'close');
    return { code, text };
  };
  const refused = { code: 1, text: expect.stringContaining('where this process cannot see it, as in another container') };
  expect(await startBeside()).toMatchObject(refused);
  expect((await fetch(`${first.baseUrl}/health/ready`)).status).toBe(200);
  // its Postgres outlives it, and keeps the lock
  await first.kill('SIGKILL');
  expect(isLocked()).toBe(true);
  expect(await startBeside()).toMatchObject(refused);
  const again = await spawnServer({ DATA_DIR: dataDir });
  const answer = await fetch(`${again.baseUrl}/api/v1/experiments`, { headers: { 'x-api-key': made.json.apiKey } });
  expect(answer.status).toBe(200);
  await again.kill('SIGTERM');
  expect(isLocked()).toBe(false);
});
