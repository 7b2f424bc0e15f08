import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/database.ts';
import { fragment, sql } from '../../src/database/sql.ts';
import { startWatches, type Watch } from '../../src/jobs/watches.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
let statements: string[];
beforeAll(async () => {
  database = await cloneDatabase();
  statements = [];
  db = openDatabase({ url: database.url, max: 2, onQuery: (label) => statements.push(label) });
  await db.run(sql('test')`create table work (kind text)`);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const until = async (isSo: () => boolean) => {
  for (let tries = 0; tries < 1_200 && !isSo(); tries += 1) await sleep(50);
  expect(isSo()).toBe(true);
};

test('a watch is begun where its condition holds, one without a condition always, and one statement looks for all', async () => {
  const begun = { a: 0, b: 0, always: 0 };
  const take = (kind: 'a' | 'b'): Watch => ({
    everyMs: 0,
    due: fragment`exists (select from work where kind = ${kind})`,
    run: async () => {
      begun[kind] += 1;
      await db.run(sql('test.take')`delete from work where kind = ${kind}`);
    },
  });
  const problems: unknown[] = [];
  statements.length = 0;
  const watches = startWatches(
    db,
    [
      take('a'),
      take('b'),
      {
        everyMs: 60_000,
        run: async () => {
          begun.always += 1;
          throw new Error('cannot');
        },
      },
    ],
    (error) => problems.push(error),
  );
  await until(() => begun.always === 1);
  await sleep(1_200);
  expect(begun).toEqual({ a: 0, b: 0, always: 1 });
  expect(problems).toHaveLength(1);
  expect(new Set(statements)).toEqual(new Set(['jobs.findDue']));
  expect(statements.length).toBeLessThan(6);
  await db.run(sql('test')`insert into work values ('b')`);
  await until(() => begun.b === 1);
  await sleep(700);
  expect(begun).toEqual({ a: 0, b: 1, always: 1 });
  await watches.stop();
  await db.run(sql('test')`insert into work values ('b')`);
  await sleep(700);
  expect(begun.b).toBe(1);
});

test('a watch is never begun twice at once, begins once more when it was asked to, and is told to stop', async () => {
  let running = 0;
  let most = 0;
  let ended = 0;
  const slow: Watch = {
    everyMs: 0,
    due: fragment`false`,
    run: async (signal) => {
      most = Math.max(most, (running += 1));
      await sleep(300, undefined, { signal }).finally(() => {
        running -= 1;
        ended += 1;
      });
    },
  };
  const problems: unknown[] = [];
  const watches = startWatches(db, [slow], (error) => problems.push(error));
  for (let times = 0; times < 5; times += 1) watches.begin(slow);
  await until(() => ended === 2);
  await sleep(400);
  expect([most, ended]).toEqual([1, 2]);
  watches.begin(slow);
  await watches.stop();
  expect([running, ended]).toEqual([0, 3]);
  // a run that is told to stop is no problem
  expect(problems).toEqual([]);
});

test('a look that fails is no reason not to look again', async () => {
  const problems: unknown[] = [];
  let begun = 0;
  const watch: Watch = { everyMs: 0, due: fragment`exists (select from later)`, run: async () => void (begun += 1) };
  const watches = startWatches(db, [watch], (error) => problems.push(error));
  await until(() => problems.length > 1);
  expect(begun).toBe(0);
  await db.run(sql('test')`create table later as select 1 as n`);
  await until(() => begun > 0);
  await watches.stop();
});
