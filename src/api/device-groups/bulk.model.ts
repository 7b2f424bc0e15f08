import type { Device, InstrumentType, SerialNumber } from '../devices/devices.model.ts';
import type { Name, Uuid } from '../sharing/sharing.model.ts';

/** One of many devices to register. */
export interface BulkDevice {
  /** Number that its maker gave it: 1 to 255 letters, digits and `_ . , @ / : # = [ ] -`. No two of a request may be the same. */
  serialNumber: SerialNumber;
  /** What people call it, 1 to 255 characters. */
  name?: Name;
}

/** An existing group by its id, or a new one by its name. */
export interface BulkGroup {
  /** Group that is there, by its UUID. Not together with `name`. */
  groupId?: Uuid;
  /** Name of a group to make, 1 to 255 characters. Not together with `groupId`. */
  name?: Name;
}

/** Devices to register at once. */
export interface NewDevices {
  /**
   * 1 to 100 devices of one type.
   * @minItems 1
   * @maxItems 100
   */
  devices: BulkDevice[];
  /** What kind of instruments they are. */
  deviceType: InstrumentType;
  /** An organization that you are a member of; your personal workspace when absent. */
  organizationId?: Uuid;
  /** Group that the new devices join; none when absent. */
  group?: BulkGroup;
}

/** What became of one device. */
export interface BulkDeviceResult {
  /** Serial number that was asked for. */
  serialNumber: string;
  /** The device; null when it was not registered. */
  device: Device | null;
  /** Why it was not registered, as a sentence; null when it was. */
  error: string | null;
}

/** What became of each device. */
export interface BulkDevicesResult {
  /** In the order asked. */
  devices: BulkDeviceResult[];
  /** The group that the new devices joined; null whenever there is a groupError. */
  groupId: string | null;
  /** Why the devices did not join the group, as a sentence; null when they did, and without one. */
  groupError: string | null;
}
