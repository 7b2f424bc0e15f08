import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let folder: string;
beforeAll(async () => {
  site = await startTestServer();
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-usage-'));
});
afterAll(async () => {
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]) => runCommand({ url: site.database.url, dataDir: site.dataDir }, ...args);

test('--help says how a command is used, and does nothing', async () => {
  const helped = await Promise.all(['user', 'sample', 'lake', 'import', 'backup', 'restore'].map((command) => run(command, '--help')));
  expect(helped.map(({ code, problem }) => [code, problem])).toEqual(helped.map(() => [0, '']));
  const [user, , lake, , backup] = helped.map(({ text }) => text);
  expect(backup).toBe('usage:\n  npm run backup -- DIR               (beside a running server)\n');
  expect(lake).toMatch(/lake -- status\n[^]*lake -- replay/);
  expect(lake).not.toContain('backup');
  expect(user).toMatch(/create-key[^]*requests a minute[^]*revoke-key/);
  expect((await run('--help')).text).toMatch(/npm run user[^]*npm run restore/);
}, 60_000);

test('a backup goes into no folder that looks like an option', async () => {
  const { code, problem } = await run('backup', '--quiet');
  expect([code, problem]).toEqual([1, expect.stringMatching(/--quiet[^]*usage:/)]);
  expect(existsSync('--quiet')).toBe(false);
  expect(await run('backup', join(folder, 'kept'))).toMatchObject({ code: 0, json: { missing: [] } });
  expect(existsSync(join(folder, 'kept'))).toBe(true);
}, 60_000);

test('numbers of a key are numbers', async () => {
  const make = (...args: string[]) => run('user', 'create-key', '--email', 'owner@example.com', ...args);
  expect(await make('--days', '7', '--rate-limit', '200')).toMatchObject({ code: 0 });
  const wrong = [
    ['--days', 'week'],
    ['--days', '0'],
    ['--days', '366'],
    ['--rate-limit', 'many'],
    ['--rate-limit', '1.5'],
  ];
  for (const [at, { code, problem }] of (await Promise.all(wrong.map((args) => make(...args)))).entries())
    expect([code, problem]).toEqual([1, expect.stringContaining(`${wrong[at]![0]!} is a whole number`)]);
}, 60_000);
