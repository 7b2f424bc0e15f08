import type { ResourceCapabilities, Visibility } from '../resources/resources.model.ts';
import type { Uuid } from '../sharing/sharing.model.ts';

export type DeviceType = 'multispeq' | 'ambyte' | 'minipar' | 'generic' | 'ambit' | 'mobile';
/** Types that are registered by serial number; a phone registers itself. */
export type InstrumentType = 'multispeq' | 'ambyte' | 'minipar' | 'generic' | 'ambit';
/** `pending`: registered, without a certificate. `active`: with one, or a phone. `rotating`: getting another. `revoked`: its certificate was ended. */
export type DeviceStatus = 'pending' | 'active' | 'rotating' | 'revoked';

export interface DeviceConnectivity {
  connected: boolean;
  /** When it last connected or disconnected; null when it never did. */
  lastSeenAt: Date | null;
}

export interface Device {
  id: string;
  /** What it is called in the registry; also its MQTT client id. */
  thingName: string;
  thingArn: string;
  serialNumber: string;
  name: string | null;
  deviceType: DeviceType;
  status: DeviceStatus;
  certificateId: string | null;
  certificateArn: string | null;
  createdBy: string;
  organizationId: string;
  visibility: Visibility;
  createdAt: Date;
  updatedAt: Date;
}

/** A device and whether it is connected; null when the registry cannot say. */
export interface ConnectedDevice extends Device {
  connectivity: DeviceConnectivity | null;
}

export interface DeviceDetail extends ConnectedDevice {
  capabilities: ResourceCapabilities;
}

/**
 * Letters, digits and `_ . , @ / : # = [ ] -`.
 * @minLength 1
 * @maxLength 255
 * @pattern ^[A-Za-z0-9_.,@/:#=\[\]-]+$
 */
export type SerialNumber = string;

export interface NewDevice {
  serialNumber: SerialNumber;
  deviceType: InstrumentType;
  /**
   * @minLength 1
   * @maxLength 255
   */
  name?: string;
  /** An organization that you are a member of; your personal workspace when absent. */
  organizationId?: Uuid;
}

export interface DevicePatch {
  /**
   * What people call it; null takes the name away, and its serial number stands for it again.
   * @minLength 1
   * @maxLength 255
   */
  name?: string | null;
}

export interface NewMobileDevice {
  /** The installation's own id. The same again answers the same device. */
  installId: Uuid;
  /**
   * Kept when the device has no name yet.
   * @minLength 1
   * @maxLength 255
   */
  name?: string;
}

export interface BulkDevice {
  serialNumber: SerialNumber;
  /**
   * @minLength 1
   * @maxLength 255
   */
  name?: string;
}

/** An existing group by its id, or a new one by its name. */
export interface BulkGroup {
  groupId?: Uuid;
  /**
   * @minLength 1
   * @maxLength 255
   */
  name?: string;
}

export interface NewDevices {
  /**
   * @minItems 1
   * @maxItems 100
   */
  devices: BulkDevice[];
  deviceType: InstrumentType;
  organizationId?: Uuid;
  group?: BulkGroup;
}

export interface BulkDeviceResult {
  serialNumber: string;
  device: Device | null;
  error: string | null;
}

export interface BulkDevicesResult {
  /** In the order asked. */
  devices: BulkDeviceResult[];
  /** The group that the new devices joined; null whenever there is a groupError. */
  groupId: string | null;
  groupError: string | null;
}

/** Shown once; nobody keeps it. */
export interface CertificateBundle {
  certificateId: string;
  certificateArn: string;
  certificatePem: string;
  publicKey: string;
  /** Empty when you sent a signing request: the key never left the device. */
  privateKey: string;
}

export interface CertificateRequest {
  /**
   * A PEM certificate signing request (PKCS #10); without it, keys are made and shown once.
   * @maxLength 16384
   */
  csr?: string;
}

export interface OnboardRequest {
  /**
   * Experiments to bind the device to, besides those it is bound to.
   * @maxItems 100
   */
  experimentIds?: Uuid[];
  /** False leaves workbooks and their procedures out. */
  includeWorkbook?: boolean;
}

/** One step of an experiment's workbook as the device runs it. */
export interface DeviceProcedure {
  type: 'protocol' | 'command' | 'question';
  protocolId?: string;
  name?: string | undefined;
  /** Protocols: the instruments it is for. */
  family?: string;
  /** Protocols: what the workbook's version kept. */
  code?: unknown;
  /** Commands: how `content` is written. */
  format?: 'string' | 'json' | 'yaml' | undefined;
  content?: string | undefined;
  /** Questions: the cell. */
  id?: string;
  kind?: string;
  text?: string;
  options?: string[];
  required?: boolean;
  answer?: string | null;
}

export interface OnboardedExperiment {
  experimentId: string;
  experimentName: string;
  /** Publish under this and `/{sensorVersion}/{sensorId}`. */
  topicPrefix: string;
  workbookVersion: number | null;
  procedures: DeviceProcedure[];
}

export interface OnboardingConfig {
  thingName: string;
  deviceType: DeviceType;
  /** Host, and port unless it is 8883. */
  endpoint: string;
  /** All live experiments of the device, newest binding first. */
  experiments: OnboardedExperiment[];
}

export interface DeviceExperiment {
  id: string;
  name: string;
  status: string;
  addedAt: Date;
}

export interface AttachedDevice {
  id: string;
  thingName: string;
  serialNumber: string;
  name: string | null;
  deviceType: DeviceType;
  status: DeviceStatus;
}

export interface ExperimentDevice {
  device: AttachedDevice;
  addedBy: string | null;
  addedAt: Date;
}

export interface RegistryQuestion {
  /**
   * @minItems 1
   * @maxItems 500
   */
  thingNames: string[];
}

export interface RegistryDevice {
  thingName: string;
  id: string;
  serialNumber: string;
  deviceType: DeviceType;
  status: DeviceStatus;
  createdBy: string;
}

export interface RegistryAnswer {
  /** Those that exist and that you may read. */
  devices: RegistryDevice[];
  success: boolean;
}

export interface CloudCredentials {
  /** With the embedded broker: the MQTT user name. */
  accessKeyId: string;
  secretAccessKey: string;
  /** With the embedded broker: the MQTT password. */
  sessionToken: string;
  expiration: Date;
  /** MQTT client ids must begin with this. */
  clientIdPrefix: string;
  /** Topics must begin with this. */
  topicPrefix: string;
  /** Object keys must begin with this; null where no objects may be written. */
  keyPrefix: string | null;
}
