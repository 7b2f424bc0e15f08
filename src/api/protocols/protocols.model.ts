import type { ProtocolFamily } from '../resources/links.model.ts';
import type { LibraryResource, LibraryResourcePatch, NewLibraryResource } from '../resources/resources.model.ts';

/** Any JSON value but null. */
export type ProtocolCode = string | number | boolean | unknown[] | Record<string, unknown>;

export interface Protocol extends LibraryResource {
  /** As it was sent. */
  code: ProtocolCode;
  /** Raised with every change of code or family. */
  codeVersion: number;
  family: ProtocolFamily;
  sortOrder: number | null;
}

export interface NewProtocol extends NewLibraryResource {
  /** It comes back as it was sent, numbers included. */
  code: ProtocolCode;
  family: ProtocolFamily;
}

export interface ProtocolPatch extends LibraryResourcePatch {
  code?: ProtocolCode;
  family?: ProtocolFamily;
}
