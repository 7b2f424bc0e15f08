import type { ProtocolFamily } from '../resources/links.model.ts';
import type { LibraryResource, LibraryResourcePatch, NewLibraryResource } from '../resources/resources.model.ts';

export interface Protocol extends LibraryResource {
  /** Any JSON value but null, as it was sent. */
  code: unknown;
  /** Raised with every change of code or family. */
  codeVersion: number;
  family: ProtocolFamily;
  sortOrder: number | null;
}

export interface NewProtocol extends NewLibraryResource {
  /** Any JSON value but null; it comes back as it was sent, numbers included. */
  code: unknown;
  family: ProtocolFamily;
}

export interface ProtocolPatch extends LibraryResourcePatch {
  /** Any JSON value but null. */
  code?: unknown;
  family?: ProtocolFamily;
}
