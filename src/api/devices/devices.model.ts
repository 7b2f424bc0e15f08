import type { ResourceCapabilities, Visibility } from '../resources/resources.model.ts';
import type { Name, Uuid } from '../sharing/sharing.model.ts';

/** Kinds of instruments, and phones that measure. */
export type DeviceType = 'multispeq' | 'ambyte' | 'minipar' | 'generic' | 'ambit' | 'mobile';
/** Types that are registered by serial number; a phone registers itself. */
export type InstrumentType = 'multispeq' | 'ambyte' | 'minipar' | 'generic' | 'ambit';
/** `pending`: registered, without a certificate. `active`: with one, or a phone. `rotating`: getting another. `revoked`: its certificate was ended. */
export type DeviceStatus = 'pending' | 'active' | 'rotating' | 'revoked';

/** Whether a device is connected to the broker. */
export interface DeviceConnectivity {
  /** Whether it is connected now. */
  connected: boolean;
  /** When it last connected or disconnected, in UTC; null when it never did. */
  lastSeenAt: Date | null;
}

/** What a device is known by. */
export interface DeviceKnown {
  /** Device, by its UUID. */
  id: string;
  /** What it is called in the registry; also its MQTT client id. */
  thingName: string;
  /** Number that its maker gave it; of a phone, the id of the installation. */
  serialNumber: string;
  /** What kind of instrument it is. */
  deviceType: DeviceType;
  status: DeviceStatus;
}

/** An instrument or phone that sends measurements. */
export interface Device extends DeviceKnown {
  /** Its whole name in the registry, as AWS IoT writes it. */
  thingArn: string;
  /** What people call it; null when nobody named it, and its serial number stands for it. */
  name: string | null;
  /** Certificate that it connects with; null without one. */
  certificateId: string | null;
  /** The certificate's whole name in the registry; null without one. */
  certificateArn: string | null;
  /** Person who registered it, by their UUID. */
  createdBy: string;
  organizationId: string;
  visibility: Visibility;
  createdAt: Date;
  updatedAt: Date;
}

/** A device and whether it is connected; null when the registry cannot say. */
export interface ConnectedDevice extends Device {
  /** Whether it is connected; null when the registry cannot say. */
  connectivity: DeviceConnectivity | null;
}

/** What a device connects to, as an MQTT client over TLS whose id is the device's `thingName`. */
export interface DeviceConnection {
  /** Host name or address of the broker. */
  host: string;
  /** Port of the broker. */
  port: number;
  /** Certificate of the authority that the device must trust, as PEM text; null with AWS IoT, whose authority is Amazon Root CA 1. */
  authorityPem: string | null;
}

/** A device, whether it is connected, what it connects to, and what you may do with it. */
export interface DeviceDetail extends ConnectedDevice {
  /** What it connects to; null for a phone, and when the registry cannot say. */
  connection: DeviceConnection | null;
  /** What you may do with the device. */
  capabilities: ResourceCapabilities;
}

/**
 * Letters, digits and `_ . , @ / : # = [ ] -`.
 * @minLength 1
 * @maxLength 255
 * @pattern ^[A-Za-z0-9_.,@/:#=\[\]-]+$
 */
export type SerialNumber = string;

/** What a device is registered with. */
export interface NewDevice {
  /** Number that its maker gave it: 1 to 255 letters, digits and `_ . , @ / : # = [ ] -`. */
  serialNumber: SerialNumber;
  /** What kind of instrument it is. */
  deviceType: InstrumentType;
  /** What people call it, 1 to 255 characters. */
  name?: Name;
  /** An organization that you are a member of; your personal workspace when absent. */
  organizationId?: Uuid;
}

/** Another name for a device. */
export interface DevicePatch {
  /**
   * What people call it, 1 to 255 characters; null takes the name away, and its serial number stands for it again.
   * @minLength 1
   * @maxLength 255
   * @format name
   */
  name?: string | null;
}

/** What a phone is registered with. */
export interface NewMobileDevice {
  /** The installation's own id. The same again answers the same device. */
  installId: Uuid;
  /** What people call the phone, 1 to 255 characters. Kept when the device has no name yet. */
  name?: Name;
}

/** Shown once; nobody keeps it. */
export interface CertificateBundle {
  /** Names the certificate. */
  certificateId: string;
  /** The certificate's whole name in the registry. */
  certificateArn: string;
  /** The certificate, as PEM text. */
  certificatePem: string;
  /** Its public key, as PEM text. */
  publicKey: string;
  /** Its private key, as PEM text. Empty when you sent a signing request: the key never left the device. */
  privateKey: string;
}

/** What a certificate is issued for. */
export interface CertificateRequest {
  /**
   * A PEM certificate signing request (PKCS #10), at most 16,384 characters; without it, keys are made and shown once.
   * @maxLength 16384
   */
  csr?: string;
}

/** What a device is bound to. */
export interface OnboardRequest {
  /**
   * Experiments to bind the device to, at most 100, besides those it is bound to.
   * @maxItems 100
   */
  experimentIds?: Uuid[];
  /** False leaves workbooks and their procedures out; true by default. */
  includeWorkbook?: boolean;
}

/** One step of an experiment's workbook as the device runs it. Members of other types of steps are absent. */
export interface DeviceProcedure {
  /** What the step does. */
  type: 'protocol' | 'command' | 'question';
  /** Of a protocol: which one. */
  protocolId?: string;
  /** What the step is called; absent without a name. */
  name?: string | undefined;
  /** Of a protocol: the instruments it is for. */
  family?: string;
  /** Of a protocol: what the workbook's version kept. */
  code?: unknown;
  /** Of a command: how `content` is written. */
  format?: 'string' | 'json' | 'yaml' | undefined;
  /** Of a command: what is sent to the instrument. */
  content?: string | undefined;
  /** Of a question: its cell. */
  id?: string;
  /** Of a question: yes_no, open_ended, number or multi_choice. */
  kind?: string;
  /** Of a question: what is asked. */
  text?: string;
  /** Of a multi_choice question: the answers to choose from. */
  options?: string[];
  /** Of a question: whether it must be answered. */
  required?: boolean;
  /** Of a question: the answer that stands already; null without one. */
  answer?: string | null;
}

/** What a device needs to publish to one experiment. */
export interface OnboardedExperiment {
  /** Experiment, by its UUID. */
  experimentId: string;
  /** What people call the experiment. */
  experimentName: string;
  /** Publish under this and `/{sensorVersion}/{sensorId}`. */
  topicPrefix: string;
  /** Number of the workbook version whose steps these are; null without a workbook, or where it was left out. */
  workbookVersion: number | null;
  /** Steps in their order; empty without a workbook. */
  procedures: DeviceProcedure[];
}

/** All that a device needs to publish. */
export interface OnboardingConfig {
  /** MQTT client id of the device. */
  thingName: string;
  /** What kind of instrument it is. */
  deviceType: DeviceType;
  /** Where to connect: host, and port unless it is 8883. */
  endpoint: string;
  /** All live experiments of the device, newest binding first. */
  experiments: OnboardedExperiment[];
}

/** An experiment that a device is bound to. */
export interface DeviceExperiment {
  /** Experiment, by its UUID. */
  id: string;
  /** What people call the experiment. */
  name: string;
  /** State of the experiment. */
  status: string;
  /** When the device was bound to it, in UTC. */
  addedAt: Date;
  /** The device publishes under this and `/{sensorVersion}/{sensorId}`; null for a phone, which publishes as its person. */
  topicPrefix: string | null;
}

/** A device, as an experiment shows it. */
export interface AttachedDevice extends DeviceKnown {
  /** What people call it; null when nobody named it. */
  name: string | null;
}

/** A device that may publish to an experiment. */
export interface ExperimentDevice {
  /** The device. */
  device: AttachedDevice;
  /** Person who bound it, by their UUID or pseudonym; null when that is not known. */
  addedBy: string | null;
  /** When it was bound, in UTC. */
  addedAt: Date;
}

/** Devices to look up. */
export interface RegistryQuestion {
  /**
   * 1 to 500 names of the registry.
   * @minItems 1
   * @maxItems 500
   */
  thingNames: string[];
}

/** A device that was looked up. */
export interface RegistryDevice extends DeviceKnown {
  /** Person who registered it, by their UUID. */
  createdBy: string;
}

/** Devices that were looked up. */
export interface RegistryAnswer {
  /** Those that exist and that you may read. */
  devices: RegistryDevice[];
  success: boolean;
}
