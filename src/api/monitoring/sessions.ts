/** Sessions and uptime from presence events. Pure. */
export interface PresenceMark {
  eventType: 'connected' | 'disconnected';
  eventTimestamp: Date;
  disconnectReason: string | null;
  sessionIdentifier: string | null;
}

export interface Span {
  start: Date;
  /** Null while it goes on. */
  end: Date | null;
  /** It began before the range. */
  openStart: boolean;
  durationSeconds: number;
  disconnectReason: string | null;
}

export interface History {
  /** Half-open, `[from, to)`. */
  from: Date;
  to: Date;
  now: Date;
  /** The last event before the range; null when there was none. */
  before: PresenceMark | null;
  /** Events of the range, oldest first. */
  events: readonly PresenceMark[];
}

const seconds = (from: Date, to: Date) => Math.max(0, (to.getTime() - from.getTime()) / 1000);

/**
 * Cuts a range into sessions. A connection from before counts from `from`; a disconnect of another session than the open one is stale and ignored, one without
 * anything open is ignored unless it is the range's first event and nothing is known of before: then the device was connected since `from`.
 */
export function sessionsOf({ from, to, now, before, events }: History): Span[] {
  const end = now < to ? now : to;
  const spans: Span[] = [];
  let open: { start: Date; openStart: boolean; session: string | null } | null =
    before?.eventType === 'connected' ? { start: from, openStart: true, session: before.sessionIdentifier } : null;
  events.forEach(({ eventType, eventTimestamp, disconnectReason, sessionIdentifier }, index) => {
    if (eventType === 'connected') {
      open = open ? { ...open, session: sessionIdentifier } : { start: eventTimestamp, openStart: false, session: sessionIdentifier };
      return;
    }
    const closes: { start: Date; openStart: boolean; session: string | null } | null =
      open ?? (index === 0 && before === null ? { start: from, openStart: true, session: null } : null);
    if (!closes) return;
    if (closes.session !== null && sessionIdentifier !== null && closes.session !== sessionIdentifier) return;
    const { start, openStart } = closes;
    spans.push({ start, end: eventTimestamp, openStart, durationSeconds: seconds(start, eventTimestamp), disconnectReason });
    open = null;
  });
  const last = open as { start: Date; openStart: boolean } | null;
  if (last && last.start < end)
    spans.push({
      start: last.start,
      end: null,
      openStart: last.openStart,
      durationSeconds: seconds(last.start, end),
      disconnectReason: null,
    });
  return spans;
}

/** Per cent of the elapsed range that a device was connected; null when nothing is known of it or nothing has elapsed. */
export function uptimeOf(history: History): number | null {
  const { from, to, now, before, events } = history;
  const elapsed = seconds(from, now < to ? now : to);
  if (elapsed <= 0 || (before === null && events.length === 0)) return null;
  const connected = sessionsOf(history).reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  return Math.min(100, Math.max(0, (connected / elapsed) * 100));
}
