import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  limitEngine,
  limitLaunch,
  listNodeFlags,
  makeEngineCommand,
  NODE_ENVIRONMENT,
  PRLIMIT,
  PYTHON_FILES,
  type Limits,
} from './embedded.ts';
import type { MacroLanguage } from './job.ts';
import type { Launch } from './process.ts';
import type { Runtimes } from './runtimes.ts';
import type { Begun } from './seccomp.ts';

/** What the machine has to build boxes with. */
export interface BoxTools {
  node: string;
  /** Files with the system-call filters. */
  filters: Readonly<Record<Begun, string>>;
  runtimes: Runtimes;
  /** The system's interpreter and the folders that it imports from. */
  python?: { executable: string; folders: readonly string[] };
  hasR: boolean;
}

export const BWRAP = '/usr/bin/bwrap';
/** The folder that R lies in. */
export const R_HOME = '/usr/lib/R';

/** Where the files that a box starts from lie inside it. */
const INSIDE = '/box';

const readOnly = (path: string) => ['--ro-bind', path, path];
/** Puts files of ours where a box starts from them. */
const inside = ({ runtimes }: BoxTools, names: readonly string[]) =>
  names.flatMap((name) => ['--ro-bind', join(runtimes.folder, name), join(INSIDE, name)]);
const known = (paths: readonly string[]) => paths.filter((path) => existsSync(path));

/** What every box reads of the system: the loader's folders and cache, alternatives, time zones and locales. */
const libraries = (): string[] => {
  const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const roots = ['/lib', '/lib64'].filter((path) => existsSync(path));
  // `/lib` is a link on some systems and a folder on others
  const links = roots.flatMap((path) => (lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : []));
  const folders = known([`/usr/lib/${multiarch}`, '/usr/lib64', `/usr/local/lib/${multiarch}`]);
  const real = roots.filter((path) => !lstatSync(path).isSymbolicLink()).map((path) => (path === '/lib' ? join(path, multiarch) : path));
  const rest = known(['/etc/ld.so.cache', '/etc/alternatives', '/usr/share/zoneinfo', '/usr/lib/locale']);
  return [...[...folders, ...known(real), ...rest].flatMap(readOnly), ...links];
};

const box = (
  tools: BoxTools,
  binds: readonly string[],
  command: readonly string[],
  options: { env: Record<string, string>; begun: Begun; files: 'none' | 'temporary' },
): Launch => ({
  file: BWRAP,
  args: [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--uid', '1000', '--gid', '1000', '--hostname', 'box', '--clearenv'],
    ...Object.entries(options.env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...libraries(),
    ...['--dir', '/dev', '--dev-bind', '/dev/null', '/dev/null', '--ro-bind', '/dev/urandom', '/dev/urandom'],
    // mounted before the interpreter's files, which may lie under the same path outside
    ...['--size', String(64 * 1024 * 1024), '--tmpfs', '/tmp'],
    ...binds,
    ...(options.files === 'none' ? ['--remount-ro', '/tmp'] : []),
    ...['--remount-ro', '/', '--chdir', '/tmp', '--seccomp', '3', '--'],
    ...command,
  ],
  env: {},
  files: [tools.filters[options.begun]],
});

const SINGLE_THREAD = { OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1', GOTO_NUM_THREADS: '1' };
const PLAIN = { TZ: 'UTC', LANG: 'C.UTF-8', HOME: '/tmp', TMPDIR: '/tmp' };

const withPython = (tools: BoxTools, python: { executable: string; folders: readonly string[] }, limits: Limits): Launch => {
  const binds = [...readOnly(python.executable), ...python.folders.flatMap(readOnly), ...inside(tools, [...PYTHON_FILES, 'python.py'])];
  const command = [python.executable, '-I', '-B', join(INSIDE, 'python.py')];
  return limitLaunch(
    box(tools, binds, command, { env: { ...PLAIN, ...SINGLE_THREAD }, begun: 'copies', files: 'none' }),
    limits,
    'address',
  );
};

/** Processes that a box of R has: its first, R and one copy. */
const R_PROCESSES = 3;

/** Limits the processes of R's box to those that it needs, because R cannot lower a limit of its own copy as Python does. */
const onlyCopies = (): string[] => (PRLIMIT === undefined ? [] : [PRLIMIT, `--nproc=${R_PROCESSES}`, '--']);

const withR = (tools: BoxTools, limits: Limits): Launch => {
  const files = inside(tools, ['harness.R', 'helpers.R', 'fits.R', 'curves.R', 'proof.R']);
  const parts = known([R_HOME, '/usr/share/R', '/etc/R', '/usr/local/lib/R/site-library', '/usr/lib/R/site-library']);
  const folders = parts.filter((path) => path === R_HOME || !path.startsWith(`${R_HOME}/`)).flatMap(readOnly);
  const env = {
    ...PLAIN,
    ...SINGLE_THREAD,
    R_HOME,
    // The harness loads the packages, after it has taken away what their loading would call.
    R_DEFAULT_PACKAGES: 'NULL',
    R_SHARE_DIR: '/usr/share/R/share',
    R_INCLUDE_DIR: '/usr/share/R/include',
    R_DOC_DIR: '/usr/share/R/doc',
    R_LIBS_SITE: known(['/usr/local/lib/R/site-library', '/usr/lib/R/site-library']).join(':'),
    LD_LIBRARY_PATH: `${R_HOME}/lib`,
  };
  const command = [...onlyCopies(), join(R_HOME, 'bin/exec/R'), '--vanilla', '--no-echo', `--file=${join(INSIDE, 'harness.R')}`];
  const programs = PRLIMIT === undefined ? [] : readOnly(PRLIMIT);
  const binds = [...folders, ...programs, ...files];
  return limitLaunch(box(tools, binds, command, { env, begun: 'copies', files: 'temporary' }), limits, 'address');
};

const withNode = (tools: BoxTools, limits: Limits, hurried: boolean): Launch => {
  const readable = [tools.runtimes.folder, ...tools.runtimes.quickjs].map((path) => realpathSync(path));
  const script = join(realpathSync(tools.runtimes.folder), 'javascript.mjs');
  const node = realpathSync(tools.node);
  const command = [node, ...listNodeFlags(readable), ...makeEngineCommand(script, hurried)];
  const launch = box(tools, [node, ...readable].flatMap(readOnly), command, { env: NODE_ENVIRONMENT, begun: 'threads', files: 'none' });
  return limitEngine(launch, limits);
};

/**
 * Makes the command that starts one process of a language in a box of the operating system. The box has every namespace of its own, a root of the interpreter's
 * files that cannot be written, no network, no `/proc`, an empty environment, a filter on system calls, and hard limits. `hurried`: somebody waits for the
 * process. Throws when the interpreter is missing.
 */
export const makeBoxLaunch = (language: MacroLanguage, tools: BoxTools, limits: Limits, hurried: boolean): Launch => {
  if (language === 'javascript') return withNode(tools, limits, hurried);
  if (language === 'python' && tools.python !== undefined) return withPython(tools, tools.python, limits);
  if (language === 'r' && tools.hasR) return withR(tools, limits);
  throw new Error(`There is no interpreter for ${language}.`);
};

/** Where an interpreter of Python imports from, without the folder that it is started in. */
export const findPythonFolders = (paths: readonly string[]): string[] => {
  const folders = [
    ...new Set(paths.filter((path) => path !== '' && existsSync(path)).map((path) => (path.endsWith('.zip') ? dirname(path) : path))),
  ];
  return folders.filter((path) => !folders.some((other) => other !== path && path.startsWith(`${other}/`)));
};
