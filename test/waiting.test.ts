import { expect, test } from 'vitest';
import { makeInTurns } from '../src/waiting.ts';

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
