import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { MacroLanguage } from './job.ts';
import type { Launch } from './process.ts';
import type { Runtimes } from './runtimes.ts';

export interface Limits {
  memoryMb: number;
  /** Processor time of one process over its life. */
  cpuSeconds: number;
  /** Largest file it may write, in its own temporary memory. */
  fileMb: number;
}

export const PRLIMIT = ['/usr/bin/prlimit', '/bin/prlimit'].find((path) => existsSync(path));

/** Puts hard limits around a command. `data` counts memory that is written to, which fits engines that reserve address space they never use. */
export const limitLaunch = (launch: Launch, limits: Limits, memory: 'data' | 'address'): Launch => {
  if (PRLIMIT === undefined) return launch;
  const bytes = limits.memoryMb * 1024 * 1024;
  const args = [
    memory === 'data' ? `--data=${bytes}` : `--as=${bytes}`,
    `--cpu=${limits.cpuSeconds}`,
    `--fsize=${limits.fileMb * 1024 * 1024}`,
    '--nofile=256',
    '--core=0',
    // counts every thread of the account, so it is a limit only where the box has an account of its own, which root gives it
    ...(process.getuid?.() === 0 ? ['--nproc=64'] : []),
  ];
  return { ...launch, file: PRLIMIT, args: [...args, '--', launch.file, ...launch.args] };
};

/** Limits an engine that runs in Node. The engine itself takes a few hundred MB beside what the macro gets. */
export const limitEngine = (launch: Launch, limits: Limits): Launch =>
  limitLaunch(launch, { ...limits, memoryMb: limits.memoryMb + 512 }, 'data');

/** What Python's harness is made of, in each of its boxes. */
export const PYTHON_FILES = ['harness.py', 'helpers.py', 'fits.py', 'curves.py', 'proof.py'] as const;

/** Flags of a Node process that may read its own packages and nothing else: no writing, no processes, workers, add-ons, network or inspector. */
export const listNodeFlags = (readable: readonly string[]): string[] => [
  '--permission',
  ...readable.map((path) => `--allow-fs-read=${realpathSync(path)}`),
  '--disallow-code-generation-from-strings',
  '--disable-proto=throw',
  '--no-addons',
  '--no-warnings',
  '--max-old-space-size=256',
];

/**
 * Prints the arguments that run the JavaScript engine. Its start alone makes code hot, and to optimise that code costs as much as all the rest. A process that
 * is started ahead of need optimises while nobody waits. A hurried one does so only when its macro makes code hot.
 */
export const makeEngineCommand = (script: string, hurried: boolean): string[] =>
  hurried ? ['--wasm-tiering-budget=200000000', script] : [script, 'ahead'];

export const NODE_ENVIRONMENT = { TZ: 'UTC', LANG: 'C.UTF-8' };

/** Where the memory of a Python that is ready for macros is kept; every process starts from it. */
const snapshotIn = (folder: string) => join(folder, 'pyodide.memory');

/** Names the memory by what it is made of. */
const versionOf = async (runtimes: Runtimes): Promise<string> => {
  const hash = createHash('sha256').update(process.version);
  for (const name of ['pyodide.mjs', ...PYTHON_FILES]) hash.update(await readFile(join(runtimes.folder, name)));
  return hash.update(await readFile(join(runtimes.pyodide, 'package.json'))).digest('hex');
};

/**
 * Writes the memory of a ready Python, about 30 MB, into `folder`. With `keptIn` it is made once (several seconds) and copied from there afterwards, so nobody
 * else may be able to write there. Runs only code of ours.
 */
export const makeSnapshot = async (node: string, runtimes: Runtimes, folder: string, keptIn?: string): Promise<void> => {
  const target = snapshotIn(folder);
  const kept = keptIn === undefined ? undefined : join(keptIn, `pyodide-${await versionOf(runtimes)}.memory`);
  if (kept !== undefined && existsSync(kept)) await copyFile(kept, target);
  else {
    await promisify(execFile)(node, [join(runtimes.folder, 'pyodide.mjs'), 'make', target], { env: NODE_ENVIRONMENT });
    if (kept !== undefined) {
      const half = `${kept}.${process.pid}`;
      await mkdir(dirname(kept), { recursive: true });
      await copyFile(target, half);
      await rename(half, kept);
    }
  }
  await chmod(target, 0o644);
};

/**
 * Makes the command of a child process under Node's permission model: QuickJS for javascript, Pyodide for python (after `makeSnapshot` into `folder`). R has
 * none, because webR needs workers, and a worker is outside that model. `hurried`: somebody waits for the process.
 */
export const makeEmbeddedLaunch = (
  language: Exclude<MacroLanguage, 'r'>,
  tools: { node: string; runtimes: Runtimes; folder: string },
  limits: Limits,
  hurried: boolean,
): Launch => {
  const { node, runtimes, folder } = tools;
  const runtime = realpathSync(runtimes.folder);
  const readable = language === 'javascript' ? [runtime, ...runtimes.quickjs] : [runtime, runtimes.pyodide, snapshotIn(folder)];
  const script =
    language === 'javascript'
      ? makeEngineCommand(join(runtime, 'javascript.mjs'), hurried)
      : // the engine optimises what is hot on as many threads as it likes, and a first run would wait behind them
        ['--wasm-num-compilation-tasks=1', join(runtime, 'pyodide.mjs'), 'serve', snapshotIn(folder)];
  return limitEngine({ file: node, args: [...listNodeFlags(readable), ...script], env: NODE_ENVIRONMENT, files: [] }, limits);
};
