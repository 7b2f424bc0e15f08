import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { isRunning, locateSocketFolder } from '../../src/database/cluster.ts';
import { startEmbeddedPostgres } from '../../src/database/embedded.ts';
import { runCommand } from '../support/command.ts';
import { eventually } from '../support/crashes.ts';
import { beginServer, failing, sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const folders: string[] = [];
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'fieldlake-start-'));
  folders.push(made);
  return made;
};
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true, force: true });
});

const postgresPid = (dataDir: string) => Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

// each has a folder and a Postgres of its own, and one waits for half a minute: they do so side by side
describe.concurrent('the embedded Postgres', () => {
  test('is stopped by SIGTERM, refused to a second start, and adopted after kill -9', async () => {
    const dataDir = folder();
    const killed = join(dataDir, `postgres.${randomUUID()}`);
    mkdirSync(killed);
    const first = await spawnServer({ DATA_DIR: dataDir });
    expect(existsSync(killed)).toBe(false);
    const pid = postgresPid(dataDir);
    const socket = locateSocketFolder(dataDir);
    const second = await failing({ DATA_DIR: dataDir });
    expect(second).toMatchObject({ code: 1, text: expect.stringContaining('in use by another fieldlake process') });
    const link = join(folder(), 'link');
    symlinkSync(dataDir, link);
    expect(await failing({ DATA_DIR: link })).toMatchObject({
      code: 1,
      text: expect.stringContaining('in use by another fieldlake process'),
    });
    const elsewhere = await failing({ DATA_DIR: dataDir, TMPDIR: folder() });
    expect(elsewhere).toMatchObject({ code: 1, text: expect.stringContaining(`its socket in ${socket} is not found from here`) });
    expect((await fetch(`${first.baseUrl}/health/ready`)).status).toBe(200);

    await first.kill('SIGKILL');
    expect([isRunning(pid), existsSync(socket)]).toEqual([true, true]);
    const third = await spawnServer({ DATA_DIR: dataDir });
    expect(postgresPid(dataDir)).toBe(pid);
    expect((await fetch(`${third.baseUrl}/health/ready`)).status).toBe(200);
    await third.kill('SIGTERM');
    expect(third.child.exitCode).toBe(0);
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
    expect(existsSync(socket)).toBe(false);
  });

  test('is stopped with a service that was told to stop before it was ready', async () => {
    const dataDir = folder();
    const { child, ended } = beginServer({ DATA_DIR: dataDir });
    const isStarted = async () => existsSync(join(dataDir, 'postgres', 'postmaster.pid'));
    expect(await eventually(isStarted, Boolean, 60_000)).toBe(true);
    const pid = postgresPid(dataDir);
    expect(isRunning(pid)).toBe(true);
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: 0, text: '' });
    expect(isRunning(pid)).toBe(false);
  });

  test('that cannot be started again ends the process with a sentence and status 1', async () => {
    const dataDir = folder();
    const server = await spawnServer({ DATA_DIR: dataDir });
    const ended = once(server.child, 'exit');
    // killed with its folder whole, it is started again
    const first = postgresPid(dataDir);
    process.kill(first, 'SIGKILL');
    const ready = async () => (await fetch(`${server.baseUrl}/health/ready`)).status;
    const isBack = () => existsSync(join(dataDir, 'postgres', 'postmaster.pid')) && postgresPid(dataDir) !== first;
    for (let tries = 0; tries < 300 && !(isBack() && (await ready()) === 200); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect([isBack(), await ready(), server.child.exitCode]).toEqual([true, 200, null]);

    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), 'none\n');
    process.kill(postgresPid(dataDir), 'SIGKILL');
    for (let tries = 0; tries < 1_200 && (await ready()) !== 503; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await ready()).toBe(503);
    expect((await fetch(`${server.baseUrl}/health/live`)).status).toBe(200);
    expect(await ended).toEqual([1, null]);
    expect(server.output()).toContain(
      `fieldlake cannot go on: The embedded Postgres did not start; ${join(dataDir, 'postgres.log')} says why.`,
    );
  });

  test('of another version of Postgres, or that cannot be opened, ends the start at the first try', async () => {
    const dataDir = folder();
    const first = await spawnServer({ DATA_DIR: dataDir });
    await first.kill('SIGTERM');
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    const { code, text } = await failing({ DATA_DIR: dataDir });
    expect([code, text.trim()]).toEqual([
      1,
      `fieldlake cannot start: The embedded Postgres did not start; ${join(dataDir, 'postgres.log')} says why.`,
    ]);
    const tries = readFileSync(join(dataDir, 'postgres.log'), 'utf8').match(/incompatible with server/g);
    expect(tries).toHaveLength(1);
    rmSync(join(dataDir, 'postgres', 'PG_VERSION'));
    mkdirSync(join(dataDir, 'postgres', 'PG_VERSION'));
    expect(await failing({ DATA_DIR: dataDir })).toMatchObject({
      code: 1,
      text: expect.stringMatching(/^fieldlake cannot start: The Postgres in .* cannot be started by this account: EISDIR/),
    });
  });

  test('the sample comes by itself, with a private quickstart file whose keys work', async () => {
    const dataDir = folder();
    const server = await spawnServer({ DATA_DIR: dataDir, SAMPLE_DATA: 'on' });
    const file = join(dataDir, 'quickstart.json');
    for (let tries = 0; tries < 300 && !server.output().includes('quickstart.json'); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    const quickstart = JSON.parse(readFileSync(file, 'utf8'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(Object.keys(quickstart)).toEqual(['baseUrl', 'adminUrl', 'apiKey', 'experimentId', 'uploadTableId', 'organizationId', 'users']);
    expect(Object.keys(quickstart.users)).toEqual(['owner', 'member', 'teammate', 'viewer', 'stranger']);
    const status = async (person: string) =>
      (
        await fetch(`${quickstart.baseUrl}/api/v1/experiments/${quickstart.experimentId}`, {
          headers: { 'x-api-key': quickstart.users[person].apiKey },
        })
      ).status;
    expect(await Promise.all(['owner', 'member', 'teammate', 'viewer', 'stranger'].map(status))).toEqual([200, 200, 200, 200, 403]);
    const metrics = await (await fetch(`${quickstart.adminUrl}/metrics`)).text();
    expect(metrics).toContain('http_request_duration_seconds');
    // measured from this question on: before a first sample the least is 2^63 ns
    const least = Number(/^nodejs_eventloop_lag_min_seconds (\S+)/m.exec(metrics)?.[1]);
    expect(least).toBeGreaterThan(0);
    expect(least).toBeLessThan(10);
    expect(await (await fetch(`${quickstart.baseUrl}/metrics`)).json()).toMatchObject({ status: 404 });
    const output = server.output();
    expect(output.split(quickstart.apiKey)).toHaveLength(2);
    const lines = output.split('\n').filter((line) => /^(KEY=|curl |printf )/.test(line));
    expect(lines.length).toBeGreaterThanOrEqual(7);
    expect(lines[0]).toBe(`KEY='${quickstart.apiKey}'`);
    // pasted in order into one shell; each answer is told apart by a line of its own
    const child = spawn('bash', ['-c', lines.map((line) => `${line}\necho; echo ===`).join('\n')]);
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(child, 'close');
    const answers = text.split('===\n').slice(1, lines.length);
    expect(answers).toHaveLength(lines.length - 1);
    for (const answer of answers) {
      expect(answer.length).toBeGreaterThan(20);
      expect(answer).not.toContain('"code":');
    }
    // without the key, the same line is refused
    const refused = spawn('bash', ['-c', lines[1]!]);
    let problem = '';
    refused.stdout.on('data', (chunk: Buffer) => (problem += chunk.toString()));
    await once(refused, 'close');
    expect(problem).toContain('"code":');
    // the command for more of it says so also where there are enough
    for (let run = 0; run < 2; run += 1)
      expect(await runCommand({ dataDir }, 'sample', '--rows', '10')).toMatchObject({
        code: 0,
        text: expect.stringContaining('The sample has 10 measurements or more.'),
      });
    await server.kill('SIGTERM');
  });
});

test('a data folder that was moved while its Postgres ran is refused with what to do, and starts after that', async () => {
  const before = folder();
  const server = await spawnServer({ DATA_DIR: before });
  const pid = postgresPid(before);
  await server.kill('SIGKILL');
  const dataDir = join(folder(), 'moved');
  renameSync(before, dataDir);
  const { code, text } = await failing({ DATA_DIR: dataDir });
  expect(code).toBe(1);
  expect(text).toContain(`${join(dataDir, 'postgres')} was ${join(before, 'postgres')} while its Postgres ran`);
  expect(text).toContain(`kill -INT ${pid}`);
  process.kill(pid, 'SIGINT');
  for (let tries = 0; tries < 600 && isRunning(pid); tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
  await (await spawnServer({ DATA_DIR: dataDir })).kill('SIGTERM');
});

test('lock files of a server that is gone, whose pid another process has by now, do not keep a start', async () => {
  const dataDir = folder();
  const socket = locateSocketFolder(dataDir);
  const first = await spawnServer({ DATA_DIR: dataDir });
  const files = [join(dataDir, 'postgres', 'postmaster.pid'), join(socket, '.s.PGSQL.5432.lock')];
  const before = files.map((file) => readFileSync(file, 'utf8'));
  const pid = postgresPid(dataDir);
  await first.kill('SIGTERM');
  // as after a reboot
  const other = spawn('sleep', ['600'], { cwd: dataDir });
  mkdirSync(socket, { mode: 0o700 });
  for (const [at, file] of files.entries()) writeFileSync(file, before[at]!.replace(String(pid), String(other.pid)));
  const second = await spawnServer({ DATA_DIR: dataDir });
  expect(isRunning(other.pid!)).toBe(true);
  expect((await failing({ DATA_DIR: dataDir })).text).toContain('in use by another fieldlake process');
  await second.kill('SIGTERM');
  other.kill();
});

test('a start whose connection is ended while it asks for the Postgres of another process asks again', async () => {
  const dataDir = folder();
  const first = await startEmbeddedPostgres({ dataDir });
  const admin = new pg.Client({ connectionString: first.urlOf('postgres') });
  await admin.connect();
  try {
    const owner = await admin.query<{ pid: number }>("select pid from pg_locks where locktype = 'advisory'");
    const second = startEmbeddedPostgres({ dataDir }).catch((error: unknown) => error);
    // as a Postgres does that the other process is just stopping
    const end = () =>
      admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where query like '%try_advisory%' and state = 'idle' and pid <> $1",
        [owner.rows[0]!.pid],
      );
    await expect.poll(async () => (await end()).rowCount, { interval: 20 }).toBe(1);
    expect(await second).toMatchObject({ message: expect.stringContaining('in use by another fieldlake process') });
  } finally {
    await admin.end();
    await first.stop();
  }
});

/** Files and folders beneath a folder that others than their owner may touch, without those of Postgres. */
const open = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const inner = join(path, entry.name);
    if (entry.name === 'postgres' || entry.isSymbolicLink()) return [];
    const own = (statSync(inner).mode & 0o077) === 0 ? [] : [inner];
    return entry.isDirectory() ? [...own, ...open(inner)] : own;
  });

/** Takes a port on the loopback interface until the answer is called; undefined where it is taken already. */
async function take(port: number) {
  const taker = createServer();
  taker.listen(port, '127.0.0.1');
  const taken = await once(taker, 'listening').then(
    () => true,
    () => false,
  );
  return { port: taken ? (taker.address() as AddressInfo).port : port, free: () => taker.close() };
}

const said = async (server: ServerProcess, sentence: string) => {
  for (let tries = 0; tries < 600 && !server.output().includes(sentence); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  expect(server.output()).toContain(sentence);
};

describe.concurrent('what surrounds a start', () => {
  test('an unreachable BASE_URL and a taken port 8883 do not stop it; what it makes is private; scratch of the dead goes', async () => {
    const dataDir = folder();
    const scratch = join(dataDir, 'tmp');
    const dead = spawn('true');
    await once(dead, 'exit');
    const host = hostname().replaceAll(/[^A-Za-z0-9.]/g, '_');
    const left = join(scratch, `duckdb-${host}-${dead.pid}-abcdef`);
    const living = join(scratch, `duckdb-${host}-${process.pid}-abcdef`);
    for (const each of [left, living]) mkdirSync(each, { recursive: true });
    chmodSync(scratch, 0o755);
    const usual = await take(8883);
    const server = await spawnServer({
      DATA_DIR: dataDir,
      SAMPLE_DATA: 'on',
      BROKER_PORT: '',
      BASE_URL: 'https://not-there-yet.example',
    });
    try {
      await said(server, 'quickstart.json');
      await said(server, 'since 8883 is taken');
      await said(server, 'TRUST_PROXY_HOPS=0 behind the proxy');
      expect(server.output()).not.toContain('could not be made');
      expect([existsSync(left), existsSync(living)]).toEqual([false, true]);
      rmSync(living, { recursive: true });
      await said(server, 'measurements can be read');
      // the season's macro is among those that wait
      expect(server.output().split('macros of a language cannot be run here')).toHaveLength(4);
      expect(server.output()).not.toContain('could not be run yet');
      expect(readdirSync(join(dataDir, 'lake')).length).toBeGreaterThan(0);
      expect(open(dataDir)).toEqual([]);
      expect(server.child.exitCode).toBeNull();
    } finally {
      await server.kill('SIGTERM');
      usual.free();
    }
  });

  test('a taken port 3000 that nobody asked for does not stop it; behind a BASE_URL it does', async () => {
    const usual = await take(3_000);
    const server = await spawnServer({ PORT: '', DATA_DIR: folder() });
    try {
      expect(new URL(server.baseUrl).port).not.toBe('3000');
      await said(server, 'since 3000 is taken; PORT chooses another.');
      expect(server.output()).not.toContain('TRUST_PROXY_HOPS');
      expect((await fetch(`${server.baseUrl}/health/ready`)).status).toBe(200);
    } finally {
      await server.kill('SIGTERM');
    }
    const { code, text } = await failing({ PORT: '', DATA_DIR: folder(), BASE_URL: 'https://not-there-yet.example' });
    usual.free();
    expect(code).toBe(1);
    expect(text).toContain('fieldlake cannot start: PORT 3000 is in use on 127.0.0.1; choose another');
  });

  test.each(['PORT', 'BROKER_PORT'])('a %s that was asked for and is taken stops it with a sentence', async (name) => {
    const site = await sharedSite();
    const taken = await take(0);
    const { code, text } = await failing({ ...site.environment, MACRO_LANGUAGES: 'none', [name]: String(taken.port) });
    taken.free();
    await site.remove();
    expect(code).toBe(1);
    expect(text).toContain(`fieldlake cannot start: ${name} ${taken.port} is in use on 127.0.0.1; choose another`);
  });
});
