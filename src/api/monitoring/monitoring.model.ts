import type { DeviceConnectivity, DeviceType } from '../devices/devices.model.ts';

/** Counts are summed up by `hour` or `day`, in UTC. */
export type MonitoringBucket = 'hour' | 'day';

/** A range of time. */
export interface RangeQuery {
  /** Beginning of the range, which belongs to it. */
  from: Date;
  /** End of the range, which does not belong to it; at most 31 days after `from`. */
  to: Date;
}
/** A range of time, and the parts that it is cut into. */
export interface BucketsQuery extends RangeQuery {
  /** Counts are summed up by `hour` or `day`, in UTC. */
  bucket: MonitoringBucket;
}

/** A connection or its end. */
export interface PresenceEventView {
  /** What happened. */
  eventType: 'connected' | 'disconnected';
  /** When it happened, in UTC. */
  eventTimestamp: Date;
  /** Why the connection ended, as the broker says; null for a connection. */
  disconnectReason: string | null;
  /** Names the session, as the broker says; null when it does not. */
  sessionIdentifier: string | null;
}

/** A time in which a device was connected. */
export interface SessionView {
  /** When it began, in UTC. */
  start: Date;
  /** When it ended, in UTC; null while it goes on. */
  end: Date | null;
  /** It began before the range; `start` is then the range's. */
  openStart: boolean;
  /** Seconds within the range, up to now. */
  durationSeconds: number;
  /** Why it ended, as the broker says; null while it goes on. */
  disconnectReason: string | null;
}

/** Measurements of a bucket and experiment. */
export interface ExperimentThroughput {
  bucketStart: Date;
  /** Null for experiments that you may not read, together. */
  experimentId: string | null;
  /** Measurements in it. */
  count: number;
}

/** Battery of a bucket. */
export interface BatteryPoint {
  bucketStart: Date;
  /** Mean of what the device said of its battery, in its own unit; null when it said nothing. */
  averageBattery: number | null;
}

/** Measurements of one firmware. */
export interface VersionCount {
  /** Firmware that the measurements name; null for those that name none. */
  version: string | null;
  /** Measurements. */
  count: number;
}
/** Measurements of one protocol. */
export interface ProtocolCount {
  /** Protocol that the measurements name, of experiments that you may read. */
  protocolId: string;
  /** Measurements. */
  count: number;
}
/** Measurements of one workbook version. */
export interface WorkbookCount {
  /** Workbook version that the measurements name; null for those that name none, and of experiments that you may not read. */
  workbookVersionId: string | null;
  /** Workbook of that version; null when it is not known. */
  workbookId: string | null;
  /** Number of that version; null when it is not known. */
  workbookVersion: number | null;
  /** Measurements. */
  count: number;
}
/** Measurements of one macro. */
export interface MacroCount {
  /** Macro that the measurements name; null for those that name none, and of experiments that you may not read. */
  macroId: string | null;
  /** Measurements. */
  count: number;
}

/** What the measurements of a range hold. */
export interface PayloadView {
  /** Measurements in the range. */
  totalMeasurements: number;
  /** Of those, the ones with a latitude and longitude. */
  withGps: number;
  /** Of those, the ones that say the battery. */
  withBattery: number;
  /** Different runs of a workbook that they name. */
  workbookRuns: number;
  /** Measurements by firmware, most first. */
  firmwareMix: VersionCount[];
  /** Measurements by protocol, most first. */
  protocolMix: ProtocolCount[];
  /** Measurements by workbook version, most first. */
  workbookMix: WorkbookCount[];
  /** Measurements by macro, most first. */
  macroMix: MacroCount[];
}

/** A time in which a device ran one firmware. */
export interface FirmwareRun {
  /** Firmware, as measurements name it. */
  version: string;
  /** When the first of its measurements was taken, in UTC. */
  firstSeen: Date;
  /** When the last of its measurements was taken, in UTC. */
  lastSeen: Date;
  /** Measurements with it. */
  count: number;
}

/** One of the newest measurements of a device. */
export interface RecentMeasurement {
  /** When it was taken, in UTC. */
  timestamp: Date;
  /** Experiment that it belongs to. */
  experimentId: string;
  /** Protocol that it names; null when none. */
  protocolId: string | null;
  /** Workbook version that it names; null when none. */
  workbookVersionId: string | null;
  /** Firmware that it names; null when none. */
  deviceVersion: string | null;
  /** What the device said of its battery, in its own unit; null when nothing. */
  battery: number | null;
  /** Degrees north; null without one, and for who may not contribute to the experiment. */
  latitude: number | null;
  /** Degrees east; null without one, and for who may not contribute to the experiment. */
  longitude: number | null;
  /** What was measured, as JSON text, its first 65,536 characters; null for who may not contribute to the experiment. */
  sample: string | null;
}

/** What a device did in a range. */
export interface DeviceMonitoring {
  /** What counts are grouped by. */
  bucket: MonitoringBucket;
  /** Oldest first; of more than 1,000 the newest. */
  events: PresenceEventView[];
  /** Times in which it was connected, oldest first. */
  sessions: SessionView[];
  /** Per cent of the elapsed range in which it was connected; null when nothing is known of it, and when `truncated`. */
  uptimePercent: number | null;
  /** Whether there were more than 1,000 events, so that `events` and `sessions` begin late. */
  truncated: boolean;
  /** Measurements by bucket and experiment. */
  throughput: ExperimentThroughput[];
  /** Battery by bucket. */
  battery: BatteryPoint[];
  /** What its measurements hold. */
  payload: PayloadView;
  /** Oldest first; a version that came back is there again. */
  firmwareHistory: FirmwareRun[];
  /** Of the newest 50 that the device sent: those of the range, of experiments that you may read. */
  recentMeasurements: RecentMeasurement[];
  pipelineUnavailable: boolean;
}

/** When a device last measured. */
export interface DeviceLastData {
  deviceId: string;
  lastDataAt: Date | null;
}

/** Measurements of a bucket and device. */
export interface DeviceThroughput {
  bucketStart: Date;
  deviceId: string;
  /** Measurements in it; buckets without any are left out. */
  count: number;
}

/** A connection of a device, or its end. */
export interface DeviceEvent {
  deviceId: string;
  /** What happened. */
  eventType: 'connected' | 'disconnected';
  /** When it happened, in UTC. */
  eventTimestamp: Date;
  /** Why the connection ended, as the broker says; null for a connection. */
  disconnectReason: string | null;
}

/** What all your devices did in a range. */
export interface FleetMonitoring {
  /** Every device that you may read. */
  devices: DeviceLastData[];
  /** Measurements by bucket and device. */
  throughput: DeviceThroughput[];
  /** Newest first, 200 at most. */
  events: DeviceEvent[];
  pipelineUnavailable: boolean;
}

/** A device of a group, as it is watched. */
export interface MonitoredMember {
  deviceId: string;
  /** What people call it; null when nobody named it. */
  name: string | null;
  /** Number that its maker gave it; of a phone, the id of the installation. */
  serialNumber: string;
  /** What kind of instrument it is. */
  deviceType: DeviceType;
  /** Whether it is connected; null when the registry cannot say. */
  connectivity: DeviceConnectivity | null;
  lastDataAt: Date | null;
}

/** Firmware of a device. */
export interface MemberFirmware {
  deviceId: string;
  /** Newest firmware that its measurements of the range name. */
  version: string;
  /** When the last of those was taken, in UTC. */
  lastSeen: Date;
}

/** What the devices of a group did in a range. */
export interface GroupMonitoring {
  /** Members that you may read. */
  members: MonitoredMember[];
  /** Measurements by bucket and device. */
  throughput: DeviceThroughput[];
  /** Measurements by bucket and experiment. */
  dataByExperiment: ExperimentThroughput[];
  /** Newest firmware of each member. */
  firmware: MemberFirmware[];
  /** Newest first, 200 at most. */
  events: DeviceEvent[];
  pipelineUnavailable: boolean;
}

/** When a device last measured. */
export interface DeviceActivity {
  lastDataAt: Date | null;
  /** The time could not be read, and is null. */
  pipelineUnavailable: boolean;
}

/** Which firmware a device has run. */
export interface FirmwareHistory {
  /** Oldest first; a version that came back is there again. */
  versions: FirmwareRun[];
  /** The versions could not be read, and are empty. */
  pipelineUnavailable: boolean;
}

/** An experiment that a device has sent to. */
export interface ObservedExperiment {
  /** Null for experiments that you may not read, together. */
  experimentId: string | null;
  /** Measurements that it sent there. */
  count: number;
  /** When the last of them was taken, in UTC; null when that is not known. */
  lastAt: Date | null;
}

/** Experiments that a device has sent to. */
export interface ObservedExperiments {
  /** Busiest first. */
  experiments: ObservedExperiment[];
  /** The experiments could not be read, and are empty. */
  pipelineUnavailable: boolean;
}
