import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBatch } from '../../src/sandbox/batch.ts';
import type { ProcessSource } from '../../src/sandbox/batch.ts';
import { Checker } from '../../src/sandbox/checker.ts';
import { chooseLevels, type Prepared } from '../../src/sandbox/probe.ts';
import { MacroProcess } from '../../src/sandbox/process.ts';
import { findRuntimes } from '../../src/sandbox/runtimes.ts';
import { job, LEVELS, titleOf } from './machine.ts';

describe.runIf(LEVELS.bubblewrap.runs)(`a process ${titleOf('bubblewrap')}`, () => {
  let folder: string;
  let javascript: Prepared;
  let again: Prepared;
  let python: Prepared;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fieldlake-process-'));
    chmodSync(folder, 0o755);
    const limits = { memoryMb: 1536, cpuSeconds: 600, fileMb: 32 };
    const programs = { python: '/usr/bin/python3', node: process.execPath };
    const runtimes = findRuntimes(join(import.meta.dirname, '..', '..', 'src', 'sandbox', 'runtimes'));
    const settings = { runtimes, folder, level: 'bubblewrap', acceptRoot: false, ...programs, limits } as const;
    javascript = (await chooseLevels(settings, ['javascript'])).get('javascript')!;
    python = (await chooseLevels(settings, ['python'])).get('python')!;
    again = (await chooseLevels(settings, ['javascript'])).get('javascript')!;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('ends whenever it is told to, also while its box is being built', async () => {
    for (let turn = 0; turn < 40; turn += 1) {
      const started = new MacroProcess(javascript.launch!(true));
      await pause(turn % 20);
      started.kill();
      expect(await Promise.race([started.ended, pause(10_000, 'still there')])).toBe('killed by SIGKILL');
    }
  });

  it('reaches nobody over the network, by its namespace alone and by its filter of calls alone', async () => {
    const service = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const { port } = service.address() as AddressInfo;
    const attempt = `import socket\ntry:\n  socket.create_connection(('127.0.0.1', ${port}), 5)\n  print('through')\nexcept OSError as error:\n  print(error.errno)`;
    const { file, args, env, files, identity } = python.launch!(true);
    const filter = args.indexOf('--seccomp');
    const command = args.indexOf('--', filter) + 1;
    /** What the attempt says in the box with these walls. */
    const tryWith = async ({ hasNamespace, hasFilter }: { hasNamespace: boolean; hasFilter: boolean }): Promise<string> => {
      const box = [
        ...args.slice(0, filter),
        ...(hasNamespace ? [] : ['--share-net']),
        ...(hasFilter ? args.slice(filter, command - 1) : []),
      ];
      const opened = files.map((path) => openSync(path, 'r'));
      const child = spawn(file, [...box, '--', args[command]!, '-I', '-c', attempt], {
        env,
        cwd: '/',
        stdio: ['ignore', 'pipe', 'pipe', ...opened],
        ...identity,
      });
      for (const descriptor of opened) closeSync(descriptor);
      const [said, complained] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
      return said.trim() || complained;
    };
    try {
      expect(await tryWith({ hasNamespace: false, hasFilter: false })).toBe('through');
      expect(await tryWith({ hasNamespace: true, hasFilter: false })).toBe(String(constants.errno.ECONNREFUSED));
      expect(await tryWith({ hasNamespace: false, hasFilter: true })).toBe(String(constants.errno.EPERM));
    } finally {
      service.close();
    }
  });

  it('has no file that whoever started the service left open', async () => {
    const { file, args, env, files, identity } = python.launch!(true);
    const command = args.lastIndexOf('--') + 2;
    const attempt = `import random\nrandom._os.write(40, b'a macro. ')`;
    /** Runs the box with descriptor 40 open, which Node closes to its children only where it opened it itself. */
    const runWith = async (script: readonly string[], messages: readonly object[]): Promise<string> => {
      const opened = [...files.map((path) => openSync(path, 'r')), openSync(join(folder, 'left-open'), 'a')];
      const stdio = ['pipe', 'pipe', 'inherit', ...Array.from({ length: 38 }, () => 'ignore' as const)] as (number | 'pipe' | 'inherit')[];
      stdio.splice(3, files.length, ...opened.slice(0, -1));
      stdio[40] = opened.at(-1)!;
      const child = spawn(file, [...args.slice(0, command), ...script], { env, cwd: '/', stdio, ...identity });
      for (const descriptor of opened) closeSync(descriptor);
      child.stdin!.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
      return text(child.stdout!);
    };
    expect(await runWith(['-I', '-c', `import os\nos.write(40, b'a program. ')`], [])).toBe('');
    const job = { op: 'job', code: attempt, itemMs: 1_000, clock: null };
    const said = await runWith(args.slice(command), [job, { op: 'item', i: 0, data: {}, ctx: {} }]);
    expect(readFileSync(join(folder, 'left-open'), 'utf8')).toBe('a program. ');
    expect(said).toContain('Bad file descriptor');
  });

  it.runIf(process.getuid?.() === 0)('runs as somebody else than those before it, and those of another service', () => {
    const users = (prepared: Prepared) => Array.from({ length: 20 }, () => prepared.launch!(true).identity!.uid);
    const [ours, theirs] = [users(javascript), users(again)];
    expect(new Set(ours).size).toBe(20);
    for (const uid of [...ours, ...theirs]) expect(uid >= 64_000 && uid < 65_000).toBe(true);
    // one chance in a thousand that both began at the same user
    expect(ours).not.toEqual(theirs);
  });
});

describe('a process that never says that it is ready', () => {
  const stuck = { file: '/bin/sleep', args: ['600'], env: {}, files: [] };
  const sourceOf = (started: MacroProcess[], startMs?: number): ProcessSource => ({
    itemsPerProcess: 10,
    take: () => {
      const one = new MacroProcess(stuck, startMs);
      started.push(one);
      return one;
    },
    giveBack: (one) => one.kill(),
  });

  it('is ended, and what waited for it is told why', async () => {
    const started: MacroProcess[] = [];
    await expect(runBatch(job('javascript', '1', [{}]), sourceOf(started, 200))).rejects.toThrow('It did not start within 0.2 s.');
    expect(started.length).toBe(2);
    expect(await Promise.all(started.map(async ({ ended }) => ended))).toEqual(['killed by SIGKILL', 'killed by SIGKILL']);
  });

  it('ends with the wait of who goes away', async () => {
    const started: MacroProcess[] = [];
    const waiting = runBatch(job('javascript', '1', [{}], { signal: AbortSignal.timeout(200) }), sourceOf(started));
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await Promise.all(started.map(async ({ ended }) => ended))).toEqual(['killed by SIGKILL']);
  });
});

describe('a process that says it is worn', () => {
  // answers every item of a batch in one write; each process counts from one, and says after its first item that something is left behind
  const SCRIPT = `
    let text = '';
    const say = (record) => '\\x1e' + JSON.stringify(record) + '\\n';
    process.stdout.write(say({ ready: true }));
    process.stdin.on('data', (bytes) => {
      text += bytes;
      const messages = text.split('\\n').slice(0, -1).map((line) => JSON.parse(line));
      const items = messages.filter(({ op }) => op === 'item');
      if (items.length < Number(process.argv[1])) return;
      text = '';
      let turn = 0;
      process.stdout.write(say({ go: true }) + items.map(({ i }) => say({ i, ok: true, output: { turn: ++turn }, logs: [], ms: 1, last: turn === 1 })).join(''));
    });`;
  it('is asked nothing more, though its next answers are here already', async () => {
    const given: boolean[] = [];
    const counts = [3, 2, 1];
    const source: ProcessSource = {
      take: () => new MacroProcess({ file: process.execPath, args: ['-e', SCRIPT, String(counts.shift())], env: {}, files: [] }),
      giveBack: (one, sound) => {
        given.push(sound);
        one.kill();
      },
      itemsPerProcess: 100,
    };
    const { results } = await runBatch(job('javascript', 'return {}', [{}, {}, {}]), source);
    expect(results.map(({ output }) => output)).toEqual([{ turn: 1 }, { turn: 1 }, { turn: 1 }]);
    expect(given).toEqual([false, false, false]);
  });
});

describe('a process that checks code', () => {
  // answers every code but one
  const SCRIPT = `
    const say = (record) => process.stdout.write('\\x1e' + JSON.stringify(record) + '\\n');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      if (JSON.parse(line).code !== 'endless') say({ problems: [] });
    });
    say({ ready: true });`;
  it('is asked nothing more once it was given up: the next code is read by another', async () => {
    const started: MacroProcess[] = [];
    const checker = new Checker(() => {
      const one = new MacroProcess({ file: process.execPath, args: ['-e', SCRIPT], env: {}, files: [] });
      started.push(one);
      return one;
    });
    expect(await checker.check('1', 'somebody')).toEqual([]);
    const [endless, plain] = await Promise.all([checker.check('endless', 'somebody'), checker.check('1', 'another')]);
    expect(endless).toMatchObject([{ line: 1, column: 1 }]);
    expect(plain).toEqual([]);
    expect(started.length).toBe(2);
    expect(await started[0]!.ended).toBe('killed by SIGKILL');
    started[1]!.kill();
  });
});
