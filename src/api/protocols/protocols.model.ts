import type { CodeVersionSummary } from '../resources/code-versions.model.ts';
import type { ProtocolFamily } from '../resources/links.model.ts';
import type { LibraryResource, LibraryResourcePatch, NewLibraryResource } from '../resources/resources.model.ts';

/** Any JSON value but null. */
export type ProtocolCode = string | number | boolean | unknown[] | Record<string, unknown>;

/** What an instrument runs to measure. */
export interface Protocol extends LibraryResource {
  /** What the instrument runs, as it was sent: any JSON value but null. */
  code: ProtocolCode;
  /** Raised with every change of code or family; the first is 1. */
  codeVersion: number;
  /** Instruments that the protocol is for. */
  family: ProtocolFamily;
  /** Place among curated protocols, lowest first; null for others. */
  sortOrder: number | null;
}

/** What a protocol said at a version, which never changes. */
export interface ProtocolVersion extends CodeVersionSummary {
  /** What the instrument ran, as it was sent: any JSON value but null. */
  code: ProtocolCode;
  /** Instruments that the protocol was for. */
  family: ProtocolFamily;
}

/** What a protocol is made with. */
export interface NewProtocol extends NewLibraryResource {
  /** What the instrument runs: any JSON value but null. It comes back as it was sent, numbers included. */
  code: ProtocolCode;
  /** Instruments that the protocol is for. */
  family: ProtocolFamily;
}

/** Changes; fields that are left out keep their value. */
export interface ProtocolPatch extends LibraryResourcePatch {
  /** What the instrument runs: any JSON value but null. It comes back as it was sent, numbers included. */
  code?: ProtocolCode;
  /** Instruments that the protocol is for. */
  family?: ProtocolFamily;
}
