import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FairQueue } from '../../src/sandbox/queue.ts';

/** A queue of two places, and who got one, in order. */
function openQueue(places = 2) {
  const queue = new FairQueue(places, 8);
  const began: string[] = [];
  return {
    queue,
    began,
    place: async (caller: string) => {
      const release = await queue.place(caller);
      began.push(caller);
      return release;
    },
  };
}

test('a caller who has every place keeps nobody else waiting', async () => {
  const { queue, began, place } = openQueue();
  const held = [await place('greedy'), await place('greedy')];
  const more = [place('greedy'), place('greedy')];
  const release = await Promise.race([place('modest'), sleep(1_000).then(() => undefined)]);
  expect(release, 'a place beside those of the greedy').toBeDefined();
  expect([began, queue.load]).toEqual([['greedy', 'greedy', 'modest'], { running: 3, waiting: 2 }]);
  // the one place more is no place of the greedy, and there is only one
  release!();
  const [first, second] = [place('modest'), place('third')];
  await sleep(20);
  expect([began.slice(3), queue.load]).toEqual([['modest'], { running: 3, waiting: 3 }]);
  (await first)();
  (await second)();
  for (const give of held) give();
  for (const each of more) (await each)();
  expect(began.slice(4)).toEqual(['third', 'greedy', 'greedy']);
  expect(queue.load).toEqual({ running: 0, waiting: 0 });
});

test('callers who share the places keep a third one waiting only once the place more is taken', async () => {
  const { queue, began, place } = openQueue();
  const [a, b, c] = await Promise.all([place('a'), place('b'), place('c')]);
  const waiting = [place('a'), place('d')];
  await sleep(20);
  expect([began, queue.load]).toEqual([['a', 'b', 'c'], { running: 3, waiting: 2 }]);
  c();
  (await waiting[1]!)();
  expect([began.slice(3), queue.load]).toEqual([['d'], { running: 2, waiting: 1 }]);
  a();
  (await waiting[0]!)();
  b();
  expect(queue.load).toEqual({ running: 0, waiting: 0 });
});

test('a single place stays a single one', async () => {
  const { began, place } = openQueue(1);
  const release = await place('a');
  const other = place('b');
  await sleep(20);
  expect(began).toEqual(['a']);
  release();
  (await other)();
  expect(began).toEqual(['a', 'b']);
});
