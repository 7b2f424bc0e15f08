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

test('two callers who share the places keep a third one waiting, and so does a single place', async () => {
  for (const [places, callers] of [
    [2, ['a', 'b']],
    [1, ['a']],
  ] as const) {
    const { began, place } = openQueue(places);
    const held = await Promise.all(callers.map(place));
    const third = place('c');
    await sleep(20);
    expect(began).toEqual(callers);
    held[0]!();
    (await third)();
    expect(began).toEqual([...callers, 'c']);
  }
});
