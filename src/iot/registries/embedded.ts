/** The registry of one machine: a local certificate authority, and one record for each thing in a store that the caller hands in. */
import { isDeepStrictEqual } from 'node:util';
import { errors } from '../../errors.ts';
import type { Authority } from '../authority.ts';
import type { PolicyDocument } from '../evaluator.ts';
import { decideCertificate, type CertificateEvent } from '../lifecycle.ts';
import { requireFitting, type ArnPrefix } from '../policy.ts';
import type { CertificateEnd, Connectivity, DeviceRegistry, NewThing, RegisteredCertificate } from '../registry.ts';

/** Everything the registry knows of a thing; plain JSON. */
export interface ThingRecord extends NewThing {
  groups: readonly string[];
  certificates: readonly RegisteredCertificate[];
  policies: readonly PolicyDocument[];
}

/** Where the records are kept. Each function is atomic and durable when its promise resolves; all processes share what is behind it. */
export interface RegistryStore {
  find(thingName: string): Promise<ThingRecord | null>;
  /** The thing that holds this certificate (a certificate has at most one). */
  findByCertificate(certificateId: string): Promise<ThingRecord | null>;
  /**
   * Replaces a record by what `change` makes of it (null: none). Across all processes one change of a thing runs at a time. An exception changes nothing and is
   * passed on.
   */
  change(thingName: string, change: (record: ThingRecord | null) => ThingRecord | null): Promise<void>;
  /** Keeps why a certificate ended; a later reason does not replace the first. */
  noteEnd(certificateId: string, end: CertificateEnd): Promise<void>;
  /** Last presence of these things, from the broker's events; things never seen are left out. */
  presence(thingNames: readonly string[]): Promise<readonly (Connectivity & { thingName: string })[]>;
}

/** ARNs of an embedded registry: shaped like AWS's, so that one evaluator reads both. */
export const EMBEDDED_ARN_PREFIX: ArnPrefix = 'arn:fieldlake:iot:local:000000000000';

export interface EmbeddedRegistryOptions {
  authority: Authority;
  store: RegistryStore;
  /** Host name devices connect to, with `:port` unless it is 8883. */
  endpoint: string;
}

export function openEmbeddedRegistry({ authority, store, endpoint }: EmbeddedRegistryOptions): DeviceRegistry {
  async function change(thingName: string, edit: (record: ThingRecord) => ThingRecord): Promise<void> {
    await store.change(thingName, (record) => {
      if (!record) throw errors.thingNotFound();
      return edit(record);
    });
  }

  async function happen(thingName: string, certificateId: string, event: CertificateEvent): Promise<void> {
    await store.change(thingName, (record) => {
      const held = record?.certificates.find((certificate) => certificate.certificateId === certificateId);
      const status = decideCertificate(held?.status ?? 'absent', event);
      if (!record) return null;
      const others = record.certificates.filter((certificate) => certificate !== held);
      return { ...record, certificates: status === 'absent' ? others : [...others, { certificateId, status }] };
    });
  }

  return {
    arnPrefix: EMBEDDED_ARN_PREFIX,
    async createThing(thing) {
      const { thingName, deviceType, serialNumber } = thing;
      await store.change(thingName, (record) => {
        if (record && (record.deviceType !== deviceType || record.serialNumber !== serialNumber)) throw errors.registryConflict();
        return record ?? { thingName, deviceType, serialNumber, groups: [], certificates: [], policies: [] };
      });
    },
    async deleteThing(thingName) {
      await store.change(thingName, () => null);
    },
    addToGroup: async (thingName, group) => change(thingName, (record) => ({ ...record, groups: [...new Set([...record.groups, group])] })),
    async issueCertificate(thingName, csr) {
      const { certificateId, certificatePem } = await authority.signDevice(csr);
      await change(thingName, (record) => ({ ...record, certificates: [...record.certificates, { certificateId, status: 'inactive' }] }));
      return { certificateId, certificatePem, certificateArn: `${EMBEDDED_ARN_PREFIX}:cert/${certificateId}` };
    },
    activateCertificate: async (thingName, id) => happen(thingName, id, 'activate'),
    revokeCertificate: async (thingName, id) => happen(thingName, id, 'revoke'),
    async deleteCertificate(thingName, id, end) {
      await store.noteEnd(id, end);
      await happen(thingName, id, 'delete');
    },
    listCertificates: async (thingName) => (await store.find(thingName))?.certificates ?? [],
    async setPolicies(thingName, documents) {
      requireFitting(documents);
      const record = await store.find(thingName);
      if (record && isDeepStrictEqual(record.policies, documents)) return;
      await change(thingName, (now) => ({ ...now, policies: documents }));
    },
    async connectivity(thingNames) {
      try {
        const seen = await store.presence(thingNames);
        return new Map(seen.map(({ thingName, connected, lastSeenAt }) => [thingName, { connected, lastSeenAt }]));
      } catch {
        return null;
      }
    },
    endpoint: () => Promise.resolve(endpoint),
  };
}
