import { expect, test } from 'vitest';
import { FairShares } from '../../src/lakehouse/read/shares.ts';

const limits = { perCaller: 2, perOwner: 3, waiting: 1, waitMs: 5_000 };

test('a caller has as many places as may run and wait; others have their own', () => {
  const shares = new FairShares(limits);
  const places = [shares.enter('a'), shares.enter('a'), shares.enter('a')];
  expect(() => shares.enter('a')).toThrow(
    expect.objectContaining({ code: 'CALLER_BUSY', status: 429, details: { retryAfter: 5 } }) as Error,
  );
  shares.enter('b')();
  const [first] = places;
  first?.();
  first?.();
  places.push(shares.enter('a'));
  expect(() => shares.enter('a')).toThrow(expect.objectContaining({ code: 'CALLER_BUSY' }) as Error);
  for (const leave of places) leave();
  expect([1, 2, 3].map(() => shares.enter('a'))).toHaveLength(3);
});

test('a share is given to whoever has waited longest and has room', async () => {
  const shares = new FairShares(limits);
  const held = [await shares.acquire({ caller: 'a', owner: 'o' }), await shares.acquire({ caller: 'a', owner: 'o' })];
  const order: string[] = [];
  const third = shares.acquire({ caller: 'a', owner: 'o' }).then((give) => (order.push('a'), give));
  await expect(shares.acquire({ caller: 'a', owner: 'o' })).rejects.toMatchObject({ code: 'CALLER_BUSY', details: { retryAfter: 5 } });
  const other = shares.acquire({ caller: 'b', owner: 'p' }).then((give) => (order.push('b'), give));
  const free = await other;
  expect(order).toEqual(['b']);
  held[0]?.();
  const given = await third;
  expect(order).toEqual(['b', 'a']);
  for (const give of [held[1], given, free]) give?.();
  expect(shares.waiting).toBe(0);
  await expect(shares.acquire({ caller: 'a', owner: 'o' }, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});

test('nobody waits behind a statement that waits for the share of its own caller', async () => {
  const shares = new FairShares({ ...limits, perCaller: 1 });
  const held = await shares.acquire({ caller: 'a', owner: 'o' });
  const waiting = shares.acquire({ caller: 'a', owner: 'o' });
  const free = await Promise.race([
    shares.acquire({ caller: 'b', owner: 'o' }),
    new Promise<null>((resolve) => setImmediate(() => resolve(null))),
  ]);
  expect(free).not.toBeNull();
  expect(shares.waiting).toBe(1);
  for (const give of [held, await (held(), waiting), free]) give?.();
  expect(shares.waiting).toBe(0);
});

test('who reads what is public leaves half of the places to the others', async () => {
  const shares = new FairShares({ ...limits, perCaller: 4, perOwner: 4 });
  const outside = (caller: string) => shares.acquire({ caller, owner: 'o', isPublic: true });
  const held = [await outside('a'), await outside('b')];
  const third = outside('c');
  held.push(await shares.acquire({ caller: 'd', owner: 'o' }), await shares.acquire({ caller: 'd', owner: 'o' }));
  expect(shares.waiting).toBe(1);
  const elsewhere = await shares.acquire({ caller: 'c', owner: 'p', isPublic: true });
  held[2]?.();
  expect(shares.waiting).toBe(1);
  held[0]?.();
  for (const give of [...held, await third, elsewhere]) give?.();
  expect(shares.waiting).toBe(0);
});
