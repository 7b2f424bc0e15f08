/** What monitoring must answer, worked out from every event and measurement one by one. Knows nothing of the service: times are whole microseconds since 1970. */

export interface OracleEvent {
  at: number;
  up: boolean;
  reason: string | null;
  session: string | null;
}

export interface OracleMeasurement {
  id: string;
  at: number;
  experiment: string;
  version: string | null;
  protocol: string | null;
  workbook: string | null;
  run: string | null;
  macros: string[];
  battery: number | null;
  gps: { latitude: number; longitude: number } | null;
  sample: string;
}

export interface OracleDevice {
  id: string;
  /** In the order in which they were told. */
  events: OracleEvent[];
  measurements: OracleMeasurement[];
}

export interface OracleQuestion {
  from: number;
  to: number;
  now: number;
  bucket: 'hour' | 'day';
  /** Experiments that the caller may read, and those to which the caller may contribute. */
  reads: (experiment: string) => boolean;
  contributes: (experiment: string) => boolean;
}

const HOUR = 3_600_000_000;
const SIZES = { hour: HOUR, day: 24 * HOUR };
const MOST_EVENTS = 1_000;
const MOST_OF_ALL = 200;
const MOST_RECENT = 50;

export const iso = (at: number): string => new Date(Math.floor(at / 1_000)).toISOString();
const within = (at: number, { from, to }: OracleQuestion) => at >= from && at < to;

/** Sums by key, as a plain object, so that the order of what is summed plays no part. */
function tally<T>(list: readonly T[], keyOf: (one: T) => string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const one of list) sums[keyOf(one)] = (sums[keyOf(one)] ?? 0) + 1;
  return sums;
}

const inOrder = (events: readonly OracleEvent[]) =>
  events
    .map((event, told) => ({ event, told }))
    .sort((a, b) => a.event.at - b.event.at || a.told - b.told)
    .map(({ event }) => event);

/** Whether a device was connected after its k-th event, looked at from there backwards. */
function isUpAfter(events: readonly OracleEvent[], k: number): boolean {
  let latest = k;
  while (latest >= 0 && !events[latest]!.up) latest -= 1;
  if (latest < 0) return false;
  const { session } = events[latest]!;
  return !events.slice(latest + 1, k + 1).some((end) => end.session === null || session === null || end.session === session);
}

export function presence(device: OracleDevice, question: OracleQuestion) {
  const all = inOrder(device.events).filter(({ at }) => at < question.to);
  const inRange = all.filter(({ at }) => at >= question.from);
  const truncated = inRange.length > MOST_EVENTS;
  const shown = truncated ? inRange.slice(-MOST_EVENTS) : inRange;
  const earlier = all.length - shown.length;
  const from = truncated ? shown[0]!.at : question.from;
  const until = Math.min(question.now, question.to);
  // state in the gap before each shown event, and after the last
  const startsUp = earlier > 0 ? isUpAfter(all, earlier - 1) : shown[0] !== undefined && !shown[0].up;
  const gaps = [startsUp, ...shown.map((_, index) => isUpAfter(all, earlier + index))];
  const sessions: { start: string; end: string | null; openStart: boolean; seconds: number; reason: string | null }[] = [];
  let connected = 0;
  let began: { at: number; openStart: boolean } | undefined = startsUp ? { at: from, openStart: true } : undefined;
  shown.forEach((event, index) => {
    if (!gaps[index] && gaps[index + 1]) began = { at: event.at, openStart: false };
    if (!gaps[index] || gaps[index + 1]) return;
    const start = began!;
    const length = event.at - start.at;
    sessions.push({ start: iso(start.at), end: iso(event.at), openStart: start.openStart, seconds: length / 1e6, reason: event.reason });
    connected += Math.max(0, Math.min(event.at, until) - start.at);
  });
  if (gaps.at(-1)) {
    const start = began!;
    const length = Math.max(0, until - start.at);
    sessions.push({ start: iso(start.at), end: null, openStart: start.openStart, seconds: length / 1e6, reason: null });
    connected += length;
  }
  const isKnown = earlier > 0 || shown.length > 0;
  const uptime = truncated || !isKnown || until <= from ? null : (connected / (until - from)) * 100;
  const events = shown.map(({ at, up, reason, session }) => [iso(at), up ? 'connected' : 'disconnected', reason, session]);
  return { events, sessions, uptime, truncated };
}

function firmware(measurements: readonly OracleMeasurement[]) {
  const hours = new Map<string, OracleMeasurement[]>();
  for (const one of measurements) {
    if (one.version === null) continue;
    const key = `${Math.floor(one.at / HOUR)} ${one.version}`;
    hours.set(key, [...(hours.get(key) ?? []), one]);
  }
  const groups = [...hours.values()]
    .map((list) => ({
      version: list[0]!.version!,
      count: list.length,
      first: Math.min(...list.map(({ at }) => at)),
      last: Math.max(...list.map(({ at }) => at)),
    }))
    .sort((a, b) => a.first - b.first || (a.version < b.version ? -1 : 1));
  const runs: typeof groups = [];
  for (const group of groups) {
    const before = runs.at(-1);
    if (before?.version !== group.version) runs.push({ ...group });
    else Object.assign(before, { count: before.count + group.count, last: Math.max(before.last, group.last) });
  }
  return runs.map(({ version, count, first, last }) => [version, iso(first), iso(last), count]);
}

const bucketOf = (at: number, { bucket }: OracleQuestion) => iso(Math.floor(at / SIZES[bucket]) * SIZES[bucket]);

export function deviceView(device: OracleDevice, question: OracleQuestion) {
  const { reads, contributes } = question;
  const measured = device.measurements.filter(({ at }) => within(at, question));
  const shownAs = ({ experiment }: OracleMeasurement) => (reads(experiment) ? experiment : 'null');
  const powered = measured.flatMap((one) => (one.battery === null ? [] : [{ ...one, battery: one.battery }]));
  const battery = Object.fromEntries(
    Object.keys(tally(measured, ({ at }) => bucketOf(at, question))).map((bucket) => {
      const values = powered.filter(({ at }) => bucketOf(at, question) === bucket).map((one) => one.battery);
      return [bucket, values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length];
    }),
  );
  const recent = measured
    .filter(({ experiment }) => reads(experiment))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1))
    .slice(0, MOST_RECENT)
    .map((one) => {
      const mayLook = contributes(one.experiment);
      const place = mayLook ? one.gps : null;
      return [
        iso(one.at),
        one.experiment,
        one.protocol,
        one.workbook,
        one.version,
        one.battery,
        place?.latitude ?? null,
        place?.longitude ?? null,
        mayLook ? one.sample : null,
      ];
    });
  return {
    presence: presence(device, question),
    throughput: tally(measured, (one) => `${bucketOf(one.at, question)} ${shownAs(one)}`),
    battery,
    totals: {
      totalMeasurements: measured.length,
      withGps: measured.filter(({ gps }) => gps !== null).length,
      withBattery: powered.length,
      workbookRuns: new Set(measured.flatMap(({ run }) => (run === null ? [] : [run]))).size,
    },
    firmwareMix: tally(measured, ({ version }) => String(version)),
    protocolMix: tally(
      measured.filter(({ experiment, protocol }) => reads(experiment) && protocol !== null),
      ({ protocol }) => String(protocol),
    ),
    workbookMix: tally(measured, ({ experiment, workbook }) => (reads(experiment) ? String(workbook) : 'null')),
    macroMix: tally(
      measured.flatMap(({ experiment, macros }) =>
        macros.length === 0 ? ['null'] : macros.map((id) => (reads(experiment) ? id : 'null')),
      ),
      (id) => id,
    ),
    firmware: firmware(measured),
    recent,
  };
}

export const lastData = ({ measurements }: OracleDevice): string | null =>
  measurements.length === 0 ? null : iso(Math.max(...measurements.map(({ at }) => at)));

export function observed(device: OracleDevice, question: OracleQuestion) {
  const measured = device.measurements.filter(({ at }) => within(at, question));
  const keyOf = ({ experiment }: OracleMeasurement) => (question.reads(experiment) ? experiment : 'null');
  const last: Record<string, string> = {};
  for (const one of measured.toSorted((a, b) => a.at - b.at)) last[keyOf(one)] = iso(one.at);
  return { counts: tally(measured, keyOf), last };
}

/** What fleet and group views have in common; the devices' events were told one device after the other. */
export function manyDevices(devices: readonly OracleDevice[], question: OracleQuestion) {
  const measured = devices.flatMap((device) =>
    device.measurements.filter(({ at }) => within(at, question)).map((one) => ({ ...one, device: device.id })),
  );
  const latest: Record<string, [string, string]> = {};
  for (const { device, version, at } of measured.toSorted((a, b) => a.at - b.at || (String(a.version) > String(b.version) ? -1 : 1)))
    if (version !== null) latest[device] = [version, iso(at)];
  const events = devices.flatMap(({ id, events: list }) =>
    list.filter(({ at }) => within(at, question)).map((event) => ({ id, ...event })),
  );
  return {
    lastData: Object.fromEntries(devices.map((device) => [device.id, lastData(device)])),
    throughput: tally(measured, (one) => `${bucketOf(one.at, question)} ${one.device}`),
    byExperiment: tally(measured, (one) => `${bucketOf(one.at, question)} ${question.reads(one.experiment) ? one.experiment : 'null'}`),
    latest,
    // of one instant, what was told last comes first
    events: events
      .map((event, told) => ({ ...event, told }))
      .sort((a, b) => b.at - a.at || b.told - a.told)
      .slice(0, MOST_OF_ALL)
      .map(({ id, at, up, reason }) => [iso(at), id, up ? 'connected' : 'disconnected', reason]),
  };
}
