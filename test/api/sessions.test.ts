import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PresenceEventView } from '../../src/api/monitoring/monitoring.model.ts';
import { listSessionSpans, measureUptime, type StateBefore } from '../../src/api/monitoring/sessions.ts';

const at = (second: number) => new Date(second * 1000);
const mark = (eventType: PresenceEventView['eventType'], second: number, sessionIdentifier: string | null = null): PresenceEventView => ({
  eventType,
  eventTimestamp: at(second),
  disconnectReason: eventType === 'disconnected' ? 'CONNECTION_LOST' : null,
  sessionIdentifier,
});
const was = (connected: boolean): StateBefore => ({ connected, sessionIdentifier: null });
const history = (events: PresenceEventView[], before: StateBefore | null = null, now = 1_000) => ({
  from: at(100),
  to: at(200),
  now: at(now),
  before,
  events,
});

test('a stale, an orphan and a leading disconnect, a repeated connect, and a session without an end', () => {
  expect(listSessionSpans(history([mark('disconnected', 110)]))).toMatchObject([
    { start: at(100), end: at(110), openStart: true, durationSeconds: 10 },
  ]);
  expect(listSessionSpans(history([mark('disconnected', 110)], was(false)))).toEqual([]);
  const stale = [mark('connected', 110, 'a'), mark('connected', 120, 'b'), mark('disconnected', 121, 'a'), mark('disconnected', 150, 'b')];
  expect(listSessionSpans(history(stale))).toMatchObject([{ start: at(110), end: at(150) }]);
  expect(listSessionSpans(history([mark('connected', 110)]))).toMatchObject([{ start: at(110), end: null, durationSeconds: 90 }]);
  expect(listSessionSpans(history([mark('connected', 110)], null, 120))).toMatchObject([{ end: null, durationSeconds: 10 }]);
});

test('a device connected since before the range was up all the time; of an unknown one nothing is known', () => {
  expect(measureUptime(history([], was(true)))).toBe(100);
  expect(measureUptime(history([], was(false)))).toBe(0);
  expect(measureUptime(history([]))).toBeNull();
  expect(measureUptime(history([], was(true), 50))).toBeNull();
});

test('without sessions’ names, uptime is what a count of the connected seconds says', () => {
  const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);
  console.log(`FC_SEED=${seed}`);
  const event = fc.record({ second: fc.integer({ min: 100, max: 199 }), up: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 40 }),
      fc.constantFrom(true, false, null),
      fc.integer({ min: 101, max: 260 }),
      (made, before, now) => {
        const sorted = made
          .map((each, index) => ({ ...each, index }))
          .sort((a, b) => a.second - b.second || a.index - b.index)
          .filter(({ second }) => second < now);
        const events = sorted.map(({ second, up }) => mark(up ? 'connected' : 'disconnected', second));
        const first = before === null ? null : was(before);
        let up = before ?? (sorted[0] ? !sorted[0].up : false);
        let connected = 0;
        let next = 0;
        const end = Math.min(now, 200);
        for (let second = 100; second < end; second += 1) {
          for (; sorted[next]?.second === second; next += 1) up = sorted[next]!.up;
          if (up) connected += 1;
        }
        const expected = before === null && sorted.length === 0 ? null : (connected / (end - 100)) * 100;
        const uptime = measureUptime(history(events, first, now));
        if (expected === null) return uptime === null;
        return uptime !== null && Math.abs(uptime - expected) < 1e-9;
      },
    ),
    { seed, numRuns: 2_000 },
  );
});
