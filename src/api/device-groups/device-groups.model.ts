import type { CertificateBundle, DeviceStatus, DeviceType, OnboardingConfig } from '../devices/devices.model.ts';
import type { ResourceCapabilities, Visibility } from '../resources/resources.model.ts';
import type { Uuid } from '../sharing/sharing.model.ts';

export interface DeviceGroup {
  id: string;
  name: string;
  description: string | null;
  organizationId: string;
  visibility: Visibility;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface CountedDeviceGroup extends DeviceGroup {
  memberCount: number;
}

export interface DeviceGroupDetail extends CountedDeviceGroup {
  capabilities: ResourceCapabilities;
}

export interface NewDeviceGroup {
  /**
   * Trimmed.
   * @maxLength 255
   * @pattern \S
   */
  name: string;
  /** @maxLength 2000 */
  description?: string | null;
  /** An organization that you are a member of; your personal workspace when absent. */
  organizationId?: Uuid;
}

export interface DeviceGroupPatch {
  /**
   * Trimmed.
   * @maxLength 255
   * @pattern \S
   */
  name?: string;
  /**
   * Null clears it.
   * @maxLength 2000
   */
  description?: string | null;
}

/** Of a device that you may not read, only that it is there. */
export interface GroupMember {
  deviceId: string;
  name: string | null;
  serialNumber: string | null;
  deviceType: DeviceType | null;
  status: DeviceStatus | null;
  /** Null when the registry cannot say, or you may not read the device. */
  connected: boolean | null;
  addedAt: Date;
}

export interface NewGroupMembers {
  /**
   * Devices that you may manage.
   * @minItems 1
   * @maxItems 100
   */
  deviceIds: Uuid[];
}

export interface GroupSelection {
  /**
   * Members; all of them when absent, 100 at most.
   * @minItems 1
   * @maxItems 100
   */
  deviceIds?: Uuid[];
}

export interface GroupOnboarding extends GroupSelection {
  /** @maxItems 100 */
  experimentIds?: Uuid[];
  includeWorkbook?: boolean;
}

export interface DeviceSigningRequest {
  deviceId: Uuid;
  /**
   * A PEM certificate signing request of this device.
   * @maxLength 16384
   */
  csr: string;
}

export interface GroupCertification extends GroupSelection {
  /**
   * Signing requests by device: the private keys of those devices never leave them.
   * @maxItems 100
   */
  csrs?: DeviceSigningRequest[];
}

export interface GroupOnboardRow {
  deviceId: string;
  config: OnboardingConfig | null;
  error: string | null;
}

export interface GroupOnboardAnswer {
  /** In the order of the selection. */
  devices: GroupOnboardRow[];
}

export interface GroupCredentialsRow {
  deviceId: string;
  thingName: string | null;
  credentials: CertificateBundle | null;
  error: string | null;
}

export interface GroupCredentialsAnswer {
  devices: GroupCredentialsRow[];
}

export interface GroupRevokeRow {
  deviceId: string;
  error: string | null;
}

export interface GroupRevokeAnswer {
  devices: GroupRevokeRow[];
}
