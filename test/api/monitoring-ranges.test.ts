import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limitPoints, MOST_POINTS } from '../../src/api/monitoring/ranges.ts';
import type { ApiError } from '../../src/errors.ts';
import { seedRandomTests } from '../support/random.ts';

seedRandomTests();
const DAY = 86_400_000;

/** What is said of a question that is too large; undefined when it is answered. */
function refusalOf(...asked: Parameters<typeof limitPoints>): string | undefined {
  try {
    limitPoints(...asked);
    return undefined;
  } catch (error) {
    const { status, code, message } = error as ApiError;
    expect([status, code]).toEqual([400, 'RANGE_INVALID']);
    return message;
  }
}

test('a range of too many points is refused, and what the refusal advises is answered', () => {
  const from = fc.integer({ min: 0, max: 400 * 24 }).map((hours) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000));
  const asked = fc.record({ from, days: fc.integer({ min: 1, max: 31 }), devices: fc.integer({ min: 1, max: 60_000 }) });
  let refused = 0;
  fc.assert(
    fc.property(asked, fc.constantFrom('hour' as const, 'day' as const), ({ from, days, devices }, bucket) => {
      const over = (length: number) => ({ from, to: new Date(from.getTime() + length * DAY) });
      const message = refusalOf({ ...over(days), bucket }, devices);
      // a range that does not begin with a bucket touches one more
      const most = devices * (days * (bucket === 'hour' ? 24 : 1) + 1);
      if (message === undefined) expect(most - devices).toBeLessThanOrEqual(MOST_POINTS);
      else {
        refused += 1;
        expect(most).toBeGreaterThan(MOST_POINTS);
        if (message.includes('bucket=day')) expect(refusalOf({ ...over(days), bucket: 'day' }, devices)).toBeUndefined();
        const advised = Number(/at most (\d+) days/.exec(message)?.[1]);
        if (devices * 2 <= MOST_POINTS && (bucket === 'day' || devices * 25 <= MOST_POINTS))
          expect(refusalOf({ ...over(advised), bucket }, devices)).toBeUndefined();
      }
    }),
    { numRuns: 2_000 },
  );
  expect(refused).toBeGreaterThan(200);
});

test('who may read more devices than an answer has points is told so, and never shown some of them', () => {
  const day = { from: new Date(Date.UTC(2026, 0, 1)), to: new Date(Date.UTC(2026, 0, 2)), bucket: 'day' as const };
  expect(refusalOf(day, MOST_POINTS)).toBeUndefined();
  expect(refusalOf(day, MOST_POINTS + 1)).toBe('You may read more than 100000 devices; ask for a group of them.');
});
