import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { APPLICATION_ROLE } from '../../src/database/migrate.ts';
import { openJobQueue, type JobQueue } from '../../src/jobs/queue.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const told: Error[] = [];
const openQueue = ({ url }: TestDatabase) => openJobQueue({ url, role: APPLICATION_ROLE, onError: (error) => told.push(error) });

let database: TestDatabase;
let queue: JobQueue;
beforeAll(async () => {
  database = await cloneDatabase();
  queue = await openQueue(database);
});
afterAll(async () => {
  await queue.stop();
  await database.drop();
});

const until = async (done: () => boolean) => {
  for (let tries = 0; tries < 1_200 && !done(); tries += 1) await sleep(50);
};

test('a key waits or runs once; without a key every job runs; a rolled back transaction leaves none', async () => {
  const ran: string[] = [];
  const note = (name: string) => async (payload: object) => {
    ran.push(`${name} ${(payload as { n: number }).n}`);
  };
  for (let n = 0; n < 5; n += 1) {
    await queue.enqueue('keyed', { n }, { key: 'one' });
    await queue.enqueue('free', { n });
  }
  await database.db.transaction((tx) => queue.enqueue('free', { n: 5 }, { tx }));
  await expect(
    database.db.transaction(async (tx) => {
      await queue.enqueue('free', { n: 6 }, { tx });
      throw new Error('changed my mind');
    }),
  ).rejects.toThrow('changed my mind');
  await queue.work([
    { name: 'keyed', run: note('keyed') },
    { name: 'free', run: note('free') },
  ]);
  await until(() => ran.length >= 7);
  await sleep(300);
  expect(ran.sort()).toEqual(['free 0', 'free 1', 'free 2', 'free 3', 'free 4', 'free 5', 'keyed 0']);
  await queue.enqueue('keyed', { n: 9 }, { key: 'one' });
  await until(() => ran.includes('keyed 9'));
  expect(ran).toContain('keyed 9');
});

test('the lowest turn runs first, and no person has more places than theirs', async () => {
  const ran: string[] = [];
  const ends = new Map<string, () => void>();
  for (const [name, turn] of [
    ['a', 0],
    ['a', 1],
    ['a', 2],
    ['b', 2],
    ['c', 1],
  ] as const)
    await queue.enqueue('turns', { name }, { turn, person: name });
  await queue.work([
    {
      name: 'turns',
      concurrency: 3,
      perPerson: 2,
      run: (payload) => {
        const { name } = payload as { name: string };
        ran.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      },
    },
  ]);
  await until(() => ran.length >= 3);
  expect(ran.toSorted()).toEqual(['a', 'a', 'c']);
  ends.get('c')!();
  await until(() => ran.length >= 4);
  expect(ran[3]).toBe('b');
  ends.get('b')!();
  await sleep(1_500);
  expect(ran, 'a place is free, and none for a third of a').toHaveLength(4);
  ends.get('a')!();
  await until(() => ran.length >= 5);
  expect(ran[4]).toBe('a');
  for (const end of ends.values()) end();
});

test('a job that must be done is tried for as long as it takes, also where its queue is older than that; another is given up', async () => {
  const failing = { run: () => Promise.reject(new Error('not yet')) };
  await queue.enqueue('endless', { n: 0 });
  await queue.work([
    { name: 'endless', retries: 'until-done', ...failing },
    { name: 'ending', retries: 20, ...failing },
  ]);
  const states = async (name: string) => {
    const { rows } = await admin.query<{ n: number; state: string; tries: number; isKept: boolean }>(
      `select (data ->> 'n')::int as n, state::text, retry_count as tries, keep_until > now() + interval '9 years' as "isKept" from pgboss.job where name = $1 and data ->> 'n' = '1'`,
      [name],
    );
    return rows[0];
  };
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  try {
    for (const name of ['endless', 'ending']) {
      await queue.enqueue(name, { n: 1 });
      await expect.poll(async () => (await states(name))?.state, { timeout: 10_000 }).toBe('retry');
      // as if the store had been away for a day
      await admin.query(
        `update pgboss.job set retry_count = 2000, start_after = now() where name = $1 and data ->> 'n' = '1' and state = 'retry'`,
        [name],
      );
    }
    await expect.poll(() => states('endless'), { timeout: 10_000 }).toEqual({ n: 1, state: 'retry', tries: 2_001, isKept: true });
    await expect.poll(async () => (await states('ending'))?.state, { timeout: 10_000 }).toBe('failed');
    expect(told).toContainEqual(new Error('A job of ending failed.', { cause: new Error('not yet') }));
  } finally {
    await admin.end();
  }
});

test('a clock that is set back while the queue looks for jobs delays none', async () => {
  const ran: object[] = [];
  let hours = 0;
  const wall = vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() - (hours += 1) * 3_600_000);
  try {
    await queue.work([{ name: 'timed', run: async (payload) => void ran.push(payload) }]);
    await sleep(1_500);
    await queue.enqueue('timed', { n: 1 });
    await until(() => ran.length > 0);
    expect(ran).toEqual([{ n: 1 }]);
  } finally {
    wall.mockRestore();
  }
});

test('a job that was just taken is left to its process, also by looks that waited for the database', async () => {
  const ran: object[] = [];
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  try {
    await queue.enqueue('taken', { n: 1 }, { startAfterSeconds: 3600 });
    await queue.work([{ name: 'taken', run: async (payload) => void ran.push(payload) }]);
    await admin.query('begin');
    await admin.query('lock table pgboss.job in access exclusive mode');
    const { rows } = await admin.query<{ id: string }>(
      `update pgboss.job set state = 'active', started_on = now(), heartbeat_on = now() where name = 'taken' returning id`,
    );
    await sleep(2_500);
    await admin.query('commit');
    // several looks follow each other now, and its process says a moment later that it is at it
    await sleep(200);
    await admin.query(`select pg_advisory_lock_shared(hashtextextended('job ' || $1, 0))`, [rows[0]!.id]);
    await sleep(4_000);
    expect(ran).toEqual([]);
    await admin.query('select pg_advisory_unlock_all()');
    await until(() => ran.length > 0);
    expect(ran).toEqual([{ n: 1 }]);
  } finally {
    await admin.end();
  }
});

const HELD = `select pid from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and database = (select oid from pg_database where datname = current_database())`;

test.concurrent('the job of a process that is killed runs elsewhere within ten seconds', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'stuck-worker.ts'), database.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await queue.enqueue('stuck', { n: 1 }, { key: 'stuck' });
  await once(child.stdout, 'data');
  const ran: object[] = [];
  await queue.work([{ name: 'stuck', run: async (payload) => void ran.push(payload) }]);
  // as long as that process lives, nobody else has its job
  await sleep(6_000);
  expect(ran).toEqual([]);
  child.kill('SIGKILL');
  const since = performance.now();
  await until(() => ran.length > 0);
  expect(ran).toEqual([{ n: 1 }]);
  expect(performance.now() - since).toBeLessThan(10_000);
});

test.concurrent('a process that only loses its connection keeps its job, and says anew that it is at it', async ({ onTestFinished }) => {
  // nobody else holds a job there
  const own = await cloneDatabase();
  const worker = await openQueue(own);
  onTestFinished(async () => {
    await worker.stop();
    await own.drop();
  });
  const runs: AbortSignal[] = [];
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  await worker.enqueue('long', {});
  await worker.work([
    {
      name: 'long',
      run: (_payload, signal) => {
        runs.push(signal);
        return ended;
      },
    },
  ]);
  await until(() => runs.length > 0);
  const holders = () => own.db.rows<{ pid: number }>({ label: 'test', text: HELD, values: [], name: '' });
  // a job begins without waiting for its lock
  await expect.poll(holders).toHaveLength(1);
  const [before] = await holders();
  const admin = new pg.Client({ connectionString: own.url });
  await admin.connect();
  await admin.query('select pg_terminate_backend($1)', [before!.pid]);
  await admin.end();
  let after: { pid: number }[] = [];
  for (let tries = 0; tries < 1_200 && after.length === 0; tries += 1) {
    await sleep(50);
    after = (await holders()).filter(({ pid }) => pid !== before!.pid);
  }
  expect(after).toHaveLength(1);
  await sleep(6_000);
  expect(runs.map(({ aborted }) => aborted)).toEqual([false]);
  end();
  const isHeld = async () => (await holders()).length > 0;
  for (let tries = 0; tries < 1_200 && (await isHeld()); tries += 1) await sleep(50);
  expect(await isHeld()).toBe(false);
});

test('what one process took is left to it until it lets go or is gone', async () => {
  const other = await openJobQueue({ url: database.url, role: APPLICATION_ROLE, onError: () => undefined });
  const release = await other.claim('leaves');
  expect(release).not.toBeNull();
  expect(await queue.claim('leaves')).toBeNull();
  const another = await queue.claim('roots');
  expect(another).not.toBeNull();
  release?.();
  await vi.waitFor(async () => expect(await queue.claim('leaves')).not.toBeNull());
  expect(await other.claim('leaves')).toBeNull();
  // a process that ends has nothing any more
  expect(await other.claim('stems')).not.toBeNull();
  await other.stop();
  await vi.waitFor(async () => expect(await queue.claim('stems')).not.toBeNull());
});
