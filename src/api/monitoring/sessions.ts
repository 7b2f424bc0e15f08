/** Sessions and uptime from presence events. Pure. */
import type { PresenceEventView, SessionView } from './monitoring.model.ts';

/** What a device was when a range began. */
export interface StateBefore {
  connected: boolean;
  /** Session of the last connection. */
  sessionIdentifier: string | null;
}

export interface History {
  /** Half-open, `[from, to)`. */
  from: Date;
  to: Date;
  now: Date;
  /** Null when nothing is known of the time before. */
  before: StateBefore | null;
  /** Events of the range, oldest first. */
  events: readonly PresenceEventView[];
}

const seconds = (from: Date, to: Date) => Math.max(0, (to.getTime() - from.getTime()) / 1000);

interface Open {
  start: Date;
  openStart: boolean;
  session: string | null;
}

/**
 * Cuts a range into sessions. A connection from before the range counts from `from`. A disconnect of another session than the open one is stale and ignored. A
 * disconnect while no session is open is ignored, unless it is the range's first event and nothing is known of before: then the device was connected since
 * `from`.
 */
export function listSessionSpans({ from, to, now, before, events }: History): SessionView[] {
  const spans: SessionView[] = [];
  let open: Open | undefined = before?.connected ? { start: from, openStart: true, session: before.sessionIdentifier } : undefined;
  for (const [index, { eventType, eventTimestamp, disconnectReason, sessionIdentifier }] of events.entries()) {
    if (eventType === 'connected') {
      open = { start: eventTimestamp, openStart: false, ...open, session: sessionIdentifier };
      continue;
    }
    const closes: Open | undefined = open ?? (index === 0 && before === null ? { start: from, openStart: true, session: null } : undefined);
    if (!closes || (closes.session !== null && sessionIdentifier !== null && closes.session !== sessionIdentifier)) continue;
    const { start, openStart } = closes;
    spans.push({ start, end: eventTimestamp, openStart, durationSeconds: seconds(start, eventTimestamp), disconnectReason });
    open = undefined;
  }
  if (open) {
    const { start, openStart } = open;
    spans.push({ start, end: null, openStart, durationSeconds: seconds(start, now < to ? now : to), disconnectReason: null });
  }
  return spans;
}

/**
 * Measures for how many per cent of the elapsed range a device was connected; null when nothing is known of the device or nothing has elapsed. Time that is yet
 * to come does not count.
 */
export function measureUptime(history: History): number | null {
  const { from, to, now, before, events } = history;
  const until = now < to ? now : to;
  const elapsed = seconds(from, until);
  if (elapsed <= 0 || (before === null && events.length === 0)) return null;
  const connected = listSessionSpans(history).reduce(
    (sum, { start, end }) => sum + seconds(start, end !== null && end < until ? end : until),
    0,
  );
  return Math.min(100, (connected / elapsed) * 100);
}
