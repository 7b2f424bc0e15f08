import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/database.ts';
import { gatherQuestions } from '../../src/database/gathering.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

let site: TestDatabase;
let db: Database;
beforeAll(async () => {
  site = await cloneDatabase();
  db = openDatabase({ url: site.url, max: 4 });
});
afterAll(async () => {
  await db.close();
  await site.drop();
});

interface Sent {
  keys: readonly number[];
  context: unknown;
}

const asker = new AsyncLocalStorage<string>();

/** Doubles numbers in Postgres; a key above 1000 divides by zero, and one below zero takes that many ms. */
function doubling(shares: boolean) {
  const sent: Sent[] = [];
  const ask = gatherQuestions<number, number>({
    label: 'test.double',
    name: String,
    shares,
    ask: async (on, keys, statement) => {
      sent.push({ keys, context: asker.getStore() });
      const rows = await on.rows<{ key: number; twice: number }>(statement`
        select key, case when key > 1000 then 1 / (key - key) else key * 2 end as twice
        from unnest((select ${keys}::integer[])) key, pg_sleep(${-Math.min(0, ...keys) / 1000})`);
      return new Map(rows.map(({ key, twice }) => [String(key), twice]));
    },
  });
  return { sent, ask: (key: number) => ask(db, key) };
}

test('those who ask in one turn, or while a statement is under way, are asked together; each is answered its own', async () => {
  const { sent, ask } = doubling(true);
  expect(await ask(7)).toBe(14);
  expect(sent.map(({ keys }) => keys)).toEqual([[7]]);
  const keys = Array.from({ length: 150 }, (_, at) => at + 1);
  expect(await Promise.all(keys.map(ask))).toEqual(keys.map((key) => key * 2));
  expect(sent.slice(1).map((one) => one.keys.length)).toEqual([64, 64, 22]);
  const slow = ask(-1_000);
  await setTimeout(10);
  const meanwhile = [ask(1)];
  await setTimeout(10);
  meanwhile.push(ask(2));
  expect(await Promise.all([slow, ...meanwhile])).toEqual([-2_000, 2, 4]);
  expect(sent.slice(4).map((one) => one.keys)).toEqual([[-1_000], [1, 2]]);
});

test('who asks the same while it waits shares the answer; where each must be asked, a statement holds it once', async () => {
  const shared = doubling(true);
  expect(await Promise.all([1, 5, 5, 6, 5].map(shared.ask))).toEqual([2, 10, 10, 12, 10]);
  expect(shared.sent.map(({ keys }) => keys)).toEqual([[1, 5, 6]]);
  const single = doubling(false);
  expect(await Promise.all([1, 5, 5, 6, 5].map(single.ask))).toEqual([2, 10, 10, 12, 10]);
  expect(single.sent.map(({ keys }) => keys)).toEqual([[1, 5, 6], [5], [5]]);
});

test('a question that is not answered gets undefined', async () => {
  const none = gatherQuestions<number, number>({ label: 'test.none', name: String, shares: true, ask: async () => new Map() });
  expect(await none(db, 1)).toBeUndefined();
});

test('an error is that of everybody in the statement, and of nobody after it', async () => {
  const { ask } = doubling(true);
  const first = Promise.allSettled([1, 2000].map(ask));
  await setTimeout(0);
  const asked = [...(await first), ...(await Promise.allSettled([ask(3)]))];
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(await Promise.all([1, 3].map(ask))).toEqual([2, 6]);
});

test('a statement that does not come back holds up the next for a moment only', async () => {
  const { sent, ask } = doubling(true);
  const order: number[] = [];
  const told = async (key: number) => {
    await ask(key);
    order.push(key);
  };
  const stuck = told(-1500);
  await setTimeout(10);
  await Promise.all([stuck, told(1), told(2)]);
  expect(order).toEqual([1, 2, -1500]);
  expect(sent.map(({ keys }) => keys)).toEqual([[-1500], [1, 2]]);
});

test('a statement is sent in the context of the first who asks, and told of in that of each', async () => {
  const { sent, ask } = doubling(true);
  const told: unknown[] = [];
  const hear = (label: unknown) => told.push([label, asker.getStore()]);
  subscribe('fieldlake.statement', hear);
  await Promise.all([1, 2, 3, 3].map((key, at) => asker.run(`request ${at + 1}`, () => ask(key))));
  unsubscribe('fieldlake.statement', hear);
  expect(told.sort()).toEqual([1, 2, 3, 4].map((n) => ['test.double', `request ${n}`]));
  expect(sent).toEqual([{ keys: [1, 2, 3], context: 'request 1' }]);
});
