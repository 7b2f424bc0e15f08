import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RegistryStore, ThingRecord } from '../../src/iot/registries/embedded.ts';
import type { BrokerHooks } from '../../src/iot/connections.ts';
import type { CertificateEnd, Connectivity } from '../../src/iot/registry.ts';

/** A registry store of one JSON file a thing: what has been changed outlives everything in memory. Changes are synchronous, hence one at a time. */
export function folderStore(
  folder: string,
): RegistryStore & Pick<BrokerHooks, 'findEnd'> & { see(thingName: string, seen: Connectivity): void } {
  mkdirSync(folder, { recursive: true });
  const ends = new Map<string, CertificateEnd>();
  const presences = new Map<string, Connectivity>();
  const path = (thingName: string) => join(folder, `${encodeURIComponent(thingName)}.json`);
  const read = (file: string): ThingRecord | null => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as ThingRecord;
    } catch {
      return null;
    }
  };
  return {
    find: (thingName) => Promise.resolve(read(path(thingName))),
    findByCertificate: (certificateId) =>
      Promise.resolve(
        readdirSync(folder)
          .filter((file) => file.endsWith('.json'))
          .map((file) => read(join(folder, file)))
          .find((record) => record?.certificates.some((held) => held.certificateId === certificateId)) ?? null,
      ),
    async change(thingName, change) {
      const next = change(read(path(thingName)));
      if (!next) return rmSync(path(thingName), { force: true });
      writeFileSync(`${path(thingName)}.new`, JSON.stringify(next));
      renameSync(`${path(thingName)}.new`, path(thingName));
    },
    noteEnd: async (certificateId, end) => {
      if (!ends.has(certificateId)) ends.set(certificateId, end);
    },
    findEnd: async (certificateId) => ends.get(certificateId) ?? null,
    presence: (thingNames) =>
      Promise.resolve(thingNames.flatMap((thingName) => (presences.has(thingName) ? [{ thingName, ...presences.get(thingName)! }] : []))),
    see: (thingName, seen) => void presences.set(thingName, seen),
  };
}
