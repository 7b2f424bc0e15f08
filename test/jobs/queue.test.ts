import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { APPLICATION_ROLE } from '../../src/database/migrate.ts';
import { openJobQueue, type JobQueue } from '../../src/jobs/queue.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let queue: JobQueue;
beforeAll(async () => {
  database = await cloneDatabase();
  queue = await openJobQueue({ url: database.url, role: APPLICATION_ROLE, onError: () => undefined });
});
afterAll(async () => {
  await queue.stop();
  await database.drop();
});

const until = async (done: () => boolean) => {
  for (let tries = 0; tries < 200 && !done(); tries += 1) await sleep(50);
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
