import { expect, test } from 'vitest';
import { makeInTurns, runEach } from '../src/waiting.ts';

/** Holds the event loop. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('others have their turn between the items of a list that take long, and not between those that take none', async () => {
  const order: string[] = [];
  const other = () => setImmediate(() => order.push('another'));
  const map = (milliseconds: number) => (item: string) => {
    if (order.length === 0) other();
    order.push(item);
    work(milliseconds);
    return item.toUpperCase();
  };
  const items = ['a', 'b', 'c'];
  expect(await makeInTurns(items, map(0))).toEqual(['A', 'B', 'C']);
  expect(order).toEqual(items);
  await new Promise(setImmediate);
  order.length = 0;
  expect(await makeInTurns(items, map(15))).toEqual(['A', 'B', 'C']);
  expect(order).toEqual(['a', 'another', 'b', 'c']);
});

test('so many at once, answers in the order of the items, and nothing is begun once one has failed', async () => {
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const work = (failing?: number) => async (item: number, index: number) => {
    begun.push(item);
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setTimeout(resolve, item % 3));
    running -= 1;
    if (item === failing) throw new Error('failed');
    return [item, index];
  };
  const items = Array.from({ length: 20 }, (_, at) => at + 100);
  expect(await runEach(items, 3, work())).toEqual(items.map((item, index) => [item, index]));
  expect([most, running]).toEqual([3, 0]);
  begun.length = 0;
  await expect(runEach(items, 3, work(102))).rejects.toThrow('failed');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(begun.length).toBeLessThan(10);
  expect(await runEach([], 3, work())).toEqual([]);
});
