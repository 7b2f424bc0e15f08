/** The device registry, whoever keeps it. Every operation may be repeated after a crash: what has been done already is left as it is. */
import type { PolicyDocument } from './evaluator.ts';
import type { ArnPrefix } from './policy.ts';

/** The port of MQTT over TLS. Devices connect there when no port was asked for and this one is free. */
export const MQTT_PORT = 8883;

export interface NewThing {
  /** From `nameThing()`. */
  thingName: string;
  deviceType: string;
  serialNumber: string;
}

export type CertificateStatus = 'inactive' | 'active' | 'revoked';

/** Why a certificate is no longer in the registry: another took its place, it was revoked, or its device was removed. */
export type CertificateEnd = 'rotated' | 'revoked' | 'removed';

export interface RegisteredCertificate {
  /** 64 hex digits. */
  certificateId: string;
  status: CertificateStatus;
}

export interface IssuedCertificate {
  certificateId: string;
  certificateArn: string;
  certificatePem: string;
}

export interface Connectivity {
  connected: boolean;
  /** When it last connected or disconnected; null when it never did. */
  lastSeenAt: Date | null;
}

export interface DeviceRegistry {
  /** What the ARNs of policy documents begin with. */
  readonly arnPrefix: ArnPrefix;
  /** Registers a thing. The same thing again is nothing to do; another type or serial under its name is `registryConflict`. */
  createThing(thing: NewThing): Promise<void>;
  /** Removes a thing with its certificates and policies; an unknown one is nothing to do. */
  deleteThing(thingName: string): Promise<void>;
  /** Puts a thing into a group, making the group if need be. Unknown thing: `thingNotFound`. */
  addToGroup(thingName: string, group: string): Promise<void>;
  /** Signs the key of a PEM signing request, for this thing, **inactive**: a second call makes a second certificate. `csrInvalid`, `thingNotFound`. */
  issueCertificate(thingName: string, csr: string): Promise<IssuedCertificate>;
  /** Lets a certificate connect. A revoked one stays revoked: `deviceStateRefused`. Unknown: `certificateNotFound`. */
  activateCertificate(thingName: string, certificateId: string): Promise<void>;
  /** Keeps a certificate from connecting for good; live connections end. */
  revokeCertificate(thingName: string, certificateId: string): Promise<void>;
  /**
   * Revokes a certificate, detaches it from thing and policies, and removes it; an unknown one is nothing to do. Whoever shows it later is told `end` as the
   * reason.
   */
  deleteCertificate(thingName: string, certificateId: string, end: CertificateEnd): Promise<void>;
  /** All certificates of a thing; none for an unknown thing. */
  listCertificates(thingName: string): Promise<readonly RegisteredCertificate[]>;
  /** Makes these the policies of a thing and of all its certificates, and removes all others. At most 10. Takes effect on live connections too. */
  setPolicies(thingName: string, documents: readonly PolicyDocument[]): Promise<void>;
  /** Answers which things are connected, by thing name, for those that the registry knows. Null when it cannot say at the moment (never an error). */
  connectivity(thingNames: readonly string[]): Promise<ReadonlyMap<string, Connectivity> | null>;
  /** Host name (and port, if it is not 8883) that devices connect to. */
  endpoint(): Promise<string>;
}
