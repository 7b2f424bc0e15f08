import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

let folder: string;
let copy: string;
/** As a new account has it: no caches, no settings, and a place of its own for each run's data. */
const environment = (name: string) => ({
  PATH: process.env['PATH'] ?? '',
  HOME: join(folder, 'home'),
  DATA_DIR: join(folder, name),
  PORT: '0',
  BROKER_PORT: '0',
  MACRO_LANGUAGES: 'none',
});

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-production-'));
  copy = join(folder, 'fieldlake');
  mkdirSync(join(folder, 'home'));
  const tracked = spawnSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).stdout.split('\0').filter(Boolean);
  expect(tracked.length).toBeGreaterThan(500);
  for (const name of tracked.filter((each) => existsSync(join(ROOT, each)))) {
    mkdirSync(join(copy, dirname(name)), { recursive: true });
    cpSync(join(ROOT, name), join(copy, name));
  }
  cpSync(join(ROOT, 'build'), join(copy, 'build'), { recursive: true });
  const installed = spawnSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: copy, encoding: 'utf8' });
  expect(installed.status, installed.stderr).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `npm start` in the copy, with what it says so far. */
function start(name: string): { child: ChildProcess; said: () => string } {
  const child = spawn('npm', ['start'], { cwd: copy, env: environment(name), stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { child, said: () => text };
}

interface Quickstart {
  baseUrl: string;
  apiKey: string;
  experimentId: string;
  uploadTableId: string;
}

test('without development dependencies it builds nothing, answers, draws a picture, and ends with 0', async () => {
  expect(existsSync(join(copy, 'node_modules', 'typescript'))).toBe(false);
  const built = join(copy, 'build', 'src', 'server.js');
  const before = statSync(built).mtimeMs;
  const { child, said } = start('data');
  const ended = once(child, 'exit');
  try {
    const file = join(folder, 'data', 'quickstart.json');
    for (let tries = 0; tries < 900 && !said().includes('quickstart.json') && child.exitCode === null; tries += 1) await sleep(100);
    expect(said()).toContain('fieldlake is ready at');
    const { baseUrl, apiKey, experimentId, uploadTableId } = JSON.parse(readFileSync(file, 'utf8')) as Quickstart;
    const call = (path: string, init: RequestInit = {}) =>
      fetch(`${baseUrl}/api/v1/experiments/${experimentId}${path}`, {
        ...init,
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      });
    expect((await call('')).status).toBe(200);
    const page = (await (await call(`/data?tableName=${uploadTableId}&limit=1`)).json()) as {
      data: { columns: { name: string; type_name: string }[] };
    }[];
    const column = page[0]!.data.columns.find(({ type_name: type }) => /double|float|int|decimal/i.test(type))!.name;
    const chart = await call('/visualizations', {
      method: 'POST',
      body: JSON.stringify({
        name: 'Counted',
        chartFamily: 'basic',
        chartType: 'histogram',
        dataConfig: { tableName: uploadTableId, dataSources: [{ tableName: uploadTableId, columnName: column, role: 'y' }] },
        config: {},
      }),
    });
    const made = await chart.text();
    expect(chart.status, made).toBe(201);
    const picture = await call(`/visualizations/${(JSON.parse(made) as { id: string }).id}/image?format=png`);
    const bytes = Buffer.from(await picture.arrayBuffer());
    expect([picture.status, bytes.subarray(0, 8), bytes.length > 1_000]).toEqual([200, PNG, true]);
    expect(statSync(built).mtimeMs).toBe(before);
  } finally {
    child.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
});

test('without build/ it says what to do, with status 1', async () => {
  renameSync(join(copy, 'build'), join(folder, 'build'));
  const { child, said } = start('unbuilt');
  const [status] = (await once(child, 'close')) as [number];
  renameSync(join(folder, 'build'), join(copy, 'build'));
  expect(status, said()).toBe(1);
  expect(said()).toContain('fieldlake cannot start: there is no build/ and nothing here that could make it; run npm ci && npm run build');
  expect(existsSync(join(folder, 'unbuilt'))).toBe(false);
});
