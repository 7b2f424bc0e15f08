import type { DeviceStatus } from '../devices/devices.model.ts';
import type { ExportState } from '../exports/exports.model.ts';
import type { Reprocess } from '../macro-runs/macro-runs.model.ts';
import type { UploadStatus } from '../uploads/uploads.model.ts';

/** A table has another version, is gone, or waits for a manager to allow its macro. */
export interface TableChange {
  /** What `tableName` takes. */
  identifier: string;
  /** The version that a read answers now, or a later one; null when the table is gone. */
  version: number | null;
  /** Rows of that version; null when the table is gone. */
  totalRows: number | null;
}

/** An upload was begun, or has another status. */
export interface UploadChange {
  /** The upload, by its UUID. */
  uploadId: string;
  /** Its status now, or a later one. */
  status: UploadStatus;
  /** The table that it goes into; null when that is gone. */
  uploadTableId: string | null;
}

/** An export was asked for, has another status, or was removed. */
export interface ExportChange {
  /** The export, by its UUID. */
  exportId: string;
  /** Its status; `removed` once it is listed no more. */
  status: ExportState | 'removed';
  /** The table that it is made from. */
  identifier: string;
}

/** A run of a macro was asked for, or has another status. */
export interface MacroRunChange {
  /** What `reprocessId` takes. */
  id: string;
  /** The macro, by its UUID. */
  macroId: string;
  /** Its status. */
  status: Reprocess['status'];
}

/** A device of the experiment has another status, or has connected or disconnected. */
export interface DeviceChange {
  /** The device, by its UUID. */
  deviceId: string;
  /** Its status, where that has changed. */
  status?: DeviceStatus;
  /** Whether it is connected, where that has changed; told to those who may read the device. */
  connected?: boolean;
}

/** What the listener shows may be out of date: it is to be read anew. From here on nothing is missed. */
export interface Reset {
  /**
   * `begun`: the listener named no event to go on from. `forgotten`: the event that it named is kept no longer, or is of another database. `behind`: so much
   * has happened since that reading anew is cheaper.
   */
  reason: 'begun' | 'forgotten' | 'behind';
}

/** The data of each kind of event. */
export interface ChangeData {
  reset: Reset;
  table: TableChange;
  upload: UploadChange;
  export: ExportChange;
  macroRun: MacroRunChange;
  device: DeviceChange;
}

/** What is written down; a reset is made for one listener. */
export type ChangeKind = Exclude<keyof ChangeData, 'reset'>;
/** The data of an event, by the name of which it is told what it is. */
export type AnyChange = Reset | TableChange | UploadChange | ExportChange | MacroRunChange | DeviceChange;

/** Who is told of a change: whoever may take the action, whoever reads by more than its being public, and of these who reads the device. */
export type Audience = 'read' | 'contribute' | 'manage' | 'related' | 'device';
