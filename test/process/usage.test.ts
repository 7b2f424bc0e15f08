import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { beginServer } from '../support/process.ts';
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
});

test('a word that a command does not know is refused before anything is made', async () => {
  const dataDir = join(folder, 'none');
  const refused = async (...args: string[]) => {
    const { code, problem } = await runCommand({ dataDir }, ...args);
    return [code, problem.split('\n')[0], existsSync(dataDir)];
  };
  expect(await refused('lake', 'status', 'now')).toEqual([1, "'now' is one word too many", false]);
  expect(await refused('lake', 'status', '--day', '2026-05-01')).toEqual([1, expect.stringContaining("'--day'"), false]);
  expect(await refused('lake', 'sttaus')).toEqual([1, expect.stringMatching(/^say status, /), false]);
  expect(await refused('user', 'create-key', '--email', 'owner@example.com', 'twice')).toEqual([1, "'twice' is one word too many", false]);
  expect(await refused('backup', join(folder, 'a'), join(folder, 'b'))).toEqual([
    1,
    expect.stringContaining('is one word too many'),
    false,
  ]);
  expect(await refused('sample', '--rows', 'many')).toEqual([1, '--rows is a whole number, 1 at least', false]);
  expect(await refused('bakcup')).toEqual([1, 'there is no command bakcup', false]);
});

test('the service and the worker say how they are used, and take no arguments', async () => {
  const environment = { DATA_DIR: join(folder, 'none'), DATABASE_URL: 'no address' };
  const ran = async (...words: string[]) => {
    const { child, ended } = beginServer(environment, ...words);
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return { ...(await ended), said };
  };
  for (const role of [[], ['worker']]) {
    expect(await ran(...role)).toMatchObject({ code: 1, text: expect.stringContaining('DATABASE_URL is not valid') });
    expect(await ran(...role, '--help')).toEqual({
      code: 0,
      text: '',
      said: expect.stringMatching(/npm start[^]*npm run worker[^]*README/),
    });
    expect(await ran(...role, '--port=80')).toMatchObject({
      code: 1,
      text: expect.stringMatching(/^fieldlake cannot start: it takes no arguments, and was given '--port=80'; settings are/),
    });
  }
});

test('a backup goes into no folder that looks like an option', async () => {
  const { code, problem } = await run('backup', '--quiet');
  expect([code, problem]).toEqual([1, expect.stringMatching(/--quiet[^]*usage:/)]);
  expect(existsSync('--quiet')).toBe(false);
  expect(await run('backup', join(folder, 'kept'))).toMatchObject({ code: 0, json: { missing: [] } });
  expect(existsSync(join(folder, 'kept'))).toBe(true);
});

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
});
