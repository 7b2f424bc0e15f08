import type { Context } from '../../context.ts';
import { errors, refuse } from '../../errors.ts';
import { addConnectivity } from '../devices/devices.service.ts';
import type {
  BucketsQuery,
  DeviceMonitoring,
  DeviceThroughput,
  FirmwareHistory,
  FirmwareRun,
  FleetMonitoring,
  GroupMonitoring,
  ObservedExperiments,
  PayloadView,
} from './monitoring.model.ts';
import {
  findTotals,
  listBattery,
  listDeviceCounts,
  listExperimentThroughput,
  listLatestVersions,
  listObserved,
  listVersions,
  type CountsOfOne,
  type VersionHour,
} from './counts.queries.ts';
import {
  findMonitored,
  findStateBefore,
  listEvents,
  listEventsOf,
  listFleet,
  listGroupDevices,
  listLastDataTimes,
  listRecent,
  type MonitoredDevice,
} from './monitoring.queries.ts';
import { splitRange, cutRange, limitPoints, MOST_POINTS, type BucketedRange, type Range } from './ranges.ts';
import { listSessionSpans, measureUptime } from './sessions.ts';

const MOST_EVENTS = 1_000;
const MOST_FLEET_EVENTS = 200;
const MOST_RECENT = 50;

/** Reads the sections of an answer side by side. A section that fails is empty, and `failed` says so. */
class Sections {
  readonly #ctx: Context;
  failed = false;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  async read<T>(work: Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'a section of monitoring could not be read');
      this.failed = true;
      return otherwise;
    }
  }
}

/** Merges consecutive hours with one firmware version into one run. A version that comes back begins a new run. */
function mergeHours(hours: readonly VersionHour[]): FirmwareRun[] {
  const runs: FirmwareRun[] = [];
  for (const { version, firstAt, lastAt, count } of hours) {
    const last = runs.at(-1);
    if (last?.version === version) {
      last.count += count;
      if (lastAt > last.lastSeen) last.lastSeen = lastAt;
    } else runs.push({ version, firstSeen: firstAt, lastSeen: lastAt, count });
  }
  return runs;
}

const NO_PAYLOAD: PayloadView = {
  totalMeasurements: 0,
  withGps: 0,
  withBattery: 0,
  workbookRuns: 0,
  firmwareMix: [],
  protocolMix: [],
  workbookMix: [],
  macroMix: [],
};

async function thingOf(ctx: Context, deviceId: string): Promise<string> {
  const found = (await findMonitored(ctx.db, deviceId)) ?? refuse(errors.resourceNotFound('device'));
  return found.thingName;
}

type Presence = Pick<DeviceMonitoring, 'events' | 'sessions' | 'uptimePercent' | 'truncated'>;

const NO_PRESENCE: Presence = { events: [], sessions: [], uptimePercent: null, truncated: false };

/**
 * Loads the events of a range, with the sessions and the uptime that follow from them. A truncated history covers the newest part of the range only, and begins
 * in the state of the device before that part.
 */
async function presenceOf({ db }: Context, thing: string, range: Range): Promise<Presence> {
  const newest = await listEvents(db, thing, range, MOST_EVENTS + 1);
  const truncated = newest.length > MOST_EVENTS;
  const kept = newest.slice(0, MOST_EVENTS).reverse();
  const first = truncated ? kept[0] : undefined;
  const from = first?.eventTimestamp ?? range.from;
  const before = (await findStateBefore(db, thing, from, first?.ordinal)) ?? null;
  const events = kept.map(({ ordinal: _, ...event }) => event);
  const history = { from, to: range.to, now: new Date(), before, events };
  return { events, sessions: listSessionSpans(history), uptimePercent: truncated ? null : measureUptime(history), truncated };
}

/** Loads the monitoring of one device. A section that cannot be read is empty, and the answer says so. Errors: the device is not there. */
export async function monitorDevice(ctx: Context, userId: string, deviceId: string, range: BucketsQuery): Promise<DeviceMonitoring> {
  const thing = await thingOf(ctx, deviceId);
  const sections = new Sections(ctx);
  const { db } = ctx;
  const cut = splitRange(range);
  const [presence, throughput, battery, payload, versions, recent] = await Promise.all([
    sections.read(presenceOf(ctx, thing, range), NO_PRESENCE),
    sections.read(listExperimentThroughput(db, userId, [thing], cut), []),
    sections.read(listBattery(db, thing, cut), []),
    sections.read(findTotals(db, userId, thing, cut), NO_PAYLOAD),
    sections.read(listVersions(db, thing, cut), []),
    sections.read(listRecent(db, userId, thing, range, MOST_RECENT), []),
  ]);
  return {
    bucket: range.bucket,
    ...presence,
    throughput,
    battery: battery.map((point) => ({ ...point, averageBattery: Number.isFinite(point.averageBattery) ? point.averageBattery : null })),
    payload: payload ?? NO_PAYLOAD,
    firmwareHistory: mergeHours(versions),
    recentMeasurements: recent,
    pipelineUnavailable: sections.failed,
  };
}

/** Sums counts by bucket and device, both in the order given. Pairs without a count are left out. */
function throughputOf(devices: readonly MonitoredDevice[], counted: readonly CountsOfOne[], starts: readonly Date[]): DeviceThroughput[] {
  const byThing = new Map(counted.map((one) => [one.thingName, one]));
  const sums = devices.map(({ thingName }) => {
    const row = new Float64Array(starts.length);
    const { buckets, counts } = byThing.get(thingName) ?? { buckets: [], counts: [] };
    for (const [n, bucket] of buckets.entries()) row[bucket] = (row[bucket] ?? 0) + (counts[n] ?? 0);
    return row;
  });
  const points: DeviceThroughput[] = [];
  for (const [bucket, bucketStart] of starts.entries())
    for (const [n, { id }] of devices.entries()) {
      const count = sums[n]?.[bucket] ?? 0;
      if (count > 0) points.push({ bucketStart, deviceId: id, count });
    }
  return points;
}

async function ofDevices(ctx: Context, sections: Sections, devices: readonly MonitoredDevice[], range: BucketedRange) {
  const ids = new Map(devices.map(({ thingName, id }) => [thingName, id]));
  const things = [...ids.keys()];
  const named = <T extends { thingName: string }>({ thingName, ...rest }: T) => ({ ...rest, deviceId: ids.get(thingName) ?? '' });
  const [last, counts, events] = await Promise.all([
    sections.read(listLastDataTimes(ctx.db, things), []),
    sections.read(listDeviceCounts(ctx.db, things, range), []),
    sections.read(listEventsOf(ctx.db, things, range, MOST_FLEET_EVENTS), []),
  ]);
  return {
    things,
    named,
    lastDataAt: new Map(last.map(({ thingName, lastAt }) => [thingName, lastAt])),
    throughput: throughputOf(devices, counts, range.starts),
    events: events.map(named),
  };
}

/** Loads the monitoring of every device that the caller may read. */
export async function monitorFleet(ctx: Context, userId: string, range: BucketsQuery): Promise<FleetMonitoring> {
  const devices = await listFleet(ctx.db, userId, MOST_POINTS + 1);
  if (devices.length === 0) return { devices: [], throughput: [], events: [], pipelineUnavailable: false };
  limitPoints(range, devices.length);
  const sections = new Sections(ctx);
  const cut = splitRange(range);
  const { lastDataAt, throughput, events } = await ofDevices(ctx, sections, devices, cut);
  return {
    devices: devices.map(({ id, thingName }) => ({ deviceId: id, lastDataAt: lastDataAt.get(thingName) ?? null })),
    throughput,
    events,
    pipelineUnavailable: sections.failed,
  };
}

/** Loads the monitoring of those devices of a group that the caller may read. */
export async function monitorGroup(ctx: Context, userId: string, groupId: string, range: BucketsQuery): Promise<GroupMonitoring> {
  const devices = await listGroupDevices(ctx.db, userId, groupId);
  limitPoints(range, Math.max(1, devices.length));
  const sections = new Sections(ctx);
  const cut = splitRange(range);
  const { things, named, lastDataAt, throughput, events } = await ofDevices(ctx, sections, devices, cut);
  const [dataByExperiment, firmware, connected] = await Promise.all([
    sections.read(listExperimentThroughput(ctx.db, userId, things, cut), []),
    sections.read(listLatestVersions(ctx.db, things, cut), []),
    addConnectivity(ctx, devices),
  ]);
  return {
    members: connected.map(({ id, thingName, name, serialNumber, deviceType, connectivity }) => ({
      deviceId: id,
      name,
      serialNumber,
      deviceType,
      connectivity,
      lastDataAt: lastDataAt.get(thingName) ?? null,
    })),
    throughput,
    dataByExperiment,
    firmware: firmware.map(named),
    events,
    pipelineUnavailable: sections.failed,
  };
}

export async function loadActivity(ctx: Context, deviceId: string) {
  const thing = await thingOf(ctx, deviceId);
  const sections = new Sections(ctx);
  const [last] = await sections.read(listLastDataTimes(ctx.db, [thing]), []);
  return { lastDataAt: last?.lastAt ?? null, pipelineUnavailable: sections.failed };
}

/** Loads the runs of a device's firmware versions. Runs consist of hours, whatever the bucket is; the bucket only keeps the answer within bounds. */
export async function loadFirmwareHistory(ctx: Context, deviceId: string, range: BucketsQuery): Promise<FirmwareHistory> {
  limitPoints(range, 1);
  const thing = await thingOf(ctx, deviceId);
  const sections = new Sections(ctx);
  const versions = mergeHours(await sections.read(listVersions(ctx.db, thing, cutRange(range)), []));
  return { versions, pipelineUnavailable: sections.failed };
}

export async function loadObservedExperiments(ctx: Context, userId: string, deviceId: string, range: Range): Promise<ObservedExperiments> {
  const thing = await thingOf(ctx, deviceId);
  const sections = new Sections(ctx);
  const experiments = await sections.read(listObserved(ctx.db, userId, thing, cutRange(range)), []);
  return { experiments, pipelineUnavailable: sections.failed };
}
