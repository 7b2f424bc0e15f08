import type { DeviceConnectivity, DeviceType } from '../devices/devices.model.ts';

export type MonitoringBucket = 'hour' | 'day';

export interface PresenceEventView {
  eventType: 'connected' | 'disconnected';
  eventTimestamp: Date;
  disconnectReason: string | null;
  sessionIdentifier: string | null;
}

export interface SessionView {
  start: Date;
  /** Null while it goes on. */
  end: Date | null;
  /** It began before the range; `start` is then the range's. */
  openStart: boolean;
  durationSeconds: number;
  disconnectReason: string | null;
}

export interface ExperimentThroughput {
  bucketStart: Date;
  /** Null for experiments that you may not read, together. */
  experimentId: string | null;
  count: number;
}

export interface BatteryPoint {
  bucketStart: Date;
  averageBattery: number | null;
}

export interface VersionCount {
  version: string | null;
  count: number;
}
export interface ProtocolCount {
  protocolId: string;
  count: number;
}
export interface WorkbookCount {
  workbookVersionId: string | null;
  workbookId: string | null;
  workbookVersion: number | null;
  count: number;
}
export interface MacroCount {
  macroId: string | null;
  count: number;
}

export interface PayloadView {
  totalMeasurements: number;
  withGps: number;
  withBattery: number;
  workbookRuns: number;
  firmwareMix: VersionCount[];
  protocolMix: ProtocolCount[];
  workbookMix: WorkbookCount[];
  macroMix: MacroCount[];
}

export interface FirmwareRun {
  version: string;
  firstSeen: Date;
  lastSeen: Date;
  count: number;
}

export interface RecentMeasurement {
  timestamp: Date;
  experimentId: string;
  protocolId: string | null;
  workbookVersionId: string | null;
  deviceVersion: string | null;
  battery: number | null;
  latitude: number | null;
  longitude: number | null;
  /** JSON text. */
  sample: string | null;
}

export interface DeviceMonitoring {
  bucket: MonitoringBucket;
  /** Oldest first; of more than 1,000 the newest. */
  events: PresenceEventView[];
  sessions: SessionView[];
  uptimePercent: number | null;
  truncated: boolean;
  throughput: ExperimentThroughput[];
  battery: BatteryPoint[];
  payload: PayloadView;
  firmwareHistory: FirmwareRun[];
  /** Of the newest 50 that the device sent: those of the range, of experiments that you may read. */
  recentMeasurements: RecentMeasurement[];
  /** Some section could not be read, and is empty. */
  pipelineUnavailable: boolean;
}

export interface DeviceLastData {
  deviceId: string;
  lastDataAt: Date | null;
}

export interface DeviceThroughput {
  bucketStart: Date;
  deviceId: string;
  count: number;
}

export interface DeviceEvent {
  deviceId: string;
  eventType: 'connected' | 'disconnected';
  eventTimestamp: Date;
  disconnectReason: string | null;
}

export interface FleetMonitoring {
  devices: DeviceLastData[];
  throughput: DeviceThroughput[];
  /** Newest first, 200 at most. */
  events: DeviceEvent[];
  pipelineUnavailable: boolean;
}

export interface MonitoredMember {
  deviceId: string;
  name: string | null;
  serialNumber: string;
  deviceType: DeviceType;
  connectivity: DeviceConnectivity | null;
  lastDataAt: Date | null;
}

export interface MemberFirmware {
  deviceId: string;
  version: string;
  lastSeen: Date;
}

export interface GroupMonitoring {
  /** Members that you may read. */
  members: MonitoredMember[];
  throughput: DeviceThroughput[];
  dataByExperiment: ExperimentThroughput[];
  firmware: MemberFirmware[];
  events: DeviceEvent[];
  pipelineUnavailable: boolean;
}

export interface DeviceActivity {
  lastDataAt: Date | null;
  pipelineUnavailable: boolean;
}

export interface FirmwareHistory {
  /** Oldest first; a version that came back is there again. */
  versions: FirmwareRun[];
  pipelineUnavailable: boolean;
}

export interface ObservedExperiment {
  /** Null for experiments that you may not read, together. */
  experimentId: string | null;
  count: number;
  lastAt: Date | null;
}

export interface ObservedExperiments {
  experiments: ObservedExperiment[];
  pipelineUnavailable: boolean;
}
