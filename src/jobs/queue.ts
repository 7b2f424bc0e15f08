import { randomUUID } from 'node:crypto';
import { PgBoss, systemClock, type Db, type Job } from 'pg-boss';
import type { Queryable } from '../database/database.ts';
import { translateDatabaseError } from '../database/errors.ts';
import { addSettings } from '../database/settings.ts';
import { openPresence } from './presence.ts';

/** One kind of job: its name, its handler, and how it is run. A handler may run again after a crash, and must allow for that. */
export interface JobHandler<P extends object = object> {
  name: string;
  /** Jobs of this kind at once in a process; 1 by default. */
  concurrency?: number;
  /** How many of them may be one person's; any by default. */
  perPerson?: number;
  /** Tries after the first; 5 by default. `until-done`: one a minute at last, for as long as it takes. */
  retries?: number | 'until-done';
  /** Cron expression in UTC, for jobs that run by the clock. */
  schedule?: string;
  run(payload: P, signal: AbortSignal): Promise<unknown>;
}

interface EnqueueOptions {
  tx?: Queryable;
  key?: string;
  startAfterSeconds?: number;
  turn?: number;
  /** Whose job it is, for `perPerson`. */
  person?: string | null;
}

export interface JobQueue {
  /**
   * Adds a job; with a transaction, it exists exactly when that commits. `key`: at most one waiting or running job of this name and key. `turn`: jobs of lower
   * turns go first, and among equals the older.
   */
  enqueue(name: string, payload: object, options?: EnqueueOptions): Promise<void>;
  /** Adds many jobs of a name in one statement of the transaction; none for a key that already waits or runs. */
  enqueueAll(name: string, jobs: readonly { payload: object; key: string }[], tx: Queryable): Promise<void>;
  /** Removes the jobs of a name, waiting, running or done, whose payload has these members. */
  remove(name: string, about: object, tx: Queryable): Promise<void>;
  /**
   * Takes work that is better done by one process at a time, until the returned function is called or the process is gone. Null while another process has it.
   * It is no lock: whoever loses its connection to Postgres loses what it took.
   */
  claim(work: string): Promise<(() => void) | null>;
  /** Starts working. Resolves once every queue exists. */
  work(handlers: readonly JobHandler[]): Promise<void>;
  /** Aborts the signal of running jobs, waits for them, and disconnects. */
  stop(): Promise<void>;
}

interface QueueOptions {
  /** Owner connection string: the queue makes its own schema. */
  url: string;
  /** Role that may add jobs inside its own transactions. */
  role: string;
  /** Told of each try of a job that fails, and of what goes wrong in the queue itself. */
  onError: (error: Error) => void;
}

/** More tries than a job can have in a year, and how long the queue keeps a job that waits for its next one: ten years. */
const ENDLESS = { retryLimit: 1_000_000, retentionSeconds: 3650 * 86_400 };

const GRANT_LOCK = 7_310_586_412_003;
/** A statement of the queue without an answer after so long will never have one. It is cut off, and the queue's own clock asks again. */
const SILENT_MS = 30_000;
const EXPIRES_AFTER_SECONDS = 6 * 3600;
/**
 * Milliseconds between two looks for jobs whose time has come, and for jobs of processes that are gone. Without these looks the workers would ask by
 * themselves, five times a second all together. A process that only lost its connection has another one after a quarter of a second.
 */
const LOOK_MS = 1_000;
/**
 * Milliseconds for which looks must find nobody at a job before it is given back. A process says that it is at a job just after it took it, and a look that
 * waited for Postgres is followed by the next one at once.
 */
const ABANDONED_AFTER_MS = 1_900;

/**
 * Seconds between the looks of one worker for jobs. `deaf`: Postgres cannot tell it of new jobs now. `hearing`: it is told of a new job at once, and of a
 * job whose time has come within `LOOK_MS`.
 */
const LOOK_SECONDS = { deaf: 0.5, hearing: 120 };

/** A clock that is never set back: the queue measures its pauses by `now`. When the wall clock was set back by an hour, each pause took an hour longer. */
const steadyClock = { ...systemClock, now: () => performance.timeOrigin + performance.now() };

/** Lets pg-boss run its statements inside a transaction of ours. */
const adapter = (db: Queryable): Db => ({
  executeSql: async (text, values = []) => ({ rows: await db.rows({ label: 'jobs.enqueue', text, values, name: '' }) }),
});

/** Starts pg-boss, and lets the application's role use its tables. */
async function startBoss({ url, role, onError }: QueueOptions): Promise<PgBoss> {
  // by default a connection ends after ten quiet seconds, and the queue's clock, which ticks every ten, needed others each time
  const patience = { query_timeout: SILENT_MS, keepAlive: true, connectionTimeoutMillis: 5_000, idleTimeoutMillis: 60_000 };
  const boss = new PgBoss({
    ...patience,
    clock: steadyClock,
    connectionString: addSettings(url),
    max: 3,
    useListenNotify: true,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    cronWorkerIntervalSeconds: 15,
    // no job here waits for others
    flowIntervalSeconds: 3_600,
    monitorVacuum: false,
    reindex: false,
  });
  boss.on('error', onError);
  await boss.start();
  // a lock for one process at a time: processes that start together would trip over each other's grants
  await boss
    .getDb()
    .executeSql(
      `select pg_advisory_xact_lock(${GRANT_LOCK}); grant usage on schema pgboss to ${role}; grant select, insert, update, delete on all tables in schema pgboss to ${role}`,
    );
  return boss;
}

/**
 * Opens the job queue in Postgres. A job is given back within 4 s when its process dies (looks find nobody at it for two seconds), and within 30 s when its
 * process cannot be reached (its heartbeat is missing).
 */
export async function openJobQueue(options: QueueOptions): Promise<JobQueue> {
  const { url, onError } = options;
  const boss = await startBoss(options);
  const known = new Set<string>();
  const ensure = async (name: string) => {
    if (known.has(name)) return;
    await boss.createQueue(name, {
      // at most one waiting or running job of a name and key
      policy: 'exclusive',
      notify: true,
      retryLimit: 5,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 60,
      heartbeatSeconds: 10,
      expireInSeconds: EXPIRES_AFTER_SECONDS,
      deleteAfterSeconds: 7 * 86_400,
    });
    known.add(name);
  };
  const said = <T>(label: string, work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw translateDatabaseError(error, label);
    });
  const stopping = new AbortController();
  const presence = await openPresence(url);
  const wake = (name: string) => {
    for (const worker of boss.getWipData()) if (worker.name === name) boss.notifyWorker(worker.id);
  };
  /** When jobs were first seen with nobody at them, in milliseconds of the process, by their ids. */
  let suspects = new Map<string, number>();
  const look = async () => {
    const { abandoned, due } = await presence.look();
    for (const name of due) wake(name);
    const now = performance.now();
    suspects = new Map(abandoned.map(({ id }) => [id, suspects.get(id) ?? now]));
    for (const { id, name } of abandoned)
      if (now - (suspects.get(id) ?? now) >= ABANDONED_AFTER_MS) {
        await boss.fail(name, id, { message: 'the process that ran it is gone' });
        await presence.hasten(id);
        wake(name);
      }
  };
  let looking: NodeJS.Timeout | undefined;
  const run = async (handler: JobHandler, job: Job) => {
    const release = presence.hold(job.id);
    try {
      await handler.run(job.data, AbortSignal.any([job.signal, stopping.signal]));
    } catch (error) {
      // the queue keeps why a job failed, and tells nobody
      if (!stopping.signal.aborted) onError(new Error(`A job of ${handler.name} failed.`, { cause: error }));
      throw error;
    } finally {
      release();
      // after a job the next one is looked for at once
      wake(handler.name);
    }
  };
  return {
    enqueue: async (name, payload, { tx, key, startAfterSeconds, turn = 0, person } = {}) => {
      await said('jobs.ensure', ensure(name));
      const options = {
        ...(tx === undefined ? {} : { db: adapter(tx) }),
        singletonKey: key ?? randomUUID(),
        priority: -turn,
        ...(person ? { group: { id: person } } : {}),
        ...(startAfterSeconds === undefined ? {} : { startAfter: startAfterSeconds }),
      };
      await said('jobs.enqueue', boss.send(name, payload, options));
    },
    enqueueAll: async (name, jobs, tx) => {
      if (jobs.length === 0) return;
      await said('jobs.ensure', ensure(name));
      const rows = jobs.map(({ payload, key }) => ({ data: payload, singletonKey: key }));
      await said('jobs.enqueueAll', boss.insert(name, rows, { db: adapter(tx) }));
    },
    remove: async (name, about, tx) => {
      await tx.run({
        label: 'jobs.remove',
        text: 'delete from pgboss.job where name = $1 and data @> $2::jsonb',
        values: [name, JSON.stringify(about)],
        name: '',
      });
    },
    claim: (work) => presence.claim(work),
    work: async (handlers) => {
      for (const handler of handlers) {
        await ensure(handler.name);
        // whoever put its first job into the queue did not know how often it is tried
        const { retries } = handler;
        if (retries !== undefined) await boss.updateQueue(handler.name, retries === 'until-done' ? ENDLESS : { retryLimit: retries });
        if (handler.schedule !== undefined) await boss.schedule(handler.name, handler.schedule, {}, { tz: 'UTC' });
        const looks = {
          batchSize: 1,
          pollingIntervalSeconds: LOOK_SECONDS.deaf,
          notifyPollingIntervalSeconds: LOOK_SECONDS.hearing,
          localConcurrency: handler.concurrency ?? 1,
          ...(handler.perPerson === undefined ? {} : { localGroupConcurrency: handler.perPerson }),
        };
        await boss.work<object>(handler.name, looks, ([job]) => (job ? run(handler, job) : Promise.resolve()));
      }
      const begin = () => void look().catch(onError);
      begin();
      looking ??= setInterval(begin, LOOK_MS);
    },
    stop: async () => {
      stopping.abort();
      clearInterval(looking);
      await boss.stop({ graceful: true, timeout: 20_000, close: true });
      await presence.stop();
    },
  };
}
