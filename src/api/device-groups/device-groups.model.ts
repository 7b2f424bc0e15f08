import type { CertificateBundle, DeviceStatus, DeviceType, OnboardingConfig } from '../devices/devices.model.ts';
import type { ResourceCapabilities, Visibility } from '../resources/resources.model.ts';
import type { SpacedName, Uuid } from '../sharing/sharing.model.ts';

/** Devices that are looked after together. */
export interface DeviceGroup {
  /** Group, by its UUID. */
  id: string;
  /** What people call the group. */
  name: string;
  /** What the group is for; null without one. */
  description: string | null;
  organizationId: string;
  visibility: Visibility;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

/** A device group, and how many devices are in it. */
export interface CountedDeviceGroup extends DeviceGroup {
  /** Devices in the group. */
  memberCount: number;
}

/** A device group, how many devices are in it, and what you may do with it. */
export interface DeviceGroupDetail extends CountedDeviceGroup {
  /** What you may do with the group. */
  capabilities: ResourceCapabilities;
}

/** What a device group is made with. */
export interface NewDeviceGroup {
  /** What people call the group: 1 to 255 characters; spaces around it are cut off. */
  name: SpacedName;
  /**
   * What the group is for, at most 2,000 characters.
   * @maxLength 2000
   */
  description?: string | null;
  /** An organization that you are a member of; your personal workspace when absent. */
  organizationId?: Uuid;
}

/** Changes; fields that are left out keep their value. */
export interface DeviceGroupPatch {
  /** What people call the group: 1 to 255 characters; spaces around it are cut off. */
  name?: SpacedName;
  /**
   * What the group is for, at most 2,000 characters. Null clears it.
   * @maxLength 2000
   */
  description?: string | null;
}

/** A device in a group. Of one that you may not read, everything but its id is null. */
export interface GroupMember {
  deviceId: string;
  /** What people call it; null when nobody named it, or you may not read the device. */
  name: string | null;
  /** Number that its maker gave it; null when you may not read the device. */
  serialNumber: string | null;
  /** What kind of instrument it is; null when you may not read the device. */
  deviceType: DeviceType | null;
  /** State of its certificate; null when you may not read the device. */
  status: DeviceStatus | null;
  /** Null when the registry cannot say, or you may not read the device. */
  connected: boolean | null;
  /** When it joined the group, in UTC. */
  addedAt: Date;
}

/** Devices to add. */
export interface NewGroupMembers {
  /**
   * 1 to 100 devices that you may manage.
   * @minItems 1
   * @maxItems 100
   */
  deviceIds: Uuid[];
}

/** Which members are meant. */
export interface GroupSelection {
  /**
   * Members, 1 to 100; all of them when absent, which may be 100 at most.
   * @minItems 1
   * @maxItems 100
   */
  deviceIds?: Uuid[];
}

/** Which members are bound, and to what. */
export interface GroupOnboarding extends GroupSelection {
  /**
   * Experiments to bind each device to, at most 100, besides those it is bound to.
   * @maxItems 100
   */
  experimentIds?: Uuid[];
  /** False leaves workbooks and their procedures out; true by default. */
  includeWorkbook?: boolean;
}

/** A signing request of one device. */
export interface DeviceSigningRequest {
  /** Device that the request is of. */
  deviceId: Uuid;
  /**
   * A PEM certificate signing request of this device, at most 16,384 characters.
   * @maxLength 16384
   */
  csr: string;
}

/** Which members get a certificate, and by which signing requests. */
export interface GroupCertification extends GroupSelection {
  /**
   * Signing requests by device, at most 100: the private keys of those devices never leave them.
   * @maxItems 100
   */
  csrs?: DeviceSigningRequest[];
}

/** What became of one device. */
export interface GroupOnboardRow {
  deviceId: string;
  /** All that the device needs to publish; null when it was refused. */
  config: OnboardingConfig | null;
  /** Why it was refused, as a sentence; null when it was not. */
  error: string | null;
}

/** What became of each device. */
export interface GroupOnboardAnswer {
  /** In the order of the selection. */
  devices: GroupOnboardRow[];
}

/** What became of one device. */
export interface GroupCredentialsRow {
  deviceId: string;
  /** What it is called in the registry; null when you may not read the device. */
  thingName: string | null;
  /** Its certificate, shown once; null when it was refused. */
  credentials: CertificateBundle | null;
  /** Why it was refused, as a sentence; null when it was not. */
  error: string | null;
}

/** What became of each device. */
export interface GroupCredentialsAnswer {
  /** In the order of the selection. */
  devices: GroupCredentialsRow[];
}

/** What became of one device. */
export interface GroupRevokeRow {
  deviceId: string;
  /** Why it was refused, as a sentence; null when it was not. */
  error: string | null;
}

/** What became of each device. */
export interface GroupRevokeAnswer {
  /** In the order of the selection. */
  devices: GroupRevokeRow[];
}
